package conversation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestHistoryPages reads pages in both directions.
func TestHistoryPages(t *testing.T) {
	s := openStore(t, Options{Dir: t.TempDir()})
	r, _ := start(t, s)
	for i := range 100 {
		do(t, r.Emit(Event{Kind: Note, Text: fmt.Sprint(i)}))
	}
	all := history(t, r)
	var forward, backward []Event
	for since := int64(0); ; {
		page, next, err := r.History(since, 0, 7)
		do(t, err)
		if len(page) == 0 {
			break
		}
		forward, since = append(forward, page...), next
	}
	for before := all[len(all)-1].Seq + 1; ; {
		page, next, err := r.History(0, before, 7)
		do(t, err)
		if len(page) == 0 {
			break
		}
		backward, before = append(slices.Clone(page), backward...), next
	}
	for _, got := range [][]Event{forward, backward} {
		if !slices.EqualFunc(got, all, func(a, b Event) bool { return a.Seq == b.Seq }) {
			t.Errorf("%d events in pages, want %d", len(got), len(all))
		}
	}
}

// TestSubscribers: 5,000 events, and readers that begin anywhere and get the
// same conversation.
func TestSubscribers(t *testing.T) {
	s := openStore(t, Options{Dir: t.TempDir()})
	r, _ := start(t, s)
	const n = 5000
	var want strings.Builder
	half := make(chan bool)
	go func() {
		for i := range n {
			e := Event{Kind: Text, Message: fmt.Sprint("m", i/40), Delta: fmt.Sprintf("%d,", i)}
			if i%97 == 0 {
				e = Event{Kind: UsageNow, Usage: &Usage{Used: int64(i)}}
			}
			if err := r.Emit(e); err != nil {
				t.Error(err)
			}
			if i == n/2 {
				close(half)
			}
		}
		_ = r.Emit(Event{Kind: CallProposed, Call: &Call{ID: "last"}})
	}()
	for i := range n {
		if i%97 != 0 {
			fmt.Fprintf(&want, "%d,", i)
		}
	}
	var readers sync.WaitGroup
	read := func(late bool) {
		defer readers.Done()
		var events []Event
		since := int64(0)
		if late {
			<-half
			var err error
			if events, since, err = r.History(0, 0, 0); err != nil {
				t.Error(err)
			}
		}
		sub := r.Subscribe(since)
		for {
			e, err := sub.Next(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			if len(events) > 0 && e.Seq <= events[len(events)-1].Seq {
				t.Errorf("%d came after %d", e.Seq, events[len(events)-1].Seq)
			}
			events = append(events, e)
			if e.Kind == CallProposed {
				break
			}
		}
		if got := told(events); got != want.String() {
			t.Errorf("a reader has %d bytes, want %d", len(got), want.Len())
		}
	}
	for i := range 8 {
		readers.Add(1)
		go read(i%2 == 1)
	}
	readers.Wait()
	if got := told(history(t, r)); got != want.String() {
		t.Errorf("the history has %d bytes, want %d", len(got), want.Len())
	}
}

// told is the text of a conversation, as a client puts it together.
func told(events []Event) string {
	texts := map[string]string{}
	var order []string
	for _, e := range events {
		if e.Kind != Text {
			continue
		}
		if _, ok := texts[e.Message]; !ok {
			order = append(order, e.Message)
		}
		if e.Delta != "" {
			texts[e.Message] += e.Delta
		} else {
			texts[e.Message] = e.Text
		}
	}
	var all strings.Builder
	for _, m := range order {
		all.WriteString(texts[m])
	}
	return all.String()
}

// TestBound: the journal of a run that says much stays small, and says so.
func TestBound(t *testing.T) {
	dir := t.TempDir()
	const limit = 256 << 10
	s := openStore(t, Options{Dir: dir, MaxBytes: limit})
	r, d := start(t, s)
	prompt1(t, r, "go", "")
	<-d.prompts
	go func() { _, _, _ = r.Ask(context.Background(), Question{Text: "open?"}) }()
	q := await(t, r.Subscribe(0), ofKind(Asked))
	path := filepath.Join(dir, r.ID()+suffixOpen)
	check := func() {
		t.Helper()
		if info, err := os.Stat(path); err != nil || info.Size() > limit+(8<<10) {
			t.Fatalf("the journal: %v, %v", info, err)
		}
	}
	do(t, r.Emit(Event{Kind: Note, Ref: "theirs"}))
	do(t, r.Emit(Event{Kind: Text, Message: "early", Text: "the early words"}))
	for i := range 200 {
		do(t, r.Emit(Event{Kind: CallOutput, Call: &Call{ID: fmt.Sprint(i)}, Text: strings.Repeat("o", 4<<10)}))
		check()
	}
	events := history(t, r)
	cut := slices.ContainsFunc(events, func(e Event) bool { return e.Kind == CallOutput && e.Text == "" && e.Cut == 4<<10 })
	if !cut || events[len(events)-1].Cut != 0 || !strings.Contains(told(events), "early") {
		t.Error("outputs are not cut, or more than them")
	}
	for i := range 5000 {
		do(t, r.Emit(Event{Kind: Text, Message: fmt.Sprint(i), Text: strings.Repeat("t", 500)}))
	}
	check()
	events = history(t, r)
	note := slices.IndexFunc(events, func(e Event) bool { return e.Kind == Note && e.Reason == "cut" })
	if note < 0 || events[note].Cut < 2<<20 || events[0].Kind != RunStart || count(events, Note) != 1 || count(events, Asked) != 1 {
		t.Errorf("it is not said what was cut: %v", kinds(events)[:10])
	}
	do(t, s.Close())
	s = openStore(t, Options{Dir: dir, MaxBytes: limit})
	again, err := s.Get(r.ID())
	do(t, err)
	if i := again.Info(); i.State != Waiting || i.WaitingFor != q.Question || i.Step != 1 || i.Ref != "theirs" {
		t.Errorf("after a restart: %+v", i)
	}
	if e := bounded(Event{Kind: Text, Text: strings.Repeat("x", maxText+5), Raw: []byte(`{bad`)}); len(e.Text) != maxText || e.Cut != 9 {
		t.Errorf("one event has %d bytes, cut %d", len(e.Text), e.Cut)
	}
}

// TestBoundOfEvents: what is long in many parts is cut, and what would be asked
// or queued is refused.
func TestBoundOfEvents(t *testing.T) {
	s := openStore(t, Options{Dir: t.TempDir()})
	r, _ := start(t, s)
	r.Pause()
	plan := make([]PlanEntry, 3000)
	for i := range plan {
		plan[i].Text = strings.Repeat("p", 1000)
	}
	do(t, r.Emit(Event{Kind: Plan, Plan: plan}))
	do(t, r.Emit(Event{Kind: Plan, Plan: plan[:2]}))
	events := history(t, r)
	if e := events[len(events)-2]; e.Plan != nil || e.Cut < 3_000_000 {
		t.Errorf("the long plan has %d entries, cut %d", len(e.Plan), e.Cut)
	}
	if e := events[len(events)-1]; len(e.Plan) != 2 || e.Cut != 0 {
		t.Errorf("the control has %d entries, cut %d", len(e.Plan), e.Cut)
	}
	if _, _, err := r.Ask(t.Context(), Question{Text: "?", Options: make([]Option, maxOptions+1)}); err == nil {
		t.Error("too many options were asked")
	}
	if _, _, err := r.Ask(t.Context(), Question{Text: strings.Repeat("?", maxQuestion+1)}); err == nil {
		t.Error("too long a question was asked")
	}
	for range 4 {
		prompt1(t, r, strings.Repeat("x", maxText), "")
	}
	for _, i := range []Item{{Text: "x"}, {Text: strings.Repeat("x", maxText+1)}, {Attachments: []Attachment{{Data: strings.Repeat("x", maxAttached+1)}}}} {
		if _, err := r.Prompt(i, ""); err == nil {
			t.Error("too much was queued")
		}
	}
}

// TestEndedIsFree: a run that has ended holds no events, whoever reads them, then or later.
func TestEndedIsFree(t *testing.T) {
	r, d := start(t, openStore(t, Options{Dir: t.TempDir()}))
	d.closed = make(chan bool, 1)
	follower, early := r.Subscribe(0), 0
	if _, err := follower.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Emit(Event{Kind: Note, Text: "one"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	late := r.Subscribe(0)
	for _, s := range []*Subscription{follower, late} {
		n := 0
		for {
			_, err := s.Next(t.Context())
			if errors.Is(err, ErrEnded) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if s == follower {
			early = n
		} else if n != early+1 || n < 3 {
			t.Errorf("who comes late reads %d events, who was there %d more", n, early)
		}
		if s.past != nil {
			t.Error("who has read all holds it still")
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.log.events != nil {
		t.Errorf("it holds %d events", len(r.log.events))
	}
}
