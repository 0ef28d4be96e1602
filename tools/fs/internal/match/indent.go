package match

import (
	"errors"
	"strings"
)

// indents maps the indentation of a block as it was written to that of the
// text where it was found.
type indents struct {
	to   map[string]string
	unit int // spaces of the block that are one tab of the text; 0 means unknown
}

var errUneven = errors.New("the indentation does not differ evenly")

// indentation learns the map from pairs of lines. Lenient, it takes the
// majority where pairs disagree; else that is an error.
func indentation(file []Line, old []string, lenient bool) (indents, error) {
	votes := map[string]map[string]int{}
	for i, o := range old {
		if trim(o) == "" || trim(file[i].Text) == "" {
			continue
		}
		from, to := Indent(o), Indent(file[i].Text)
		if votes[from] == nil {
			votes[from] = map[string]int{}
		}
		votes[from][to]++
	}
	in := indents{to: map[string]string{}}
	for from, tos := range votes {
		best, total := "", 0
		for to, n := range tos {
			total += n
			if n > tos[best] || n == tos[best] && to < best {
				best = to
			}
		}
		if len(tos) > 1 && (!lenient || 3*tos[best] < 2*total) {
			return in, errUneven
		}
		in.to[from] = best
		if tabs := strings.Count(best, "\t"); tabs > 0 && tabs == len(best) && from != "" && strings.Trim(from, " ") == "" {
			if len(from)%tabs == 0 {
				in.unit = len(from) / tabs
			}
		}
	}
	return in, nil
}

// line re-indents one line as the text has it.
func (in indents) line(s string) string {
	from := Indent(s)
	if trim(s) == "" {
		return s
	}
	rest := s[len(from):]
	if to, ok := in.to[from]; ok {
		return to + rest
	}
	// The nearest known indentation that is a part of this one, and what comes
	// on top of it; or one that this is a part of, and what it has too much.
	below, above := "", ""
	found, over := false, false
	for k := range in.to {
		if strings.HasPrefix(from, k) && (!found || len(k) > len(below)) {
			below, found = k, true
		}
		if strings.HasPrefix(k, from) && (!over || len(k) < len(above)) {
			above, over = k, true
		}
	}
	switch {
	case found:
		return in.to[below] + in.convert(from[len(below):]) + rest
	case over:
		if to, ok := strings.CutSuffix(in.to[above], in.convert(above[len(from):])); ok {
			return to + rest
		}
	}
	return in.convert(from) + rest
}

func (in indents) convert(s string) string {
	if in.unit == 0 || strings.Trim(s, " ") != "" {
		return s
	}
	return strings.Repeat("\t", len(s)/in.unit) + strings.Repeat(" ", len(s)%in.unit)
}
