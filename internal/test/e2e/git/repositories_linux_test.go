package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// repositoryAttacks make the user's next git command run a program. In each
// script, evil is a setting that does, and $GIT_DIR is not set.
var repositoryAttacks = []struct {
	name    string
	setup   string   // by the user, before
	scripts []string // by commands, one after the other
	trigger string   // by the user, after
	aside   bool     // the result says what was set aside
}{
	{"a repository and its link in the index", "",
		[]string{`git init -q sub; git -C sub commit -q --allow-empty -m x; git -C sub config core.fsmonitor "$EVIL"
git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub`}, "git status", true},
	{"a repository that an editor opens", "", []string{`git init -q sub; git -C sub config core.fsmonitor "$EVIL"`}, "git -C sub status", true},
	{"settings of a repository that is there", e2e.Sub, []string{`git -C sub config core.fsmonitor "$EVIL"; printf '[core]\n\tfsmonitor = "%s"\n' "$EVIL" >> sub/.git/config`}, "git status", false},
	{"settings renamed over it", e2e.Sub, []string{`cp sub/.git/config new; git config -f new core.fsmonitor "$EVIL"; mv new sub/.git/config`}, "git status", false},
	{"hooks of a repository that is there", e2e.Sub, []string{`printf '#!/bin/sh\ntouch %s\n' "$MARK" > sub/.git/hooks/post-commit; chmod +x sub/.git/hooks/post-commit`}, "git -C sub commit --allow-empty -m y", false},
	{"a repository in the place of one that is there", e2e.Sub, []string{`mv sub old; git clone -q old sub; git -C sub config core.fsmonitor "$EVIL"`}, "git status", true},
	{"the pointer of a submodule", e2e.Submodule, []string{`cp -r .git/modules/sub evil; git config -f evil/config core.worktree ../sub; git config -f evil/config core.fsmonitor "$EVIL"; echo "gitdir: ../evil" > sub/.git`}, "git status", true},
	{"a submodule in the place of another", e2e.Submodule, []string{`cp -r .git/modules/sub evil; git config -f evil/config core.worktree ../sub; git config -f evil/config core.fsmonitor "$EVIL"; mv sub old; mkdir sub; echo "gitdir: ../evil" > sub/.git`}, "git status", true},
	{"a link in the place of a git directory", "", []string{e2e.EvilDir + `mkdir sub; ln -s ../evil sub/.git; git -C evil config core.worktree ../sub
git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub`}, "git -C sub status", true},
	{"a directory that is a repository", "", []string{e2e.EvilDir + `git -C evil config core.worktree .`}, "git -C evil status", true},
	{"a hook", "", []string{`git init -q sub; printf '#!/bin/sh\ntouch %s\n' "$MARK" > sub/.git/hooks/post-commit; chmod +x sub/.git/hooks/post-commit`}, "git -C sub commit --allow-empty -m y", true},
	{"a filter", "", []string{`git init -q sub; cd sub; echo '* filter=x' > .gitattributes; echo 1 > f; git add .; git commit -qm x; git config filter.x.clean "$EVIL; cat"; echo 22 > f`}, "git -C sub status", true},
	{"a driver", "", []string{`git init -q sub; cd sub; echo '* diff=x' > .gitattributes; echo 1 > f; git add .; git commit -qm x; git config diff.x.command "$EVIL"; echo 22 > f`}, "git -C sub diff", true},
	{"a file of settings that others include", "", []string{`git init -q sub; git -C sub config include.path ../../more; printf '[core]\n\tfsmonitor = "%s"\n' "$EVIL" > more`}, "git -C sub status", true},
	{"another name for a command", "", []string{`git init -q sub; git -C sub config alias.st "!$EVIL"`}, "git -C sub st", true},
	{"hooks elsewhere", "", []string{`git init -q sub; mkdir h; printf '#!/bin/sh\ntouch %s\n' "$MARK" > h/post-commit; chmod +x h/post-commit; git -C sub config core.hooksPath ../h`}, "git -C sub commit --allow-empty -m y", true},
	{"a repository made by two commands", "", []string{
		`mkdir -p sub/.git; printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n' > sub/.git/config`,
		`git init -q tmp; cp -r tmp/.git/HEAD tmp/.git/objects tmp/.git/refs sub/.git/; printf '\tfsmonitor = "%s"\n' "$EVIL" >> sub/.git/config`}, "git -C sub status", false},
	{"a git directory in a git directory", e2e.Sub, []string{`mkdir -p sub/.git/x; ` + e2e.EvilDir + `git -C evil config core.worktree ../../..; mv evil sub/.git/x/; mkdir at; echo "gitdir: ../sub/.git/x/evil" > at/.git`}, "git -C at status", true},
	{"a submodule of a clone", "", []string{`git init -q one; git -C one commit -q --allow-empty -m x; git init -q two; cd two; git submodule -q add ../one sub 2>/dev/null || git -c protocol.file.allow=always submodule -q add "$PWD/../one" sub; git config -f .git/modules/sub/config core.fsmonitor "$EVIL"`}, "git -C two status", true},
	{"a working tree of its own", "", []string{`git worktree add -q wt; ` + e2e.EvilDir + `echo "$PWD/evil" > .git/worktrees/wt/commondir`}, "git -C wt status", true},
	{"a working tree that is there", "git worktree add -q wt 2>/dev/null", []string{e2e.EvilDir + `echo "$PWD/evil" > .git/worktrees/wt/commondir`}, "git -C wt status", true},
	{"a working tree in the place of another", "git worktree add -q wt 2>/dev/null", []string{e2e.EvilDir + `git -C evil worktree add -q --orphan x ../new 2>/dev/null; git -C evil commit-tree -m x $(git -C evil mktree </dev/null) > id; git -C evil update-ref refs/heads/main $(cat id); git -C evil worktree add -q ../new; rm -rf wt/.git; mv wt old; mv new wt`}, "git -C wt status", true},
	{"settings of a working tree", "git config extensions.worktreeConfig true", []string{`printf '[core]\n\tfsmonitor = "%s"\n' "$EVIL" > .git/config.worktree`}, "git status", false},
	{"settings of another repository", "", []string{e2e.EvilDir + `echo "$PWD/evil" > .git/commondir`}, "git status", true},
	{"a repository in the home of commands", "", []string{`git init -q ~/evil; git -C ~/evil commit -q --allow-empty -m x; git -C ~/evil config core.fsmonitor "$EVIL"; ln -s "$PWD/.sidecar/cache/home/evil" sub
git update-index --add --cacheinfo 160000,$(git -C ~/evil rev-parse HEAD),sub`}, "git -C sub status; git status", true},
	{"hooks that lie in the workspace", "mkdir -p a/h; touch a/h/x; git config core.hooksPath a/h", []string{`printf '#!/bin/sh\ntouch %s\n' "$MARK" > a/h/post-commit; chmod +x a/h/post-commit; cp -r a b; printf '#!/bin/sh\ntouch %s\n' "$MARK" > b/h/post-commit; chmod +x b/h/post-commit; mv a c; mv b a`}, "git commit --allow-empty -m y", false},
	{"settings that lie in the workspace", "touch more; git config include.path ../more", []string{`printf '[core]\n\tfsmonitor = "%s"\n' "$EVIL" > m; mv m more; printf '[core]\n\tfsmonitor = "%s"\n' "$EVIL" > more`}, "git status", false},
	{"a filter's program", "mkdir t; echo cat > t/clean; echo '*.x filter=x' > .gitattributes; git config filter.x.clean 'sh t/clean %f'; echo 1 > a.x; git add .; git commit -qm x", []string{`echo "touch $MARK; cat" > new; mv new t/clean; echo "touch $MARK; cat" > t/clean`}, "touch a.x; git status", false},
	{"a log that is a link", "", []string{`ln -sf "$MARK" .git/logs/HEAD`}, "git commit --allow-empty -m y", true},
	{"a log of a branch to come", "", []string{`ln -s "$MARK" .git/logs/refs/heads/x`}, "git branch x", true},
	{"an index that is a link", "", []string{`rm .git/index; ln -s "$MARK" .git/index`}, "echo x > x; git add x", true},
	{"a message that is a link", "", []string{`ln -sf "$MARK" .git/COMMIT_EDITMSG`}, "git commit --allow-empty -m y", true},
	{"a log in a repository of its own", "", []string{`git init -q sub; git -C sub commit -q --allow-empty -m x; ln -sf "$MARK" sub/.git/logs/HEAD`}, "git -C sub commit --allow-empty -m y", true},
	{"a repository there, further down", "", []string{`mkdir -p ~/.sidecar/cache; git init -q ~/.sidecar/cache/evil; git -C ~/.sidecar/cache/evil config core.fsmonitor "$EVIL"; ln -s "$PWD/.sidecar/cache/home/.sidecar/cache/evil" sub`}, "git -C sub status", true},
}

// TestRepositoriesOfCommands: whatever a command makes of repositories, the
// user's next git command runs no program of it. Each attack works without the
// sandbox.
func TestRepositoriesOfCommands(t *testing.T) {
	slow.Test(t)
	e2e.EachUser(t, func(t *testing.T, h *e2e.Host) {
		h.OnDisk()
		held, controls := 0, 0
		evil := "export EVIL='touch " + h.Mark() + "; false' MARK=" + h.Mark() + "\n"
		for _, a := range repositoryAttacks {
			t.Run(strings.ReplaceAll(a.name, " ", "_"), func(t *testing.T) {
				h := *h
				h.T = t
				root := h.Workspace("control", a.setup)
				for _, script := range a.scripts {
					h.Sh(root, evil+"mkdir -p .sidecar/cache/home; "+strings.ReplaceAll(script, "~", "$PWD/.sidecar/cache/home"))
				}
				h.Sh(root, a.trigger)
				if !h.Marked() {
					t.Errorf("without the sandbox the attack does not work, so this shows nothing: %s", h.Sh(root, a.trigger))
				} else {
					controls++
				}
				root = h.Workspace("confined", a.setup)
				said := ""
				for _, script := range a.scripts {
					out, _ := h.Call(root, evil+script)
					said += out
				}
				if h.Marked() {
					t.Errorf("the command itself got out: %s", said)
				}
				out := h.Sh(root, a.trigger)
				if h.Marked() {
					t.Errorf("the user's git ran the program\n%s\n%s", said, out)
					return
				}
				held++
				if a.aside != strings.Contains(said, "taken away again") {
					t.Errorf("the result says: %s", said)
				}
				if left := h.Sh(root, "find . -perm -1000 -not -type l"); left != "" {
					t.Errorf("left behind: %s", left)
				}
				if h.Cred != nil {
					return // nothing of it depends on who it is
				}
				h.InWorld()
				defer h.OnDisk()
				root, said = h.Workspace("inworld", a.setup), ""
				for _, script := range a.scripts {
					out, _ := h.Call(root, evil+script)
					said += out
				}
				if out := h.Sh(root, a.trigger); h.Marked() {
					t.Errorf("in a world: the user's git ran the program\n%s\n%s", said, out)
				}
			})
		}
		t.Logf("%d of %d held, %d controls", held, len(repositoryAttacks), controls)
	})
}

// TestRepositoriesWhileRunning: what a command makes is noticed before it ends,
// however long that takes.
func TestRepositoriesWhileRunning(t *testing.T) {
	slow.Test(t)
	e2e.EachUser(t, func(t *testing.T, h *e2e.Host) {
		h.OnDisk()
		for name, script := range map[string]string{
			"a repository": `git init -q sub; git -C sub config core.fsmonitor "$EVIL"; for i in {1..600}; do [ -e sub/.git ] || break; sleep 0.1; done; ! [ -e sub/.git ]`,
			"a pointer":    e2e.EvilDir + `git -C evil config core.worktree ../sub; mkdir sub; echo "gitdir: ../evil" > sub/.git; for i in {1..600}; do [ -e evil/HEAD ] || break; sleep 0.1; done; ! [ -e evil/HEAD ]`,
			"commondir":    e2e.EvilDir + `echo "$PWD/evil" > .git/commondir; for i in {1..600}; do [ -e .git/commondir ] || break; sleep 0.1; done; ! [ -e .git/commondir ]`,
		} {
			h := *h
			h.T = t
			out, code := h.Call(h.Workspace("running", ""), "export EVIL='touch "+h.Mark()+"; false'\n"+script+" && echo noticed")
			if code != 0 || !strings.Contains(out, "noticed") || !strings.Contains(out, "set-aside") {
				t.Fatalf("%s: exit %d\n%s", name, code, out)
			}
		}
	})
}

// TestRepositoriesOfKilledServer: what a command made is set aside when its
// server is killed with it, and the next server says so.
func TestRepositoriesOfKilledServer(t *testing.T) {
	e2e.EachUser(t, func(t *testing.T, h *e2e.Host) {
		h.OnDisk()
		root := h.Workspace("killed", e2e.Sub+"; mkfifo ready")
		e2e.Write(t, filepath.Join(root, "script.sh"), `git init -q new; git -C new config core.fsmonitor "touch `+h.Mark()+`; false"; mv sub moved; echo > ready; sleep 600`)
		server := h.Command(root, h.Server, "call", "--root", root, "--mode", "autonomous", "run_command", e2e.Arguments(t, "bash script.sh"))
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.ReadFile(filepath.Join(root, "ready")); err != nil { // waits for the command
			t.Fatal(err)
		}
		records, err := filepath.Glob(filepath.Join(root, ".sidecar/state/commands/*.json"))
		if err != nil || len(records) != 1 {
			t.Fatalf("records %q, %v", records, err)
		}
		record, err := os.Open(records[0])
		if err != nil {
			t.Fatal(err)
		}
		defer record.Close()
		if err := server.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = server.Wait()
		if err := syscall.Flock(int(record.Fd()), syscall.LOCK_EX); err != nil { // waits for the keeper
			t.Fatal(err)
		}
		record.Close()
		h.Sh(root, "git -C new status; git status")
		if h.Marked() {
			t.Error("the user's git ran the program")
		}
		if left := h.Sh(root, "find . -perm -1000"); left != "" {
			t.Errorf("left behind: %s", left)
		}
		out, _ := h.Call(root, "true")
		if !strings.Contains(out, "new/.git") {
			t.Errorf("the next server says: %s", out)
		}
		if records, _ := filepath.Glob(filepath.Join(root, ".sidecar/state/commands/*")); len(records) != 0 {
			t.Errorf("%q are left", records)
		}
		if out := h.Sh(root, "git -C moved log --format=%s"); strings.TrimSpace(out) != "x" {
			t.Errorf("the repository that was there: %s", out)
		}
	})
}

// TestLinkedTreeOfCommands: where the workspace is a linked working tree, what
// leads its git to settings can't be changed.
func TestLinkedTreeOfCommands(t *testing.T) {
	slow.Test(t)
	e2e.EachUser(t, func(t *testing.T, h *e2e.Host) {
		h.OnDisk()
		held, controls, tried := 0, 0, 0
		for name, script := range map[string]string{
			"commondir":          e2e.EvilDir + `cp -r evil/* evil2 2>/dev/null; echo "$PWD/evil" > "$G/commondir"`,
			"commondir replaced": e2e.EvilDir + `echo "$PWD/evil" > "$G/new"; mv "$G/new" "$G/commondir"`,
			"config.worktree":    `printf '[core]\n\tfsmonitor = "%s"\n' "$EVIL" > "$G/config.worktree"`,
			"its pointer":        e2e.EvilDir + `git config -f evil/config core.worktree ..; echo "gitdir: $PWD/evil" > .git`,
			"a submodule of it":  `git init -q s; mkdir -p "$G/modules"; mv s/.git "$G/modules/s"; git config -f "$G/modules/s/config" core.worktree "$PWD/s"; git config -f "$G/modules/s/config" core.fsmonitor "$EVIL"; echo "gitdir: $G/modules/s" > s/.git`,
		} {
			h := *h
			h.T = t
			tried++
			evil := "export EVIL='touch " + h.Mark() + "; false' G=$(git rev-parse --absolute-git-dir)\n"
			tree := func() string {
				main := h.Workspace("main", "git config extensions.worktreeConfig true")
				h.Sh(main, "rm -rf ../tree; git worktree add -q --detach ../tree")
				return filepath.Join(filepath.Dir(main), "tree")
			}
			root := tree()
			h.Sh(root, evil+script)
			h.Sh(root, "git status; git -C s status")
			if !h.Marked() {
				t.Errorf("%s: without the sandbox the attack does not work", name)
				continue
			}
			controls++
			root = tree()
			out, _ := h.Call(root, evil+script)
			h.Sh(root, "git status; git -C s status")
			if h.Marked() {
				t.Errorf("%s: the user's git ran the program\n%s", name, out)
				continue
			}
			held++
			if out, code := h.Call(root, "echo x > f && git add f && git commit -qm made && git log --format=%s"); code != 0 || !strings.Contains(out, "made") {
				t.Errorf("%s: a commit: %s", name, out)
			}
		}
		t.Logf("%d of %d held, %d controls", held, tried, controls)
	})
}

// TestHarmlessRepositories: what is no hazard stays as it is.
func TestHarmlessRepositories(t *testing.T) {
	slow.Test(t)
	e2e.EachUser(t, func(t *testing.T, h *e2e.Host) {
		h.OnDisk()
		for name, c := range map[string]struct{ setup, script, check string }{
			"a clone":                    {"git init -q --bare up.git 2>/dev/null", `git clone -q . sub && git -C sub log --format=%s`, "git -C sub status --short && test -d sub/.git"},
			"a repository":               {"", `git init -q sub && cd sub && echo x > f && git add f && git commit -qm x`, "git -C sub log --format=%s | grep x"},
			"a commit in one":            {e2e.Sub, `cd sub && echo x > f && git add f && git commit -qm made`, "git -C sub log --format=%s | grep made"},
			"a branch there":             {e2e.Sub, `cd sub && git checkout -q -b topic && git branch -d main && git gc -q`, "git -C sub branch | grep topic"},
			"a commit at the root":       {"", `echo x > f && git add f && git commit -qm made`, "git log --format=%s | grep made"},
			"a clone with submodules":    {"git init -q ../one; git -C ../one commit -q --allow-empty -m x; git clone -q ../one one; git init -q two; git -C two submodule -q add ./../one sub 2>/dev/null || git -C two submodule -q add \"$PWD/one\" sub; git -C two commit -qm sub", `git -c protocol.file.allow=always clone -q --recurse-submodules two three`, "git -C three submodule status | grep sub && test -f three/sub/.git"},
			"a repository with hooks":    {e2e.Sub + "; printf '#!/bin/sh\\n' > sub/.git/hooks/pre-commit; chmod +x sub/.git/hooks/pre-commit; git -C sub config core.fsmonitor false; git -C sub config alias.st status", `echo x > sub/f`, "git -C sub st && test -x sub/.git/hooks/pre-commit"},
			"one that is moved":          {e2e.Sub + "; printf '#!/bin/sh\\n' > sub/.git/hooks/pre-commit; chmod +x sub/.git/hooks/pre-commit", `mv sub moved`, "git -C moved status && test -x moved/.git/hooks/pre-commit"},
			"a working tree of a clone":  {"", `git clone -q . sub && git -C sub worktree add -q ../wt`, "git -C wt log --format=%s | grep first"},
			"a bare repository":          {"", `git clone -q --bare . r.git`, "git -C r.git log --format=%s | grep first"},
			"branches named as secrets":  {"git branch x.env; git branch credentials.json", `git log --format=%s x.env | grep first && git log --format=%s credentials.json | grep first`, "git log x.env"},
			"commands one after another": {"", `git init -q sub && git -C sub commit -q --allow-empty -m x && echo made`, "test -d sub/.git"},
		} {
			t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
				h := *h
				h.T = t
				root := h.Workspace("harmless", c.setup)
				out, code := h.Call(root, "set -e\n"+c.script)
				if code != 0 || strings.Contains(out, "set-aside") {
					t.Errorf("exit %d\n%s", code, out)
				}
				if out, code := h.Call(root, "git status --short"); code != 0 || strings.Contains(out, "set-aside") {
					t.Errorf("a further command: exit %d\n%s", code, out)
				}
				if said := h.Sh(root, "("+c.check+") >/dev/null 2>&1 && echo fine"); strings.TrimSpace(said) != "fine" {
					t.Errorf("%s: %s", c.check, h.Sh(root, c.check+"; find "+filepath.Base(root)))
				}
			})
		}
	})
}

// TestRepositoriesInWorld: where what a command does is not held for review, its
// commits are made for real; a repository that it makes does not come out of its
// world.
func TestRepositoriesInWorld(t *testing.T) {
	e2e.EachUser(t, func(t *testing.T, h *e2e.Host) {
		for name, c := range map[string]struct{ setup, script, check, said string }{
			"a commit at the root": {"", `echo x > f && git add f && git commit -qm made`, `git log --format=%s | grep made && test -z "$(git status --short f)" && test -f f`, "Changed: f"},
			"a commit in one":      {e2e.Sub, `cd sub && echo x > f && git add f && git commit -qm made`, `git -C sub log --format=%s | grep made && test -z "$(git -C sub status --short)"`, "Changed: sub/f"},
			"a branch there":       {e2e.Sub, `cd sub && git checkout -q -b topic && git branch -d main && git gc -q`, "git -C sub branch | grep topic", ""},
			"a repository":         {"", `git init -q sub && echo x > g`, "test ! -e sub && test -f g", "Not taken over: sub: a repository"},
		} {
			h := *h
			h.T = t
			root := h.Workspace("world", c.setup)
			out, code := h.Call(root, "set -e\n"+c.script)
			if code != 0 || !strings.Contains(out, c.said) {
				t.Errorf("%s: exit %d\n%s", name, code, out)
			}
			if said := h.Sh(root, "("+c.check+") >/dev/null 2>&1 && echo fine"); strings.TrimSpace(said) != "fine" {
				t.Errorf("%s: %s", name, h.Sh(root, c.check+"; git status --short; ls -R"))
			}
		}
	})
}
