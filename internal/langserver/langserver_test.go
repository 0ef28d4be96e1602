package langserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/servers"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// project is a workspace on disk with a layer of pending edits over it.
type project struct {
	t    *testing.T
	dir  string
	disk *workspace.Disk
	workspace.Files

	mu      sync.Mutex
	pending map[string]*string // nil deletes
}

func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, dir: dir, pending: map[string]*string{}}
	for name, text := range files {
		p.write(name, text)
	}
	if p.disk, err = workspace.OpenDisk([]workspace.Folder{{Dir: dir}}, workspace.DiskOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.disk.Close() })
	p.Files = workspace.NewOverlay(p.disk, p)
	return p
}

func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := ownfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := ownfile.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) propose(name, text string) { p.put(name, &text) }
func (p *project) remove(name string)        { p.put(name, nil) }

func (p *project) put(name string, text *string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending[name] = text
}

func (p *project) reject(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pending, name)
}

func (p *project) Names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.pending))
}

func (p *project) Lookup(name string) (data []byte, deleted, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, ok := p.pending[name]
	if !ok || text == nil {
		return nil, ok, ok
	}
	return []byte(*text), false, true
}

// told are changes on the disk that a test tells of.
type told struct {
	mu    sync.Mutex
	names []string
	lost  bool
}

func (c *told) Next(context.Context) ([]string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	names, lost := c.names, c.lost
	c.names, c.lost = nil, false
	return names, lost
}

func (c *told) Close() {}

func (c *told) tell(lost bool, names ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names, c.lost = append(c.names, names...), c.lost || lost
}

// plainly starts a server without confinement.
func plainly(ctx context.Context, p Program) (*Process, error) {
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	cmd.Dir = p.Dir
	var said syncBuffer
	cmd.Stderr = &said
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Process{In: in, Out: out, Wait: cmd.Wait, Kill: func() { _ = cmd.Process.Kill() }, Said: said.String}, nil
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// newPool runs the servers whose command lines are given by name.
func newPool(t *testing.T, commands map[string][]string, change func(*Options)) *Pool {
	t.Helper()
	set := Settings{Servers: map[string]Server{}}
	for name, argv := range commands {
		set.Servers[name] = Server{Command: argv}
	}
	o := Options{Start: plainly, Settings: func() Settings { return set }}
	if change != nil {
		change(&o)
	}
	p := New(o)
	t.Cleanup(p.Close)
	return p
}

func gopls(t *testing.T, change func(*Options)) *Pool {
	t.Helper()
	return newPool(t, map[string][]string{"gopls": {servers.Gopls(t)}}, change)
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// short is a problem in one line.
func short(list []Problem) string {
	var lines []string
	for _, p := range list {
		lines = append(lines, fmt.Sprintf("%s:%d:%d %s %s", p.Path, p.Line, p.Column, p.Severity, p.Message))
	}
	return strings.Join(lines, "\n")
}

func diagnose(t *testing.T, p *Pool, files workspace.Files, name string) string {
	t.Helper()
	r := p.Diagnose(within(t, 60*time.Second), files, name)[0]
	if r.Err != nil {
		t.Fatalf("%s: %v", name, r.Err)
	}
	return short(r.Problems)
}

const goMod = "module example.org/m\n\ngo 1.24\n"

func goProject(t *testing.T) *project {
	return newProject(t, map[string]string{
		"go.mod":     goMod,
		"main.go":    "package main\n\nimport \"example.org/m/lib\"\n\nfunc main() { println(lib.Name()) }\n",
		"lib/lib.go": "package lib\n\nfunc Name() string { return \"disk\" }\n",
	})
}

// What is pending is what gopls looks at, whatever the disk has.
func TestGoplsSeesPendingFiles(t *testing.T) {
	p := gopls(t, nil)
	w := goProject(t)
	check := func(name, want string) {
		t.Helper()
		if got := diagnose(t, p, w, name); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	check("main.go", "")
	w.propose("lib/lib.go", "package lib\n\nfunc Named() string { return \"pending\" }\n")
	check("main.go", "main.go:5:27 error undefined: lib.Name")
	check("lib/lib.go", "")

	// A new pending file imports another new pending file.
	w.propose("fresh/fresh.go", "package fresh\n\nimport \"example.org/m/deep/er\"\n\nvar X int = er.Y\n")
	w.propose("deep/er/er.go", "package er\n\nvar Y string\n")
	check("fresh/fresh.go", "fresh/fresh.go:5:13 error cannot use er.Y (variable of type string) as int value in variable declaration")
	w.propose("deep/er/er.go", "package er\n\nvar Y int\n")
	check("fresh/fresh.go", "")

	// Taken back, the disk holds again.
	w.reject("lib/lib.go")
	check("main.go", "")
	w.remove("lib/lib.go")
	check("main.go", "main.go:5:27 error undefined: lib.Name")
}

// What changes on the disk is told to the server.
func TestGoplsIsToldOfTheDisk(t *testing.T) {
	c := &told{}
	p := gopls(t, func(o *Options) { o.Disk = fakeDisk{changes: c} })
	w := goProject(t)
	if got := diagnose(t, p, w, "main.go"); got != "" {
		t.Fatal(got)
	}
	w.write("lib/lib.go", "package lib\n")
	c.tell(false, "lib/lib.go")
	if got := diagnose(t, p, w, "main.go"); !strings.Contains(got, "undefined: lib.Name") {
		t.Errorf("after a change: %q", got)
	}
	w.write("lib/more.go", "package lib\n\nfunc Name() string { return \"\" }\n")
	c.tell(true)
	if got := diagnose(t, p, w, "main.go"); got != "" {
		t.Errorf("after events were lost: %q", got)
	}
}

func TestGoplsNavigates(t *testing.T) {
	p := gopls(t, nil)
	w := goProject(t)
	w.propose("lib/lib.go", "package lib\n\n// Äö is no ASCII; Name is here.\nfunc Name() string { return \"ÄÖ\" + other() }\n\nfunc other() string { return \"\" }\n")
	ctx := within(t, 60*time.Second)
	where := func(list []Location, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, l := range list {
			out = append(out, fmt.Sprintf("%s:%d:%d %s", l.Path, l.Line, l.Column, l.Text))
		}
		return strings.Join(out, "\n")
	}
	for _, c := range []struct{ what, got, want string }{
		{"definition by column", where(p.Definition(ctx, w, Position{Name: "main.go", Line: 5, Column: 27})), `lib/lib.go:4:6 func Name() string { return "ÄÖ" + other() }`},
		{"definition by symbol", where(p.Definition(ctx, w, Position{Name: "lib/lib.go", Line: 4, Symbol: "other"})), `lib/lib.go:6:6 func other() string { return "" }`},
		{"references of what a line defines", where(p.References(ctx, w, Position{Name: "lib/lib.go", Line: 6})), "lib/lib.go:4:38 func Name() string { return \"ÄÖ\" + other() }\nlib/lib.go:6:6 func other() string { return \"\" }"},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, c.got, c.want)
		}
	}
	outside, err := p.Definition(ctx, w, Position{Name: "main.go", Line: 5, Symbol: "println"})
	if err != nil || len(outside) != 1 || outside[0].Path != "" || !strings.HasSuffix(outside[0].Outside, "builtin.go") || outside[0].Text != "" {
		t.Errorf("outside: %+v, %v", outside, err)
	}
	hover, err := p.Hover(ctx, w, Position{Name: "main.go", Line: 5, Symbol: "Name"})
	if err != nil || !strings.Contains(hover, "func lib.Name() string") || !strings.Contains(hover, "Äö is no ASCII") {
		t.Errorf("hover: %q, %v", hover, err)
	}
	symbols, err := p.Symbols(ctx, w, "lib/lib.go")
	if err != nil || len(symbols) != 2 || symbols[0].Name != "Name" || symbols[0].Kind != "function" || symbols[0].Line != 4 {
		t.Errorf("symbols: %+v, %v", symbols, err)
	}
	found, unknown, err := p.FindSymbols(ctx, w, "other", ".")
	if err != nil || len(unknown) > 0 || len(found) != 1 || found[0].Path != "lib/lib.go" || found[0].Line != 6 {
		t.Errorf("found: %+v, %v, %v", found, unknown, err)
	}
	for _, at := range []Position{
		{Name: "main.go", Line: 99}, {Name: "main.go", Line: 0}, {Name: "main.go", Line: 5, Column: 999}, {Name: "main.go", Line: 5, Symbol: "Nam"}, {Name: "main.go", Line: 2},
	} {
		_, err := p.Definition(ctx, w, at)
		var wrong *PositionError
		if !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", at, err)
		}
	}
}

func TestGoplsRenames(t *testing.T) {
	slow.Test(t)
	p := gopls(t, nil)
	w := goProject(t)
	w.write("bom.go", "\ufeffpackage main\r\n\r\nimport \"example.org/m/lib\"\r\n\r\nvar _ = lib.Name()\r\n")
	w.propose("more.go", "package main\n\nimport \"example.org/m/lib\"\n\nvar more = lib.Name() + lib.Name()\n")
	changes, err := p.Rename(within(t, 60*time.Second), w, Position{Name: "main.go", Line: 5, Symbol: "Name"}, "Title")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range changes {
		got[c.Path] = string(c.After)
		before, err := w.ReadFile(c.Path)
		if err != nil || !bytes.Equal(before, c.Before) {
			t.Errorf("%s: before is %q, the view has %q", c.Path, c.Before, before)
		}
	}
	want := map[string]string{
		"main.go":    "package main\n\nimport \"example.org/m/lib\"\n\nfunc main() { println(lib.Title()) }\n",
		"lib/lib.go": "package lib\n\nfunc Title() string { return \"disk\" }\n",
		"more.go":    "package main\n\nimport \"example.org/m/lib\"\n\nvar more = lib.Title() + lib.Title()\n",
		"bom.go":     "\ufeffpackage main\r\n\r\nimport \"example.org/m/lib\"\r\n\r\nvar _ = lib.Title()\r\n",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for _, c := range []struct {
		at  Position
		to  string
		say string
	}{
		{Position{Name: "main.go", Line: 5, Symbol: "Name"}, "not a name", "gopls"},
		{Position{Name: "main.go", Line: 5, Symbol: "println"}, "x", "gopls"},
	} {
		if _, err := p.Rename(within(t, 60*time.Second), w, c.at, c.to); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%+v to %q: %v", c.at, c.to, err)
		}
	}
}

// A rename that would change what is outside is refused as a whole.
func TestRenameOutside(t *testing.T) {
	p := gopls(t, nil)
	w := newProject(t, map[string]string{
		"in/go.mod":  "module example.org/in\n\ngo 1.24\n\nrequire example.org/out v0.0.0\n\nreplace example.org/out => ../out\n",
		"in/main.go": "package in\n\nimport \"example.org/out\"\n\nvar X = out.Name()\n",
		"out/go.mod": "module example.org/out\n\ngo 1.24\n",
		"out/out.go": "package out\n\nfunc Name() string { return \"\" }\n",
	})
	whole := Position{Name: "in/main.go", Line: 5, Symbol: "Name"}
	if changes, err := p.Rename(within(t, 60*time.Second), w, whole, "Title"); err != nil || len(changes) != 2 {
		t.Errorf("control: %d changes, %v", len(changes), err)
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: filepath.Join(w.dir, "in")}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	_, err = p.Rename(within(t, 60*time.Second), disk, Position{Name: "main.go", Line: 5, Symbol: "Name"}, "Title")
	if !errors.Is(err, workspace.ErrOutside) {
		t.Errorf("%v", err)
	}
}

func TestIntroduced(t *testing.T) {
	p := gopls(t, func(o *Options) {
		o.Disk = fakeDisk{having: func(ctx context.Context, files workspace.Files, text string, like func(string) bool, limit int) []string {
			return walk(ctx, files, ".", func(name string) bool {
				data, err := files.ReadFile(name)
				return err == nil && like(name) && strings.Contains(string(data), text)
			}, limit)
		}}
	})
	w := goProject(t)
	w.write("lib/old.go", "package lib\n\nvar old int = \"wrong before\"\n")
	check := func(want, unknown string, names ...string) {
		t.Helper()
		c := p.Introduced(within(t, 60*time.Second), w.disk, w.disk, w, names)
		var why []string
		for _, u := range c.Unknown {
			why = append(why, u.Name+": "+u.Err.Error())
		}
		if got := short(c.New); got != want || strings.Join(why, "\n") != unknown {
			t.Errorf("new:\n%s\nwant\n%s\nunknown: %q, want %q", got, want, why, unknown)
		}
	}
	w.propose("lib/lib.go", "package lib\n\nfunc Name() string { return 1 }\n")
	check("", "lib/lib.go: gopls: it is starting", "lib/lib.go")
	diagnose(t, p, w, "main.go") // until it runs
	check("lib/lib.go:3:29 error cannot use 1 (untyped int constant) as string value in return statement", "", "lib/lib.go")
	// What was wrong before and moved is not new; what breaks elsewhere is.
	w.propose("lib/lib.go", "package lib\n\nfunc Title() string { return \"\" }\n")
	w.propose("lib/old.go", "package lib\n\n// A line more.\nvar old int = \"wrong before\"\n")
	check("main.go:5:27 error undefined: lib.Name", "", "lib/lib.go", "lib/old.go")
	// One more of the same kind is new.
	w.reject("lib/lib.go")
	w.propose("lib/old.go", "package lib\n\nvar old int = \"wrong before\"\nvar older int = \"wrong before\"\n")
	check("lib/old.go:4:17 error cannot use \"wrong before\" (untyped string constant) as int value in variable declaration", "", "lib/old.go", "README.md")
	w.propose("lib/old.go", "package lib\n")
	check("", "", "lib/old.go")
}

// fakeDisk is a Disk of which a test has a part.
type fakeDisk struct {
	changes Changes
	having  func(ctx context.Context, files workspace.Files, text string, like func(string) bool, limit int) []string
}

func (d fakeDisk) Changes(workspace.Files) Changes { return d.changes }

func (d fakeDisk) Having(ctx context.Context, files workspace.Files, text string, like func(string) bool, limit int) []string {
	if d.having == nil {
		return nil
	}
	return d.having(ctx, files, text, like, limit)
}
