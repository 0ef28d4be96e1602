package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// Contains checks for lines in what was told, in their order.
func Contains(t *testing.T, told string, want ...string) {
	t.Helper()
	rest := told
	for _, w := range want {
		_, after, ok := strings.Cut(rest, w)
		if !ok {
			t.Errorf("no %q (in its place) in\n%s", w, told)
			return
		}
		rest = after
	}
}

// Script writes a program of the user's, outside of every workspace.
func Script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	Write(t, path, text)
	if err := ownfile.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func HooksOf(r *Rig) []hooks.Status {
	return Command[struct{ Hooks []hooks.Status }](r, "sidecar.hooks.list", Object{}).Hooks
}

func Mount(t *testing.T, dir, what string, flags uintptr, data string) {
	t.Helper()
	kind := ""
	if flags == 0 {
		kind = what
	}
	if err := syscall.Mount(what, dir, kind, flags, data); err != nil {
		needs.Skip(t, needs.Mounts, fmt.Sprintf("can't mount here: %v", err))
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
}

// Planted replaces the program that the hooks run, by a command.
func (r *Rig) Planted(mark, script string) {
	r.T.Helper()
	r.Ran("cat > node_modules/.bin/lint <<'EOF'\n#!/bin/sh\ntouch " + mark + " 2>/dev/null; echo hook:$1 >> trace\n" + script + "\nexit 0\nEOF\nchmod +x node_modules/.bin/lint")
}

// Begun starts a command in a session, and waits until it has printed the word.
func (r *Rig) Begun(session, line, word string) *lsp.Pending {
	r.T.Helper()
	p, err := fakeeditor.Command("sidecar.tools.call", Object{"name": "run_command", "session": session, "arguments": Object{"command": line}})
	if err != nil {
		r.T.Fatal(err)
	}
	pending, err := r.Start(r.T.Context(), "workspace/executeCommand", p)
	if err != nil {
		r.T.Fatal(err)
	}
	if err := r.Await(r.T.Context(), "the command to print "+word, func(rec *fakeeditor.Record) bool {
		return slices.ContainsFunc(rec.Notifications, func(m fakeeditor.Message) bool {
			return m.Method == "sidecar/event" && strings.Contains(string(m.Params), `"toolOutput"`) && strings.Contains(string(m.Params), word)
		})
	}); err != nil {
		r.T.Fatal(err)
	}
	return pending
}

// OnDisk reads a file of the workspace; "" is that there is none.
func (r *Rig) OnDisk(name string) string {
	data, err := os.ReadFile(filepath.Join(r.Dir, name))
	if err != nil {
		return ""
	}
	return string(data)
}

// HeldOutput are the sessions that hold output, with the number of their files.
func (r *Rig) HeldOutput() (list []workspace.Held) {
	r.T.Helper()
	return Command[struct{ Entries []workspace.Held }](r, "sidecar.review.output", Object{"action": "list"}).Entries
}

// decisions are a person's answers to questions, in turn; what was asked is kept.
type decisions struct {
	Asked   []string
	answers []Object
}

func (r *Rig) Decides(answers ...Object) *decisions {
	d := &decisions{answers: answers}
	r.Answer("sidecar/approve", func(_ context.Context, params json.RawMessage) (any, error) {
		var q struct{ Title, Detail string }
		if err := json.Unmarshal(params, &q); err != nil {
			return nil, err
		}
		d.Asked = append(d.Asked, q.Title+"\n"+q.Detail)
		a := d.answers[0]
		d.answers = d.answers[1:]
		return a, nil
	})
	return d
}

// HeldOff checks what a script printed, and that nothing was decided.
func (r *Rig) HeldOff(what, out string, lines int) {
	r.T.Helper()
	if want := fmt.Sprintf("tried %d\n", lines); !strings.Contains(out, want) {
		r.T.Errorf("%s: not all was tried:\n%s", what, out)
	}
	for l := range strings.Lines(out) {
		for _, bad := range []string{"NOT REFUSED", "DONE", "CONTROL", "NOT REACHED"} {
			if strings.HasPrefix(l, bad) {
				r.T.Errorf("%s: %s", what, l)
			}
		}
	}
	names := map[string]bool{}
	for _, e := range r.Pending().Edits {
		names[e.Path] = true
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "own.txt")); !os.IsNotExist(err) || !names["own.txt"] {
		r.T.Errorf("%s: it has decided: %v", what, names)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "loose.txt")); !os.IsNotExist(err) {
		r.T.Errorf("%s: it has worked in a looser mode", what)
	}
	if _, err := os.Stat(filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "sidecar", "trust.json")); !os.IsNotExist(err) {
		r.T.Errorf("%s: it has trusted", what)
	}
}

// AsPerson runs a program of the person's.
func (r *Rig) AsPerson(argv ...string) (string, error) {
	cmd := exec.CommandContext(r.T.Context(), argv[0], argv[1:]...)
	cmd.Dir = r.Dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// APersonDecides is the control.
func (r *Rig) APersonDecides(server string) {
	r.T.Helper()
	if out, err := r.AsPerson(server, "review", "list"); err != nil || !strings.Contains(out, "own.txt") {
		r.T.Errorf("control: %v\n%s", err, out)
	}
	if out, err := r.AsPerson("sh", "-c", "exec \"$0\" review accept own.txt", server); err != nil || r.File("own.txt") != "own\n" {
		r.T.Errorf("control: a person in a shell: %v\n%s", err, out)
	}
	if out, err := r.AsPerson(server, "trust", "yes"); err != nil {
		r.T.Errorf("control: %v\n%s", err, out)
	}
}

const (
	Sub       = "git init -q sub; git -C sub commit -q --allow-empty -m x; git add sub 2>/dev/null; git commit -qm sub"
	Submodule = "git init -q ../one; git -C ../one commit -q --allow-empty -m x; git submodule -q add \"$PWD/../one\" sub; git commit -qm sub"

	// EvilDir makes a git directory under another name.
	EvilDir = `git init -q e; mv e/.git evil; rm -r e; git -C evil config core.bare false; git config -f evil/config core.fsmonitor "$EVIL"; `
)

// AsksOfTrust hands over what the editor is asked about trusted folders, and answers
// as it is told; it closes every other question.
func (r *Rig) AsksOfTrust() (questions <-chan string, answers chan<- string) {
	asked, said := make(chan string, 16), make(chan string)
	r.Answer("window/showMessageRequest", func(ctx context.Context, params json.RawMessage) (any, error) {
		var p lsp.ShowMessageRequestParams
		if err := json.Unmarshal(params, &p); err != nil || !strings.Contains(p.Message, "trusted folder") {
			return nil, err
		}
		asked <- p.Message
		select {
		case title := <-said:
			return map[string]string{"title": title}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-r.T.Context().Done():
			return nil, nil
		}
	})
	return asked, said
}
