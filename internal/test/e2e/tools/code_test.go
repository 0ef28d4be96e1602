package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// called runs a tool with the real program, and returns what it printed.
func called(t *testing.T, server, dir, tool string, args any) string {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), server, "call", "--root", dir, "--mode", "autonomous", tool, "-")
	cmd.Stdin = strings.NewReader(string(data))
	out, _ := cmd.CombinedOutput() // what is printed says how it went
	return string(out)
}

// Code runs, and sees neither the project nor the network. Each attempt is
// made on what is there: run_command reads the same file.
func TestCodeExec(t *testing.T) {
	slow.Test(t)
	e2e.Home(t)
	server := program.ServerAnywhere(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "the project's text\n"})
	path := filepath.Join(dir, "a.txt")
	first := called(t, server, dir, "code_exec", e2e.Object{"language": "python", "code": "print(6 * 7)"})
	if strings.Contains(first, "unavailable") {
		needs.Skip(t, needs.Sandbox, first)
	}
	if !strings.Contains(first, "42\n") {
		t.Fatal(first)
	}
	if out := called(t, server, dir, "run_command", e2e.Object{"command": "cat " + path}); !strings.Contains(out, "the project's text") {
		t.Fatalf("run_command: %s", out)
	}
	for name, c := range map[string]struct {
		language, code string
		says, not      string
	}{
		"a file of the project": {"python", fmt.Sprintf("print(open(%q).read())", path), "command_failed", "the project's text"},
		"its own file":          {"python", "open('x', 'w').write('mine'); print(open('x').read())", "mine", ""},
		"what another left":     {"python", "import os; print(sorted(os.listdir('.')))", "['main.py']", ""},
		"the network":           {"python", "import socket; socket.create_connection(('1.1.1.1', 53), 3)", "command_failed", ""},
		"a crash":               {"python", "import sys; sys.exit('out of luck')", "out of luck", ""},
		"no end":                {"python", "while True: pass", "timeout: the program was ended after 1 s", ""},
		"reads standard input":  {"python", "print(repr(__import__('sys').stdin.read()))", "''", ""},
		"a package":             {"python", "import notthere.inside", "notthere is not installed for code_exec, which has Python's standard library", "notthere.inside is"},
		"no such language":      {"cobol", "x", "invalid_arguments", ""},
		"nothing":               {"python", "", "invalid_arguments", ""},
	} {
		args := e2e.Object{"language": c.language, "code": c.code, "timeout_s": 5}
		if name == "no end" {
			args["timeout_s"] = 1
		}
		out := called(t, server, dir, "code_exec", args)
		if !strings.Contains(out, c.says) || c.not != "" && strings.Contains(out, c.not) {
			t.Errorf("%s:\n%s", name, out)
		}
	}
	if _, err := exec.LookPath("node"); err != nil {
		return
	}
	if out := called(t, server, dir, "code_exec", e2e.Object{"language": "javascript", "code": "import os from 'node:os'\nconsole.log(typeof os.cpus, [1, 2].map(x => x * 2))"}); !strings.Contains(out, "function [ 2, 4 ]") {
		t.Errorf("a module: %s", out)
	}
	if out := called(t, server, dir, "code_exec", e2e.Object{"language": "javascript", "code": "console.log(require('fs').readFileSync(" + fmt.Sprintf("%q", path) + ", 'utf8'))"}); !strings.Contains(out, "command_failed") || strings.Contains(out, "the project's text") {
		t.Errorf("a file of the project: %s", out)
	}
}

// What is bad for a shell, over the real server and its sandbox: each command
// ends, and the session goes on.
func TestBadCommands(t *testing.T) {
	slow.Test(t)
	e2e.Home(t)
	server := program.ServerAnywhere(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	long := fmt.Sprintf("sleep 300.%d", os.Getpid()) // nobody else's
	for name, c := range map[string]struct {
		command string
		says    []string
	}{
		"reads standard input":    {"cat; read x; echo \"<$x>\"", []string{"<>", "exit code 0"}},
		"forks and detaches":      {"(setsid nohup LONG >/dev/null 2>&1 &); setsid LONG & disown; echo gone", []string{"gone", "exit code 0"}},
		"holds its pipes open":    {"LONG & echo left", []string{"left", "exit code 0"}},
		"prints far too much":     {"head -c 100000000 /dev/zero | tr '\\0' 'x'; echo; echo end", []string{"xxxx", "end\n"}},
		"prints escapes":          {"printf '\\033[2J\\033]0;title\\007\\033[31mred\\033[0m\\r\\b\\033]52;c;ZXZpbA==\\007'", []string{"red", "exit code 0"}},
		"a deleted directory":     {"mkdir d && cd d && rmdir ../d && echo still", []string{"still", "exit code 0"}},
		"exits the shell":         {"echo before; exit 3; echo after", []string{"before", "exit code 3"}},
		"kills the shell":         {"kill -9 $$", []string{"exit code 137"}},
		"an unbalanced quote":     {"echo 'one", []string{"unexpected EOF"}},
		"an unbalanced here-doc":  {"cat <<END\ntext", []string{"text"}},
		"ignores to be ended":     {"trap '' TERM INT HUP; LONG & LONG", []string{"was ended after 2 s"}},
		"a bomb that is bounded":  {"ulimit -u 50 2>/dev/null; f() { f | f & }; true", []string{"exit code 0"}},
		"closes all descriptors":  {"exec >&- 2>&-; echo lost", []string{"(no output)"}},
		"a name that is not text": {"touch $'a\\xff\\nb' && ls && rm -- $'a\\xff\\nb'", []string{"exit code 0"}},
	} {
		begun := time.Now()
		out := called(t, server, dir, "run_command", e2e.Object{"command": strings.ReplaceAll(c.command, "LONG", long), "timeout_s": 2 + 58*b2i(name != "ignores to be ended")})
		for _, part := range c.says {
			if !strings.Contains(out, part) {
				t.Errorf("%s: %q is missing in\n%.2000s", name, part, out)
			}
		}
		if strings.Contains(out, "\x1b") || strings.Contains(out, "\a") || len(out) > 1<<20+40_000 { // in a shell all that is kept is printed
			t.Errorf("%s: %d bytes, or escapes, in\n%.500q", name, len(out), out)
		}
		if took := time.Since(begun); took > 3*time.Minute {
			t.Errorf("%s took %v", name, took)
		}
		for late := time.Now().Add(time.Minute); ; { // the kernel may take a moment to end what was killed
			left, _ := exec.CommandContext(t.Context(), "pgrep", "-f", "^"+regexp.QuoteMeta(long)+"$").Output()
			if len(left) == 0 {
				break
			}
			if time.Now().After(late) {
				t.Fatalf("%s: left behind %s", name, left)
			}
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
