package langserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// Bounds of the pool.
const (
	maxServers  = 6                // that run at once
	idleTime    = 10 * time.Minute // without a question, then a server is ended
	maxFailures = 5                // ends in a row, then a server is not started again
	healthyTime = 10 * time.Minute // of running, then earlier ends don't count
	firstDelay  = time.Second      // before a server that ended is started again; doubled each time
	lastDelay   = time.Minute
)

// Options are what a Pool needs. Start is needed; all else may be left out.
type Options struct {
	// Start starts a server. It ends with ctx, all its processes with it.
	Start func(ctx context.Context, p Program) (*Process, error)

	// Look finds a program, by its name or its path; nil: wherever PATH leads to.
	Look func(name string) (string, error)

	// Settings are asked for before every question.
	Settings func() Settings

	Disk Disk // nil: nothing is known of it

	Log *slog.Logger
	Now func() time.Time
}

// Disk is where the files lie: OnDisk.
type Disk interface {
	// Changes returns what tells of changes on the disk of files; nil when
	// nothing does. It is called once for each server.
	Changes(files workspace.Files) Changes

	// Having returns the files, at most limit, that have text in them.
	Having(ctx context.Context, files workspace.Files, text string, like func(name string) bool, limit int) []string
}

// Settings are what the user decided.
type Settings struct {
	// Refused says why no server may run, "" when they may: they run programs
	// that a project names, so the user must trust it.
	Refused string

	Servers map[string]Server // by the names that Names lists
}

// Server is what the user decided about one language server.
type Server struct {
	Off     bool
	Command []string        // empty: what is found on PATH
	Options json.RawMessage // initializationOptions, instead of ours; nil: ours
}

// Program is a server to be started.
type Program struct {
	Argv   []string
	Dir    string // the project, where it begins
	Folder string // the folder of the workspace that Dir lies in
	Writes bool   // it has to write into the project
}

// Process is a server that was started.
type Process struct {
	In   io.WriteCloser
	Out  io.ReadCloser
	Wait func() error // returns when all its processes have ended
	Kill func()
	Said func() string // the end of what it wrote to standard error
}

// Changes tell of changes on a disk since the last call: names of the view, or
// lost when anything may be another.
type Changes interface {
	Next(ctx context.Context) (names []string, lost bool)
	Close()
}

// UnavailableError says why there is no server to ask.
type UnavailableError struct {
	Server string // "" when there is none for the language
	Why    string
	Soon   bool // it is worth to ask again
}

func unavailable(server, why string) *UnavailableError {
	return &UnavailableError{Server: server, Why: why}
}

func notYet(server, why string) *UnavailableError {
	return &UnavailableError{Server: server, Why: why, Soon: true}
}

// Soon reports whether what failed is worth to be asked again.
func Soon(err error) bool {
	var un *UnavailableError
	return errors.As(err, &un) && un.Soon || errors.Is(err, context.DeadlineExceeded)
}

func (e *UnavailableError) Error() string {
	if e.Server == "" {
		return e.Why
	}
	return e.Server + ": " + e.Why
}

// Pool is the language servers that run. It is safe for concurrent use.
type Pool struct {
	o    Options
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	turns turns

	mu     sync.Mutex
	slots  map[slotKey]*slot
	closed bool
}

type slotKey struct {
	kind string
	dir  string // of the project, a path of the operating system
}

// slot is room for one server, and what became of the earlier ones.
type slot struct {
	server   *server // nil: none runs
	launch   launch  // of the last one
	failures int
	retry    time.Time
	last     error
}

// launch is how a server is started; another one is another server.
type launch struct {
	argv    []string
	options string
}

func (l launch) equal(o launch) bool { return slices.Equal(l.argv, o.argv) && l.options == o.options }

// New returns a pool in which no server runs.
func New(o Options) *Pool {
	if o.Settings == nil {
		o.Settings = func() Settings { return Settings{} }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &Pool{o: o, slots: map[slotKey]*slot{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// Close ends all servers and waits for their end.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	var all []*server
	for _, sl := range p.slots {
		if sl.server != nil {
			all = append(all, sl.server)
		}
	}
	p.mu.Unlock()
	var ending sync.WaitGroup
	for _, s := range all {
		ending.Go(func() { s.end(errClosing) })
	}
	ending.Wait()
	p.stop()
	p.work.Wait()
}

var errClosing = errors.New("the server is closing")

// Running lists the servers that run, for people.
func (p *Pool) Running() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for key, sl := range p.slots {
		if sl.server != nil {
			all = append(all, key.kind+" in "+key.dir)
		}
	}
	slices.Sort(all)
	return all
}

// location is where a file is for its server.
type location struct {
	kind   *kind
	folder string // name of the folder of the workspace in the view, "." for a single one
	root   string // name of the project's directory
	dir    string // path of root
	within string // path of folder
}

// locate finds the server of a file; it may not run yet.
func locate(files workspace.Files, name string) (location, error) {
	k := kindOf(name)
	if k == nil {
		return location{}, unavailable("", fmt.Sprintf("no language server for files like %s", filepath.Base(name)))
	}
	disk, _ := files.Base()
	if disk == nil {
		return location{}, unavailable(k.name, "the files of this workspace are not on the disk")
	}
	at := location{kind: k, folder: "."}
	if folders := disk.Folders(); len(folders) > 1 {
		at.folder = firstSegment(name)
	}
	at.root = k.root(at.folder, name, func(mark string) bool { _, err := files.Stat(mark); return err == nil })
	at.dir, at.within = files.Abs(at.root), files.Abs(at.folder)
	return at, nil
}

// get returns the running server of a location, and starts it if wait is set.
// Without, it is started too, and the error says that it isn't there yet.
func (p *Pool) get(ctx context.Context, files workspace.Files, at location, wait bool) (*server, error) {
	s, err := p.acquire(files, at)
	if err != nil {
		return nil, err
	}
	if !wait {
		select {
		case <-s.ready:
		default:
			return nil, notYet(at.kind.name, "it is starting")
		}
	}
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, notYet(at.kind.name, "it is still starting")
	}
	if why := s.failure(); why != nil {
		return nil, unavailable(at.kind.name, why.Error())
	}
	return s, nil
}

// acquire returns the server of a location, which may still be starting.
func (p *Pool) acquire(files workspace.Files, at location) (*server, error) {
	l, options, err := p.launchOf(at.kind)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, unavailable(at.kind.name, errClosing.Error())
	}
	key := slotKey{at.kind.name, at.dir}
	sl := p.slots[key]
	if sl == nil || !sl.launch.equal(l) {
		var old *server
		if sl != nil {
			old = sl.server
		}
		if old != nil {
			p.work.Go(func() { old.end(errors.New("its settings were changed")) })
		}
		sl = &slot{launch: l}
		p.slots[key] = sl
	}
	if sl.server != nil {
		s := sl.server
		p.mu.Unlock()
		return s, nil
	}
	if err := p.mayStart(at.kind.name, sl); err != nil {
		p.mu.Unlock()
		return nil, err
	}
	spare, err := p.makeRoom()
	if err != nil {
		p.mu.Unlock()
		return nil, unavailable(at.kind.name, err.Error())
	}
	s := newServer(p, at, files, options)
	sl.server = s
	p.work.Go(func() {
		if spare != nil {
			spare.end(errors.New("another server was needed more"))
		}
		p.run(s, sl, l.argv)
	})
	p.mu.Unlock()
	return s, nil
}

// mayStart says why a server that ended is not started again, or not yet. p.mu
// is held.
func (p *Pool) mayStart(name string, sl *slot) error {
	switch left := sl.retry.Sub(p.o.Now()); {
	case sl.failures >= maxFailures:
		return unavailable(name, fmt.Sprintf("it ended %d times and is not started again (%v); change sidecar.languageServers, or restart sidecar-ls", sl.failures, sl.last))
	case left > 0:
		return notYet(name, fmt.Sprintf("it ended (%v) and is started again in %v", sl.last, left.Round(100*time.Millisecond)))
	}
	return nil
}

// makeRoom returns the server to end so that another one can be started, nil
// if there is room. p.mu is held.
func (p *Pool) makeRoom() (*server, error) {
	var running []*server
	for _, sl := range p.slots {
		if sl.server != nil && !sl.server.spare {
			running = append(running, sl.server)
		}
	}
	if len(running) < maxServers {
		return nil, nil
	}
	slices.SortFunc(running, func(a, b *server) int { return a.lastUsed().Compare(b.lastUsed()) })
	for _, s := range running {
		if s.unused() {
			s.spare = true
			return s, nil
		}
	}
	return nil, fmt.Errorf("%d language servers are at work already", len(running))
}

// run starts a server and stays until it has ended.
func (p *Pool) run(s *server, sl *slot, argv []string) {
	defer close(s.gone)
	begun := p.o.Now()
	err := s.run(p.ctx, Program{Argv: argv, Dir: s.at.dir, Folder: s.at.within, Writes: s.at.kind.writes})
	p.mu.Lock()
	defer p.mu.Unlock()
	sl.server = nil
	if err == nil {
		return // it was ended in good order
	}
	now := p.o.Now()
	if now.Sub(begun) > healthyTime {
		sl.failures = 0
	}
	sl.failures++
	sl.last = err
	sl.retry = now.Add(min(lastDelay, firstDelay<<(sl.failures-1)))
	p.o.Log.Warn("language server ended", "server", s.at.kind.name, "dir", s.at.dir, "error", err, "times", sl.failures)
}

// Installed is a server that there is a row for.
type Installed struct {
	Server, Program string
	Why             string // there is no program; "" when there is
}

// Installed says which servers would be run if they were needed, and trusted.
func (p *Pool) Installed() []Installed {
	var list []Installed
	set := p.o.Settings()
	for _, k := range kinds {
		one := Installed{Server: k.name}
		if l, _, err := k.launch(set.Servers[k.name], p.o.Look); err != nil {
			one.Why = err.Why
		} else {
			one.Program = l.argv[0]
		}
		list = append(list, one)
	}
	return list
}

// launchOf is how a kind is started, with its initialization options.
func (p *Pool) launchOf(k *kind) (launch, json.RawMessage, error) {
	set := p.o.Settings()
	if set.Refused != "" {
		return launch{}, nil, unavailable(k.name, set.Refused)
	}
	l, options, err := k.launch(set.Servers[k.name], p.o.Look)
	if err != nil {
		return launch{}, nil, err
	}
	return l, options, nil
}

// launch is how a kind is started as the user wants it.
func (k *kind) launch(own Server, look func(string) (string, error)) (launch, json.RawMessage, *UnavailableError) {
	if own.Off {
		return launch{}, nil, unavailable(k.name, "it is switched off by sidecar.languageServers")
	}
	options := k.options
	if len(own.Options) > 0 {
		options = own.Options
	}
	commands := k.programs
	if len(own.Command) > 0 {
		commands = [][]string{own.Command}
	}
	for _, argv := range commands {
		if look == nil {
			look = lookup.Confined
		}
		program, err := look(argv[0])
		if err != nil {
			continue
		}
		argv = slices.Concat([]string{program}, argv[1:])
		return launch{argv, string(options)}, options, nil
	}
	var names []string
	for _, argv := range commands {
		names = append(names, cmp.Or(argv[0], k.name))
	}
	return launch{}, nil, unavailable(k.name, fmt.Sprintf("%s is not installed (not on PATH); install it, or name its command in sidecar.languageServers", strings.Join(names, " or ")))
}
