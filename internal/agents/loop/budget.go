package loop

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// Budget bounds what a run and its sub-agents may use together. Zero is no bound.
type Budget struct {
	Tokens int64         `json:"tokens,omitempty"` // of the model: read, written and cached
	Calls  int64         `json:"calls,omitempty"`  // of tools
	Steps  int64         `json:"steps,omitempty"`  // requests to the model
	Time   time.Duration `json:"time,omitempty"`   // of work; what people take does not count
	Cost   float64       `json:"cost,omitempty"`   // in US dollars, where the model's price is known
}

// pool is what may be used. That of a sub-agent draws on its parent's: there is one for
// the whole tree, and the sub-agent's own bound below it.
type pool struct {
	parent *pool

	mu     sync.Mutex
	budget Budget
	used   Usage
	held   Usage // of requests that run
	noted  bool  // that most of it is used
}

// reserve holds what a request may use, or says which bound is in the way.
func (p *pool) reserve(want Usage) error {
	for at := p; at != nil; at = at.parent {
		at.mu.Lock()
		err := at.lacks(want)
		if err == nil {
			at.held.add(want)
		}
		at.mu.Unlock()
		if err != nil {
			for back := p; back != at; back = back.parent {
				back.release(want)
			}
			return err
		}
	}
	return nil
}

func (p *pool) release(held Usage) {
	p.mu.Lock()
	p.held.sub(held)
	p.mu.Unlock()
}

// settle gives back what was held and counts what was used. It returns how many of the
// calls among that there was room for.
func (p *pool) settle(held, used Usage) (calls int64) {
	calls = used.Calls
	for at := p; at != nil; at = at.parent {
		at.mu.Lock()
		if most := at.budget.Calls; most > 0 {
			calls = min(calls, max(0, most-at.used.Calls))
		}
		at.held.sub(held)
		at.used.add(used)
		at.mu.Unlock()
	}
	return calls
}

// bounds are the parts of a budget, as people read them.
func (b Budget) bounds(u Usage) []bound {
	return []bound{
		{float64(u.Tokens), float64(b.Tokens), func(v float64) string { return fmt.Sprintf("%.0f tokens", v) }},
		{float64(u.Calls), float64(b.Calls), func(v float64) string { return fmt.Sprintf("%.0f calls", v) }},
		{float64(u.Steps), float64(b.Steps), func(v float64) string { return fmt.Sprintf("%.0f steps", v) }},
		{float64(u.Time), float64(b.Time), func(v float64) string { return time.Duration(v).Round(time.Second).String() }},
		{u.Cost, b.Cost, func(v float64) string { return fmt.Sprintf("$%.2f", v) }},
	}
}

type bound struct {
	used, most float64
	text       func(float64) string
}

// errBudget says what of the budget is used up.
type errBudget struct{ what string }

func (e *errBudget) Error() string { return "the budget is used up: " + e.what }

// lacks says which bound leaves no room for so much. mu is held.
func (p *pool) lacks(want Usage) error {
	u := p.used
	u.add(p.held)
	u.Tokens += max(want.Tokens-1, 0)
	u.Cost += want.Cost
	var over []string
	for _, b := range p.budget.bounds(u) {
		if b.most > 0 && b.used >= b.most {
			over = append(over, b.text(b.most))
		}
	}
	if len(over) > 0 {
		return &errBudget{strings.Join(over, ", ")}
	}
	return nil
}

// full says once that most of a budget is used: "" otherwise, and after the first time.
func (p *pool) full() string {
	const most = 0.8
	for at := p; at != nil; at = at.parent {
		at.mu.Lock()
		var near []string
		for _, b := range at.budget.bounds(at.used) {
			if b.most > 0 && b.used >= most*b.most {
				near = append(near, b.text(b.used)+" of "+b.text(b.most))
			}
		}
		say := len(near) > 0 && !at.noted
		at.noted = len(near) > 0
		at.mu.Unlock()
		if say {
			return strings.Join(near, ", ")
		}
	}
	return ""
}

// cost is the smallest bound of the cost; 0: there is none.
func (p *pool) cost() (most float64) {
	for at := p; at != nil; at = at.parent {
		at.mu.Lock()
		if c := at.budget.Cost; c > 0 && (most == 0 || c < most) {
			most = c
		}
		at.mu.Unlock()
	}
	return most
}

// raise sets the bounds anew; what was used stays used.
func (p *pool) raise(b Budget) {
	p.mu.Lock()
	p.budget, p.noted = b, false
	p.mu.Unlock()
}

// now is what was used, and the bounds.
func (p *pool) now() (Usage, Budget) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used, p.budget
}
