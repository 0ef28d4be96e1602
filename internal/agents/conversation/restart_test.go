package conversation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/linelog"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestRestart: the process ends properly while the agent works, a question is
// open and a prompt waits.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir})
	r, d := start(t, s)
	prompt1(t, r, "go", "")
	<-d.prompts
	prompt1(t, r, "next", "")
	do(t, r.Emit(Event{Kind: Text, Message: "m", Delta: "half a sen"}))
	asked := make(chan error, 2)
	sub := r.Subscribe(0)
	ask := func(q Question) string {
		go func() {
			_, _, err := r.Ask(context.Background(), q)
			asked <- err
		}()
		return await(t, sub, ofKind(Asked)).Question
	}
	first := ask(Question{Text: "Delete it?", Options: []Option{{ID: "y", Label: "Yes"}}})
	second := ask(Question{Text: "Why?"})
	do(t, s.Close())
	for range 2 {
		if err := <-asked; err == nil {
			t.Error("the question was answered by the end of the process")
		}
	}
	<-d.closed

	s = openStore(t, Options{Dir: dir})
	r, err := s.Get(r.ID())
	do(t, err)
	if i := r.Info(); i.State != Waiting || i.WaitingFor != first || i.Pending != 1 || i.Attached || i.Step != 1 {
		t.Errorf("after the restart: %+v", i)
	}
	events := history(t, r)
	if got := told(events); !strings.HasSuffix(got, "half a sen") {
		t.Errorf("said %q", got)
	}
	if n := count(events, RunEnd); n != 1 || events[slices.IndexFunc(events, func(e Event) bool { return e.Kind == RunEnd })].Reason != Interrupted {
		t.Errorf("%d ends: %v", n, kinds(events))
	}
	d = newDriver(r)
	r.Attach(d)
	do(t, r.Answer(first, "y", "me"))
	if r.Answer(first, "y", "me") == nil {
		t.Error("answered twice")
	}
	do(t, r.Answer(second, "because", "me"))
	if len(d.prompts) > 0 || r.Info().State != Paused {
		t.Error("it went on by itself")
	}
	r.Resume()
	if got := texts(<-d.prompts); got != `The answer to your question "Delete it?" is: Yes The answer to your question "Why?" is: because next` {
		t.Errorf("heard %s", got)
	}
}

// TestAnswersAreHeardTogether: two questions are open after a restart.
func TestAnswersAreHeardTogether(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir})
	r, d := start(t, s)
	prompt1(t, r, "go", "")
	<-d.prompts
	sub := r.Subscribe(0)
	for _, text := range []string{"A?", "B?", "C?"} {
		go func() { _, _, _ = r.Ask(context.Background(), Question{Text: text}) }()
	}
	open := map[string]string{}
	for range 3 {
		e := await(t, sub, ofKind(Asked))
		open[e.Text] = e.Question
	}
	do(t, s.Close())
	s = openStore(t, Options{Dir: dir})
	r, err := s.Get(r.ID())
	do(t, err)
	d = newDriver(r)
	r.Attach(d)
	do(t, r.Answer(open["A?"], "a", "me"))
	if i := r.Info(); i.State != Waiting || i.Pending != 1 {
		t.Errorf("with one answer: %+v", i)
	}
	do(t, r.Answer(open["B?"], "b", "me"))
	do(t, r.Answer(open["C?"], "c", "me"))
	if got := <-d.prompts; len(got) != 3 || !strings.HasSuffix(got[0].Text, `"A?" is: a`) || !strings.HasSuffix(got[2].Text, `"C?" is: c`) {
		t.Errorf("heard %+v", got)
	}
	if i := r.Info(); i.State != Running || i.Step != 2 {
		t.Errorf("afterwards: %+v", i)
	}
}

// TestCloseWithADeafDriver: the end of the process waits only so long.
func TestCloseWithADeafDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(Options{Dir: t.TempDir()})
		do(t, err)
		r, d := start(t, s)
		d.deaf = true
		prompt1(t, r, "go", "")
		<-d.prompts
		began := time.Now()
		do(t, s.Close())
		if took := time.Since(began); took > driverGrace {
			t.Errorf("it took %v", took)
		}
		d.ends <- Done // too late for anything, and harmless
		synctest.Wait()
		if _, err := r.Prompt(Item{}, ""); !errors.Is(err, ErrClosed) {
			t.Errorf("a prompt: %v", err)
		}
	})
}

func TestTornLine(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir})
	r, _ := start(t, s)
	do(t, r.Emit(Event{Kind: Note, Text: "kept"}))
	do(t, s.Close())
	path := filepath.Join(dir, r.ID()+suffixOpen)
	before, err := os.ReadFile(path)
	do(t, err)
	do(t, ownfile.WriteFile(filepath.Join(dir, ".run-123"), []byte("half"), 0o600))
	do(t, ownfile.WriteFile(filepath.Join(dir, "bad"+suffixOpen), []byte("{}\n"), 0o600))
	for _, tail := range []string{"", `{"run":"x","seq":99,"ki`, "garbage\n", `{"seq":1,"kind":"note","text":"an old number"}` + "\n", "\x00\x00\x00", strings.Repeat("x", 5000)} {
		do(t, ownfile.WriteFile(path, append(slices.Clone(before), tail...), 0o600))
		s = openStore(t, Options{Dir: dir})
		r, err := s.Get(r.ID())
		if err != nil {
			t.Fatal(err)
		}
		if events := history(t, r); events[len(events)-1].Text != "kept" {
			t.Errorf("%q: the last event is %+v", tail, events[len(events)-1])
		}
		do(t, r.Emit(Event{Kind: Note, Text: "more"}))
		do(t, s.Close())
		if events, _, _, err := readJournal(path); err != nil || events[len(events)-1].Text != "more" {
			t.Errorf("%q: after it, %v", tail, err)
		}
		if text, err := os.ReadFile(path); err != nil || !strings.HasSuffix(string(text), "}\n") {
			t.Errorf("%.20q: the torn line is still there, %v", tail, err)
		}
		if len(s.List(true)) != 1 {
			t.Error("a file that is no run was taken for one")
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".run-*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestDiskFull: readers get events that can't be written, and the journal gets them later.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	s := openStore(t, Options{Dir: dir, Now: func() time.Time { return now }})
	r, _ := start(t, s)
	none := filepath.Join(dir, "none")
	do(t, ownfile.Mkdir(none, 0o700))
	nowhere, err := linelog.Open(filepath.Join(none, "x"), 0)
	do(t, err)
	do(t, nowhere.Close())
	do(t, ownfile.RemoveAll(none))
	swap := func(to *linelog.Log) *linelog.Log {
		r.mu.Lock()
		defer r.mu.Unlock()
		was := r.log.journal
		r.log.journal = to
		return was
	}
	path := filepath.Join(dir, r.ID()+suffixOpen)
	whole := swap(nowhere)
	for i := range 10 {
		do(t, r.Emit(Event{Kind: Note, Text: fmt.Sprint("lost?", i)}))
	}
	if events := history(t, r); events[len(events)-1].Text != "lost?9" {
		t.Error("it was not told")
	}
	swap(whole)
	now = now.Add(2 * retryTime)
	do(t, r.Emit(Event{Kind: Note, Text: "next"}))
	events, _, _, err := readJournal(path)
	do(t, err)
	if n := len(events); events[n-2].Text != "lost?9" || events[n-1].Text != "next" {
		t.Errorf("the journal has %v", kinds(events))
	}
	whole = swap(nowhere)
	do(t, r.Emit(Event{Kind: Note, Text: "the last"}))
	swap(whole)
	do(t, s.Close())
	if events, _, _, err = readJournal(path); err != nil || events[len(events)-1].Text != "the last" {
		t.Errorf("the journal has %v, %v", kinds(events), err)
	}
}

// TestCrash: the process ends at once while the agent works, a message is half told and a
// question is open.
func TestCrash(t *testing.T) {
	dir, after := t.TempDir(), t.TempDir()
	s := openStore(t, Options{Dir: dir})
	r, d := start(t, s)
	prompt1(t, r, "go", "")
	<-d.prompts
	go func() { _, _, _ = r.Ask(context.Background(), Question{Text: "?"}) }()
	await(t, r.Subscribe(0), ofKind(Asked))
	do(t, r.Emit(Event{Kind: Text, Message: "m", Delta: "half a sen"}))
	last := r.Seq()
	journal, err := os.ReadFile(s.path(r.ID(), false))
	do(t, err)
	do(t, ownfile.WriteFile(filepath.Join(after, r.ID()+suffixOpen), journal, 0o600))
	s = openStore(t, Options{Dir: after})
	r, err = s.Get(r.ID())
	do(t, err)
	events := history(t, r)
	ended := slices.IndexFunc(events, func(e Event) bool { return e.Kind == RunEnd })
	if ended < 0 || events[ended].Reason != Interrupted || events[ended].Seq <= last {
		t.Errorf("told up to %d, and then %v", last, kinds(events))
	}
	if i := r.Info(); i.State != Waiting || i.WaitingFor == "" {
		t.Errorf("after the crash: %+v", i)
	}
	if got := told(events); !strings.HasSuffix(got, "half a sen") {
		t.Errorf("said %q", got)
	}
}
