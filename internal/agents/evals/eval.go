package evals

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// Options say how tasks are run.
type Options struct {
	Programs *lookup.Finder // finds git
	Open     func(ctx context.Context, dir string) (Place, error)
	Profile  string // of the model; "" is the active one
	Tokens   int64  // that an agent may use for a task; 0 is no bound
	AtOnce   int
	Keep     bool           // leave the directories
	Done     func(r Result) // is called after each task, one call at a time
}

// Result is what came of a task.
type Result struct {
	Task    string   `json:"task"`
	Solved  bool     `json:"solved"`
	Skipped string   `json:"skipped,omitempty"` // why it was not run
	Steps   int64    `json:"steps"`
	Tokens  int64    `json:"tokens"`
	Cost    *float64 `json:"cost,omitempty"`  // in US dollars, if it is known
	Seconds float64  `json:"seconds"`         // that the agent took
	Refused int      `json:"editsRefused"`    // calls of tools that edit files which failed
	End     string   `json:"end,omitempty"`   // the reason why the agent stopped
	Why     string   `json:"why,omitempty"`   // in words
	Check   string   `json:"check,omitempty"` // the end of what the check said, if it failed
	Vain    []string `json:"vain,omitempty"`  // files that the agent changed and that don't count
	Dir     string   `json:"dir,omitempty"`   // of its files, if they were kept
}

// Ends of a task besides those of runs.
const (
	timedOut    = "timeout"
	interrupted = "interrupted"
	broken      = "error" // the task could not be run
)

// Run runs tasks. The end of ctx ends all; what was begun is in the report then.
func Run(ctx context.Context, tasks []Task, o Options) (Report, error) {
	dir, err := os.MkdirTemp("", "sidecar-ls-eval-*")
	if err != nil {
		return Report{}, err
	}
	s := &sites{open: o.Open, dir: dir, keep: o.Keep, repos: map[string]Place{}}
	results := make([]*Result, len(tasks))
	next := make(chan int)
	var workers sync.WaitGroup
	var told sync.Mutex
	for range max(1, min(o.AtOnce, len(tasks))) {
		workers.Go(func() {
			for i := range next {
				if ctx.Err() != nil {
					continue // it is not begun any more
				}
				r := s.do(ctx, tasks[i], o)
				told.Lock()
				results[i] = &r
				if o.Done != nil {
					o.Done(r)
				}
				told.Unlock()
			}
		})
	}
feed:
	for i := range tasks {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	workers.Wait()
	report := Report{Tasks: []Result{}}
	for _, r := range results {
		if r != nil {
			report.Tasks = append(report.Tasks, *r)
		}
	}
	report.sum()
	return report, errors.Join(ctx.Err(), s.close())
}

// do does one task. What goes wrong is in the result.
func (s *sites) do(ctx context.Context, t Task, o Options) (r Result) {
	r = Result{Task: t.Name}
	fail := func(err error) Result {
		switch {
		case err == nil:
			return r
		case ctx.Err() != nil:
			r.End = interrupted
		default:
			r.End, r.Why = broken, err.Error()
		}
		r.Solved = false
		return r
	}
	at, err := s.site(ctx, t, "work")
	if err != nil {
		return fail(err)
	}
	defer func() {
		if err := at.leave(); err != nil {
			r.Why = cmp.Or(r.Why, err.Error())
		}
	}()
	if o.Keep {
		r.Dir = at.dir
	}
	if r.Skipped, err = at.lacks(ctx, t); err != nil || r.Skipped != "" {
		return fail(err)
	}
	if err := at.setUp(ctx, t); err != nil {
		return fail(err)
	}
	if err := s.work(ctx, t, o, at, &r); err != nil || r.End == interrupted {
		return fail(err)
	}
	return fail(s.judge(ctx, t, at.dir, &r))
}

// work has an agent do a task.
func (s *sites) work(ctx context.Context, t Task, o Options, at *site, r *Result) error {
	limited, cancel := context.WithTimeout(ctx, t.time())
	defer cancel()
	begun := time.Now()
	told, err := at.Work(limited, at.shadow, Ask{Profile: o.Profile, Prompt: t.Prompt, Tokens: o.Tokens})
	r.Seconds = time.Since(begun).Seconds()
	r.Steps, r.Tokens, r.Refused, r.End, r.Why = told.Steps, told.Tokens, told.Refused, told.End, told.Why
	if told.Priced {
		r.Cost = &told.Cost
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		r.End = interrupted
		return nil
	case limited.Err() != nil:
		r.End = timedOut
		return nil
	}
	return err
}

// shownOfCheck bounds what is kept of what a check says, in bytes.
const shownOfCheck = 2 << 10

// judge runs the check of a task over a fresh copy, into which only that comes of what the
// agent made which counts. So what it did to the tests, or left around them, is not there.
func (s *sites) judge(ctx context.Context, t Task, made string, r *Result) (err error) {
	at, err := s.site(ctx, t, "check")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.leave()) }()
	if err := at.setUp(ctx, t); err != nil {
		return err
	}
	if r.Vain, err = take(t, made, at.dir); err != nil {
		r.Why = "what it made can't be taken over: " + err.Error()
		return nil // it is the agent's doing
	}
	if err := lay(t.files, checkDir, at.dir); err != nil {
		return err
	}
	ran, err := at.Run(ctx, at.shadow, t.Check)
	if err != nil {
		return err
	}
	if r.Solved = ran.Code == 0; !r.Solved {
		r.Check = strings.ToValidUTF8(ran.Output[max(0, len(ran.Output)-shownOfCheck):], "")
	}
	return nil
}
