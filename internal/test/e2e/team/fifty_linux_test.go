package team_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// crowd plays a model for many agents at once: the first begins n others, and each of
// those writes a file and says its number.
type crowd struct {
	n    int
	hold chan struct{} // nil: nobody waits; else the others wait for its end before they say anything

	mu      sync.Mutex
	waiting int
}

var taskWord = regexp.MustCompile(`task-(\d+)\.`)

func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var q struct {
		Messages []json.RawMessage
	}
	if json.Unmarshal(body, &q) != nil || len(q.Messages) == 0 {
		http.Error(w, "no request", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(events ...e2e.Object) {
		for _, e := range events {
			data, _ := json.Marshal(e)
			fmt.Fprintf(w, "data: %s\n\n", data)
		}
		w.(http.Flusher).Flush()
	}
	start := e2e.Object{"type": "message_start", "message": e2e.Object{"model": "scripted", "usage": e2e.Object{"input_tokens": 1, "output_tokens": 1}}}
	calls := func(name string, args ...e2e.Object) {
		send(start)
		for i, a := range args {
			data, _ := json.Marshal(a)
			send(e2e.Object{"type": "content_block_start", "index": i, "content_block": e2e.Object{"type": "tool_use", "id": fmt.Sprint("t", i), "name": name, "input": e2e.Object{}}},
				e2e.Object{"type": "content_block_delta", "index": i, "delta": e2e.Object{"type": "input_json_delta", "partial_json": string(data)}},
				e2e.Object{"type": "content_block_stop", "index": i})
		}
		send(e2e.Object{"type": "message_delta", "delta": e2e.Object{"stop_reason": "tool_use"}, "usage": e2e.Object{"output_tokens": 1}}, e2e.Object{"type": "message_stop"})
	}
	says := func(text string) {
		send(start, e2e.Object{"type": "content_block_start", "index": 0, "content_block": e2e.Object{"type": "text", "text": ""}},
			e2e.Object{"type": "content_block_delta", "index": 0, "delta": e2e.Object{"type": "text_delta", "text": text}},
			e2e.Object{"type": "content_block_stop", "index": 0}, e2e.Object{"type": "message_delta", "delta": e2e.Object{"stop_reason": "end_turn"}, "usage": e2e.Object{"output_tokens": 1}}, e2e.Object{"type": "message_stop"})
	}
	m := taskWord.FindSubmatch(q.Messages[0])
	switch {
	case m == nil && len(q.Messages) == 1:
		var tasks []e2e.Object
		for i := range c.n {
			tasks = append(tasks, e2e.Object{"task": fmt.Sprintf("task-%d.", i)})
		}
		calls("spawn_agent", tasks...)
	case m == nil:
		says("all is done")
	case len(q.Messages) == 1:
		if c.hold != nil {
			send(start)
			c.mu.Lock()
			c.waiting++
			c.mu.Unlock()
			select {
			case <-c.hold:
			case <-r.Context().Done():
			}
			return
		}
		calls("write_file", e2e.Object{"path": fmt.Sprintf("made/%s.txt", m[1]), "content": string(m[1]) + "\n"})
	default:
		says(fmt.Sprintf("number %s is done", m[1]))
	}
}

func (c *crowd) held() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting
}

func crowded(t *testing.T, c *crowd) *e2e.Rig {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\n"}, e2e.Object{
		"backend.profiles": []e2e.Object{{"name": "crowd", "provider": "anthropic", "url": server.URL, "model": "scripted", "key": "sk-played-0123456789"}},
		"backend.profile":  "crowd", "runs.subAgents": 64,
	})
	return e2e.WorldIn(t, dir)
}

// TestFiftySubAgents: fifty at once, and nothing is lost.
func TestFiftySubAgents(t *testing.T) {
	const n = 50
	r := crowded(t, &crowd{n: n})
	c := r.Agent("begin them", e2e.Ours)
	if reason, why, said := c.Stopped(1); reason != told.Done || said != "all is done" {
		t.Fatalf("it ended by %s: %s: %s", reason, why, said)
	}
	answers := ""
	for _, e := range c.History() {
		if e.Kind == told.CallOutput {
			answers += e.Text
		}
	}
	var want []string
	for i := range n {
		if !strings.Contains(answers, fmt.Sprintf("number %d is done", i)) {
			t.Errorf("the answer of %d is lost", i)
		}
		want = append(want, fmt.Sprintf("made/%d.txt", i))
	}
	slices.Sort(want)
	if got := r.Queued(); !slices.Equal(got, want) {
		t.Errorf("%d files are pending", len(got))
	}
	for _, i := range c.Children() {
		if i.State != told.Ended {
			t.Errorf("%s is %s", i.Run, i.State)
		}
	}
}

// TestFiftyAreStopped: an interrupt of the first ends all the others.
func TestFiftyAreStopped(t *testing.T) {
	const n = 50
	crowd := &crowd{n: n, hold: make(chan struct{})}
	r := crowded(t, crowd)
	t.Cleanup(func() { close(crowd.hold) })
	c := r.Agent("begin them", e2e.Ours)
	e2e.Until(t, "they don't begin", func() bool { return crowd.held() == n })
	begun := time.Now()
	e2e.Command[struct{}](r, "sidecar.agent.cancel", e2e.Object{"run": c.Run})
	e2e.Until(t, "they work on", func() bool {
		return !slices.ContainsFunc(c.List(), func(i e2e.Listed) bool { return i.State == told.Running })
	})
	t.Logf("%d were stopped in %v; the server has %d MB", n, time.Since(begun), memory(t))
	r.IsQueued()
}

// memory is what the server holds, in MB.
func memory(t *testing.T) (most int) {
	t.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range all {
		data, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(data), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) || !strings.HasPrefix(string(data), "Name:\tsidecar-ls") {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kb, _ := strconv.Atoi(strings.Fields(rest)[0])
				most = max(most, kb>>10)
			}
		}
	}
	return most
}
