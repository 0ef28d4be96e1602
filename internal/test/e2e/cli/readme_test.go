package cli_test

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

	"github.com/sidecar-ls/sidecar-ls/docs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
)

// readmeDir stands in the README for the workspace.
const readmeDir = "/home/me/tally"

// consoles are the blocks of a page that show commands and what they print.
var consoles = regexp.MustCompile("(?m)^```\n((?:\\$ .*\n)(?:.*\n)*?)```$")

// TestGeneratedReadmeConsoles: what the README and the pages below docs show of commands is
// what the program prints, one after the other, for each page in a sample repository of its
// own. The name of the workspace and, in doctor, what is said of the machine are those of
// the page.
func TestGeneratedReadmeConsoles(t *testing.T) {
	const root = "../../../../"
	pages := []string{"README.md"}
	for _, p := range docs.Pages() {
		pages = append(pages, p.Path)
	}
	blocks, commands := 0, 0
	for _, name := range pages {
		page, err := os.ReadFile(root + name)
		if err != nil {
			t.Fatal(err)
		}
		shown := strings.Count(string(page), "```\n$ ")
		if shown == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			u := newReader(t)
			tried := 0
			want := consoles.ReplaceAllStringFunc(string(page), func(block string) string {
				tried++
				return "```\n" + u.replay(consoles.FindStringSubmatch(block)[1]) + "```"
			})
			if tried != shown {
				t.Errorf("%d of %d blocks were tried", tried, shown)
			}
			blocks, commands = blocks+tried, commands+u.commands
			if tooltest.Update() {
				if err := ownfile.Update(root+name, []byte(want)); err != nil {
					t.Fatal(err)
				}
				page = []byte(want)
			}
			if d := cmp.Diff(string(page), want); d != "" {
				t.Errorf("%s is stale; run make generate (-page +program):\n%s", name, d)
			}
		})
	}
	if blocks < 12 || commands < 25 {
		t.Errorf("%d blocks with %d commands were tried", blocks, commands)
	}
}

// untried are the pages whose first example no test can run here, with the reason.
var untried = map[string]string{
	"docs/claude.md":         "an agent",
	"docs/codex.md":          "an agent",
	"docs/gemini.md":         "an agent",
	"docs/opencode.md":       "an agent",
	"docs/own-model.md":      "a model; the settings are read by TestGuidesSettings",
	"docs/start-vscode.md":   "make vscode, which make test-vscode does more of",
	"docs/start-neovim.md":   "make install and an editor: firstday and the tests of setup",
	"docs/start-emacs.md":    "make install and an editor: firstday and the tests of setup",
	"docs/mcp-client.md":     "settings, read by TestGuidesSettings",
	"docs/proxy-and-keys.md": "settings, read by TestGuidesSettings",
	"docs/mcp.md":            "a server that waits for messages; the tests of mcp run it",
	"docs/extending.md":      "TestExtendingExamples runs it",
	"docs/skills.md":         "TestSkillsPage runs it",
	"docs/glossary.md":       "words only",
}

// guides are the pages for readers who want to do something, and the references of ways in.
var guides = regexp.MustCompile(`^docs/(start-\w+|claude|codex|gemini|opencode|own-model|run|mcp-client|modes|review|undo|call|containers|without-bubblewrap|proxy-and-keys|agents|install|mcp|own-agent|extending|skills|glossary)\.md$`)

// TestFirstExamples: each guide says whom it is for and begins with an example that the
// test above runs, or that can't be run here.
func TestFirstExamples(t *testing.T) {
	seen := 0
	for _, p := range docs.Pages() {
		if !guides.MatchString(p.Path) {
			continue
		}
		seen++
		intro, _, _ := strings.Cut(p.Text, "\n## ")
		if !strings.Contains(intro, "\nFor ") && !strings.Contains(intro, " For ") && !regexp.MustCompile(`(?m)^(How|Which) `).MatchString(intro) {
			t.Errorf("%s does not say whom it is for", p.Path)
		}
		_, rest, found := strings.Cut(p.Text, "```")
		console := strings.HasPrefix(rest, "\n$ ") || p.Path == "docs/install.md" && strings.Contains(rest, "```\n$ ")
		switch why := untried[p.Path]; {
		case why == "" && !console:
			t.Errorf("%s begins with an example that no test runs", p.Path)
		case why != "" && console:
			t.Errorf("%s begins with an example that a test runs; it need not stand in untried", p.Path)
		case !found && why != "words only":
			t.Errorf("%s has no example", p.Path)
		}
	}
	if seen != 25 {
		t.Errorf("%d guides were looked at", seen)
	}
}

// reader is who tries what the README shows, in a shell.
type reader struct {
	t        *testing.T
	dir      string // the workspace
	home     string
	env      []string
	commands int
}

func newReader(t *testing.T) *reader {
	e2e.Home(t)
	program := program.ServerAnywhere(t)
	runtime, err := os.MkdirTemp("/tmp", "readme-") // short, as the path of a socket is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ownfile.RemoveAll(runtime) })
	repo := gittest.New(t)
	u := &reader{t: t, dir: repo.Dir, home: runtime, env: []string{
		"HOME=" + runtime, "XDG_RUNTIME_DIR=" + runtime, "LANG=C.UTF-8", "TERM=dumb", "GIT_CONFIG_NOSYSTEM=1",
		"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"),
	}}
	sample, err := txtar.ParseFile("../../demo/testdata/tally.txtar")
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
		if strings.HasPrefix(line, "sidecar-ls doctor") {
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
	return strings.NewReplacer(u.dir, readmeDir, u.home, "/home/me").Replace(string(out))
}

// ofMachine are the lines of doctor that are about the machine.
var ofMachine = regexp.MustCompile(`(?m)^\S+ +(version|git|programs|sandbox|commands|languages) .*$`)

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
