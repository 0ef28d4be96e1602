package app_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// geminiCLI is Gemini CLI as far as the editor sees it.
type geminiCLI struct {
	t              *testing.T
	url, token, id string
	told           chan string
	stop           context.CancelFunc
	n              int
}

func (d *desk) gemini() *geminiCLI {
	d.t.Helper()
	var names []string
	until(d.t, "there is no file for Gemini", func() bool { names = found(d.t, d.places.Gemini); return len(names) == 1 })
	var f struct {
		Port                     int
		AuthToken, WorkspacePath string
		IdeInfo                  struct{ Name, DisplayName string }
	}
	decodeFile(d.t, names[0], &f)
	if !strings.HasPrefix(f.WorkspacePath, d.dir) || f.IdeInfo.DisplayName == "" {
		d.t.Errorf("the file says %+v", f)
	}
	return geminiAt(d.t, fmt.Sprint(f.Port), f.AuthToken)
}

func geminiAt(t *testing.T, port, token string) *geminiCLI {
	t.Helper()
	g := &geminiCLI{t: t, url: "http://127.0.0.1:" + port + "/mcp", token: token, told: make(chan string, 100)}
	resp := g.post(object{"id": 1, "method": "initialize", "params": object{"protocolVersion": "2025-06-18", "capabilities": object{}, "clientInfo": object{"name": "gemini-cli", "version": "0.61.0"}}})
	g.id = resp.Header.Get("Mcp-Session-Id")
	_ = resp.Body.Close()
	_ = g.post(object{"method": "notifications/initialized"}).Body.Close()
	ctx, cancel := context.WithCancel(context.Background())
	g.stop = cancel
	t.Cleanup(cancel)
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, g.url, nil)
	g.head(req)
	stream, err := http.DefaultClient.Do(req) //nolint:bodyclose // it is closed with the client
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatal(err, stream)
	}
	go func() {
		defer stream.Body.Close()
		lines := bufio.NewScanner(stream.Body)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				g.told <- data
			}
		}
	}()
	return g
}

func (g *geminiCLI) head(req *http.Request) {
	req.Header.Set("Authorization", "Bearer "+g.token)
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Content-Type", "application/json")
	if g.id != "" {
		req.Header.Set("Mcp-Session-Id", g.id)
	}
}

func (g *geminiCLI) post(m object) *http.Response {
	g.t.Helper()
	m["jsonrpc"] = "2.0"
	data, _ := json.Marshal(m)
	req, _ := http.NewRequestWithContext(g.t.Context(), http.MethodPost, g.url, bytes.NewReader(data))
	g.head(req)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode >= 300 {
		g.t.Fatal(err, resp)
	}
	return resp
}

// call calls a tool and returns the answer as it comes.
func (g *geminiCLI) call(tool string, args object) string {
	g.t.Helper()
	g.n++
	resp := g.post(object{"id": 1 + g.n, "method": "tools/call", "params": object{"name": tool, "arguments": args}})
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return string(data)
}

// hears waits for a notification.
func (g *geminiCLI) hears(parts ...string) {
	g.t.Helper()
	for said := range g.told {
		ok := true
		for _, p := range parts {
			ok = ok && strings.Contains(said, p)
		}
		if ok {
			return
		}
	}
}

// TestGeminiShowsEdits is TestClaudeShowsEdits by the other protocol.
func TestGeminiShowsEdits(t *testing.T) {
	d := deskIn(t, "review", map[string]string{"a.txt": tenLines})
	if _, err := d.OpenFile(t.Context(), filepath.Join(d.dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	g := d.gemini()
	g.hears("ide/contextUpdate", "a.txt", `"isActive":true`)
	path := filepath.Join(d.dir, "a.txt")
	if got := g.call("openDiff", object{"filePath": path, "newContent": twoHunks}); !strings.Contains(got, `"content":[]`) {
		t.Errorf("openDiff says %s", got)
	}
	ids := d.waits(2)
	d.accept(object{"hunks": ids[1:]})
	command[object](d.rig, "sidecar.review.reject", object{"hunks": ids[:1]})
	oneHunk := strings.Replace(tenLines, "10\n", "ten\n", 1)
	text, _ := json.Marshal(oneHunk)
	g.hears("ide/diffAccepted", path, string(text))

	g.call("openDiff", object{"filePath": path, "newContent": twoHunks})
	d.waits(1)
	command[object](d.rig, "sidecar.review.reject", object{})
	g.hears("ide/diffRejected", path)

	g.call("openDiff", object{"filePath": path, "newContent": twoHunks})
	d.waits(1)
	if got := g.call("closeDiff", object{"filePath": path, "suppressNotification": true}); !strings.Contains(got, "one\\\\n2") {
		t.Errorf("closeDiff says %s", got)
	}
	d.waits(0)
	if got := g.call("closeDiff", object{"filePath": path}); !strings.Contains(got, "null") {
		t.Errorf("closeDiff of nothing says %s", got)
	}
	if got := g.call("openDiff", object{"filePath": "/etc/hostname", "newContent": "x"}); !strings.Contains(got, `"isError":true`) {
		t.Errorf("outside, it says %s", got)
	}
	g.call("openDiff", object{"filePath": path, "newContent": twoHunks})
	d.waits(1)
	g.stop() // it dies
	d.waits(0)
}
