package steps

import (
	"fmt"
	"strings"
)

// Entry is a line of what is to do, for people.
type Entry struct{ Text, State string }

// Entries are the steps, each with its latest try, and then the todos.
func (s State) Entries() (list []Entry) {
	for i, t := range s.Steps {
		if i+1 < len(s.Steps) && s.Steps[i+1].Number == t.Number {
			continue
		}
		e := Entry{fmt.Sprintf("%d. %s", t.Number, t.Title), t.State}
		if t.State == Failed {
			e.Text += ": " + t.Observation
		}
		list = append(list, e)
	}
	for _, t := range s.Todos {
		list = append(list, Entry(t))
	}
	return list
}

// Active is what is worked on, and how much of all is done; "" when nothing is.
func (s State) Active() (text string, done, all int) {
	if s.End != nil {
		s.Steps = nil
	}
	for _, e := range s.Entries() {
		all++
		switch {
		case e.State == Completed:
			done++
		case text == "" && e.State == InProgress:
			text = e.Text
		}
	}
	return text, done, all
}

var marks = map[string]string{Pending: " ", InProgress: "-", Completed: "x", Failed: "!"}

// Words are all of it, as a model reads it.
func (s State) Words() string {
	var b strings.Builder
	for _, t := range s.Steps {
		fmt.Fprintf(&b, "[%s] step %d: %s\n    action: %s\n    succeeds when: %s\n", marks[t.State], t.Number, t.Title, t.Action, t.Criteria)
		if t.Observation != "" {
			fmt.Fprintf(&b, "    seen: %s\n", t.Observation)
		}
		if t.Next != "" {
			fmt.Fprintf(&b, "    next: %s\n", t.Next)
		}
	}
	for i, t := range s.Todos {
		fmt.Fprintf(&b, "%d. [%s] %s\n", i+1, marks[t.State], t.Text)
	}
	return strings.TrimRight(b.String(), "\n")
}
