package shadow

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo"
)

const (
	// renameScore is from where on git takes two files for one that was
	// renamed, in percent.
	renameScore = 50
	// renameLimit bounds the files that are compared with each other, on each
	// side, as git does; those that are equal are found in any number.
	renameLimit = 1000
	// renameSize bounds such a file, in bytes.
	renameSize = 4 << 20
)

// renames makes one change of a deleted and a created file that have the same
// content, or most of it.
func (c *contents) renames(ctx context.Context, list []change) ([]change, error) {
	var gone, made []int
	for i, ch := range list {
		switch {
		case !ch.new.exists():
			gone = append(gone, i)
		case !ch.old.exists():
			made = append(made, i)
		}
	}
	if len(gone) == 0 || len(made) == 0 {
		return list, nil
	}
	type pair struct{ gone, made, score int }
	var pairs []pair
	byContent := map[gitrepo.OID][]int{}
	for _, n := range made {
		byContent[list[n].new.oid] = append(byContent[list[n].new.oid], n)
	}
	for _, g := range gone {
		for _, n := range byContent[list[g].old.oid] {
			if kindOf(list[g].old.mode) == kindOf(list[n].new.mode) && list[g].old.path != list[n].new.path {
				pairs = append(pairs, pair{g, n, 100})
			}
		}
	}
	if len(gone) <= renameLimit && len(made) <= renameLimit {
		chunks := map[int]map[string]int{}
		sizes := map[int]int{}
		load := func(i int, read func() ([]byte, error)) (map[string]int, int) {
			if m, ok := chunks[i]; ok {
				return m, sizes[i]
			}
			data, err := read()
			if err != nil || len(data) > renameSize {
				data = nil // not compared
			}
			chunks[i], sizes[i] = chunksOf(data), len(data)
			return chunks[i], sizes[i]
		}
		for _, g := range gone {
			for _, n := range made {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				old, now := list[g].old, list[n].new
				if kindOf(old.mode) != "file" || kindOf(now.mode) != "file" || old.oid == now.oid || now.size > renameSize {
					continue
				}
				a, aSize := load(g, func() ([]byte, error) { return c.old(ctx, old) })
				b, bSize := load(n, func() ([]byte, error) { return c.new(now) })
				if score := similarity(a, aSize, b, bSize); score >= renameScore {
					pairs = append(pairs, pair{g, n, min(score, 99)})
				}
			}
		}
	}
	base := func(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }
	same := func(p pair) int { // a file that kept its base name comes first
		if base(list[p.gone].old.path) == base(list[p.made].new.path) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Or(b.score-a.score, same(a)-same(b)) })
	used := map[int]bool{}
	for _, p := range pairs {
		if used[p.gone] || used[p.made] {
			continue
		}
		used[p.gone], used[p.made] = true, true
		list[p.made].old, list[p.made].similarity = list[p.gone].old, p.score
		list[p.gone].old.path = "" // it is in the other one
	}
	return slices.DeleteFunc(list, func(ch change) bool { return !ch.old.exists() && !ch.new.exists() }), nil
}

// kindOf tells what can't be renamed into each other.
func kindOf(mode uint32) string {
	if mode == 0o120000 {
		return "link"
	}
	return "file"
}

// chunksOf counts the bytes of a text's lines; of long ones, of every 64
// bytes: what git compares.
func chunksOf(data []byte) map[string]int {
	const longest = 64
	m := map[string]int{}
	for len(data) > 0 {
		n := min(len(data), longest)
		if at := bytes.IndexByte(data[:n], '\n'); at >= 0 {
			n = at + 1
		}
		m[string(data[:n])] += n
		data = data[n:]
	}
	return m
}

// similarity is how much of the larger text is in both, in percent.
func similarity(a map[string]int, aSize int, b map[string]int, bSize int) int {
	if aSize == 0 || bSize == 0 || min(aSize, bSize)*100 < max(aSize, bSize)*renameScore {
		return 0
	}
	both := 0
	for chunk, n := range a {
		both += min(n, b[chunk])
	}
	return both * 100 / max(aSize, bSize)
}
