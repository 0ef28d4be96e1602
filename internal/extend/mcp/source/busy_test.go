package source

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestBusy: a server that can't take a call now has not refused it. The call may be
// made again, after the time that the server asks for, and the connection holds.
// The controls are answers of the server, and a server that is gone.
func TestBusy(t *testing.T) {
	good := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return wordy() }, nil)
	for name, c := range map[string]struct {
		status int
		after  string
		body   string
		code   tools.Code
		again  bool // it may be made again
		wait   time.Duration
		holds  bool // the connection
	}{
		"429":                    {429, "7", "", tools.Unavailable, true, 7 * time.Second, true},
		"502":                    {502, "", "<html>", tools.Unavailable, true, 0, true},
		"503":                    {503, "", "", tools.Unavailable, true, 0, true},
		"504":                    {504, "soon", "", tools.Unavailable, true, 0, true},
		"503 with an answer":     {503, "1", `{"jsonrpc":"2.0","id":ID,"error":{"code":-1,"message":"too many"}}`, tools.Unavailable, true, time.Second, true},
		"an error":               {200, "", `{"jsonrpc":"2.0","id":ID,"error":{"code":-1,"message":"no"}}`, tools.CommandFailed, false, 0, true},
		"an error of that code":  {200, "", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32005,"message":"no"}}`, tools.CommandFailed, false, 0, true},
		"a refusal with a cause": {400, "", `{"jsonrpc":"2.0","id":ID,"error":{"code":-1,"message":"no"}}`, tools.CommandFailed, false, 0, true},
		"500":                    {500, "", "", tools.Unavailable, true, 0, false},
		"gone":                   {0, "", "", tools.Unavailable, true, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				data, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(strings.NewReader(string(data)))
				if !strings.Contains(string(data), `"tools/call"`) || calls.Add(1) > 1 {
					good.ServeHTTP(w, r)
					return
				}
				if c.status == 0 {
					panic(http.ErrAbortHandler)
				}
				_, id, _ := strings.Cut(string(data), `"id":`)
				var n int
				_, _ = fmt.Sscanf(id, "%d", &n)
				w.Header().Set("Content-Type", "application/json")
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, strings.ReplaceAll(c.body, "ID", fmt.Sprint(n)))
			}))
			defer web.Close()
			b := newBench(t, Server{Name: "web", URL: web.URL})
			defer b.Close()
			b.o.After = func(time.Duration) <-chan time.Time { return nil } // it is never reached again
			if st := b.up("web"); st.State != Connected {
				t.Fatalf("%+v", st)
			}
			for b.names()[0] != "mcp_web_say" {
				<-b.change
			}
			_, err := b.call(t.Context(), "mcp_web_say", `{"bytes":3}`)
			e := tools.AsError(err)
			if err == nil || e.Code != c.code || e.Transient != c.again || e.RetryAfter != c.wait {
				t.Fatalf("%+v", e)
			}
			if c.holds != (len(b.names()) > 0) {
				if !c.holds {
					for len(b.names()) > 0 {
						<-b.change
					}
					return
				}
				t.Errorf("it has %v", b.names())
			}
			if !c.holds {
				return
			}
			if text, err := b.call(t.Context(), "mcp_web_say", `{"bytes":3}`); err != nil || text != "aaa" {
				t.Errorf("the next one: %q, %v", text, err)
			}
		})
	}
}
