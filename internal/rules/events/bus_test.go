package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recorder is a subscriber that can be held up.
type recorder struct {
	mu     sync.Mutex
	events []Event
	hold   chan struct{} // nil: does not wait; else waits for it to be closed
	inside chan struct{} // closed when the first event has come
	once   sync.Once
}

func held() *recorder {
	return &recorder{hold: make(chan struct{}), inside: make(chan struct{})}
}

func (r *recorder) record(e Event) {
	if r.hold != nil {
		r.once.Do(func() { close(r.inside) })
		<-r.hold
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) ids(want Type) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for _, e := range r.events {
		if e.Type == want {
			ids = append(ids, e.CallID)
		}
	}
	return ids
}

func flush(t *testing.T, b *Bus) {
	t.Helper()
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func numbers(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	return ids
}

func TestOrder(t *testing.T) {
	b := NewBus()
	var first, second recorder
	b.Subscribe(first.record)
	b.Subscribe(second.record)
	for _, id := range numbers(1000) {
		b.Publish(Event{Type: ToolStarted, CallID: id})
	}
	flush(t, b)
	for _, r := range []*recorder{&first, &second} {
		if diff := cmp.Diff(numbers(1000), r.ids(ToolStarted)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if first.events[0].Time.IsZero() {
		t.Error("the event has no time")
	}
}

// A subscriber that hangs holds up neither the publisher nor other subscribers.
func TestSlowSubscriber(t *testing.T) {
	b := NewBus()
	slow := held()
	quick := make(chan Event)
	b.Subscribe(slow.record)
	cancel := b.Subscribe(func(e Event) { quick <- e })
	b.Publish(Event{Type: ToolStarted, CallID: "first"})
	<-slow.inside
	<-quick

	const calls, chunks = 500, 2000
	go func() {
		for id := range calls {
			b.Publish(Event{Type: ToolStarted, CallID: strconv.Itoa(id)})
			for range chunks / calls {
				b.Publish(Event{Type: ToolOutput, Output: &Output{Chunk: "text"}})
			}
			b.Publish(Event{Type: ToolCompleted, CallID: strconv.Itoa(id), Completed: &Completed{OK: true}})
		}
		b.Publish(Event{Type: Agent})
	}()
	for e := range quick {
		if e.Type == Agent {
			break
		}
	}
	cancel()

	close(slow.hold)
	b.Publish(Event{Type: ToolOutput, Output: &Output{Chunk: "last"}}) // may still find the queue full
	flush(t, b)
	for _, typ := range []Type{ToolStarted, ToolCompleted} {
		want := numbers(calls)
		if typ == ToolStarted {
			want = append([]string{"first"}, want...)
		}
		if diff := cmp.Diff(want, slow.ids(typ)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", typ, diff)
		}
	}
	if got := len(slow.ids(ToolOutput)); got < maxOutputs || got > maxOutputs+1 {
		t.Errorf("%d chunks came through, want the %d that fit", got, maxOutputs)
	}
}

func TestDroppedOutputIsCounted(t *testing.T) {
	b := NewBus()
	r := held()
	b.Subscribe(r.record)
	b.Publish(Event{Type: ToolStarted})
	<-r.inside
	for range maxOutputs + 7 {
		b.Publish(Event{Type: ToolOutput, Output: &Output{Chunk: "x"}})
	}
	s := (*b.subs.Load())[0]
	s.next() // makes room, as the subscriber would
	b.Publish(Event{Type: ToolOutput, Output: &Output{Chunk: "after"}})
	close(r.hold)
	flush(t, b)
	last := r.events[len(r.events)-1]
	if diff := cmp.Diff(&Output{Chunk: "after", Dropped: 7}, last.Output); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOutputBytesAreBounded(t *testing.T) {
	b := NewBus()
	r := held()
	b.Subscribe(r.record)
	b.Publish(Event{Type: ToolStarted})
	<-r.inside
	big := strings.Repeat("x", maxOutputBytes)
	for range 5 {
		b.Publish(Event{Type: ToolOutput, Output: &Output{Chunk: big}})
	}
	close(r.hold)
	flush(t, b)
	if got := len(r.ids(ToolOutput)); got != 1 {
		t.Errorf("%d chunks of the whole bound were queued, want 1", got)
	}
}

func TestHopelessSubscriberIsCutOff(t *testing.T) {
	b := NewBus()
	r := held()
	b.Subscribe(r.record)
	b.Publish(Event{Type: ToolStarted, CallID: "first"})
	<-r.inside
	for range maxBehind + 1 {
		b.Publish(Event{Type: ToolStarted})
	}
	close(r.hold)
	flush(t, b)
	if got := len(r.events); got != 1 {
		t.Errorf("got %d events, want the first alone", got)
	}
}

func TestCancel(t *testing.T) {
	b := NewBus()
	var n atomic.Int32
	var cancel func()
	came := make(chan struct{})
	cancel = b.Subscribe(func(Event) {
		n.Add(1)
		cancel() // also from within
		close(came)
	})
	if !b.Active() {
		t.Error("not active with a subscriber")
	}
	b.Publish(Event{Type: Hook})
	<-came
	b.Publish(Event{Type: Hook})
	cancel() // again does nothing
	if b.Active() {
		t.Error("active without a subscriber")
	}
	flush(t, b)
	if got := n.Load(); got != 1 {
		t.Errorf("got %d events, want 1", got)
	}
}

func TestClose(t *testing.T) {
	b := NewBus()
	r := held()
	b.Subscribe(r.record)
	b.Publish(Event{Type: ToolStarted})
	b.Publish(Event{Type: ToolCompleted})
	<-r.inside
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v for a subscriber that hangs", err)
	}
	b.Publish(Event{Type: Hook})
	b.Subscribe(func(Event) { t.Error("an event after Close") })()
	close(r.hold)
	flush(t, b)
	if got := len(r.events); got != 1 {
		t.Errorf("got %d events, want the one under way", got)
	}
}

func TestNilBus(t *testing.T) {
	var b *Bus
	b.Publish(Event{Type: ToolStarted})
	if b.Active() {
		t.Error("active")
	}
}

func TestConcurrentUse(t *testing.T) {
	b := NewBus()
	var all recorder
	b.Subscribe(all.record)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				cancel := b.Subscribe(func(Event) {})
				b.Publish(Event{Type: ToolStarted, CallID: fmt.Sprintf("%d.%d", g, i)})
				b.Publish(Event{Type: ToolCompleted, CallID: fmt.Sprintf("%d.%d", g, i)})
				cancel()
			}
		})
	}
	wg.Wait()
	flush(t, b)
	open := map[string]bool{}
	for _, e := range all.events {
		if (e.Type == ToolStarted) == open[e.CallID] {
			t.Fatalf("%s of %s out of order or doubled", e.Type, e.CallID)
		}
		open[e.CallID] = e.Type == ToolStarted
	}
	if got := len(all.events); got != 8*200*2 {
		t.Errorf("got %d events", got)
	}
}

func TestJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	common := `"time":"2026-01-02T03:04:05Z","session":"default","callId":"c1","tool":"grep"`
	for _, c := range []struct {
		event Event
		want  string
	}{
		{Event{Type: ToolStarted, Started: &Started{Access: "read", Arguments: json.RawMessage(`{"pattern":"x"}`)}},
			`{"type":"toolStarted",` + common + `,"access":"read","arguments":{"pattern":"x"}}`},
		{Event{Type: PermissionRequested, Permission: &Permission{ApprovalID: "a1", Outcome: "ask", Rule: "always-ask"}},
			`{"type":"permissionRequested",` + common + `,"approvalId":"a1","outcome":"ask","rule":"always-ask"}`},
		{Event{Type: PermissionResolved, Permission: &Permission{Outcome: "deny", By: "user", Scope: "once", Reason: "no"}},
			`{"type":"permissionResolved",` + common + `,"outcome":"deny","by":"user","scope":"once","reason":"no"}`},
		{Event{Type: ToolOutput, Output: &Output{Chunk: "hi"}},
			`{"type":"toolOutput",` + common + `,"chunk":"hi"}`},
		{Event{Type: ToolCompleted, Completed: &Completed{Code: "denied", Message: "no", Changes: []Change{{Path: "a.go", Kind: "modify", State: "pending"}}}},
			`{"type":"toolCompleted",` + common + `,"ok":false,"code":"denied","message":"no","durationMs":0,"approvalMs":0,"bytes":0,"changes":[{"path":"a.go","kind":"modify","state":"pending"}]}`},
	} {
		c.event.Time, c.event.Session, c.event.CallID, c.event.Tool = at, "default", "c1", "grep"
		got, err := json.Marshal(c.event)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.event.Type, diff)
		}
		var back Event
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.event, back); diff != "" {
			t.Errorf("%s there and back (-want +got):\n%s", c.event.Type, diff)
		}
	}
}

func BenchmarkPublish(b *testing.B) {
	for _, subscribers := range []int{0, 1} {
		b.Run(fmt.Sprintf("subscribers=%d", subscribers), func(b *testing.B) {
			bus := NewBus()
			for range subscribers {
				bus.Subscribe(func(Event) {})
			}
			e := Event{Type: ToolOutput, Session: "default", CallID: "c1", Tool: "grep", Output: &Output{Chunk: "x"}}
			b.ReportAllocs()
			for b.Loop() {
				bus.Publish(e)
			}
		})
	}
}
