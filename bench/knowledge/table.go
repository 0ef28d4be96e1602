package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// found is one unit of an answer.
type found struct {
	file, qual string
	start, end int
}

// answer is what a ranking says about one query, best first.
type answer struct {
	files []string
	units []found
}

// right reports whether a unit is the symbol: the same name, or most of the
// same lines.
func (g *goldSymbol) right(f found) bool {
	if f.file != g.File {
		return false
	}
	if f.qual == g.Qual {
		return true
	}
	same := min(f.end, g.End) - max(f.start, g.Start) + 1
	all := max(f.end, g.End) - min(f.start, g.Start) + 1
	return same*2 >= all
}

// figures sums up how good answers are.
type figures struct {
	n                 int
	hit1, hit5, hit10 float64
	mrr, recall10     float64
}

// add takes in the ranks of the right ones (from one), and how many there are.
func (f *figures) add(ranks []int, gold int) {
	f.n++
	if len(ranks) == 0 {
		return
	}
	first := slices.Min(ranks)
	f.mrr += 1 / float64(first)
	for _, c := range []struct {
		k   int
		sum *float64
	}{{1, &f.hit1}, {5, &f.hit5}, {10, &f.hit10}} {
		if first <= c.k {
			*c.sum++
		}
	}
	in := 0
	for _, r := range ranks {
		if r <= 10 {
			in++
		}
	}
	f.recall10 += float64(in) / float64(gold)
}

func (f *figures) String() string {
	n := max(float64(f.n), 1)
	return fmt.Sprintf("%d\t%.1f\t%.1f\t%.1f\t%.3f\t%.1f", f.n, 100*f.hit1/n, 100*f.hit5/n, 100*f.hit10/n, f.mrr/n, 100*f.recall10/n)
}

// judge compares an answer with what is right.
func (r *record) judge(a answer, files, units *figures) {
	var ranks []int
	for _, g := range r.Files {
		if i := slices.Index(a.files, g); i >= 0 {
			ranks = append(ranks, i+1)
		}
	}
	files.add(ranks, max(len(r.Files), 1))
	if len(r.Symbols) == 0 || units == nil {
		return
	}
	ranks = nil
	for i := range r.Symbols {
		if at := slices.IndexFunc(a.units, r.Symbols[i].right); at >= 0 {
			ranks = append(ranks, at+1)
		}
	}
	units.add(ranks, len(r.Symbols))
}

// report is the figures by level, group and ranking.
type report struct {
	rows map[string]*figures
	keys []string
}

func (t *report) row(level, group, ranking string) *figures {
	key := level + "\t" + group + "\t" + ranking
	f := t.rows[key]
	if f == nil {
		f = new(figures)
		if t.rows == nil {
			t.rows = map[string]*figures{}
		}
		t.rows[key], t.keys = f, append(t.keys, key)
	}
	return f
}

func (t *report) print(w io.Writer, rankings []string) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "level\tset\tranking\tn\tHit@1\tHit@5\tHit@10\tMRR\tRecall@10")
	order := func(key string) string {
		f := strings.Split(key, "\t")
		group := f[1]
		if group == "all" {
			group = "~"
		}
		return fmt.Sprintf("%s\t%s\t%02d", f[0], group, slices.Index(rankings, f[2]))
	}
	slices.SortFunc(t.keys, func(a, b string) int { return strings.Compare(order(a), order(b)) })
	for _, k := range t.keys {
		fmt.Fprintf(out, "%s\t%s\n", k, t.rows[k])
	}
	return out.Flush()
}
