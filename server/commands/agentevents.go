package commands

import (
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

// agentEvent is an event of a run as a client is told it.
type agentEvent struct {
	Type    string `json:"type"`
	Session string `json:"session"`
	conversation.Event
}

// TellAgent tells the client an event of a run. A client that takes no events is
// asked what an agent asks.
func TellAgent(d *Deps, e conversation.Event) {
	followTranscript(d, e)
	if d.Client.Can.Sidecar.Events {
		session := ""
		if r, err := runIn(d, e.Run); err == nil {
			session = r.Info().Session
		}
		d.Client.Notify(d.People.Base, "sidecar/event", agentEvent{"agent", session, e})
		return
	}
	if e.Kind == conversation.Asked {
		go askForAgent(d, e)
	}
}

// AskAgain asks, of a client that takes no events, what an earlier client has not
// answered.
func AskAgain(d *Deps) {
	m := d.opened() // whose agents don't work is asked when they are looked at
	if m == nil || d.Client.Can.Sidecar.Events {
		return // else it shows what is open when it looks at the run
	}
	for _, i := range m.Runs(false) {
		r, err := m.Get(i.Run)
		if err != nil {
			continue
		}
		for _, e := range r.Open() {
			go askForAgent(d, e)
		}
	}
}

// askForAgent shows an agent's question as a message, if it has answers to choose.
func askForAgent(d *Deps, e conversation.Event) {
	if len(e.Options) == 0 || e.Irrecoverable { // a click is not enough for what can't be undone
		return
	}
	var labels []string
	for _, o := range e.Options {
		labels = append(labels, client.Visible(o.Label))
	}
	if path := documentOf(d, e); path != "" {
		if _, err := d.Client.ShowFile(d.People.Base, path, nil); err != nil {
			d.Client.Log.Warn("the document of a question is not shown", "error", err)
		}
	}
	answer, err := d.People.Choose(d.People.Base, client.Visible(e.Text), labels)
	if err != nil {
		return
	}
	for _, o := range e.Options {
		if r, err := runIn(d, e.Run); err == nil && client.Visible(o.Label) == answer {
			_ = answerRun(d, r, e.Question, o.ID) // somebody else may have answered
			return
		}
	}
}
