package cost_test

import (
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
)

func TestSummaries(t *testing.T) {
	list := []cost.Cost{{3 * time.Millisecond, time.Millisecond}, {time.Millisecond, 2 * time.Millisecond}, {8 * time.Millisecond, 4 * time.Millisecond}}
	if got := cost.Typical(list).Text(1); got != "3.0/2.0" {
		t.Error(got)
	}
	twice := []cost.Cost{{6 * time.Millisecond, time.Millisecond}, {2 * time.Millisecond, 2 * time.Millisecond}, {8 * time.Millisecond, 4 * time.Millisecond}}
	if got := cost.Ratio(twice, list); got != "2.00/1.00" {
		t.Error(got)
	}
	if got := cost.Middle([]int{9, 1, 5, 7}); got != 7 {
		t.Error(got)
	}
}

func TestMeasured(t *testing.T) {
	failed := errors.New("failed")
	if c, err := cost.Here(func() error { return failed }); !errors.Is(err, failed) || c.Wall <= 0 {
		t.Error(c, err)
	}
	before := cost.WithChildren()
	c, err := cost.Run(exec.CommandContext(t.Context(), "git", "--version"))
	if err != nil || c.Wall <= 0 {
		t.Error(c, err)
	}
	if used := cost.WithChildren() - before; used < c.CPU {
		t.Errorf("a child took %v, with children it is %v", c.CPU, used)
	}
	if _, err := cost.Run(exec.CommandContext(t.Context(), "git", "no-such-command")); err == nil {
		t.Error("a command that fails has no error")
	}
}
