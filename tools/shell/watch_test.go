//go:build unix

package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// printer is a command in the background that prints what a test writes, byte for byte.
type printer struct {
	*os.File
	id string
}

func (r *rig) printer() printer {
	r.t.Helper()
	r.printers++
	name := fmt.Sprintf("pipe%d", r.printers)
	if err := syscall.Mkfifo(filepath.Join(r.root, name), 0o600); err != nil {
		r.t.Fatal(err)
	}
	_, res, fail := r.call("run_command", map[string]any{"command": "cat " + name + "; exit 7", "background": true}, nil)
	if fail != nil {
		r.t.Fatal(fail)
	}
	f, err := ownfile.OpenFile(filepath.Join(r.root, name), os.O_WRONLY, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { f.Close() })
	return printer{f, res.Structured.(Ran).ID}
}

func (p printer) print(t *testing.T, text string) {
	t.Helper()
	if _, err := p.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// watch begins a watch that must be possible.
func (r *rig) watch(id, pattern string) Watched {
	r.t.Helper()
	_, res, fail := r.call("command_watch", map[string]any{"id": id, "pattern": pattern}, nil)
	if fail != nil {
		r.t.Fatal(fail)
	}
	return res.Structured.(Watched)
}

// note is the next note; fails without one in a minute.
func (r *rig) note() Note {
	r.t.Helper()
	select {
	case n := <-r.noted:
		return n
	case <-time.After(time.Minute):
		r.t.Fatal("no note came")
		return Note{}
	}
}

// step takes all notes that wait, as an agent's step does.
func (r *rig) step() {
	r.notesMu.Lock()
	defer r.notesMu.Unlock()
	r.unread = 0
}

// none fails for notes that came. It is for after the end of a command, whose note is the last.
func (r *rig) none() {
	r.t.Helper()
	select {
	case n := <-r.noted:
		r.t.Errorf("a note came: %+v", n)
	default:
	}
}

// TestWatch: lines that match come, others don't, and the end comes with the exit code.
func TestWatch(t *testing.T) {
	r := newRig(t)
	p := r.printer()
	p.print(t, "error: of before\n")
	if _, res, fail := r.call("command_output", map[string]any{"id": p.id, "wait_s": 60}, nil); fail != nil || res.Structured.(Printed).Ended != "output" {
		t.Fatal(res, fail)
	}
	w := r.watch(p.id, "^error|end$")
	if !w.Watching || w.Replaced || w.Cursor == "0" {
		t.Errorf("%+v", w)
	}
	p.print(t, "fine\nan error\nerror: one\n")
	if n := r.note(); n.Printed != "error: one\n" || !strings.Contains(n.Head, p.id) || !strings.Contains(n.Head, "^error|end$") || n.Tail != "" {
		t.Errorf("%+v", n)
	}
	p.print(t, "fine\nhalf an er")
	p.print(t, "ror at the end\nthe end")
	if n := r.note(); n.Printed != "half an error at the end\n" { // the last line is not whole
		t.Errorf("%+v", n)
	}
	p.Close()
	if n := r.note(); n.Printed != "the end\n" || !strings.Contains(n.Tail, "exit code 7") {
		t.Errorf("%+v", n)
	}
	text, res, fail := r.call("command_watch", map[string]any{"id": p.id}, nil)
	if w := res.Structured.(Watched); fail != nil || w.Watching || w.ExitCode == nil || *w.ExitCode != 7 || !strings.Contains(text, "runs no more (ended with exit code 7") {
		t.Errorf("of one that has ended: %s, %v", text, fail)
	}
	r.none()
}

// TestWatchRefuses names what is wrong, and watches nothing.
func TestWatchRefuses(t *testing.T) {
	r := newRig(t)
	p := r.printer()
	for want, args := range map[string]map[string]any{
		`"bg9" is not known; there are bg1`: {"id": "bg9"},
		"no look-arounds":                   {"id": p.id, "pattern": "(?=x)"},
		"missing closing )":                 {"id": p.id, "pattern": "("},
		"at most 500":                       {"id": p.id, "pattern": strings.Repeat("x", 501)},
		"timeout_s":                         {"id": p.id, "timeout_s": 3601},
	} {
		for _, tool := range []string{"command_watch", "command_output"} {
			if tool == "command_output" && args["timeout_s"] != nil {
				continue
			}
			if text, _, fail := r.call(tool, args, nil); fail == nil || !strings.Contains(text, want) {
				t.Errorf("%s, %v: %s", tool, args, text)
			}
		}
	}
	b, err := r.byName["command_watch"].Bind([]byte(`{"id":"bg1"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Run(t.Context(), &tools.Call{Session: "another", Files: r.files}); err == nil || !strings.Contains(err.Error(), "nothing was run in the background of this session") {
		t.Errorf("the command of another session: %v", err)
	}
	if r.sessions.get(&tools.Call{Session: "s1", Files: r.files}).all()[0].watch != nil {
		t.Error("something is watched")
	}
	r.watch(p.id, strings.Repeat("x", 500)) // the control
}

// TestWatchAgain: of many watches of a command the last one holds.
func TestWatchAgain(t *testing.T) {
	r := newRig(t)
	p := r.printer()
	r.watch(p.id, "first")
	for range 999 {
		if w := r.watch(p.id, "last"); !w.Replaced {
			t.Fatalf("%+v", w)
		}
	}
	j := r.sessions.get(&tools.Call{Session: "s1", Files: r.files}).all()[0]
	j.out.mu.Lock()
	if len(j.out.taps) != 1 {
		t.Errorf("%d watches are left", len(j.out.taps))
	}
	j.out.mu.Unlock()
	p.print(t, "first\nlast\n")
	if n := r.note(); n.Printed != "last\n" {
		t.Errorf("%+v", n)
	}
	p.Close()
	r.note()
	r.none()
}

// TestWatchFlood: what prints without end, or too often while nobody reads, ends the watch
// with a note, and neither the command nor a step waits for it.
func TestWatchFlood(t *testing.T) {
	t.Run("100 MB", func(t *testing.T) {
		r := newRig(t)
		p := r.printer()
		r.watch(p.id, "")
		block := strings.Repeat("a line of a flood\n", 1<<16)
		for range 100 {
			p.print(t, block)
		}
		size := 0
		for n := r.note(); ; n = r.note() {
			if size += len(n.Printed); len(n.Printed) > watchBytes {
				t.Errorf("a note of %d bytes", len(n.Printed))
			}
			if strings.Contains(n.Tail+n.Head, "prints too much") {
				break
			}
		}
		p.Close()
		if size > watchBytes*floodNotes {
			t.Errorf("%d bytes were noted", size)
		}
		if text, _, _ := r.call("command_output", map[string]any{"id": p.id, "wait_s": 60, "cursor": ""}, nil); !strings.Contains(text, "a line of a flood") {
			t.Error("its output is gone")
		}
		r.none()
	})
	t.Run("a few lines at a time", func(t *testing.T) {
		r := newRig(t)
		p := r.printer()
		r.watch(p.id, "")
		for k := range floodNotes {
			if k == floodNotes-1 { // else more and more lines would come together
				r.notesMu.Lock()
				r.unread = k
				r.notesMu.Unlock()
			}
			p.print(t, fmt.Sprintf("line %d\n", k))
			if n := r.note(); n.Printed != fmt.Sprintf("line %d\n", k) {
				t.Fatalf("%+v", n)
			}
			if k < floodNotes-1 {
				r.step()
			}
		}
		if n := r.note(); !strings.Contains(n.Head, "prints too much") || n.Printed != "" {
			t.Errorf("%+v", n)
		}
		p.print(t, "more\n")
		p.Close()
		if text, _, _ := r.call("command_output", map[string]any{"id": p.id, "wait_s": 60, "pattern": "^never$"}, nil); !strings.Contains(text, "more\n") {
			t.Error(text)
		}
		r.none()
	})
	t.Run("with a step between", func(t *testing.T) {
		r := newRig(t)
		p := r.printer()
		r.watch(p.id, "")
		for k := range floodNotes + 4 {
			p.print(t, fmt.Sprintf("line %d\n", k))
			if n := r.note(); n.Printed != fmt.Sprintf("line %d\n", k) {
				t.Fatalf("%+v", n)
			}
			r.step()
		}
	})
}

// TestWatchHides: secrets in lines are masked however they come, a line's beginning from
// before the watch counts, and a pattern can't look at what is masked.
func TestWatchHides(t *testing.T) {
	r := newRig(t)
	p := r.printer()
	p.print(t, "key s3cr3t")
	r.call("command_output", map[string]any{"id": p.id, "wait_s": 60}, nil)
	r.watch(p.id, "")
	p.print(t, "-value one\n")
	if n := r.note(); strings.Contains(n.Printed, "value") || !strings.Contains(n.Printed, "[REDACTED:known] one") {
		t.Errorf("%+v", n)
	}
	r.watch(p.id, "s3cr3t|AbCd|plain")
	body := strings.Repeat("AbCd", 16) + "\n"
	p.print(t, "s3cr3t-value\nplain\n-----BEGIN RSA PRIVATE KEY-----\n"+body+body)
	if n := r.note(); n.Printed != "plain\n" {
		t.Errorf("%+v", n)
	}
	p.print(t, body+"-----END RSA PRIVATE KEY-----\nplain again\n")
	if n := r.note(); n.Printed != "plain again\n" {
		t.Errorf("%+v", n)
	}
	r.watch(p.id, "control")
	p.print(t, "a control\n")
	if n := r.note(); n.Printed != "a control\n" {
		t.Errorf("%+v", n)
	}
}

// TestWatchRests: a line that might be the beginning of a secret comes once nothing follows it.
func TestWatchRests(t *testing.T) {
	r := newRig(t)
	p := r.printer()
	r.watch(p.id, "Listening")
	p.print(t, "Listening on http://127.0.0.1:3000/app/V1x9-a8Q7\n")
	if n := r.note(); !strings.HasPrefix(n.Printed, "Listening on http://127.0.0.1:3000") {
		t.Errorf("%+v", n)
	}
}

// TestWatchBounds: long lines and many of them are cut, with the number of the others.
func TestWatchBounds(t *testing.T) {
	r := newRig(t)
	p := r.printer()
	r.watch(p.id, "")
	p.print(t, strings.Repeat("é", 30_000)+"\n"+strings.Repeat("more\n", 100))
	n := r.note()
	lines := strings.Split(strings.TrimSpace(n.Printed), "\n")
	if len(n.Printed) > watchBytes || len(lines) != watchLines || !strings.HasSuffix(lines[0], "é…") || len(lines[0]) > watchLine+len("…") || !strings.HasPrefix(n.Tail, "71 lines more") {
		t.Errorf("%d lines, %d bytes, %s", len(lines), len(n.Printed), n.Tail)
	}
}

// TestWatchTime: a watch ends by its time, and the command goes on.
func TestWatchTime(t *testing.T) {
	r := newRig(t)
	p := r.printer()
	if _, _, fail := r.call("command_watch", map[string]any{"id": p.id, "timeout_s": 1}, nil); fail != nil {
		t.Fatal(fail)
	}
	if n := r.note(); !strings.Contains(n.Head, "ended by its timeout_s; the command runs on") {
		t.Errorf("%+v", n)
	}
	p.print(t, "later\n")
	p.Close()
	if text, _, _ := r.call("command_output", map[string]any{"id": p.id, "wait_s": 60, "pattern": "^later$"}, nil); !strings.Contains(text, "later\n") {
		t.Error(text)
	}
	r.none()
}

// TestWatchEndsWithSession: nothing is left, and no note goes to whoever has its name next.
func TestWatchEndsWithSession(t *testing.T) {
	r := newRig(t)
	p := r.printer()
	r.watch(p.id, "")
	j := r.sessions.get(&tools.Call{Session: "s1", Files: r.files}).all()[0]
	close(r.closed)
	select {
	case <-j.done:
	case <-time.After(time.Minute):
		t.Fatal("the command goes on")
	}
	j.out.mu.Lock()
	defer j.out.mu.Unlock()
	if len(j.out.taps) != 0 {
		t.Error("it is watched")
	}
	r.none()
}

// TestOutputWaits says what a wait ended with.
func TestOutputWaits(t *testing.T) {
	r := newRig(t)
	p := r.printer()
	wait := func(args map[string]any) (string, Printed) {
		t.Helper()
		args["id"] = p.id
		text, res, fail := r.call("command_output", args, nil)
		if fail != nil {
			t.Fatal(fail)
		}
		return text, res.Structured.(Printed)
	}
	if text, o := wait(map[string]any{}); o.Ended != "" || !strings.Contains(text, "(nothing new)") {
		t.Errorf("%s, %+v", text, o)
	}
	if text, o := wait(map[string]any{"wait_s": 1}); o.Ended != "timeout" || !o.Running || !strings.Contains(text, "nothing came") {
		t.Errorf("%s, %+v", text, o)
	}
	later := make(chan Printed)
	go func() {
		_, res, _ := r.call("command_output", map[string]any{"id": p.id, "wait_s": 60, "pattern": "^ready [0-9]+$"}, nil)
		o, _ := res.Structured.(Printed)
		later <- o
	}()
	p.print(t, "not ready 1\nready")
	_, o := wait(map[string]any{"wait_s": 60})
	if o.Ended != "output" {
		t.Errorf("%+v", o)
	}
	select {
	case o := <-later:
		t.Errorf("it did not wait: %+v", o)
	default:
	}
	p.print(t, " 2\n")
	if o := <-later; o.Ended != "pattern" || !o.Running {
		t.Errorf("%+v", o)
	}
	text, o := wait(map[string]any{"pattern": "^ready"}) // it is there
	if o.Ended != "pattern" || !strings.Contains(text, "a line matches") {
		t.Errorf("%s, %+v", text, o)
	}
	cursor := o.Cursor
	if _, o := wait(map[string]any{"pattern": "^ready", "wait_s": 1, "cursor": cursor}); o.Ended != "timeout" {
		t.Errorf("%+v", o)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b, err := r.byName["command_output"].Bind([]byte(`{"id":"` + p.id + `","wait_s":600,"cursor":"` + cursor + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan error)
	go func() {
		_, _, err := b.Run(ctx, &tools.Call{Session: "s1", Files: r.files})
		gone <- err
	}()
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("a call that is cancelled: %v", err)
	}
	p.Close()
	if _, o := wait(map[string]any{"pattern": "never", "wait_s": 60, "cursor": cursor}); o.Ended != "exited" || o.Running || o.ExitCode == nil || *o.ExitCode != 7 {
		t.Errorf("%+v", o)
	}
	if _, o := wait(map[string]any{"wait_s": 60, "cursor": cursor}); o.Ended != "exited" {
		t.Errorf("%+v", o)
	}
}

// TestWatchBinary: what is no text makes no note that is none.
func TestWatchBinary(t *testing.T) {
	r := newRig(t)
	p := r.printer()
	r.watch(p.id, "binary|one")
	p.print(t, "\x00\xff\xfe binary \xc3\n\xa9 one\n")
	if n := r.note(); strings.Count(n.Printed, "\n") != 2 {
		t.Errorf("%q", n.Printed)
	}
}
