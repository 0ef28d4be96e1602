package attach

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
)

// TestOwn: what a host has started, directly or not, is no person, and can't
// make it leave.
func TestOwn(t *testing.T) {
	const asks = "ATTACH_TEST_ASKS"
	if dir := os.Getenv(asks); dir != "" { // the program that a host has started
		if c, _, err := DialPerson(t.Context(), dir); err == nil {
			_, _ = c.Read(make([]byte, 1)) // until it is closed
		}
		t.Log("left:", AskToLeave(t.Context(), dir) == nil)
		return
	}
	dir, _ := workspace(t)
	persons := make(chan bool, 1)
	left := false
	hosted(t, dir, Options{
		Kind:   Alone,
		Person: func(p peers.Peer) { persons <- p.Person(); p.Close() },
		Leave:  func() bool { left = true; return true },
	})
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `"$0" -test.run=TestOwn -test.v; true`, os.Args[0])
	cmd.Env = append(os.Environ(), asks+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "left: false") || left {
		t.Errorf("%v: left %v\n%s", err, left, out)
	}
	if <-persons {
		t.Error("a program of the host's counts as a person")
	}
	if err := AskToLeave(t.Context(), dir); err != nil || !left {
		t.Errorf("the control: %v, left %v", err, left)
	}
}
