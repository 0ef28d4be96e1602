package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// played is a language model that answers every request with one text, over the wire of
// Chat Completions.
type played struct {
	mu     sync.Mutex
	bodies []string
	tokens int
	none   error
	url    string
}

func (p *played) Model(string) (*model.Client, model.Facts, error) {
	if p.none != nil {
		return nil, model.Facts{}, p.none
	}
	return &model.Client{Profile: model.Profile{Name: "mine", Wire: "chat", URL: p.url, Model: "small"}, Policy: model.Policy{Tries: 1}}, model.Facts{}, nil
}

func (p *played) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	p.bodies = append(p.bodies, string(body))
	tokens := p.tokens
	p.mu.Unlock()
	if strings.Contains(string(body), "break down") {
		http.Error(w, "key sk-of-the-user is wrong", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"model\":\"small-1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"forty-two\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n", tokens)
}

// TestSampling: a server has the user's model asked with the user's word for it, which is
// for exactly what is asked, and within bounds.
func TestSampling(t *testing.T) {
	say := func(texts ...string) (list []*sdk.SamplingMessage) { //nolint:staticcheck // servers of the field ask
		for i, text := range texts {
			list = append(list, &sdk.SamplingMessage{Role: []sdk.Role{"user", "assistant"}[i%2], Content: &sdk.TextContent{Text: text}}) //nolint:staticcheck // likewise
		}
		return list
	}
	type params = sdk.CreateMessageParams //nolint:staticcheck // likewise
	s := sdk.NewServer(&sdk.Implementation{Name: "curious"}, &sdk.ServerOptions{SupportedProtocolVersions: []string{"2025-06-18"}})
	var mu sync.Mutex
	var next params
	s.AddTool(&sdk.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		mu.Lock()
		p := next
		mu.Unlock()
		res, err := r.Session.CreateMessage(ctx, &p) //nolint:staticcheck // likewise
		if err != nil {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}}, nil //nolint:nilerr // the test looks at it
		}
		text, _ := res.Content.(*sdk.TextContent)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text.Text + " by " + res.Model + ", " + res.StopReason}}}, nil
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	defer web.Close()
	m := &played{tokens: 10}
	maker := httptest.NewServer(m)
	defer maker.Close()
	m.url = maker.URL
	somebody := &person{}
	b := newBench(t, Server{Name: "curious", URL: web.URL})
	b.o.People, b.o.Models = somebody, m
	defer b.Close()
	if st := b.up("curious"); st.State != Connected {
		t.Fatalf("%+v", st)
	}
	try := func(what string, p params, answers []string, want string, asked int, reached bool) {
		t.Helper()
		mu.Lock()
		next = p
		mu.Unlock()
		somebody.mu.Lock()
		somebody.asked, somebody.answers = nil, answers
		somebody.mu.Unlock()
		m.mu.Lock()
		m.bodies = nil
		m.mu.Unlock()
		text, err := b.call(t.Context(), "mcp_curious_ask", `{}`)
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, want) || strings.Contains(text, "sk-of-the-user") {
			t.Errorf("%s: %q", what, text)
		}
		somebody.mu.Lock()
		defer somebody.mu.Unlock()
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(somebody.asked) != asked || (len(m.bodies) == 1) != reached {
			t.Errorf("%s: asked %+v, reached by %q", what, somebody.asked, m.bodies)
		}
	}
	try("allowed", params{SystemPrompt: "be brief", Messages: say("what is it?", "what?", "the answer"), MaxTokens: 100}, []string{"Allow"}, "forty-two by small-1, endTurn", 1, true)
	q := somebody.asked[0]
	for _, want := range []string{"The MCP server curious asks your language model mine (small) this", "at most 100 tokens", "(instructions) be brief", "what is it?", "(model) what?", "the answer"} {
		if !strings.Contains(q.Text, want) {
			t.Errorf("no %q in %q", want, q.Text)
		}
	}
	try("denied", params{Messages: say("x"), MaxTokens: 10}, []string{"Deny"}, "did not allow", 1, false)
	try("dismissed", params{Messages: say("x"), MaxTokens: 10}, []string{""}, "did not allow", 1, false)
	try("as much as it likes", params{Messages: say("x"), MaxTokens: 1 << 40}, []string{"Allow"}, "forty-two", 1, true)
	if !strings.Contains(somebody.asked[0].Text, "at most 2000 tokens") {
		t.Errorf("%q", somebody.asked[0].Text)
	}
	long := strings.Repeat("y", maxSampledBytes-1)
	try("all that may be", params{Messages: say(long), MaxTokens: 10}, []string{"Allow"}, "forty-two", 1, true)
	if !strings.Contains(somebody.asked[0].Text, long) {
		t.Error("what is sent is not shown whole")
	}
	try("too much", params{SystemPrompt: "zz", Messages: say(long), MaxTokens: 10}, nil, "8192 are taken", 0, false)
	try("nothing", params{MaxTokens: 10}, nil, "1 to 20 messages", 0, false)
	try("too many", params{Messages: say(strings.Split(strings.Repeat("x,", maxSampledTurns), ",")...), MaxTokens: 10}, nil, "1 to 20 messages", 0, false)
	try("an image", params{Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.ImageContent{Data: []byte("x"), MIMEType: "image/png"}}}, MaxTokens: 10}, nil, "only text", 0, false) //nolint:staticcheck // likewise
	try("a model that fails", params{Messages: say("break down"), MaxTokens: 10}, []string{"Allow"}, "not reached", 1, true)
	m.none = errors.New("set backend.profile")
	try("no model", params{Messages: say("x"), MaxTokens: 10}, nil, "no language model in use", 0, false)
	m.none = nil
	m.tokens = maxSampledBudget
	try("the last", params{Messages: say("x"), MaxTokens: 10}, []string{"Allow"}, "forty-two", 1, true)
	try("used up", params{Messages: say("x"), MaxTokens: 10}, nil, "used up", 0, false)
}
