// Package rename pairs files that are gone with files that are new, as git
// does with its settings' standard values, so that a status has the same ones:
// first files whose content is the same, then those that alone kept their base
// name and are alike, then the most alike.
package rename

import (
	"bytes"
	"cmp"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// MaxScore is the score of files that are the same.
const MaxScore = 60000

const (
	leastScore    = MaxScore / 2       // to be a rename
	leastForName  = MaxScore * 3 / 4   // to be one for the sake of the base name
	maxRenames    = 1000               // files on each side above which only the same content counts
	maxCandidates = 4                  // that are kept of each new file
	chunkSize     = 64                 // bytes that a line is cut into
	maxIdentical  = 100                // old files that are looked at for one new file of the same content
	binaryAt      = 8000               // bytes in which a NUL makes a file binary
	spanModulus   = 107927             // of the sums of chunks
	maxComparable = object.MaxSize / 4 // bytes above which files are alike only when they are the same
)

// renamer pairs files that are gone with files that are new.
type renamer struct {
	read     func(i int, gone bool) ([]byte, error)
	gone     []*candidate
	new      []*candidate
	problems error
}

type candidate struct {
	at   int  // in its list
	gone bool // which list that is
	File
	used  bool // an old file that has a pair
	match *candidate
	score int // of the match

	spans  map[uint32]int // bytes by the sum of their chunk
	size   int
	loaded bool
}

// File is a file that is gone or new.
type File struct {
	Path string
	Mode filemode.FileMode
	Hash plumbing.Hash // of its content; zero when nobody knows
}

// Pair says that a file that is new was another one before.
type Pair struct {
	Old, New int // indices
	Score    int // how much is the same, of MaxScore
}

// Find returns the files of added that were one of gone before, in the order of
// added. read returns the content of the i-th file that is gone, or new; Find
// fails when read does.
func Find(gone, added []File, read func(i int, gone bool) ([]byte, error)) ([]Pair, error) {
	if len(gone) == 0 || len(added) == 0 {
		return nil, nil
	}
	m := renamer{read: read}
	for i, f := range gone {
		m.gone = append(m.gone, &candidate{at: i, gone: true, File: f})
	}
	for i, f := range added {
		m.new = append(m.new, &candidate{at: i, File: f})
	}
	if err := m.run(); err != nil {
		return nil, err
	}
	var found []Pair
	for _, f := range m.new {
		if f.match != nil {
			found = append(found, Pair{f.match.at, f.at, f.score})
		}
	}
	return found, nil
}

func (m *renamer) run() error {
	m.identical()
	m.byName()
	m.alike()
	return m.problems
}

func (m *renamer) join(old, new *candidate, score int) {
	old.used, new.match, new.score = true, old, score
}

// identical pairs files of the same content.
func (m *renamer) identical() {
	byHash := map[plumbing.Hash][]*candidate{}
	for _, f := range m.gone {
		byHash[f.Hash] = append(byHash[f.Hash], f)
	}
	for _, f := range m.new {
		if f.Hash.IsZero() {
			continue // nobody knows
		}
		var best *candidate
		bestScore := -1
		for i, old := range byHash[f.Hash] {
			if i > maxIdentical {
				break
			}
			if old.used || !bothRegular(old, f) && old.Mode != f.Mode {
				continue
			}
			score := 1
			if path.Base(old.Path) == path.Base(f.Path) {
				score = 2
			}
			if score > bestScore {
				best, bestScore = old, score
			}
			if score == 2 {
				break
			}
		}
		if best != nil {
			m.join(best, f, MaxScore)
		}
	}
}

func bothRegular(a, b *candidate) bool {
	const kind, regular = 0o170000, 0o100000
	return a.Mode&kind == regular && b.Mode&kind == regular
}

// left are the files without a pair.
func left(list []*candidate) []*candidate {
	var out []*candidate
	for _, f := range list {
		if !f.used && f.match == nil {
			out = append(out, f)
		}
	}
	return out
}

// byName pairs files that alone have their base name, if they are alike.
func (m *renamer) byName() {
	unique := func(list []*candidate) map[string]*candidate {
		names := map[string]*candidate{}
		for _, f := range list {
			base := path.Base(f.Path)
			if _, twice := names[base]; twice {
				names[base] = nil
			} else {
				names[base] = f
			}
		}
		return names
	}
	gone, added := left(m.gone), left(m.new)
	byBase := unique(added)
	oldByBase := unique(gone)
	for _, old := range gone {
		base := path.Base(old.Path)
		f := byBase[base]
		if f == nil || oldByBase[base] == nil {
			continue
		}
		if score := m.score(old, f, leastForName); score >= leastForName {
			m.join(old, f, score)
		}
	}
}

type likeness struct {
	old, new *candidate
	score    int
	name     bool // the same base name
}

// alike pairs the files that are left by how alike they are.
func (m *renamer) alike() {
	gone, added := left(m.gone), left(m.new)
	if len(gone)*len(added) > maxRenames*maxRenames {
		return
	}
	var all []likeness
	for _, f := range added {
		var best []likeness
		for _, old := range gone {
			l := likeness{old, f, m.score(old, f, leastScore), path.Base(old.Path) == path.Base(f.Path)}
			if l.score < leastScore {
				continue
			}
			if len(best) < maxCandidates {
				best = append(best, l)
				continue
			}
			worst := 0
			for i := range best {
				if compareLikeness(best[i], best[worst]) > 0 {
					worst = i
				}
			}
			if compareLikeness(best[worst], l) > 0 {
				best[worst] = l
			}
		}
		all = append(all, best...)
	}
	slices.SortStableFunc(all, compareLikeness)
	for _, l := range all {
		if !l.old.used && l.new.match == nil {
			m.join(l.old, l.new, l.score)
		}
	}
}

// compareLikeness puts the most alike first.
func compareLikeness(a, b likeness) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	switch {
	case a.name && !b.name:
		return -1
	case b.name && !a.name:
		return 1
	}
	return 0
}

// score is how much of the larger of two files comes from the other one, of
// MaxScore; 0 when that is surely below least.
func (m *renamer) score(old, new *candidate, least int) int {
	if !bothRegular(old, new) || m.problems != nil {
		return 0
	}
	if !m.load(old) || !m.load(new) {
		return 0
	}
	larger, smaller := max(old.size, new.size), min(old.size, new.size)
	if larger*(MaxScore-least) < (larger-smaller)*MaxScore || new.size == 0 {
		return 0
	}
	copied := 0
	for sum, n := range old.spans {
		copied += min(n, new.spans[sum])
	}
	return int(float64(copied) * MaxScore / float64(larger))
}

// load reads a file and cuts it into chunks.
func (m *renamer) load(f *candidate) bool {
	if f.loaded {
		return f.spans != nil
	}
	f.loaded = true
	data, err := m.read(f.at, f.gone)
	if err != nil {
		m.problems = err
		return false
	}
	if len(data) > maxComparable {
		return false
	}
	f.size, f.spans = len(data), spans(data)
	return true
}

// isBinary reports whether git takes data for binary.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), binaryAt)], 0) >= 0 }

// spans sums up the chunks of a file: its lines, cut after 64 bytes. In texts
// \r\n counts as \n.
func spans(data []byte) map[uint32]int {
	text := !isBinary(data)
	sums := map[uint32]int{}
	var a, b uint32
	n := 0
	for i, c := range data {
		if text && c == '\r' && i+1 < len(data) && data[i+1] == '\n' {
			continue
		}
		before := a
		a = a<<7 ^ b>>25
		b = b<<7 ^ before>>25
		a += uint32(c)
		if n++; n < chunkSize && c != '\n' {
			continue
		}
		sums[(a+b*0x61)%spanModulus] += n
		n, a, b = 0, 0, 0
	}
	if n > 0 {
		sums[(a+b*0x61)%spanModulus] += n
	}
	return sums
}
