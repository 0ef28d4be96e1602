package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestToolManual: what a tool does and takes is told, and its arguments are
// given as words.
func TestToolManual(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\ntwo\nthree\n", "b=c.txt": "four\n"})
	for name, c := range map[string]struct {
		args        []string
		code        int
		out, stderr []string // parts
	}{
		"tools NAME":            {[]string{"tools", "read_file"}, 0, []string{"read_file (read): ", "Reads ", "ARGUMENT  ", "REQUIRED  DEFAULT  MEANING", "\npath ", "yes", "file, relative to the workspace", "\nExample:\n  sidecar-ls call read_file path=", "\nRESULT ", "totalLines ", "\nERROR ", "sensitive_path ", "the file may hold secrets"}, nil},
		"call --help":           {[]string{"call", "edit_file", "--help"}, 0, []string{"edit_file (edit): ", "\nedits ", "\n  search ", "Example:\n  sidecar-ls call edit_file path="}, nil},
		"--help first":          {[]string{"call", "--help", "read_file"}, 0, []string{"read_file (read): "}, nil},
		"a slip in the name":    {[]string{"tools", "Read-File"}, 0, []string{"read_file (read): "}, nil},
		"no arguments":          {[]string{"tools", "system_monitor"}, 0, []string{"Example:\n  sidecar-ls call system_monitor\n"}, nil},
		"help without a tool":   {[]string{"call", "--help"}, 0, []string{"Usage: sidecar-ls call ", "-mode"}, nil},
		"one in another format": {[]string{"tools", "read_file", "--format", "anthropic"}, 0, []string{`"name": "read_file"`, "input_schema"}, nil},
		"no such tool":          {[]string{"tools", "read_fiel"}, 1, nil, []string{"did you mean read_file"}},
		"call, no such tool":    {[]string{"call", "read_fiel", "path=a.txt"}, 1, nil, []string{"did you mean read_file"}},
		"two tools":             {[]string{"tools", "read_file", "grep"}, 2, nil, []string{`"grep"`}},

		"words":             {[]string{"call", "read_file", "path=a.txt", "offset=2", "limit=1"}, 0, []string{"two\n"}, nil},
		"words, a sign":     {[]string{"call", "read_file", "path=b=c.txt"}, 0, []string{"four\n"}, nil},
		"words and a flag":  {[]string{"call", "read_file", "path=a.txt", "--json"}, 0, []string{`"ok": true`}, nil},
		"explain":           {[]string{"policy", "explain", "run_command", "command=ls"}, 0, []string{"allow by "}, nil},
		"no word":           {[]string{"call", "read_file", "a.txt"}, 2, nil, []string{`"a.txt" is not NAME=VALUE; read_file takes path`, "sidecar-ls tools read_file"}},
		"words, a slip":     {[]string{"call", "read_file", "paht=a.txt"}, 2, nil, []string{"did you mean path?"}},
		"words, no number":  {[]string{"call", "read_file", "path=a.txt", "limit=x"}, 2, nil, []string{`limit: got "x", expected integer`}},
		"words, one is off": {[]string{"call", "read_file", "path=a.txt", "limit=-5"}, 1, nil, []string{"invalid_arguments"}},
		"strict, elsewhere": {[]string{"tools", "read_file", "--format", "anthropic", "--strict"}, 0, []string{`"null"`}, nil},
		"not strict":        {[]string{"tools", "read_file", "--format", "openai", "--strict=false"}, 0, []string{`"name": "read_file"`}, nil},
		"strict, or what":   {[]string{"tools", "--format", "openai", "--strict=maybe"}, 2, nil, []string{"maybe"}},
		"strict, in vain":   {[]string{"tools", "--strict"}, 2, nil, []string{"--format openai"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, stderr, code := e2e.RunCLI(t, "", append(c.args, "--root", dir)...)
			if code != c.code {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			for _, part := range c.out {
				if !strings.Contains(out, part) {
					t.Errorf("%q is missing in\n%s%s", part, out, stderr)
				}
			}
			for _, part := range c.stderr {
				if !strings.Contains(stderr, part) {
					t.Errorf("%q is missing in the errors\n%s", part, stderr)
				}
			}
		})
	}
}

// TestJSONFlag: --json makes JSON of what every command prints that takes it,
// and the others refuse it.
func TestJSONFlag(t *testing.T) {
	e2e.Home(t)
	repo := e2e.Repository(t, "a.txt", "one\n")
	must := func(args ...string) {
		t.Helper()
		if _, stderr, code := e2e.RunCLI(t, "", append(args, "--root", repo.Dir)...); code != 0 {
			t.Fatalf("%q: %s", args, stderr)
		}
	}
	must("call", "--mode", "review", "write_file", "path=b.txt", "content=x\n")
	must("shadow", "create", "s", "--lazy")
	for _, args := range [][]string{
		{"tools"}, {"tools", "grep"}, {"tools", "--format", "text"}, {"call", "grep", "--help"}, {"call", "list_directory"}, {"call", "read_file", "path=none"},
		{"review", "list"}, {"review", "diff"}, {"review", "reject", "b.txt"}, {"review", "accept"}, {"review", "undo"},
		{"shadow", "create", "u"}, {"shadow", "fill", "s"}, {"shadow", "list"}, {"shadow", "diff", "s"}, {"shadow", "merge", "s"}, {"shadow", "discard", "s"},
		{"knowledge", "status"}, {"knowledge", "search", "one"}, {"policy", "explain", "grep", "pattern=x"}, {"policy", "test", "ls"},
		{"audit", "list"}, {"audit", "verify"}, {"trust"}, {"setup"}, {"setup", "codex", "--dry-run"}, {"doctor"},
	} {
		out, stderr, _ := e2e.RunCLI(t, "", append(args, "--json", "--root", repo.Dir)...)
		if strings.Contains(stderr, "nothing to undo") || strings.Contains(stderr, "nothing was accepted") {
			continue
		}
		if !json.Valid([]byte(out)) {
			t.Errorf("%q: %q is no JSON (%s)", args, out, stderr)
		}
	}
	for _, args := range [][]string{{"serve"}, {"mcp"}, {"completion", "bash"}} {
		if _, stderr, code := e2e.RunCLI(t, "", append(args, "--json")...); code != 2 || !strings.Contains(stderr, "json") {
			t.Errorf("%q takes --json: exit %d, %s", args, code, stderr)
		}
	}
}
