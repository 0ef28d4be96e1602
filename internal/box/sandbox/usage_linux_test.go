package sandbox

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// burnRole says what this program is in TestUsage: a parent that never waits for its
// children, or such a child.
const burnRole = "SIDECAR_TEST_BURN"

const (
	burners = 5
	burnt   = 200 * time.Millisecond // of processor time, by each
)

func init() {
	switch os.Getenv(burnRole) {
	case "":
		return
	case "burn":
		for used := time.Duration(0); used < burnt; {
			var u syscall.Rusage
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
			used = time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	default:
		signal.Ignore(syscall.SIGCHLD)
		for range burners {
			cmd := exec.Command(os.Args[0])
			cmd.Env = []string{burnRole + "=burn"}
			if cmd.Start() == nil {
				_ = cmd.Wait() // says that there is no such child
			}
		}
	}
	os.Exit(0)
}

// TestUsage: the processor time of processes counts for which nobody waits.
func TestUsage(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, groups := range []bool{true, false} { // where the machine has them
		eachLevel(t, []spec.Level{spec.None, spec.Full}, func(t *testing.T, s *Sandbox) {
			defer s.Close()
			want := spec.Spec{Root: realTemp(t), ReadOnly: []string{filepath.Dir(self)}, Env: append(spec.Environ(os.Environ()), burnRole+"=parent")}
			s.once.Do(s.probe)
			if !groups {
				s.tools.Cgroups = nil
			}
			c, err := s.Command(t.Context(), want, want.Root, self)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for over := false; !over; {
				select {
				case <-c.Done():
					over = true
				case <-tick.C:
					c.Usage()
				}
			}
			if err := c.Wait(); err != nil {
				t.Fatal(err)
			}
			if cpu, _, ok := c.Usage(); !ok || cpu < burners*burnt/2 || cpu > 4*burners*burnt {
				t.Errorf("it counts %v of %v", cpu, burners*burnt)
			}
		})
	}
}
