package acp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// tool2 reads what changed of a call. What is null is cleared: it is what a new call has.
func tool2(raw json.RawMessage) (*ToolCall, error) {
	var p struct {
		ToolCallID          string
		Name                lenient[string]
		Title, Kind, Status json.RawMessage
		Content, Locations  json.RawMessage
		RawInput, RawOutput json.RawMessage
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	if p.ToolCallID == "" {
		return nil, Errorf(CodeInvalidParams, "a tool call has no toolCallId")
	}
	t := &ToolCall{ID: p.ToolCallID, Name: p.Name.value, RawInput: p.RawInput, RawOutput: p.RawOutput}
	t.Title = patched(p.Title, "")
	t.Untitled = string(p.Title) == "null"
	t.Kind = patched(p.Kind, "other")
	t.Status = patched(p.Status, StatusPending)
	switch t.Status {
	case "paused":
		t.Status = StatusInProgress
	case "cancelled":
		t.Status = StatusFailed
	}
	if isList(p.Content) {
		t.Content = content2(items(p.Content)...)
	}
	if isList(p.Locations) {
		t.Locations = each[Location](p.Locations)
	}
	return t, nil
}

// patched is a text that was sent: "" when it is not changed, or can't be read.
func patched(raw json.RawMessage, cleared string) string {
	if string(raw) == "null" {
		return cleared
	}
	var text string
	_ = json.Unmarshal(raw, &text)
	return text
}

// isList reports whether there is a list, or null, which clears one.
func isList(raw json.RawMessage) bool { return string(raw) == "null" || len(raw) > 0 && raw[0] == '[' }

// content2 reads what a call shows. What can't be read is left out.
func content2(all ...json.RawMessage) []ToolContent {
	got := []ToolContent{}
	for _, raw := range all {
		var p struct {
			Type       string
			Content    *Content
			TerminalID string
			Changes    json.RawMessage
			Patch      lenient[patch2]
		}
		if json.Unmarshal(raw, &p) != nil {
			continue
		}
		switch p.Type {
		case "content":
			got = append(got, ToolContent{Type: ShowsContent, Content: p.Content})
		case "terminal":
			got = append(got, ToolContent{Type: ShowsTheirs, Terminal: p.TerminalID})
		case "diff":
			got = append(got, diff2(each[change2](p.Changes), p.Patch.value)...)
		}
	}
	return got
}

// Bounds of what is kept of a session to read the next update by.
const (
	maxPlans   = 20
	maxPartial = 1000
)

// read reads an update, but for those of the state.
func (k *talk2) read(child string, raw json.RawMessage) Update {
	u := Update{Session: k.s.ID, Raw: raw}
	var kind struct {
		Kind string `json:"sessionUpdate"`
	}
	if u.Err = json.Unmarshal(raw, &kind); u.Err != nil {
		return u
	}
	u.Kind, u.Parent = kind.Kind, cmp.Or(parentOf(raw), child)
	if child != "" && !ofChildren[u.Kind] {
		return u
	}
	switch u.Kind {
	case "subagent_update":
		k.child(raw, &u)
	case UserMessageChunk, AgentMessageChunk, AgentThoughtChunk:
		u.Chunk, u.Err = decode[Chunk](raw)
		if u.Err == nil && u.Chunk.MessageID == "" {
			u.Chunk, u.Err = nil, errNoMessageID
		}
	case UserMessage, AgentMessage, AgentThought:
		u.Message, u.Err = message2(raw)
	case ToolCallChanged:
		u.Tool, u.Err = tool2(raw)
	case "tool_call_content_chunk":
		u.Kind = ToolCallChanged
		u.Tool, u.Err = more2(raw)
	case TerminalChanged, TerminalChunk:
		u.Terminal, u.Err = k.terminal(u.Kind, raw)
	case "plan_update":
		k.plan(raw, &u)
	case CommandsChanged:
		var p struct{ AvailableCommands json.RawMessage }
		if u.Err = json.Unmarshal(raw, &p); u.Err == nil {
			u.Commands = commands2(p.AvailableCommands)
		}
	case ConfigChanged:
		u.Config, u.Err = version2{}.options(raw)
	case InfoChanged:
		u.Info, u.Err = decode[InfoUpdate](raw)
	case UsageChanged:
		k.usage(raw, &u)
	case NoticeGiven:
		u.Notice, u.Err = decode[Notice](raw)
	case CompactionChanged, CompactionChunk:
		u.Compaction, u.Err = decode[Compaction](raw)
	}
	return u
}

var errNoMessageID = errors.New("a message has no messageId")

// message2 reads a message, which has no Content when nothing is said of that.
func message2(raw json.RawMessage) (*Message, error) {
	var p struct {
		MessageID string
		Content   json.RawMessage
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	if p.MessageID == "" {
		return nil, errNoMessageID
	}
	m := &Message{ID: p.MessageID}
	if isList(p.Content) {
		m.Content = each[Content](p.Content)
	}
	return m, nil
}

func more2(raw json.RawMessage) (*ToolCall, error) {
	var p struct {
		ToolCallID string
		Content    json.RawMessage
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	if p.ToolCallID == "" {
		return nil, Errorf(CodeInvalidParams, "a part of a tool call has no toolCallId")
	}
	return &ToolCall{ID: p.ToolCallID, More: content2(p.Content)}, nil
}

// commands2 are the commands that are typed; of other types nothing is known.
func commands2(raw json.RawMessage) []Command {
	list := []Command{}
	for _, c := range each[struct {
		Type              string
		Name, Description string
		Input             lenient[*struct {
			Type string
			Hint string `json:"hint"`
		}]
	}](raw) {
		if c.Type != "command" {
			continue
		}
		command := Command{Name: c.Name, Description: c.Description}
		if in := c.Input.value; in != nil && in.Type == "text" {
			command.Input = &struct {
				Hint string `json:"hint"`
			}{in.Hint}
		}
		list = append(list, command)
	}
	return list
}

// plan reads a plan. A session may have several: they are told as one, in the order in
// which they came.
func (k *talk2) plan(raw json.RawMessage, u *Update) {
	var p struct {
		Plan struct {
			Type, PlanID string
			Entries      json.RawMessage
		}
	}
	if u.Err = json.Unmarshal(raw, &p); u.Err != nil || p.Plan.Type != "items" {
		return
	}
	id := p.Plan.PlanID
	if _, known := k.plans[id]; !known {
		if len(k.planOrder) >= maxPlans {
			delete(k.plans, k.planOrder[0])
			k.planOrder = k.planOrder[1:]
		}
		k.planOrder = append(k.planOrder, id)
	}
	k.plans[id] = each[PlanEntry](p.Plan.Entries)
	u.Kind, u.Plan = PlanChanged, []PlanEntry{}
	for _, id := range k.planOrder {
		u.Plan = append(u.Plan, k.plans[id]...)
	}
}

// usage reads how much was used. The cost is the one before when none is named.
func (k *talk2) usage(raw json.RawMessage, u *Update) {
	var named struct{ Cost json.RawMessage }
	u.Usage, u.Err = decode[Usage](raw)
	if u.Err != nil || json.Unmarshal(raw, &named) != nil {
		return
	}
	if named.Cost == nil {
		u.Usage.Cost = k.cost
	}
	k.cost = u.Usage.Cost
}

// terminal reads what a terminal shows. Bytes of a character whose rest has not come
// yet wait for it.
func (k *talk2) terminal(kind string, raw json.RawMessage) (*TerminalOutput, error) {
	var p struct {
		TerminalID, Data string
		Output           json.RawMessage
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	if p.TerminalID == "" {
		return nil, errors.New("a terminal has no terminalId")
	}
	o := &TerminalOutput{ID: p.TerminalID, Whole: kind == TerminalChanged}
	if o.Whole {
		if p.Output == nil { // something else has changed
			return &TerminalOutput{ID: p.TerminalID}, nil
		}
		var output struct{ Data string }
		if err := json.Unmarshal(p.Output, &output); err != nil {
			return nil, err
		}
		p.Data = output.Data
	}
	data, err := base64.StdEncoding.DecodeString(p.Data)
	if err != nil {
		return nil, err
	}
	if !o.Whole {
		data = append(k.partial[o.ID], data...)
	}
	whole := wholeRunes(data)
	if len(k.partial) >= maxPartial {
		clear(k.partial)
	}
	if delete(k.partial, o.ID); whole < len(data) {
		k.partial[o.ID] = append([]byte(nil), data[whole:]...)
	}
	o.Text = strings.ToValidUTF8(string(data[:whole]), "\uFFFD")
	return o, nil
}

// wholeRunes is how many bytes there are up to a character whose end is missing.
func wholeRunes(p []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(p); back++ {
		if at := len(p) - back; utf8.RuneStart(p[at]) {
			if !utf8.FullRune(p[at:]) {
				return at
			}
			break
		}
	}
	return len(p)
}
