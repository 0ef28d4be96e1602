package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools/search"
)

// resident is a server's state of one directory.
type resident struct {
	ctx    context.Context
	disk   *workspace.Disk
	files  workspace.Files
	index  *textindex.Index
	rounds int
	first  cost.Cost // of the search that made the index
}

// measureResident prints what searches take when a server stays: the first one
// beside a pass of ripgrep, then those for words of the tree itself, by how
// many files have them, and lists.
func measureResident(ctx context.Context, dir, rg, tmp string, rounds int, disk *workspace.Disk) error {
	r := resident{ctx: ctx, disk: disk, files: struct{ workspace.Files }{workspace.Guard(disk, nil)}, rounds: rounds}
	var builds, passes []cost.Cost
	for i := range 4 { // each from nothing; the first is a warm-up
		pass, err := command(ctx, dir, filepath.Join(tmp, "rg.out"), rg, "-j2", "--no-require-git", "--no-config", "-n", "--no-heading", "-e", absent, ".")
		if err != nil {
			return err
		}
		stop, err := r.build()
		if err != nil {
			return err
		}
		if i == 3 {
			defer stop()
		} else {
			stop()
		}
		if i > 0 {
			builds, passes = append(builds, r.first), append(passes, pass)
		}
	}
	runtime.GC()
	stats := r.index.Stats()
	size, words, err := r.words()
	if err != nil {
		return err
	}
	fmt.Printf("\nresident: %d files, %.1f MB; the index takes %.1f MB, %.1f %%; the first search is %s passes of rg (wall/cpu; %s)\n",
		stats.Files, float64(size)/1e6, float64(stats.Bytes)/1e6, 100*float64(stats.Bytes)/float64(size), cost.Ratio(builds, passes), median(builds))
	fmt.Printf("%-28s %6s %9s %9s %9s   %s\n", "ms", "words", "wall", "cpu", "cpu, 90 %", "slowest")
	for _, class := range []struct {
		name   string
		lo, hi int
	}{{"in no file", 0, 0}, {"in 1 to 40 files", 1, 40}, {"in 41 to 400 files", 41, 400}} {
		if err := r.searches(class.name, words, class.lo, class.hi); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		name  string
		match func(name string) bool
	}{
		{"list all", func(string) bool { return true }},
		{"list by last element", func(name string) bool { return filepath.Ext(name) == ".md" }},
	} {
		if err := r.lists(list.name, list.match); err != nil {
			return err
		}
	}
	return r.fresh()
}

const absent = "zqxjkvwzz"

// build makes the index again.
func (r *resident) build() (stop func(), err error) {
	w := sync.OnceValue(func() *watch.Watcher { return watch.New(r.disk) })
	r.index = textindex.New(r.disk, func() *watch.Feed { return w().Subscribe() }, textindex.Options{})
	stop = func() { r.index.Close(); _ = w().Close() }
	runtime.GC()
	r.first, err = r.cost(absent)
	if state := w().State(); err == nil && !state.Watching {
		fmt.Println("not watched:", state.Why)
	}
	return stop, err
}

func (r *resident) search(pattern string) (*search.Matches, error) {
	q := search.Query{Pattern: pattern, Limit: 200, Index: r.index, Walk: workspace.WalkOptions{Workers: 2}}
	return q.Run(r.ctx, r.files)
}

// words returns the size of all files, and identifiers of some of them, the
// same on every run, with the number of files that have them; and words that no file has.
func (r *resident) words() (size int64, words map[string]int, err error) {
	random := rand.New(rand.NewPCG(1, 2))
	identifier := regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]{9,30}`)
	words = map[string]int{absent: 0, "foo_bar_baz_absent": 0}
	var names []string
	err = r.files.Walk(r.ctx, workspace.WalkOptions{Workers: 1}, func(e *workspace.Entry) error {
		if st, err := e.Stat(); err == nil {
			size += st.Size
		}
		names = append(names, e.Path)
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	slices.Sort(names)
	for range 400 {
		data, err := r.files.ReadFile(names[random.IntN(len(names))])
		if err != nil || bytes.IndexByte(data, 0) >= 0 {
			continue
		}
		found := identifier.FindAll(data, -1)
		if len(found) == 0 {
			continue
		}
		word := string(found[random.IntN(len(found))])
		m, err := r.search(word)
		if err != nil {
			return 0, nil, err
		}
		words[word] = m.Found
		if m, err = r.search(word + "_x"); err != nil {
			return 0, nil, err
		}
		if m.Found == 0 && len(words)%4 == 0 {
			words[word+"_x"] = 0
		}
	}
	return size, words, nil
}

func (r *resident) searches(name string, words map[string]int, lo, hi int) error {
	var all []cost.Cost
	slowest, slowestWord := time.Duration(0), ""
	for word, n := range words {
		if n < lo || n > hi {
			continue
		}
		var costs []cost.Cost
		for range r.rounds + 1 {
			c, err := r.cost(word)
			if err != nil {
				return err
			}
			costs = append(costs, c)
		}
		m := cost.Typical(costs[1:])
		if all = append(all, m); m.CPU > slowest {
			slowest, slowestWord = m.CPU, fmt.Sprintf("%s, %.1f cpu", word, cost.Millis(m.CPU))
		}
	}
	r.print(name, slowestWord, all)
	return nil
}

func (r *resident) lists(name string, match func(string) bool) error {
	var all []cost.Cost
	for range r.rounds + 1 {
		c, err := cost.Here(func() error {
			_, _, err := search.Files(r.ctx, r.index, r.files, workspace.WalkOptions{}, 200, match)
			return err
		})
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	r.print(name, "", all[1:])
	return nil
}

// fresh touches files and searches at once: what was touched is looked at again.
func (r *resident) fresh() error {
	var names []string
	err := r.files.Walk(r.ctx, workspace.WalkOptions{Workers: 1}, func(e *workspace.Entry) error {
		names = append(names, e.Path)
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(names)
	root, err := os.OpenRoot(r.disk.Abs(".")) // the repository may have links that lead out
	if err != nil {
		return err
	}
	defer root.Close()
	random := rand.New(rand.NewPCG(3, 4))
	var all []cost.Cost
	for range 10 * r.rounds {
		name := names[random.IntN(len(names))]
		info, err := root.Stat(name)
		if err != nil || root.Chmod(name, info.Mode().Perm()) != nil {
			continue // not ours to touch
		}
		c, err := r.cost(absent)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	r.print("in no file, after a change", "", all)
	return nil
}

func (r *resident) print(name, slowest string, all []cost.Cost) {
	if len(all) == 0 {
		fmt.Printf("%-24s none\n", name)
		return
	}
	m := cost.Typical(all)
	slices.SortFunc(all, func(a, b cost.Cost) int { return cmp.Compare(a.CPU, b.CPU) })
	fmt.Printf("%-28s %6d %9.3f %9.3f %9.3f   %s\n", name, len(all), cost.Millis(m.Wall), cost.Millis(m.CPU), cost.Millis(all[len(all)*9/10].CPU), slowest)
}

// cost is what a search for a word takes.
func (r *resident) cost(word string) (cost.Cost, error) {
	return cost.Here(func() error {
		_, err := r.search(word)
		return err
	})
}
