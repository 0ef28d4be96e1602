package dispatch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// applyWritten applies the changes that programs wrote in the world of the session. The
// programs ran before the files can be asked about, so each file stands for
// itself: one that can't be applied is left out and reported, the others are applied, even
// if the call fails or is cancelled.
func (c *call) applyWritten(ctx context.Context, changes []workspace.Change) {
	if len(changes) == 0 {
		return
	}
	decision, line, effects, to := c.res.Decision, c.line, c.bound.Effects, c.to
	c.line, c.bound.Effects, c.follows, c.written = nil, tools.Effects{}, true, true
	_, c.to, _ = c.d.views(c.session, c.mode, workspace.Author{Session: c.session.ID, Tool: c.tool.Wrote, Command: c.d.shownCommand(cmp.Or(c.req.line, effects.Command))}, c.set)
	defer func() {
		c.line, c.bound.Effects, c.follows, c.written, c.to = line, effects, false, false, to
		c.res.Decision = decision
	}()
	turn := c.d.edits.enter()
	defer c.d.edits.leave(turn)
	through := context.WithoutCancel(ctx)
	if _, err := c.d.edits.claim(through, turn, touched(changes)); err != nil {
		return
	}
	w := &written{c: c}
	free, asked := w.sort(changes)
	w.make(through, free)
	if len(asked) > 0 {
		w.ask(ctx, asked)
	}
	w.note()
}

// Unread calls a tool for what it takes over of programs of a session, which
// nobody has asked for. What a model must know of it is a note for the session's
// next call.
func (d *Dispatcher) Unread(session, tool string, arguments map[string]string) {
	args, err := json.Marshal(arguments)
	if err == nil {
		_, err = d.Call(context.Background(), Request{Name: tool, Session: session, Arguments: args, unread: true})
	}
	if err != nil {
		d.o.Log.Warn("what a program changed is not taken over", "session", session, "error", err)
	}
}

// CallOver is Call by a person, over other files than the session's own. What
// programs change is dropped with the world in which they do it. The person has
// decided; what the settings or the mode deny is denied all the same.
func (d *Dispatcher) CallOver(ctx context.Context, r Request, files workspace.Files) (*Result, error) {
	r.over = files
	return d.Call(ctx, r)
}

// CallFresh is CallOver with programs that see no output which sessions hold. Their own is
// held, and the rest of what they change is dropped.
func (d *Dispatcher) CallFresh(ctx context.Context, r Request, files workspace.Files) (*Result, error) {
	r.fresh = true
	return d.CallOver(ctx, r, files)
}

// CallOwn calls a tool that is in no list, for a person who runs a program: line is
// what was typed. The tool changes nothing by itself.
func (d *Dispatcher) CallOwn(ctx context.Context, t *tools.Tool, session, line string) (*Result, error) {
	if t.Access != tools.Read {
		return nil, fmt.Errorf("%s is not for reading", t.Name)
	}
	return d.Call(ctx, Request{Name: t.Name, Session: session, Whole: true, tool: t, line: line})
}

// CallUnsure is CallOwn for who need not be the person: what changes waits for review where
// the session's mode would make it, or would ask about it.
func (d *Dispatcher) CallUnsure(ctx context.Context, t *tools.Tool, session string) (*Result, error) {
	if t.Access != tools.Read {
		return nil, fmt.Errorf("%s is not for reading", t.Name)
	}
	return d.Call(ctx, Request{Name: t.Name, Session: session, Whole: true, tool: t, unsure: true})
}

// heldMode is the mode in which changes wait for review, and nobody is asked about them.
const heldMode = "review"

// HoldOwn is CallOwn for what no session in particular has done: what changes waits for
// review, whatever the session's mode does with it. names are those of the files.
func (d *Dispatcher) HoldOwn(ctx context.Context, t *tools.Tool, session, line string) (names []string, err error) {
	if t.Access != tools.Read {
		return nil, fmt.Errorf("%s is not for reading", t.Name)
	}
	res, err := d.Call(ctx, Request{Name: t.Name, Session: session, Whole: true, Mode: heldMode, tool: t, line: line})
	if err != nil {
		return nil, err
	}
	if !res.OK {
		return nil, errors.New(res.Content)
	}
	for _, ch := range res.Changes {
		names = append(names, ch.Path)
	}
	if len(names) == 0 && len(res.Notes) > 0 {
		return nil, errors.New(strings.Join(res.Notes, " "))
	}
	return names, nil
}

// HoldGivenUp is CallOwn for what a command of a session had changed whose call was
// cancelled. It may be half done, so it waits for review also where edits are applied; a
// mode that denies edits takes none of it. The session's next result says so.
func (d *Dispatcher) HoldGivenUp(t *tools.Tool, session, line string) {
	s, err := d.o.Sessions.Get(session)
	if err != nil {
		return // it has ended, and its world keeps what nobody took
	}
	r := Request{Name: t.Name, Session: session, Whole: true, tool: t, line: line}
	if m, ok := d.modeOf(s, "", d.o.Settings()); ok && !m.ToStore && m.Behaviour.Edits != policy.Deny {
		r.Mode = heldMode
	}
	res, err := d.Call(context.Background(), r)
	if err != nil {
		d.o.Log.Warn("what a cancelled command changed is not taken over", "session", session, "error", err)
		return
	}
	var names []string
	for _, ch := range res.Changes {
		names = append(names, ch.Path)
	}
	text := strings.TrimSpace(res.Content)
	if len(names) == 0 && text == "" {
		return
	}
	note := fmt.Sprintf("The command %q was cancelled.", d.shownCommand(line))
	if len(names) > 0 {
		more := ""
		if n := len(names); n > maxWritten {
			names, more = names[:maxWritten], fmt.Sprintf(" and %d more", n-maxWritten)
		}
		note += " What it had changed until then waits for review: " + strings.Join(names, ", ") + more + "."
	}
	note = strings.TrimSpace(note + " " + text)
	d.o.Log.Info("cancelled command", "session", session, "said", note)
	s.Tell(note)
}

// written is what becomes of what programs wrote.
type written struct {
	c    *call
	made []workspace.Change
	left leftOut
}

// leftOut are the names of files that are not taken over, by the reason.
type leftOut struct {
	names map[string][]string
	whys  []string // in order
}

func (l *leftOut) add(why string, ch workspace.Change) {
	if l.names == nil {
		l.names = map[string][]string{}
	}
	if l.names[why] == nil {
		l.whys = append(l.whys, why)
	}
	l.names[why] = append(l.names[why], ch.Path)
}

// shownCommand is a command line as the review shows it, in a line.
func (d *Dispatcher) shownCommand(line string) string {
	const most = 200 // characters
	line = strings.Join(strings.Fields(d.o.Redact.Text(line)), " ")
	if runes := []rune(line); len(runes) > most {
		line = string(runes[:most]) + "…"
	}
	return line
}

// Why something is left out.
const (
	changedMeanwhile = "the same lines were changed meanwhile; run it again"
	nobodyWrites     = "nobody may write there but the user"
)

// sort finds out which changes are made without a question, as they fit the
// files as they are now, and about which a person is asked.
func (w *written) sort(changes []workspace.Change) (free, asked []workspace.Change) {
	for _, ch := range changes {
		ch, ok, why := fitted(w.c.to, w.c.mode.ToStore, ch)
		if why != "" {
			w.left.add(why, ch)
		}
		if !ok {
			continue
		}
		one := []workspace.Change{ch}
		switch w.c.decide(one).Outcome {
		case policy.Allow:
			free = append(free, ch)
		case policy.Deny:
			if _, never := protection(w.c.to, one, nil); never != "" {
				w.left.add(nobodyWrites, ch)
			} else {
				w.left.add("the mode or the settings deny it", ch)
			}
		default:
			asked = append(asked, ch)
		}
	}
	return free, asked
}

// fitted makes of a change one of the file as it is now. why says that it can't be made; both
// ok and why are empty when none is needed. Where edits wait for review (held), what can't be
// merged waits as a conflict.
func fitted(files workspace.View, held bool, ch workspace.Change) (_ workspace.Change, ok bool, why string) {
	if ch.Link() {
		return ch, true, ""
	}
	now, err := files.ReadFile(cmp.Or(ch.From, ch.Path))
	if workspace.NoFile(err) {
		now, err = nil, nil
	}
	if err != nil {
		return ch, false, err.Error()
	}
	switch {
	case same(now, ch.Before):
		return ch, true, ""
	case ch.From == "" && same(now, ch.After):
		return ch, false, "" // somebody made it so already
	case ch.From == "" && now != nil && ch.Before != nil && ch.After != nil && utf8.Valid(now) && utf8.Valid(ch.Before) && utf8.Valid(ch.After):
		if merged, ok := diff.Merge(string(ch.Before), string(now), string(ch.After)); ok {
			ch.Before, ch.After = now, []byte(merged)
			return ch, !bytes.Equal(now, ch.After), ""
		}
	}
	if !held || ch.From != "" {
		return ch, false, changedMeanwhile
	}
	ch.Outdated = true
	return ch, true, ""
}

func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// make makes changes: together, and when that fails one by one.
func (w *written) make(ctx context.Context, changes []workspace.Change) {
	if len(changes) == 0 {
		return
	}
	if w.c.change(ctx, changes...) == nil {
		w.made = append(w.made, changes...)
		return
	}
	for _, ch := range changes {
		if err := w.c.change(ctx, ch); err != nil {
			w.left.add(reasonOf(err), ch)
		} else {
			w.made = append(w.made, ch)
		}
	}
}

func reasonOf(err error) string {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	if errors.Is(err, workspace.ErrConflict) {
		return changedMeanwhile
	}
	return err.Error()
}

// ask asks a person about changes, which are made or left out together.
func (w *written) ask(ctx context.Context, changes []workspace.Change) {
	err := w.c.settle(ctx, w.c.decide(changes), changes)
	if err == nil {
		w.make(context.WithoutCancel(ctx), changes)
		return
	}
	for _, ch := range changes {
		w.left.add("other programs run or obey it, or it may hold secrets, and nobody allowed it", ch)
	}
}

// maxWritten bounds the files that a note names.
const maxWritten = 20

// note says in the result what was changed, and what was not.
func (w *written) note() {
	c := w.c
	state := "applied"
	if c.mode.ToStore {
		state = "pending"
	}
	slices.SortFunc(w.made, func(a, b workspace.Change) int { return strings.Compare(a.Path, b.Path) })
	var list []string
	for _, ch := range w.made {
		ref := ChangeRef{Path: ch.Path, URI: workspace.FileURI(c.to.Abs(ch.Path)), Kind: ch.Kind(), State: state}
		ref.Added, ref.Removed = counts(ch)
		c.res.Changes = append(c.res.Changes, ref)
		list = append(list, said(ref, ch)+inConflict(ch))
	}
	c.changes = append(c.changes, w.made...)
	if n := len(list); n > 0 && c.req.tool == nil { // a person has the Changes
		more := ""
		if n > maxWritten {
			list, more = list[:maxWritten], fmt.Sprintf(" and %d more", n-maxWritten)
		}
		how := "Changed"
		if c.mode.ToStore {
			how = "Changed, and held for review"
		}
		c.notes.add(how + ": " + strings.Join(list, ", ") + more + ".")
	}
	for _, why := range w.left.whys {
		names := w.left.names[why]
		more := ""
		if n := len(names); n > maxWritten {
			names, more = names[:maxWritten], fmt.Sprintf(" and %d more", n-maxWritten)
		}
		c.notes.add("Not taken over: " + strings.Join(names, ", ") + more + ": " + why + ".")
	}
}

// said is a change in a few words.
func said(ref ChangeRef, ch workspace.Change) string {
	switch {
	case ref.Kind == "delete":
		return ref.Path + " deleted"
	case ref.Kind == "rename":
		return ch.From + " renamed to " + ref.Path
	case ref.Added+ref.Removed == 0 && ref.Kind == "modify":
		return ref.Path
	case ref.Kind == "create":
		return fmt.Sprintf("%s new +%d", ref.Path, ref.Added)
	}
	return fmt.Sprintf("%s +%d −%d", ref.Path, ref.Added, ref.Removed)
}

// inConflict is what is said of a change besides.
func inConflict(ch workspace.Change) string {
	if ch.Outdated {
		return " (in conflict with what was changed meanwhile)"
	}
	return ""
}

// counts are how many lines a change adds and removes; none of what is not text.
func counts(ch workspace.Change) (added, removed int) {
	if ch.Link() || !utf8.Valid(ch.Before) || !utf8.Valid(ch.After) {
		return 0, 0
	}
	for _, h := range diff.Hunks(string(ch.Before), string(ch.After)) {
		added, removed = added+len(h.New), removed+len(h.Old)
	}
	return added, removed
}

// lastThings are done when a call is over. A tool may still run then: what it adds is
// done at once.
type lastThings struct {
	mu   sync.Mutex
	over bool
	all  []func()
}

func (l *lastThings) add(f func()) {
	l.mu.Lock()
	over := l.over
	if !over {
		l.all = append(l.all, f)
	}
	l.mu.Unlock()
	if over {
		f()
	}
}

func (l *lastThings) do() {
	l.mu.Lock()
	l.over = true
	all := l.all
	l.mu.Unlock()
	for _, f := range all {
		f()
	}
}
