// Package retrieval judges how well rankings answer questions whose answers
// are known.
package retrieval

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Record is one line of a query set.
type Record struct {
	ID      string            `json:"id"`
	Set     string            `json:"set"`
	Repo    string            `json:"repo"`
	Mirror  string            `json:"mirror"`
	Lang    string            `json:"lang"`
	Commit  string            `json:"commit"`
	Queries map[string]string `json:"queries"`
	Files   []string          `json:"gold_files"`
	Symbols []Gold            `json:"gold_symbols"`

	DocStart int `json:"doc_start"`
	DocEnd   int `json:"doc_end"`

	// Together: the comments of all such records of a commit are left out at once.
	Together bool `json:"together,omitempty"`
}

// Gold is a symbol that is right.
type Gold struct {
	File  string `json:"file"`
	Qual  string `json:"qual"`
	Kind  string `json:"kind"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// ReadSets reads every .jsonl file of a directory.
func ReadSets(dir string) ([]Record, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no .jsonl file", dir)
	}
	slices.Sort(names)
	var all []Record
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		d := json.NewDecoder(bufio.NewReader(f))
		for {
			var r Record
			if err = d.Decode(&r); err != nil {
				break
			}
			all = append(all, r)
		}
		f.Close()
		if !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}

// Found is one unit of an answer.
type Found struct {
	File, Qual string
	Start, End int // lines, counted from one
}

// Answer is what a ranking says about one query, best first.
type Answer struct {
	Files []string
	Units []Found
}

// Right reports whether a unit is the symbol: the same name, or most of the
// same lines.
func (g *Gold) Right(f Found) bool {
	if f.File != g.File {
		return false
	}
	if f.Qual == g.Qual {
		return true
	}
	same := min(f.End, g.End) - max(f.Start, g.Start) + 1
	all := max(f.End, g.End) - min(f.Start, g.Start) + 1
	return same*2 >= all
}

// Figures sums up how good answers are.
type Figures struct {
	N                 int
	Hit1, Hit5, Hit10 float64
	MRR, Recall10     float64
}

// Add takes in the ranks of the right ones (from one), and how many there are.
func (f *Figures) Add(ranks []int, gold int) {
	f.N++
	if len(ranks) == 0 {
		return
	}
	first := slices.Min(ranks)
	f.MRR += 1 / float64(first)
	for _, c := range []struct {
		k   int
		sum *float64
	}{{1, &f.Hit1}, {5, &f.Hit5}, {10, &f.Hit10}} {
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
	f.Recall10 += float64(in) / float64(gold)
}

// Sum takes in what another one has.
func (f *Figures) Sum(o *Figures) {
	f.N += o.N
	f.Hit1 += o.Hit1
	f.Hit5 += o.Hit5
	f.Hit10 += o.Hit10
	f.MRR += o.MRR
	f.Recall10 += o.Recall10
}

func (f *Figures) String() string {
	n := max(float64(f.N), 1)
	return fmt.Sprintf("%d\t%.1f\t%.1f\t%.1f\t%.3f\t%.1f", f.N, 100*f.Hit1/n, 100*f.Hit5/n, 100*f.Hit10/n, f.MRR/n, 100*f.Recall10/n)
}

// Judge compares an answer with what is right.
func (r *Record) Judge(a Answer, files, units *Figures) {
	var ranks []int
	for _, g := range r.Files {
		if i := slices.Index(a.Files, g); i >= 0 {
			ranks = append(ranks, i+1)
		}
	}
	files.Add(ranks, max(len(r.Files), 1))
	if len(r.Symbols) == 0 || units == nil {
		return
	}
	ranks = nil
	for i := range r.Symbols {
		if at := slices.IndexFunc(a.Units, r.Symbols[i].Right); at >= 0 {
			ranks = append(ranks, at+1)
		}
	}
	units.Add(ranks, len(r.Symbols))
}
