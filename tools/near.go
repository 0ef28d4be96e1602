package tools

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Near returns at most limit of the names that are most like name, best first.
func Near(name string, names []string, limit int) []string {
	type scored struct {
		name  string
		score int
	}
	if len(name) > 64 { // no name is that long; the cost grows with the square
		name = name[:64]
	}
	plainName := fold(name)
	var found []scored
	for _, n := range names {
		p := fold(n)
		d := distance(plainName, p)
		switch {
		case d <= max(len(p)/3, 1) && d < len(p):
		case len(plainName) >= 3 && strings.Contains(p, plainName), len(p) >= 3 && strings.Contains(plainName, p):
			d += 2 // a part of the other is less than a slip of the pen
		case sharesWord(name, n):
			d += 4
		default:
			continue
		}
		found = append(found, scored{n, d})
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), strings.Compare(a.name, b.name))
	})
	var out []string
	for _, f := range found[:min(limit, len(found))] {
		out = append(out, f.name)
	}
	return out
}

// fold leaves out what models vary: case and separators.
func fold(s string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "", ".", "", "/", "").Replace(strings.ToLower(s))
}

func sharesWord(a, b string) bool {
	words := strings.FieldsFunc(strings.ToLower(b), isSeparator)
	for _, w := range strings.FieldsFunc(strings.ToLower(a), isSeparator) {
		if len(w) >= 4 && slices.Contains(words, w) {
			return true
		}
	}
	return false
}

func isSeparator(r rune) bool { return r == '_' || r == '-' || r == ' ' || r == '.' || r == '/' }

// distance is the number of bytes inserted, deleted, replaced or swapped with
// their neighbour to get from a to b.
func distance(a, b string) int {
	before, last, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			d := last[j-1]
			if a[i-1] != b[j-1] {
				d++
			}
			d = min(d, last[j]+1, cur[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			cur[j] = d
		}
		before, last, cur = last, cur, before
	}
	return last[len(b)]
}

// NoSuch says that there is none of a kind by a name, which it may have meant, and which
// there are.
func NoSuch(kind, name string, names []string) string {
	meant := ""
	if near := Near(name, names, 1); len(near) > 0 {
		meant = " (did you mean " + near[0] + "?)"
	}
	return fmt.Sprintf("there is no %s %q%s; there are %s", kind, Clip(name), meant, strings.Join(names, ", "))
}
