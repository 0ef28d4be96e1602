package source

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// saying is a server whose tool says who it is once it may. begun has a token of each call.
func saying(t *testing.T, who string, may <-chan struct{}) (url string, begun <-chan struct{}) {
	t.Helper()
	calls := make(chan struct{}, 10)
	s := sdk.NewServer(&sdk.Implementation{Name: who}, nil)
	s.AddTool(&sdk.Tool{Name: "who", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		calls <- struct{}{}
		select {
		case <-may:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: who}}}, nil
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(web.Close)
	return web.URL, calls
}

// TestSuccessor: a server whose entry changes serves until the new one does, and its calls to
// their end; one that can't be reached does not take its place.
func TestSuccessor(t *testing.T) {
	now := make(chan struct{})
	close(now)
	held := make(chan struct{})
	first, begun := saying(t, "first", held)
	second, _ := saying(t, "second", now)
	third, _ := saying(t, "third", now)
	b := newBench(t, Server{Name: "it", URL: first})
	after := make(chan time.Time) // a server that has failed is not tried again
	b.o.After = func(time.Duration) <-chan time.Time { return after }
	if st := b.up("it"); st.State != Connected {
		t.Fatalf("%+v", st)
	}
	old, err := b.find("it")
	if err != nil {
		t.Fatal(err)
	}
	turn := func(list ...Server) {
		b.mu.Lock()
		b.servers = list
		b.mu.Unlock()
	}
	type said struct {
		text string
		err  error
	}
	running := make(chan said, 2)
	call := func() {
		text, err := b.call(t.Context(), "mcp_it_who", `{}`)
		running <- said{text, err}
	}
	go call()
	<-begun

	// A new one that is not there: the first goes on.
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	turn(Server{Name: "it", URL: gone.URL})
	if st := b.up("it"); st.State != Failed || st.Error == "" {
		t.Fatalf("%+v", st)
	}
	go call()
	<-begun // of the first

	// One that is there: it has what begins now, and the first ends what it began.
	turn(Server{Name: "it", URL: second})
	if st := b.up("it"); st.State != Connected || st.Tools != 1 {
		t.Fatalf("%+v", st)
	}
	if text, err := b.call(t.Context(), "mcp_it_who", `{}`); err != nil || text != "second" {
		t.Errorf("%q, %v", text, err)
	}
	close(held)
	for range 2 {
		if got := <-running; got.err != nil || got.text != "first" {
			t.Errorf("a call that was running: %+v", got)
		}
	}
	<-old.ended
	if text, err := b.call(t.Context(), "mcp_it_who", `{}`); err != nil || text != "second" {
		t.Errorf("after the first has ended: %q, %v", text, err)
	}

	// A change before the change has worked: the one that serves goes on until the last does.
	turn(Server{Name: "it", URL: gone.URL})
	b.up("it")
	turn(Server{Name: "it", URL: gone.URL + "/again"})
	b.up("it")
	if text, err := b.call(t.Context(), "mcp_it_who", `{}`); err != nil || text != "second" {
		t.Errorf("after two that are not there: %q, %v", text, err)
	}
	turn(Server{Name: "it", URL: third})
	if st := b.up("it"); st.State != Connected {
		t.Fatalf("%+v", st)
	}
	if text, err := b.call(t.Context(), "mcp_it_who", `{}`); err != nil || text != "third" {
		t.Errorf("%q, %v", text, err)
	}

	// What must not run any more ends at once: by its entry, by the workspace, or for good.
	turn(Server{Name: "it", URL: third, Off: true})
	if b.Reload(); len(b.names()) != 0 {
		t.Errorf("switched off: %v", b.names())
	}
	turn(Server{Name: "it", URL: third})
	b.up("it")
	turn(Server{Name: "it", URL: gone.URL})
	b.up("it")
	turn()
	if b.Reload(); len(b.names()) != 0 || len(b.List()) != 0 {
		t.Errorf("taken out: %v, %+v", b.names(), b.List())
	}
}

// TestLeaving: a call runs to its end over more than one change, and no longer than the server
// may run at all.
func TestLeaving(t *testing.T) {
	now := make(chan struct{})
	close(now)
	for name, stays := range map[string]bool{"changed": true, "taken out": false} {
		t.Run(name, func(t *testing.T) {
			held := make(chan struct{})
			defer func() {
				if !stays {
					close(held)
				}
			}()
			first, begun := saying(t, "first", held)
			second, _ := saying(t, "second", now)
			third, _ := saying(t, "third", now)
			b := newBench(t, Server{Name: "it", URL: first})
			b.up("it")
			turn := func(list ...Server) {
				b.mu.Lock()
				b.servers = list
				b.mu.Unlock()
				b.Reload()
			}
			running := make(chan error, 1)
			go func() {
				text, err := b.call(t.Context(), "mcp_it_who", `{}`)
				if err == nil && text != "first" {
					err = errors.New("it is answered by " + text)
				}
				running <- err
			}()
			<-begun
			for _, url := range []string{second, third} {
				turn(Server{Name: "it", URL: url})
				b.up("it")
			}
			if text, err := b.call(t.Context(), "mcp_it_who", `{}`); err != nil || text != "third" {
				t.Errorf("%q, %v", text, err)
			}
			if stays {
				close(held)
			} else {
				turn()
			}
			if err := <-running; (err == nil) != stays {
				t.Errorf("the call that was running: %v", err)
			}
		})
	}
}
