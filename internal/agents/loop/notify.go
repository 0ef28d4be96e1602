package loop

import (
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// takePrompts takes in what people prompted. An answer to a question of before a restart goes to
// the call that has asked it.
func (a *Agent) takePrompts(items []conversation.Item) error {
	prompts, given := a.answers(items)
	if err := a.mend(given); err != nil {
		return err
	}
	if err := a.catchUp(items); err != nil {
		return err
	}
	if err := a.notify(); err != nil {
		return err
	}
	var all []Item
	for _, i := range prompts {
		all = append(all, Item{Kind: Prompted, Prompt: a.promptOf(i)})
	}
	for _, i := range items {
		if _, is := given[i.Call]; is && i.Call != "" {
			all = append(all, Item{Kind: Prompted, Prompt: &Prompt{By: byServer, ID: i.ID}}) // the call says it
		}
	}
	if len(prompts) > 0 {
		a.mu.Lock()
		a.repeats.forget()
		a.mu.Unlock()
	} else if !a.hasNewPrompts() && len(given) == 0 && a.answeredLast() {
		return a.nudge("Go on where you stopped.")
	}
	return a.keep(all...)
}

// catchUp takes in prompts that are events of the run and not in the journal, because
// an earlier process ended between the two.
func (a *Agent) catchUp(now []conversation.Item) error {
	a.mu.Lock()
	done := a.caughtUp
	a.caughtUp = true
	known := map[string]bool{}
	for id := range a.transcript.promptIDs {
		known[id] = true
	}
	a.mu.Unlock()
	if done {
		return nil
	}
	for _, i := range now {
		known[i.ID] = true
	}
	events, _, err := a.run.History(0, 0, 0)
	if err != nil {
		return err
	}
	var lost []Item
	queued := map[string]conversation.Item{} // with what came along, as far as the run has kept it
	for _, e := range events {
		for _, i := range e.Items {
			queued[i.ID] = i
		}
		if e.Kind == conversation.Text && e.Role == "user" && !known[e.Message] {
			lost = append(lost, Item{Kind: Prompted, Prompt: a.promptOf(conversation.Item{ID: e.Message, Text: e.Text, Attachments: queued[e.Message].Attachments})})
		}
	}
	return a.keep(lost...)
}

// answeredLast reports whether the last message is the model's, without a call.
func (a *Agent) answeredLast() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.transcript.messages()
	return len(all) == 0 || all[len(all)-1].Role == model.Assistant
}

// answers are the items that are for calls, and the others.
func (a *Agent) answers(items []conversation.Item) (prompts []conversation.Item, given map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, places := a.transcript.open()
	given = map[string]string{}
	for _, i := range items {
		open := false
		for _, place := range places {
			open = open || i.Call != "" && callKey(answer.N, place) == i.Call && !a.transcript.allowed[i.Call]
		}
		if !open {
			prompts = append(prompts, i)
			continue
		}
		given[i.Call], a.given[i.Call] = i.Answer, i.Answer
	}
	return prompts, given
}

// mend gives calls a result that an earlier process has left without one, but for those
// that are made now.
func (a *Agent) mend(given map[string]string) error {
	a.mu.Lock()
	_, places := a.transcript.open()
	a.mu.Unlock()
	if len(places) > 0 && a.tools == nil { // mu is free: to list its tools, the host may ask the agent something
		_, _ = a.learn() // what is not known changes something
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, places := a.transcript.open()
	var list []*Item
	for _, place := range places {
		key, name := callKey(answer.N, place), answer.Answer.Blocks[place].Name
		if _, now := given[key]; now {
			continue
		}
		r := Result{Call: key, Failed: true}
		switch {
		case !a.transcript.began[key]:
			r.Text = "Not run: the agent was stopped before it."
		case a.transcript.asking[key] && !a.transcript.allowed[key]:
			r.Text = "Not run: nobody had allowed it when the agent was stopped."
		case a.tools[name].Reads:
			r.Text = "The agent was stopped before the result came. It changes nothing: call it again if you need it."
		default:
			r.Text = "The agent was stopped while it ran. It is not known whether it took effect: look first, before you call it again."
		}
		list = append(list, &Item{Kind: Resulted, Result: &r})
	}
	return a.kept(list)
}

// Note keeps a note for the model's next step.
func (a *Agent) Note(text string) error {
	return a.keep(Item{Kind: Noted, Prompt: &Prompt{By: byServer, Text: text}})
}

// notify puts what others did since into the next request: the notes.
func (a *Agent) notify() error {
	more := a.host.Notes()
	a.mu.Lock()
	defer a.mu.Unlock()
	list := slices.Concat(a.transcript.notes, more)
	if len(list) == 0 {
		return nil
	}
	text := "Since your last step:"
	for _, n := range list {
		text += "\n- " + n
	}
	return a.kept([]*Item{{Kind: Prompted, Prompt: &Prompt{By: byServer, Text: text, Notes: true}}})
}

// nudge puts a message of the server's into the next request.
func (a *Agent) nudge(text string) error {
	return a.keep(Item{Kind: Prompted, Prompt: &Prompt{By: byServer, Text: text}})
}

// WasNotified reports whether a message of the server's that the model still reads has a
// text.
func (a *Agent) WasNotified(text string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	begin := 0
	if s := a.transcript.summary; s != nil {
		begin = s.Summary.Through
	}
	for k := len(a.transcript.live) - 1; k >= 0 && a.transcript.live[k].N > begin; k-- {
		if i := &a.transcript.live[k]; i.Kind == Prompted && i.Prompt.By == byServer && strings.Contains(i.Prompt.Text, text) {
			return true
		}
	}
	return false
}
