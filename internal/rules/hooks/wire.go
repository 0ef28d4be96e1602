package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Bounds of what is taken from a hook.
const (
	maxAnswer  = 4 << 20 // bytes on its standard output
	maxContext = 10_000  // bytes of what a model is told, and of a reason
)

// answer is the JSON object that a hook may write. Members that are not known are
// other programs' business.
type answer struct {
	Continue *bool  `json:"continue"`
	Halt     string `json:"stopReason"`
	Said     string `json:"systemMessage"`
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Specific struct {
		Event    Event           `json:"hookEventName"`
		Decision string          `json:"permissionDecision"`
		Reason   string          `json:"permissionDecisionReason"`
		Input    json.RawMessage `json:"updatedInput"`
		Output   json.RawMessage `json:"updatedToolOutput"`
		Context  string          `json:"additionalContext"`
		Answer   *struct {
			Behavior string          `json:"behavior"`
			Message  string          `json:"message"`
			Input    json.RawMessage `json:"updatedInput"`
		} `json:"decision"`
	} `json:"hookSpecificOutput"`
}

// blocked is the exit code by which a hook holds something back.
const blocked = 2

// ended is how a hook's program ended.
type ended struct {
	code   int
	out    []byte
	stderr string // the end of it
}

// The exit codes by which a shell says that it could not start a program.
const (
	notRunnable = 126
	notFound    = 127
)

// notStarted says why a hook's program was not started, or "".
func (e ended) notStarted() string {
	switch e.code {
	case notRunnable, notFound:
		return fmt.Sprintf("the shell could not start its program (exit code %d: %s); mend it, or take the hook out of the project's file", e.code, orElse(bounded(e.stderr), "it said nothing on standard error"))
	}
	return ""
}

// read reads what a hook has said. An error is why it does not count.
func (e ended) read(row Row, tool string) (Outcome, error) {
	switch {
	case e.code == blocked && row.Blocks:
		return Outcome{Decision: Deny, Reason: bounded(orElse(e.stderr, "it gave no reason"))}, nil
	case e.code < 0:
		return Outcome{}, errors.New("it was ended by a signal")
	case e.code != 0:
		return Outcome{}, fmt.Errorf("it ended with exit code %d: %s", e.code, orElse(bounded(e.stderr), "it said nothing on standard error"))
	case len(e.out) > maxAnswer:
		return Outcome{}, fmt.Errorf("it wrote more than %d bytes", maxAnswer)
	}
	answers, words, err := split(e.out)
	if err != nil {
		return Outcome{}, fmt.Errorf("its answer is not the JSON of a hook: %w", err)
	}
	var o Outcome
	for _, data := range answers {
		var a answer
		if err := json.Unmarshal(data, &a); err != nil {
			return Outcome{}, fmt.Errorf("its answer is not the JSON of a hook: %w", err)
		}
		more, err := a.outcome(row, tool)
		if err != nil {
			return Outcome{}, err
		}
		o.add(more, "")
		o.said = orElse(more.said, o.said)
	}
	if words != "" && (row.Event == SessionStart || row.Event == UserPromptSubmit) {
		o.Context = append([]string{bounded(words)}, o.Context...)
	}
	return o, nil
}

// outcome checks an answer and says what it comes to at an event.
func (a *answer) outcome(row Row, tool string) (o Outcome, err error) {
	s := &a.Specific
	if s.Event != "" && s.Event != row.Event {
		return o, fmt.Errorf("its answer is for %s, not for %s", clip(string(s.Event)), row.Event)
	}
	set := func(decision, reason string) { o.Decision, o.Reason = decision, bounded(reason) }
	switch {
	case a.Decision == "":
	case a.Decision == "block" && row.Blocks:
		set(Deny, orElse(a.Reason, "it gave no reason"))
	case a.Decision == "approve" && row.Event == PreToolUse:
		set(Allow, a.Reason)
	case a.Decision != "block" && a.Decision != "approve":
		return o, fmt.Errorf("its decision is %q; it can be block or approve", clip(a.Decision))
	}
	if s.Decision != "" && row.Event == PreToolUse {
		switch s.Decision {
		case Allow, Ask, Deny:
			set(s.Decision, s.Reason)
		default:
			return o, fmt.Errorf("its permissionDecision is %q; it can be allow, ask or deny", clip(s.Decision))
		}
	}
	input := s.Input
	if s.Answer != nil && row.Event == PermissionRequest {
		if s.Answer.Behavior != Allow && s.Answer.Behavior != Deny {
			return o, fmt.Errorf("its decision is %q; it can be allow or deny", clip(s.Answer.Behavior))
		}
		set(s.Answer.Behavior, s.Answer.Message)
		if s.Answer.Input != nil {
			return Outcome{}, fmt.Errorf("it changes the input where a person is asked about it; only %s can", PreToolUse)
		}
	}
	if len(input) > 0 && string(input) != "null" && row.Event == PreToolUse {
		if o.Input, err = Ours(tool, input); err != nil {
			return Outcome{}, fmt.Errorf("updatedInput: %w", err)
		}
	}
	if len(s.Output) > 0 && string(s.Output) != "null" && row.Event == PostToolUse {
		text := string(s.Output)
		_ = json.Unmarshal(s.Output, &text) // what is no string stays JSON
		o.Output = &text
	}
	if s.Context != "" {
		o.Context = []string{bounded(s.Context)}
	}
	o.said = bounded(a.Said)
	if a.Continue != nil && !*a.Continue {
		o.Halt = orElse(bounded(a.Halt), "a hook stopped it")
	}
	return o, nil
}

// rank orders decisions, strictest last.
func rank(decision string) int {
	switch decision {
	case Allow:
		return 1
	case Ask:
		return 2
	case Deny:
		return 3
	}
	return 0
}

// add merges what a further hook says, whose place in the order is later.
func (o *Outcome) add(more Outcome, origin string) {
	if rank(more.Decision) > rank(o.Decision) {
		o.Decision, o.Reason, o.By = more.Decision, more.Reason, origin
	}
	if o.By == "" && (more.Input != nil || more.Halt != "") {
		o.By = origin
	}
	if more.Input != nil {
		o.Input = more.Input
	}
	if more.Output != nil {
		o.Output = more.Output
	}
	if o.Halt == "" {
		o.Halt = more.Halt
	}
	o.Context = append(o.Context, more.Context...)
}

func bounded(s string) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD")
	if len(s) > maxContext {
		return strings.ToValidUTF8(s[:maxContext], "") + "…"
	}
	return s
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
