package source

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// wordy is a server with a tool that says as much as it is told to.
func wordy() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "wordy"}, nil)
	s.AddTool(&sdk.Tool{Name: "say", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var args struct{ Bytes int }
		if err := json.Unmarshal(r.Params.Arguments, &args); err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("a", args.Bytes)}}}, nil
	})
	return s
}

// oldServer serves the old transport alone.
func oldServer(t *testing.T, s *sdk.Server, before func(w http.ResponseWriter, r *http.Request) bool) string {
	t.Helper()
	sse := sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return s }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || before(w, r) {
			sse.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return web.URL
}

// TestOldTransport: servers that know the old transport alone are reached by it,
// whether their entry says so or not, with their headers and within the bounds.
func TestOldTransport(t *testing.T) {
	for name, typed := range map[string]bool{"an entry of type sse": true, "one of type http": false} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var without, posts int
			url := oldServer(t, wordy(), func(w http.ResponseWriter, r *http.Request) bool {
				mu.Lock()
				defer mu.Unlock()
				if r.Header.Get("X-Key") != "k" {
					without++
				}
				if r.Method == http.MethodPost && r.URL.RawQuery == "" {
					posts++
					w.WriteHeader(http.StatusMethodNotAllowed)
					return false
				}
				return true
			})
			b := newBench(t, Server{Name: "old", URL: url, SSE: typed, Headers: map[string]string{"X-Key": "k"}})
			defer b.Close()
			if st := b.up("old"); st.State != Connected || st.Transport != "sse" || st.Tools != 1 {
				t.Fatalf("%+v", st)
			}
			if text, err := b.call(t.Context(), "mcp_old_say", `{"bytes":3}`); err != nil || text != "aaa" {
				t.Errorf("%q, %v", text, err)
			}
			if text, err := b.call(t.Context(), "mcp_old_say", fmt.Sprintf(`{"bytes":%d}`, maxMessage)); codeOf(err) != tools.Unavailable {
				t.Errorf("a message that is too long: %d bytes, %v", len(text), err)
			}
			mu.Lock()
			defer mu.Unlock()
			if without > 0 || (posts == 0) != typed {
				t.Errorf("%d requests without the header, %d by the new transport", without, posts)
			}
		})
	}
}

// TestOldTransportRefused: what is no server of the old transport is not taken for
// one, and one that names another address is not followed.
func TestOldTransportRefused(t *testing.T) {
	var elsewhere bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere = true }))
	defer other.Close()
	naming := func(endpoint string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				http.Error(w, "no", http.StatusNotFound)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", endpoint)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		why   string
		gets  bool
	}{
		"another address": {naming(other.URL + "/messages"), "names another address", true},
		"another scheme":  {naming("file:///etc/passwd"), "names another address", true},
		"no stream":       {func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) }, "by the old transport sse", true},
		"not signed in":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "sidecar.mcp.signIn", false},
		"broken":          {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "Bad Gateway", false},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			gets := false
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				gets = gets || r.Method == http.MethodGet
				mu.Unlock()
				c.serve(w, r)
			}))
			defer web.Close()
			defer web.CloseClientConnections()
			b := newBench(t, Server{Name: "x", URL: web.URL})
			defer b.Close()
			b.up("x")
			s, _ := b.find("x")
			<-s.ended
			if st := s.status(); st.State != Failed && st.State != SignIn || !strings.Contains(st.Error, c.why) {
				t.Errorf("%+v", st)
			}
			mu.Lock()
			defer mu.Unlock()
			if gets != c.gets {
				t.Errorf("the old transport was tried: %v", gets)
			}
		})
	}
	if elsewhere {
		t.Error("another address heard of it")
	}
}

// TestProgress: what a server says of a call's progress is output of that call,
// clean, bounded, and of no other.
func TestProgress(t *testing.T) {
	b := newBench(t, stdio("tells"))
	if st := b.up("tells"); st.State != Connected {
		t.Fatalf("%+v", st)
	}
	tool, _, _ := b.o.Registry.Lookup("mcp_tells_tell")
	bound, err := tool.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	heardAll := func() {
		if err := ownfile.WriteFile(b.file+".heard", nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	var lines []string
	res, _, err := bound.Run(t.Context(), &tools.Call{Emit: func(chunk string) {
		if lines = append(lines, chunk); len(lines) == maxProgressLines {
			heardAll()
		}
	}})
	if err != nil || res.Text != "true" || len(lines) != maxProgressLines {
		t.Fatalf("%q, %v, %d lines", res.Text, err, len(lines))
	}
	if !strings.HasPrefix(lines[0], "1/1 [31mred and more long") || len(lines[0]) > maxProgress+20 || strings.Count(lines[0], "\n") != 1 || lines[1] != "2/2\n" || lines[2] != "3/3\n" {
		t.Errorf("%.200q, %q", lines[0], lines[1:3])
	}
	if res, _, err := bound.Run(t.Context(), &tools.Call{}); err != nil || res.Text != "false" {
		t.Errorf("control: nobody listens: %q, %v", res.Text, err)
	}
}

// TestLimits: an entry's limits hold.
func TestLimits(t *testing.T) {
	many := stdio("many")
	many.Limits.MaxTools = 7
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return wordy() }, nil))
	defer web.Close()
	few, much := Server{Name: "few", URL: web.URL}, Server{Name: "much", URL: web.URL}
	few.Limits.MaxResultBytes, much.Limits.MaxResultBytes = 100, config.MostMCPResultBytes
	silent := stdio("silent")
	silent.Limits.TimeoutSeconds = 1
	b := newBench(t, many, few, much, silent)
	defer b.Close()
	for _, name := range []string{"few", "much", "silent"} {
		if st := b.up(name); st.State != Connected {
			t.Fatalf("%+v", st)
		}
	}
	if st := b.up("many"); st.Tools != 7 || len(st.Warnings) != 1 || !strings.Contains(st.Warnings[0], "maxTools") {
		t.Errorf("%+v", st)
	}
	if text, err := b.call(t.Context(), "mcp_few_say", `{"bytes":101}`); err != nil || !strings.HasPrefix(text, strings.Repeat("a", 100)+"\n[100 of 101 bytes") {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := b.call(t.Context(), "mcp_few_say", `{"bytes":100}`); err != nil || len(text) != 100 {
		t.Errorf("control: %q, %v", text, err)
	}
	if text, err := b.call(t.Context(), "mcp_much_say", fmt.Sprintf(`{"bytes":%d}`, maxMessage+1)); err != nil || len(text) != maxMessage+1 {
		t.Errorf("more than others may: %d bytes, %v", len(text), err)
	}
	tool, _, _ := b.o.Registry.Lookup("mcp_silent_silent")
	if tool.Timeout.Seconds() != 1 {
		t.Errorf("%v", tool.Timeout)
	}
	if other, _, _ := b.o.Registry.Lookup("mcp_few_say"); other.Timeout.Seconds() != config.MCPTimeoutSeconds {
		t.Errorf("control: %v", other.Timeout)
	}
}

// TestContent: pictures of a result are pictures, within the bounds, and what is
// neither a picture nor text is named.
func TestContent(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 6))); err != nil {
		t.Fatal(err)
	}
	picture := &sdk.ImageContent{MIMEType: "text/html", Data: b.Bytes()}
	s := sdk.NewServer(&sdk.Implementation{Name: "shows"}, nil)
	s.AddTool(&sdk.Tool{Name: "show", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "before"}, picture, &sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("x")}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("<svg>")},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///a.png", MIMEType: "image/png", Blob: b.Bytes()}},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///a.zip", MIMEType: "application/zip", Blob: []byte("PK")}}, picture, picture, picture,
		}}, nil
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	defer web.Close()
	m := newBench(t, Server{Name: "shows", URL: web.URL})
	defer m.Close()
	if st := m.up("shows"); st.State != Connected {
		t.Fatalf("%+v", st)
	}
	tool, _, _ := m.o.Registry.Lookup("mcp_shows_show")
	bound, err := tool.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	res, _, err := bound.Run(t.Context(), &tools.Call{})
	if err != nil || len(res.Images) != tools.MaxImages || res.Images[0].MIME != "image/png" || res.Images[0].Width != 8 {
		t.Fatalf("%d images, %v", len(res.Images), err)
	}
	want := "before\n[an image, 8×6]\n[a sound, audio/wav, 1 bytes, is not shown]\n[an image, image/png, 5 bytes, is not shown: it is no PNG, JPEG, GIF or WebP image]\n[an image, 8×6]\n" +
		"[the resource file:///a.zip, 2 bytes, is not shown]\n[an image, 8×6]\n[an image, 8×6]\n[an image, 8×6, is not shown: a result has at most 4]"
	if res.Text != want {
		t.Errorf("%s", res.Text)
	}
}
