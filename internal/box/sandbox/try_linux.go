package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// outcome is what became of an attempt.
type outcome struct {
	Name  string
	Error string // "" got out
}

// try is a command that makes attempts. Its argument is a scene, and whether
// all of them are wanted.
func try(args []string, out, stderr io.Writer) int {
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
		return exitSetup
	}
	var done []outcome
	for _, a := range attempts() {
		if args[0] != tryAll && !a.canny {
			continue
		}
		o := outcome{Name: a.name}
		if err := a.do(&w); err != nil {
			o.Error = err.Error()
		}
		done = append(done, o)
	}
	if err := json.NewEncoder(out).Encode(done); err != nil {
		return exitSetup
	}
	return 0
}

// What try is to try.
const (
	tryAll = "all"
	tryFew = "few"
)
