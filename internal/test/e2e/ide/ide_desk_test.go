package ide_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/ide"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// desk is an editor that agents find.
type desk struct {
	*e2e.Rig
	places ide.Places
}

// deskIn opens one over files, in a mode.
func deskIn(t *testing.T, mode string, files map[string]string) *desk {
	t.Helper()
	e2e.Home(t)
	return deskAt(t, e2e.Project(t, files), mode, fakeeditor.Options{})
}

func deskAt(t *testing.T, dir, mode string, opts fakeeditor.Options) *desk {
	t.Helper()
	user := t.TempDir()
	places := ide.Places{Claude: filepath.Join(user, ".claude", "ide"), Gemini: filepath.Join(user, "gemini", "ide")}
	if err := ownfile.Mkdir(filepath.Dir(places.Claude), 0o755); err != nil {
		t.Fatal(err)
	}
	opts.InitializationOptions = e2e.Object{"sidecar": e2e.Object{"mode": mode}}
	r := e2e.Begin(t, dir, opts, func(in io.Reader, out io.Writer) error {
		return serve.Serve(context.Background(), in, out, serve.Options{App: app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler)}, Places: func() (ide.Places, error) { return places, nil }})
	})
	return &desk{r, places}
}

// deskBy is one whose server is a process by itself, in the mode of the user's settings.
func deskBy(t *testing.T, dir, server string) *desk {
	t.Helper()
	user := t.TempDir()
	places := ide.Places{Claude: filepath.Join(user, ".claude", "ide"), Gemini: filepath.Join(user, "gemini", "ide")}
	for _, name := range []string{".claude", ".gemini"} {
		if err := ownfile.Mkdir(filepath.Join(user, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := e2e.Begin(t, dir, fakeeditor.Options{}, func(in io.Reader, out io.Writer) error {
		cmd := exec.Command(server, "serve", "--log-level", "error")
		cmd.Env = append(os.Environ(), "CLAUDE_CONFIG_DIR="+filepath.Dir(places.Claude), "GEMINI_CLI_HOME="+user, "TMPDIR="+user, "TMP="+user, "TEMP="+user)
		cmd.Stdout = out
		to, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		go func() { _, _ = io.Copy(to, in) }()
		return cmd.Run()
	})
	return &desk{r, places}
}

// found are the files of a directory that agents look at.
func found(t *testing.T, dir string) (names []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "[^.]*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// lock waits for Claude's file and reads it.
func (d *desk) lock() (port, token string) {
	d.T.Helper()
	var names []string
	e2e.Until(d.T, "there is no lock file", func() bool { names = found(d.T, d.places.Claude); return len(names) == 1 })
	var f struct {
		AuthToken        string
		WorkspaceFolders []string
		Transport        string
	}
	decodeFile(d.T, names[0], &f)
	if f.Transport != "ws" || len(f.WorkspaceFolders) == 0 || f.WorkspaceFolders[0] != d.Dir {
		d.T.Errorf("the lock file says %+v", f)
	}
	return strings.TrimSuffix(filepath.Base(names[0]), ".lock"), f.AuthToken
}

func decodeFile(t *testing.T, name string, v any) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%s: %v, mode %v", name, err, info.Mode())
	}
}

// claudeCode is Claude Code as far as the editor sees it.
type claudeCode struct {
	t    *testing.T
	ws   *websocket.Conn
	told chan json.RawMessage // params of selection_changed

	mu      sync.Mutex
	id      int
	answers map[int]chan answerOf
	lost    chan struct{}
}

type answerOf struct {
	Result struct {
		Content []struct{ Text string }
		IsError bool
	}
	Error *struct {
		Code    int
		Message string
	}
}

func (d *desk) claude() *claudeCode {
	d.T.Helper()
	port, token := d.lock()
	return claudeAt(d.T, port, token)
}

func claudeAt(t *testing.T, port, token string) *claudeCode {
	t.Helper()
	//nolint:bodyclose // the library has closed it
	ws, resp, err := websocket.Dial(t.Context(), "ws://127.0.0.1:"+port, &websocket.DialOptions{
		Subprotocols: []string{"mcp"}, HTTPHeader: http.Header{"X-Claude-Code-Ide-Authorization": {token}},
	})
	if err != nil {
		t.Fatal(err, resp)
	}
	ws.SetReadLimit(64 << 20)
	c := &claudeCode{t: t, ws: ws, told: make(chan json.RawMessage, 100), answers: map[int]chan answerOf{}, lost: make(chan struct{})}
	go c.read()
	t.Cleanup(func() { _ = ws.CloseNow() })
	c.send(e2e.Object{"id": c.next(), "method": "initialize", "params": e2e.Object{"protocolVersion": "2025-11-25", "capabilities": e2e.Object{}, "clientInfo": e2e.Object{"name": "claude-code", "version": "2.1.330"}}})
	c.send(e2e.Object{"method": "notifications/initialized"})
	c.send(e2e.Object{"method": "ide_connected", "params": e2e.Object{"pid": os.Getpid()}})
	return c
}

func (c *claudeCode) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id++
	c.answers[c.id] = make(chan answerOf, 1)
	return c.id
}

func (c *claudeCode) send(m e2e.Object) {
	c.t.Helper()
	m["jsonrpc"] = "2.0"
	data, _ := json.Marshal(m)
	if err := c.ws.Write(c.t.Context(), websocket.MessageText, data); err != nil {
		c.t.Fatal(err)
	}
}

func (c *claudeCode) read() {
	defer close(c.lost)
	for {
		_, data, err := c.ws.Read(context.Background())
		if err != nil {
			return
		}
		var m struct {
			answerOf
			ID     int
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(data, &m) != nil {
			continue
		}
		if m.Method == "selection_changed" {
			c.told <- m.Params
			continue
		}
		c.mu.Lock()
		to := c.answers[m.ID]
		c.mu.Unlock()
		if to != nil {
			to <- m.answerOf
		}
	}
}

// start calls a tool.
func (c *claudeCode) start(tool string, args e2e.Object) chan answerOf {
	c.t.Helper()
	id := c.next()
	c.send(e2e.Object{"id": id, "method": "tools/call", "params": e2e.Object{"name": tool, "arguments": args}})
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers[id]
}

// says waits for texts.
func (c *claudeCode) says(answer chan answerOf, want ...string) {
	c.t.Helper()
	select {
	case a := <-answer:
		var got []string
		for _, part := range a.Result.Content {
			got = append(got, part.Text)
		}
		if a.Error != nil || a.Result.IsError || strings.Join(got, "|") != strings.Join(want, "|") {
			c.t.Errorf("it says %q (%+v), want %q", got, a.Error, want)
		}
	case <-c.lost:
		c.t.Fatal("the connection is lost")
	}
}

// redated is the time of a file at the next prompt.
func (c *claudeCode) redated(d *desk, name string) time.Time {
	c.t.Helper()
	c.says(c.start("closeAllDiffTabs", e2e.Object{}), "CLOSED_0_DIFF_TABS")
	return modified(c.t, filepath.Join(d.Dir, name))
}

// fails waits for a failure.
func (c *claudeCode) fails(answer chan answerOf, part string) {
	c.t.Helper()
	select {
	case a := <-answer:
		if a.Error == nil && (!a.Result.IsError || !strings.Contains(a.Result.Content[0].Text, part)) || a.Error != nil && !strings.Contains(a.Error.Message, part) {
			c.t.Errorf("it says %+v, want a failure with %q", a, part)
		}
	case <-c.lost:
		c.t.Fatal("the connection is lost")
	}
}

// opens shows an edit.
func (c *claudeCode) opens(path, text, tab string) chan answerOf {
	c.t.Helper()
	return c.start("openDiff", e2e.Object{"old_file_path": path, "new_file_path": path, "new_file_contents": text, "tab_name": tab})
}

// waits until so many hunks are pending.
func (d *desk) waits(n int) (ids []string) {
	d.T.Helper()
	e2e.Until(d.T, fmt.Sprintf("there never are %d hunks", n), func() bool {
		ids = nil
		for _, e := range d.Pending().Edits {
			for _, h := range e.Hunks {
				ids = append(ids, h.ID)
			}
		}
		return len(ids) == n
	})
	return ids
}
