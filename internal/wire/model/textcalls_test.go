package model

import (
	"encoding/json"
	"strings"
	"testing"
)

var textTools = []Tool{
	{Name: "read_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}}}`)},
	{Name: "git_status", Schema: json.RawMessage(`{"type":"object"}`)},
}

// TestTextCalls: the four shapes, what is none, and what is one that can't be read.
func TestTextCalls(t *testing.T) {
	for name, c := range map[string]struct{ text, before, calls string }{
		"function tags":     {"I look.\n<function=read_file><parameter=path>\na \"b\".go\n</parameter><parameter=limit>7</parameter></function>", "I look.", `read_file {"limit":7,"path":"a \"b\".go"}`},
		"a text of digits":  {"<function=read_file><parameter=path>7</parameter></function>", "", `read_file {"path":"7"}`},
		"a wrong number":    {"<function=read_file><parameter=limit>many</parameter></function>", "", `read_file {"limit":"many"}`},
		"function, cut":     {"<function=read_file><parameter=path>a", "", `read_file <parameter=path>a unreadable`},
		"call tags":         {"First.\n<tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}</tool_call>\n<tool_call>{\"name\":\"git_status\"}</tool_call>", "First.", `read_file {"path": "a"}; git_status {}`},
		"an unknown tool":   {`<tool_call>{"name":"fly","arguments":{}}</tool_call>`, "", `fly {}`},
		"both tags":         {"<tool_call><function=git_status></function></tool_call>", "", `git_status {}`},
		"arguments as text": {`<tool_call>{"name":"read_file","arguments":"{\"path\":\"a\"}"}</tool_call>`, "", `read_file {"path":"a"}`},
		"parameters":        {`<tool_call>{"name":"read_file","parameters":{"path":"a"}}</tool_call>`, "", `read_file {"path":"a"}`},
		"call, cut":         {`<tool_call>{"name":"read_file","arguments":{"path":"a`, "", `read_file {"name":"read_file","arguments":{"path":"a unreadable`},
		"call, no name":     {`<tool_call>oops</tool_call>`, "", ` oops unreadable`},
		"a fence":           {"So:\n```json\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n```\nand wait.", "So:", `read_file {"path":"a"}`},
		"a list in a fence": {"```\n[{\"name\":\"git_status\"},{\"name\":\"git_status\"}]\n```", "", `git_status {}; git_status {}`},
		"a bare object":     {"Well.\n{\"name\":\"read_file\",\n\"arguments\":{\"path\":\"a\"}}", "Well.", `read_file {"path":"a"}`},
		"other JSON":        {"```json\n{\"name\":\"sidecar\",\"version\":\"1\"}\n```", "```json\n{\"name\":\"sidecar\",\"version\":\"1\"}\n```", ""},
		"a bare other":      {`{"name":"package"}`, `{"name":"package"}`, ""},
		"in a sentence":     {`Write {"name":"git_status"} to see.`, `Write {"name":"git_status"} to see.`, ""},
		"plain":             {"No call.", "No call.", ""},
		"one shape":         {"<tool_call>{\"name\":\"git_status\"}</tool_call>\n```json\n{\"name\":\"read_file\"}\n```", "", `git_status {}`},
	} {
		t.Run(name, func(t *testing.T) {
			before, calls := textCalls(c.text, textTools)
			var got []string
			for _, b := range calls {
				one := b.Name + " " + b.Args
				if !b.Readable() {
					one += " unreadable"
				}
				got = append(got, one)
			}
			if before != c.before || strings.Join(got, "; ") != c.calls {
				t.Errorf("%q, then %q; want %q, then %q", before, strings.Join(got, "; "), c.before, c.calls)
			}
		})
	}
}

// TestTextConversation: a model without calls has them as text, both ways.
func TestTextConversation(t *testing.T) {
	scenes["writes calls"] = scene{text: "I look.\n<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}</tool_call>", stop: Done}
	defer delete(scenes, "writes calls")
	eachWire(t, func(t *testing.T, p *provider, wire string) {
		r := Request{System: "Be short.", Tools: textTools, ToolText: "Call so.", Messages: []Message{{User, []Block{{Kind: Text, Text: "hi"}}}}}
		without := func(c *Client) { c.Profile.NoCalls = true }
		a, _, err := p.ask(t.Context(), wire, "writes calls", r, without)
		if err != nil {
			t.Fatal(err)
		}
		got := calls(a.Blocks)
		if a.Stop != Calls || len(got) != 1 || got[0].Name != "read_file" || got[0].ID == "" || strings.TrimSpace(text(a.Blocks, Text)) != "I look." {
			t.Fatalf("%+v", a)
		}
		r.Messages = append(r.Messages, Message{Assistant, a.Blocks}, Message{User, []Block{{Kind: Result, ID: got[0].ID, Text: "package a", Failed: true}}})
		b, _, err := p.ask(t.Context(), wire, "writes calls", r, without)
		if err != nil {
			t.Fatal(err)
		}
		if again := calls(b.Blocks); again[0].ID == got[0].ID {
			t.Errorf("two calls have the id %s", again[0].ID)
		}
		body := string(p.bodies["writes calls"][1])
		for _, want := range []string{`Be short.\n\nCall so.`, `<tool_call>{\"arguments\":{\"path\":\"a\"},\"name\":\"read_file\"}</tool_call>`, `<tool_output tool=\"read_file\" failed=\"true\">\npackage a`} {
			if !strings.Contains(body, want) {
				t.Errorf("%s\nhas no %s", body, want)
			}
		}
		if strings.Contains(body, `"tools"`) {
			t.Errorf("it is offered tools: %s", body)
		}
	})
}
