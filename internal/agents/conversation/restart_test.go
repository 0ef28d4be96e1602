package conversation

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// TestDiskFull: what can't be written is told all the same, and written later.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	s := openStore(t, Options{Dir: dir, Now: func() time.Time { return now }})
	r, _ := start(t, s)
	where := func(path string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.journal.path = path
	}
	path := filepath.Join(dir, r.ID()+suffixOpen)
	where(filepath.Join(dir, "none", "x"))
	do(t, r.journal.file.Close())
	for i := range 10 {
		do(t, r.Emit(Event{Kind: Note, Text: fmt.Sprint("lost?", i)}))
	}
	if events := history(t, r); events[len(events)-1].Text != "lost?9" {
		t.Error("it was not told")
	}
	where(path)
	now = now.Add(2 * retryTime)
	do(t, r.Emit(Event{Kind: Note, Text: "next"}))
	events, _, _, err := readJournal(path)
	do(t, err)
	if n := len(events); events[n-2].Text != "lost?9" || events[n-1].Text != "next" {
		t.Errorf("the journal has %v", kinds(events))
	}
	where(filepath.Join(dir, "none", "x"))
	do(t, r.journal.file.Close())
	do(t, r.Emit(Event{Kind: Note, Text: "the last"}))
	where(path)
	do(t, s.Close())
	if events, _, _, err = readJournal(path); err != nil || events[len(events)-1].Text != "the last" {
		t.Errorf("the journal has %v, %v", kinds(events), err)
	}
}

// TestKill kills a process in the middle of writing, many times over. What it
// had told of before is there, and nothing is read that is half written.
func TestKill(t *testing.T) {
	if dir := os.Getenv("RUNS_TEST_CHILD"); dir != "" {
		child(t, dir)
		return
	}
	dir := t.TempDir()
	for round := range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), "RUNS_TEST_CHILD="+dir)
		out, err := cmd.StdoutPipe()
		do(t, err)
		do(t, cmd.Start())
		var last struct {
			Run string
			Seq int64
		}
		lines := bufio.NewScanner(out)
		for n := 0; n < 200+round*37 && lines.Scan(); n++ {
			do(t, json.Unmarshal(lines.Bytes(), &last))
		}
		do(t, cmd.Process.Kill())
		for lines.Scan() { // what it had told of before it died
			_ = json.Unmarshal(lines.Bytes(), &last)
		}
		_ = cmd.Wait()
		s := openStore(t, Options{Dir: dir, MaxBytes: 64 << 10})
		r, err := s.Get(last.Run)
		if err != nil {
			t.Fatal(err)
		}
		events := history(t, r)
		ended := slices.IndexFunc(events, func(e Event) bool { return e.Kind == RunEnd })
		if ended < 0 || events[ended].Reason != Interrupted || events[ended].Seq <= last.Seq {
			t.Errorf("told up to %d, and the end is %v", last.Seq, kinds(events[max(0, len(events)-5):]))
		}
		if i := r.Info(); i.State != Waiting || i.WaitingFor == "" {
			t.Errorf("after the kill: %+v", i)
		}
		if got := told(events); !strings.Contains(got, fmt.Sprintf("<%d>", last.Seq)) {
			t.Errorf("event %d was told and is lost", last.Seq)
		}
		do(t, r.Close())
		do(t, s.Close())
	}
}

// child writes until it is killed, and says what it has written.
func child(t *testing.T, dir string) {
	s, err := Open(Options{Dir: dir, MaxBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	r, d := start(t, s)
	prompt1(t, r, "go", "")
	<-d.prompts
	go func() { _, _, _ = r.Ask(context.Background(), Question{Text: "?"}) }()
	await(t, r.Subscribe(0), ofKind(Asked))
	for i := 0; ; i++ {
		r.mu.Lock()
		seq := r.seq + 1
		if r.tail != nil && r.tail.message != fmt.Sprint("m", i/10) {
			seq++ // the message before is settled first
		}
		err := r.tell(Event{Kind: Text, Message: fmt.Sprint("m", i/10), Delta: fmt.Sprintf("<%d>", seq) + strings.Repeat("y", 300)})
		r.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("{\"run\":%q,\"seq\":%d}\n", r.id, seq)
	}
}
