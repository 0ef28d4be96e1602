package own_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// TestAgentCommandLine: a shell has an agent work, beside an editor and without one.
func TestAgentCommandLine(t *testing.T) {
	for _, beside := range []bool{true, false} {
		name := map[bool]string{true: "beside", false: "alone"}[beside]
		t.Run(name, func(t *testing.T) {
			dir := e2e.AgentProject(t, map[string]string{"a.txt": "a\n"}, e2e.Object{"toolPermissions": e2e.Object{"run_command": "ask"}})
			if beside {
				e2e.RunIn(t, dir)
			}
			if out, said, code := e2e.AgentLine(t, dir, "", "list"); code != 0 || !strings.Contains(out, "asked about once") || !strings.Contains(out, "in a terminal alone") || !strings.Contains(out, "is not on PATH") {
				t.Errorf("list: %d\n%s%s", code, out, said)
			}
			if _, said, code := e2e.AgentLine(t, dir, "", "run", "scripted", "say hello"); code != 1 || !strings.Contains(said, "agent list --json names them") || !strings.Contains(said, "--yes") {
				t.Errorf("not allowed: %d\n%s", code, said)
			}
			out, said, code := e2e.AgentLine(t, dir, "say from standard input\nwrite a.txt changed\n", "run", "--yes", "scripted", "-")
			if code != 0 || out != "from standard input\nwritten\n" || !strings.Contains(said, "· Write a.txt (completed)") || !strings.Contains(said, "a.txt: held for review (sidecar-ls review diff)") {
				t.Errorf("run: %d\n%s%s", code, out, said)
			}
			var list []told.Info
			out, said, code = e2e.AgentLine(t, dir, "", "--json", "runs")
			if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list) != 1 || list[0].State != told.Idle || list[0].Title != "say from standard input" {
				t.Fatalf("runs: %d, %v\n%s%s", code, err, out, said)
			}
			run := list[0].Run
			out, said, code = e2e.AgentLine(t, dir, "", "--json", "resume", run, "run", "cat", "a.txt")
			kinds := map[string]bool{}
			for line := range strings.Lines(out) {
				var e told.Event
				if err := json.Unmarshal([]byte(line), &e); err != nil || e.Run != run {
					t.Errorf("a line is %q: %v", line, err)
				}
				kinds[e.Kind] = true
			}
			if code != 0 || !strings.Contains(out, "changed") || !kinds[told.StepStart] || !kinds[told.CallFinished] || !kinds[told.RunEnd] || strings.Contains(out, "from standard input") {
				t.Errorf("resume: %d\n%s%s", code, out, said)
			}
			testFork(t, dir, run)
			testEarlier(t, dir)
			if out, said, code := e2e.AgentLine(t, dir, "", "resume", run, "die 4"); code != 1 || !strings.Contains(said, "exit code 4") || !strings.Contains(said, "its last words") {
				t.Errorf("dead: %d\n%s%s", code, out, said)
			}
			testAnswer(t, dir, run)
			if _, said, code := e2e.AgentLine(t, dir, "", "close", run); code != 0 {
				t.Errorf("close: %d\n%s", code, said)
			}
			for _, c := range []struct {
				args string
				code int
				want string
			}{
				{"runs", 0, ""}, {"runs --all", 0, ""},
				{"resume " + run + " more", 1, "has ended"},
				{"attach nonesuch", 1, "agent runs lists them"},
				{"run --yes nonesuch hello", 1, "no such agent"},
				{"run --yes mute hello", 1, "sidecar-ls run --"},
				{"sessions nonesuch", 1, "no such agent"}, {"sessions", 2, "takes an agent"}, {"sessions mute", 1, "sidecar-ls run --"},
				{"run --yes --resume nonesuch scripted hello", 1, "no such conversation"}, {"run --resume earlier-1", 2, "takes an agent"},
				{"run scripted", 2, "takes an agent and what it is to do"},
				{"run --mode nonesuch --yes scripted x", 1, "nonesuch"},
				{"fork nonesuch", 1, "agent runs lists them"}, {"fork", 2, "takes a run"},
				{"fly", 2, "no verb"}, {"attach", 2, "takes a run"}, {"answer x", 1, "was answered or has expired"}, {"answer a b c d", 2, "takes nothing, or a question"},
			} {
				if _, said, code := e2e.AgentLine(t, dir, "", strings.Fields(c.args)...); code != c.code || !strings.Contains(said, c.want) {
					t.Errorf("%s: %d, %s", c.args, code, said)
				}
			}
			if out, _, _ := e2e.AgentLine(t, dir, "", "runs"); !strings.Contains(out, "There are no runs") {
				t.Errorf("runs that have not ended: %s", out)
			}
			if out, _, _ := e2e.AgentLine(t, dir, "", "runs", "--all"); !strings.Contains(out, run) {
				t.Errorf("all runs: %s", out)
			}
			if out, err := exec.CommandContext(t.Context(), program.ServerAnywhere(t), "review", "--root", dir, "diff").CombinedOutput(); err != nil || !strings.Contains(string(out), "+changed") {
				t.Errorf("the review has %s, %v", out, err)
			}
		})
	}
}

// testFork: a shell goes on from a run in another one.
func testFork(t *testing.T, dir, run string) {
	t.Helper()
	out, said, code := e2e.AgentLine(t, dir, "", "--json", "fork", run)
	var fork told.Info
	if err := json.Unmarshal([]byte(out), &fork); err != nil || code != 0 || fork.ForkOf != run {
		t.Fatalf("fork: %d, %v\n%s%s", code, err, out, said)
	}
	if out, said, code := e2e.AgentLine(t, dir, "", "resume", fork.Run, "who"); code != 0 || out != "fork-of-conversation-1\n" {
		t.Errorf("the fork: %d\n%s%s", code, out, said)
	}
	out, said, code = e2e.AgentLine(t, dir, "", "fork", fork.Run)
	again, _, _ := strings.Cut(out, " ")
	if code != 0 || !strings.HasSuffix(out, " has the conversation of "+fork.Run+"; go on with: sidecar-ls agent resume "+again+" PROMPT\n") {
		t.Errorf("a fork of it: %d\n%s%s", code, out, said)
	}
	for _, one := range []string{fork.Run, again} {
		if _, said, code := e2e.AgentLine(t, dir, "", "close", one); code != 0 {
			t.Errorf("close: %d\n%s", code, said)
		}
	}
}

// testEarlier: a shell goes on with what was a conversation of the agent's alone.
func testEarlier(t *testing.T, dir string) {
	t.Helper()
	out, said, code := e2e.AgentLine(t, dir, "", "sessions", "scripted")
	if lines := strings.Split(out, "\n"); code != 0 || len(lines) != 3 || !strings.HasPrefix(lines[0], "earlier-3 ") || !strings.HasPrefix(lines[1], "earlier-1 ") || !strings.HasSuffix(lines[1], " Fix the <U+001B>[31mtests<U+202E>") {
		t.Errorf("sessions: %d\n%s%s", code, out, said)
	}
	out, said, code = e2e.AgentLine(t, dir, "", "run", "--resume", "earlier-1", "scripted", "who")
	if code != 0 || out != "said before\nearlier-1\n" || strings.Count(said, ", as session ") != 1 {
		t.Errorf("resumed: %d\n%s%s", code, out, said)
	}
	out, said, code = e2e.AgentLine(t, dir, "", "run", "--resume", "earlier-3", "scripted")
	_, next, _ := strings.Cut(said, "go on with: sidecar-ls agent resume ")
	next, _, _ = strings.Cut(next, " ")
	if code != 0 || out != "said before\n" || next == "" {
		t.Fatalf("resumed without a prompt: %d\n%s%s", code, out, said)
	}
	if out, said, code := e2e.AgentLine(t, dir, "", "resume", next, "who"); code != 0 || out != "earlier-3\n" {
		t.Errorf("and went on: %d\n%s%s", code, out, said)
	}
	var list agents.EarlierPage
	out, said, code = e2e.AgentLine(t, dir, "", "--json", "sessions", "scripted")
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list.Sessions) != 2 || list.Sessions[0].Run != next {
		t.Fatalf("sessions: %d, %v\n%s%s", code, err, out, said)
	}
	for _, one := range list.Sessions {
		if _, said, code := e2e.AgentLine(t, dir, "", "close", one.Run); code != 0 {
			t.Errorf("close: %d\n%s", code, said)
		}
	}
}

// testAnswer: what an agent asks of one shell is answered in another.
func testAnswer(t *testing.T, dir, run string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program.ServerAnywhere(t), "agent", "--root", dir, "resume", run, "permit execute make it")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := ""
	buf := make([]byte, 4096)
	for !strings.Contains(said, "yes|no\n") {
		n, err := stderr.Read(buf)
		said += string(buf[:n])
		if err != nil {
			t.Fatalf("it said %q: %v", said, err)
		}
	}
	_, line, _ := strings.Cut(said, "sidecar-ls agent answer ")
	words := strings.Fields(line)
	if _, said, code := e2e.AgentLine(t, dir, "", "answer", words[0], words[1], "perhaps"); code != 1 || !strings.Contains(said, "is no answer") {
		t.Errorf("a bad answer: %d, %s", code, said)
	}
	if _, said, code := e2e.AgentLine(t, dir, "", "answer", words[0], words[1], "no"); code != 0 {
		t.Errorf("the answer: %d, %s", code, said)
	}
	if err := cmd.Wait(); err != nil || out.String() != "permitted: no\n" {
		t.Errorf("it ended with %v and says %q", err, out.String())
	}
}
