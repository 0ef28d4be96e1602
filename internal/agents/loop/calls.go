package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// Bounds of what a model may ask for at once.
const (
	maxCalls = 64      // of an answer
	maxArgs  = 1 << 20 // bytes of the arguments of a call
)

// doCalls makes calls of an answer, those that only read side by side, and keeps one
// result for each of them. It returns how often the same were made in a row.
func (a *Agent) doCalls(ctx context.Context, answer *Item, places []int) (times int, err error) {
	for _, place := range places {
		a.emit(conversation.Event{Kind: conversation.CallProposed, Call: a.shown(answer, place)})
	}
	for n := 0; n < len(places); {
		together := a.together(answer, places[n:])
		if err := a.batch(ctx, answer, places[n:n+together], n); err != nil {
			return 0, err
		}
		if ending(ctx) {
			return 0, ctx.Err()
		}
		if ctx.Err() != nil {
			if err := a.notRun(answer, "Not run: the user stopped you before it."); err != nil {
				return 0, err
			}
			return 0, ctx.Err()
		}
		n += together
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var made []repeated
	for _, place := range places {
		call := answer.Answer.Blocks[place]
		made = append(made, repeated{call.Name, call.Args, a.transcript.results[callKey(answer.N, place)].Text})
	}
	return a.repeats.add(made), nil
}

// together is how many of the calls run side by side now.
func (a *Agent) together(answer *Item, places []int) int {
	n := 0
	for n < len(places) && a.tools[answer.Answer.Blocks[places[n]].Name].Beside {
		n++
	}
	return max(n, 1)
}

// batch runs calls side by side, and keeps each result when it comes: what one call has
// changed is known, whatever happens to the others. done is how many of the answer were
// run before.
func (a *Agent) batch(ctx context.Context, answer *Item, places []int, done int) error {
	var items []Item
	var begun []string
	not := make([]string, len(places)) // why it is not run
	for k, place := range places {
		key := callKey(answer.N, place)
		if not[k] = refused(answer.Answer, place, done+k, a.callsLeft); not[k] == "" {
			begun = append(begun, key)
		} else {
			items = append(items, Item{Kind: Resulted, Result: &Result{Call: key, Failed: true, Text: not[k]}})
		}
	}
	if len(begun) > 0 {
		items = append(items, Item{Kind: Started, Calls: begun})
	}
	err := a.keep(items...)
	errs := make([]error, len(places))
	var all sync.WaitGroup
	for k, place := range places {
		switch {
		case err != nil: // what is not in the journal is not done
			a.finished(answer, place, Outcome{Failed: true}, "Not run: "+err.Error())
		case not[k] != "":
			a.finished(answer, place, Outcome{Failed: true}, not[k])
		default:
			all.Go(func() {
				if out, ok := a.call(ctx, answer, place); ok {
					errs[k] = a.keep(Item{Kind: Resulted, Result: out.result(callKey(answer.N, place))})
					a.finished(answer, place, out, "")
				}
			})
		}
	}
	all.Wait()
	return cmp.Or(err, cmp.Or(errs...))
}

// refused says why a call is not even tried; "" if it is.
func refused(a *Answer, place, n int, left int64) string {
	args, size := a.Blocks[place].Args, a.Long[place]
	switch {
	case int64(n) >= left:
		return "Not run: the budget has no more calls. Say what is done, and what is left to do."
	case n >= maxCalls:
		return fmt.Sprintf("Not run: an answer may have %d calls; make the others later.", maxCalls)
	case size > 0:
		return fmt.Sprintf("Not run: the arguments have %d bytes and may have %d. Send smaller parts.", size, maxArgs)
	case !a.Blocks[place].Readable():
		end := args[max(0, len(args)-40):]
		for len(end) > 0 && !utf8.RuneStart(end[0]) {
			end = end[1:]
		}
		return fmt.Sprintf("Not run: the arguments are no JSON object. %d bytes of them came, which end with %q. Send them again, whole, in smaller parts if they are long.", len(args), end)
	}
	return ""
}

// call makes one call. ok is false for one that the end of the process has cut off: what
// is to be said of it is known when the conversation goes on.
func (a *Agent) call(ctx context.Context, answer *Item, place int) (out Outcome, ok bool) {
	b, key := answer.Answer.Blocks[place], callKey(answer.N, place)
	shown := a.shown(answer, place)
	a.emit(conversation.Event{Kind: conversation.CallStarted, Call: shown})
	work, stop := context.WithCancelCause(ctx)
	a.mu.Lock()
	a.running[key] = &running{shown.Title, stop}
	a.mu.Unlock()
	defer func() {
		stop(nil)
		a.mu.Lock()
		delete(a.running, key)
		a.mu.Unlock()
		if p := recover(); p != nil {
			a.o.Log.Error("a call crashed", "tool", b.Name, "panic", p, "stack", string(debug.Stack()))
			out, ok = Outcome{Failed: true, Text: fmt.Sprintf("%s crashed (%v). Try another way.", b.Name, p)}, true
		}
	}()
	out, err := a.host.Call(work, Call{ID: a.callID(key), Name: b.Name, Args: json.RawMessage(b.Args), Emit: func(text string) {
		a.emit(conversation.Event{Kind: conversation.CallOutput, Call: &conversation.Call{ID: key}, Delta: text})
	}})
	switch {
	case err != nil && ending(ctx):
		return out, false
	case err != nil && ctx.Err() != nil:
		out = Outcome{Failed: true, Text: "The user stopped it while it ran. Look at what it did before you call it again."}
		if a.tools[b.Name].Reads {
			out.Text = "The user stopped it before the result came."
		}
	case err != nil && errors.Is(context.Cause(work), errStopped):
		out = Outcome{Failed: true, Text: "The user stopped this call while it ran, and wants you to go on without it."}
	case err != nil:
		out = Outcome{Failed: true, Text: "Not run: " + err.Error()}
	}
	if out.Text == "" {
		out.Text = "(no output)"
	}
	return out, true
}

// ending reports whether ctx has ended because the process does.
func ending(ctx context.Context) bool { return errors.Is(context.Cause(ctx), conversation.ErrClosed) }

// running is a call that runs.
type running struct {
	title string
	stop  context.CancelCauseFunc
}

var errStopped = errors.New("stopped by a person")

// Running finds a call that runs, to end it alone.
func (a *Agent) Running(call string) (title string, end func(), ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.running[call]
	if r == nil {
		return "", nil, false
	}
	return r.title, func() { r.stop(errStopped) }, true
}

// callID is the id of a call at the gate, which is unique among all runs.
func (a *Agent) callID(key string) string { return a.run.ID() + "." + key }

// Key is the id in the run of a call at the gate.
func (a *Agent) Key(call string) string { return call[min(len(call), len(a.run.ID())+1):] }

// finished tells how a call ended.
func (a *Agent) finished(answer *Item, place int, out Outcome, why string) {
	c := a.shown(answer, place)
	c.Outcome, c.Locations, c.URI, c.OutputBytes = "completed", out.Files, out.URI, len(out.Text)
	if out.Failed {
		c.Outcome = "failed"
	}
	text := out.Text
	if why != "" {
		text = why
	}
	if text != "" {
		a.emit(conversation.Event{Kind: conversation.CallOutput, Call: &conversation.Call{ID: c.ID}, Text: text})
	}
	a.emit(conversation.Event{Kind: conversation.CallFinished, Call: c})
}

// shown is a call as people see it.
func (a *Agent) shown(answer *Item, place int) *conversation.Call {
	b := answer.Answer.Blocks[place]
	c := &conversation.Call{ID: callKey(answer.N, place), Kind: "other", Tool: b.Name, Title: b.Name}
	of := about(b.Args)
	if t, ok := a.tools[b.Name]; ok {
		c.Kind, c.Title = cmp.Or(t.Kind, c.Kind), cmp.Or(t.Title, c.Title)
	}
	switch {
	case of != "" && c.Kind == "execute":
		c.Title = of // the command itself
	case of != "":
		c.Title += ": " + of
	}
	return c
}

// about is what a call is about, by the names that arguments have in most tools.
func about(args string) string {
	var in map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &in) != nil {
		return ""
	}
	for _, name := range []string{"path", "command", "pattern", "query", "url", "task", "question", "message", "name"} {
		var text string
		if json.Unmarshal(in[name], &text) == nil && text != "" {
			return conversation.TitleOf(text)
		}
	}
	return ""
}

// notRun answers the calls that have no result yet.
func (a *Agent) notRun(answer *Item, why string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []*Item
	for _, place := range answer.Answer.calls() {
		if key := callKey(answer.N, place); a.transcript.results[key] == nil {
			list = append(list, &Item{Kind: Resulted, Result: &Result{Call: key, Failed: true, Text: why}})
		}
	}
	return a.kept(list)
}

// resume makes the calls whose questions people have answered after a restart.
func (a *Agent) resume(ctx context.Context) error {
	a.mu.Lock()
	answer, places := a.transcript.open()
	var given []int
	for _, place := range places {
		if _, ok := a.given[callKey(answer.N, place)]; ok {
			given = append(given, place)
		}
	}
	a.mu.Unlock()
	if len(given) == 0 {
		return nil
	}
	if _, err := a.learn(); err != nil {
		return err
	}
	a.callsLeft = int64(len(given)) // the budget had room for them when they were asked about
	_, err := a.doCalls(ctx, answer, given)
	return err
}

// AskPeople asks people in the run, and remembers that the call waits for them: the
// answer may come after a restart.
func (a *Agent) AskPeople(ctx context.Context, call string, q conversation.Question, allows func(answer string) bool) (answer string, err error) {
	key := a.Key(call)
	a.mu.Lock()
	answer, ok := a.given[key]
	delete(a.given, key)
	if !ok {
		err = a.kept([]*Item{{Kind: Asking, Calls: []string{key}}})
	}
	a.mu.Unlock()
	if err != nil {
		return "", err
	}
	if !ok {
		over := a.Waits()
		if q.Call == nil {
			q.Call = &conversation.Call{}
		}
		q.Call.ID = key
		answer, _, err = a.run.Ask(ctx, q)
		over()
		if err != nil {
			return "", err
		}
	}
	if allows(answer) {
		return answer, a.keep(Item{Kind: Allowed, Calls: []string{key}})
	}
	return answer, nil
}
