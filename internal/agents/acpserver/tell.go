package acpserver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// Bounds of what a client is told of a call.
const (
	maxOutput = 64 << 10  // bytes of its output: the end
	maxDiff   = 256 << 10 // bytes of a text of a diff
	maxDiffs  = 20
	outputGap = 250 * time.Millisecond // between two updates of an output that grows
)

// update is what a client is told; which members are set follows from its kind.
type update struct {
	Kind string `json:"sessionUpdate"`

	Message string       `json:"messageId,omitempty"`
	Content *acp.Content `json:"content,omitempty"`

	Mode   string   `json:"currentModeId,omitempty"`
	Config []option `json:"configOptions,omitempty"`

	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
	Severity  string `json:"severity,omitempty"`
	Help      string `json:"description,omitempty"`

	Compaction string        `json:"compactionId,omitempty"`
	Status     string        `json:"status,omitempty"`
	Summary    []acp.Content `json:"summary,omitempty"`
}

// call is a tool call, or what changed of one.
type call struct {
	Kind      string         `json:"sessionUpdate,omitempty"`
	ID        string         `json:"toolCallId"`
	Title     string         `json:"title,omitempty"`
	Name      string         `json:"name,omitempty"`
	ToolKind  string         `json:"kind,omitempty"`
	Status    string         `json:"status,omitempty"`
	Content   []any          `json:"content,omitempty"`
	Locations []acp.Location `json:"locations,omitempty"`
}

type shownText struct {
	Type    string      `json:"type"`
	Content acp.Content `json:"content"`
}

type shownDiff struct {
	Type string  `json:"type"`
	Path string  `json:"path"`
	Old  *string `json:"oldText"`
	New  string  `json:"newText"`
}

func textOf(text string) any { return shownText{"content", acp.Text(text)} }

// usage is how full the context is.
type usage struct {
	Kind string `json:"sessionUpdate"`
	Used int64  `json:"used"`
	Size int64  `json:"size"`
	Cost *cost  `json:"cost,omitempty"`
}

type cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// teller puts what happens in a run into the protocol's words.
type teller struct {
	can   clientCan
	files Workspace
	state func() state

	mu      sync.Mutex
	parts   map[string]string // what was told of messages that are not whole yet
	again   map[string]int    // how often a message was told anew
	outputs map[string]*output
	calls   map[string]bool // that the client knows
}

// output is that of a call.
type output struct {
	text string
	told time.Time // nothing more of it before outputGap is over
}

func newTeller(can clientCan, files Workspace, state func() state) *teller {
	t := &teller{can: can, files: files, state: state, calls: map[string]bool{}}
	t.forget()
	return t
}

// forget forgets what is only of use for what goes on.
func (t *teller) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts, t.again, t.outputs = map[string]string{}, map[string]int{}, map[string]*output{}
}

// updates are what an event is told as. past: it was before the client came.
func (t *teller) updates(e conversation.Event, past bool) []any {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Kind {
	case conversation.Text, conversation.Thought:
		return t.message(e)
	case conversation.Steered:
		return []any{chunk(acp.UserMessageChunk, e.Message, e.Text)}
	case conversation.CallProposed, conversation.CallStarted, conversation.CallOutput, conversation.CallFinished:
		if e.Call != nil {
			return t.call(e, past)
		}
	case conversation.Plan:
		return []any{planOf(e.Plan)}
	case conversation.UsageNow:
		if u := e.Usage; u != nil && u.Size > 0 { // the protocol has no usage of a window that is not known
			told := usage{Kind: acp.UsageChanged, Used: u.Used, Size: u.Size}
			if u.Currency != "" {
				told.Cost = &cost{u.Cost, u.Currency}
			}
			return []any{told}
		}
	case conversation.Compaction:
		return t.compaction(e)
	case conversation.Note:
		return t.noted(e, past)
	}
	return nil
}

func chunk(kind, message, text string) update {
	content := acp.Text(text)
	return update{Kind: kind, Message: message, Content: &content}
}

// message tells a part of a message, or what is missing of one that is whole.
func (t *teller) message(e conversation.Event) []any {
	kind := acp.AgentMessageChunk
	switch {
	case e.Role == "user":
		kind = acp.UserMessageChunk
	case e.Kind == conversation.Thought:
		kind = acp.AgentThoughtChunk
	}
	key := e.Message
	if e.Delta != "" {
		t.parts[key] += e.Delta
		return []any{chunk(kind, t.name(key), e.Delta)}
	}
	told := t.parts[key]
	delete(t.parts, key)
	rest, begun := strings.CutPrefix(e.Text, told)
	switch {
	case begun && rest == "", strings.HasPrefix(told, e.Text): // calls that were written as text are not in it
		return nil
	case begun:
		return []any{chunk(kind, t.name(key), rest)}
	}
	t.again[key]++
	return []any{chunk(kind, t.name(key), e.Text)}
}

// name is the id of a message. One that is told anew is another one for the client.
func (t *teller) name(message string) string {
	if n := t.again[message]; n > 0 {
		return fmt.Sprintf("%s.%d", message, n+1)
	}
	return message
}

// noted tells what a note says: what changed, and its text.
func (t *teller) noted(e conversation.Event, past bool) (all []any) {
	if e.Title != "" {
		all = append(all, update{Kind: acp.InfoChanged, Title: e.Title, UpdatedAt: e.Time.UTC().Format(time.RFC3339)})
	}
	if past {
		return all // how it works now is in the answer, and notices are no history
	}
	if e.Reason == acp.CommandsChanged && e.Raw != nil {
		return append(all, e.Raw)
	}
	if e.Mode != "" {
		all = append(all, update{Kind: acp.ModeChanged, Mode: e.Mode})
	}
	if e.Mode != "" || e.Model != "" {
		all = append(all, update{Kind: acp.ConfigChanged, Config: t.state().Config})
	}
	if thought := e.Message + "-thought"; e.Reason == conversation.Withdrawn && t.parts[e.Message]+t.parts[thought] != "" {
		for _, m := range []string{e.Message, thought} {
			delete(t.parts, m)
			t.again[m]++
		}
		e.Text = strings.TrimSpace(withdrawnText + " " + e.Text)
	}
	if e.Text != "" {
		severity := "info"
		if e.Reason == conversation.Withdrawn {
			severity = "warning"
		}
		all = append(all, t.note(fmt.Sprint("note-", e.Seq), severity, e.Text)...)
	}
	return all
}

// withdrawnText is said of what the protocol can't take back.
const withdrawnText = "What was shown of the last message does not hold. It is told anew if the model answers again."

// note tells the user something that is not the agent's.
func (t *teller) note(id, severity, text string) []any {
	if t.can.Session.Notices != nil {
		return []any{update{Kind: acp.NoticeGiven, Severity: severity, Title: "sidecar-ls", Help: text}}
	}
	return []any{chunk(acp.AgentMessageChunk, id, "\n\n["+text+"]\n\n")}
}

func (t *teller) compaction(e conversation.Event) []any {
	id := fmt.Sprint("compaction-", e.Seq)
	if t.can.Session.Compaction != nil {
		return []any{update{Kind: acp.CompactionChanged, Compaction: id, Status: acp.StatusCompleted, Summary: []acp.Content{acp.Text(e.Text)}}}
	}
	return []any{chunk(acp.AgentThoughtChunk, id, e.Text)}
}

func planOf(plan []conversation.PlanEntry) any {
	all := []acp.PlanEntry{}
	for _, p := range plan {
		entry := acp.PlanEntry{Content: p.Text, Priority: p.Priority, Status: p.Status}
		if !slices.Contains([]string{"high", "medium", "low"}, entry.Priority) {
			entry.Priority = "medium"
		}
		if !slices.Contains([]string{"pending", "in_progress", "completed"}, entry.Status) {
			entry.Status = "pending"
		}
		all = append(all, entry)
	}
	return struct {
		Kind    string          `json:"sessionUpdate"`
		Entries []acp.PlanEntry `json:"entries"`
	}{acp.PlanChanged, all}
}

// call tells of a tool call.
func (t *teller) call(e conversation.Event, past bool) []any {
	c := e.Call
	told := call{Kind: acp.ToolCallChanged, ID: c.ID}
	out := t.outputs[c.ID]
	if out == nil {
		out = &output{}
		t.outputs[c.ID] = out
	}
	switch e.Kind {
	case conversation.CallOutput:
		if e.Delta == "" {
			out.text = e.Text // it ends now, and is told then
			return nil
		}
		out.text = tail(out.text + e.Delta)
		if past || e.Time.Sub(out.told) < outputGap {
			return nil
		}
		out.told = e.Time
		told.Content = []any{textOf(out.text)}
		return t.known(told, c)
	case conversation.CallProposed:
		told.Status = acp.StatusPending
	case conversation.CallStarted:
		told.Status = acp.StatusInProgress
	case conversation.CallFinished:
		delete(t.outputs, c.ID)
		told.Status = acp.StatusCompleted
		if c.Outcome == "failed" {
			told.Status = acp.StatusFailed
		}
		t.outcome(&told, c, tail(out.text), past)
	}
	return t.known(told, c)
}

// known gives the first that is told of a call what it is.
func (t *teller) known(told call, c *conversation.Call) []any {
	if !t.calls[c.ID] {
		t.calls[c.ID] = true
		told.Kind, told.Title, told.Name, told.ToolKind = acp.ToolCallStarted, cmp.Or(c.Title, c.Kind, c.ID), c.Tool, cmp.Or(c.Kind, "other")
	}
	return []any{told}
}

// outcome is what came of a call: its output, and what it changed.
func (t *teller) outcome(told *call, c *conversation.Call, text string, past bool) {
	if text != "" {
		told.Content = append(told.Content, textOf(text))
	}
	waits := false
	for _, l := range c.Locations {
		at := acp.Location{Path: t.files.Abs(l.Path)}
		if l.Line > 0 {
			at.Line = &l.Line
		}
		told.Locations = append(told.Locations, at)
		if past || len(told.Content) > maxDiffs { // what waits now is not what this call has made
			continue
		}
		old, text, ok := t.files.Pending(l.Path)
		if !ok {
			continue
		}
		waits = true
		if len(text) <= maxDiff && (old == nil || len(*old) <= maxDiff) {
			told.Content = append(told.Content, shownDiff{"diff", at.Path, old, text})
		}
	}
	if waits {
		told.Content = append(told.Content, textOf(heldText))
	}
}

// heldText is said of changes that wait for review: clients show a diff as what was written.
const heldText = "This waits for your review, and nothing is written yet. Accept or reject it with `sidecar-ls review`, or in an editor with the extension of sidecar-ls."

// tail is the end of an output.
func tail(text string) string {
	if over := len(text) - maxOutput; over > 0 {
		return "…" + strings.ToValidUTF8(text[over:], "")
	}
	return text
}

// asking is the call that a question is about.
func (t *teller) asking(q conversation.Event) call {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := call{ID: q.Question, Title: q.Text, Status: acp.StatusPending, Content: []any{textOf(q.Text)}}
	if of := q.Call; of != nil {
		c.ID, c.Title = cmp.Or(of.ID, c.ID), cmp.Or(of.Title, c.Title)
		c.ToolKind = of.Kind
	}
	return c
}

// question asks in a message.
func (t *teller) question(q conversation.Event) []any {
	text := q.Text
	for _, l := range labels(&q) {
		text += "\n- " + l
	}
	how := "Your next message is the answer."
	if len(q.Options) > 0 {
		how = "Answer with your next message: a number, or the text of an answer."
		if q.Custom {
			how = "Answer with your next message: a number, or any text."
		}
	}
	return []any{chunk(acp.AgentMessageChunk, "ask-"+q.Question, "\n\n"+text+"\n\n"+how+"\n")}
}
