package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

var update = flag.Bool("update", false, "rewrite the generated files")

func user(data string) Source   { return Source{Origin: User, Name: "user.json", Data: []byte(data)} }
func client(data string) Source { return Source{Origin: Client, Data: []byte(data)} }
func project(data string) Source {
	return Source{Origin: Project, Name: "project.json", Data: []byte(data)}
}
func trusted(data string) Source {
	s := project(data)
	s.Trusted = true
	return s
}

// dump is everything that differs from the defaults.
func dump(s *Settings) map[string]any {
	got := map[string]any{}
	defaults, _ := Load()
	for _, row := range Table() {
		v, _ := s.Explain(row.Key)
		d, _ := defaults.Explain(row.Key)
		if !cmp.Equal(v.Value, d.Value) {
			got[row.Key] = v.Value
		}
	}
	return got
}

func messages(problems []Problem) []string {
	var all []string
	for _, p := range problems {
		all = append(all, p.String())
	}
	return all
}

type values = map[string]any

func check(t *testing.T, want values, problems []string, sources ...Source) {
	t.Helper()
	s, got := Load(sources...)
	if diff := cmp.Diff(want, dump(s)); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(problems, messages(got)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestForms(t *testing.T) {
	want := values{"tools.enabled": false, "mode": "manual"}
	for name, data := range map[string]string{
		"dotted":            `{"tools.enabled": false, "mode": "manual"}`,
		"nested":            `{"tools": {"enabled": false}, "mode": "manual"}`,
		"prefixed":          `{"sidecar.tools.enabled": false, "sidecar.mode": "manual"}`,
		"below the prefix":  `{"sidecar": {"tools": {"enabled": false}, "mode": "manual"}}`,
		"dotted and nested": `{"sidecar.tools": {"enabled": false}, "sidecar": {"mode": "manual"}}`,
		"a byte-order mark": "\xef\xbb\xbf" + `{"tools.enabled": false, "mode": "manual"}`,
		"nulls set nothing": `{"tools.enabled": false, "mode": "manual", "log.level": null, "review": null, "nope": null}`,
	} {
		t.Run(name, func(t *testing.T) { check(t, want, nil, user(data)) })
	}
	for name, data := range map[string]string{"empty": "", "blank": " \n", "null": "null", "an object": "{}", "an empty group": `{"sidecar": {"tools": {}}}`} {
		t.Run(name, func(t *testing.T) { check(t, values{}, nil, user(data)) })
	}
}

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		name string
		data string
		want values
		bad  []string // without the source
	}{
		{"a string of those there are", `{"log.level": "debug"}`, values{"log.level": "debug"}, nil},
		{"another string", `{"log.level": "loud"}`, values{}, []string{`log.level: must be one of debug, info, warn, error, not "loud"`}},
		{"a string in another case", `{"mode": "Manual"}`, values{}, []string{`mode: must be one of autonomous, cautious, review, audit, plan, manual, or a custom mode, not "Manual" (did you mean manual?)`}},
		{"a number for a string", `{"mode": 3}`, values{}, []string{`mode: it must be a string, not 3`}},
		{"any string", `{"log.file": "/tmp/x\u0000"}`, values{"log.file": "/tmp/x\x00"}, nil},
		{"a boolean", `{"tools.enabled": false}`, values{"tools.enabled": false}, nil},
		{"a string for a boolean", `{"tools.enabled": "false"}`, values{}, []string{`tools.enabled: must be true or false, not "false"`}},
		{"the least number", `{"approval.timeoutSeconds": 1}`, values{"approval.timeoutSeconds": 1}, nil},
		{"the greatest number", `{"approval.timeoutSeconds": 86400}`, values{"approval.timeoutSeconds": 86400}, nil},
		{"a number too small", `{"approval.timeoutSeconds": 0}`, values{}, []string{`approval.timeoutSeconds: must be a whole number from 1 to 86400, not 0`}},
		{"a number too great", `{"approval.timeoutSeconds": 99999999999999999999}`, values{}, []string{`approval.timeoutSeconds: must be a whole number from 1 to 86400, not 99999999999999999999`}},
		{"a fraction", `{"approval.timeoutSeconds": 1.5}`, values{}, []string{`approval.timeoutSeconds: must be a whole number from 1 to 86400, not 1.5`}},
		{"a list of strings", `{"sensitive.allow": [".env.example", "x/**"]}`, values{"sensitive.allow": []string{".env.example", "x/**"}}, nil},
		{"a list with a number", `{"sensitive.allow": ["a", 1]}`, values{}, []string{`sensitive.allow: each of it must be a string, not 1`}},
		{"a string for a list", `{"sensitive.allow": "*"}`, values{}, []string{`sensitive.allow: it must be a list of strings, not "*"`}},
		{
			"permissions; a wrong one is left out", `{"toolPermissions": {"grep": "deny", "read_file": "yes", "run_command": 1}}`,
			values{"toolPermissions": map[string]string{"grep": "deny"}},
			[]string{`toolPermissions: read_file must be allow, ask or deny, not "yes"`, `toolPermissions: run_command must be a string, not 1`},
		},
		{"a list for permissions", `{"toolPermissions": ["grep"]}`, values{}, []string{`toolPermissions: must be an object of tool names, each allow, ask or deny, not ["grep"]`}},
		{
			"a custom mode and its use", `{"mode": "docs", "customModes": [{"name": "docs", "description": "d", "approvalBehavior": "manual", "destination": "review", "toolPermissions": {"grep": "allow"}}]}`,
			values{"mode": "docs", "customModes": []CustomMode{{Name: "docs", Description: "d", Base: "manual", Destination: "review", Permissions: map[string]string{"grep": "allow"}}}}, nil,
		},
		{
			"custom modes; wrong ones are left out",
			`{"mode": "a", "customModes": [{"name": "a", "base": "yolo"}, {"base": "manual"}, 1, {"name": "review"}, {"name": "b", "color": "red"}, {"name": "b"}, {"name": "x\u0007"}]}`,
			values{"customModes": []CustomMode{{Name: "b", Base: "cautious", Destination: "editor"}}},
			[]string{
				`customModes: mode 1: base must be one of cautious, autonomous, manual, not "yolo"`,
				`customModes: mode 2: needs a name`,
				`customModes: mode 3: must be an object, not 1`,
				`customModes: mode 4: review is the name of a built-in mode`,
				`customModes: mode 5: color is not known; known are approvalBehavior, base, description, destination, name, toolPermissions`,
				`customModes: mode 6: there are two modes b`,
				`customModes: mode 7: the name must be at most 64 printable bytes`,
				`mode: must be one of autonomous, cautious, review, audit, plan, manual, or a custom mode, not "a"`,
			},
		},
		{
			"command rules; wrong ones are left out",
			`{"commandRules": [{"prefix": ["go", "test"], "decision": "allow", "match": ["go test ./..."]}, {"prefix": [], "decision": "deny"}, {"prefix": ["rm"]}, {"prefix": "rm", "decision": "deny"}, {"prefix": ["rm"], "decision": "never"}]}`,
			values{"commandRules": []CommandRule{{Prefix: []string{"go", "test"}, Decision: "allow", Match: []string{"go test ./..."}}}},
			[]string{
				`commandRules: rule 2: needs a prefix, the first words of the command`,
				`commandRules: rule 3: needs a decision: allow, ask or deny`,
				`commandRules: rule 4: prefix must be a list of strings, not "rm"`,
				`commandRules: rule 5: decision must be one of allow, ask, deny, not "never"`,
			},
		},
		{
			"packages belong to rules that allow no more than is known",
			`{"commandRules": [{"prefix": ["npm", "ci"], "decision": "allow", "rest": "known", "packages": "sha256-x"}, {"prefix": ["npm", "ci"], "decision": "allow", "packages": "sha256-x"}, {"prefix": ["npm", "ci"], "decision": "allow", "rest": "known", "packages": ["x"]}, {"prefix": ["npm"], "decision": "deny", "packages": "sha256-x"}]}`,
			values{"commandRules": []CommandRule{{Prefix: []string{"npm", "ci"}, Decision: "allow", Rest: "known", Packages: "sha256-x"}, {Prefix: []string{"npm"}, Decision: "deny"}}},
			[]string{
				`commandRules: rule 2: packages: takes the rest known`,
				`commandRules: rule 3: packages must be a string, not ["x"]`,
				`commandRules: rule 4: packages: belongs to a rule that allows`,
			},
		},
		{
			"command rules that their examples contradict may deny but not allow",
			`{"commandRules": [{"prefix": ["go", "test"], "decision": "allow", "match": ["go test", "go 'test' x"], "notMatch": ["go testx", "go", "'go test'"]}, {"prefix": ["git", "st"], "decision": "allow", "match": ["git status"]}, {"prefix": ["rm"], "decision": "deny", "notMatch": ["rm -i x"]}]}`,
			values{"commandRules": []CommandRule{
				{Prefix: []string{"go", "test"}, Decision: "allow", Match: []string{"go test", "go 'test' x"}, NotMatch: []string{"go testx", "go", "'go test'"}},
				{Prefix: []string{"rm"}, Decision: "deny", NotMatch: []string{"rm -i x"}},
			}},
			[]string{
				`commandRules: rule 2: match: git status does not begin with the prefix`,
				`commandRules: rule 3: notMatch: rm -i x begins with the prefix`,
			},
		},
		{"a mode for a list of modes", `{"customModes": {"name": "a"}}`, values{}, []string{`customModes: must be a list of modes, not {"name":"a"}`}},
		{"too many modes", `{"customModes": [` + strings.Repeat("{},", maxCustomModes) + `{}]}`, values{}, []string{`customModes: must be at most 100 modes, not 101`}},
		{"a rule for a list of rules", `{"commandRules": true}`, values{}, []string{`commandRules: must be a list of rules, not true`}},
		{"too many rules", `{"commandRules": [` + strings.Repeat("{},", maxCommandRules) + `{}]}`, values{}, []string{`commandRules: must be at most 10000 rules, not 10001`}},
		{"a key that is near one", `{"tools.enable": true}`, values{}, []string{`tools.enable: is no setting (did you mean tools.enabled?)`}},
		{"a key in another case", `{"Mode": "manual"}`, values{}, []string{`Mode: is no setting (did you mean mode?)`}},
		{"a key below a group", `{"knowledge.documentSymbols": true, "knowledge": {"enabled": false, "later": 1}}`, values{"knowledge.documentSymbols": true, "knowledge.enabled": false}, []string{
			"knowledge.later: is no setting; there are knowledge.enabled, knowledge.documentSymbols, knowledge.workspaceSymbols",
		}},
		{
			"an index that can't be", `{"knowledge": {"embeddings": {"provider": "local", "url": 1, "key": false}}}`, values{},
			[]string{
				`knowledge.embeddings.provider: must be one of off, ollama, openai, not "local"`,
				`knowledge.embeddings.url: it must be a string, not 1`, `knowledge.embeddings.key: it must be a string, not false`,
			},
		},
		{
			"an index to one's liking", `{"knowledge": {"enabled": false, "embeddings": {"provider": "ollama", "model": "m"}}}`,
			values{"knowledge.enabled": false, "knowledge.embeddings.provider": "ollama", "knowledge.embeddings.model": "m"}, nil,
		},
		{"keys of a backend that are none", `{"backend.profle": "x", "backend.foo": 1, "backend": {"wrker": "a"}, "mcp": {"servers": {}}}`, values{}, []string{
			"backend.profle: is no setting (did you mean backend.profile?)",
			"backend.foo: is no setting; there are backend.profiles, backend.profile, backend.worker",
			"backend.wrker: is no setting (did you mean backend.worker?)",
		}},
		{"groups that are none", `{"backend": "x", "sidecar.mcp": true}`, values{}, []string{
			`backend: must be an object of settings, not "x"`, "mcp: must be an object of settings, not true",
		}},
		{"a backend that is one", `{"backend": {"profile": "openai"}}`, values{"backend.profile": "openai"}, nil},
		{
			"language servers; wrong ones are left out",
			`{"languageServers": {"gopls": {"command": ["/x/gopls", "-v"], "initializationOptions": {"a": [1]}}, "pyright": {"enabled": false}, "clangd": {"command": [""]}, "rust-analyzer": {"command": "ra"}, "jdtls": {}, "typescript-language-server": {"enabled": 1}}}`,
			values{"languageServers": map[string]LanguageServer{"gopls": {Command: []string{"/x/gopls", "-v"}, Options: `{"a": [1]}`}, "pyright": {Off: true}}},
			[]string{
				`languageServers: clangd: command needs a program`,
				`languageServers: rust-analyzer: command must be a list of strings, not "ra"`,
				`languageServers: jdtls: is no language server that is known; known are clangd, gopls, pyright, rust-analyzer, typescript-language-server`,
				`languageServers: typescript-language-server: enabled must be true or false, not 1`,
			},
		},
		{"a setup", `{"shadow.setup": ["make deps", {"run": "npm ci", "when": ["package-lock.json", "web/package-lock.json"], "timeout": 60, "in": "/p"}]}`,
			values{"shadow.setup": []SetupStep{{Run: "make deps"}, {Run: "npm ci", When: []string{"package-lock.json", "web/package-lock.json"}, Time: 60, In: "/p"}}}, nil},
		{"steps that are none", `{"shadow.setup": ["ok", "", 1, {"when": ["a"]}, {"run": "x", "wen": ["a"]}, {"run": "x", "when": "a"}, {"run": "x", "when": ["../a"]}, {"run": "x", "when": ["/a"]}, {"run": "x", "timeout": 0}, {"run": "x", "in": "p"}, {"run": "a\u0000"}]}`, values{}, []string{
			`shadow.setup: step 2: needs a command: run, or a string in the place of the object`,
			`shadow.setup: step 3: must be an object, not 1`,
			`shadow.setup: step 4: needs a command: run, or a string in the place of the object`,
			`shadow.setup: step 5: wen is not known (did you mean when?); known are in, run, timeout, when`,
			`shadow.setup: step 6: when must be a list of strings, not "a"`,
			`shadow.setup: step 7: when: "../a" must be the name of a file in the project, such as package-lock.json or web/package-lock.json`,
			`shadow.setup: step 8: when: "/a" must be the name of a file in the project, such as package-lock.json or web/package-lock.json`,
			`shadow.setup: step 9: timeout must be a whole number of seconds from 1 to 3600, not 0`,
			`shadow.setup: step 10: in: must be the whole path of a directory, not p`,
			`shadow.setup: step 11: run must be a text of at most 32768 bytes; put it into a script`,
		}},
		{"a setup that is no list", `{"shadow.setup": "npm ci"}`, values{}, []string{`shadow.setup: must be a list of steps, not "npm ci"`}},
		{"a list of language servers", `{"languageServers": ["gopls"]}`, values{}, []string{`languageServers: must be an object of language servers, not ["gopls"]`}},
		{"a sandbox that is none", `{"sandbox.mode": "on"}`, values{}, []string{`sandbox.mode: must be one of off, auto, require, not "on"`}},
		{"a shell that nobody knows", `{"commands.shell": "zsh"}`, values{}, []string{`commands.shell: must be one of auto, bash, wsl, powershell, pwsh, not "zsh"`}},
		{"a shell", `{"commands.shell": "wsl"}`, values{"commands.shell": "wsl"}, nil},
		{"a key like nothing", `{"whatever": {"mode": 1}}`, values{}, []string{`whatever: is no setting`}},
		{"an empty key", `{"": {"mode": "manual"}}`, values{}, []string{`: is no setting`}},
		{"a group that is none", `{"tools": true}`, values{}, []string{`tools: must be an object of settings, not true`}},
		{"a key twice", `{"mode": "manual", "sidecar": {"mode": "review"}}`, values{"mode": "manual"}, []string{`mode: is set twice; line 1 holds`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var bad []string
			for _, b := range c.bad {
				bad = append(bad, "user.json:1: "+strings.TrimPrefix("sidecar."+b, "sidecar.: "))
			}
			check(t, c.want, bad, user(c.data))
		})
	}
}

func TestBroken(t *testing.T) {
	for _, c := range []struct{ name, data, bad string }{
		{"cut off", "{\n\"mode\": \"manual\",\n", "user.json:3: is not valid JSON"},
		{"a comma too many", "{\n\"mode\": \"manual\",,\n}", "user.json:2: is not valid JSON"},
		{"a member twice", "{\"mode\": \"manual\",\n\"mode\": \"autonomous\"}", "user.json:2: is not valid JSON"},
		{"a member twice, below", "{\"toolPermissions\": {\"grep\": \"deny\",\n\"grep\": \"allow\"}}", "user.json:2: is not valid JSON"},
		{"more after the end", `{"mode": "manual"} {}`, "user.json: is not valid JSON"},
		{"a list", `["mode"]`, "user.json:1: must be an object of settings"},
		{"no JSON at all", "mode = manual", "user.json:1: is not valid JSON"},
		{"bad UTF-8", "{\"log.file\": \"\xff\"}", "user.json:1: is not valid JSON"},
		{"too long", `{"mode": "` + strings.Repeat("x", MaxSourceBytes) + `"}`, "user.json: is longer than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, problems := Load(user(c.data), client(`{"log.level": "debug"}`))
			if diff := cmp.Diff(values{"log.level": "debug"}, dump(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), c.bad) {
				t.Errorf("got %q, want %q", messages(problems), c.bad)
			}
		})
	}
}

func TestLines(t *testing.T) {
	check(t, values{}, []string{
		`user.json:2: sidecar.mode: it must be a string, not 1`,
		`user.json:4: sidecar.tools.enabled: must be true or false, not 2`,
		`user.json:6: sidecar.nope: is no setting (did you mean mode?)`,
	}, user("{\n\"mode\": 1,\n\"tools\": {\n  \"enabled\": 2\n},\n\"nope\": 3}"))
}

func TestProblemsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"x": 1`)
	for i := range 60_000 {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	b.WriteString("}")
	_, problems := Load(user(b.String()))
	if len(problems) != maxProblems+1 || problems[maxProblems].Message != "has 59951 more problems" {
		t.Errorf("got %d problems, the last is %v", len(problems), problems[len(problems)-1])
	}
}

// TestOldNames: a setting that was renamed works by its old name, which is
// reported; by both names, the new one holds. Controls: the new name alone is not
// reported, and a wrong value is refused by either.
func TestOldNames(t *testing.T) {
	const renamed = "sidecar.result.maxChars: is called sidecar.result.maxBytes now; the old name still works"
	for _, c := range []struct {
		name, data string
		want       int
		problems   []string
	}{
		{"the new name", `{"result.maxBytes": 5000}`, 5000, nil},
		{"the old one", `{"result.maxChars": 5000}`, 5000, []string{"user.json:1: " + renamed}},
		{"nested", `{"sidecar": {"result": {"maxChars": 5000}}}`, 5000, []string{"user.json:1: " + renamed}},
		{"both, the old one first", `{"result.maxChars": 5000, "result.maxBytes": 6000}`, 6000, []string{"user.json:1: " + renamed}},
		{"both, the new one first", `{"result.maxBytes": 6000, "result.maxChars": 5000}`, 6000, []string{"user.json:1: " + renamed}},
		{"a wrong value", `{"result.maxChars": 5}`, 0, []string{"user.json:1: " + renamed, "user.json:1: sidecar.result.maxChars: must be a whole number from 1000 to 1000000, not 5"}},
		{"not set", `{"result.maxChars": null}`, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := values{}
			if c.want != 0 { // else the default holds
				want["result.maxBytes"] = c.want
			}
			check(t, want, c.problems, user(c.data))
		})
	}
	t.Run("a project that is not trusted may only tighten by the old name too", func(t *testing.T) {
		s, problems := Load(Source{Origin: Project, Name: ProjectFile, Data: []byte(`{"result.maxChars": 20000}`)})
		if s.Int("result.maxBytes") != 16000 || len(problems) != 2 {
			t.Errorf("%d, %v", s.Int("result.maxBytes"), problems)
		}
	})
	if row, ok := Lookup("result.maxChars"); !ok || row.Key != "result.maxBytes" {
		t.Errorf("the old name is not found: %+v", row)
	}
}

func TestLayers(t *testing.T) {
	t.Run("the editor is laid over the user's file, in whatever order they come", func(t *testing.T) {
		check(t, values{"mode": "autonomous", "result.maxBytes": 5000}, nil,
			client(`{"mode": "autonomous"}`), user(`{"mode": "manual", "result.maxBytes": 5000}`))
	})
	t.Run("permissions are laid over each other by tool, but a deny stays", func(t *testing.T) {
		check(t, values{"toolPermissions": map[string]string{"a": "deny", "b": "allow", "c": "ask", "d": "deny"}}, nil,
			user(`{"toolPermissions": {"a": "deny", "b": "ask", "d": "allow"}}`), client(`{"toolPermissions": {"a": "allow", "b": "allow", "c": "ask", "d": "deny"}}`))
	})
	t.Run("custom modes by name", func(t *testing.T) {
		check(t, values{"mode": "a", "customModes": []CustomMode{
			{Name: "a", Base: "manual", Destination: "editor"},
			{Name: "b", Base: "cautious", Destination: "editor"},
		}}, nil, user(`{"mode": "a", "customModes": [{"name": "a"}, {"name": "b"}]}`), client(`{"customModes": [{"name": "a", "base": "manual"}]}`))
	})
	t.Run("command rules add up", func(t *testing.T) {
		check(t, values{"commandRules": []CommandRule{{Prefix: []string{"a"}, Decision: "deny"}, {Prefix: []string{"b"}, Decision: "allow"}}}, nil,
			user(`{"commandRules": [{"prefix": ["a"], "decision": "deny"}]}`), client(`{"commandRules": [{"prefix": ["b"], "decision": "allow"}]}`))
	})
	t.Run("what is wrong lets the one before hold", func(t *testing.T) {
		check(t, values{"result.maxBytes": 5000}, []string{`client settings:1: sidecar.result.maxBytes: must be a whole number from 1000 to 1000000, not 7`},
			user(`{"result.maxBytes": 5000}`), client(`{"result.maxBytes": 7}`))
	})
	t.Run("the editor can't set what is for the user's file", func(t *testing.T) {
		check(t, values{}, []string{
			`client settings:1: sidecar.sensitive.allow: can only be set in the user's file`,
			`client settings:1: sidecar.log.file: can only be set in the user's file`,
		}, client(`{"sensitive.allow": ["**"], "log.file": "/etc/x"}`))
		check(t, values{"sensitive.allow": []string{"**"}, "log.file": "/etc/x"}, nil, user(`{"sensitive.allow": ["**"], "log.file": "/etc/x"}`))
	})
}

// What a project says holds only where it is stricter, trusted or not; what takes
// trust holds with it. Each case has both.
func TestProject(t *testing.T) {
	for _, c := range []struct {
		name          string
		user, project string
		want, control values   // without trust, with trust
		bad           []string // without trust; with it what takes trust is not among them
	}{
		{"a stricter mode", `{}`, `{"mode": "manual"}`, values{"mode": "manual"}, values{"mode": "manual"}, nil},
		{"one that asks where edits waited", `{"mode": "review"}`, `{"mode": "manual"}`, values{"mode": "review"}, values{"mode": "review"}, []string{`mode: a project can't loosen it from review to manual`}},
		{"an index that the user switched off", `{"knowledge.enabled": false}`, `{"knowledge.enabled": true}`, values{"knowledge.enabled": false}, values{"knowledge.enabled": false}, []string{`knowledge.enabled: a project can't turn it on`}},
		{"a stricter mode than the user's", `{"mode": "autonomous"}`, `{"mode": "cautious"}`, values{}, values{}, nil},
		{"the same mode", `{"mode": "review"}`, `{"mode": "review"}`, values{"mode": "review"}, values{"mode": "review"}, nil},
		{"a looser mode", `{}`, `{"mode": "autonomous"}`, values{}, values{},
			[]string{`mode: a project can't loosen it from cautious to autonomous`}},
		{"any mode over a custom one", `{"mode": "x", "customModes": [{"name": "x"}]}`, `{"mode": "manual"}`,
			values{"mode": "x", "customModes": []CustomMode{{Name: "x", Base: "cautious", Destination: "editor"}}},
			values{"mode": "x", "customModes": []CustomMode{{Name: "x", Base: "cautious", Destination: "editor"}}},
			[]string{`mode: a project can't change it from x to manual`}},
		{"a mode of its own", `{}`, `{"customModes": [{"name": "x", "base": "autonomous"}]}`, values{},
			values{"customModes": []CustomMode{{Name: "x", Base: "autonomous", Destination: "editor"}}},
			[]string{`customModes: can't be set by a project that is not trusted`}},
		{"permissions", `{"toolPermissions": {"a": "allow", "b": "allow", "c": "ask", "d": "ask"}}`,
			`{"toolPermissions": {"a": "ask", "b": "deny", "c": "allow", "d": "deny", "e": "allow", "f": "ask", "g": "deny"}}`,
			values{"toolPermissions": map[string]string{"a": "ask", "b": "deny", "c": "ask", "d": "deny", "f": "ask", "g": "deny"}},
			values{"toolPermissions": map[string]string{"a": "ask", "b": "deny", "c": "ask", "d": "deny", "f": "ask", "g": "deny"}},
			[]string{`toolPermissions: a project can't loosen c to allow`, `toolPermissions: a project can't loosen e to allow`}},
		{"a permission that the user denied", `{"toolPermissions": {"a": "deny"}}`, `{"toolPermissions": {"a": "ask"}}`,
			values{"toolPermissions": map[string]string{"a": "deny"}}, values{"toolPermissions": map[string]string{"a": "deny"}},
			[]string{`toolPermissions: a project can't loosen a to ask`}},
		{"command rules", `{}`, `{"commandRules": [{"prefix": ["a"], "decision": "allow"}, {"prefix": ["b"], "decision": "ask"}, {"prefix": ["c"], "decision": "deny"}]}`,
			values{"commandRules": []CommandRule{{Prefix: []string{"b"}, Decision: "ask"}, {Prefix: []string{"c"}, Decision: "deny"}}},
			values{"commandRules": []CommandRule{{Prefix: []string{"b"}, Decision: "ask"}, {Prefix: []string{"c"}, Decision: "deny"}}},
			[]string{`commandRules: a project can't allow the command "a"`}},
		{"tools off", `{}`, `{"tools.enabled": false}`, values{"tools.enabled": false}, values{"tools.enabled": false}, nil},
		{"tools on", `{"tools.enabled": false}`, `{"tools.enabled": true}`, values{"tools.enabled": false}, values{"tools.enabled": false},
			[]string{`tools.enabled: a project can't turn it on`}},
		{"a shorter time", `{}`, `{"approval.timeoutSeconds": 10}`, values{"approval.timeoutSeconds": 10}, values{"approval.timeoutSeconds": 10}, nil},
		{"a longer time", `{}`, `{"approval.timeoutSeconds": 3000}`, values{}, values{},
			[]string{`approval.timeoutSeconds: a project can't raise it from 300 to 3000`}},
		{"a bound where there is none", `{}`, `{"budget.calls": 10}`, values{"budget.calls": 10}, values{"budget.calls": 10}, nil},
		{"a smaller bound", `{"budget": {"calls": 20}}`, `{"budget.calls": 10}`, values{"budget.calls": 10}, values{"budget.calls": 10}, nil},
		{"a larger bound", `{"budget.tokens": 20}`, `{"budget.tokens": 30}`, values{"budget.tokens": 20}, values{"budget.tokens": 20},
			[]string{`budget.tokens: a project can't raise it from 20 to 30`}},
		{"no bound any more", `{"budget.calls": 20}`, `{"budget.calls": 0}`, values{"budget.calls": 20}, values{"budget.calls": 20},
			[]string{`budget.calls: a project can't take away the bound of 20`}},
		{"a setup", `{}`, `{"shadow.setup": ["./evil"]}`, values{}, values{"shadow.setup": []SetupStep{{Run: "./evil", Project: true}}}, []string{`shadow.setup: can't be set by a project that is not trusted`}},
		{"a setup that the user has", `{"shadow.setup": ["mine"]}`, `{"shadow.setup": [{"run": "./evil", "in": "/p"}]}`, values{"shadow.setup": []SetupStep{{Run: "mine"}}}, values{"shadow.setup": []SetupStep{{Run: "mine"}}},
			[]string{`shadow.setup: can't be set by a project that is not trusted`, `shadow.setup: step 1: in: belongs to your own settings, not to a project's`}},
		{"a program of the project's choice", `{}`, `{"languageServers": {"gopls": {"command": ["./evil"]}}}`, values{}, values{"languageServers": map[string]LanguageServer{"gopls": {Command: []string{"./evil"}}}},
			[]string{`languageServers: can't be set by a project that is not trusted`}},
		{"a shell of the project's choice", `{"commands.shell": "bash"}`, `{"commands.shell": "powershell"}`, values{"commands.shell": "bash"}, values{"commands.shell": "powershell"},
			[]string{`commands.shell: can't be set by a project that is not trusted`}},
		{"a mode of the user's", `{"customModes": [{"name": "x", "base": "manual", "destination": "review", "toolPermissions": {"a": "deny", "b": "allow", "c": "ask"}}]}`,
			`{"customModes": [{"name": "x", "base": "autonomous", "toolPermissions": {"a": "allow", "b": "ask", "d": "allow"}}]}`,
			values{"customModes": []CustomMode{{Name: "x", Base: "manual", Destination: "review", Permissions: map[string]string{"a": "deny", "b": "allow", "c": "ask"}}}},
			values{"customModes": []CustomMode{{Name: "x", Base: "manual", Destination: "review", Permissions: map[string]string{"a": "deny", "b": "ask", "c": "ask"}}}},
			[]string{`customModes: can't be set by a project that is not trusted`}},
		{"a server that the user has off", `{"languageServers": {"gopls": {"enabled": false}}}`, `{"languageServers": {"gopls": {"command": ["./evil"]}}}`,
			values{"languageServers": map[string]LanguageServer{"gopls": {Off: true}}}, values{"languageServers": map[string]LanguageServer{"gopls": {Off: true}}},
			[]string{`languageServers: can't be set by a project that is not trusted`, `languageServers: a project can't turn on gopls`}},
		{"a server that the user runs", `{"languageServers": {"gopls": {"command": ["/x/gopls"]}, "clangd": {"initializationOptions": {"a": 1}}, "pyright": {"command": ["/x/p"]}, "rust-analyzer": {}}}`,
			`{"languageServers": {"gopls": {"command": ["./evil"]}, "clangd": {"command": ["./evil"], "initializationOptions": {"a": 2}}, "pyright": {"enabled": false}, "rust-analyzer": {"command": ["./ra"]}}}`,
			values{"languageServers": map[string]LanguageServer{"gopls": {Command: []string{"/x/gopls"}}, "clangd": {Options: `{"a": 1}`}, "pyright": {Command: []string{"/x/p"}}, "rust-analyzer": {}}},
			values{"languageServers": map[string]LanguageServer{"gopls": {Command: []string{"/x/gopls"}}, "clangd": {Options: `{"a": 1}`}, "pyright": {Off: true, Command: []string{"/x/p"}}, "rust-analyzer": {Command: []string{"./ra"}}}},
			[]string{`languageServers: can't be set by a project that is not trusted`, `languageServers: a project can't change how clangd is run, which you say`, `languageServers: a project can't change how gopls is run, which you say`}},
		{"what is harmless", `{}`, `{"tools.registryMode": "lazy"}`, values{"tools.registryMode": "lazy"}, values{"tools.registryMode": "lazy"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var bad []string
			for _, b := range c.bad {
				bad = append(bad, "project.json:1: sidecar."+b)
			}
			without := bad
			if strings.Contains(strings.Join(bad, ""), "that is not trusted") {
				without = bad[:1] // and nothing else is looked at
			}
			check(t, c.want, without, user(c.user), project(c.project))
			var with []string
			for _, text := range bad {
				if !strings.Contains(text, "that is not trusted") {
					with = append(with, text)
				}
			}
			check(t, c.control, with, user(c.user), trusted(c.project))
		})
	}
	t.Run("what no project may set", func(t *testing.T) {
		data := `{"sensitive.allow": ["**"], "log.file": "/etc/x", "log.level": "debug"}`
		bad := []string{
			`project.json:1: sidecar.sensitive.allow: can't be set by a project`,
			`project.json:1: sidecar.log.level: can't be set by a project`,
			`project.json:1: sidecar.log.file: can't be set by a project`,
		}
		check(t, values{}, bad, project(data))
		check(t, values{}, bad, trusted(data))
	})
}

// TestHeld: of what a project said when it was trusted and what it says now the
// stricter holds, setting by setting; what takes trust stays as it was, or goes. Where
// the change was trusted, it holds.
func TestHeld(t *testing.T) {
	tool := func(name, command string) string {
		return `{"name": "` + name + `", "description": "d", "command": ["` + command + `"]}`
	}
	made := func(name, command string) CustomTool {
		return CustomTool{Name: name, Description: "d", Command: []string{command}, Access: "exec"}
	}
	mode := func(base string) CustomMode { return CustomMode{Name: "x", Base: base, Destination: "editor"} }
	for _, c := range []struct {
		name            string
		user, then, now string
		want, trusted   values
	}{
		{"a looser mode", `{}`, `{"mode": "manual"}`, `{"mode": "review"}`, values{"mode": "manual"}, values{"mode": "review"}},
		{"a stricter mode", `{}`, `{"mode": "review"}`, `{"mode": "plan"}`, values{"mode": "plan"}, values{"mode": "plan"}},
		{"a mode that is gone", `{}`, `{"mode": "manual"}`, `{}`, values{"mode": "manual"}, values{}},
		{"a file that is gone", `{}`, `{"mode": "manual"}`, ``, values{"mode": "manual"}, values{}},
		{"a file that is broken", `{}`, `{"mode": "manual"}`, `{"mode`, values{"mode": "manual"}, values{}},
		{"a sandbox", `{}`, `{"sandbox.mode": "require"}`, `{"sandbox": {"mode": "off"}}`, values{"sandbox.mode": "require"}, values{}},
		{"permissions", `{}`, `{"toolPermissions": {"a": "deny", "b": "ask"}}`, `{"toolPermissions": {"a": "allow", "b": "deny", "c": "ask"}}`,
			values{"toolPermissions": map[string]string{"a": "deny", "b": "deny", "c": "ask"}}, values{"toolPermissions": map[string]string{"b": "deny", "c": "ask"}}},
		{"the user's is stricter than both", `{"mode": "manual"}`, `{"mode": "review"}`, `{"mode": "autonomous"}`, values{"mode": "manual"}, values{"mode": "manual"}},
		{"bounds", `{}`, `{"budget.calls": 10, "shadow.max": 3}`, `{"budget.calls": 20, "shadow.max": 2}`, values{"budget.calls": 10, "shadow.max": 2}, values{"budget.calls": 20, "shadow.max": 2}},
		{"tools", `{}`, `{"tools.custom": [` + tool("a", "./a") + `, ` + tool("b", "./b") + `]}`, `{"tools.custom": [` + tool("a", "./evil") + `, ` + tool("c", "./c") + `]}`,
			values{"tools.custom": []CustomTool{made("a", "./a")}}, values{"tools.custom": []CustomTool{made("a", "./evil"), made("c", "./c")}}},
		{"a setup", `{}`, `{"shadow.setup": [{"run": "npm ci", "when": ["a"]}, "gone"]}`, `{"shadow.setup": ["evil", {"run": "npm ci", "when": ["b"]}]}`,
			values{"shadow.setup": []SetupStep{{Run: "npm ci", When: []string{"a"}, Project: true}}}, values{"shadow.setup": []SetupStep{{Run: "evil", Project: true}, {Run: "npm ci", When: []string{"b"}, Project: true}}}},
		{"custom modes", `{}`, `{"customModes": [{"name": "x", "base": "manual"}]}`, `{"customModes": [{"name": "x", "base": "autonomous"}, {"name": "y"}]}`,
			values{"customModes": []CustomMode{mode("manual")}}, values{"customModes": []CustomMode{mode("autonomous"), {Name: "y", Base: "cautious", Destination: "editor"}}}},
		{"a custom mode that is gone", `{}`, `{"customModes": [{"name": "x", "base": "manual"}]}`, `{}`, values{"customModes": []CustomMode{mode("manual")}}, values{}},
		{"language servers", `{}`, `{"languageServers": {"gopls": {"command": ["./a"]}, "clangd": {"command": ["./c"]}}}`, `{"languageServers": {"gopls": {"command": ["./evil"]}, "clangd": {"enabled": false}, "pyright": {"command": ["./evil"]}}}`,
			values{"languageServers": map[string]LanguageServer{"gopls": {Command: []string{"./a"}}, "clangd": {Off: true}}},
			values{"languageServers": map[string]LanguageServer{"gopls": {Command: []string{"./evil"}}, "clangd": {Off: true}, "pyright": {Command: []string{"./evil"}}}}},
		{"a shell", `{}`, `{"commands.shell": "bash"}`, `{"commands.shell": "wsl"}`, values{"commands.shell": "bash"}, values{"commands.shell": "wsl"}},
		{"a shell where there was none", `{}`, `{}`, `{"commands.shell": "wsl"}`, values{}, values{"commands.shell": "wsl"}},
		{"what is harmless", `{}`, `{"tools.registryMode": "lazy"}`, `{"tools.registryMode": "full"}`, values{"tools.registryMode": "full"}, values{"tools.registryMode": "full"}},
		{"what no project may set", `{}`, `{}`, `{"sandbox.network": true}`, values{}, values{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			held := trusted(c.now)
			held.Held, held.Was = true, []byte(c.then)
			for _, of := range []struct {
				project Source
				want    values
			}{{held, c.want}, {trusted(c.now), c.trusted}} {
				s, _ := Load(user(c.user), of.project)
				if d := cmp.Diff(of.want, dump(s)); d != "" {
					t.Errorf("held %v (-want +got):\n%s", of.project.Held, d)
				}
			}
		})
	}
}

func TestExplain(t *testing.T) {
	s, _ := Load(user(`{"mode": "autonomous", "toolPermissions": {"a": "ask"}}`), client(`{"toolPermissions": {"b": "deny"}}`), project(`{"mode": "manual"}`))
	for _, want := range []Explanation{
		{Key: "mode", Value: "manual", Sources: []string{"user.json", "project.json"}},
		{Key: "toolPermissions", Value: map[string]string{"a": "ask", "b": "deny"}, Sources: []string{"user.json", "client settings"}},
		{Key: "log.level", Value: "info", Default: true},
	} {
		got, ok := s.Explain(want.Key)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s: %v (-want +got):\n%s", want.Key, ok, diff)
		}
	}
	if _, ok := s.Explain("nope"); ok {
		t.Error("explains what is no setting")
	}
}

func TestCheck(t *testing.T) {
	s, _ := Load(user(`{"customModes": [{"name": "docs"}]}`))
	for _, c := range []struct{ key, value, want string }{
		{"mode", `"manual"`, ""},
		{"mode", ` "docs" `, ""},
		{"mode", `"other"`, `mode: must be one of autonomous, cautious, review, audit, plan, manual, or a custom mode, not "other"`},
		{"mode", `null`, `mode: it must be a string, not null`},
		{"mode", `"manual`, `mode: the value is not valid JSON`},
		{"toolPermissions", `{"a": "deny"}`, ""},
		{"toolPermissions", `{"a": "deny", "b": 1}`, `toolPermissions: b must be a string, not 1`},
		{"toolPermissions", `{"a": "deny", "a": "allow"}`, `toolPermissions: the value is not valid JSON`},
		{"result.maxbytes", `1`, `result.maxbytes is no setting (did you mean result.maxBytes?)`},
	} {
		got := ""
		if err := s.Check(c.key, []byte(c.value)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s = %s: got %q, want %q", c.key, c.value, got, c.want)
		}
	}
}

// What a getter returns can be changed without changing the settings.
func TestImmutable(t *testing.T) {
	s, _ := Load(user(`{"toolPermissions": {"a": "deny"}, "sensitive.allow": ["x"], "customModes": [{"name": "m", "toolPermissions": {"a": "deny"}}], "commandRules": [{"prefix": ["rm"], "decision": "deny"}]}`))
	before := dump(s)
	s.Permissions()["a"] = "allow"
	s.Strings("sensitive.allow")[0] = "**"
	s.CustomModes()[0].Permissions["a"] = "allow"
	s.CommandRules()[0].Prefix[0] = "ls"
	if diff := cmp.Diff(before, dump(s)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestGetters(t *testing.T) {
	s, problems := Load()
	if problems != nil {
		t.Errorf("the defaults have problems: %v", problems)
	}
	if s.String("mode") != "cautious" || !s.Bool("tools.enabled") || s.Int("result.maxBytes") != 16000 || s.Strings("sensitive.allow") != nil {
		t.Errorf("the defaults are %v", s.values)
	}
	defer func() {
		if recover() == nil {
			t.Error("a getter of another type does not panic")
		}
	}()
	s.Int("mode")
}

// Rules for every row.
func TestTable(t *testing.T) {
	for _, row := range Table() {
		if row.Help == "" || !strings.HasSuffix(row.Help, ".") {
			t.Errorf("%s: the help is no sentence", row.Key)
		}
		if kinds[row.Type].parse == nil {
			t.Errorf("%s: unknown type %s", row.Key, row.Type)
		}
		if (row.Scope == ScopeProject) != (row.Project != "") {
			t.Errorf("%s: scope %s and project %q", row.Key, row.Scope, row.Project)
		}
		if row.Project == Tighten && row.tighten == nil || row.Project != Never && row.held != nil || row.Project == Any && row.tighten != nil {
			t.Errorf("%s: project %q, but tighten or held is or is not there", row.Key, row.Project)
		}
		if row.Project == Never && kinds[row.Type].add != nil && (row.tighten == nil || row.held == nil) {
			t.Errorf("%s: a project could stand before the user's", row.Key)
		}
		if row.Type == Integer && row.Min >= row.Max {
			t.Errorf("%s: no range", row.Key)
		}
		if got, ok := Lookup(row.Key); !ok || got.Key != row.Key {
			t.Errorf("%s: not found", row.Key)
		}
		s, _ := Load()
		if row.Default != nil {
			if err := s.Check(row.Key, []byte(encode(row.Default))); err != nil {
				t.Errorf("the default: %v", err)
			}
		}
		if isGroup(prefix + "." + row.Key) {
			t.Errorf("%s: a setting and a group", row.Key)
		}
	}
	if i, j := slices.IndexFunc(table, func(s Setting) bool { return s.Key == "customModes" }),
		slices.IndexFunc(table, func(s Setting) bool { return s.Custom }); i > j {
		t.Error("mode is read before the custom modes")
	}
}

func TestUserSource(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	src, err := UserSource()
	if want := (Source{Origin: User, Name: filepath.Join(dir, "sidecar", "settings.json")}); err != nil || !cmp.Equal(src, want) {
		t.Errorf("without a file: %+v, %v", src, err)
	}
	if err := ownfile.MkdirAll(filepath.Dir(src.Name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.WriteFile(src.Name, []byte(`{"mode": "manual"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if src, err = UserSource(); err != nil {
		t.Fatal(err)
	}
	check(t, values{"mode": "manual"}, nil, src)
}

func TestGeneratedPage(t *testing.T) {
	const name = "../../docs/settings.md"
	golden(t, name, markdown())
}

func TestGeneratedVSCodeSchema(t *testing.T) {
	golden(t, "testdata/vscode.json", string(vscodeSchema()))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := ownfile.Update(name, []byte(got)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is stale; run go test -update (-want +got):\n%s", name, diff)
	}
}

// Whatever a project says, it never makes anything looser.
func FuzzProject(f *testing.F) {
	for _, seed := range []string{
		`{"mode": "manual"}`, `{"mode": "autonomous"}`, `{"sidecar": {"tools": {"enabled": true}}}`, `{"toolPermissions": {"a": "allow", "b": "deny"}}`,
		`{"customModes": [{"name": "x", "base": "autonomous"}], "mode": "x"}`, `{"commandRules": [{"prefix": ["rm"], "decision": "allow"}]}`,
		`{"approval.timeoutSeconds": 9e9}`, `{"sensitive.allow": ["**"]}`, `{"a":{"b":[{}]}}`, "{\n", `[1,`, "null", "\xef\xbb\xbf{}",
		`{"sidecar":{"sidecar":{"sidecar.mode":"manual"}}}`, `{"mode":"manual","sidecar.mode":"autonomous"}`,
	} {
		f.Add([]byte(seed))
	}
	mine := user(`{"mode": "cautious", "tools.enabled": false, "toolPermissions": {"a": "ask", "b": "deny"}, "commandRules": [{"prefix": ["rm"], "decision": "deny"}]}`)
	before, problems := Load(mine)
	if problems != nil {
		f.Fatal(problems)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		src := project(string(data))
		s, problems := Load(mine, src)
		if i := slices.Index(builtinModes, s.String("mode")); i < 1 {
			t.Errorf("the mode became %s", s.String("mode"))
		}
		if s.Bool("tools.enabled") || s.Int("approval.timeoutSeconds") > 300 || s.Int("result.maxBytes") > 16000 {
			t.Error("loosened")
		}
		for tool, outcome := range s.Permissions() {
			if outcome == "allow" || strictness(outcome) < strictness(before.Permissions()[tool]) {
				t.Errorf("%s became %s", tool, outcome)
			}
		}
		for i, r := range s.CommandRules() {
			if r.Decision == "allow" || i == 0 && r.Decision != "deny" {
				t.Errorf("rule %d became %v", i, r)
			}
		}
		if s.Strings("sensitive.allow") != nil || s.CustomModes() != nil || s.String("log.file") != "" {
			t.Error("set what it may not set")
		}
		if len(problems) > maxProblems+1 {
			t.Errorf("%d problems", len(problems))
		}
		for _, p := range problems {
			if p.Source != "project.json" || p.Message == "" || len(p.String()) > 1000 {
				t.Errorf("a problem without a source, or too long: %+v", p)
			}
		}
		Load(user(string(data)), client(string(data))) // must not panic
	})
}

func BenchmarkLoad(b *testing.B) {
	u := user(`{"mode": "manual", "toolPermissions": {"grep": "allow"}, "tools": {"registryMode": "lazy"}}`)
	p := project(`{"sidecar.toolPermissions": {"run_command": "deny"}}`)
	b.ReportAllocs()
	for b.Loop() {
		Load(u, p)
	}
}
