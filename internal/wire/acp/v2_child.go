package acp

import (
	"encoding/json"
	"errors"
)

// A sub-agent may have a session of its own, which its parent's session announces. What
// it does is told as the work of a call of that session's, which stands for it. The
// schema has this among what is not stable; agents do it all the same.

// ofChildren are the updates of a sub-agent that are its parent's work. Others, as its
// settings and its use of the context, are its own.
var ofChildren = map[string]bool{
	UserMessage: true, UserMessageChunk: true, AgentMessage: true, AgentMessageChunk: true, AgentThought: true, AgentThoughtChunk: true,
	ToolCallChanged: true, "tool_call_content_chunk": true, TerminalChanged: true, TerminalChunk: true, NoticeGiven: true, "subagent_update": true,
}

// maxChildren bounds the sub-agents of a connection.
const maxChildren = 1000

// child reads what is new of a sub-agent: the call that stands for it.
func (k *talk2) child(raw json.RawMessage, u *Update) {
	var p struct {
		SessionID string
		Title     lenient[string]
		State     lenient[struct {
			State      string
			StopReason lenient[string]
		}]
	}
	if u.Err = json.Unmarshal(raw, &p); u.Err != nil {
		return
	}
	if u.Err = k.s.conn.adopt(k.s, p.SessionID); u.Err != nil {
		return
	}
	u.Kind = ToolCallChanged
	u.Tool = &ToolCall{ID: p.SessionID, Title: p.Title.value, Kind: "think"}
	switch state := p.State.value; state.State {
	case "running", "requires_action":
		u.Tool.Status = StatusInProgress
	case "idle":
		u.Tool.Status = StatusCompleted
		if reason := state.StopReason.value; reason == stopError || reason == StopCancelled {
			u.Tool.Status = StatusFailed
		}
	}
}

// adopt lets what comes with the id of a sub-agent in, as a session's.
func (c *Conn) adopt(s *Session, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.children[id] == s {
		return nil
	}
	if id == "" || len(id) > maxID || c.sessions[id] != nil || c.children[id] != nil {
		return errors.New("a sub-agent has the session of another one, or none")
	}
	if len(c.children) >= maxChildren {
		return errors.New("there are too many sub-agents")
	}
	c.children[id] = s
	return nil
}

// ofChild is what follows from an update of a sub-agent. Its state is told by the
// session that it belongs to.
func (k *talk2) ofChild(u Update, child string) said {
	if u.Err == nil && !ofChildren[u.Kind] || u.Tool != nil && u.Tool.ID == child {
		return said{}
	}
	return said{updates: []Update{u}}
}
