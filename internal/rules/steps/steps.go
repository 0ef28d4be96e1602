// Package steps is what an agent has set out to do: a list of todos, and steps that it
// declares one by one and verifies. It is state with rules, and knows no agent.
package steps

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// States of a todo and of a step.
const (
	Pending    = "pending"
	InProgress = "in_progress" // of a step: it is open
	Completed  = "completed"
	Failed     = "failed" // of a step alone
)

// Todo is an entry of the list of what is to do.
type Todo struct {
	Text  string `json:"text" jsonschema:"what is to do"`
	State string `json:"state" jsonschema:"pending, in_progress or completed"`
}

// Step is a try at a step. A step that failed is tried again under the same number.
type Step struct {
	Number      int    `json:"number" jsonschema:"of the step, from 1; every try has it"`
	Title       string `json:"title" jsonschema:"what it is"`
	Action      string `json:"action" jsonschema:"what is done"`
	Criteria    string `json:"criteria" jsonschema:"by which its success is known"`
	State       string `json:"state" jsonschema:"in_progress, completed or failed"`
	Observation string `json:"observation,omitempty" jsonschema:"what came of it"`
	Next        string `json:"next,omitempty" jsonschema:"what is to follow from that"`
}

// End is how an agent ended its steps.
type End struct {
	Aborted bool   `json:"aborted,omitempty" jsonschema:"it gave up"`
	Reason  string `json:"reason" jsonschema:"why"`
	Learned string `json:"learned,omitempty" jsonschema:"what whoever tries again has to know"`
}

// State is all that is kept. The zero value is that of who has not begun.
type State struct {
	Todos []Todo `json:"todos,omitempty" jsonschema:"the list, in order"`
	Steps []Step `json:"steps,omitempty" jsonschema:"every try of every step, in the order of their declaration"`
	End   *End   `json:"end,omitempty" jsonschema:"how the steps ended; the next one is the first of others"`
}

// Bounds of what is kept.
const (
	MaxTodos = 200
	MaxSteps = 200 // tries
)

// WriteTodos replaces the list.
func (s *State) WriteTodos(list []Todo) error {
	if len(list) > MaxTodos {
		return fmt.Errorf("todos: there are %d, and there may be %d; put small ones together", len(list), MaxTodos)
	}
	next := make([]Todo, len(list))
	for i, t := range list {
		if next[i].Text = strings.TrimSpace(t.Text); next[i].Text == "" {
			return fmt.Errorf("todos: the text of %d is empty; write what is to do, or leave it out", i+1)
		}
		if next[i].State = t.State; t.State == "" {
			next[i].State = Pending
		}
	}
	s.Todos = next
	return nil
}

// CompleteTodo says that a todo is done; the first one is 1.
func (s *State) CompleteTodo(index int) error {
	switch {
	case len(s.Todos) == 0:
		return errors.New("index: the list of todos is empty; make one with write_todos")
	case index < 1 || index > len(s.Todos):
		return fmt.Errorf("index: there is no todo %d; the list has 1 to %d", index, len(s.Todos))
	}
	s.Todos[index-1].State = Completed
	return nil
}

// Open is the step that is declared and not verified; nil: there is none.
func (s *State) Open() *Step {
	if n := len(s.Steps); n > 0 && s.End == nil && s.Steps[n-1].State == InProgress {
		return &s.Steps[n-1]
	}
	return nil
}

// due is the number of the next step, or of the one that has failed.
func (s *State) due() int {
	n := len(s.Steps)
	switch {
	case n == 0 || s.End != nil:
		return 1
	case s.Steps[n-1].State == Failed:
		return s.Steps[n-1].Number
	}
	return s.Steps[n-1].Number + 1
}

// Declare opens a step. Steps come in order, one at a time. A step that failed is the
// next one again, with an action that it did not fail with.
func (s *State) Declare(step Step) error {
	step.Title, step.Action, step.Criteria = strings.TrimSpace(step.Title), strings.TrimSpace(step.Action), strings.TrimSpace(step.Criteria)
	for _, has := range [][2]string{{"title", step.Title}, {"action", step.Action}, {"success_criteria", step.Criteria}} {
		if has[1] == "" {
			return fmt.Errorf("%s: is empty", has[0])
		}
	}
	if open := s.Open(); open != nil {
		return fmt.Errorf("step %d (%s) is open: verify it with verify_step first", open.Number, open.Title)
	}
	due := s.due()
	if step.Number != due {
		why := ""
		if n := len(s.Steps); n > 0 && s.End == nil && s.Steps[n-1].State == Failed {
			why = ", which has failed: try it another way, or end with abort_with_report"
		}
		return fmt.Errorf("step_number: %d is out of order; the next is %d%s", step.Number, due, why)
	}
	for _, tried := range s.tries(due) {
		if same(tried.Action, step.Action) {
			return fmt.Errorf("action: step %d has failed with it already: %s\nDeclare the step with another action, or end with abort_with_report", due, tried.Observation)
		}
	}
	if s.End != nil {
		s.Steps, s.End = nil, nil
	}
	if len(s.Steps) >= MaxSteps {
		return fmt.Errorf("there are %d steps, and there may be no more: end with claim_complete or abort_with_report", MaxSteps)
	}
	step.State, step.Observation, step.Next = InProgress, "", ""
	s.Steps = append(s.Steps, step)
	return nil
}

// tries are those of a step that failed.
func (s *State) tries(number int) (failed []Step) {
	for _, t := range s.Steps {
		if s.End == nil && t.Number == number && t.State == Failed {
			failed = append(failed, t)
		}
	}
	return failed
}

// same reports whether two actions are the same but for case, room, and the stop at
// their end.
func same(a, b string) bool { return plain(a) == plain(b) }

func plain(action string) string {
	return strings.TrimRight(strings.ToLower(strings.Join(strings.Fields(action), " ")), " .;!")
}

// Verify says what came of the open step. One that failed stays in the history.
func (s *State) Verify(number int, passed bool, observation, next string) error {
	open := s.Open()
	switch observation = strings.TrimSpace(observation); {
	case open == nil:
		return fmt.Errorf("step_number: no step is open; the next is %d, which declare_step declares", s.due())
	case open.Number != number:
		return fmt.Errorf("step_number: step %d is not open; %d is (%s)", number, open.Number, open.Title)
	case observation == "":
		return errors.New("observation: is empty; write what you saw")
	}
	open.State, open.Observation, open.Next = Completed, observation, strings.TrimSpace(next)
	if !passed {
		open.State = Failed
	}
	return nil
}

// Complete ends the steps, if nothing is left to do.
func (s *State) Complete(rationale string) error {
	if rationale = strings.TrimSpace(rationale); rationale == "" {
		return errors.New("rationale: is empty; write how you know that it is done")
	}
	var left []string
	if n := len(s.Steps); n > 0 && s.End == nil && s.Steps[n-1].State != Completed {
		last := s.Steps[n-1]
		what := "is open: verify it"
		if last.State == Failed {
			what = "has failed: try it another way"
		}
		left = append(left, fmt.Sprintf("step %d (%s) %s", last.Number, last.Title, what))
	}
	for i, t := range s.Todos {
		if t.State != Completed {
			left = append(left, fmt.Sprintf("todo %d (%s) is %s", i+1, t.Text, strings.ReplaceAll(t.State, "_", " ")))
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("it is not complete, because\n- %s\nDo what is left, take todos that don't hold any more out with write_todos, or end with abort_with_report", strings.Join(left, "\n- "))
	}
	s.End = &End{Reason: rationale}
	return nil
}

// Abort ends the steps as they are. The open one has failed.
func (s *State) Abort(reason, learned string) error {
	reason, learned = strings.TrimSpace(reason), strings.TrimSpace(learned)
	switch {
	case s.End != nil && !s.End.Aborted:
		return fmt.Errorf("the task was claimed complete (%s), so there is nothing to give up; declare_step begins another", s.End.Reason)
	case reason == "":
		return errors.New("reason: is empty; write why you give up")
	case learned == "":
		return errors.New("what_was_learned: is empty; write what whoever tries again has to know")
	}
	if open := s.Open(); open != nil {
		open.State, open.Observation = Failed, reason
	}
	s.End = &End{Aborted: true, Reason: reason, Learned: learned}
	return nil
}

// clone is a copy that shares nothing with s.
func (s *State) clone() State {
	return State{Todos: slices.Clone(s.Todos), Steps: slices.Clone(s.Steps), End: s.End}
}
