package langserver

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// What is looked at besides the files that were changed.
const (
	maxNeighbours = 40 // files of the same directory
	maxDependents = 20 // files that name what was changed
)

// Check is what changes did to the problems of the files: errors and warnings.
type Check struct {
	New     []Problem // those that the files did not have before the changes
	Pending []Problem // those that the base does not have, whoever brought them
	Known   []string  // of the changed files, those that are known about; sorted
	Unknown []Report  // those that are not, and why
	By      []string  // the servers that know; sorted
	Partial bool      // not all that depends on the changed files was looked at
	Looked  []string  // all files that are known about
}

// views are the states of the files that a check compares.
type views struct {
	base   workspace.Files // without any pending edit
	before workspace.Files // before the changes that the check is about
	files  workspace.Files // as they are
}

// Introduced says what changes of the names have brought, in them and in what
// depends on them: files compared with how they were before, and with the base.
// What depends on them can take much longer, so it is left for another time when
// they have new problems themselves; and a server that does not run yet is
// started and not waited for.
func (p *Pool) Introduced(ctx context.Context, base, before, files workspace.Files, names []string) Check {
	defer p.foreground()()
	return p.introduced(ctx, views{base, before, files}, names, false)
}

// IntroducedAll is Introduced for whoever has time: it looks at everything, waits
// for servers to start, and gives way to all other questions. It fails when one
// came, and when ctx ends.
func (p *Pool) IntroducedAll(ctx context.Context, base, before, files workspace.Files, names []string) (Check, error) {
	ctx, done, err := p.background(ctx)
	if err != nil {
		return Check{}, err
	}
	defer done()
	c := p.introduced(ctx, views{base, before, files}, names, true)
	return c, ctx.Err()
}

func (p *Pool) introduced(ctx context.Context, v views, names []string, all bool) Check {
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
	for _, r := range p.compare(ctx, &c, v, changed, all) {
		if r.Err != nil {
			c.Unknown = append(c.Unknown, r)
			continue
		}
		c.Known = append(c.Known, r.Name)
		if !slices.Contains(c.By, r.Server) {
			c.By = append(c.By, r.Server)
		}
	}
	c.Looked = slices.Clone(c.Known)
	switch {
	case len(c.New) > 0 && !all, len(c.Known) == 0:
		c.Partial = true
	default:
		for _, r := range p.compare(ctx, &c, v, p.around(ctx, v.files, changed), all) {
			if r.Err != nil {
				c.Partial = true
			} else {
				c.Looked = append(c.Looked, r.Name)
			}
		}
	}
	slices.Sort(c.Known)
	slices.Sort(c.By)
	slices.SortFunc(c.New, Problem.compare)
	slices.SortFunc(c.Pending, Problem.compare)
	return c
}

// compare adds to c what is new in some files, and returns a report of each
// that is still there; what they had earlier must be known too.
func (p *Pool) compare(ctx context.Context, c *Check, v views, names []string, wait bool) []Report {
	var reports []Report
	var suspects []string
	stamps := p.stamps(v.files, names)
	now := p.diagnose(ctx, v.files, names, wait)
	p.remember(v.files, now, stamps)
	for _, r := range now {
		if r.Err != nil {
			if _, err := v.files.Stat(r.Name); err != nil {
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
	since := func(earlier workspace.Files) (found []Problem) {
		for _, was := range p.earlier(ctx, earlier, suspects) {
			i := slices.IndexFunc(reports, func(r Report) bool { return r.Name == was.Name })
			if was.Err != nil {
				if _, err := earlier.Stat(was.Name); err == nil {
					reports[i].Err = was.Err // nothing is said of problems that may be old
					continue
				}
			}
			found = append(found, added(earlier, v.files, serious(was.Problems), reports[i].Problems)...)
		}
		return found
	}
	pending := since(v.base)
	fresh := pending
	if v.before != v.base {
		fresh = since(v.before)
	}
	c.New = append(c.New, fresh...)
	c.Pending = append(c.Pending, pending...)
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
		if at.kind.mention == nil || p.o.Disk == nil {
			continue
		}
		if text := at.kind.mention(files, at.root, name); text != "" {
			add(p.o.Disk.Having(ctx, files, text, like, maxDependents), maxDependents)
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

// earlier is the problems that files had in another state. They are remembered
// as long as nothing changes that could change them.
func (p *Pool) earlier(ctx context.Context, files workspace.Files, names []string) []Report {
	reports := make([]Report, len(names))
	stamps := p.stamps(files, names)
	var ask []string
	var at []int
	for i, name := range names {
		if s := p.running(files, name); s != nil {
			if r, ok := s.reports.of(name, stamps[name]); ok {
				reports[i] = r
				continue
			}
		}
		ask, at = append(ask, name), append(at, i)
	}
	asked := p.diagnose(ctx, files, ask, false)
	p.remember(files, asked, stamps)
	for j, r := range asked {
		reports[at[j]] = r
	}
	return reports
}

// remember keeps reports of files that did not change while they were made.
func (p *Pool) remember(files workspace.Files, reports []Report, stamps map[string]stamp) {
	var names []string
	for _, r := range reports {
		if r.Err == nil {
			names = append(names, r.Name)
		}
	}
	now := p.stamps(files, names)
	for _, r := range reports {
		if s := p.running(files, r.Name); s != nil && r.Err == nil && now[r.Name] == stamps[r.Name] {
			s.reports.add(r.Name, now[r.Name], r)
		}
	}
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

// stamp tells whether what a server is shown with a file is what it was.
type stamp [sha256.Size]byte

// known names a file in one state of all files.
type known struct {
	name  string
	stamp stamp
}

const maxReports = 1000

// stamps sums up what the servers of files would be shown: the file, whatever
// differs from the disk, and how often the server was told of changes there. A
// file whose server does not run has none.
func (p *Pool) stamps(files workspace.Files, names []string) map[string]stamp {
	out := map[string]stamp{}
	overlaid := map[*server][]byte{}
	for _, name := range names {
		s := p.running(files, name)
		if s == nil {
			continue
		}
		over, ok := overlaid[s]
		if !ok {
			over = s.overlaid(files)
			overlaid[s] = over
		}
		h := sha256.New()
		h.Write(over)
		sum(h, files, name)
		out[name] = stamp(h.Sum(nil))
	}
	return out
}

// overlaid sums up what differs from the disk, so that views which show the
// same are the same, and how often s was told of the disk.
func (s *server) overlaid(files workspace.Files) []byte {
	h := sha256.New()
	disk, over := files.Base()
	for _, name := range over {
		if !s.serves(name) {
			continue
		}
		text, err := readText(files, name)
		if was, wasErr := readText(disk, name); text != was || (err == nil) != (wasErr == nil) {
			sum(h, files, name)
		}
	}
	return binary.LittleEndian.AppendUint64(h.Sum(nil), uint64(s.told.Load()))
}

// sum adds a file to h.
func sum(h hash.Hash, files workspace.Files, name string) {
	text, err := readText(files, name)
	put := func(text string) {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	put(name)
	put(text)
	if err != nil {
		put(err.Error())
	}
}

// reports are those that were right, of files as they were.
type reports struct {
	mu   sync.Mutex
	made map[known]Report
}

func (r *reports) of(name string, at stamp) (Report, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	made, ok := r.made[known{name, at}]
	return made, ok
}

func (r *reports) add(name string, at stamp, made Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.made) >= maxReports || r.made == nil {
		r.made = map[known]Report{}
	}
	r.made[known{name, at}] = made
}
