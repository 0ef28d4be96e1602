package acp

import (
	"encoding/json"
	"errors"
)

// talk2 is a session in version 2. A prompt is answered when the agent has taken it in,
// as a message of the user's, and the turn is over when the agent is idle after that. An
// agent may work without a prompt, and says twice what it has said, which is no new end.
type talk2 struct {
	s *Session

	// These have Session.mu.
	working bool // as the agent has said last
	own     bool // it began that with no prompt that waited
	ours    map[string]bool
	order   []string // of ours, the oldest first
	echoes  map[string]*Stopped
	held    []Update
	size    int

	// These are read in the order of the wire alone.
	plans     map[string][]PlanEntry
	planOrder []string
	cost      *Cost
	partial   map[string][]byte // of terminals: the beginning of a character
}

func newTalk2(s *Session) *talk2 {
	return &talk2{s: s, ours: map[string]bool{}, echoes: map[string]*Stopped{}, plans: map[string][]PlanEntry{}, partial: map[string][]byte{}}
}

// began tells the commands that a session begins with, as the update that changes them.
func (k *talk2) began(raw json.RawMessage) ([]Update, error) {
	if isNull(raw) {
		return nil, nil
	}
	var p struct {
		AvailableCommands json.RawMessage `json:"availableCommands"`
	}
	if err := json.Unmarshal(raw, &p); err != nil || isNull(p.AvailableCommands) {
		return nil, err
	}
	update, err := json.Marshal(map[string]any{"sessionUpdate": CommandsChanged, "availableCommands": p.AvailableCommands})
	if err != nil {
		return nil, err
	}
	return []Update{k.read("", update)}, nil
}

func (k *talk2) heard(child string, raw json.RawMessage) said {
	u := k.read(child, raw)
	if child != "" {
		return k.ofChild(u, child)
	}
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	switch {
	case u.Err != nil:
	case u.Kind == WorkChanged:
		return k.state(raw)
	case u.Kind == UserMessage || u.Kind == UserMessageChunk:
		if k.echo(u) {
			return said{}
		}
	}
	return said{updates: []Update{u}}
}

// maxOurs bounds how many messages of ours are remembered.
const maxOurs = 1000

// echo reports whether a message is not to be told: it is one that we sent, or it may be,
// which the answer to the prompt says.
func (k *talk2) echo(u Update) bool {
	var p struct{ MessageID string }
	_ = json.Unmarshal(u.Raw, &p)
	if k.ours[p.MessageID] {
		return true
	}
	if t := k.s.turn; t == nil || t.taken || len(k.held) >= maxHeld || k.size+len(u.Raw) > maxHeldBytes {
		return false
	}
	if _, seen := k.echoes[p.MessageID]; !seen {
		k.echoes[p.MessageID] = nil
	}
	k.held = append(k.held, u)
	k.size += len(u.Raw)
	return true
}

// answered hears that a prompt was taken in, or was not.
func (k *talk2) answered(t *turn, raw json.RawMessage, err error) said {
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	held, echoes := k.held, k.echoes
	k.held, k.size, k.echoes = nil, 0, map[string]*Stopped{}
	var p struct{ MessageID string }
	end := said{over: t, updates: held, err: err}
	var e *Error
	switch {
	case k.s.conn.Err() != nil:
		end.updates = nil // the work loop may be telling the host of something
		return end
	case errors.As(err, &e) && e.Code == CodeCancelled:
		end.err, end.stopped.Reason = nil, StopCancelled
		return end
	case err != nil:
		return end
	case json.Unmarshal(raw, &p) != nil || p.MessageID == "":
		end.err = errors.New("the agent has answered a prompt without the messageId of version 2; it was told to stop")
		_ = k.s.sendCancel()
		return end
	}
	k.remember(p.MessageID)
	end.updates = nil
	for _, u := range held {
		var other struct{ MessageID string }
		if _ = json.Unmarshal(u.Raw, &other); other.MessageID != p.MessageID {
			end.updates = append(end.updates, u)
		}
	}
	switch stopped := echoes[p.MessageID]; {
	case stopped != nil: // it was idle again before it answered
		end.stopped, end.err = *stopped, stopped.err
	case t.cancelled && !k.working:
		end.stopped.Reason = StopCancelled
	default:
		t.taken, end.over = true, nil
	}
	return end
}

func (k *talk2) remember(id string) {
	k.ours[id] = true
	k.order = append(k.order, id)
	if len(k.order) > maxOurs {
		delete(k.ours, k.order[0])
		k.order = k.order[1:]
	}
}

// state hears what the agent does. What it has said before is no news, unless somebody
// waits for the end of what was cancelled.
func (k *talk2) state(raw json.RawMessage) said {
	var p struct {
		State      string
		StopReason lenient[string]
		Error      lenient[*Error]
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return said{updates: []Update{{Session: k.s.ID, Kind: WorkChanged, Raw: raw, Err: err}}}
	}
	was, t := k.working, k.s.turn
	switch p.State {
	case "running", "requires_action":
		k.working = true
		if was || t != nil {
			return said{}
		}
		k.own = true
		return k.tells(raw, true)
	case "idle":
		k.working = false
	default:
		return said{} // a state that is not known says nothing of an end
	}
	var h said
	if k.own {
		h = k.tells(raw, false)
		k.own = false
	}
	if t == nil || !was && !t.cancelled {
		return h
	}
	stopped := Stopped{Reason: p.StopReason.value, Raw: raw}
	switch {
	case stopped.Reason == "" && t.cancelled:
		stopped.Reason = StopCancelled
	case stopped.Reason == stopError && p.Error.value != nil:
		stopped.err = p.Error.value
	case stopped.Reason == stopError:
		stopped.err = errors.New("the agent has failed, and does not say how")
	}
	if t.taken {
		h.over, h.stopped, h.err = t, stopped, stopped.err
		return h
	}
	for id, before := range k.echoes {
		if before == nil {
			k.echoes[id] = &stopped
		}
	}
	return h
}

// stopError is the reason of an idle state that says that the agent has failed.
const stopError = "error"

func (k *talk2) tells(raw json.RawMessage, on bool) said {
	return said{updates: []Update{{Session: k.s.ID, Kind: WorkChanged, Raw: raw, Work: &Work{On: on}}}}
}

func (k *talk2) works() bool { return k.working }
