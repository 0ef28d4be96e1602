package ide

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	compare "github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// diff is an edit that an agent shows and wants an answer to.
type diff struct {
	a        *agent
	key      string    // what the agent calls it
	name     string    // of the file in the view
	path     string    // on the disk
	modified time.Time // of the file when it was proposed; zero: there was none
	session  string
	since    pendingedits.Mark
	before   workspace.Text // of the disk, whose form the agent's text has not
	crlf     bool           // the agent's text has \r\n
	after    []byte         // what the file would be

	once  sync.Once
	done  chan struct{} // closed when it is decided on
	text  string        // of the file then, as the agent takes it; "" if nothing was saved
	saved bool
	back  bool // the agent took it back
}

// reviewed is the mode of a session whose own mode would ask about each edit: there
// the review is the question, hunk by hunk.
const reviewed = "review"

// sessionID is the session of the agent, which begins with what it first proposes.
func (a *agent) sessionID() (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gone || a.session != "" {
		return a.session, nil
	}
	mode := "" // which follows the settings; see call for who is held
	if m, ok := a.ide.o.Mode(""); ok && !a.held && m.Behaviour.Edits == policy.Ask && !m.ToStore {
		mode = reviewed
	}
	for n := 1; ; n++ {
		id := a.name
		if n > 1 {
			id = fmt.Sprintf("%s-%d", a.name, n)
		}
		s, err := a.ide.o.Sessions.Open(session.OpenRequest{ID: id, Mode: mode})
		if err == nil {
			a.session = s.ID
			return s.ID, nil
		}
		if !errors.Is(err, session.ErrExists) || n > session.MaxSessions {
			return "", err
		}
	}
}

// propose makes what an agent wants of a file an edit of its session. It fails for
// what can't be reviewed; what the policy or the user refuses is decided at once, and
// so is what is applied without review.
func (a *agent) propose(ctx context.Context, key, path, text string) (*diff, error) {
	a.withdraw(key)
	w := a.ide.o.Workspace()
	if w.Files == nil {
		return nil, errNoFolder
	}
	name, err := w.Files.Resolve(path)
	if err == nil {
		name, err = w.Files.RealName(name)
	}
	if err != nil {
		return nil, tools.AsError(err)
	}
	id, err := a.sessionID()
	if err != nil {
		return nil, err
	}
	d := &diff{a: a, key: key, name: name, path: w.Files.Abs(name), session: id, crlf: strings.Contains(text, "\r\n"), done: make(chan struct{})}
	if info, err := os.Stat(d.path); err == nil {
		d.modified = info.ModTime()
	}
	if w.Queue != nil {
		d.since = w.Queue.Mark()
	}
	a.mu.Lock()
	a.diffs[key] = d // from here on it can be taken back
	a.mu.Unlock()
	if err := d.hold(ctx, w, text); err != nil {
		d.decide("", false)
		d.withdraw() // the call may have been given up after it was held
		return nil, err
	}
	return d, nil
}

// hold has the edit held for review, or made.
func (d *diff) hold(ctx context.Context, w Workspace, text string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.a.ctx, cancel)()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-d.done: // taken back while the user is asked
			cancel()
		case <-ended:
		}
	}()
	res, err := d.call(ctx, w, text)
	if now := d.a.ide.o.Workspace(); errors.Is(err, dispatch.ErrRetired) && now.Files != nil { // the folders have just changed
		w = now
		res, err = d.call(ctx, w, text)
	}
	switch {
	case d.takenBack():
		d.withdraw()
	case err != nil:
		return err
	case !res.OK && refused(res.Error.Code):
		d.decide("", false)
	case !res.OK:
		return errors.New(res.Content)
	case len(res.Changes) == 0:
		d.decide(text, true)
	case res.Changes[0].State != "pending":
		d.readSaved(w)
	default:
		d.a.ide.work.Go(d.follow)
	}
	return nil
}

// call makes the call, which makes nothing that was not reviewed for who may be no person.
func (d *diff) call(ctx context.Context, w Workspace, text string) (*dispatch.Result, error) {
	t := d.tool(w.Disk, text)
	if d.a.held {
		return w.Dispatch.CallUnsure(ctx, t, d.session)
	}
	return w.Dispatch.CallOwn(ctx, t, d.session, "")
}

var errNoFolder = errors.New("no folder is open in the editor")

// refused reports whether a failure is the policy's or the user's no.
func refused(code tools.Code) bool {
	switch code {
	case tools.Denied, tools.NotApproved, tools.ProtectedPath, tools.SensitivePath, tools.Disabled:
		return true
	}
	return false
}

// tool makes the edit, in a call as those of all agents: the review and the record of
// calls know it by this name.
func (d *diff) tool(disk workspace.View, text string) *tools.Tool {
	return tools.NewReadEdit(tools.Def{
		Name: "open_diff", Title: "Edit by " + d.a.says, Description: "Takes over an edit that an agent shows in the editor.", Example: "{}",
		Category: "files", Output: tools.NoOutput{},
	}, func(_ context.Context, c *tools.Call, _ struct{}) (tools.Result, []workspace.Change, error) {
		change, err := d.change(c.Files, disk, text)
		if err != nil {
			return tools.Result{}, nil, err
		}
		return tools.Result{}, []workspace.Change{change}, nil
	})
}

// change is what the agent changes. It knows the file as it is on the disk; what is
// unsaved or pending there stays.
func (d *diff) change(files workspace.Files, disk workspace.View, text string) (workspace.Change, error) {
	seen, err := read(files, d.name)
	if err != nil {
		return workspace.Change{}, err
	}
	old, err := read(disk, d.name)
	if err != nil {
		return workspace.Change{}, err
	}
	if d.before, err = workspace.DecodeText(old); err != nil {
		return workspace.Change{}, err
	}
	if d.before.Encoding == workspace.Bytes {
		return workspace.Change{}, tools.Errorf(tools.BinaryFile, "%s is neither UTF-8 nor UTF-16, so the text that the agent shows can't be put back into it", d.name)
	}
	if d.before.EOL == workspace.CRLF && !d.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	after, err := d.before.Encode(text)
	if err != nil {
		return workspace.Change{}, err
	}
	merged, ok := compare.Merge(string(old), string(seen), string(after))
	if !ok {
		return workspace.Change{}, tools.Errorf(tools.Conflict, "%s has unsaved or pending changes in the same lines; save or decide on them first, and let the agent read the file again", d.name)
	}
	d.after = []byte(merged)
	return workspace.Change{Path: d.name, Before: seen, After: d.after}, nil
}

// read is a file's bytes, nil if there is none.
func read(files workspace.Files, name string) ([]byte, error) {
	data, err := files.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

// follow waits until somebody has decided on all of the edit.
func (d *diff) follow() {
	for {
		next := d.a.ide.nextDecision()
		w := d.a.ide.o.Workspace()
		if w.Queue == nil {
			d.decide("", false) // the folder is gone, and its queue
			return
		}
		waits, accepted, err := w.Queue.Fate(d.a.ctx, d.session, d.name, d.since)
		switch {
		case err != nil || waits:
		case accepted || d.isThere(w):
			d.readSaved(w)
			return
		default:
			d.decide("", false)
			return
		}
		select {
		case <-next:
		case <-d.done:
			return
		case <-d.a.ctx.Done():
			return
		}
	}
}

// isThere reports whether the file is as the agent wants it, whoever made it so.
func (d *diff) isThere(w Workspace) bool {
	now, err := read(w.Files, d.name)
	return err == nil && now != nil && bytes.Equal(now, d.after)
}

// readSaved decides that the file as it is now is what the agent gets.
func (d *diff) readSaved(w Workspace) {
	data, err := read(w.Files, d.name)
	if err == nil && data == nil {
		err = fs.ErrNotExist
	}
	var text workspace.Text
	if err == nil {
		text, err = workspace.DecodeText(data)
	}
	if err != nil {
		d.a.ide.o.Log.Warn("what was accepted can't be read", "file", d.name, "error", err)
		d.decide("", false)
		return
	}
	body := text.Body
	if !d.crlf {
		body = strings.ReplaceAll(body, "\r\n", "\n")
	}
	d.decide(body, true)
}

// decide is the end of a diff.
func (d *diff) decide(text string, saved bool) {
	d.once.Do(func() {
		d.text, d.saved = text, saved
		close(d.done)
	})
	d.a.mu.Lock()
	defer d.a.mu.Unlock()
	if d.a.diffs[d.key] == d {
		delete(d.a.diffs, d.key)
	}
}

// wait is the decision: the text of the file, or that nothing was saved.
func (d *diff) wait(ctx context.Context) (text string, saved bool) {
	select {
	case <-d.done:
		return d.text, d.saved
	case <-ctx.Done():
		return "", false
	case <-d.a.ctx.Done():
		return "", false
	}
}

// takeBack withdraws the edit, and reports whether it was undecided.
func (d *diff) takeBack() bool {
	did := false
	d.once.Do(func() {
		did, d.back = true, true
		close(d.done)
	})
	if did {
		d.withdraw()
	}
	return did
}

// withdraw takes what is pending of the edit out of the queue.
func (d *diff) withdraw() {
	w := d.a.ide.o.Workspace()
	if w.Queue == nil {
		return
	}
	if err := w.Queue.Withdraw(context.Background(), d.session, d.name); err != nil {
		d.a.ide.o.Say("An edit of " + d.a.says + " for " + d.name + " that it does not want any more is still pending: " + err.Error() + ". Reject it.")
	}
}

// takenBack reports whether the agent took it back.
func (d *diff) takenBack() bool {
	select {
	case <-d.done:
		return d.back
	default:
		return false
	}
}

// withdraw takes back what the agent calls so.
func (a *agent) withdraw(key string) bool {
	a.mu.Lock()
	d := a.diffs[key]
	delete(a.diffs, key)
	a.mu.Unlock()
	return d != nil && d.takeBack()
}

// withdrawAll takes back all that is undecided, and counts it.
func (a *agent) withdrawAll() (n int) {
	a.mu.Lock()
	diffs := a.diffs
	a.diffs = map[string]*diff{}
	a.mu.Unlock()
	for _, d := range diffs {
		if d.takeBack() {
			n++
		}
	}
	return n
}

// proposed is the text of a file with what is undecided of the agent's edit; nil if
// there is no such edit.
func (a *agent) proposed(key string) *string {
	a.mu.Lock()
	d := a.diffs[key]
	a.mu.Unlock()
	w := a.ide.o.Workspace()
	if d == nil || w.Queue == nil {
		return nil
	}
	data, err := w.Queue.Text(d.name, pendingedits.Proposed)
	if err != nil {
		return nil
	}
	text, err := workspace.DecodeText([]byte(data))
	if err != nil {
		return nil
	}
	if !d.crlf {
		text.Body = strings.ReplaceAll(text.Body, "\r\n", "\n")
	}
	return &text.Body
}
