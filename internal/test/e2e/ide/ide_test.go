package ide_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/ide"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

const (
	tenLines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	twoHunks = "one\n2\n3\n4\n5\n6\n7\n8\n9\nten\n"
)

func modified(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// TestClaudeShowsEdits: an edit of Claude Code waits, and the answer is what the user
// decides hunk by hunk.
func TestClaudeShowsEdits(t *testing.T) {
	d := deskIn(t, "review", map[string]string{"a.txt": tenLines, "crlf.txt": "a\r\nb\r\n"})
	c := d.claude()
	path := filepath.Join(d.Dir, "a.txt")

	old := modified(t, path)
	a := c.opens(path, twoHunks, "tab 1")
	ids := d.waits(2)
	if e := d.Pending().Edits[0]; e.Session != "claude" {
		t.Errorf("it is an edit of %s", e.Session)
	}
	d.Accept(e2e.Object{"hunks": ids[:1]})
	e2e.Command[e2e.Object](d.Rig, "sidecar.review.reject", e2e.Object{"hunks": ids[1:]})
	oneHunk := strings.Replace(tenLines, "1\n", "one\n", 1)
	c.says(a, "FILE_SAVED", oneHunk)
	if d.File("a.txt") != oneHunk {
		t.Errorf("the file has %q", d.File("a.txt"))
	}
	if now := modified(t, path); !now.Equal(old) {
		t.Errorf("the file is of %v, so Claude Code does not write what it read at %v", now, old)
	}
	e2e.Write(t, path, oneHunk) // as Claude Code does
	d.waits(0)
	c.says(c.start("close_tab", e2e.Object{"tab_name": "tab 1"}), "TAB_CLOSED")

	a = c.opens(path, twoHunks, "tab 2")
	d.waits(1)
	e2e.Command[e2e.Object](d.Rig, "sidecar.review.reject", e2e.Object{"reason": "no"})
	c.says(a, "DIFF_REJECTED", "tab 2")

	a = c.opens(path, twoHunks, "tab 3")
	d.waits(1)
	c.says(c.start("close_tab", e2e.Object{"tab_name": "tab 3"}), "TAB_CLOSED: the edit is taken back, nobody had decided on it")
	c.says(a, "DIFF_REJECTED", "tab 3")
	d.waits(0)

	a = c.opens(path, twoHunks, "tab 4")
	b := c.opens(filepath.Join(d.Dir, "new.txt"), "new\n", "tab 5")
	d.waits(2)
	c.says(c.start("closeAllDiffTabs", e2e.Object{}), "CLOSED_2_DIFF_TABS")
	c.says(a, "DIFF_REJECTED", "tab 4")
	c.says(b, "DIFF_REJECTED", "tab 5")
	d.waits(0)

	// The agent's text has the line ends of most programs, whatever the file has.
	a = c.opens(filepath.Join(d.Dir, "crlf.txt"), "a\nB\n", "tab 6")
	d.waits(1)
	d.Accept(nil)
	c.says(a, "FILE_SAVED", "a\nB\n")
	if d.File("crlf.txt") != "a\r\nB\r\n" {
		t.Errorf("the file has %q", d.File("crlf.txt"))
	}

	// An agent that does not write what was accepted leaves a file that is new.
	if then := modified(t, filepath.Join(d.Dir, "crlf.txt")); !c.redated(d, "crlf.txt").After(then) {
		t.Errorf("the file stays of %v", then)
	}

	// What the user made of the proposal is what is saved.
	a = c.opens(path, twoHunks, "tab 7")
	d.waits(1)
	e2e.Command[e2e.Object](d.Rig, "sidecar.review.propose", e2e.Object{"uri": workspace.FileURI(path), "text": oneHunk + "mine\n"})
	d.Accept(nil)
	c.says(a, "FILE_SAVED", oneHunk+"mine\n")

	// An agent that leaves takes what is undecided along.
	c.opens(path, twoHunks, "tab 8")
	e2e.Until(t, "nothing is pending", func() bool { return len(d.Pending().Edits) == 1 })
	_ = c.ws.CloseNow()
	d.waits(0)
	if d.File("a.txt") != oneHunk+"mine\n" {
		t.Errorf("the file has %q", d.File("a.txt"))
	}
}

// TestClaudeByMode: the policy decides on what an agent shows as on all edits.
func TestClaudeByMode(t *testing.T) {
	server := program.ServerAnywhere(t) // by itself: to this process this program would be no person's
	for mode, want := range map[string]string{"autonomous": "FILE_SAVED", "plan": "DIFF_REJECTED"} {
		t.Run(mode, func(t *testing.T) {
			e2e.Home(t)
			e2e.UserSettings(t, e2e.Object{"mode": mode})
			d := deskBy(t, e2e.Project(t, map[string]string{"a.txt": "one\n"}), server)
			c := d.claude()
			text := map[string]string{"FILE_SAVED": "two\n", "DIFF_REJECTED": "tab"}[want]
			c.says(c.opens(filepath.Join(d.Dir, "a.txt"), "two\n", "tab"), want, text)
			if saved := d.File("a.txt") == "two\n"; saved != (want == "FILE_SAVED") {
				t.Errorf("the file has %q", d.File("a.txt"))
			}
		})
	}
	t.Run("cautious", func(t *testing.T) { // the review is the question
		d := deskIn(t, "cautious", map[string]string{"a.txt": "one\n"})
		c := d.claude()
		a := c.opens(filepath.Join(d.Dir, "a.txt"), "two\n", "tab")
		d.waits(1)
		d.Accept(nil)
		c.says(a, "FILE_SAVED", "two\n")
	})
}

// TestClaudeBesideOthers: what is unsaved or pending in a file stays, since the agent
// knows the file on the disk alone.
func TestClaudeBesideOthers(t *testing.T) {
	d := deskIn(t, "review", map[string]string{"a.txt": tenLines, "b.txt": tenLines})
	if res := d.Tool("edit_file", e2e.Object{"path": "a.txt", "search": "5", "replace": "five"}); !res.OK {
		t.Fatal(res.Content)
	}
	c := d.claude()
	a := c.opens(filepath.Join(d.Dir, "a.txt"), strings.Replace(tenLines, "1\n", "one\n", 1), "tab")
	d.waits(2)
	for _, e := range d.Pending().Edits {
		for _, h := range e.Hunks {
			if e.Path == "a.txt" && strings.Contains(h.Text, "five") && strings.Contains(h.Text, "one") {
				t.Errorf("one hunk has both: %s", h.Text)
			}
		}
	}
	e2e.Command[e2e.Object](d.Rig, "sidecar.review.accept", e2e.Object{"session": "claude"})
	c.says(a, "FILE_SAVED", strings.Replace(tenLines, "1\n", "one\n", 1))
	d.waits(1)
	c.fails(c.opens(filepath.Join(d.Dir, "a.txt"), strings.Replace(tenLines, "5\n", "FIVE\n", 1), "tab"), "pending changes in the same lines")
	d.waits(1)
}

// TestHostileAgents: what an agent must not do it can't, and the next one is served.
func TestHostileAgents(t *testing.T) {
	d := deskIn(t, "review", map[string]string{"a.txt": "one\n", "binary": "\x00\x01", "latin": "caf\xe9\n", ".env": "KEY=x\n"})
	port, token := d.lock()
	if err := ownfile.Symlink(t.TempDir(), filepath.Join(d.Dir, "out")); err != nil {
		t.Fatal(err)
	}
	claude := "X-Claude-Code-Ide-Authorization"
	for name, c := range map[string]struct {
		path   string
		header http.Header
		host   string
		status int
	}{
		"no token":           {"/", http.Header{}, "", 401},
		"another token":      {"/", http.Header{claude: {token + "x"}}, "", 401},
		"a page":             {"/", http.Header{claude: {token}, "Origin": {"http://127.0.0.1:" + port}}, "", 403},
		"another page":       {"/", http.Header{claude: {token}, "Origin": {"null"}}, "", 403},
		"another host":       {"/", http.Header{claude: {token}}, "evil.example:" + port, 403},
		"no WebSocket":       {"/", http.Header{claude: {token}}, "", 426},
		"no token, Gemini":   {"/mcp", http.Header{"Authorization": {"Bearer"}}, "", 401},
		"a page, Gemini":     {"/mcp", http.Header{"Authorization": {"Bearer " + token}, "Origin": {"null"}}, "", 403},
		"no session, Gemini": {"/mcp", http.Header{"Authorization": {"Bearer " + token}}, "", 404},
		"another path":       {"/other", http.Header{claude: {token}}, "", 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header, req.Host = c.header, c.host
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", name, resp.StatusCode, c.status)
		}
	}

	c, other := d.claude(), d.claude()
	at := func(name string) string { return filepath.Join(d.Dir, name) }
	c.fails(c.opens("/etc/hostname", "x\n", "1"), "out of the workspace")
	c.fails(c.opens(at("../x"), "x\n", "2"), "out of the workspace")
	c.fails(c.opens(at("out/x"), "x\n", "3"), "out of the workspace")
	c.fails(c.opens(at("binary"), "x\n", "4"), "binary")
	c.fails(c.opens(at("latin"), "x\n", "5"), "UTF-8")
	c.fails(c.opens(at("a.txt"), "x\n", ""), "tab_name")
	c.fails(c.start("executeCode", e2e.Object{"code": "1"}), "executeCode")
	c.fails(c.start("openDiff", e2e.Object{"new_file_path": 1}), "openDiff")
	c.says(c.opens(at(".git/config"), "x\n", "6"), "DIFF_REJECTED", "6")
	c.says(c.opens(at(".env"), "KEY=y\n", "7"), "DIFF_REJECTED", "7")
	d.waits(0)

	// Two agents have sessions of their own.
	c.opens(at("a.txt"), "two\n", "8")
	other.opens(at("b.txt"), "b\n", "8")
	d.waits(2)
	sessions := map[string]bool{}
	for _, e := range d.Pending().Edits {
		sessions[e.Session] = true
	}
	if !sessions["claude"] || !sessions["claude-2"] {
		t.Errorf("sessions %v", sessions)
	}
	_ = other.ws.CloseNow()
	d.waits(1)

	// A request under an id that is in use is not done, and what waits under it waits on.
	c.send(e2e.Object{"id": c.id, "method": "tools/call", "params": e2e.Object{"name": "closeAllDiffTabs", "arguments": e2e.Object{}}})
	c.says(c.start("close_tab", e2e.Object{"tab_name": "another"}), "TAB_CLOSED")
	d.waits(1)
	big := d.claude()
	if err := big.ws.Write(t.Context(), websocket.MessageText, bytes.Repeat([]byte(" "), 100<<20)); err == nil {
		<-big.lost
	}
	bad := d.claude()
	if err := bad.ws.Write(t.Context(), websocket.MessageText, []byte("{not json")); err == nil {
		<-bad.lost
	}
	_ = c.ws.CloseNow()
	d.waits(0)
	last := d.claude()
	a := last.opens(at("a.txt"), "two\n", "9")
	d.waits(1)
	d.Accept(nil)
	last.says(a, "FILE_SAVED", "two\n")
}

// TestAgentsFindTheEditor: the files are there while the editor is and the setting
// says so, and only ours are touched.
func TestAgentsFindTheEditor(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	d := deskAt(t, dir, "review", fakeeditor.Options{Settings: map[string]any{"sidecar": e2e.Object{"mode": "review", "ide.enabled": false}}})
	if err := ownfile.MkdirAll(d.places.Claude, 0o700); err != nil {
		t.Fatal(err)
	}
	foreign, stale := filepath.Join(d.places.Claude, "1.lock"), filepath.Join(d.places.Claude, "2.lock")
	e2e.Write(t, foreign, `{"pid":2147483647,"ideName":"Other","transport":"ws"}`)
	e2e.Write(t, stale, `{"pid":2147483647,"ideName":"Neovim","transport":"ws","server":"sidecar-ls"}`)
	if got := found(t, d.places.Claude); len(got) != 2 {
		t.Errorf("switched off, there are %q", got)
	}
	on := func(on bool) {
		t.Helper()
		if err := d.Configure(t.Context(), map[string]any{"sidecar": e2e.Object{"mode": "review", "ide.enabled": on}}); err != nil {
			t.Fatal(err)
		}
	}
	on(true)
	var ours string
	e2e.Until(t, "no file of ours is there", func() bool {
		for _, name := range found(t, d.places.Claude) {
			if name != foreign && name != stale {
				ours = name
			}
		}
		return ours != ""
	})
	if _, err := os.Stat(stale); err == nil {
		t.Error("a file of a dead server is left")
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error("a file of another editor was touched")
	}
	e2e.Until(t, "there is no file for Gemini", func() bool { return len(found(t, d.places.Gemini)) == 1 })
	on(false)
	e2e.Until(t, "switched off, the files stay", func() bool { return len(found(t, d.places.Claude)) == 1 && len(found(t, d.places.Gemini)) == 0 })
	on(true)
	e2e.Until(t, "it is not switched on again", func() bool { return len(found(t, d.places.Claude)) == 2 })
	t.Run("two editors", func(t *testing.T) { // until the end of it
		d.T = t
		e2e.Begin(t, dir, fakeeditor.Options{}, func(in io.Reader, out io.Writer) error {
			return serve.Serve(context.Background(), in, out, serve.Options{App: app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler)}, Places: func() (ide.Places, error) { return d.places, nil }})
		})
		e2e.Until(t, "the other one has no file", func() bool { return len(found(t, d.places.Claude)) == 3 })
	})
	if got := found(t, d.places.Claude); len(got) != 2 {
		t.Errorf("the other editor has left, and there are %q", got)
	}
}

// TestAgentsSeeTheSelection: agents are told what is selected, and nothing of secrets.
func TestAgentsSeeTheSelection(t *testing.T) {
	d := deskIn(t, "review", map[string]string{"a.txt": "one\ntwo\nthree\n", ".env": "KEY=x\n"})
	c := d.claude()
	uri, err := d.OpenFile(t.Context(), filepath.Join(d.Dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	told := func(want ...string) {
		t.Helper()
		for {
			select {
			case params := <-c.told:
				ok := true
				for _, w := range want {
					ok = ok && strings.Contains(string(params), w)
				}
				if strings.Contains(string(params), ".env") {
					t.Errorf("it is told %s", params)
				}
				if ok {
					return
				}
			case <-c.lost:
				t.Fatal("the connection is lost")
			}
		}
	}
	told("a.txt", `"isEmpty":true`)
	sel := lsp.Range{Start: lsp.Position{Line: 1}, End: lsp.Position{Line: 1, Character: 3}}
	if err := d.Notify(t.Context(), "sidecar/selection", e2e.Object{"uri": uri, "ranges": []lsp.Range{sel}}); err != nil {
		t.Fatal(err)
	}
	told(`"text":"two"`, `"line":1`, `"isEmpty":false`)
	env, err := d.OpenFile(t.Context(), filepath.Join(d.Dir, ".env"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []e2e.Object{{"uri": env, "ranges": []lsp.Range{sel}}, {"uri": 1}, {"uri": uri, "ranges": make([]lsp.Range, 101)}} {
		if err := d.Notify(t.Context(), "sidecar/selection", bad); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Notify(t.Context(), "sidecar/selection", e2e.Object{"uri": uri, "ranges": []lsp.Range{}, "text": ""}); err != nil {
		t.Fatal(err)
	}
	told("a.txt", `"isEmpty":true`)
}
