package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

func TestCommandLine(t *testing.T) {
	slow.Test(t)
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\ntwo\n", ".env": "KEY=value-that-nobody-knows\n"})
	for name, c := range map[string]struct {
		args        []string
		stdin       string
		code        int
		out, stderr string // parts
	}{
		"version":                {[]string{"--version"}, "", 0, "sidecar-ls", ""},
		"help":                   {[]string{"--help"}, "", 0, "sidecar-ls call", ""},
		"help by its command":    {[]string{"help", "review"}, "", 0, "Usage: sidecar-ls review", ""},
		"help on a topic":        {[]string{"help", "modes"}, "", 0, "MODES\n\nFor everyone who lets an agent work", ""},
		"help, a command's page": {[]string{"help", "run"}, "", 0, "ANY PROGRAM, WITH ITS CHANGES UNDER REVIEW", ""},
		"help on a section":      {[]string{"help", "the", "hook", "integration"}, "", 0, "The hook integration\n────────────────────\n\n`sidecar-ls setup claude --via hook`", ""},
		"by its earlier name":    {[]string{"help", "the", "hook", "road"}, "", 0, "The hook integration\n", ""},
		"help on a setting":      {[]string{"help", "approval.timeoutSeconds"}, "", 0, "sidecar.approval.timeoutSeconds", ""},
		"help on an editor":      {[]string{"help", "nvim"}, "", 0, ":SidecarAccept", ""},
		"help topics":            {[]string{"help", "topics"}, "", 0, "\nworld  ", ""},
		"a topic's neighbour":    {[]string{"help", "clade"}, "", 2, "", "did you mean claude?"},
		"a section of many":      {[]string{"help", "limits"}, "", 2, "", "agents#limits"},
		"help on nothing":        {[]string{"help", "reviev"}, "", 2, "", "did you mean review?"},
		"the version":            {[]string{"version"}, "", 0, "sidecar-ls ", ""},
		"a command's neighbour":  {[]string{"setpu"}, "", 2, "", "did you mean setup?"},
		"a mode's neighbour":     {[]string{"mode", "cautous"}, "", 2, "", "did you mean cautious?"},
		"a mode of a call":       {[]string{"call", "--mode", "cautous", "list_directory"}, "", 2, "", `there is no mode "cautous" (did you mean cautious?); there are autonomous, cautious, review`},
		"a mode of an endpoint":  {[]string{"mcp", "--mode", "foo"}, "", 2, "", `there is no mode "foo"; there are autonomous, cautious, review`},
		"a diff of nothing":      {[]string{"review", "diff"}, "", 0, "", "Nothing is pending."},
		"a mode to explain":      {[]string{"policy", "explain", "--mode", "cautous", "list_directory"}, "", 2, "", `there is no mode "cautous" (did you mean cautious?); there are`},
		"two modes":              {[]string{"mode", "plan", "review"}, "", 2, "", "Try sidecar-ls mode --help."},
		"the modes":              {[]string{"mode"}, "", 0, "* cautious", ""},
		"help of a command":      {[]string{"call", "--help"}, "", 0, "-mode", ""},
		"unknown command":        {[]string{"cal"}, "", 2, "", `no command "cal"`},
		"unknown flag":           {[]string{"call", "--rot", dir}, "", 2, "", "rot"},
		"unknown flag of none":   {[]string{"--nonsense"}, "", 2, "", "nonsense"},
		"tools":                  {[]string{"tools", "--root", dir}, "", 0, "read_file", ""},
		"tools for a provider":   {[]string{"tools", "--root", dir, "--format", "openai", "--strict"}, "", 0, `"strict": true`, ""},
		"tools as text":          {[]string{"tools", "--root", dir, "--format", "text"}, "", 0, "read_file", ""},
		"tools, bad format":      {[]string{"tools", "--root", dir, "--format", "xml"}, "", 2, "", "xml"},
		"call":                   {[]string{"call", "--root", dir, "read_file", `{"path":"a.txt"}`}, "", 0, "one\ntwo\n", ""},
		"call, stdin":            {[]string{"call", "read_file", "-", "--root", dir}, `{"path":"a.txt"}`, 0, "one\ntwo\n", ""},
		"call, envelope":         {[]string{"call", "--json", "--root", dir, "read_file", `{"path":"a.txt"}`}, "", 0, `"ok": true`, ""},
		"call fails":             {[]string{"call", "--root", dir, "read_file", `{"path":"none"}`}, "", 1, "", "not_found"},
		"call, secret":           {[]string{"call", "--root", dir, "read_file", `{"path":".env"}`}, "", 1, "", "sensitive_path"},
		"call, bad JSON":         {[]string{"call", "--root", dir, "read_file", `{`}, "", 1, "", "invalid_arguments"},
		"call, no tool":          {[]string{"call", "--root", dir}, "", 2, "", "takes a tool"},
		"call, bad mode":         {[]string{"call", "--root", dir, "--mode", "wild", "read_file", `{"path":"a.txt"}`}, "", 2, "", "wild"},
		"call, no such root":     {[]string{"call", "--root", dir + "/none", "read_file", "{}"}, "", 1, "", "no such file"},
		"call, root is a file":   {[]string{"call", "--root", dir + "/a.txt", "read_file", "{}"}, "", 1, "", "not a directory"},
		"explain":                {[]string{"policy", "explain", "--root", dir, "edit_file", `{"path":"a.txt","search":"one","replace":"1"}`}, "", 0, "ask by mode.cautious.edits", ""},
		"explain, verb":          {[]string{"policy", "tell"}, "", 2, "", "explain"},
		"explain, parts":         {[]string{"policy", "explain", "--root", dir, "run_command", `{"command":"ls | make x"}`}, "", 0, "  ls: allow by command.read: it only looks\n  make x: the mode decides by command.unknown", ""},
		"explain, sandbox":       {[]string{"policy", "explain", "--root", dir, "run_command", `{"command":"make x"}`}, "", 0, "command: make x\nsandbox: ", ""},
		"policy test":            {[]string{"policy", "test", "--root", dir, "git status", "rm -rf ."}, "", 0, "allow  git status  [mode.cautious.reads]\nask    rm -rf .  [irrecoverable]\n", ""},
		"policy test, met":       {[]string{"policy", "--expect", "allow", "test", "--root", dir, "-"}, "ls\n\n# a comment\ngit log\n", 0, "allow  git log", ""},
		"policy test, not met":   {[]string{"policy", "--expect", "allow", "test", "--root", dir, "-"}, "ls\nmake\n", 1, "ask    make  [mode.cautious.execs] (expected: allow)", "1 of 2 lines"},
		"policy test, JSON":      {[]string{"policy", "--json", "test", "--root", dir, "ls"}, "", 0, `"line": "ls"`, ""},
		"policy test, a word":    {[]string{"policy", "--expect", "yes", "test", "ls"}, "", 2, "", `not "yes"`},
		"policy test, nothing":   {[]string{"policy", "test"}, "", 2, "", "policy test takes lines"},
		"review, verb":           {[]string{"review", "approve", "--root", dir}, "", 2, "", "approve"},
		"doctor":                 {[]string{"doctor", "--root", dir}, "", 0, "tokens", ""},
		"doctor, languages":      {[]string{"doctor", "--root", dir}, "", 0, "language servers found: ", ""},
		"doctor, JSON":           {[]string{"doctor", "--root", dir, "--json"}, "", 0, `"check": "writing"`, ""},
		"serve, stray word":      {[]string{"serve", "now"}, "", 2, "", "now"},
		"serve, bad level":       {[]string{"serve", "--log-level", "loud"}, "", 2, "", "loud"},
	} {
		t.Run(name, func(t *testing.T) {
			out, stderr, code := e2e.RunCLI(t, c.stdin, c.args...)
			if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(stderr, c.stderr) {
				t.Errorf("exit %d, want %d\nstdout: %s\nstderr: %s", code, c.code, out, stderr)
			}
			if strings.Contains(out+stderr, "value-that-nobody-knows") {
				t.Error("a secret was printed")
			}
		})
	}
	left, err := os.ReadDir(filepath.Join(dir, ".sidecar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if e.Name() != "logs" && e.Name() != ".gitignore" { // every call is written down, in what git ignores
			t.Errorf("looking at a workspace left %s in it", e.Name())
		}
	}
}

// TestReviewByCommandLine holds edits, looks at them, and decides.
func TestReviewByCommandLine(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b.txt": "b\n"})
	must := func(args ...string) string {
		t.Helper()
		out, stderr, code := e2e.RunCLI(t, "", append(args, "--root", dir)...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, stderr)
		}
		return out
	}
	onDisk := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	must("call", "--mode", "review", "edit_file", `{"path":"a.txt","edits":[{"search":"2\n","replace":"two\n"},{"search":"8\n","replace":"eight\n"}]}`)
	must("call", "--mode", "review", "write_file", `{"path":"new/c.txt","content":"c\n"}`)
	must("call", "--mode", "review", "delete_file", `{"path":"b.txt"}`)
	if out := must("call", "--mode", "review", "grep", `{"pattern":"eight"}`); !strings.Contains(out, "a.txt") {
		t.Errorf("a later run does not see the pending text: %s", out)
	}
	if out := must("call", "grep", `{"pattern":"eight"}`); strings.Contains(out, "a.txt") {
		t.Errorf("the cautious mode sees pending text: %s", out)
	}
	var list struct {
		Edits []struct {
			Name, Kind string
			Hunks      []struct{ ID string }
		}
	}
	if err := json.Unmarshal([]byte(must("review", "list", "--json")), &list); err != nil || len(list.Edits) != 3 || len(list.Edits[0].Hunks) != 2 {
		t.Fatalf("list %+v, %v", list, err)
	}
	if out := must("review", "diff", "a.txt"); !strings.Contains(out, "+eight") || strings.Contains(out, "c.txt") {
		t.Errorf("diff: %s", out)
	}
	must("review", "accept", list.Edits[0].Hunks[1].ID)
	if got := onDisk("a.txt"); got != "1\n2\n3\n4\n5\n6\n7\neight\n9\n" {
		t.Errorf("a.txt = %q", got)
	}
	must("review", "reject", "a.txt", "--reason", "not this one")
	must("review", "accept")
	if got := onDisk("a.txt") + onDisk("new/c.txt"); got != "1\n2\n3\n4\n5\n6\n7\neight\n9\nc\n" {
		t.Errorf("after all: %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "b.txt")); !os.IsNotExist(err) {
		t.Errorf("b.txt: %v", err)
	}
	must("review", "undo")
	if got := onDisk("b.txt"); got != "b\n" {
		t.Errorf("undo of the deletion: %q", got)
	}
	if _, stderr, code := e2e.RunCLI(t, "", "review", "accept", "nowhere.txt", "--root", dir); code != 1 || stderr == "" {
		t.Errorf("accept of what is not pending: exit %d, %q", code, stderr)
	}
}

// TestServeWithoutEditor: an editor that leaves at once is no error, a stream
// that breaks is.
func TestServeWithoutEditor(t *testing.T) {
	e2e.Home(t)
	var out, errs bytes.Buffer
	code := cli.Main(context.Background(), nil, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	if out.Len() != 0 {
		t.Errorf("exit %d, stdout %q", code, out.String())
	}
}
