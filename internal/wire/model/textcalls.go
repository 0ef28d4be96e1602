package model

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Models that were not taught to call write their calls as text. How they are asked to
// is Request.ToolText; how they do it is one of four shapes.

// textual is a request for such a model: calls and results are text, and the tools
// part of the instructions.
func textual(r Request) Request {
	if r.ToolText != "" {
		r.System = strings.TrimSpace(r.System + "\n\n" + r.ToolText)
	}
	r.Tools = nil
	names := map[string]string{}
	messages := make([]Message, len(r.Messages))
	for i, m := range r.Messages {
		messages[i].Role = m.Role
		for _, b := range m.Blocks {
			switch b.Kind {
			case Call:
				names[b.ID] = b.Name
				text, _ := marshal(fields{"name": b.Name, "arguments": b.input()})
				b = Block{Kind: Text, Text: "\n<tool_call>" + string(text) + "</tool_call>"}
			case Result:
				state := ""
				if b.Failed {
					state = ` failed="true"`
				}
				messages[i].Blocks = append(messages[i].Blocks, Block{Kind: Text, Text: fmt.Sprintf("<tool_output tool=%q%s>\n%s\n</tool_output>\n", names[b.ID], state, b.Text)})
				messages[i].Blocks = append(messages[i].Blocks, b.Images...)
				continue
			case Reasoning, Other:
				continue
			}
			messages[i].Blocks = append(messages[i].Blocks, b)
		}
	}
	r.Messages = messages
	return r
}

// withCalls is an answer in which the calls of its text are calls. Their ids are
// unlike those of before: from counts the messages of the conversation.
func withCalls(a Answer, known []Tool, from int) Answer {
	var blocks []Block
	for _, b := range a.Blocks {
		if b.Kind != Text {
			blocks = append(blocks, b)
			continue
		}
		text, calls := textCalls(b.Text, known)
		if len(calls) == 0 {
			blocks = append(blocks, b)
			continue
		}
		if text != "" {
			blocks = append(blocks, Block{Kind: Text, Text: text})
		}
		for i := range calls {
			calls[i].ID = fmt.Sprintf("text-%d-%d", from, i+1)
		}
		blocks = append(blocks, calls...)
		if a.Stop == Done {
			a.Stop = Calls
		}
	}
	a.Blocks = blocks
	return a
}

// textCalls are the calls of a text, and what stands before the first. A message has
// one shape: the first that fits. JSON in a fence, or bare, is a call only if it names
// a tool that there is, because models show JSON for other reasons, too.
func textCalls(text string, known []Tool) (before string, calls []Block) {
	for _, shape := range []func(string, []Tool) (int, []Block){callTags, functionTags, fences, bare} {
		if at, calls := shape(text, known); len(calls) > 0 {
			return strings.TrimSpace(text[:at]), calls
		}
	}
	return text, nil
}

var (
	functionTag  = regexp.MustCompile(`(?s)<function=([\w.-]+)>(.*?)(</function>|$)`)
	parameterTag = regexp.MustCompile(`(?s)<parameter=([\w.-]+)>(.*?)</parameter>`)
	callTag      = regexp.MustCompile(`(?s)<tool_call>(.*?)(</tool_call>|$)`)
	fence        = regexp.MustCompile("(?s)```(?:json|tool_call)?[ \t]*\n(.*?)\n[ \t]*```")
	nameMember   = regexp.MustCompile(`"name"\s*:\s*"([\w.-]+)"`)
)

// functionTags are <function=NAME><parameter=KEY>VALUE</parameter></function>.
func functionTags(text string, known []Tool) (at int, calls []Block) {
	for _, m := range functionTag.FindAllStringSubmatchIndex(text, -1) {
		if calls == nil {
			at = m[0]
		}
		name, body, closed := text[m[2]:m[3]], text[m[4]:m[5]], m[6] < m[7]
		b := Block{Kind: Call, Name: name}
		if !closed {
			b.Args = body // it was cut off
		} else {
			types := typesOf(name, known)
			args := fields{}
			for _, p := range parameterTag.FindAllStringSubmatch(body, -1) {
				args[p[1]] = valueOf(p[2], types[p[1]])
			}
			data, _ := marshal(args)
			b.Args = string(data)
		}
		calls = append(calls, b)
	}
	return at, calls
}

// typesOf are the types of a tool's arguments.
func typesOf(name string, known []Tool) map[string]string {
	types := map[string]string{}
	for _, t := range known {
		var schema struct {
			Properties map[string]struct {
				Type any `json:"type"`
			} `json:"properties"`
		}
		if t.Name != name || json.Unmarshal(t.Schema, &schema) != nil {
			continue
		}
		for member, p := range schema.Properties {
			if text, ok := p.Type.(string); ok {
				types[member] = text
			}
		}
	}
	return types
}

// valueOf is the value of a tag: a text, unless the schema wants something else. The
// line breaks that set it off are not part of it.
func valueOf(text, kind string) any {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "\n"), "\n")
	if plain := strings.TrimSpace(text); kind != "string" && kind != "" && json.Valid([]byte(plain)) {
		return json.RawMessage(plain)
	}
	return text
}

// callTags are <tool_call>{"name": …, "arguments": …}</tool_call>.
func callTags(text string, known []Tool) (at int, calls []Block) {
	for _, m := range callTag.FindAllStringSubmatchIndex(text, -1) {
		if calls == nil {
			at = m[0]
		}
		body := strings.TrimSpace(text[m[2]:m[3]])
		if inner := parameterTag.MatchString(body) || functionTag.MatchString(body); inner { // both tags at once
			_, more := functionTags(body, known)
			calls = append(calls, more...)
			continue
		}
		b, ok := objectCall(body)
		if !ok { // whoever runs calls says that it could not be read
			b = Block{Kind: Call, Args: body}
			if n := nameMember.FindStringSubmatch(body); n != nil {
				b.Name = n[1]
			}
		}
		calls = append(calls, b)
	}
	return at, calls
}

// fences are such objects, or lists of them, in fences.
func fences(text string, known []Tool) (at int, calls []Block) {
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		found := knownCalls(text[m[2]:m[3]], known)
		if calls == nil && found != nil {
			at = m[0]
		}
		calls = append(calls, found...)
	}
	return at, calls
}

// bare is a text that ends with such an object, or is a list of them.
func bare(text string, known []Tool) (at int, calls []Block) {
	for i, c := range text {
		if (c == '{' || c == '[') && (i == 0 || text[i-1] == '\n') {
			if calls = knownCalls(text[i:], known); calls != nil {
				return i, calls
			}
		}
	}
	return 0, nil
}

func knownCalls(text string, known []Tool) (calls []Block) {
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) != nil {
		list = []json.RawMessage{json.RawMessage(text)}
	}
	for _, one := range list {
		b, ok := objectCall(string(one))
		if !ok || !slices.ContainsFunc(known, func(t Tool) bool { return t.Name == b.Name }) {
			return nil
		}
		calls = append(calls, b)
	}
	return calls
}

// objectCall is a call as an object.
func objectCall(text string) (b Block, ok bool) {
	var o struct {
		Name       string          `json:"name"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
	}
	if json.Unmarshal([]byte(text), &o) != nil || o.Name == "" {
		return b, false
	}
	args := o.Arguments
	if args == nil {
		args = o.Parameters
	}
	b = Block{Kind: Call, Name: o.Name, Args: string(args)}
	var inside string
	switch {
	case args == nil:
		b.Args = "{}"
	case json.Unmarshal(args, &inside) == nil: // the object as a text
		b.Args = inside
	}
	return b, true
}
