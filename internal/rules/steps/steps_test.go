package steps

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// wants checks that an error says something; "" wants none.
func wants(t *testing.T, what string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

func step(n int, action string) Step {
	return Step{Number: n, Title: "look", Action: action, Criteria: "it is seen"}
}

func TestSteps(t *testing.T) {
	var s State
	wants(t, "verify before all", s.Verify(1, true, "x", ""), "no step is open; the next is 1")
	wants(t, "begin with 2", s.Declare(step(2, "a")), "2 is out of order; the next is 1")
	wants(t, "a step 0", s.Declare(step(0, "a")), "0 is out of order")
	for _, bad := range []Step{{Number: 1, Action: "a", Criteria: "c"}, {Number: 1, Title: "t", Action: " \n", Criteria: "c"}, {Number: 1, Title: "t", Action: "a"}} {
		wants(t, "an empty text", s.Declare(bad), "is empty")
	}
	if s.Open() != nil || len(s.Steps) != 0 {
		t.Fatalf("what was refused is kept: %+v", s)
	}
	wants(t, "step 1", s.Declare(step(1, "Run  the tests.")), "")
	wants(t, "step 2 while 1 is open", s.Declare(step(2, "b")), "step 1 (look) is open")
	wants(t, "step 1 twice", s.Declare(step(1, "b")), "step 1 (look) is open")
	wants(t, "complete while it is open", s.Complete("done"), "step 1 (look) is open")
	wants(t, "another is verified", s.Verify(2, true, "x", ""), "step 2 is not open; 1 is")
	wants(t, "nothing is observed", s.Verify(1, true, " ", ""), "observation: is empty")
	wants(t, "it fails", s.Verify(1, false, "two tests fail", "read them"), "")
	wants(t, "verified twice", s.Verify(1, true, "x", ""), "no step is open")
	wants(t, "complete after a failure", s.Complete("done"), "step 1 (look) has failed")
	wants(t, "step 2 after a failure", s.Declare(step(2, "b")), "the next is 1, which has failed")
	wants(t, "the same action", s.Declare(step(1, " run the TESTS ")), "has failed with it already: two tests fail")
	wants(t, "another action", s.Declare(step(1, "run one test")), "")
	wants(t, "that fails too", s.Verify(1, false, "it hangs", ""), "")
	for _, action := range []string{"run the tests", "run one test"} {
		wants(t, "an earlier action", s.Declare(step(1, action)), "has failed with it already")
	}
	wants(t, "a third", s.Declare(step(1, "fix it")), "")
	wants(t, "that works", s.Verify(1, true, "they pass", ""), "")
	wants(t, "the action in another step", s.Declare(step(2, "run the tests")), "")
	wants(t, "that works", s.Verify(2, true, "they pass", ""), "")
	if len(s.Steps) != 4 || s.Steps[0].State != Failed || s.Steps[0].Observation != "two tests fail" || s.Steps[0].Next != "read them" {
		t.Errorf("the history is %+v", s.Steps)
	}
	if e := s.Entries(); len(e) != 2 || e[0] != (Entry{"1. look", Completed}) || e[1] != (Entry{"2. look", Completed}) {
		t.Errorf("people see %+v", e)
	}
	wants(t, "no rationale", s.Complete(" "), "rationale: is empty")
	wants(t, "all is done", s.Complete("they pass"), "")
	if s.Open() != nil || s.End == nil || s.End.Aborted {
		t.Errorf("it ended as %+v", s.End)
	}
	wants(t, "abort after the end", s.Abort("x", "y"), "was claimed complete (they pass)")
	wants(t, "after the end", s.Verify(2, true, "x", ""), "no step is open; the next is 1")
	wants(t, "other steps", s.Declare(step(1, "run the tests")), "")
	if len(s.Steps) != 1 || s.End != nil {
		t.Errorf("the new steps are %+v", s)
	}
	wants(t, "abort without a reason", s.Abort("", "x"), "reason: is empty")
	wants(t, "abort without what was learned", s.Abort("x", ""), "what_was_learned: is empty")
	wants(t, "abort", s.Abort("no network", "it needs one"), "")
	if s.Open() != nil || !s.End.Aborted || s.Steps[0].State != Failed {
		t.Errorf("after it: %+v", s)
	}
	wants(t, "the action after the end", s.Declare(step(1, "run the tests")), "")
}

func TestStepsAreBounded(t *testing.T) {
	var s State
	for n := 1; n <= MaxSteps; n++ {
		wants(t, "a step", s.Declare(step(n, "a")), "")
		wants(t, "its end", s.Verify(n, true, "x", ""), "")
	}
	wants(t, "one too many", s.Declare(step(MaxSteps+1, "a")), "there may be no more")
	wants(t, "the end", s.Complete("x"), "")
	wants(t, "the first of others", s.Declare(step(1, "a")), "")
}

func TestTodos(t *testing.T) {
	var s State
	wants(t, "of no list", s.CompleteTodo(1), "the list of todos is empty")
	wants(t, "an empty text", s.WriteTodos([]Todo{{Text: "a"}, {Text: " "}}), "the text of 2 is empty")
	wants(t, "too many", s.WriteTodos(make([]Todo, MaxTodos+1)), "there may be 200")
	wants(t, "a list", s.WriteTodos([]Todo{{Text: " a "}, {Text: "b", State: InProgress}}), "")
	for _, index := range []int{-1, 0, 3} {
		wants(t, "no such", s.CompleteTodo(index), "the list has 1 to 2")
	}
	wants(t, "one", s.CompleteTodo(1), "")
	if got := s.Words(); got != "1. [x] a\n2. [-] b" {
		t.Errorf("a model reads %q", got)
	}
	wants(t, "with one left", s.Complete("x"), "todo 2 (b) is in progress")
	if text, done, all := s.Active(); text != "b" || done != 1 || all != 2 {
		t.Errorf("it works on %q, %d of %d", text, done, all)
	}
	wants(t, "an empty list", s.WriteTodos(nil), "")
	wants(t, "nothing is left", s.Complete("x"), "")
}

func TestRecord(t *testing.T) {
	var told []int
	r := NewRecord(func(before, now State) { told = append(told, len(now.Todos)-len(before.Todos)) })
	var disk json.RawMessage
	full := false
	keeps := func(data json.RawMessage) error {
		if full {
			return errors.New("no space left")
		}
		disk = data
		return nil
	}
	if err := r.Keep(nil, keeps); err != nil {
		t.Fatal(err)
	}
	add := func(text string) error {
		_, err := r.Change(func(s *State) error { return s.WriteTodos(append(s.Todos, Todo{Text: text})) })
		return err
	}
	wants(t, "one", add("a"), "")
	wants(t, "what is refused", add(""), "is empty")
	full = true
	wants(t, "a full disk", add("b"), "no space left")
	if n := len(r.Now().Todos); n != 1 || len(told) != 1 {
		t.Errorf("%d are there, and %d changes were told", n, len(told))
	}
	full = false
	next := NewRecord(nil)
	if err := next.Keep(disk, nil); err != nil || len(next.Now().Todos) != 1 {
		t.Errorf("from the disk comes %+v, %v", next.Now(), err)
	}
	if err := next.Keep(json.RawMessage("{"), nil); err == nil || len(next.Now().Todos) != 1 {
		t.Errorf("what is damaged is taken: %v", err)
	}
	r.Now().Todos[0].Text = "changed"
	if r.Now().Todos[0].Text != "a" {
		t.Error("whoever looks can change it")
	}
	_, err := r.Change(func(s *State) error { return s.WriteTodos(nil) })
	wants(t, "none", err, "")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { _ = add(fmt.Sprint(i)) })
	}
	all.Wait()
	if n := len(r.Now().Todos); n != 20 {
		t.Errorf("of 20 changes at once %d are there", n)
	}
	if r.StepOpen() {
		t.Error("a step is open that nobody has declared")
	}
	_, _ = r.Change(func(s *State) error { return s.Declare(step(1, "a")) })
	if !r.StepOpen() {
		t.Error("the step is not open")
	}
}
