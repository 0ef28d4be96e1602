package ide_test

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

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
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
	d.T.Helper()
	port, token := d.geminiDoor()
	return geminiAt(d.T, port, token)
}

// geminiDoor is what the file for Gemini says.
func (d *desk) geminiDoor() (port, token string) {
	d.T.Helper()
	var names []string
	e2e.Until(d.T, "there is no file for Gemini", func() bool { names = found(d.T, d.places.Gemini); return len(names) == 1 })
	var f struct {
		Port                     int
		AuthToken, WorkspacePath string
		IdeInfo                  struct{ Name, DisplayName string }
	}
	decodeFile(d.T, names[0], &f)
	if !strings.HasPrefix(f.WorkspacePath, d.Dir) || f.IdeInfo.DisplayName == "" {
		d.T.Errorf("the file says %+v", f)
	}
	return fmt.Sprint(f.Port), f.AuthToken
}

func geminiAt(t *testing.T, port, token string) *geminiCLI {
	t.Helper()
	g := geminiWithoutStream(t, port, token)
	g.listen()
	return g
}

// geminiWithoutStream has its session, and nothing that carries notifications.
func geminiWithoutStream(t *testing.T, port, token string) *geminiCLI {
	t.Helper()
	g := &geminiCLI{t: t, url: "http://127.0.0.1:" + port + "/mcp", token: token, told: make(chan string, 100)}
	resp := g.post(e2e.Object{"id": 1, "method": "initialize", "params": e2e.Object{"protocolVersion": "2025-06-18", "capabilities": e2e.Object{}, "clientInfo": e2e.Object{"name": "gemini-cli", "version": "0.61.0"}}})
	g.id = resp.Header.Get("Mcp-Session-Id")
	_ = resp.Body.Close()
	_ = g.post(e2e.Object{"method": "notifications/initialized"}).Body.Close()
	return g
}

// listen opens the stream of notifications.
func (g *geminiCLI) listen() {
	g.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	g.stop = cancel
	g.t.Cleanup(cancel)
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, g.url, nil)
	g.head(req)
	stream, err := http.DefaultClient.Do(req) //nolint:bodyclose // it is closed with the client
	if err != nil || stream.StatusCode != http.StatusOK {
		g.t.Fatal(err, stream)
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
}

func (g *geminiCLI) head(req *http.Request) {
	req.Header.Set("Authorization", "Bearer "+g.token)
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Content-Type", "application/json")
	if g.id != "" {
		req.Header.Set("Mcp-Session-Id", g.id)
	}
}

func (g *geminiCLI) post(m e2e.Object) *http.Response {
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
func (g *geminiCLI) call(tool string, args e2e.Object) string {
	g.t.Helper()
	g.n++
	resp := g.post(e2e.Object{"id": 1 + g.n, "method": "tools/call", "params": e2e.Object{"name": tool, "arguments": args}})
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
	if _, err := d.OpenFile(t.Context(), filepath.Join(d.Dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	g := d.gemini()
	g.hears("ide/contextUpdate", "a.txt", `"isActive":true`)
	path := filepath.Join(d.Dir, "a.txt")
	if got := g.call("openDiff", e2e.Object{"filePath": path, "newContent": twoHunks}); !strings.Contains(got, `"content":[]`) {
		t.Errorf("openDiff says %s", got)
	}
	ids := d.waits(2)
	d.Accept(e2e.Object{"hunks": ids[1:]})
	e2e.Command[e2e.Object](d.Rig, "sidecar.review.reject", e2e.Object{"hunks": ids[:1]})
	oneHunk := strings.Replace(tenLines, "10\n", "ten\n", 1)
	text, _ := json.Marshal(oneHunk)
	g.hears("ide/diffAccepted", path, string(text))

	g.call("openDiff", e2e.Object{"filePath": path, "newContent": twoHunks})
	d.waits(1)
	e2e.Command[e2e.Object](d.Rig, "sidecar.review.reject", e2e.Object{})
	g.hears("ide/diffRejected", path)

	g.call("openDiff", e2e.Object{"filePath": path, "newContent": twoHunks})
	d.waits(1)
	if got := g.call("closeDiff", e2e.Object{"filePath": path, "suppressNotification": true}); !strings.Contains(got, "one\\\\n2") {
		t.Errorf("closeDiff says %s", got)
	}
	d.waits(0)
	if got := g.call("closeDiff", e2e.Object{"filePath": path}); !strings.Contains(got, "null") {
		t.Errorf("closeDiff of nothing says %s", got)
	}
	if got := g.call("openDiff", e2e.Object{"filePath": "/etc/hostname", "newContent": "x"}); !strings.Contains(got, `"isError":true`) {
		t.Errorf("outside, it says %s", got)
	}
	g.call("openDiff", e2e.Object{"filePath": path, "newContent": twoHunks})
	d.waits(1)
	g.stop() // it dies
	d.waits(0)
}

// TestGeminiOpensItsStreamLate: what was sent when the agent had no stream reaches it all
// the same: what the user looks at, and what was decided.
func TestGeminiOpensItsStreamLate(t *testing.T) {
	d := deskIn(t, "review", map[string]string{"a.txt": tenLines, "b.txt": "b\n"})
	first := d.gemini() // it is shown the same, so what it has heard the other one was sent
	port, token := d.geminiDoor()
	late := geminiWithoutStream(t, port, token)
	if _, err := d.OpenFile(t.Context(), filepath.Join(d.Dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	first.hears("ide/contextUpdate", "a.txt", `"isActive":true`)
	path := filepath.Join(d.Dir, "a.txt")
	late.call("openDiff", e2e.Object{"filePath": path, "newContent": twoHunks})
	d.waits(2)
	d.Accept(e2e.Object{})
	late.listen()
	heard := map[string]bool{}
	for len(heard) < 2 {
		said := <-late.told
		for _, what := range []string{"ide/contextUpdate", "ide/diffAccepted"} {
			if strings.Contains(said, what) && strings.Contains(said, "a.txt") {
				heard[what] = true
			}
		}
	}
	late.stop()
	late.listen() // a stream that breaks
	late.hears("ide/contextUpdate", "a.txt")
}
