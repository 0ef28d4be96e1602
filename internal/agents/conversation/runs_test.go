package conversation

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// fakeDriver works when it is told to: each prompt comes out of prompts and ends
// with what is sent to ends.
type fakeDriver struct {
	run     *Run
	prompts chan []Item
	ends    chan string
	steered chan Item
	steer   error
	deaf    bool // doesn't stop when it is cancelled
	cancels chan bool
	closed  chan bool
}

func newDriver(r *Run) *fakeDriver {
	return &fakeDriver{run: r, prompts: make(chan []Item, 10), ends: make(chan string), steered: make(chan Item, 10), cancels: make(chan bool, 10), closed: make(chan bool, 1)}
}

func (d *fakeDriver) Prompt(ctx context.Context, items []Item) (string, error) {
	d.prompts <- items
	done := ctx.Done()
	if d.deaf {
		done = nil
	}
	select {
	case reason := <-d.ends:
		if reason == "error" {
			return "", errors.New("the agent is gone")
		}
		if reason == "panic" {
			panic("a bug")
		}
		return reason, nil
	case <-done:
		return "", ctx.Err()
	}
}

func (d *fakeDriver) Steer(_ context.Context, i Item) error {
	if d.steer == nil {
		d.steered <- i
	}
	return d.steer
}

func (d *fakeDriver) Cancel(context.Context) error { d.cancels <- true; return nil }
func (d *fakeDriver) Close() error                 { d.closed <- true; return nil }

func openStore(t *testing.T, opts Options) *Store {
	t.Helper()
	s, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func start(t *testing.T, s *Store) (*Run, *fakeDriver) {
	t.Helper()
	r, err := s.Start(Spec{Agent: "fake", Title: "Work", Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	d := newDriver(r)
	r.Attach(d)
	return r, d
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// await reads a subscription up to the first event that fits.
func await(t *testing.T, s *Subscription, fits func(Event) bool) Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		e, err := s.Next(ctx)
		if err != nil {
			t.Fatalf("it didn't come: %v", err)
		}
		if fits(e) {
			return e
		}
	}
}

func ofKind(kind string) func(Event) bool { return func(e Event) bool { return e.Kind == kind } }

func isState(s State) func(Event) bool { return func(e Event) bool { return e.State == s } }

func history(t *testing.T, r *Run) []Event {
	t.Helper()
	events, _, err := r.History(0, 0, 0)
	do(t, err)
	return events
}

func kinds(events []Event) []string {
	var all []string
	for _, e := range events {
		all = append(all, e.Kind)
	}
	return all
}

func prompt1(t *testing.T, r *Run, text, when string) string {
	t.Helper()
	id, err := r.Prompt(Item{Text: text}, when)
	do(t, err)
	return id
}

func TestStep(t *testing.T) {
	s := openStore(t, Options{Dir: t.TempDir()})
	r, d := start(t, s)
	sub := r.Subscribe(0)
	prompt1(t, r, "go", "")
	if got := <-d.prompts; len(got) != 1 || got[0].Text != "go" {
		t.Errorf("heard %+v", got)
	}
	do(t, r.Emit(Event{Kind: Thought, Message: "m", Role: "assistant", Delta: "hm"}))
	do(t, r.Emit(Event{Kind: Text, Message: "m", Role: "assistant", Delta: "Hel"}))
	do(t, r.Emit(Event{Kind: UsageNow, Usage: &Usage{Used: 5}}))
	do(t, r.Emit(Event{Kind: Text, Message: "m", Role: "assistant", Delta: "lo"}))
	told := history(t, r)
	if e := told[len(told)-1]; e.Kind != Text || e.Delta != "Hello" || e.Text != "" || told[len(told)-2].Kind != UsageNow {
		t.Errorf("what is being told is %+v", told)
	}
	if rest, next, err := r.History(told[len(told)-1].Seq-1, 0, 0); err != nil || len(rest) != 1 || rest[0].Delta != "lo" || next != told[len(told)-1].Seq {
		t.Errorf("what came of it since is %+v, %d, %v", rest, next, err)
	}
	do(t, r.Emit(Event{Kind: CallProposed, Call: &Call{ID: "c", Kind: "edit"}}))
	do(t, r.Emit(Event{Kind: Text, Message: "m", Role: "assistant", Text: "!"}))
	d.ends <- Refused
	await(t, sub, ofKind(RunEnd))
	await(t, sub, isState(Idle))
	events := history(t, r)
	want := []string{RunStart, StateNow, QueueNow, StepStart, Text, QueueNow, StateNow, Thought, UsageNow, Text, CallProposed, Text, RunEnd, StateNow}
	if got := kinds(events); !slices.Equal(got, want) {
		t.Errorf("the history is\n%v, want\n%v", got, want)
	}
	if e := events[9]; e.Text != "Hello" || e.Delta != "" || e.Message != "m#2" {
		t.Errorf("the message is %+v", e)
	}
	if e := events[12]; e.Reason != Refused {
		t.Errorf("the end is %+v", e)
	}
	if i := r.Info(); i.Step != 1 || i.State != Idle || i.Usage.Used != 5 || i.Agent != "fake" || i.Pending != 0 {
		t.Errorf("the info is %+v", i)
	}
	for _, test := range []struct{ end, reason, text string }{{"", Done, ""}, {"error", Failed, "the agent is gone"}, {"panic", Failed, "panicked"}} {
		prompt1(t, r, "more", "")
		<-d.prompts
		d.ends <- test.end
		if e := await(t, sub, ofKind(RunEnd)); e.Reason != test.reason || !strings.Contains(e.Text, test.text) {
			t.Errorf("%s ends with %+v", test.end, e)
		}
	}
}

func TestQueue(t *testing.T) {
	s := openStore(t, Options{Dir: t.TempDir()})
	r, d := start(t, s)
	sub := r.Subscribe(0)
	one := prompt1(t, r, "one", "")
	<-d.prompts
	two, three := prompt1(t, r, "two", ""), prompt1(t, r, "three", Queue)
	do(t, r.Edit(two, "two!"))
	do(t, r.Withdraw(three))
	if r.Edit(three, "") == nil || r.Withdraw(three) == nil || r.Edit(one, "heard") == nil {
		t.Error("what doesn't wait was changed")
	}
	if _, err := r.Prompt(Item{}, "soon"); err == nil {
		t.Error("an unknown time was taken")
	}
	four := prompt1(t, r, "four", Steer)
	if i := <-d.steered; i.ID != four || i.Text != "four" {
		t.Errorf("steered with %+v", i)
	}
	await(t, sub, ofKind(Steered))
	d.steer = ErrNoSteer
	prompt1(t, r, "five", Steer)
	d.ends <- Done
	if got := texts(<-d.prompts); got != "five two!" {
		t.Errorf("heard %s", got)
	}
	prompt1(t, r, "seven", "")
	prompt1(t, r, "six", Interrupt)
	if got := texts(<-d.prompts); got != "six seven" {
		t.Errorf("heard %s", got)
	}
	<-d.cancels
	if got := r.Pause(); got != Running {
		t.Errorf("paused: %s", got)
	}
	prompt1(t, r, "eight", "")
	d.ends <- Done
	await(t, sub, isState(Paused))
	if len(d.prompts) > 0 {
		t.Error("a paused run goes on")
	}
	r.Resume()
	if got := texts(<-d.prompts); got != "eight" {
		t.Errorf("heard %s", got)
	}
	d.ends <- Done
	await(t, sub, isState(Idle))
	_, err := r.Prompt(Item{Text: "hold", Hold: true}, "")
	do(t, err)
	if r.Info().Pending != 1 {
		t.Error("what should wait was heard")
	}
	prompt1(t, r, "now", "")
	if got := texts(<-d.prompts); got != "hold now" {
		t.Errorf("heard %s", got)
	}
	d.ends <- Done
	await(t, sub, isState(Idle))
	r.Pause()
	for range maxQueue {
		prompt1(t, r, "x", "")
	}
	if _, err := r.Prompt(Item{}, ""); err == nil {
		t.Error("the queue has no bound")
	}
}

func texts(items []Item) string {
	var all []string
	for _, i := range items {
		all = append(all, i.Text)
	}
	return strings.Join(all, " ")
}

// TestCancel has an agent that doesn't stop: the step ends in time all the same.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(Options{Dir: t.TempDir()})
		do(t, err)
		defer s.Close()
		r, d := start(t, s)
		d.deaf = true
		prompt1(t, r, "go", "")
		<-d.prompts
		do(t, r.Emit(Event{Kind: Text, Message: "m", Delta: "said"}))
		asked := make(chan error, 1)
		go func() {
			_, _, err := r.Ask(t.Context(), Question{Text: "?"})
			asked <- err
		}()
		synctest.Wait()
		if i := r.Info(); i.State != Waiting || i.WaitingFor == "" {
			t.Errorf("with a question: %+v", i)
		}
		prompt1(t, r, "next", "")
		began := time.Now()
		state := r.Cancel()
		if took := time.Since(began); took > 100*time.Millisecond || state != Paused {
			t.Errorf("after %v: %s", took, state)
		}
		if err := <-asked; !errors.Is(err, ErrUnanswered) {
			t.Errorf("the question: %v", err)
		}
		<-d.cancels
		events := history(t, r)
		if e := events[len(events)-2]; e.Kind != RunEnd || e.Reason != Interrupted {
			t.Errorf("the end is %+v", e)
		}
		if !slices.ContainsFunc(events, func(e Event) bool { return e.Text == "said" }) {
			t.Error("what was said is lost")
		}
		r.Resume()
		synctest.Wait()
		if len(d.prompts) > 0 {
			t.Error("the next step began before the agent has stopped")
		}
		d.ends <- Done // the late end of the first step
		if got := texts(<-d.prompts); got != "next" {
			t.Errorf("heard %s", got)
		}
		if state := r.Cancel(); state != Idle {
			t.Error(state)
		}
		d.ends <- Done
		synctest.Wait()
		if n := count(history(t, r), RunEnd); n != 2 {
			t.Errorf("%d ends of two steps", n)
		}
		for len(d.cancels) > 0 {
			<-d.cancels
		}
		if got := r.Cancel(); got != Idle {
			t.Errorf("cancelled with nothing to cancel: %s", got)
		}
		synctest.Wait()
		if len(d.cancels) != 1 {
			t.Error("without a step the driver is not told")
		}
	})
}

func count(events []Event, kind string) int {
	n := 0
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func TestQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(Options{Dir: t.TempDir()})
		do(t, err)
		defer s.Close()
		r, d := start(t, s)
		prompt1(t, r, "go", "")
		<-d.prompts
		type result struct {
			answer, by string
			err        error
		}
		ask := func(ctx context.Context, q Question) chan result {
			got := make(chan result, 1)
			go func() {
				answer, by, err := r.Ask(ctx, q)
				got <- result{answer, by, err}
			}()
			synctest.Wait()
			return got
		}
		options := []Option{{ID: "y", Label: "Yes"}, {ID: "n", Label: "No"}}
		got := ask(t.Context(), Question{Text: "sure?", Options: options})
		q1 := r.Info().WaitingFor
		if err := r.Answer(q1, "maybe", "me"); err == nil || !strings.Contains(err.Error(), "[y n]") {
			t.Errorf("no option: %v", err)
		}
		do(t, r.Answer(q1, "y", "me"))
		if a := <-got; a.answer != "y" || a.by != "me" || a.err != nil {
			t.Errorf("answered %+v", a)
		}
		if r.Answer(q1, "n", "you") == nil {
			t.Error("a question was answered twice")
		}
		if r.Info().State != Running {
			t.Error(r.Info().State)
		}
		at := time.Now().Add(time.Minute)
		got = ask(t.Context(), Question{Text: "soon?", ExpiresAt: &at})
		if a := <-got; !errors.Is(a.err, ErrUnanswered) || time.Now().Before(at) {
			t.Errorf("expired: %+v", a)
		}
		ctx, cancel := context.WithCancel(t.Context())
		got = ask(ctx, Question{Text: "well?"})
		cancel()
		if a := <-got; !errors.Is(a.err, ErrUnanswered) {
			t.Errorf("cancelled: %+v", a)
		}
		got = ask(t.Context(), Question{Text: "still?"})
		d.ends <- Done
		if a := <-got; !errors.Is(a.err, ErrUnanswered) {
			t.Errorf("the agent has stopped: %+v", a)
		}
		events := history(t, r)
		if count(events, Asked) != 4 || count(events, Answered) != 4 {
			t.Errorf("the history has %v", kinds(events))
		}
	})
}

func TestClose(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir, MaxOpen: 2, MaxKept: 2})
	r, d := start(t, s)
	start(t, s)
	if _, err := s.Start(Spec{}); !errors.Is(err, ErrTooMany) {
		t.Errorf("a third run: %v", err)
	}
	sub := r.Subscribe(0)
	prompt1(t, r, "go", "")
	<-d.prompts
	do(t, r.Emit(Event{Kind: Note, Title: "New title"}))
	do(t, r.Close())
	<-d.closed
	do(t, r.Close())
	await(t, sub, isState(Ended))
	if _, err := sub.Next(t.Context()); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := r.Prompt(Item{}, ""); !errors.Is(err, ErrEnded) {
		t.Errorf("a prompt: %v", err)
	}
	if err := r.Emit(Event{Kind: Text, Delta: "late"}); !errors.Is(err, ErrEnded) {
		t.Errorf("a late event: %v", err)
	}
	before := history(t, r)
	if len(s.List(false)) != 1 || len(s.List(true)) != 2 {
		t.Errorf("the list is %+v", s.List(true))
	}
	var last string
	for range 3 {
		r, _ := start(t, s)
		last = r.ID()
		do(t, r.Close())
	}
	do(t, s.Close())
	s = openStore(t, Options{Dir: dir})
	if got := len(s.List(true)); got != 3 { // one open, two that were kept
		t.Errorf("%d runs", got)
	}
	if _, err := s.Get(r.ID()); !errors.Is(err, ErrUnknown) {
		t.Errorf("the oldest: %v", err)
	}
	kept, err := s.Get(last)
	do(t, err)
	if got := history(t, kept); len(got) == 0 || len(before) == 0 || got[len(got)-1].State != Ended || kept.Info().Agent != "fake" {
		t.Errorf("the history is %v", kinds(got))
	}
}

func TestTitleSurvives(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir})
	a, _ := start(t, s)
	b, _ := start(t, s)
	for _, r := range []*Run{a, b} {
		do(t, r.Emit(Event{Kind: Note, Title: "New"}))
		do(t, r.Emit(Event{Kind: Note, Ref: "theirs"}))
	}
	do(t, b.Close())
	do(t, s.Close())
	s = openStore(t, Options{Dir: dir})
	for _, i := range s.List(true) {
		if i.Title != "New" || i.Ref != "theirs" {
			t.Errorf("the info is %+v", i)
		}
	}
}

// TestTaken: a directory is one process's.
func TestTaken(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("opened twice: %v", err)
	}
	done := make(chan error, 1)
	go func() {
		again, err := Open(Options{Dir: dir, Wait: time.Minute})
		if err == nil {
			err = again.Close()
		}
		done <- err
	}()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("waited for: %v", err)
	}
}
