package dispatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestStuckToolIsLeft: a call ends soon after its context even when its tool
// does not, wherever the tool runs, and one that stops in good order is not left.
func TestStuckToolIsLeft(t *testing.T) {
	for _, c := range []struct {
		name   string
		here   bool // Request.Left is set
		stuck  bool
		cancel bool // otherwise the time-out ends it
		code   tools.Code
	}{
		{"stuck beside, cancelled", false, true, true, tools.Cancelled},
		{"stuck beside, timed out", false, true, false, tools.Timeout},
		{"stuck here, cancelled", true, true, true, tools.Cancelled},
		{"stuck here, timed out", true, true, false, tools.Timeout},
		{"stops beside", false, false, true, tools.Cancelled},
		{"stops here", true, false, true, tools.Cancelled},
		{"stops here at its time-out", true, false, false, tools.Timeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, "autonomous")
				release := make(chan struct{})
				stuck := def("stuck")
				stuck.Timeout = time.Second
				err := r.o.Registry.Register(tools.Builtin, tools.NewRead(stuck, func(ctx context.Context, call *tools.Call, _ struct{}) (tools.Result, error) {
					<-ctx.Done()
					if c.stuck {
						<-release
						call.Emit("late")
					}
					return tools.Result{}, ctx.Err()
				}))
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				type end struct {
					res *Result
					err error
				}
				returned, answered := make(chan end, 1), make(chan end, 1)
				req := Request{Name: "stuck"}
				if c.here {
					req.Left = func(res *Result) { answered <- end{res, nil} }
				}
				begin := time.Now()
				go func() {
					res, err := r.Call(ctx, req)
					returned <- end{res, err}
				}()
				synctest.Wait()
				most := time.Second
				if c.cancel {
					cancel()
					most = 0
				}
				got := returned
				if c.here && c.stuck {
					got = answered
				}
				e := <-got
				if took := time.Since(begin); took > most+graceAfterCancel {
					t.Errorf("it took %v", took)
				}
				if code(e.res) != c.code || e.res.Content == "" {
					t.Errorf("result %+v, want code %s", e.res, c.code)
				}
				close(release)
				if c.here && c.stuck {
					if e := <-returned; e.res != nil || !errors.Is(e.err, ErrLeft) {
						t.Errorf("Call returned %v, %v", e.res, e.err)
					}
				}
				synctest.Wait()
				if len(answered) > 0 {
					t.Error("Left was called as well")
				}
				if m := r.Metrics()["stuck"]; m.Calls != 1 {
					t.Errorf("%d calls were counted", m.Calls)
				}
				r.Close()
			})
		})
	}
}
