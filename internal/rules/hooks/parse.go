package hooks

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of what a source may name.
const (
	maxHooks   = 200
	maxCommand = 16 << 10 // bytes
	maxMatcher = 1 << 10
)

// group is a matcher and its hooks, as files have it.
type group struct {
	Matcher string            `json:"matcher"`
	Hooks   []json.RawMessage `json:"hooks"`
}

// entry is one hook, as files have it. Other members are other programs' business.
type entry struct {
	Type       string   `json:"type"`
	Command    string   `json:"command"`
	Timeout    *float64 `json:"timeout"` // seconds
	FailClosed bool     `json:"failClosed"`
}

// Parse reads the object of events of a source: the member hooks of a settings file.
// What can't be used is left out and said.
func Parse(data []byte, of Hook) (list []Hook, problems []string) {
	say := func(format string, args ...any) {
		problems = append(problems, of.Origin+": "+fmt.Sprintf(format, args...))
	}
	var events map[string]json.RawMessage
	if err := json.Unmarshal(data, &events); err != nil {
		say("hooks must be an object of events, such as {\"PreToolUse\": [...]}: %v", err)
		return nil, problems
	}
	for _, name := range sorted(events) {
		if _, ok := RowOf(Event(name)); !ok {
			say("%s is no event that is known here; its hooks are not run", clip(name))
			continue
		}
		var groups []json.RawMessage
		if err := json.Unmarshal(events[name], &groups); err != nil {
			say("%s must be a list of {\"matcher\", \"hooks\"}", name)
			continue
		}
		for i, raw := range groups {
			var g group
			if err := json.Unmarshal(raw, &g); err != nil {
				say("%s[%d] must be {\"matcher\", \"hooks\"}: %v", name, i, err)
				continue
			}
			for k, raw := range g.Hooks {
				where := fmt.Sprintf("%s[%d].hooks[%d]", name, i, k)
				h := of
				h.Event, h.Matcher = Event(name), g.Matcher
				why := h.read(raw)
				switch {
				case why != "":
					say("%s: %s", where, why)
				case len(list) == maxHooks:
					say("at most %d hooks are run; the others are left out", maxHooks)
					return list, problems
				default:
					list = append(list, h)
				}
			}
		}
	}
	return list, problems
}

// read reads an entry and says what is wrong with it, or "".
func (h *Hook) read(raw []byte) string {
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return "it can't be read: " + err.Error()
	}
	switch {
	case e.Type != "command" && e.Type != "":
		return fmt.Sprintf("hooks of the type %s are not run here; write one of the type command", clip(e.Type))
	case strings.TrimSpace(e.Command) == "":
		return "it needs a command"
	case len(e.Command) > maxCommand:
		return fmt.Sprintf("its command has %d bytes, more than %d; put it into a script", len(e.Command), maxCommand)
	case strings.ContainsRune(e.Command, 0):
		return "its command has a zero byte in it"
	case e.Timeout != nil && (*e.Timeout <= 0 || math.IsNaN(*e.Timeout) || *e.Timeout > MaxTimeout.Seconds()):
		return fmt.Sprintf("its timeout must be more than 0 and at most %.0f seconds", MaxTimeout.Seconds())
	}
	h.Command, h.FailClosed = e.Command, e.FailClosed
	if e.Timeout != nil {
		h.Timeout = time.Duration(*e.Timeout * float64(time.Second))
	}
	var err error
	if h.matches, err = matcher(h.Matcher); err != nil {
		return err.Error()
	}
	return ""
}

// plain are matchers that are names, with | between them.
var plain = regexp.MustCompile(`^[A-Za-z0-9_|]+$`)

// matcher makes the test of a matcher: names with | between them, or a regular
// expression over the whole name; nothing, and *, are all.
func matcher(text string) (func(string) bool, error) {
	switch {
	case text == "" || text == "*":
		return func(string) bool { return true }, nil
	case len(text) > maxMatcher:
		return nil, fmt.Errorf("its matcher has %d bytes, more than %d", len(text), maxMatcher)
	case plain.MatchString(text):
		names := strings.Split(text, "|")
		return func(name string) bool { return slices.Contains(names, name) }, nil
	}
	re, err := regexp.Compile(`^(?:` + text + `)$`)
	if err != nil {
		return nil, fmt.Errorf("its matcher is neither names with | between them nor a regular expression: %w", err)
	}
	return re.MatchString, nil
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func clip(s string) string {
	if len(s) > 64 {
		return strings.ToValidUTF8(s[:64], "") + "…"
	}
	return s
}
