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
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// person answers as it is told.
type person struct {
	mu      sync.Mutex
	asked   []editor.Question
	answers []string // "" dismisses
	hold    chan struct{}
	err     error
}

func (p *person) Ask(ctx context.Context, q editor.Question) (string, bool, error) {
	p.mu.Lock()
	p.asked = append(p.asked, q)
	answer := ""
	if len(p.answers) > 0 {
		answer, p.answers = p.answers[0], p.answers[1:]
	}
	hold, err := p.hold, p.err
	p.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return "", false, ctx.Err()
		}
	}
	return answer, answer != "", err
}

// TestElicitation: a server may ask its user during a call, in the server's name,
// for what is no secret, in every version of the protocol.
func TestElicitation(t *testing.T) {
	form := func(properties string, required ...string) json.RawMessage {
		data, _ := json.Marshal(required)
		if required == nil {
			data = []byte("[]")
		}
		return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":` + string(data) + `}`)
	}
	for name, versions := range map[string][]string{"older": {"2025-06-18"}, "newest": nil} {
		t.Run(name, func(t *testing.T) {
			s := sdk.NewServer(&sdk.Implementation{Name: "curious"}, &sdk.ServerOptions{SupportedProtocolVersions: versions})
			var mu sync.Mutex
			var next sdk.ElicitParams
			s.AddTool(&sdk.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				mu.Lock()
				p := next
				mu.Unlock()
				var res *sdk.ElicitResult
				if versions == nil {
					if r.Params.InputResponses == nil {
						return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"q": &p}, RequestState: "s"}, nil
					}
					res, _ = r.Params.InputResponses["q"].(*sdk.ElicitResult)
				} else {
					var err error
					if res, err = r.Session.Elicit(ctx, &p); err != nil {
						return nil, err
					}
				}
				if res == nil {
					return nil, errors.New("no answer")
				}
				content, _ := json.Marshal(res.Content)
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: res.Action + " " + string(content)}}}, nil
			})
			var working sync.WaitGroup // the server, on calls
			s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
				return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
					if method == "tools/call" {
						working.Add(1)
						defer working.Done()
					}
					return next(ctx, method, req)
				}
			})
			web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: versions == nil}))
			defer web.Close()
			somebody := &person{}
			b := newBench(t, Server{Name: "curious", URL: web.URL})
			b.o.People = somebody
			defer b.Close()
			if st := b.up("curious"); st.State != Connected {
				t.Fatalf("%+v", st)
			}
			for _, c := range []struct {
				what, message string
				schema        json.RawMessage
				answers       []string
				want          string // "": the call fails
				asked         int
			}{
				{"a text", "Which branch?", form(`"name":{"type":"string","title":"Branch"}`, "name"), []string{"main"}, `accept {"name":"main"}`, 1},
				{"kinds", "More", form(`"a":{"type":"integer"},"b":{"type":"boolean"},"c":{"type":"string","enum":["x","y"]}`, "c", "b", "a"), []string{"y", "Yes", "7"}, `accept {"a":7,"b":true,"c":"y"}`, 3},
				{"left out", "More", form(`"a":{"type":"string"},"b":{"type":"string"}`, "b"), []string{"x", ""}, `accept {"b":"x"}`, 2},
				{"dismissed", "Which?", form(`"a":{"type":"string"}`, "a"), []string{""}, `cancel null`, 1},
				{"no number", "Which?", form(`"a":{"type":"integer"}`, "a"), []string{"many"}, `cancel null`, 1},
				{"accepted", "Go on?", form(``), []string{"Accept"}, `accept {}`, 1},
				{"declined", "Go on?", form(``), []string{"Decline"}, `decline null`, 1},
				{"a password by its message", "Your password?", form(`"a":{"type":"string"}`, "a"), []string{"hush"}, `decline null`, 0},
				{"a password by its name", "Sign in", form(`"db_password":{"type":"string"}`, "db_password"), []string{"hush"}, `decline null`, 0},
				{"a token by its title", "Sign in", form(`"a":{"type":"string","title":"Access token"}`, "a"), []string{"hush"}, `decline null`, 0},
				{"a key by its description", "Sign in", form(`"a":{"type":"string","description":"an API-key"}`, "a"), []string{"hush"}, `decline null`, 0},
				{"many fields", "All", form(`"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"},"e":{"type":"string"},"f":{"type":"string"}`), nil, "", 0},
			} {
				mu.Lock()
				next = sdk.ElicitParams{Message: c.message, RequestedSchema: c.schema}
				mu.Unlock()
				somebody.mu.Lock()
				somebody.asked, somebody.answers = nil, c.answers
				somebody.mu.Unlock()
				text, err := b.call(t.Context(), "mcp_curious_ask", `{}`)
				if (err != nil) != (c.want == "") || c.want != "" && text != c.want && text != strings.Replace(c.want, "null", "{}", 1) && text != strings.Replace(c.want, "{}", "null", 1) {
					t.Errorf("%s: %q, %v", c.what, text, err)
				}
				somebody.mu.Lock()
				if len(somebody.asked) != c.asked {
					t.Errorf("%s: asked %+v", c.what, somebody.asked)
				}
				for _, q := range somebody.asked {
					if !strings.HasPrefix(q.Text, "The MCP server curious asks") || !strings.Contains(q.Text, c.message) {
						t.Errorf("%s: %q", c.what, q.Text)
					}
				}
				somebody.mu.Unlock()
			}
			b.mu.Lock()
			if len(b.warned) != 4 || !strings.Contains(b.warned[0], "secret") {
				t.Errorf("warned %q", b.warned)
			}
			b.mu.Unlock()

			// Nobody can be asked, and the call is given up while somebody is.
			mu.Lock()
			next = sdk.ElicitParams{Message: "Which?", RequestedSchema: form(`"a":{"type":"string"}`, "a")}
			mu.Unlock()
			somebody.mu.Lock()
			somebody.err = errors.New("nobody is there")
			somebody.mu.Unlock()
			if text, err := b.call(t.Context(), "mcp_curious_ask", `{}`); err == nil {
				t.Errorf("nobody is there: %q", text)
			}
			somebody.mu.Lock()
			somebody.err, somebody.hold, somebody.asked = nil, make(chan struct{}), nil
			somebody.mu.Unlock()
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := b.call(ctx, "mcp_curious_ask", `{}`)
				ended <- err
			}()
			for asked := 0; asked == 0; {
				somebody.mu.Lock()
				asked = len(somebody.asked)
				somebody.mu.Unlock()
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("given up: %v", err)
			}
			working.Wait() // a server that is left before it hears of that waits for an answer for ever
			if st := b.List()[0]; st.State != Connected {
				t.Errorf("%+v", st)
			}
		})
	}
}

// TestTimeStandsStill: while a user is asked, a call has its time; otherwise it does
// not.
func TestTimeStandsStill(t *testing.T) {
	var c calls
	if c.latest() != nil {
		t.Error("a question for no call")
	}
	ctx, end := c.begin(t.Context(), &tools.Call{}, time.Hour)
	r := c.latest()
	r.pause()
	r.left = time.Nanosecond
	select {
	case <-ctx.Done():
		t.Error("it ended while it stood still")
	default:
	}
	r.goOn()
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		t.Error(context.Cause(ctx))
	}
	end()
	if c.latest() != nil {
		t.Error("a question for a call that is over")
	}
	_, end = c.begin(t.Context(), &tools.Call{}, time.Hour)
	defer end()
	for i := range maxForms + 1 {
		if got := c.latest(); (got != nil) != (i < maxForms) {
			t.Errorf("question %d of a call: %v", i+1, got != nil)
		}
	}
	if fmt.Sprint(len(c.list)) != "1" {
		t.Errorf("%d calls", len(c.list))
	}
}
