// Agent measures what our own agent costs besides its model:
//
//	go run ./bench/agent [-n rounds] [-server bin/sidecar-ls]
//
// A provider on loopback plays the model over the Messages wire: it has one tool called
// again and again. A step is the time from the last byte of an answer to the next
// request: the answer read and kept, the call made, its result kept, the request written.
// It is taken in conversations of several lengths, one after the other in each round, so
// that the machine's mood meets all of them. Shown are medians in milliseconds, and how
// many times the shortest. Opening is the time until such a conversation can go on after
// a restart. The tool does nothing; what the gate takes is measured by bench/server.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/loop"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

func main() {
	log.SetFlags(0)
	rounds := flag.Int("n", 21, "rounds that count")
	server := flag.String("server", "", "the server's program, to measure how long a word takes to the editor")
	flag.Parse()
	err := run(*rounds)
	if err == nil && *server != "" {
		err = view(context.Background(), *server, 200)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// provider plays the model.
type provider struct {
	sent  chan time.Time // an answer is out
	asked chan time.Time // and the next request is there
	more  chan bool      // whether the next answer has a call
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	p.asked <- time.Now()
	again := <-p.more
	w.Header().Set("Content-Type", "text/event-stream")
	stop, block, delta := "end_turn", `{"type":"text","text":""}`, `{"type":"text_delta","text":"done"}`
	if again {
		stop, block, delta = "tool_use", `{"type":"tool_use","id":"t1","name":"look","input":{}}`, fmt.Sprintf(`{"type":"input_json_delta","partial_json":"{\"n\":%d}"}`, time.Now().UnixNano())
	}
	for _, e := range []string{
		`{"type":"message_start","message":{"model":"played","usage":{"input_tokens":1,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":` + block + `}`,
		`{"type":"content_block_delta","index":0,"delta":` + delta + `}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"` + stop + `"},"usage":{"output_tokens":1}}`,
		`{"type":"message_stop"}`,
	} {
		fmt.Fprintf(w, "data: %s\n\n", e)
	}
	w.(http.Flusher).Flush()
	p.sent <- time.Now()
}

// host has one tool, which does nothing.
type host struct{ client *model.Client }

func (h host) Backend(string) (loop.Backend, error) {
	return loop.Backend{Model: h.client, Profile: "played", Name: "played", Window: 10_000_000}, nil
}

func (h host) Tools() ([]loop.Tool, error) {
	return []loop.Tool{{Name: "look", Schema: json.RawMessage(`{"type":"object"}`), Reads: true, Beside: true}}, nil
}

func (h host) Call(_ context.Context, c loop.Call) (loop.Outcome, error) {
	return loop.Outcome{Text: c.ID + strings.Repeat(" and what it saw", 12)}, nil
}

func (h host) Facts() loop.Facts { return loop.Facts{Mode: "review"} }
func (h host) Notes() []string   { return nil }
func (h host) Pending() []string { return nil }

// Shortening and Stopping hold nothing back.
func (h host) Shortening(context.Context, bool) error               { return nil }
func (h host) Stopping(context.Context, string, bool) (more string) { return "" }

// talk is a conversation of a length.
type talk struct {
	items  int
	run    *conversation.Run
	path   string
	agent  *loop.Agent
	steps  []time.Duration
	opened []time.Duration
}

func run(rounds int) error {
	dir, err := os.MkdirTemp("", "bench-agent-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p := &provider{sent: make(chan time.Time, 1), asked: make(chan time.Time, 1), more: make(chan bool, 1)}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: p}
	go func() { _ = server.Serve(l) }()
	defer func() { _ = server.Close() }()
	h := host{&model.Client{Profile: model.Profile{Name: "played", Wire: "anthropic", URL: "http://" + l.Addr().String(), Model: "played"}}}
	store, err := conversation.Open(conversation.Options{Dir: filepath.Join(dir, "runs")})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()

	talks := []*talk{{items: 10}, {items: 1000}, {items: 10_000}}
	for _, t := range talks {
		t.path = filepath.Join(dir, fmt.Sprint(t.items, ".talk"))
		if t.run, err = store.Start(conversation.Spec{Agent: "bench", Title: "bench", Session: "bench"}); err != nil {
			return err
		}
		if t.agent, err = loop.Open(loop.Options{Run: t.run, Host: h, Journal: t.path}); err != nil {
			return err
		}
		t.run.Attach(t.agent)
		if err := t.turn(p, t.items/3, nil); err != nil {
			return err
		}
	}
	for range rounds {
		for _, t := range talks {
			begun := time.Now()
			a, err := loop.Open(loop.Options{Run: t.run, Host: h, Journal: t.path})
			if err != nil {
				return err
			}
			t.opened = append(t.opened, time.Since(begun))
			if err := a.Close(); err != nil {
				return err
			}
			if err := t.turn(p, 2, &t.steps); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%10s %12s %8s %14s\n", "items", "step, ms", "times", "opening, ms")
	for _, t := range talks {
		fmt.Printf("%10d %12.2f %8.1f %14.2f\n", t.items, ms(t.steps), ms(t.steps)/ms(talks[0].steps), ms(t.opened))
	}
	return nil
}

// turn prompts the agent and has it make so many calls.
func (t *talk) turn(p *provider, calls int, into *[]time.Duration) error {
	events := t.run.Subscribe(last(t.run))
	if _, err := t.run.Prompt(conversation.Item{Text: "go on"}, conversation.Queue); err != nil {
		return err
	}
	<-p.asked
	for range calls {
		p.more <- true
		sent := <-p.sent
		asked := <-p.asked
		if into != nil {
			*into = append(*into, asked.Sub(sent))
		}
	}
	p.more <- false
	<-p.sent
	for {
		e, err := events.Next(context.Background())
		if err != nil {
			return err
		}
		if e.Kind == conversation.RunEnd {
			if e.Reason != conversation.Done {
				return fmt.Errorf("the turn ended by %s: %s", e.Reason, e.Text)
			}
			return nil
		}
	}
}

func last(r *conversation.Run) int64 {
	_, next, err := r.History(0, 0, 0)
	if err != nil {
		log.Fatal(err)
	}
	return next
}

// ms is the median in milliseconds.
func ms(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}
