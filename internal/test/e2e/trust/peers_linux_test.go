package trust_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/mcp/endpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// deciding is the variable by which the tests' program tries what a person decides, over
// the socket of that folder and without a command line of ours.
const deciding = "PEERS_TEST_FOLDER"

// decidedLines are command lines that need a person and ask a server; those of
// its own process come to none.
var (
	decidedLines = []string{
		"review list", "review accept", "review reject", "review undo", "review verify", "review output list", "review output drop", "review output accept", "review output --build true",
		"shadow discard x", "shadow merge x", "plugin list", "plugin trust x", "audit list", "hook test PreToolUse", "mcp sign-in x",
		"policy suggest", "policy suggest --days 3 --json", "agent answer", "agent answer x y z", "agent run --yes scripted hello", "agent close x", "run --mode autonomous -- true", "run --profile none -- true",
	}
	ownLines = []string{"trust yes", "trust", "acp --mode autonomous", "serve", "setup", "uninstall --list", "plugin new go x"}
)

// decidedQueries are the same decisions, sent over the socket.
var decidedQueries = []string{
	"review accept", "review reject", "review undo", "review redo", "review verify", "review output accept", "review output drop", "review output build", "review output list",
	"plugin set", "plugin reload", "shadow merge", "shadow discard", "agent", "run", "acp", "mcp sign-in", "hook test", "audit list", "policy suggest", "policy add", "a later one",
}

// attemptsOf makes a program that tries all of that. It prints what was not refused, and at the
// end "tried", with how many were.
func attemptsOf(t *testing.T, dir, name, server string, lines ...string) (path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cd '%s'\nexport XDG_RUNTIME_DIR='%s' XDG_CONFIG_HOME='%s' HOME='%s'\n", dir, os.Getenv("XDG_RUNTIME_DIR"), os.Getenv("XDG_CONFIG_HOME"), os.Getenv("HOME"))
	for _, line := range lines {
		fmt.Fprintf(&b, "out=$('%s' %s </dev/null 2>&1) && echo \"DONE %s: $out\"\ncase $out in *'only a person decides'*) ;; *) echo \"NOT REFUSED %s: $out\";; esac\n", server, line, line, line)
	}
	fmt.Fprintf(&b, "out=$('%s' call read_file path=a.txt </dev/null 2>&1); case $out in *one*) ;; *) echo \"CONTROL call: $out\";; esac\n", server)
	fmt.Fprintf(&b, "out=$('%s' tools read_file </dev/null 2>&1); case $out in *path*) ;; *) echo \"CONTROL tools: $out\";; esac\n", server)
	fmt.Fprintf(&b, "'%s' call --mode autonomous write_file path=loose.txt content=x </dev/null >/dev/null 2>&1\n", server)
	fmt.Fprintf(&b, "[ -x '%s' ] && %s='%s' '%s' -test.run='^TestWhoMayDecide$'\necho tried %d\n", self, deciding, dir, self, len(lines))
	path = filepath.Join(dir, name)
	e2e.Write(t, path, b.String())
	return path
}

// decideOver tries to decide over the socket.
func decideOver(t *testing.T, dir string) {
	said := func(conn io.ReadWriter, line string) string {
		if _, err := conn.Write([]byte(line + "\n")); err != nil {
			return err.Error()
		}
		b := make([]byte, 4096)
		n, _ := conn.Read(b)
		return string(b[:n])
	}
	for _, name := range decidedQueries {
		conn, _, err := attach.DialPerson(t.Context(), dir)
		if err != nil {
			return // there is no way to the server at all
		}
		line, _ := json.Marshal(e2e.Object{"query": name, "args": e2e.Object{"dir": dir, "verb": "runs", "all": true, "argv": []string{"true"}}})
		if answer := said(conn, string(line)); !strings.Contains(answer, "only a person decides") || !strings.Contains(answer, `"refused":true`) {
			fmt.Printf("NOT REFUSED query %s: %s\n", name, answer)
		}
		_ = conn.Close()
	}
	conn, _, err := attach.DialPerson(t.Context(), dir)
	if err != nil {
		fmt.Println("NOT REACHED", err)
		return
	}
	if answer := said(conn, `{"query": "tools list", "args": {}}`); !strings.Contains(answer, "read_file") {
		fmt.Println("CONTROL tools list:", answer)
	}
	_ = conn.Close()
	if err := attach.AskToLeave(t.Context(), dir); err == nil {
		fmt.Println("NOT REFUSED leave")
	}
	if c, err := attach.DialServer(t.Context(), dir); err == nil {
		fmt.Println("NOT REFUSED server")
		_ = c.Close()
	}
	looser := func(w attach.Wish) net.Conn {
		c, _, err := attach.Dial(t.Context(), dir, w)
		if err != nil {
			fmt.Println("NOT REACHED", err)
		}
		return c
	}
	if c := looser(attach.Wish{Mode: "autonomous", Session: "shell"}); c != nil {
		b, err := endpoint.Remote(t.Context(), c, "the server", endpoint.Agent{Name: "attacker", CanAsk: true, Mode: "autonomous"})
		if err != nil {
			fmt.Println("NOT REACHED", err)
			return
		}
		defer b.Close()
		for tool, args := range map[string]string{"read_file": `{"path": "a.txt"}`, "write_file": `{"path": "loose.txt", "content": "x\n"}`} {
			res, err := endpoint.CallBy(t.Context(), b, endpoint.Call{Name: tool, Arguments: json.RawMessage(args)})
			if err != nil || tool == "read_file" && !res.OK {
				fmt.Println("CONTROL", tool, err, res)
			}
		}
	}
}

// TestWhoMayDecide: what sidecar-ls has started without a sandbox calls tools and decides
// nothing, whatever it does about its parents and its environment; nor does a process
// in a namespace of its own. A program of the person's decides.
func TestWhoMayDecide(t *testing.T) {
	if dir := os.Getenv(deciding); dir != "" {
		decideOver(t, dir)
		return
	}
	e2e.Home(t)
	server := program.ServerAnywhere(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	lines := append(slices.Clone(decidedLines), ownLines...)
	attempts := attemptsOf(t, dir, "attempts.sh", server, lines...)
	e2e.UserSettings(t, e2e.Object{
		"mode": "review", "workspace.trust": "trusted", "toolPermissions": e2e.Object{"run_command": "allow"}, "sandbox": e2e.Object{"mode": "off"},
		"mcp.servers": e2e.Object{"ours": e2e.Object{"command": "sh", "args": []string{"-c", "sh '" + attempts + "' > '" + fifo + ".out' 2>&1; echo > '" + fifo + "'"}}},
	})
	e, err := fakeeditor.StartProcess(exec.CommandContext(t.Context(), server, "serve", "--log-level", "error"), fakeeditor.Options{Root: dir})
	if err == nil {
		_, err = e.Initialize(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &e2e.Rig{Editor: e, T: t, Dir: dir}
	if res := r.Tool("write_file", e2e.Object{"path": "own.txt", "content": "own\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	for what, command := range map[string]string{
		"a command":                        "sh '" + attempts + "'",
		"a command without an environment": "env -i PATH=\"$PATH\" sh '" + attempts + "'",
		"a daemon of a command":            "mkfifo '" + fifo + ".daemon'; (setsid sh -c 'sh \"" + attempts + "\" > \"" + fifo + ".daemon\" 2>&1 &' &); cat '" + fifo + ".daemon'",
	} {
		r.HeldOff(what, r.Tool("run_command", e2e.Object{"command": command, "timeout_s": 120}).Content, len(lines))
	}
	if _, err := os.ReadFile(fifo); err != nil { // until it has tried
		t.Error(err)
	} else if out, err := os.ReadFile(fifo + ".out"); err != nil {
		t.Error(err)
	} else {
		r.HeldOff("an MCP server", string(out), len(lines))
	}
	attempts = attemptsOf(t, dir, "apart.sh", server, decidedLines...)
	for _, option := range []string{"-m", "-Ur", "-Urm", "-Urpfm"} {
		if _, err := r.AsPerson("unshare", option, "true"); err != nil {
			t.Logf("unshare %s does not work here: %v", option, err)
			continue
		}
		out, err := r.AsPerson("unshare", option, "sh", attempts)
		if err != nil {
			t.Errorf("unshare %s: %v", option, err)
		}
		r.HeldOff("unshare "+option, out, len(decidedLines))
	}
	r.APersonDecides(server)
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestWhoMayDecideInWorlds: the same for what runs in a world: a command, a run, a run
// with a profile, an agent, and what they leave behind.
func TestWhoMayDecideInWorlds(t *testing.T) {
	server := program.ServerAnywhere(t)
	dir := e2e.AgentProject(t, map[string]string{"a.txt": "one\n"}, e2e.Object{"mode": "review"})
	lines := append(slices.Clone(decidedLines), ownLines...)
	program, err := os.ReadFile(server)
	if err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(dir, "ours") // where a world has it
	if err := ownfile.WriteFile(inside, program, 0o755); err != nil {
		t.Fatal(err)
	}
	attemptsOf(t, dir, "attempts.sh", inside, lines...)
	r := e2e.RunIn(t, dir)
	if res := r.Tool("write_file", e2e.Object{"path": "own.txt", "content": "own\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	r.HeldOff("a command", r.Tool("run_command", e2e.Object{"command": "sh attempts.sh", "timeout_s": 120}).Content, len(lines))
	for what, argv := range map[string][]string{
		"a run":                {"--profile", "none", "--", "sh", "attempts.sh"},
		"a run with a profile": {"--profile", "shell", "--yes", "--", "sh", "attempts.sh"},
		"a daemon of a run":    {"--profile", "none", "--", "sh", "-c", "mkfifo /tmp/f; (setsid sh -c 'sh attempts.sh > /tmp/f 2>&1 &' &); cat /tmp/f"},
	} {
		out, err := r.AsPerson(append([]string{server, "run"}, argv...)...)
		if err != nil {
			t.Errorf("%s: %v\n%s", what, err, out)
			continue
		}
		r.HeldOff(what, out, len(lines))
	}
	out, said, code := e2e.AgentLine(t, dir, "", "run", "--yes", "scripted", "run sh attempts.sh")
	if code != 0 {
		t.Errorf("agent: %d\n%s%s", code, out, said)
	} else {
		r.HeldOff("an agent", out, len(lines))
	}
	r.APersonDecides(server)
}

// answering is the variable by which the tests' program calls a tool that asks, over the
// socket of that folder, and answers the question itself.
const answering = "PEERS_TEST_ANSWERS"

// TestCallersAnswerNothing: where an agent's program is the way to its user, as over MCP
// without an editor, what that agent starts is asked nothing in the user's place.
func TestCallersAnswerNothing(t *testing.T) {
	if dir := os.Getenv(answering); dir != "" {
		answerOver(t, dir)
		return
	}
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mode": "cautious", "sandbox": e2e.Object{"mode": "off"}, "toolPermissions": e2e.Object{"run_command": "allow"}})
	dir := e2e.Project(t, nil)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a := e2e.AgentProcess(t, dir, e2e.MCPVersions[0], (&e2e.User{Answer: "Allow"}).Elicit)
	line := fmt.Sprintf("XDG_RUNTIME_DIR='%s' %s='%s' '%s' -test.run='^TestCallersAnswerNothing$'", os.Getenv("XDG_RUNTIME_DIR"), answering, dir, self)
	text, ok := a.Call("run_command", e2e.Object{"command": line})
	if _, err := os.Stat(filepath.Join(dir, "answered.txt")); !ok || !strings.Contains(text, "written: false") || !os.IsNotExist(err) {
		t.Errorf("a command of an agent answers what is asked: %v, %s", ok, text)
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "written: true") {
		t.Errorf("control: %v\n%s", err, out)
	}
}

func answerOver(t *testing.T, dir string) {
	c, g, err := attach.Dial(t.Context(), dir, attach.Wish{Mode: "cautious"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := endpoint.Remote(t.Context(), c, fmt.Sprint(g.PID), endpoint.Agent{Name: "attacker", CanAsk: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	asks := endpoint.AskBy(func(context.Context, endpoint.Question) (string, bool, error) { return "Allow", true, nil })
	res, err := endpoint.CallBy(t.Context(), b, endpoint.Call{Name: "write_file", Arguments: json.RawMessage(`{"path": "answered.txt", "content": "x\n"}`), Ask: asks})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("written:", res.OK, res.Content)
}

// TestWhoMayDecideAlone: without a server the command line asks the same about itself.
func TestWhoMayDecideAlone(t *testing.T) {
	e2e.Home(t)
	server := program.ServerAnywhere(t)
	e2e.UserSettings(t, e2e.Object{"mode": "review", "toolPermissions": e2e.Object{"run_command": "allow"}, "sandbox": e2e.Object{"mode": "off"}})
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	r := &e2e.Rig{Editor: nil, T: t, Dir: dir}
	if out, err := r.AsPerson(server, "call", "write_file", "path=own.txt", "content=own"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := []string{"review accept", "review reject", "review output drop", "port open --yes default 3000", "port list", "trust yes", "run -- true", "agent list", "serve", "acp"}
	for _, line := range lines {
		out, err := r.AsPerson(server, "call", "run_command", "command="+server+" "+line+" </dev/null")
		if err == nil || !strings.Contains(out, "only a person decides") {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	if out, err := r.AsPerson(server, "review", "accept"); err != nil || !strings.Contains(out, "own.txt") {
		t.Errorf("control: %v\n%s", err, out)
	}
}
