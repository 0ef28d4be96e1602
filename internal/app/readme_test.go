package app_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
)

// readmeDir stands in the README for the workspace.
const readmeDir = "/home/me/tally"

// consoles are the blocks of the README that show commands and what they print.
var consoles = regexp.MustCompile("(?m)^```\n((?:\\$ .*\n)(?:.*\n)*?)```$")

// TestGeneratedReadmeConsoles: what the README shows of commands is what the
// program prints, in the sample repository of the demo, one after the other. The
// name of the workspace and, in doctor, what is said of the machine are those of
// the README.
func TestGeneratedReadmeConsoles(t *testing.T) {
	const name = "../../README.md"
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	u := newReader(t)
	blocks := 0
	want := consoles.ReplaceAllStringFunc(string(page), func(block string) string {
		blocks++
		return "```\n" + u.replay(consoles.FindStringSubmatch(block)[1]) + "```"
	})
	if blocks != strings.Count(string(page), "```\n$ ") || blocks < 3 || u.commands < 9 {
		t.Errorf("%d blocks with %d commands were tried", blocks, u.commands)
	}
	if tooltest.Update() {
		if err := ownfile.Update(name, []byte(want)); err != nil {
			t.Fatal(err)
		}
		page = []byte(want)
	}
	if d := cmp.Diff(string(page), want); d != "" {
		t.Errorf("%s is stale; run make generate (-README +program):\n%s", name, d)
	}
}

// reader is who tries what the README shows, in a shell.
type reader struct {
	t        *testing.T
	dir      string // the workspace
	env      []string
	commands int
}

func newReader(t *testing.T) *reader {
	home(t)
	program := buildServer(t)
	runtime, err := os.MkdirTemp("/tmp", "readme-") // short, as the path of a socket is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ownfile.RemoveAll(runtime) })
	repo := gittest.New(t)
	u := &reader{t: t, dir: repo.Dir, env: []string{
		"HOME=" + runtime, "XDG_RUNTIME_DIR=" + runtime, "LANG=C.UTF-8", "TERM=dumb", "GIT_CONFIG_NOSYSTEM=1",
		"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"),
	}}
	sample, err := txtar.ParseFile("../test/demo/testdata/tally.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range sample.Files {
		if !strings.HasPrefix(f.Name, "want/") {
			repo.Write(f.Name, string(f.Data))
		}
	}
	repo.Commit("tally counts words")
	return u
}

// replay runs the commands of a block, and returns it with what they print now.
func (u *reader) replay(block string) string {
	var out strings.Builder
	for _, part := range regexp.MustCompile(`(?m)^\$ `).Split(block, -1)[1:] {
		u.commands++
		line, shown, _ := strings.Cut(part, "\n")
		text := strings.TrimRight(u.run(line), "\n")
		if text != "" {
			text += "\n"
		}
		if line == "sidecar-ls doctor" {
			text = keepMachine(text, shown)
		}
		rest := shown[len(strings.TrimRight(shown, "\n")):] // the line end, and what sets the next command apart
		if shown != rest {
			rest = rest[1:]
		}
		fmt.Fprintf(&out, "$ %s\n%s%s", line, text, rest)
	}
	return out.String()
}

func (u *reader) run(line string) string {
	cmd := exec.CommandContext(u.t.Context(), "bash", "-c", line)
	cmd.Dir, cmd.Env = u.dir, u.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.t.Errorf("%s: %v\n%s", line, err, out)
	}
	return strings.ReplaceAll(string(out), u.dir, readmeDir)
}

// ofMachine are the lines of doctor that are about the machine.
var ofMachine = regexp.MustCompile(`(?m)^\S+ +(version|git|programs|sandbox|languages) .*$`)

// ofAgents are those about the agents in PATH, which the README has none of.
var ofAgents = regexp.MustCompile(`(?m)^\S+ +agent .*\n`)

// keepMachine puts what the README shows in the place of what doctor says of the
// machine.
func keepMachine(now, shown string) string {
	was := map[string]string{}
	for _, m := range ofMachine.FindAllStringSubmatch(shown, -1) {
		was[m[1]] = m[0]
	}
	return ofMachine.ReplaceAllStringFunc(ofAgents.ReplaceAllString(now, ""), func(line string) string {
		if old := was[ofMachine.FindStringSubmatch(line)[1]]; old != "" {
			return old
		}
		return line
	})
}
