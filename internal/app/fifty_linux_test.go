package app_test

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
		System   json.RawMessage
	}
	_ = json.Unmarshal(body, &q)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(events ...object) {
		for _, e := range events {
			data, _ := json.Marshal(e)
			fmt.Fprintf(w, "data: %s\n\n", data)
		}
		w.(http.Flusher).Flush()
	}
	start := object{"type": "message_start", "message": object{"model": "scripted", "usage": object{"input_tokens": 1, "output_tokens": 1}}}
	calls := func(name string, args ...object) {
		send(start)
		for i, a := range args {
			data, _ := json.Marshal(a)
			send(object{"type": "content_block_start", "index": i, "content_block": object{"type": "tool_use", "id": fmt.Sprint("t", i), "name": name, "input": object{}}},
				object{"type": "content_block_delta", "index": i, "delta": object{"type": "input_json_delta", "partial_json": string(data)}},
				object{"type": "content_block_stop", "index": i})
		}
		send(object{"type": "message_delta", "delta": object{"stop_reason": "tool_use"}, "usage": object{"output_tokens": 1}}, object{"type": "message_stop"})
	}
	says := func(text string) {
		send(start, object{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
			object{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": text}},
			object{"type": "content_block_stop", "index": 0}, object{"type": "message_delta", "delta": object{"stop_reason": "end_turn"}, "usage": object{"output_tokens": 1}}, object{"type": "message_stop"})
	}
	m := taskWord.FindSubmatch(q.System)
	switch {
	case m == nil && len(q.Messages) == 1:
		var tasks []object
		for i := range c.n {
			tasks = append(tasks, object{"task": fmt.Sprintf("task-%d.", i)})
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
		calls("write_file", object{"path": fmt.Sprintf("made/%s.txt", m[1]), "content": string(m[1]) + "\n"})
	default:
		says(fmt.Sprintf("number %s is done", m[1]))
	}
}

func (c *crowd) held() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting
}

func crowded(t *testing.T, c *crowd) *rig {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := worldProject(t, "overlay", map[string]string{"a.txt": "one\n"}, object{
		"backend.profiles": []object{{"name": "crowd", "provider": "anthropic", "url": server.URL, "model": "scripted", "key": "sk-played-0123456789"}},
		"backend.profile":  "crowd", "runs.subAgents": 64,
	})
	return worldIn(t, dir)
}

// TestFiftySubAgents: fifty at once, and nothing is lost.
func TestFiftySubAgents(t *testing.T) {
	const n = 50
	r := crowded(t, &crowd{n: n})
	c := r.agent("begin them", ours)
	if reason, why, said := c.stopped(1); reason != told.Done || said != "all is done" {
		t.Fatalf("it ended by %s: %s: %s", reason, why, said)
	}
	answers := ""
	for _, e := range c.history() {
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
	if got := r.queued(); !slices.Equal(got, want) {
		t.Errorf("%d files are pending", len(got))
	}
	for _, i := range c.children() {
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
	c := r.agent("begin them", ours)
	until(t, "they don't begin", func() bool { return crowd.held() == n })
	begun := time.Now()
	command[struct{}](r, "sidecar.agent.cancel", object{"run": c.run})
	until(t, "they work on", func() bool {
		return !slices.ContainsFunc(c.list(), func(i listed) bool { return i.State == told.Running })
	})
	t.Logf("%d were stopped in %v; the server has %d MB", n, time.Since(begun), memory(t))
	r.isQueued()
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
