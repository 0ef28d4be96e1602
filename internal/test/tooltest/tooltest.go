// Package tooltest tests tools from fixtures, and every tool's definition by
// the same rules. It defines the flag -update, which writes what is wanted
// again; tests that import this package ask Update for it.
package tooltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

var update = flag.Bool("update", false, "update what tests want")

// Update reports whether the test was called with -update.
func Update() bool { return *update }

// Run runs every dir/*.txtar as a subtest. Such a file has prose, and then in
// any order that reads well:
//
//	-- a.txt --         a file of the workspace
//	-- setup.sh --      optional: a script that is run there, with the files in place
//	-- call --          a tool's name, white space, its arguments as JSON
//	-- want --          the text of the result; of a failure: error <code>: <message>
//	-- structured --    optional: the structured result of the call before, as JSON
//	-- after/a.txt --   a file that the calls have changed or made
//	-- removed --       names of files that are gone, a line each
//
// Calls run in order, each on what the ones before have left. The content of a
// file whose section is named "quote <name>" is written as Go strings, a line
// each, for what can't be written plainly: carriage returns, a missing final
// newline, a byte order mark. What differs from run to run stands as HASH, DATE
// or TIME.
func Run(t *testing.T, dir string, list []*tools.Tool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in %s (%v)", dir, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runFile(t, file, list) })
	}
}

// Fixture is one with a single call on a single file, for tests that make the
// call in another way.
type Fixture struct {
	Name      string // of the fixture
	File      string
	Before    []byte
	After     []byte // nil: nothing changes
	Arguments json.RawMessage
}

// Fixtures are those that fit a pattern.
func Fixtures(t *testing.T, pattern string) (all []Fixture) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures fit %s (%v)", pattern, err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f := Fixture{Name: strings.TrimSuffix(filepath.Base(file), ".txtar")}
		for _, s := range a.Files {
			name, data, err := plain(s)
			switch {
			case err != nil:
				t.Fatal(err)
			case name == "call":
				_, arguments, _ := strings.Cut(string(data), " ")
				f.Arguments = json.RawMessage(strings.TrimSpace(arguments))
			case name == "want":
			case strings.HasPrefix(name, "after/"):
				f.After = data
			default:
				f.File, f.Before = name, data
			}
		}
		all = append(all, f)
	}
	return all
}

func runFile(t *testing.T, file string, list []*tools.Tool) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Replay(t.Context(), t.TempDir(), data, list)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := ownfile.Update(file, got); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(data), string(got)); d != "" {
		t.Errorf("%s (-update rewrites it) -want +got:\n%s", file, d)
	}
}

// Replay runs the calls of a fixture in the empty directory dir and returns
// the fixture with the results that it got.
func Replay(ctx context.Context, dir string, fixture []byte, list []*tools.Tool) ([]byte, error) {
	in := txtar.Parse(fixture)
	before := map[string][]byte{}
	out := &txtar.Archive{Comment: in.Comment}
	for _, f := range in.Files {
		name, data, err := plain(f)
		if err != nil {
			return nil, err
		}
		switch {
		case name == "setup.sh", name == "call", name == "want", name == "structured", name == "removed", strings.HasPrefix(name, "after/"):
			continue
		}
		before[name] = data
		if err := write(dir, name, data, 0o644); err != nil {
			return nil, err
		}
	}
	before, err := setUp(ctx, dir, in, before)
	if err != nil {
		return nil, err
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Name: "work", Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		return nil, err
	}
	defer disk.Close()

	var last tools.Result
	for _, f := range in.Files {
		switch name, _, _ := plain(f); {
		case name == "call":
			r, err := call(ctx, workspace.Guard(disk, nil), dir, list, f.Data)
			last = r
			text := r.Text
			if err != nil {
				e := tools.AsError(err)
				text = fmt.Sprintf("error %s: %s", e.Code, e.Message)
				last.Structured = e.Structured
			}
			out.Files = append(out.Files, f, section("want", []byte(strings.TrimSuffix(settled(text, dir), "\n")+"\n")))
		case name == "structured":
			data, err := json.MarshalIndent(last.Structured, "", "  ")
			if err != nil {
				return nil, err
			}
			out.Files = append(out.Files, section("structured", append([]byte(settled(string(data), dir)), '\n')))
		case name == "want", name == "removed", strings.HasPrefix(name, "after/"):
		default:
			out.Files = append(out.Files, f)
		}
	}
	after, err := effects(dir, before)
	if err != nil {
		return nil, err
	}
	out.Files = append(out.Files, after...)
	return txtar.Format(out), nil
}

// setUp runs the script of a fixture, if it has one, and returns the files that
// are there then.
func setUp(ctx context.Context, dir string, a *txtar.Archive, files map[string][]byte) (map[string][]byte, error) {
	i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "setup.sh" })
	if i < 0 {
		return files, nil
	}
	cmd := exec.CommandContext(ctx, "sh", "-ec", string(a.Files[i].Data))
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("setup.sh: %w\n%s", err, out)
	}
	made, err := effects(dir, nil)
	after := map[string][]byte{}
	for _, f := range made {
		name, data, err := plain(f)
		if err != nil {
			return nil, err
		}
		after[strings.TrimPrefix(name, "after/")] = data
	}
	return after, err
}

// What differs from run to run.
var (
	hashes = regexp.MustCompile(`\b[0-9a-f]{7,64}\b`)
	times  = regexp.MustCompile(`\b\d+(\.\d+)? ?(ms|s)\b`)
	dates  = regexp.MustCompile(`\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(Z| ?[+-]\d\d:?\d\d)?)?`)
)

// settled is a text without that.
func settled(text, dir string) string {
	text = strings.ReplaceAll(text, dir, "$WORK")
	text = dates.ReplaceAllString(text, "DATE")
	text = times.ReplaceAllString(text, "TIME")
	return hashes.ReplaceAllString(text, "HASH")
}

func call(ctx context.Context, files workspace.Files, dir string, list []*tools.Tool, line []byte) (tools.Result, error) {
	line = bytes.TrimSpace(line)
	end := bytes.IndexAny(line, " \t\n")
	if end < 0 {
		end = len(line)
	}
	i := slices.IndexFunc(list, func(t *tools.Tool) bool { return t.Name == string(line[:end]) })
	if i < 0 {
		return tools.Result{}, tools.Errorf(tools.UnknownTool, "there is no tool %q", line[:end])
	}
	b, err := list[i].Bind(line[end:])
	if err != nil {
		return tools.Result{}, err
	}
	if err := b.Plan(ctx, files); err != nil {
		return tools.Result{}, err
	}
	r, changes, err := b.Run(ctx, &tools.Call{ID: "1", Session: "default", Files: files})
	if err := fits(list[i], r, err); err != nil {
		return r, err
	}
	if err != nil {
		return r, err
	}
	if len(changes) > 0 && list[i].Access != tools.Edit {
		return r, errors.New("a tool that does not edit returned changes")
	}
	return r, apply(dir, changes)
}

// apply writes changes down after checking what they say about before.
func apply(dir string, changes []workspace.Change) error {
	for _, c := range changes {
		from := c.Path
		if c.From != "" {
			from = c.From
		}
		cur, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(from)))
		switch {
		case c.Before == nil && errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("change of %s: %w", c.Path, err)
		case c.Before == nil:
			return fmt.Errorf("change of %s: there is a file already", c.Path)
		case !bytes.Equal(cur, c.Before):
			return fmt.Errorf("change of %s: Before is not what the file has", c.Path)
		}
	}
	for _, c := range changes {
		if c.From != "" || c.After == nil {
			from := c.Path
			if c.From != "" {
				from = c.From
			}
			if err := ownfile.Remove(filepath.Join(dir, filepath.FromSlash(from))); err != nil {
				return err
			}
		}
		if c.After != nil {
			mode := c.Mode
			if mode == 0 {
				mode = 0o644
			}
			if err := write(dir, c.Path, c.After, mode); err != nil {
				return err
			}
		}
	}
	return nil
}

func write(dir, name string, data []byte, mode fs.FileMode) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := ownfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return ownfile.WriteFile(path, data, mode)
}

// effects are the sections for what differs between before and dir.
func effects(dir string, before map[string][]byte) ([]txtar.File, error) {
	var out []txtar.File
	seen := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen[name] = true
		if old, ok := before[name]; !ok || !bytes.Equal(old, data) {
			out = append(out, section("after/"+name, data))
		}
		return nil
	})
	var removed []string
	for name := range before {
		if !seen[name] {
			removed = append(removed, name)
		}
	}
	if slices.Sort(removed); removed != nil {
		out = append(out, section("removed", []byte(strings.Join(removed, "\n")+"\n")))
	}
	return out, err
}

// plain is the name and the bytes of a section.
func plain(f txtar.File) (string, []byte, error) {
	name, quoted := strings.CutPrefix(f.Name, "quote ")
	if !quoted {
		return name, f.Data, nil
	}
	data := []byte{}
	for line := range strings.Lines(string(f.Data)) {
		s, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			return "", nil, fmt.Errorf("section %q: %s: %w", f.Name, line, err)
		}
		data = append(data, s...)
	}
	return name, data, nil
}

// hidden reports whether a person would not see a character.
func hidden(r rune) bool { return r != '\n' && r != '\t' && !strconv.IsPrint(r) }

// section is the counterpart of plain.
func section(name string, data []byte) txtar.File {
	f := txtar.File{Name: name, Data: data}
	again := txtar.Parse(txtar.Format(&txtar.Archive{Files: []txtar.File{f}}))
	if utf8.Valid(data) && !bytes.ContainsFunc(data, hidden) && len(again.Files) == 1 && bytes.Equal(again.Files[0].Data, data) {
		return f
	}
	var b bytes.Buffer
	for line := range strings.Lines(string(data)) {
		fmt.Fprintf(&b, "%q\n", line)
	}
	return txtar.File{Name: "quote " + name, Data: b.Bytes()}
}
