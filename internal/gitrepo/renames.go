package gitrepo

import (
	"bytes"
	"cmp"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/object"
)

// Renames are found as git finds them, with its settings' standard values, so
// that a status has the same ones: first files whose content is the same, then
// those that alone kept their base name and are alike, then the most alike.
const (
	maxScore      = 60000
	leastScore    = maxScore / 2       // to be a rename
	leastForName  = maxScore * 3 / 4   // to be one for the sake of the base name
	maxRenames    = 1000               // files on each side above which only the same content counts
	candidates    = 4                  // that are kept of each new file
	chunkSize     = 64                 // bytes that a line is cut into
	maxIdentical  = 100                // old files that are looked at for one new file of the same content
	binaryAt      = 8000               // bytes in which a NUL makes a file binary
	spanModulus   = 107927             // of the sums of chunks
	maxComparable = object.MaxSize / 4 // bytes above which files are alike only when they are the same
)

// renamer pairs files that are gone with files that are new.
type renamer struct {
	read     func(*renameFile) ([]byte, error)
	gone     []*renameFile
	new      []*renameFile
	problems error
}

type renameFile struct {
	at    int // in the list of pairs
	path  string
	side  side
	used  bool // an old file that has a pair
	match *renameFile
	score int // of the match

	spans  map[uint32]int // bytes by the sum of their chunk
	size   int
	loaded bool
}

// renames joins pairs that are renames. The list stays in the order of paths.
func (r *Repo) renames(pairs []pair) ([]pair, error) {
	m := renamer{read: func(f *renameFile) ([]byte, error) { return r.content(f.path, f.side) }}
	for i, p := range pairs {
		switch {
		case p.new.mode == 0:
			m.gone = append(m.gone, &renameFile{at: i, path: p.path, side: p.old})
		case p.old.mode == 0:
			m.new = append(m.new, &renameFile{at: i, path: p.path, side: p.new})
		}
	}
	if len(m.gone) == 0 || len(m.new) == 0 {
		return pairs, nil
	}
	if err := m.run(); err != nil {
		return nil, err
	}
	out := slices.Clone(pairs)
	for _, f := range m.new {
		if f.match != nil {
			out[f.at].from, out[f.at].old, out[f.at].score = f.match.path, f.match.side, f.score
			out[f.match.at].path = ""
		}
	}
	return slices.DeleteFunc(out, func(p pair) bool { return p.path == "" }), nil
}

func (m *renamer) run() error {
	m.identical()
	m.byName()
	m.alike()
	return m.problems
}

func (m *renamer) join(old, new *renameFile, score int) {
	old.used, new.match, new.score = true, old, score
}

// identical pairs files of the same content.
func (m *renamer) identical() {
	byHash := map[plumbing.Hash][]*renameFile{}
	for _, f := range m.gone {
		byHash[f.side.hash] = append(byHash[f.side.hash], f)
	}
	for _, f := range m.new {
		var best *renameFile
		bestScore := -1
		for i, old := range byHash[f.side.hash] {
			if i > maxIdentical {
				break
			}
			if old.used || !bothRegular(old, f) && old.side.mode != f.side.mode {
				continue
			}
			score := 1
			if path.Base(old.path) == path.Base(f.path) {
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
			m.join(best, f, maxScore)
		}
	}
}

func bothRegular(a, b *renameFile) bool {
	return a.side.mode&typeBits == regularType && b.side.mode&typeBits == regularType
}

// left are the files without a pair.
func left(list []*renameFile) []*renameFile {
	var out []*renameFile
	for _, f := range list {
		if !f.used && f.match == nil {
			out = append(out, f)
		}
	}
	return out
}

// byName pairs files that alone have their base name, if they are alike.
func (m *renamer) byName() {
	unique := func(list []*renameFile) map[string]*renameFile {
		names := map[string]*renameFile{}
		for _, f := range list {
			base := path.Base(f.path)
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
		base := path.Base(old.path)
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
	old, new *renameFile
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
			l := likeness{old, f, m.score(old, f, leastScore), path.Base(old.path) == path.Base(f.path)}
			if l.score < leastScore {
				continue
			}
			if len(best) < candidates {
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
// maxScore; 0 when that is surely below least.
func (m *renamer) score(old, new *renameFile, least int) int {
	if !bothRegular(old, new) || m.problems != nil {
		return 0
	}
	if !m.load(old) || !m.load(new) {
		return 0
	}
	larger, smaller := max(old.size, new.size), min(old.size, new.size)
	if larger*(maxScore-least) < (larger-smaller)*maxScore || new.size == 0 {
		return 0
	}
	copied := 0
	for sum, n := range old.spans {
		copied += min(n, new.spans[sum])
	}
	return int(float64(copied) * maxScore / float64(larger))
}

// load reads a file and cuts it into chunks.
func (m *renamer) load(f *renameFile) bool {
	if f.loaded {
		return f.spans != nil
	}
	f.loaded = true
	data, err := m.read(f)
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
