package dispatch

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/retry"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestRetries: only transient errors are retried, and only of tools that may run
// twice; a person's no is never, and the time-out bounds it all.
func TestRetries(t *testing.T) {
	transient := func(after time.Duration) error {
		return &tools.Error{Code: tools.Unavailable, Message: "overloaded", Transient: true, RetryAfter: after}
	}
	first := time.Second * 3 / 2
	for _, c := range []struct {
		name     string
		access   tools.Access
		set      func(*tools.Def)
		retry    retry.Policy
		errs     []error // of the attempts; the next one works
		attempts int
		code     tools.Code
		least    time.Duration // that it takes
		most     time.Duration
	}{
		{"works at once", tools.Read, nil, retry.Policy{Attempts: 3, Wait: first}, nil, 1, "", 0, 0},
		{"reads", tools.Read, nil, retry.Policy{Attempts: 3, Wait: first}, []error{transient(0)}, 2, "", first * 3 / 4, first * 5 / 4},
		{"reads, the third works", tools.Read, nil, retry.Policy{Attempts: 3, Wait: first}, []error{transient(0), transient(0)}, 3, "", first * 15 / 8, first * 25 / 8},
		{"reads, three are not enough", tools.Read, nil, retry.Policy{Attempts: 3, Wait: first}, []error{transient(0), transient(0), transient(0)}, 3, tools.Unavailable, first * 15 / 8, first * 25 / 8},
		{"switched off", tools.Read, nil, retry.Policy{Attempts: 1, Wait: first}, []error{transient(0)}, 1, tools.Unavailable, 0, 0},
		{"without a wait", tools.Read, nil, retry.Policy{Attempts: 2}, []error{transient(0)}, 2, "", 0, 0},
		{"the server says when", tools.Read, nil, retry.Policy{Attempts: 3, Wait: first}, []error{transient(5 * time.Second)}, 2, "", 5 * time.Second, 5 * time.Second},
		{"later than the time-out", tools.Read, nil, retry.Policy{Attempts: 3, Wait: first}, []error{transient(time.Hour)}, 1, tools.Unavailable, 0, 0},
		{"permanent", tools.Read, nil, retry.Policy{Attempts: 3, Wait: first}, []error{tools.Errorf(tools.Unavailable, "none here")}, 1, tools.Unavailable, 0, 0},
		{"another error follows", tools.Read, nil, retry.Policy{Attempts: 3, Wait: first}, []error{transient(0), tools.Errorf(tools.NotFound, "gone")}, 2, tools.NotFound, first * 3 / 4, first * 5 / 4},
		{"changes something", tools.Exec, nil, retry.Policy{Attempts: 3, Wait: first}, []error{transient(0)}, 1, tools.Unavailable, 0, 0},
		{"changes the same", tools.Exec, func(d *tools.Def) { d.Idempotent = true }, retry.Policy{Attempts: 3, Wait: first}, []error{transient(0)}, 2, "", first * 3 / 4, first * 5 / 4},
		{"edits", tools.Edit, nil, retry.Policy{Attempts: 3, Wait: first}, []error{transient(0)}, 1, tools.Unavailable, 0, 0},
		{"asks a person", tools.Read, func(d *tools.Def) { d.Interactive = true }, retry.Policy{Attempts: 3, Wait: first}, []error{transient(0)}, 1, tools.Unavailable, 0, 0},
		{"a person said no", tools.Read, nil, retry.Policy{Attempts: 3, Wait: first}, []error{&tools.Error{Code: tools.NotApproved, Message: "no", Transient: true}}, 1, tools.NotApproved, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, "autonomous")
				r.settings.Retry = c.retry
				ran := 0
				run := func() error {
					if ran++; ran <= len(c.errs) {
						return c.errs[ran-1]
					}
					return nil
				}
				d := def("tried")
				d.Timeout = 20 * time.Second
				if c.set != nil {
					c.set(&d)
				}
				plain := func(context.Context, *tools.Call, struct{}) (tools.Result, error) {
					return tools.Result{Text: "done"}, run()
				}
				tool := tools.NewRead(d, plain)
				switch c.access {
				case tools.Exec:
					tool = tools.NewExec(d, plain)
				case tools.Edit:
					tool = tools.NewEdit(d, func(context.Context, *tools.Call, struct{}) (tools.Result, []workspace.Change, error) {
						return tools.Result{Text: "done"}, nil, run()
					})
				}
				if err := r.o.Registry.Register(tools.Builtin, tool); err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				res := r.call(t, "tried", `{}`)
				took := time.Since(begin)
				if code(res) != c.code || res.Attempts != c.attempts || ran != c.attempts {
					t.Errorf("code %q, %d attempts, run %d times; want %q and %d", code(res), res.Attempts, ran, c.code, c.attempts)
				}
				if took < c.least || took > c.most {
					t.Errorf("it took %v, want %v to %v", took, c.least, c.most)
				}
				if told := strings.Contains(res.Content, "attempted"); told != (c.code != "" && c.attempts > 1) {
					t.Errorf("content %q", res.Content)
				}
			})
		})
	}
}

// TestRetryIsCancelled: who gives up while a call waits for its next attempt
// gets its end at once.
func TestRetryIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "autonomous")
		ran := 0
		err := r.o.Registry.Register(tools.Builtin, tools.NewRead(def("tried"), func(context.Context, *tools.Call, struct{}) (tools.Result, error) {
			ran++
			return tools.Result{}, &tools.Error{Code: tools.Unavailable, Message: "overloaded", Transient: true}
		}))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		begin := time.Now()
		time.AfterFunc(time.Millisecond, cancel)
		if _, err := r.Call(ctx, Request{Name: "tried"}); err == nil || time.Since(begin) != time.Millisecond || ran != 1 {
			t.Errorf("%v after %v, run %d times", err, time.Since(begin), ran)
		}
	})
}
