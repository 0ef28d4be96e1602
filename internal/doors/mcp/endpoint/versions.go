package endpoint

import (
	"bytes"
	"encoding/json"
)

// The versions of the protocol in which messages changed. Versions are dates,
// which compare as text.
const (
	batches     = "2025-03-26" // the one version that has them
	elicitation = "2025-06-18" // a server can ask the agent's user
	nullID      = "2025-11-25" // an error without a request has no id; before, JSON-RPC 2.0 alone spoke of it: null
	stateless   = "2026-07-28" // a server asks nothing by itself: it answers a call with what it needs to know, and the agent calls again with the answers
)

// member is a member of a message that came with a version of the protocol.
type member struct {
	since  string
	method string   // whose request, notification or result has it; "" is all
	path   []string // "*" is each element of an array or member of an object
}

// members is what messages do without in older versions. Schemas let unknown
// members pass, but some agents show their model all that they get, and some
// refuse it. The SDK writes all of them in every version.
var members = []member{
	{"2025-03-26", "tools/list", []string{"result", "tools", "*", "annotations"}},
	{"2025-06-18", "tools/list", []string{"result", "tools", "*", "title"}},
	{"2025-06-18", "tools/list", []string{"result", "tools", "*", "_meta"}},
	{"2025-06-18", "prompts/list", []string{"result", "prompts", "*", "title"}},
	{"2025-06-18", "resources/list", []string{"result", "resources", "*", "title"}},
	{"2025-03-26", "resources/list", []string{"result", "resources", "*", "size"}},
	{"2025-03-26", "notifications/progress", []string{"params", "message"}},
	{"2025-11-25", "elicitation/create", []string{"params", "mode"}},
	{"2025-11-25", "elicitation/create", []string{"params", "requestedSchema", "properties", "*", "default"}},
	{stateless, "tools/list", []string{"result", "ttlMs"}},
	{stateless, "tools/list", []string{"result", "cacheScope"}},
	{stateless, "prompts/list", []string{"result", "ttlMs"}},
	{stateless, "prompts/list", []string{"result", "cacheScope"}},
	{stateless, "resources/list", []string{"result", "ttlMs"}},
	{stateless, "resources/list", []string{"result", "cacheScope"}},
	{stateless, "resources/read", []string{"result", "ttlMs"}},
	{stateless, "resources/read", []string{"result", "cacheScope"}},
	{stateless, "", []string{"result", "resultType"}},
	{stateless, "", []string{"result", "_meta", "io.modelcontextprotocol/serverInfo"}},
}

// suit returns a message, of method or in answer to it, in the form of a
// version.
func suit(line json.RawMessage, method, version string) json.RawMessage {
	if version == "" {
		return line
	}
	for _, m := range members {
		if version < m.since && (m.method == "" || m.method == method) {
			line, _ = without(line, m.path)
		}
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Result struct {
			InputRequests json.RawMessage `json:"inputRequests"`
		} `json:"result"`
	}
	if version < nullID || json.Unmarshal(line, &m) != nil {
		return line
	}
	if bytes.Equal(m.ID, []byte("null")) {
		line, _ = without(line, []string{"id"})
	}
	if m.Result.InputRequests != nil { // a question has no content yet
		line, _ = without(line, []string{"result", "content"})
	}
	return line
}

// without takes a member out of a value and reports whether it was there. A
// _meta that has nothing left goes with it.
func without(v json.RawMessage, path []string) (json.RawMessage, bool) {
	name, rest := path[0], path[1:]
	var list []json.RawMessage
	var object map[string]json.RawMessage
	changed := false
	inner := func(v json.RawMessage) json.RawMessage {
		v, c := without(v, rest)
		changed = changed || c
		return v
	}
	var out any
	switch {
	case json.Unmarshal(v, &object) == nil && object != nil:
		for key := range object {
			switch {
			case name != "*" && name != key:
			case len(rest) == 0:
				delete(object, key)
				changed = true
			default:
				object[key] = inner(object[key])
				if key == "_meta" && string(object[key]) == "{}" {
					delete(object, key)
				}
			}
		}
		out = object
	case name == "*" && json.Unmarshal(v, &list) == nil:
		for i := range list {
			list[i] = inner(list[i])
		}
		out = list
	}
	if !changed {
		return v, false
	}
	text, err := json.Marshal(out)
	if err != nil {
		return v, false
	}
	return text, true
}
