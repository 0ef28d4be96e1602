// Package border_test: what commands of a session may do unasked, and what leaves it.
package border_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

func TestMain(m *testing.M) { e2e.Main(m) }

// project has a history without secrets.
func project(t *testing.T, set e2e.Object, setup ...string) string {
	t.Helper()
	e2e.Home(t)
	e2e.UserSettings(t, set)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "first"}} {
		e2e.GitIn(t, dir, args...)
	}
	for _, name := range setup {
		e2e.Write(t, filepath.Join(dir, name), "KEY="+secret+"\n")
		e2e.GitIn(t, dir, "add", "-f", name)
		e2e.GitIn(t, dir, "commit", "-qm", "with "+name)
		e2e.GitIn(t, dir, "rm", "-qf", name)
		e2e.GitIn(t, dir, "commit", "-qm", "without "+name)
	}
	return dir
}

// commit adds files to a project.
func commit(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		e2e.Write(t, filepath.Join(dir, name), text)
	}
	e2e.GitIn(t, dir, "add", "-A")
	e2e.GitIn(t, dir, "commit", "-qm", "more")
}

const secret = "value-that-nobody-knows"

// backwards is the secret as a command prints it that could read it: nothing masks that.
var backwards = func() string {
	b := []byte(secret)
	slices.Reverse(b)
	return string(b)
}()

// serve has an editor whose person says no to every question.
func serve(t *testing.T, dir string) *e2e.Rig {
	t.Helper()
	r := e2e.ServeBy(t, dir, fakeeditor.Options{}, program.ServerAnywhere(t))
	r.Mode("review")
	return r
}

func explain(r *e2e.Rig, command string) dispatch.Explanation {
	r.T.Helper()
	return e2e.Command[dispatch.Explanation](r, "sidecar.policy.explain", e2e.Object{"name": "run_command", "arguments": e2e.Object{"command": command}})
}

// complete skips a test on a machine whose worlds are not.
func complete(r *e2e.Rig) {
	r.T.Helper()
	if lacks := effects.Lacks(explain(r, "make").Conditions); lacks != "" {
		needs.Skip(r.T, needs.Overlay, "worlds are not complete here: "+lacks)
	}
}

// TestUnasked: in a complete world commands run without a question, what they change waits
// for review, and nothing of them reaches the disk, git or the network.
func TestUnasked(t *testing.T) {
	dir := project(t, e2e.Object{})
	r := serve(t, dir)
	complete(r)
	head := e2e.GitIn(t, dir, "rev-parse", "HEAD")
	for _, command := range []string{
		"echo two >> a.txt", "mkdir -p dist && echo built > dist/x", "git checkout -qb other && git commit -qam second", "rm -rf .git/refs; rm -rf ~; true",
		"echo x | tee .git/hooks/pre-commit; true", "(exec 3<>/dev/tcp/127.0.0.1/22) 2>&1 || true",
	} {
		if res := r.Tool("run_command", e2e.Object{"command": command}); !res.OK || res.Decision.Rule != "world.complete" {
			t.Errorf("%s: %+v", command, res)
		}
	}
	if asked := r.Asked(); len(asked) > 0 {
		t.Errorf("it asked: %q", asked)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "one\n" {
		t.Errorf("the disk has %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "dist")); err == nil {
		t.Error("output is on the disk")
	}
	if now := e2e.GitIn(t, dir, "rev-parse", "HEAD"); now != head || strings.Contains(e2e.GitIn(t, dir, "branch"), "other") {
		t.Errorf("git has another HEAD or branch: %s", now)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git", "hooks", "pre-commit")); err == nil {
		t.Error("there is a hook")
	}
	left := func() []effects.Effect {
		t.Helper()
		return e2e.Command[struct{ Effects []effects.Effect }](r, "sidecar.effects.list", e2e.Object{}).Effects
	}
	if list := left(); len(list) != 0 {
		t.Errorf("it left: %+v", list)
	}
	r.Accept(e2e.Object{"uris": []string{"file://" + filepath.Join(dir, "a.txt")}})
	if list := left(); len(list) != 1 || list[0].Kind != effects.Files || list[0].Decision != effects.Reviewed || !list[0].Reversible || !strings.Contains(list[0].What, "a.txt") {
		t.Errorf("after accepting it left: %+v", list)
	}
}

// TestIncompleteAsks: where one condition fails, a person is asked, and reads what is missing.
func TestIncompleteAsks(t *testing.T) {
	sock := filepath.Join(t.TempDir(), "s.sock")
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	outside := t.TempDir()
	for _, c := range []struct {
		name    string
		set     e2e.Object
		command string
		lacks   string // in the question; "": nobody is asked
		past    []string
	}{
		{name: "control"},
		{name: "no sandbox", set: e2e.Object{"sandbox.mode": "off"}, lacks: "sandbox: "},
		{name: "the disk", set: e2e.Object{"commands.world": "disk"}, lacks: "files: the setting sidecar.commands.world"},
		{name: "a copy", set: e2e.Object{"commands.world": "copy"}},
		{name: "writable", set: e2e.Object{"sandbox.writable": []string{outside}}, lacks: "files: the setting sidecar.sandbox.writable"},
		{name: "network", set: e2e.Object{"sandbox.network": true}, lacks: "network: the setting sidecar.sandbox.network"},
		{name: "a socket in sight", set: e2e.Object{"sandbox.readOnly": []string{filepath.Dir(sock)}}, lacks: "sockets: a server of this machine listens at " + sock},
		{name: "a directory without one", set: e2e.Object{"sandbox.readOnly": []string{outside}}},
		{name: "always", set: e2e.Object{"commands.ask": "always"}, lacks: "sidecar.commands.ask is always"},
		{name: "no record", set: e2e.Object{"audit.enabled": false}, lacks: "record: "},
		{name: "git with secrets in its past", command: "git add -A; make", past: []string{".env"}, lacks: "secrets: the command runs git, and git's history has .env"},
		{name: "no git over them", past: []string{".env"}},
		{name: "allowed in the past", set: e2e.Object{"sensitive.allow": []string{".env"}}, command: "git add -A; true", past: []string{".env"}},
		{name: "a rule", set: e2e.Object{"commandRules": []e2e.Object{{"prefix": []string{"sh"}, "decision": "ask"}}}, lacks: "a rule asks about sh"},
		{name: "a permission", set: e2e.Object{"toolPermissions": e2e.Object{"run_command": "ask"}}, lacks: "the settings ask about run_command"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			set := e2e.Object{}
			for k, v := range c.set {
				set[k] = v
			}
			r := serve(t, project(t, set, c.past...))
			if c.name == "control" {
				complete(r)
			}
			command := c.command
			if command == "" {
				command = "sh -c 'echo two > a.txt; touch b'"
			}
			e2e.Until(t, "the history is never searched", func() bool {
				return !strings.Contains(effects.Lacks(explain(r, command).Conditions), "has not been searched")
			})
			res := r.Tool("run_command", e2e.Object{"command": command})
			asked := strings.Join(r.Asked(), "\n")
			if (c.lacks == "") != (asked == "") || !strings.Contains(asked, c.lacks) {
				t.Errorf("it asked %q; %+v", asked, res)
			}
			if c.lacks == "" && !res.OK {
				t.Errorf("%+v", res)
			}
		})
	}
}

// TestOwnModesAsk: cautious and manual ask as ever, and a shadow's files are not a world.
func TestOwnModesAsk(t *testing.T) {
	r := serve(t, project(t, e2e.Object{}))
	complete(r)
	for _, mode := range []string{"cautious", "manual"} {
		r.Mode(mode)
		before := len(r.Asked())
		r.Tool("run_command", e2e.Object{"command": "sh -c 'touch b'"})
		if len(r.Asked()) != before+1 {
			t.Errorf("%s does not ask", mode)
		}
	}
	r.Mode("review")
	r.Shadowed("apart", "review")
	before := len(r.Asked())
	r.In("apart", "run_command", e2e.Object{"command": "sh -c 'touch b'"})
	if asked := r.Asked(); len(asked) != before+1 || !strings.Contains(asked[before], "shadow workspace") {
		t.Errorf("a shadow: %q", asked[before:])
	}
}

// TestPastIsHidden: no command that runs unasked reads a secret that only git has.
func TestPastIsHidden(t *testing.T) {
	for _, kind := range []string{"overlay", "copy"} {
		t.Run(kind, func(t *testing.T) {
			dir := project(t, e2e.Object{"commands.world": kind}, ".env")
			r := serve(t, dir)
			complete(r)
			blob := strings.TrimSpace(e2e.GitIn(t, dir, "rev-parse", "HEAD~1:.env"))
			e2e.Write(t, filepath.Join(dir, "run.sh"), "git show HEAD~1:.env | rev; git cat-file -p "+blob+" | rev; git stash list; git log --all | head -3\n")
			loose := ".git/objects/" + blob[:2] + "/" + blob[2:]
			backwards := "-eulav"
			if out := e2e.GitIn(t, dir, "cat-file", "-p", blob); !strings.Contains(out, secret) {
				t.Fatalf("the control: %s", out)
			}
			for _, command := range []string{
				"sh run.sh", "sh -c '. ./run.sh'", "g=git; $g show HEAD~1:.env | rev", "cat " + loose + " | wc -c",
				"find / -path '*" + blob[2:] + "*' 2>/dev/null | head", "cp -r .git /tmp/copy && cd /tmp/copy && sh " + dir + "/run.sh",
				"ls " + filepath.Join(dir, ".git/objects") + "; ls -R /run/sidecar-ls-lent 2>&1",
			} {
				res := r.Tool("run_command", e2e.Object{"command": command})
				if strings.Contains(res.Content, backwards) || strings.Contains(res.Content, secret) || strings.Contains(res.Content, blob[2:]) && !strings.Contains(command, "run.sh") && !strings.Contains(res.Content, "No such file") {
					t.Errorf("%s: %s", command, res.Content)
				}
			}
			if asked := r.Asked(); len(asked) > 1 {
				t.Errorf("it asked: %q", asked)
			}
		})
	}
}

// TestProjectCantLoosen: a project makes commands ask, and can't take that away.
func TestProjectCantLoosen(t *testing.T) {
	dir := project(t, e2e.Object{})
	e2e.Write(t, filepath.Join(dir, ".sidecar", "settings.json"), `{"commands.ask": "always"}`)
	r := serve(t, dir)
	if res := r.Tool("run_command", e2e.Object{"command": "sh -c 'touch b'"}); res.OK || len(r.Asked()) != 1 {
		t.Errorf("a project's always: %+v, %q", res, r.Asked())
	}
	dir = project(t, e2e.Object{"commands.ask": "always"})
	e2e.Write(t, filepath.Join(dir, ".sidecar", "settings.json"), `{"commands.ask": "auto"}`)
	r = serve(t, dir)
	if res := r.Tool("run_command", e2e.Object{"command": "sh -c 'touch b'"}); res.OK || len(r.Asked()) != 1 {
		t.Errorf("the user's always: %+v, %q", res, r.Asked())
	}
}

// TestNotice: a person reads once that commands run without a question, and can have them
// asked about again from there.
func TestNotice(t *testing.T) {
	dir := project(t, e2e.Object{})
	mark := filepath.Join(os.Getenv("XDG_STATE_HOME"), "sidecar-ls", e2e.SaidUnasked)
	if err := ownfile.Remove(mark); err != nil {
		t.Fatal(err)
	}
	r := serve(t, dir)
	complete(r)
	r.Choose("Always ask")
	for range 2 {
		r.Tool("run_command", e2e.Object{"command": "sh -c 'touch b'"})
	}
	e2e.Until(t, "the setting is not saved", func() bool { return explain(r, "make").Rule == "mode.review.execs" })
	asked := r.Asked()
	if strings.Count(strings.Join(asked, ""), "without a question") != 1 {
		t.Errorf("it said %q", asked)
	}
	text, err := os.ReadFile(filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "sidecar", "settings.json"))
	if err != nil || !strings.Contains(string(text), "always") {
		t.Errorf("the user's settings are %s, %v", text, err)
	}
}

// TestPlanted: what a command that ran unasked left for later ones does not run with git's
// objects in sight, by words that only look.
func TestPlanted(t *testing.T) {
	dir := project(t, e2e.Object{}, ".env")
	r := serve(t, dir)
	complete(r)
	blob := strings.TrimSpace(e2e.GitIn(t, dir, "rev-parse", "HEAD~1:.env"))
	e2e.Write(t, filepath.Join(dir, "plant.sh"), "f=$HOME/f.sh\nprintf '#!/bin/sh\\n/usr/bin/git cat-file -p "+blob+" | rev >&2; echo planted >&2\\n' > $f; chmod +x $f\n"+
		"printf '[core]\\nfsmonitor = %s\\n[diff]\\nexternal = %s\\n' $f $f > ~/.gitconfig\ngit init -q sub/made; cat ~/.gitconfig >> sub/made/.git/config\ngit() { ~/f.sh; }\nls() { ~/f.sh; }\nexport GIT_EXTERNAL_DIFF=$f VARIABLE=kept\ncd sub\n")
	e2e.Write(t, filepath.Join(dir, "sub", "in"), "x\n")
	if res := r.Tool("run_command", e2e.Object{"command": ". ./plant.sh"}); !res.OK || res.Decision.Rule != "world.complete" {
		t.Fatalf("it does not run unasked: %+v", res)
	}
	e2e.Write(t, filepath.Join(dir, "a.txt"), "three\n")
	backwards := "-eulav"
	planted := func(command string) bool {
		t.Helper()
		res := r.Tool("run_command", e2e.Object{"command": command})
		if text := res.Content; strings.Contains(text, backwards) {
			t.Errorf("%s: %s", command, text)
		} else {
			return strings.Contains(text, "planted")
		}
		return true
	}
	for _, command := range []string{"git status", "git diff", "git log --oneline", "cat in; git show --stat"} {
		if planted(command) {
			t.Errorf("%s runs what was planted", command)
		}
	}
	// Nor does a repository that a command made.
	r.Tool("run_command", e2e.Object{"command": "cd made"})
	for _, command := range []string{"git status", "git diff", "cd . && git status -s"} {
		if planted(command) {
			t.Errorf("%s runs what a repository says that was made", command)
		}
	}
	r.Tool("run_command", e2e.Object{"command": "cd .."})
	if !planted("ls") {
		t.Error("the control: a function is not kept")
	}
	if res := r.Tool("run_command", e2e.Object{"command": "echo $VARIABLE; pwd"}); !strings.Contains(res.Content, "kept\n"+filepath.Join(dir, "sub")) {
		t.Errorf("the state is lost: %s", res.Content)
	}
	if asked := r.Asked(); len(asked) > 0 {
		t.Errorf("it asked: %q", asked)
	}
}

// TestKeptIsHidden: so are texts of secrets that git has under no commit, and those that
// other programs keep.
func TestKeptIsHidden(t *testing.T) {
	dir := project(t, e2e.Object{})
	e2e.Write(t, filepath.Join(dir, ".env"), "KEY="+secret+"\n")
	e2e.GitIn(t, dir, "add", "-f", ".env")
	for _, name := range []string{".git/lfs/objects/x", ".git/rr-cache/x/preimage", ".svn/pristine/x", ".hg/store/x"} {
		e2e.Write(t, filepath.Join(dir, filepath.FromSlash(name)), "KEY="+secret+"\n")
	}
	e2e.Write(t, filepath.Join(dir, "run.sh"), "git show :.env | rev; cat $(find . -name x -type f; find . -name preimage) </dev/null | rev\n")
	r := serve(t, dir)
	complete(r)
	if res := r.Tool("run_command", e2e.Object{"command": "sh run.sh"}); !res.OK || res.Decision.Rule != "world.complete" || strings.Contains(res.Content, "-eulav") {
		t.Errorf("%+v", res)
	}
}

// TestEffects: what leaves a session by other roads is written down, too.
func TestEffects(t *testing.T) {
	dir := project(t, e2e.Object{"commands.ask": "always", "toolPermissions": e2e.Object{"run_command": "allow"}})
	r := serve(t, dir)
	left := func(kind effects.Kind) string {
		t.Helper()
		var what []string
		for _, e := range e2e.Command[struct{ Effects []effects.Effect }](r, "sidecar.effects.list", e2e.Object{}).Effects {
			if e.Kind == kind {
				what = append(what, e.What+" "+string(e.Decision))
			}
		}
		return strings.Join(what, "; ")
	}
	r.Mode("autonomous")
	r.Ran("printf 'dist/\\n' > .gitignore")
	r.Ran("mkdir -p dist && echo built > dist/x")
	if got := left(effects.Output); got != "Write 1 file of output free" {
		t.Errorf("output: %q", got)
	}
	if got := left(effects.Files); !strings.Contains(got, ".gitignore") {
		t.Errorf("files: %q", got)
	}
	r.Mode("review")
	r.Ran("echo two > a.txt && git -c user.name=A -c user.email=a@example.org commit -qam 'second one'")
	r.Accept(e2e.Object{})
	if got := left(effects.Git); got != "Commit: second one reviewed" {
		t.Errorf("git: %q", got)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.effects.list", e2e.Object{"limit": 2000}, nil); err == nil {
		t.Error("a limit of 2000 is taken")
	}
}

// TestIncludedSettings: a token in a file that a repository's settings include is as hidden as
// one in the settings.
func TestIncludedSettings(t *testing.T) {
	dir := project(t, e2e.Object{"commands.ask": "always", "toolPermissions": e2e.Object{"run_command": "allow"}})
	e2e.Write(t, filepath.Join(dir, ".git", "more"), "[user]\n\tname = Ada\n[http]\n\textraHeader = Authorization: "+secret+"\n")
	e2e.GitIn(t, dir, "config", "include.path", "more")
	if out := e2e.GitIn(t, dir, "config", "-l"); !strings.Contains(out, secret) {
		t.Fatalf("the control: %s", out)
	}
	r := serve(t, dir)
	got := r.Ran("cat .git/more | rev; git config -l | rev; git config user.name")
	if strings.Contains(got, backwards) || !strings.Contains(got, "Ada") {
		t.Errorf("commands read %s", got)
	}
}

// TestLinkedTreeAsks: commands in a linked working tree that run git are asked about where the
// repository's history has secrets, too.
func TestLinkedTreeAsks(t *testing.T) {
	main := project(t, e2e.Object{}, ".env")
	dir := filepath.Join(t.TempDir(), "tree")
	e2e.GitIn(t, main, "worktree", "add", "-q", dir)
	r := serve(t, dir)
	complete(r)
	r.Tool("run_command", e2e.Object{"command": "git commit -q --allow-empty -m x"})
	if asked := r.Asked(); len(asked) != 1 || !strings.Contains(asked[0], "git's history has .env") {
		t.Errorf("it asked %q", asked)
	}
	if res := r.Tool("run_command", e2e.Object{"command": "sh -c 'echo two > a.txt'"}); !res.OK || len(r.Asked()) != 1 {
		t.Errorf("the control: %+v", res)
	}
}
