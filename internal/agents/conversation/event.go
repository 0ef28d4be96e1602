package conversation

import (
	"encoding/json"
	"time"
)

// Kinds of events.
const (
	RunStart     = "run.start"
	StepStart    = "step.start"
	Text         = "text"
	Thought      = "thought"
	CallProposed = "call.proposed"
	CallDecided  = "call.decided"
	CallStarted  = "call.started"
	CallOutput   = "call.output"
	CallFinished = "call.finished"
	Note         = "note"
	Steered      = "steer"
	Plan         = "plan"
	UsageNow     = "usage"
	StateNow     = "state"
	Compaction   = "compaction"
	Child        = "child"
	Asked        = "question"
	Answered     = "answered"
	QueueNow     = "queue"
	RunEnd       = "run.end"
)

// ImageShown is the reason of a note that stands for an image among the messages.
const ImageShown = "image"

// State of a run.
type State string

// States.
const (
	Idle    State = "idle"    // waits for a prompt
	Running State = "running" // the agent works
	Waiting State = "waiting" // a question is open
	Paused  State = "paused"  // prompts wait for Resume
	Ended   State = "ended"
)

// Reasons of run.end.
const (
	Done        = "done"
	Interrupted = "interrupted"
	Budget      = "budget"
	Loop        = "loop"
	Refused     = "refused"
	Failed      = "failed"
)

// Withdrawn is the reason of a note that says that what was shown of a message does not
// hold: it is told anew, or not at all.
const Withdrawn = "withdrawn"

// Resumed is the reason of the note behind what an agent has told of a conversation that
// it had before the run.
const Resumed = "resumed"

// Event is something that has happened in a run. Which members are set follows
// from Kind.
type Event struct {
	Run  string    `json:"run"`
	Seq  int64     `json:"seq"`
	Time time.Time `json:"time"`
	Kind string    `json:"kind"`

	// Of text and thought. A Delta is added to the message, a Text is the whole
	// of it: when it comes, its deltas are no longer kept.
	Message string `json:"message,omitempty"`
	Role    string `json:"role,omitempty"`
	Delta   string `json:"delta,omitempty"`
	Text    string `json:"text,omitempty"` // also what a note or a question says

	Call *Call `json:"call,omitempty"`

	State   State      `json:"state,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	RetryAt *time.Time `json:"retryAt,omitempty"`
	Attempt int        `json:"attempt,omitempty"`

	Question      string     `json:"question,omitempty"` // its id
	Options       []Option   `json:"options,omitempty"`
	Custom        bool       `json:"custom,omitempty"` // besides the options, any text is an answer
	ExpiresAt     *time.Time `json:"expiresAt,omitempty"`
	Irrecoverable bool       `json:"irrecoverable,omitempty"`
	Always        *Rule      `json:"always,omitempty"` // that a yes can become
	Answer        string     `json:"answer,omitempty"`
	By            string     `json:"by,omitempty"`

	Images []Image `json:"images,omitempty"` // of an output, and of a note that stands for a message

	Items  []Item `json:"items,omitempty"`
	Paused bool   `json:"paused,omitempty"`

	Step  int         `json:"step,omitempty"` // of step.start, from 1
	Plan  []PlanEntry `json:"plan,omitempty"`
	Usage *Usage      `json:"usage,omitempty"`
	Child string      `json:"child,omitempty"`

	Agent   string `json:"agent,omitempty"` // of run.start
	Title   string `json:"title,omitempty"`
	Session string `json:"session,omitempty"`
	Parent  string `json:"parent,omitempty"` // likewise; of a message or a call: the call of the sub-agent that it is a part of
	ForkOf  string `json:"forkOf,omitempty"`
	Ref     string `json:"ref,omitempty"`
	Shadow  string `json:"shadow,omitempty"` // of the session
	Once    bool   `json:"once,omitempty"`   // of run.start: it ends with its process
	Mode    string `json:"mode,omitempty"`   // of the session; also of a note: the new one

	AgentMode string `json:"agentMode,omitempty"` // of a note: how the agent works now, by its own names
	Model     string `json:"model,omitempty"`

	Hunks []string `json:"hunks,omitempty"` // of a note: pending changes that were made since the latest request

	Cut int             `json:"cut,omitempty"` // bytes that were left out
	Raw json.RawMessage `json:"raw,omitempty"` // what an agent sent and nothing here has a member for
}

// Call is a tool call, as far as it is known.
type Call struct {
	ID          string     `json:"call"`
	Kind        string     `json:"kind,omitempty"` // read, edit, execute, …
	Tool        string     `json:"tool,omitempty"` // its name, of our own agent's calls
	Title       string     `json:"title,omitempty"`
	Locations   []Location `json:"locations,omitempty"`
	Diff        []FileDiff `json:"diff,omitempty"`
	OutputBytes int        `json:"outputBytes,omitempty"`
	URI         string     `json:"uri,omitempty"`
	Outcome     string     `json:"outcome,omitempty"` // allow or deny when decided; completed or failed when finished
}

// Location is a place in a file; lines count from 1.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// FileDiff is a file before and after; Old is nil for a new file.
type FileDiff struct {
	Path string  `json:"path"`
	Old  *string `json:"old,omitempty"`
	New  string  `json:"new"`
}

// Option is an answer that a question offers.
type Option struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Kind  string `json:"kind,omitempty"`
}

// PlanEntry is a step of a plan.
type PlanEntry struct {
	Text     string `json:"text"`
	Status   string `json:"status,omitempty"`
	Priority string `json:"priority,omitempty"`
}

// Usage is how full the context is and what was spent.
type Usage struct {
	Used     int64   `json:"used,omitempty"`
	Size     int64   `json:"size,omitempty"`
	Cost     float64 `json:"cost,omitempty"`
	Currency string  `json:"currency,omitempty"`
}

// Item is a prompt, from when it is queued until it is heard.
type Item struct {
	ID          string       `json:"item"`
	Text        string       `json:"text"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Hold        bool         `json:"hold,omitempty"`     // doesn't start an idle run
	Question    string       `json:"question,omitempty"` // that it answers
	Call        string       `json:"call,omitempty"`     // that has asked it
	Answer      string       `json:"answer,omitempty"`   // to it, as it was given
}

// Attachment is what comes with a prompt.
type Attachment struct {
	Kind  string          `json:"kind"` // file, range, image, diagnostics, text
	URI   string          `json:"uri,omitempty"`
	Range json.RawMessage `json:"range,omitempty"`
	Data  string          `json:"data,omitempty"`
	Mime  string          `json:"mime,omitempty"`
	Text  string          `json:"text,omitempty"`
}

// Bounds of one event.
const (
	maxText = 256 << 10
	maxRaw  = 64 << 10
	maxData = 4 << 10 // of an attachment: the run has it, its journal doesn't
	maxSize = 2 << 20 // of all of it
)

// bounded returns the event with what is too long cut, and says so.
func bounded(e Event) Event {
	cut := func(s *string, limit int, end bool) {
		over := len(*s) - limit
		if over <= 0 {
			return
		}
		e.Cut += over
		if end {
			*s = (*s)[over:]
		} else {
			*s = (*s)[:limit]
		}
	}
	cut(&e.Text, maxText, e.Kind == CallOutput) // the end of an output matters most
	cut(&e.Delta, maxText, e.Kind == CallOutput)
	cut(&e.Title, 4<<10, false)
	if len(e.Raw) > maxRaw || e.Raw != nil && !json.Valid(e.Raw) {
		e.Cut += len(e.Raw)
		e.Raw = nil
	}
	if e.Call != nil {
		c := *e.Call
		e.Call = &c
		c.Diff = append([]FileDiff(nil), c.Diff...)
		for i := range c.Diff {
			cut(&c.Diff[i].New, maxText, false)
			if old := c.Diff[i].Old; old != nil {
				text := *old
				cut(&text, maxText, false)
				c.Diff[i].Old = &text
			}
		}
		cut(&c.Title, 4<<10, false)
	}
	if e.Items != nil {
		e.Items = append([]Item(nil), e.Items...)
		for i := range e.Items {
			e.Items[i].Attachments = append([]Attachment(nil), e.Items[i].Attachments...)
			for j := range e.Items[i].Attachments {
				a := &e.Items[i].Attachments[j]
				if len(a.Data) > maxData {
					e.Cut += len(a.Data)
					a.Data = ""
				}
				cut(&a.Text, maxData, false)
			}
		}
	}
	return e
}

// stripped returns the event without what can be long in many parts.
func stripped(e Event, size int) Event {
	e.Cut += size
	e.Plan, e.Raw = nil, nil
	if e.Call != nil {
		e.Call = &Call{ID: e.Call.ID, Kind: e.Call.Kind, Title: e.Call.Title, OutputBytes: e.Call.OutputBytes, Outcome: e.Call.Outcome}
	}
	return e
}

// isDelta reports whether an event is a part of a message that is not over.
func (e *Event) isDelta() bool { return (e.Kind == Text || e.Kind == Thought) && e.Delta != "" }
