package dispatch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestStuckToolIsLeft: a call ends soon after its context even when its tool
// does not, and one that stops in good order is not left.
func TestStuckToolIsLeft(t *testing.T) {
	for _, c := range []struct {
		name   string
		stuck  bool
		cancel bool // otherwise the time-out ends it
		code   tools.Code
	}{
		{"stuck, cancelled", true, true, tools.Cancelled},
		{"stuck, timed out", true, false, tools.Timeout},
		{"stops", false, true, tools.Cancelled},
		{"stops at its time-out", false, false, tools.Timeout},
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
				returned := make(chan *Result, 1)
				begin := time.Now()
				go func() {
					res, _ := r.Call(ctx, Request{Name: "stuck"})
					returned <- res
				}()
				synctest.Wait()
				most := time.Second
				if c.cancel {
					cancel()
					most = 0
				}
				res := <-returned
				if took := time.Since(begin); took > most+graceAfterCancel {
					t.Errorf("it took %v", took)
				}
				if code(res) != c.code || res.Content == "" {
					t.Errorf("result %+v, want code %s", res, c.code)
				}
				close(release)
				synctest.Wait()
				if m := r.Metrics()["stuck"]; m.Calls != 1 {
					t.Errorf("%d calls were counted", m.Calls)
				}
			})
		})
	}
}
