package acpdriver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// TestParents: what a sub-agent says and does is told with its call, and not mixed with
// what others say; what is no parent is none.
func TestParents(t *testing.T) {
	dir := t.TempDir()
	s := store(t, dir)
	run, a := begin(t, s, Options{})
	sub := run.Subscribe(0)
	prompt(t, run, conversation.Item{Text: "go"})
	req := a.read()
	by := func(parent string) string {
		return `"_meta":{"claudeCode":{"toolName":"Task","parentToolUseId":` + parent + `}}`
	}
	says := func(text, meta string) {
		a.update("s1", fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q},%s}`, text, meta))
	}
	a.update("s1", `{"sessionUpdate":"tool_call","toolCallId":"task","title":"Look around","status":"in_progress",`+by("null")+`}`)
	says("one ", by(`"task"`))
	says("two", by(`"task"`))
	says("mine", `"_meta":{}`)
	says("another", by(`"task-2"`))
	a.update("s1", `{"sessionUpdate":"tool_call","toolCallId":"c","title":"Read","kind":"read",`+by(`"task"`)+`}`)
	a.update("s1", `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"x"}}]}`)
	a.update("s1", `{"sessionUpdate":"tool_call","toolCallId":"own","title":"Its own",`+by(`"own"`)+`}`)
	a.update("s1", `{"sessionUpdate":"tool_call","toolCallId":"odd","title":"Odd",`+by(`7`)+`}`)
	a.update("s1", `{"sessionUpdate":"tool_call","toolCallId":"long","title":"Long",`+by(`"`+strings.Repeat("x", 1001)+`"`)+`}`)
	a.update("s1", `{"sessionUpdate":"tool_call","toolCallId":"list","title":"List","_meta":[1]}`)
	a.reply(req, `{"stopReason":"end_turn"}`)
	await(t, sub, ofKind(conversation.RunEnd))

	told := func(run *conversation.Run) string {
		var lines []string
		for _, e := range told(t, run) {
			what := e.Text + e.Delta
			if e.Call != nil {
				what += e.Call.ID
			}
			lines = append(lines, strings.TrimSpace(e.Kind+" "+what+" <"+e.Parent+">"))
		}
		return strings.Join(lines, "\n")
	}
	want := strings.Join([]string{
		"call.proposed task <>", "call.started task <>", "text one two <task>", "text mine <>", "text another <task-2>",
		"call.proposed c <task>", "call.started c <task>", "call.output xc <task>", "call.finished c <task>",
		"call.proposed own <>", "call.proposed odd <>", "call.proposed long <>", "call.proposed list <>", "run.end  <>",
	}, "\n")
	if got := told(run); got != want {
		t.Errorf("it is told\n%s\nwant\n%s", got, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := store(t, dir).Get(run.ID())
	if err != nil {
		t.Fatal(err)
	}
	if got := told(again); got != want {
		t.Errorf("after a restart it is told\n%s\nwant\n%s", got, want)
	}
}
