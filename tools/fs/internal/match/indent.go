package match

import (
	"errors"
	"strings"
)

// indents maps the indentation of a block as it was written to that of the
// text where it was found.
type indents struct {
	to   map[string]string
	torn map[string]bool // stands for several indentations of the text
	unit int             // spaces of the block that are one tab of the text; 0 means unknown
}

var errUneven = errors.New("the indentation does not differ evenly")

// indentation learns the map from pairs of lines. Where pairs disagree that is
// an error; lenient, a clear majority is taken and the rest noted as torn.
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
	in := indents{to: map[string]string{}, torn: map[string]bool{}}
	for from, tos := range votes {
		best, total := "", 0
		for to, n := range tos {
			total += n
			if n > tos[best] || n == tos[best] && to < best {
				best = to
			}
		}
		if len(tos) > 1 && !lenient {
			return in, errUneven
		}
		if 3*tos[best] < 2*total {
			in.torn[from] = true
			continue
		}
		in.to[from] = best
	}
	in.unit = unitOf(in.to)
	return in, nil
}

// unitOf is how many spaces of a block are one tab of the text: what the two
// most different indentations say, or the only one.
func unitOf(to map[string]string) int {
	fewest, most := -1, -1
	for from, tabs := range to {
		if strings.Trim(from, " ") != "" || strings.Trim(tabs, "\t") != "" {
			continue
		}
		if n := len(from); fewest < 0 || n < fewest {
			fewest = n
		}
		most = max(most, len(from))
	}
	if most <= 0 {
		return 0
	}
	spaces, tabs := most, len(to[strings.Repeat(" ", most)])
	if fewest < most {
		spaces, tabs = most-fewest, tabs-len(to[strings.Repeat(" ", fewest)])
	}
	if tabs <= 0 || spaces%tabs != 0 {
		return 0
	}
	return spaces / tabs
}

// line re-indents one line as the text has it. It fails for an indentation
// that stands for several of the text.
func (in indents) line(s string) (string, error) {
	from := Indent(s)
	if trim(s) == "" {
		return s, nil
	}
	if in.torn[from] {
		return "", errUneven
	}
	rest := s[len(from):]
	if to, ok := in.to[from]; ok {
		return to + rest, nil
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
		return in.to[below] + in.convert(from[len(below):]) + rest, nil
	case over:
		if to, ok := strings.CutSuffix(in.to[above], in.convert(above[len(from):])); ok {
			return to + rest, nil
		}
	}
	return in.convert(from) + rest, nil
}

func (in indents) convert(s string) string {
	if in.unit == 0 || strings.Trim(s, " ") != "" {
		return s
	}
	return strings.Repeat("\t", len(s)/in.unit) + strings.Repeat(" ", len(s)%in.unit)
}
