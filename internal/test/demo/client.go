package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/registry"
)

// toolResult is what the demo reads of a ToolResult.
type toolResult struct {
	OK      bool   `json:"ok"`
	Content string `json:"content"`
	Changes []struct {
		Path  string `json:"path"`
		Kind  string `json:"kind"`
		State string `json:"state"`
	} `json:"changes"`
}

// hunk is what the demo reads of a pending hunk.
type hunk struct {
	ID       string `json:"id"`
	OldStart int    `json:"oldStart"`
	State    string `json:"state"`
	Text     string `json:"text"`
}

// queue is what the demo reads of the review queue.
type queue struct {
	Revision int64 `json:"revision"`
	Edits    []struct {
		Path  string `json:"path"`
		Kind  string `json:"kind"`
		Hunks []hunk `json:"hunks"`
	} `json:"edits"`
}

// hunks counts the hunks of all files.
func (q queue) hunks() int {
	n := 0
	for _, e := range q.Edits {
		n += len(e.Hunks)
	}
	return n
}

// find returns the one hunk whose text has a part.
func (q queue) find(part string) (hunk, error) {
	var found []hunk
	for _, e := range q.Edits {
		for _, h := range e.Hunks {
			if strings.Contains(h.Text, part) {
				found = append(found, h)
			}
		}
	}
	if len(found) != 1 {
		return hunk{}, fmt.Errorf("%d pending hunks have %q, want 1", len(found), part)
	}
	return found[0], nil
}

// decided is what accept and reject answer.
type decided struct {
	Accepted []string `json:"accepted"`
	Rejected []string `json:"rejected"`
	Failed   []struct {
		URI   string `json:"uri"`
		Error string `json:"error"`
	} `json:"failed"`
}

// settings lets our own agent ask the model that the demo plays, and commands reach the demo's
// registry.
func (d *demo) settings() error {
	var err error
	d.model = clients.NewModel()
	if d.packages, err = registry.NewNPM(); err != nil {
		return err
	}
	settings, err := json.Marshal(map[string]any{
		"backend.profiles": []any{map[string]any{"name": "scripted", "provider": "anthropic", "url": d.model.URL, "model": "scripted", "key": "sk-scripted-0123456789"}},
		"backend.profile":  "scripted",
		"sandbox.network":  d.packages.Network("packages"),
	})
	if err != nil {
		return err
	}
	dir := filepath.Join(d.dir, "home", "sidecar")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "settings.json"), settings, 0o600)
}

// start starts the server on the repository, with no settings but those, as an editor does.
func (d *demo) start() error {
	d.log.Reset()
	d.cmd = exec.CommandContext(d.ctx, d.server, "serve", "--stdio")
	d.cmd.Stderr = &d.log
	d.cmd.Env = append(os.Environ(), d.home()...)
	can := fakeeditor.Usual()
	can.Experimental.Sidecar.Events = true
	e, err := fakeeditor.StartProcess(d.cmd, fakeeditor.Options{Root: d.repo, Capabilities: can})
	if err != nil {
		return err
	}
	d.editor = e
	hello, err := e.Initialize(d.ctx)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	d.out.done("%s %s speaks LSP as process %d", hello.ServerInfo.Name, hello.ServerInfo.Version, d.cmd.Process.Pid)
	return nil
}

// stop ends the server as an editor does that is closed.
func (d *demo) stop() error {
	if err := d.editor.Shutdown(d.ctx); err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	d.editor = nil
	return nil
}

// home has the server keep to directories of the demo: nothing of the user's is read or changed.
func (d *demo) home() (env []string) {
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR"} {
		env = append(env, name+"="+filepath.Join(d.dir, "home"))
	}
	if cache, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" {
		env = append(env, "GOCACHE="+filepath.Join(cache, "go-build")) // compiling the library again takes long
	}
	return env
}

// kill ends the server with SIGKILL: it can't put anything in order.
func (d *demo) kill() {
	if d.editor == nil {
		return
	}
	_ = d.cmd.Process.Kill() // it may have ended already
	_ = d.editor.Wait(d.ctx)
	d.editor = nil
}

// close ends all that the demo has started.
func (d *demo) close() {
	d.kill()
	if d.model != nil {
		d.model.Close()
	}
	if d.packages != nil {
		d.packages.Close()
	}
}

// execute runs a command of the server.
func (d *demo) execute(command string, arg, result any) error {
	if err := d.editor.ExecuteCommand(d.ctx, command, arg, result); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	return nil
}

// call calls a tool as an agent does, shows the call in short, and wants it to
// succeed.
func (d *demo) call(name, short string, args map[string]any) (toolResult, error) {
	d.out.call(name, short)
	var r toolResult
	if err := d.execute("sidecar.tools.call", map[string]any{"name": name, "arguments": args}, &r); err != nil {
		return r, err
	}
	if !r.OK {
		return r, fmt.Errorf("%s: %s", name, r.Content)
	}
	return r, nil
}

func (d *demo) pending() (queue, error) {
	var q queue
	return q, d.execute("sidecar.review.list", nil, &q)
}
