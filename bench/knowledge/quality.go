package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// depth is how far down an answer is looked at.
const depth = 50

// state is one commit of a repository, as one record wants it.
type state struct {
	key     string // unlike all others'
	dir     string // of the repository
	records []*retrieval.Record
}

// collect reads the sets and sorts their records by what has to be indexed.
// What belongs to no repository at hand is left out.
func collect(set, mirrors string) ([]*state, error) {
	records, err := retrieval.ReadSets(set)
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	missing := map[string]int{}
	var states []*state
	byKey := map[string]*state{}
	for i := range records {
		r := &records[i]
		dir, known := dirs[r.Repo]
		if !known {
			dir = findRepository(mirrors, r.Repo, r.Mirror)
			dirs[r.Repo] = dir
		}
		if dir == "" {
			missing[r.Repo]++
			continue
		}
		key := r.Repo + "@" + r.Commit
		switch { // its text may differ
		case r.Together:
			key += "#comments"
		case r.DocStart > 0:
			key = r.ID
		}
		s := byKey[key]
		if s == nil {
			s = &state{key: key, dir: dir}
			byKey[key] = s
			states = append(states, s)
		}
		s.records = append(s.records, r)
	}
	for name, n := range missing {
		fmt.Fprintf(os.Stderr, "%s is not among the repositories: %d records are left out\n", name, n)
	}
	if len(states) == 0 {
		return nil, fmt.Errorf("none of the repositories is in %s", mirrors)
	}
	// Neighbours share most files.
	slices.SortStableFunc(states, func(a, b *state) int { return cmp.Compare(a.records[0].Repo, b.records[0].Repo) })
	return states, nil
}

// quality runs query sets and prints how well they are answered.
func quality(ctx context.Context, w io.Writer, states []*state, baselines bool, m *meaning) error {
	b := newBench(baselines, m)
	shelf, pasts := shelf{}, new(pasts)
	defer shelf.close()
	for i, s := range states {
		repo, err := shelf.open(ctx, s.dir)
		if err != nil {
			return err
		}
		if err := b.run(ctx, repo, s, pasts); err != nil {
			return fmt.Errorf("%s: %w", s.records[0].ID, err)
		}
		if i%50 == 49 {
			fmt.Fprintf(os.Stderr, "%d of %d\n", i+1, len(states))
		}
	}
	slices.Sort(b.times)
	if err := b.report.print(w, b.rankings); err != nil {
		return err
	}
	if n := len(b.times); n > 0 {
		fmt.Fprintf(w, "a query takes %v (median), %v (95 %%)\n", b.times[n/2], b.times[n*95/100])
	}
	return nil
}

type bench struct {
	report   report
	rankings []string
	all      bool
	ranker   *rank.Ranker
	words    *rank.Ranker // without the second look
	weights  *rank.Ranker // the second look by weights, without trees
	flat     *rank.Ranker
	meaning  *meaning // nil without an endpoint
	times    []time.Duration
}

func newBench(baselines bool, m *meaning) *bench {
	first := rank.Default()
	first.Unit, first.File = rank.Judge{}, rank.Judge{}
	weights := rank.Default()
	weights.Unit.Trees, weights.File.Trees = nil, nil
	b := &bench{all: baselines, ranker: rank.New(rank.Default()), words: rank.New(first), weights: rank.New(weights), flat: flat(), meaning: m, rankings: []string{"ours"}}
	if m != nil {
		b.rankings = append(b.rankings, "with vectors")
	}
	if baselines {
		b.rankings = append(b.rankings, "without commits", "without trees", "words alone", "BM25 files", "BM25 symbols", "ripgrep")
	}
	return b
}

// run answers the queries of one state.
func (b *bench) run(ctx context.Context, repo *repository, s *state, pasts *pasts) error {
	texts, err := load(ctx, repo, s)
	if err != nil {
		return err
	}
	seg := indexed(texts)
	files := make(map[string][]byte, len(texts))
	for _, t := range texts {
		files[t.path] = t.data
	}
	var failed error
	var small []lowered
	if b.all {
		small = lower(texts)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	gate := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, r := range s.records {
		past, err := pasts.of(ctx, s.dir, r.Commit)
		if err != nil {
			return err
		}
		for variant, text := range r.Queries {
			wg.Add(1)
			go func() {
				defer wg.Done()
				gate <- struct{}{}
				defer func() { <-gate }()
				start := time.Now()
				answers := map[string]retrieval.Answer{"ours": ask(b.ranker, seg, past, text)}
				took := time.Since(start)
				if b.meaning != nil {
					a, err := b.meaning.ask(ctx, b.ranker, seg, past, files, text)
					if err != nil {
						mu.Lock()
						defer mu.Unlock()
						failed = err
						return
					}
					a.Files = answers["ours"].Files // vectors have no say in files
					answers["with vectors"] = a
				}
				if b.all {
					answers["without commits"] = ask(b.ranker, seg, nil, text)
					answers["without trees"] = ask(b.weights, seg, past, text)
					answers["words alone"] = ask(b.words, seg, nil, text)
					plain := ask(b.flat, seg, nil, text)
					answers["BM25 files"] = retrieval.Answer{Files: plain.Files}
					answers["BM25 symbols"] = bySymbols(plain)
					answers["ripgrep"] = keywords(small, text)
				}
				mu.Lock()
				defer mu.Unlock()
				b.times = append(b.times, took)
				for _, name := range b.rankings {
					a := answers[name]
					for _, group := range []string{r.Set + "/" + variant, r.Set + " " + r.Lang, "all"} {
						var units *retrieval.Figures
						if len(r.Symbols) > 0 && a.Units != nil {
							units = b.report.row("functions", group, name)
						}
						r.Judge(a, b.report.row("files", group, name), units)
					}
				}
			}()
		}
	}
	wg.Wait()
	return failed
}

// text is one file of a state.
type text struct {
	path string
	data []byte
}

func load(ctx context.Context, repo *repository, s *state) ([]text, error) {
	r := s.records[0]
	list, err := repo.tree(ctx, r.Commit)
	if err != nil {
		return nil, err
	}
	var out []text
	for _, f := range list {
		if strings.HasPrefix(path.Base(f.path), ".") || strings.HasPrefix(f.path, ".") {
			continue
		}
		data, err := repo.read(f.sha)
		if errors.Is(err, errMissing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, r := range s.records {
			if r.DocStart > 0 && f.path == r.Files[0] {
				data = blank(data, r.DocStart, r.DocEnd)
			}
		}
		out = append(out, text{f.path, data})
	}
	return out, nil
}

// indexed makes the segment of a state.
func indexed(texts []text) *segment.Segment {
	b := segment.NewBuilder(false)
	in := index.NewIntake(treesitter.Language, nil)
	for _, t := range texts {
		in.Add(b, t.path, t.data, int64(len(t.data)))
	}
	return b.Finish()
}

// ask asks our ranking.
func ask(r *rank.Ranker, seg *segment.Segment, past *history.History, question string) retrieval.Answer {
	hits, files := r.Search(r.Read(question), rank.Project{Parts: []rank.Part{{Segment: seg}}, History: past}, rank.Filter{}, 2*depth, depth)
	a := retrieval.Answer{Units: []retrieval.Found{}}
	for _, h := range hits {
		u := &seg.Units[h.Unit]
		if u.Kind() == segment.FileKind {
			continue
		}
		a.Units = append(a.Units, foundUnit(seg, h.Unit))
	}
	for _, h := range files {
		a.Files = append(a.Files, seg.Files[h.File].Path)
	}
	return a
}

func foundUnit(seg *segment.Segment, unit uint32) retrieval.Found {
	u := &seg.Units[unit]
	return retrieval.Found{File: seg.Files[u.File].Path, Qual: seg.Qualified(unit), Start: int(u.Start), End: int(u.End)}
}

// bySymbols orders files by their first symbol.
func bySymbols(a retrieval.Answer) retrieval.Answer {
	out := retrieval.Answer{Units: a.Units}
	for _, u := range a.Units {
		if !slices.Contains(out.Files, u.File) {
			out.Files = append(out.Files, u.File)
		}
	}
	return out
}
