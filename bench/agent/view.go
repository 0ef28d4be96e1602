package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// speaker plays a model that says one word at a time, when it is told to.
type speaker struct{ words chan string }

func (s *speaker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event string) {
		fmt.Fprintf(w, "data: %s\n\n", event)
		w.(http.Flusher).Flush()
	}
	send(`{"type":"message_start","message":{"model":"played","usage":{"input_tokens":1,"output_tokens":1}}}`)
	send(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	for word := range s.words {
		send(fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, word))
	}
	send(`{"type":"content_block_stop","index":0}`)
	send(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`)
	send(`{"type":"message_stop"}`)
}

// view measures how long a word of the model takes to the editor, over a server that is a
// process of its own.
func view(ctx context.Context, program string, words int) error {
	dir, err := os.MkdirTemp("", "bench-view-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s := &speaker{make(chan string)}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s}
	go func() { _ = server.Serve(l) }()
	defer func() { _ = server.Close() }()
	settings, err := json.Marshal(map[string]any{
		"backend.profiles": []any{map[string]any{"name": "played", "provider": "anthropic", "url": "http://" + l.Addr().String(), "model": "played", "key": "sk-played-0123456789"}},
		"backend.profile":  "played",
	})
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"home/sidecar/settings.json": string(settings), "work/a.txt": "one\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, program, "serve", "--log-level", "error")
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+filepath.Join(dir, "home"), "XDG_STATE_HOME="+filepath.Join(dir, "home"))
	can := fakeeditor.Usual()
	can.Experimental.Sidecar.Events = true
	e, err := fakeeditor.StartProcess(cmd, fakeeditor.Options{Root: filepath.Join(dir, "work"), Capabilities: can})
	if err != nil {
		return err
	}
	defer func() { _ = e.Shutdown(ctx) }()
	if _, err := e.Initialize(ctx); err != nil {
		return err
	}
	if err := e.ExecuteCommand(ctx, "sidecar.agent.run", map[string]any{"agent": "builtin", "prompt": "speak"}, nil); err != nil {
		return err
	}
	var took []time.Duration
	for n := range words {
		word := fmt.Sprintf("word-%d. ", n)
		begun := time.Now()
		s.words <- word
		read := 0
		if err := e.Await(ctx, word, func(r *fakeeditor.Record) bool {
			for ; read < len(r.Notifications); read++ {
				if m := r.Notifications[read]; m.Method == "sidecar/event" && strings.Contains(string(m.Params), word) {
					return true
				}
			}
			return false
		}); err != nil {
			return err
		}
		took = append(took, time.Since(begun))
	}
	close(s.words)
	slices.Sort(took)
	fmt.Printf("\na word of the model to the editor: p50 %.2f ms, p95 %.2f ms (%d words)\n", ms(took), float64(took[len(took)*95/100].Microseconds())/1000, words)
	return nil
}
