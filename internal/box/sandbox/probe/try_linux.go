package probe

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
)

// outcome is what became of an attempt.
type outcome struct {
	Name  string
	Error string // "" got out
}

// Try is a command that makes attempts. Its argument is a scene, and whether
// all of them are wanted.
func Try(args []string, out, stderr io.Writer) int {
	if len(args) == 1 {
		switch args[0] {
		case "victim":
			return victim(os.Stdin)
		case "nothing":
			return 0
		}
	}
	var w scene
	if len(args) != 2 || json.Unmarshal([]byte(args[1]), &w) != nil {
		fmt.Fprintln(stderr, "there is nothing to try")
		return child.ExitSetup
	}
	var done []outcome
	for _, a := range attempts() {
		if args[0] != TryAll && !a.canny {
			continue
		}
		o := outcome{Name: a.name}
		if err := a.do(&w); err != nil {
			o.Error = err.Error()
		}
		done = append(done, o)
	}
	if err := json.NewEncoder(out).Encode(done); err != nil {
		return child.ExitSetup
	}
	return 0
}

// What try is to try.
const (
	TryAll = "all"
	tryFew = "few"
)
