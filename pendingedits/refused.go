package pendingedits

import "crypto/sha256"

// refusal is what stands for a hunk that was rejected: its file, and what it does there.
type refusal [sha256.Size]byte

// maxRefused bounds how many are remembered; beyond it all are forgotten.
const maxRefused = 10_000

func refusalOf(name string, h Hunk) refusal {
	return sha256.Sum256([]byte(name + "\x00" + h.Text))
}

// refuse remembers what a person rejects, so that they know it again. s.mu is held.
func (s *Store) refuse(p picked) {
	if s.refused == nil || len(s.refused) >= maxRefused {
		s.refused = map[refusal]bool{}
	}
	for _, h := range p.r.edit.Hunks {
		if p.ids[h.ID] {
			s.refused[refusalOf(p.e.name, h)] = true
		}
	}
}

// markAgain marks hunks that a person has rejected before. s.mu is held.
func (s *Store) markAgain(e *Edit) {
	if len(s.refused) == 0 {
		return
	}
	for i, h := range e.Hunks {
		e.Hunks[i].Again = s.refused[refusalOf(e.Name, h)]
	}
}
