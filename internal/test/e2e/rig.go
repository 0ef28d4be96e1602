package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/realmodel"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Listed is the names of a list of tools.
func (r *Rig) Listed(arg Object) []string {
	r.T.Helper()
	type entry struct {
		Name     string
		Function struct{ Name string }
	}
	var names []string
	for _, e := range Command[struct{ Tools []entry }](r, "sidecar.tools.list", arg).Tools {
		names = append(names, e.Name+e.Function.Name)
	}
	if !slices.IsSorted(names) {
		r.T.Errorf("%v: not sorted: %v", arg, names)
	}
	return names
}

// Rig is a server with an editor, in this process.
type Rig struct {
	*fakeeditor.Editor
	T   *testing.T
	Dir string
}

func Connect(t *testing.T, dir string, opts fakeeditor.Options) *Rig {
	t.Helper()
	return Begin(t, dir, opts, func(in io.Reader, out io.Writer) error {
		return serve.Serve(context.Background(), in, out, serve.Options{App: app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler)}, Person: cli.AnswerPerson})
	})
}

// ServeSelf is serve by a program that can start itself.
func ServeSelf(t *testing.T, dir string, opts fakeeditor.Options) *Rig {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return ServeBy(t, dir, opts, self)
}

// ServeBy is serve by a program that starts another one as itself.
func ServeBy(t *testing.T, dir string, opts fakeeditor.Options, self string) *Rig {
	t.Helper()
	return Begin(t, dir, opts, func(in io.Reader, out io.Writer) error {
		return serve.Serve(context.Background(), in, out, serve.Options{App: app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler), Program: self}, Person: cli.AnswerPerson})
	})
}

// own is where the settings of whoever runs the tests are.
var own, _ = userdirs.Here().Dir(userdirs.Config)

// apart fails a test whose server would work with those.
func apart(t *testing.T) {
	t.Helper()
	if now, err := userdirs.Here().Dir(userdirs.Config); err != nil || now == own {
		t.Fatalf("the server would use the settings in %s, %v: call e2e.Home first", now, err)
	}
}

// Begin connects an editor to a server that runs until the test's end.
func Begin(t *testing.T, dir string, opts fakeeditor.Options, run func(io.Reader, io.Writer) error) *Rig {
	t.Helper()
	apart(t)
	opts.Root = dir
	e := fakeeditor.Serve(run, opts)
	if _, err := e.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return &Rig{e, t, dir}
}

// Until asks again and again, each time a whole request, at most for a minute.
func Until(t *testing.T, failed string, ok func() bool) {
	t.Helper()
	patience := time.Minute
	if os.Getenv(realmodel.Variable) != "" {
		patience = 15 * time.Minute // it thinks
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !ok() {
		if ctx.Err() != nil {
			t.Fatal(failed)
		}
	}
}

// Result is what the tests look at in a ToolResult.
type Result struct {
	OK      bool   `json:"ok"`
	Content string `json:"content"`
	Error   struct {
		Code tools.Code `json:"code"`
	} `json:"error"`
	Decision dispatch.Decision `json:"decision"`
}

func (r *Rig) Tool(tool string, args any) Result {
	r.T.Helper()
	var res Result
	if err := r.ExecuteCommand(r.T.Context(), "sidecar.tools.call", map[string]any{"name": tool, "arguments": args}, &res); err != nil {
		r.T.Fatalf("%s: %v", tool, err)
	}
	return res
}

func (r *Rig) Mode(name string) {
	r.T.Helper()
	if err := r.ExecuteCommand(r.T.Context(), "sidecar.mode.set", map[string]any{"mode": name}, nil); err != nil {
		r.T.Fatal(err)
	}
}

type reviewList struct {
	Revision int64 `json:"revision"`
	Edits    []struct {
		URI     string `json:"uri"`
		Path    string `json:"path"`
		State   string `json:"state"`
		Session string `json:"session"`
		Hunks   []struct {
			ID       string   `json:"id"`
			Text     string   `json:"text"`
			Sessions []string `json:"sessions"`
			Message  *struct {
				Run    string `json:"run"`
				Seq    int64  `json:"seq"`
				Number int    `json:"number"`
				Text   string `json:"text"`
			} `json:"message"`
		} `json:"hunks"`
	} `json:"edits"`
}

type AcceptResult struct {
	Accepted []string `json:"accepted"`
	Failed   []struct {
		URI   string `json:"uri"`
		Error string `json:"error"`
	} `json:"failed"`
	Commits []struct {
		Message string `json:"message"`
		Error   string `json:"error"`
	} `json:"commits"`
}

func (r *Rig) Pending() reviewList {
	r.T.Helper()
	var list reviewList
	if err := r.ExecuteCommand(r.T.Context(), "sidecar.review.list", nil, &list); err != nil {
		r.T.Fatal(err)
	}
	return list
}

func (r *Rig) Accept(arg any) AcceptResult {
	r.T.Helper()
	var res AcceptResult
	if err := r.ExecuteCommand(r.T.Context(), "sidecar.review.accept", arg, &res); err != nil {
		r.T.Fatal(err)
	}
	return res
}

func (r *Rig) File(name string) string {
	r.T.Helper()
	data, err := os.ReadFile(filepath.Join(r.Dir, name))
	if err != nil {
		r.T.Fatal(err)
	}
	return string(data)
}

func (r *Rig) Folders(added, removed []string) {
	r.T.Helper()
	list := func(dirs []string) []Object {
		out := []Object{}
		for _, dir := range dirs {
			out = append(out, Object{"uri": fakeeditor.FileURI(dir), "name": filepath.Base(dir)})
		}
		return out
	}
	if err := r.Notify(r.T.Context(), "workspace/didChangeWorkspaceFolders", Object{"event": Object{"added": list(added), "removed": list(removed)}}); err != nil {
		r.T.Fatal(err)
	}
}

// Shows fails unless the tool succeeds with a result that has all of want.
func (r *Rig) Shows(tool string, args Object, want ...string) {
	r.T.Helper()
	res := r.Tool(tool, args)
	for _, w := range want {
		if !res.OK || !strings.Contains(res.Content, w) {
			r.T.Errorf("%s %v: %v, want %q in %q", tool, args, res.OK, w, res.Content)
		}
	}
}

// Fails fails unless the tool does.
func (r *Rig) Fails(tool string, args Object) {
	r.T.Helper()
	if res := r.Tool(tool, args); res.OK {
		r.T.Errorf("%s %v: %q", tool, args, res.Content)
	}
}

func (r *Rig) Queued() []string {
	r.T.Helper()
	names := []string{}
	for _, e := range r.Pending().Edits {
		names = append(names, e.Path)
	}
	return names
}

func (r *Rig) IsQueued(want ...string) {
	r.T.Helper()
	if got := r.Queued(); !slices.Equal(got, want) {
		r.T.Errorf("pending: %q, want %q", got, want)
	}
}

// Has asks a session for a function by its name, and reports whether it is
// found as such.
func (r *Rig) Has(session, name string) bool {
	r.T.Helper()
	res := r.In(session, "project_knowledge_search", Object{"query": name, "kind_filter": []string{"function"}, "max_graph_hits": 0})
	if !res.OK {
		r.T.Fatal(res.Content)
	}
	return strings.Contains(res.Content, "\tfunction\t"+name+"\t")
}

// ServeWhole is a server as the program starts it, with commands and a log.
func ServeWhole(t *testing.T, dir string, opts fakeeditor.Options) (*Rig, *bytes.Buffer) {
	t.Helper()
	opts.Root = dir
	var log bytes.Buffer
	self, _ := os.Executable()
	e := fakeeditor.Serve(func(in io.Reader, out io.Writer) error {
		if code := cli.Main(context.Background(), []string{"serve", "--log-level", "debug"}, cli.Streams{In: in, Out: out, Err: &log, Self: self, Programs: anywhere.Programs()}); code != 0 {
			return fmt.Errorf("exit code %d", code)
		}
		return nil
	}, opts)
	if _, err := e.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Shutdown(context.Background()) }) // most tests have ended it
	return &Rig{e, t, dir}, &log
}

// UserSettings writes the user's own file.
func UserSettings(t *testing.T, set Object) {
	t.Helper()
	data, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "sidecar", "settings.json")
	Write(t, file, string(data))
	if err := ownfile.Chmod(file, 0o600); err != nil { // it may have a key
		t.Fatal(err)
	}
}

// Knowing is an editor that is told how far the index is.
func Knowing() *lsp.ClientCapabilities {
	can := fakeeditor.Usual()
	can.Experimental.Sidecar.Knowledge = true
	return can
}

// Indexed waits until the server has told of such a status.
func (r *Rig) Indexed(what string, ok func(server.KnowledgeStatus) bool) {
	r.T.Helper()
	err := r.Await(r.T.Context(), what, func(rec *fakeeditor.Record) bool {
		for _, m := range rec.Notifications {
			var s server.KnowledgeStatus
			if m.Method == "sidecar/knowledge" && json.Unmarshal(m.Params, &s) == nil && ok(s) {
				return true
			}
		}
		return false
	})
	if err != nil {
		r.T.Fatalf("%s: %v", what, err)
	}
}

// SettingsFile writes the user's file.
func SettingsFile(t *testing.T, text string) string {
	t.Helper()
	Home(t)
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	name := filepath.Join(dir, "sidecar", "settings.json")
	if text != "" {
		if err := ownfile.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		Write(t, name, text)
	}
	return name
}

// Asked is what the editor was asked so far.
func (r *Rig) Asked() (texts []string) {
	for _, m := range r.Record().Requests {
		if m.Method == "window/showMessageRequest" {
			texts = append(texts, string(m.Params))
		}
	}
	return texts
}

// Models is an endpoint that takes one key. The second result returns the paths that were asked
// for: a server may ask for several of its profiles at once.
func Models(t *testing.T, header, key string) (*httptest.Server, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		seen = append(seen, q.URL.Path)
		mu.Unlock()
		switch {
		case q.URL.Path == "/moved/models":
			http.Redirect(w, q, "/elsewhere", http.StatusFound)
		case q.Header.Get(header) != key:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = w.Write([]byte(`{"data":[]}`))
		}
	}))
	t.Cleanup(s.Close)
	return s, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(seen)
	}
}

// Repository makes a repository with files and no settings of this machine.
func Repository(t *testing.T, files ...string) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	r.Commit("first", files...)
	return r
}

type Created struct{ ID, Path, Base string }

// Command runs a command of the server.
func Command[R any](r *Rig, name string, arg any) R {
	r.T.Helper()
	var raw json.RawMessage
	if err := r.ExecuteCommand(r.T.Context(), name, arg, &raw); err != nil {
		r.T.Fatalf("%s: %v", name, err)
	}
	var res R
	if err := json.Unmarshal(raw, &res); err != nil {
		r.T.Fatalf("%s: %v\n%s", name, err, raw)
	}
	return res
}

// In calls a tool in a session.
func (r *Rig) In(session, tool string, args any) Result {
	r.T.Helper()
	return Command[Result](r, "sidecar.tools.call", map[string]any{"name": tool, "arguments": args, "session": session})
}

type Object = map[string]any

// Shadowed opens a session in a new shadow.
func (r *Rig) Shadowed(id, mode string) Created {
	r.T.Helper()
	s := Command[Created](r, "sidecar.shadow.create", Object{"id": id})
	Command[Object](r, "sidecar.session.open", Object{"id": id, "shadow": id, "mode": mode})
	return s
}

// Told waits for a message that has all of these parts.
func (r *Rig) Told(parts ...string) {
	r.T.Helper()
	err := r.Await(r.T.Context(), fmt.Sprintf("a message with %q", parts), func(rec *fakeeditor.Record) bool {
		for _, m := range rec.Notifications {
			has := func(part string) bool { return strings.Contains(string(m.Params), part) }
			if m.Method == "window/showMessage" && !slices.ContainsFunc(parts, func(p string) bool { return !has(p) }) {
				return true
			}
		}
		return false
	})
	if err != nil {
		r.T.Error(err)
	}
}

// SkillsOf are the skills of a session, by name, without those that ship.
func (r *Rig) SkillsOf(session string) (map[string]server.Skill, []string) {
	r.T.Helper()
	list := Command[server.SkillList](r, "sidecar.skills.list", Object{"session": session})
	own := map[string]server.Skill{}
	for _, s := range list.Skills {
		if s.Origin == "project" {
			own[s.Name] = s
		}
	}
	return own, list.Problems
}
