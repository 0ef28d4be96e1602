package loop

import (
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// hear takes in what people say. An answer to a question of before a restart goes to
// the call that has asked it.
func (a *Agent) hear(items []conversation.Item) error {
	said, given := a.answers(items)
	if err := a.mend(given); err != nil {
		return err
	}
	if err := a.catchUp(items); err != nil {
		return err
	}
	if err := a.news(); err != nil {
		return err
	}
	var all []Item
	for _, i := range said {
		all = append(all, Item{Kind: Said, Said: a.words(i)})
	}
	for _, i := range items {
		if _, is := given[i.Call]; is && i.Call != "" {
			all = append(all, Item{Kind: Said, Said: &Words{By: byServer, ID: i.ID}}) // the call says it
		}
	}
	if len(said) > 0 {
		a.mu.Lock()
		a.repeats.forget()
		a.mu.Unlock()
	} else if !a.heardMore() && len(given) == 0 && a.spokeLast() {
		return a.tell("Go on where you stopped.")
	}
	return a.keep(all...)
}

// catchUp takes in prompts that the run has told and that are not in the journal, because
// an earlier process ended between the two.
func (a *Agent) catchUp(now []conversation.Item) error {
	a.mu.Lock()
	done := a.caughtUp
	a.caughtUp = true
	heard := map[string]bool{}
	for id := range a.talk.heard {
		heard[id] = true
	}
	a.mu.Unlock()
	if done {
		return nil
	}
	for _, i := range now {
		heard[i.ID] = true
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
		if e.Kind == conversation.Text && e.Role == "user" && !heard[e.Message] {
			lost = append(lost, Item{Kind: Said, Said: a.words(conversation.Item{ID: e.Message, Text: e.Text, Attachments: queued[e.Message].Attachments})})
		}
	}
	return a.keep(lost...)
}

// spokeLast reports whether the model has said the last thing, without a call.
func (a *Agent) spokeLast() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.talk.messages()
	return len(all) == 0 || all[len(all)-1].Role == model.Assistant
}

// answers are the items that are for calls, and the others.
func (a *Agent) answers(items []conversation.Item) (said []conversation.Item, given map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, places := a.talk.open()
	given = map[string]string{}
	for _, i := range items {
		open := false
		for _, place := range places {
			open = open || i.Call != "" && callKey(answer.N, place) == i.Call && !a.talk.allowed[i.Call]
		}
		if !open {
			said = append(said, i)
			continue
		}
		given[i.Call], a.given[i.Call] = i.Answer, i.Answer
	}
	return said, given
}

// mend gives calls a result that an earlier process has left without one, but for those
// that are made now.
func (a *Agent) mend(given map[string]string) error {
	a.mu.Lock()
	_, places := a.talk.open()
	a.mu.Unlock()
	if len(places) > 0 && a.tools == nil { // mu is free: to list its tools, the host may ask the agent something
		_, _ = a.learn() // what is not known changes something
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, places := a.talk.open()
	var list []*Item
	for _, place := range places {
		key, name := callKey(answer.N, place), answer.Answer.Blocks[place].Name
		if _, now := given[key]; now {
			continue
		}
		r := Result{Call: key, Failed: true}
		switch {
		case !a.talk.began[key]:
			r.Text = "Not run: the agent was stopped before it."
		case a.talk.asking[key] && !a.talk.allowed[key]:
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

// Note keeps what the model is to be told at its next step.
func (a *Agent) Note(text string) error {
	return a.keep(Item{Kind: Noted, Said: &Words{By: byServer, Text: text}})
}

// news tells the model what happened besides what it did.
func (a *Agent) news() error {
	more := a.host.News()
	a.mu.Lock()
	defer a.mu.Unlock()
	list := slices.Concat(a.talk.notes, more)
	if len(list) == 0 {
		return nil
	}
	text := "Since your last step:"
	for _, n := range list {
		text += "\n- " + n
	}
	return a.kept([]*Item{{Kind: Said, Said: &Words{By: byServer, Text: text, News: true}}})
}

// tell tells the model something that no person says.
func (a *Agent) tell(text string) error {
	return a.keep(Item{Kind: Said, Said: &Words{By: byServer, Text: text}})
}

// Told reports whether what the model reads of the conversation has a text that sidecar-ls
// told it.
func (a *Agent) Told(text string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	begin := 0
	if s := a.talk.summary; s != nil {
		begin = s.Summary.Through
	}
	for k := len(a.talk.live) - 1; k >= 0 && a.talk.live[k].N > begin; k-- {
		if i := &a.talk.live[k]; i.Kind == Said && i.Said.By == byServer && strings.Contains(i.Said.Text, text) {
			return true
		}
	}
	return false
}
