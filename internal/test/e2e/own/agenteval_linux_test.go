package own_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/evals"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// plays has a function answer a model's requests until the test ends.
func plays(t *testing.T, model *clients.Model, think func(turn *clients.Turn)) {
	t.Helper()
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			select {
			case turn := <-model.Turns():
				think(turn)
			case <-t.Context().Done():
				return
			}
		}
	}()
	t.Cleanup(func() { <-over })
}

// evalDir is a directory with a task for each word: what is asked begins with it.
func evalDir(t *testing.T, more map[string]string, words ...string) string {
	t.Helper()
	files := map[string]string{}
	for _, word := range words {
		files[word+"/task.json"] = `{"prompt": "` + word + `: make it two", "check": ["sh", "-c", "sh test.sh && sh hidden.sh"], "changes": ["a.txt"], "seconds": 120}`
		files[word+"/repo/a.txt"] = "1\n"
		files[word+"/repo/test.sh"] = "[ $(cat a.txt) = 2 ] || { echo $(cat a.txt) is not 2; exit 1; }\n"
		files[word+"/check/hidden.sh"] = "[ ! -e zz ]\n"
	}
	for name, text := range more {
		files[name] = text
	}
	return e2e.Project(t, files)
}

// evalLine runs `sidecar-ls agent eval --json`, and checks that it leaves nothing.
func evalLine(t *testing.T, code int, args ...string) (r evals.Report, said string) {
	t.Helper()
	program.ServerAnywhere(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	out, said, got := e2e.AgentLine(t, t.TempDir(), "", append([]string{"--json", "eval"}, args...)...)
	if err := json.Unmarshal([]byte(out), &r); err != nil || got != code {
		t.Fatalf("%d, %v\n%s%s", got, err, out, said)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
	if left := e2e.UserState(t); len(left) != 0 {
		t.Errorf("it leaves %v in the user's state", left)
	}
	return r, said
}

// TestAgentEval: what is solved, and what is not, whatever the model does.
func TestAgentEval(t *testing.T) {
	_, model := e2e.Played(t, nil, e2e.Object{"toolPermissions": e2e.Object{"run_command": "ask"}})
	two := e2e.Object{"path": "a.txt", "content": "2\n"}
	plan := map[string][]clients.Called{
		"good":   {{Tool: "read_file", Args: e2e.Object{"path": "a.txt"}}, {Tool: "write_file", Args: two}},
		"bad":    {{Tool: "edit_file", Args: e2e.Object{"path": "a.txt", "search": "none", "replace": "2"}}},
		"cheat":  {{Tool: "write_file", Args: e2e.Object{"path": "test.sh", "content": "true\n"}}, {Tool: "write_file", Args: e2e.Object{"path": "hidden.sh", "content": "true\n"}}},
		"asks":   {{Tool: "ask_user", Args: e2e.Object{"question": "Which?", "options": []string{"this", "that"}}}, {Tool: "run_command", Args: e2e.Object{"command": "echo 2 > a.txt"}}},
		"leaves": {{Tool: "write_file", Args: e2e.Object{"path": "../out.txt", "content": "2\n"}}, {Tool: "write_file", Args: two}},
	}
	results := make(chan string, 100)
	plays(t, model, func(turn *clients.Turn) {
		for word, calls := range plan {
			if !strings.Contains(turn.Body, word+": make it two") {
				continue
			}
			done := strings.Count(turn.Body, `"type":"tool_result"`)
			if word == "asks" && done > 0 {
				results <- turn.Result
			}
			if done == len(calls) {
				turn.End()
			} else {
				turn.CallOwn(calls[done].Tool, calls[done].Args)
			}
			return
		}
		turn.Used = 9_000 // endless
		turn.CallOwn("read_file", e2e.Object{"path": "a.txt", "start_line": 1 + strings.Count(turn.Body, `"type":"tool_result"`)})
	})
	dir := evalDir(t, nil, "good", "bad", "cheat", "asks", "leaves", "endless")
	report, _ := evalLine(t, 0, "--n", "3", "--budget-tokens", "30000", dir)
	got := map[string]evals.Result{}
	for _, r := range report.Tasks {
		got[r.Task] = r
		if r.Dir != "" || r.Cost != nil || r.Seconds <= 0 || r.Steps == 0 || r.Tokens == 0 {
			t.Errorf("%+v", r)
		}
	}
	for word, want := range map[string]evals.Result{
		"good": {Solved: true, Steps: 3, End: "done"}, "bad": {Steps: 2, Refused: 1, End: "done"}, "cheat": {Steps: 3, End: "done", Check: "1 is not 2\n", Vain: []string{"test.sh"}},
		"asks": {Steps: 3, End: "done"}, "leaves": {Solved: true, Steps: 3, Refused: 1, End: "done"}, "endless": {End: "budget", Why: "budget is used up"},
	} {
		r := got[word]
		if r.Solved != want.Solved || want.Steps != 0 && r.Steps != want.Steps || r.Refused != want.Refused || r.End != want.End || !strings.Contains(r.Why, want.Why) || want.Check != "" && r.Check != want.Check || len(r.Vain) != len(want.Vain) {
			t.Errorf("%s: %+v", word, r)
		}
	}
	if s := report.Sum; s.Tasks != 6 || s.Solved != 2 || s.Refused != 2 {
		t.Errorf("the sum is %+v", s)
	}
	if asked, ran := <-results, <-results; !strings.Contains(asked, "best judgement") || !strings.Contains(ran, "nobody is here") {
		t.Errorf("it reads %q and %q", asked, ran)
	}

	t.Setenv("TMPDIR", t.TempDir())
	out, said, code := e2e.AgentLine(t, dir, "", "eval", "--only", "good,bad", "--keep", dir)
	if code != 0 || !strings.Contains(out, "all 2") || !strings.Contains(out, "1 (50 %)") || !strings.Contains(said, "· good: solved, 3 steps") || !strings.Contains(said, "· bad: not solved, 2 steps") {
		t.Errorf("in words: %d\n%s%s", code, out, said)
	}
	_, kept, _ := strings.Cut(said, "good: solved, 3 steps\n  its files are in ")
	kept, _, _ = strings.Cut(kept, "\n")
	if data, err := os.ReadFile(filepath.Join(kept, "a.txt")); err != nil || string(data) != "2\n" {
		t.Errorf("in %s there is %q, %v", kept, data, err)
	}
	for args, want := range map[string]string{
		"--only x " + dir: `no task "x"`, "--n 0 " + dir: "at least one", "--budget-tokens -1 " + dir: "negative", "a b": "takes a directory", t.TempDir(): "no task in",
		"--model keyless " + dir: "NO_SUCH_KEY", "--model nobody " + dir: "there is no",
	} {
		if out, said, code := e2e.AgentLine(t, dir, "", append([]string{"eval"}, strings.Fields(args)...)...); code == 0 || !strings.Contains(said, want) {
			t.Errorf("%s: %d, %s%s", args, code, out, said)
		}
	}
}

// TestAgentEvalGone: a model that can't be reached solves nothing, and says why.
func TestAgentEvalGone(t *testing.T) {
	_, model := e2e.Played(t, nil)
	model.Close()
	report, _ := evalLine(t, 0, evalDir(t, nil, "one", "two"))
	for _, r := range report.Tasks {
		if r.Solved || r.End != "failed" || r.Why == "" {
			t.Errorf("%+v", r)
		}
	}
	if len(report.Tasks) != 2 {
		t.Errorf("%+v", report)
	}
}

// TestAgentEvalShadow: a task in a repository is done in a shadow of a commit, and what the
// repository has stays as it is.
func TestAgentEvalShadow(t *testing.T) {
	_, model := e2e.Played(t, nil)
	repo := e2e.Project(t, map[string]string{"a.txt": "1\n", "test.sh": "[ $(cat a.txt) = 2 ]\n"})
	e2e.Committed(t, repo)
	e2e.Write(t, filepath.Join(repo, "a.txt"), "of the user\n")
	plays(t, model, func(turn *clients.Turn) {
		switch strings.Count(turn.Body, `"type":"tool_result"`) {
		case 0:
			turn.CallOwn("run_command", e2e.Object{"command": "cat a.txt; echo 2 > a.txt; echo true > test.sh"})
		case 1:
			if !strings.Contains(turn.Result, "\n1\n") {
				t.Errorf("it sees %q", turn.Result)
			}
			fallthrough
		default:
			turn.End()
		}
	})
	task := `{"prompt": "Make it two.", "check": ["sh", "-c", "sh test.sh && sh hidden.sh"], "changes": ["a.txt"], "repository": "` + repo + `", "commit": "HEAD"}`
	dir := evalDir(t, map[string]string{"one/task.json": task, "one/check/hidden.sh": "true\n", "two/task.json": task, "two/check/hidden.sh": "exit 1\n"})
	report, _ := evalLine(t, 0, dir)
	if len(report.Tasks) != 2 || !report.Tasks[0].Solved || report.Tasks[1].Solved || len(report.Tasks[0].Vain) != 1 {
		t.Errorf("%+v", report)
	}
	list, err := exec.Command("git", "-C", repo, "worktree", "list").Output()
	if err != nil || bytes.Count(list, []byte("\n")) != 1 {
		t.Errorf("there are the working trees %s, %v", list, err)
	}
	if data, err := os.ReadFile(filepath.Join(repo, "a.txt")); err != nil || string(data) != "of the user\n" {
		t.Errorf("the user's file is %q, %v", data, err)
	}
}

// TestAgentEvalInterrupted: an interrupt ends the agents and their commands, leaves no
// directory, and what there is is printed.
func TestAgentEvalInterrupted(t *testing.T) {
	_, model := e2e.Played(t, nil)
	tmp, state := t.TempDir(), os.Getenv("XDG_STATE_HOME")
	sleeps := "sleep 4321." + filepath.Base(state)
	began := make(chan struct{}, 10)
	plays(t, model, func(turn *clients.Turn) {
		if strings.Contains(turn.Body, "first: ") {
			turn.CallOwn("run_command", e2e.Object{"command": sleeps, "timeout_s": 3000})
		}
		began <- struct{}{} // to the second nobody answers
	})
	cmd := exec.CommandContext(t.Context(), program.ServerAnywhere(t), "agent", "eval", evalDir(t, nil, "first", "second", "third"))
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-began
	<-began
	e2e.Until(t, "the command does not run", func() bool { return runsNow(t, sleeps) })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(said.String(), "interrupted: 2 of 3 tasks were begun") {
		t.Errorf("%d: %s", code, said.String())
	}
	if text := out.String(); !strings.Contains(text, "first ") || !strings.Contains(text, "interrupted") || strings.Contains(text, "third ") {
		t.Errorf("it prints %s", text)
	}
	if runsNow(t, sleeps) {
		t.Error("the command runs on")
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

// runsNow reports whether a process has a text in its command line, words apart.
func runsNow(t *testing.T, text string) bool {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		data, _ := os.ReadFile(name) // it may have ended
		if strings.Contains(strings.ReplaceAll(string(data), "\x00", " "), text) {
			return true
		}
	}
	return false
}

// TestAgentEvalShipped: our own tasks run as they ship, with tools of this machine.
func TestAgentEvalShipped(t *testing.T) {
	_, model := e2e.Played(t, nil)
	fixed := map[string]e2e.Object{
		"tests of this package fail": {"path": "words.go", "content": "package words\n\nimport (\n\t\"strings\"\n\t\"unicode\"\n)\n\nfunc Count(text string) map[string]int {\n\tn := map[string]int{}\n\tfor _, w := range strings.Fields(text) {\n\t\tif w = strings.TrimFunc(w, unicode.IsPunct); w != \"\" {\n\t\t\tn[strings.ToLower(w)]++\n\t\t}\n\t}\n\treturn n\n}\n"},
		"save.sh SOURCE TARGET":      {"path": "save.sh", "content": "cat \"$1\" > \"$2.new\" && mv -f \"$2.new\" \"$2\" || { rm -f \"$2.new\"; exit 1; }\necho \"saved $2\"\n"},
	}
	plays(t, model, func(turn *clients.Turn) {
		for words, args := range fixed {
			if strings.Contains(turn.Body, words) && turn.Result == "" {
				turn.CallOwn("write_file", args)
				return
			}
		}
		turn.End()
	})
	report, _ := evalLine(t, 0, "--only", "fix-test,error-path,off-by-one")
	if r := report.Tasks; len(r) != 3 || !r[0].Solved || !r[1].Solved || r[2].Solved {
		t.Errorf("%+v", report)
	}
}
