package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
)

// report is the figures by level, group and ranking.
type report struct {
	rows map[string]*retrieval.Figures
	keys []string
}

func (t *report) row(level, group, ranking string) *retrieval.Figures {
	key := level + "\t" + group + "\t" + ranking
	f := t.rows[key]
	if f == nil {
		f = new(retrieval.Figures)
		if t.rows == nil {
			t.rows = map[string]*retrieval.Figures{}
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
