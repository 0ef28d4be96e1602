package langserver

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/lsp"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// What is looked at besides the files that were changed.
const (
	maxNeighbours = 40 // files of the same directory
	maxDependents = 20 // files that name what was changed
)

// Check is what changes did to the problems of the files.
type Check struct {
	New     []Problem // errors and warnings that the base does not have
	Known   []string  // of the changed files, those that are known about; sorted
	Unknown []Report  // those that are not, and why
	By      []string  // the servers that know; sorted
	Partial bool      // not all that depends on the changed files was looked at
}

// Introduced compares the problems of files with those of the base, for the
// changed names and for what depends on them. The latter can take much longer,
// so it is left for another time when the former have new problems; and a
// server that does not run yet is started and not waited for.
func (p *Pool) Introduced(ctx context.Context, base, files workspace.Files, names []string) Check {
	defer p.foreground()()
	return p.introduced(ctx, base, files, names, false)
}

// IntroducedAll is Introduced for whoever has time: it looks at everything, waits
// for servers to start, and gives way to all other questions. It fails when one
// came, and when ctx ends.
func (p *Pool) IntroducedAll(ctx context.Context, base, files workspace.Files, names []string) (Check, error) {
	ctx, done, err := p.background(ctx)
	if err != nil {
		return Check{}, err
	}
	defer done()
	c := p.introduced(ctx, base, files, names, true)
	return c, ctx.Err()
}

func (p *Pool) introduced(ctx context.Context, base, files workspace.Files, names []string, all bool) Check {
	var changed []string
	for _, name := range names {
		if kindOf(name) != nil {
			changed = append(changed, name)
		}
	}
	var c Check
	if len(changed) == 0 {
		return c
	}
	for _, r := range p.compare(ctx, &c, base, files, changed, all) {
		if r.Err != nil {
			c.Unknown = append(c.Unknown, r)
			continue
		}
		c.Known = append(c.Known, r.Name)
		if !slices.Contains(c.By, r.Server) {
			c.By = append(c.By, r.Server)
		}
	}
	switch {
	case len(c.New) > 0 && !all, len(c.Known) == 0:
		c.Partial = true
	default:
		for _, r := range p.compare(ctx, &c, base, files, p.around(ctx, files, changed), all) {
			c.Partial = c.Partial || r.Err != nil
		}
	}
	slices.Sort(c.Known)
	slices.Sort(c.By)
	slices.SortFunc(c.New, Problem.compare)
	return c
}

// compare adds to c what is new in some files, and returns a report of each
// that is still there; what they had before must be known too.
func (p *Pool) compare(ctx context.Context, c *Check, base, files workspace.Files, names []string, wait bool) []Report {
	var reports []Report
	var suspects []string
	for _, r := range p.diagnose(ctx, files, names, wait) {
		if r.Err != nil {
			if _, err := files.Stat(r.Name); err != nil {
				continue // deleted
			}
		}
		if r.Problems = serious(r.Problems); len(r.Problems) > 0 {
			suspects = append(suspects, r.Name)
		}
		reports = append(reports, r)
	}
	if len(suspects) == 0 {
		return reports
	}
	for _, was := range p.before(ctx, base, suspects) {
		i := slices.IndexFunc(reports, func(r Report) bool { return r.Name == was.Name })
		if was.Err != nil {
			if _, err := base.Stat(was.Name); err == nil {
				reports[i].Err = was.Err // nothing is said of problems that may be old
				continue
			}
		}
		c.New = append(c.New, added(base, files, serious(was.Problems), reports[i].Problems)...)
	}
	return reports
}

// serious leaves out what is only a remark.
func serious(list []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(list), func(p Problem) bool { return !p.Severity.AtLeast(Warning) })
}

// around lists the files that the changed ones can break.
func (p *Pool) around(ctx context.Context, files workspace.Files, changed []string) []string {
	seen := map[string]bool{}
	for _, name := range changed {
		seen[name] = true
	}
	var out []string
	add := func(names []string, limit int) {
		for _, name := range names {
			if limit > 0 && !seen[name] {
				seen[name] = true
				out = append(out, name)
				limit--
			}
		}
	}
	for _, name := range changed {
		at, err := locate(files, name)
		if err != nil {
			continue
		}
		like := func(other string) bool { return kindOf(other) == at.kind }
		if at.kind.together {
			var beside []string
			entries, _ := files.ReadDir(path.Dir(name))
			for _, e := range entries {
				if other := path.Join(path.Dir(name), e.Name()); e.Type().IsRegular() && like(other) {
					beside = append(beside, other)
				}
			}
			add(beside, maxNeighbours)
		}
		if at.kind.mention == nil || p.o.Dependents == nil {
			continue
		}
		if text := at.kind.mention(files, at.root, name); text != "" {
			add(p.o.Dependents(ctx, files, text, like, maxDependents), maxDependents)
		}
	}
	return out
}

// added returns the problems of after that before has not. Lines move, so
// problems are the same if they say the same, at a line that reads the same;
// what is left is compared without the lines.
func added(base, files workspace.Files, before, after []Problem) []Problem {
	type key struct{ code, source, message, line string }
	keyOf := func(p Problem, text *lsp.Document) key {
		k := key{p.Code, p.Source, p.Message, ""}
		if text != nil {
			k.line = strings.TrimSpace(text.Line(p.Line - 1))
		}
		return k
	}
	match := func(before, after []Problem, was, is *lsp.Document) (restBefore, restAfter []Problem) {
		have := map[key]int{}
		for _, p := range before {
			have[keyOf(p, was)]++
		}
		taken := map[key]int{}
		for _, p := range after {
			if k := keyOf(p, is); taken[k] < have[k] {
				taken[k]++
			} else {
				restAfter = append(restAfter, p)
			}
		}
		for _, p := range before {
			if k := keyOf(p, was); taken[k] > 0 {
				taken[k]--
			} else {
				restBefore = append(restBefore, p)
			}
		}
		return restBefore, restAfter
	}
	if len(before) == 0 || len(after) == 0 {
		return after
	}
	text := func(files workspace.Files) *lsp.Document {
		body, err := readText(files, after[0].Path)
		if err != nil {
			return nil
		}
		return lsp.NewDocument(body)
	}
	before, after = match(before, after, text(base), text(files))
	_, after = match(before, after, nil, nil)
	return after
}

// before is the problems that files have in the base. They are remembered as
// long as nothing in the base changes that could change them.
func (p *Pool) before(ctx context.Context, base workspace.Files, names []string) []Report {
	reports := make([]Report, len(names))
	var ask []string
	var at []int
	stamps := map[string]stamp{}
	for i, name := range names {
		s := p.running(base, name)
		if s == nil {
			ask, at = append(ask, name), append(at, i)
			continue
		}
		now := s.stampOf(base, name)
		if old, ok := s.remembered(name); ok && old.stamp == now {
			reports[i] = old.report
			continue
		}
		stamps[name] = now
		ask, at = append(ask, name), append(at, i)
	}
	for j, r := range p.diagnose(ctx, base, ask, false) {
		reports[at[j]] = r
		if s := p.running(base, r.Name); s != nil && r.Err == nil {
			if now := s.stampOf(base, r.Name); now == stamps[r.Name] {
				s.rememberBase(r.Name, baseline{now, r})
			}
		}
	}
	return reports
}

// running returns the server of a file if it runs.
func (p *Pool) running(files workspace.Files, name string) *server {
	at, err := locate(files, name)
	if err != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if sl := p.slots[slotKey{at.kind.name, at.dir}]; sl != nil {
		return sl.server
	}
	return nil
}

// stamp tells whether a base is the one that it was.
type stamp [sha256.Size]byte

// baseline is what a file's problems are in a base.
type baseline struct {
	stamp  stamp
	report Report
}

const maxBaselines = 300

// stampOf sums up what a server would be shown of the files, and how often it
// was told of changes on the disk.
func (s *server) stampOf(files workspace.Files, name string) stamp {
	h := sha256.New()
	put := func(text string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(text)))
		h.Write(n[:])
		h.Write([]byte(text))
	}
	for _, over := range append(workspace.Overlaid(files), name) {
		if s.serves(over) {
			text, err := readText(files, over)
			put(over)
			put(text)
			if err != nil {
				put(err.Error())
			}
		}
	}
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(s.told.Load()))
	h.Write(n[:])
	return stamp(h.Sum(nil))
}

func (s *server) remembered(name string) (baseline, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.bases[name]
	return b, ok
}

func (s *server) rememberBase(name string, b baseline) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.bases) >= maxBaselines || s.bases == nil {
		s.bases = map[string]baseline{}
	}
	s.bases[name] = b
}
