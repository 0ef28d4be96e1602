package cli_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestFirstStart: who starts an agent at a terminal is asked once for a mode, and never
// without a terminal, nor where a mode is chosen.
func TestFirstStart(t *testing.T) {
	const question = "How do you want to work with agents?"
	p := newPerson(t)
	settings := func() string {
		data, _ := os.ReadFile(config.UserFile())
		return string(data)
	}
	// start starts a program by run, at a terminal on which this is typed.
	start := func(typed string, args ...string) (shown string) {
		t.Helper()
		other, tty := pty(t)
		seen := make(chan string, 1)
		go func() {
			data, _ := io.ReadAll(other) // ends with an error when nobody has the terminal any more
			seen <- string(data)
		}()
		if _, err := io.WriteString(other, typed); err != nil {
			t.Fatal(err)
		}
		out, _ := p.command(tty, args[0], args[1:]...)
		tty.Close()
		return <-seen + out
	}
	if out, _ := p.command(nil, "run", "--", "true"); strings.Contains(out, question) || settings() != "" {
		t.Errorf("without a terminal: %s%s", out, settings())
	}
	if out := start("", "run", "--yes", "--", "true"); strings.Contains(out, question) || settings() != "" {
		t.Errorf("with --yes: %s%s", out, settings())
	}
	if out := start("x\n7\n9\n", "run", "--", "true"); strings.Count(out, question) != 3 || settings() != "" {
		t.Errorf("no answer is taken for one: %s%s", out, settings())
	}
	if out := start("", "agent", "run", "builtin", "x"); strings.Contains(out, question) || !strings.Contains(out, "No model yet") || settings() != "" {
		t.Errorf("an agent that can't be started: %s%s", out, settings())
	}
	if out := start("2\n", "agent", "run", "nobody", "x"); !strings.Contains(out, question) || !strings.Contains(settings(), `"mode": "cautious"`) {
		t.Errorf("ask before each: %s%s", out, settings())
	}
	e2e.Write(t, config.UserFile(), "{\n  // mine\n}\n")
	if out := start("1\n", "run", "--", "true"); !strings.Contains(out, "Review changes (recommended)") || !strings.Contains(settings(), `"mode": "review"`) || !strings.Contains(settings(), "// mine") {
		t.Errorf("review: %s%s", out, settings())
	}
	if out := start("", "run", "--", "true"); strings.Contains(out, question) {
		t.Errorf("it is asked again: %s", out)
	}
	e2e.Write(t, config.UserFile(), "{}")
	e2e.Write(t, p.dir+"/"+config.ProjectFile, `{"mode": "review"}`)
	if out := start("", "run", "--", "true"); strings.Contains(out, question) {
		t.Errorf("the project has chosen: %s", out)
	}
}
