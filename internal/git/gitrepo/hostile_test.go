package gitrepo

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// vector is one way in which a repository makes git run a program.
type vector struct {
	name  string
	fires string // the deeds in which plain git runs evil
	setup string // a shell script, run in the working tree
}

// vectors are ours, besides those of testdata/git-config-exec.json. Where plain
// git runs evil in no deed, all are done.
var vectors = []vector{
	{"core.fsmonitor", "status stage commit switch stash pull pull-rebase read",
		"git config core.fsmonitor 'evil;false'"},
	{"core.hooksPath", "status stage commit switch branch stash pull pull-rebase push read",
		"mkdir h; for h in " + allHooks + "; do printf '#!/bin/sh\\nevil\\n' >h/$h; done; chmod +x h/*; git config core.hooksPath h"},
	{"hooks", "status stage commit switch branch stash pull pull-rebase push read",
		"for h in " + allHooks + "; do printf '#!/bin/sh\\nevil\\n' >.git/hooks/$h; done; chmod +x .git/hooks/*"},
	{"a name with an equals sign", "status stage commit switch stash pull pull-rebase read",
		"echo '*.txt filter=a=b merge=a=b diff=a=b' > .git/info/attributes; for k in clean smudge process; do git config \"filter.a=b.$k\" 'evil; cat'; done; git config merge.a=b.driver 'evil; false'; git config diff.a=b.textconv evil"},
	{"a name with dots and spaces", "status stage commit switch stash pull pull-rebase read",
		"echo '*.txt filter=x.y' > .git/info/attributes; git config 'filter.x.y.clean' 'evil; cat'; git config 'filter.x.y.smudge' 'evil; cat'"},
	{"filter.smudge", "switch stash pull pull-rebase",
		"echo '*.txt filter=x' > .git/info/attributes; git config filter.x.smudge 'evil; cat'"},
	{"filter.process", "status stage commit switch stash pull pull-rebase read",
		"echo '*.txt filter=x' > .git/info/attributes; git config filter.x.process evil"},
	{"filter required", "status stage commit switch stash pull pull-rebase read",
		"echo '*.txt filter=x' > .git/info/attributes; git config filter.x.clean 'evil; cat'; git config filter.x.required true"},
	{"merge.driver", "pull pull-rebase",
		"echo '*.txt merge=x' > .git/info/attributes; git config merge.x.driver 'evil; false'"},
	{"merge.default", "pull pull-rebase",
		"git config merge.default x; git config merge.x.driver 'evil; false'"},
	{"branch.mergeOptions", "pull",
		"cp \"$(command -v evil)\" \"$(dirname \"$(command -v evil)\")\"/git-merge-evil; git config branch.master.mergeOptions '-s evil'"},
	{"pull.twohead", "pull pull-rebase",
		"cp \"$(command -v evil)\" \"$(dirname \"$(command -v evil)\")\"/git-merge-evil; git config pull.twohead evil"},
	{"gpg.program", "commit",
		"git config commit.gpgsign true; git config gpg.program evil"},
	{"gpg.openpgp.program", "commit",
		"git config commit.gpgsign true; git config gpg.openpgp.program evil"},
	{"gpg.ssh.program", "commit",
		"git config commit.gpgsign true; git config gpg.format ssh; git config user.signingkey /dev/null; git config gpg.ssh.program evil"},
	{"gpg.ssh.defaultKeyCommand", "commit",
		"git config commit.gpgsign true; git config gpg.format ssh; git config gpg.ssh.defaultKeyCommand evil"},
	{"gpg.x509.program", "commit",
		"git config commit.gpgsign true; git config gpg.format x509; git config gpg.x509.program evil"},
	{"config.worktree", "status stage commit switch stash pull pull-rebase read",
		"git config extensions.worktreeConfig true; git config --worktree core.fsmonitor 'evil;false'; git config --worktree core.hooksPath /nowhere"},
	{"include.path", "status stage commit switch stash pull pull-rebase read",
		"printf '[core]\\nfsmonitor=evil;false\\n[filter \"x\"]\\nclean=evil;cat\\n' > .git/inc; git config include.path inc; echo '*.txt filter=x' > .git/info/attributes"},
	{"includeIf.gitdir", "status stage commit switch stash pull pull-rebase read",
		"printf '[core]\\nfsmonitor=evil;false\\n[filter \"x\"]\\nclean=evil;cat\\n' > .git/inc; git config includeIf.gitdir:/.path inc; echo '*.txt filter=x' > .git/info/attributes"},
	{"includeIf.onbranch", "",
		"printf '[filter \"x\"]\\nsmudge=evil;cat\\nclean=evil;cat\\n' > .git/inc; git config includeIf.onbranch:other.path inc; echo '*.txt filter=x' > .git/info/attributes"},
	{"diff.external", "read",
		"git config diff.external evil"},
	{"diff.command", "read",
		"echo '*.txt diff=x' > .git/info/attributes; git config diff.x.command evil"},
	{"diff.textconv", "read",
		"echo '*.txt diff=x' > .git/info/attributes; git config diff.x.textconv evil"},
	{"core.editor", "",
		"git config core.editor evil; git config sequence.editor evil; git config core.pager evil; git config pager.log evil"},
	{"pull.rebase interactive", "",
		"git config sequence.editor evil; git config pull.rebase interactive"},
	{"core.sshCommand", "pull pull-rebase push",
		"git config core.sshCommand evil; git remote set-url origin ssh://h.invalid/x"},
	{"ssh.variant", "pull pull-rebase push",
		"git config core.sshCommand evil; git config ssh.variant simple; git remote set-url origin h.invalid:x"},
	{"remote.uploadpack", "pull pull-rebase push",
		"git config remote.origin.uploadpack evil; git config remote.origin.receivepack evil"},
	{"ext::", "pull pull-rebase push",
		"git config protocol.ext.allow always; git remote set-url origin 'ext::evil %S'"},
	{"ext:: by insteadOf", "pull pull-rebase push",
		"git config protocol.ext.allow always; git config 'url.ext::evil %S .insteadOf' http://h.invalid/; git remote set-url origin http://h.invalid/x"},
	{"ext:: by pushurl", "push",
		"git config protocol.ext.allow always; git config remote.origin.pushurl 'ext::evil %S'"},
	{"remote.vcs", "pull pull-rebase push",
		"cp \"$(command -v evil)\" \"$(dirname \"$(command -v evil)\")\"/git-remote-evil; git config protocol.evil.allow always; git config remote.origin.vcs evil"},
	{"remote helper by URL", "pull pull-rebase push",
		"cp \"$(command -v evil)\" \"$(dirname \"$(command -v evil)\")\"/git-remote-evil; git config protocol.evil.allow always; git remote set-url origin evil://x"},
	{"credential.helper", "",
		"git config credential.helper '!evil'; git config credential.http://127.0.0.1:9.helper '!evil'; git remote set-url origin http://127.0.0.1:9/x"},
	{"core.askPass", "",
		"git config core.askPass evil; git remote set-url origin http://127.0.0.1:9/x"},
	{"core.gitProxy", "pull pull-rebase push",
		"git config core.gitProxy evil; git config protocol.git.allow always; git remote set-url origin git://h.invalid/x"},
	{"alternates", "pull pull-rebase",
		"git config core.alternateRefsCommand evil; echo \"$PWD/../up.git/objects\" > .git/objects/info/alternates"},
	{"submodule", "status stage switch stash pull pull-rebase read",
		"git -c protocol.file.allow=always submodule add -q $PWD/../up.git sub; git commit -qm sm; git -C sub config core.fsmonitor 'evil;false'; git -C sub config filter.x.clean 'evil;cat'; echo '* filter=x' > .git/modules/sub/info/attributes; touch -d @1 sub/*"},
	{"submodule.update", "",
		"git -c protocol.file.allow=always submodule add -q $PWD/../up.git sub; git commit -qm sm; git config submodule.sub.update '!evil'; git config submodule.recurse true"},
	{"remote repository in the work", "push",
		"git clone -q --bare ../up.git r.git; mkdir -p r.git/hooks; for h in pre-receive update post-update reference-transaction; do printf '#!/bin/sh\\nevil\\n' >r.git/hooks/$h; done; chmod +x r.git/hooks/*; git remote set-url origin ./r.git"},
	{"rebase.instructionFormat", "pull-rebase",
		"git reset -q --hard HEAD~1; echo x > c.txt; git add c.txt; git commit -qm ours; git config rebase.instructionFormat '%s%nexec evil'"},
	{"trailer", "",
		"git config trailer.x.key X; git config trailer.x.command evil; git config trailer.x.cmd evil"},
	{"alias", "",
		"for a in status commit add update-index switch push pull stash; do git config alias.$a '!evil'; done"},
}

const allHooks = "pre-commit prepare-commit-msg commit-msg post-commit pre-merge-commit post-merge pre-rebase post-rewrite post-checkout pre-push reference-transaction post-index-change"

// deeds are what is done to a hostile repository: by git as a user would, and
// by us.
var deeds = []struct {
	name, plain string
	ours        []gitcmd.Invocation
	also        func(ctx context.Context, r *Repo)
}{
	{"status", "git status --porcelain", []gitcmd.Invocation{{Op: "status"}, {Op: "status-lines"}, {Op: "patch", Args: []string{"--patch"}}, {Op: "patch", Args: []string{"--patch", "HEAD"}}, {Op: "status", Args: []string{"--ignored=matching"}, Paths: []string{"a.txt"}}}, nil},
	{"stage", "git add -A", []gitcmd.Invocation{{Op: "stage", Stdin: []byte("a.txt\x00b.txt\x00")}}, nil},
	{"commit", "git add b.txt; echo m | git commit -qF -", []gitcmd.Invocation{{Op: "commit", Stdin: []byte("m")}, {Op: "stage", Stdin: []byte("b.txt\x00")}, {Op: "commit", Stdin: []byte("m")}}, nil},
	{"switch", "git stash -q; git switch -q other", nil, func(ctx context.Context, r *Repo) {
		_, _ = r.StashPush(ctx, "", "")
		_, _ = r.SwitchBranch(ctx, "other")
	}},
	{"branch", "git branch new; git branch -d new", []gitcmd.Invocation{{Op: "create-branch", Args: []string{"new"}}, {Op: "delete-branch", Args: []string{"new"}}}, nil},
	{"stash", "git stash push -q; git stash list; git stash apply -q; git stash pop -q", []gitcmd.Invocation{{Op: "stash-list"}}, func(ctx context.Context, r *Repo) {
		_, _ = r.StashPush(ctx, "", "")
		_, _ = r.StashApply(ctx, 0, false)
		_, _ = r.StashApply(ctx, 0, true)
	}},
	{"pull", "git stash -q; git pull -q --no-rebase --no-edit", nil, func(ctx context.Context, r *Repo) {
		no := false
		_, _ = r.StashPush(ctx, "", "")
		_, _ = r.Pull(ctx, &no, nil, nil)
	}},
	{"pull-rebase", "git stash -q; git pull -q --rebase", nil, func(ctx context.Context, r *Repo) {
		yes := true
		_, _ = r.StashPush(ctx, "", "")
		_, _ = r.Pull(ctx, &yes, nil, nil)
	}},
	{"push", "git push -q origin HEAD:refs/heads/new", []gitcmd.Invocation{{Op: "push", Args: []string{"origin", "HEAD:refs/heads/new"}, Network: true}}, nil},
	{"read", "git diff; git log -p -2; git show HEAD; git stash list", []gitcmd.Invocation{{Op: "staged", Args: []string{"HEAD"}}, {Op: "show-commit", Args: []string{"HEAD"}}, {Op: "list-commits", Args: []string{"HEAD"}}, {Op: "blob", Args: []string{"HEAD:a.txt"}}, {Op: "list-files"}, {Op: "list-tree", Args: []string{"HEAD"}}}, nil},
}

// diverged makes what hostile begins with: a repository with an upstream that has
// diverged, a branch other, and changes that aren't committed.
func diverged(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, Options{})
	w.sh(`git switch -q -c other && echo three >> b.txt && git commit -qam other && git switch -q master &&
git clone -q --bare . ../up.git && git remote add origin ../up.git && git fetch -q && git branch -q -u origin/master &&
git clone -q ../up.git ../peer && (cd ../peer && echo zero > a.txt && git commit -qam theirs && git push -q) &&
echo four > a.txt && git commit -qam ours && echo five >> b.txt && touch -d @1 a.txt`)
	return w
}

// hostile makes a copy of what diverged made, and then does what the vector does.
// The function that it returns puts everything back to that state.
func hostile(t *testing.T, from *world, o Options, v vector) (w *world, again func()) {
	t.Helper()
	w = emptyWorld(t)
	w.sh("cd ..; rm -rf work; cp -a " + from.path("") + " " + from.path("../up.git") + " .")
	w.open(o)
	if out, err := w.try(v.setup); err != nil && !strings.Contains(v.setup, "commit") {
		t.Fatalf("%s: %v\n%s", v.setup, err, out)
	}
	w.sh("cd ..; mkdir kept; cp -a work up.git kept")
	w.fired()
	return w, func() {
		t.Helper()
		w.sh("cd ..; rm -rf work up.git; cp -a kept/work kept/up.git .")
		w.fired()
	}
}

var everything = flag.Bool("everything", false, "try hostile repositories with all deeds, not two for each")

// some are the deeds that a vector is tried with: those in which plain git
// fires, or all when it never does; but two, others for each vector, without
// -everything.
func (v vector) some(nth int) []string {
	list := strings.Fields(v.fires)
	if len(list) == 0 {
		for _, d := range deeds {
			list = append(list, d.name)
		}
	}
	if *everything || len(list) <= 2 {
		return list
	}
	return []string{list[nth%len(list)], list[(nth+len(list)/2)%len(list)]}
}

// TestHostileConfiguration does in every hostile repository what makes plain git
// run evil, first by plain git, to see that it does.
func TestHostileConfiguration(t *testing.T) {
	slow.Test(t)
	from := diverged(t)
	plain, ours := 0, 0
	for i, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			w, again := hostile(t, from, Options{}, v)
			for _, d := range deeds {
				if !slices.Contains(v.some(i), d.name) {
					continue
				}
				if v.fires != "" {
					_, _ = w.try(d.plain)
					if !w.fired() {
						t.Errorf("%s: plain git does not run evil, so this shows nothing", d.name)
					}
					plain++
					again()
				}
				ours += w.harmless(d.name)
				again()
			}
		})
	}
	t.Logf("evil ran in %d of %d by plain git, in %d by us", plain, plain, ours)
	if plain < 50 {
		t.Errorf("the control fires in %d cells only", plain)
	}
}

// harmless does a deed our way and returns how many of its steps ran evil.
func (w *world) harmless(deed string) (fired int) {
	w.t.Helper()
	for _, d := range deeds {
		for _, c := range d.ours {
			if d.name != deed {
				continue
			}
			_, _ = w.Git.Run(w.t.Context(), c)
			if w.fired() {
				fired++
				w.t.Errorf("%s: evil ran in %s", d.name, c.Op)
			}
		}
		if d.name == deed && d.also != nil {
			d.also(w.t.Context(), w.Repo)
			if w.fired() {
				fired++
				w.t.Errorf("evil ran in %s", d.name)
			}
		}
	}
	if deed != "status" && deed != "read" {
		return fired
	}
	// What is worked out in process, and what that leaves to git.
	ctx := w.t.Context()
	for name, f := range map[string]func() error{
		"Status": func() error { _, err := w.Status(ctx, StatusOptions{}); return err },
		"Log":    func() error { _, err := w.Log(ctx, LogOptions{Path: "a.txt"}); return err },
		"Diff":   func() error { _, err := w.Diff(ctx, DiffOptions{}); return err },
		"Staged": func() error { _, err := w.Diff(ctx, DiffOptions{Staged: true}); return err },
		"Refs":   func() error { _, err := w.Diff(ctx, DiffOptions{From: "HEAD~1", To: "HEAD"}); return err },
	} {
		_ = f() // it may refuse
		if w.fired() {
			fired++
			w.t.Errorf("%s: evil ran in %s", deed, name)
		}
	}
	return fired
}

// TestConfigurationCases goes through the list of known attacks.
func TestConfigurationCases(t *testing.T) {
	slow.Test(t)
	from := diverged(t)
	var file struct {
		Cases []struct {
			ID, Vector, Setup, Op string
			Args                  string `json:"git_args"`
			Plain                 bool   `json:"fires_plain"`
		}
	}
	data, err := os.ReadFile("testdata/git-config-exec.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	deed := map[string]string{"checkout": "switch", "diff": "read", "log-p": "read", "show": "read", "log-tty": "read", "add": "stage", "merge": "pull", "fetch": "pull",
		"commit-editor": "commit", "commit-noedit-msg": "commit", "branch-edit": "branch", "submodule": "pull"}
	plain := 0
	for _, c := range file.Cases {
		t.Run(c.ID+" "+c.Vector, func(t *testing.T) {
			w, again := hostile(t, from, Options{}, vector{setup: "git branch conf other; " + c.Setup})
			op, dir, _ := strings.Cut(c.Op, "@")
			if c.Op != "log-tty" { // which needs a terminal
				switch op {
				case "pull": // without a conflict
					w.sh("git reset -q --hard HEAD~1")
				case "merge":
					w.sh("git stash -q; git switch -q conf; echo six > a.txt; git commit -qam conf; git switch -q master")
				}
				_, _ = w.try("cd ./" + dir + " && git " + c.Args)
				if fired := w.fired(); fired != c.Plain {
					t.Errorf("plain git runs evil: %v, want %v", fired, c.Plain)
				}
				plain++
				again()
			}
			if dir != "" {
				if r, err := Open(w.path(dir), Options{}); err == nil && r.Dir != w.Dir {
					t.Errorf("%s was opened as a repository of its own", dir)
				}
			}
			if d := deed[op]; d != "" {
				op = d
			}
			for _, name := range []string{op, "status"} {
				w.harmless(name)
				again()
			}
		})
	}
	t.Logf("%d cases, %d controls", len(file.Cases), plain)
	if len(file.Cases) != 30 {
		t.Errorf("%d cases were read", len(file.Cases))
	}
}

// TestTrustedRunsNothing: trust is in what the user saw, and not in what an agent has
// prepared since: the git that we run, outside of the sandbox, runs nothing of it.
func TestTrustedRunsNothing(t *testing.T) {
	slow.Test(t)
	from := diverged(t)
	for i, v := range vectors {
		w, again := hostile(t, from, Options{Trusted: func() bool { return true }}, v)
		for _, d := range v.some(i + 1) {
			w.harmless(d)
			again()
		}
	}
}

// TestUsersOwnStays: what the user's own settings name keeps running.
func TestUsersOwnStays(t *testing.T) {
	for _, c := range []struct{ name, setup string }{
		{"filter", "git config --global filter.x.clean 'evil;cat'; echo '*.txt filter=x' > .git/info/attributes"},
		{"and the repository's instead of the filter", "git config --global filter.x.clean 'evil;cat'; git config filter.x.clean cat; echo '*.txt filter=x' > .git/info/attributes"},
		{"signing", "git config --global commit.gpgsign true; git config --global gpg.program evil"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.sh(c.setup)
			w.write("a.txt", "changed\n")
			for _, c := range []gitcmd.Invocation{{Op: "stage", Stdin: []byte("a.txt\x00")}, {Op: "commit", Stdin: []byte("m")}} {
				_, _ = w.Git.Run(t.Context(), c)
			}
			if !w.fired() {
				t.Error("the user's own program did not run")
			}
		})
	}
	// A directory of the repository is the repository's, whoever named it.
	w := newWorld(t, Options{})
	w.sh("mkdir h; printf '#!/bin/sh\\nevil\\n' > h/pre-commit; chmod +x h/pre-commit; git config --global core.hooksPath h; echo x >> a.txt; git add a.txt")
	if _, err := w.Git.Run(t.Context(), gitcmd.Invocation{Op: "commit", Stdin: []byte("m")}); err != nil || w.fired() {
		t.Errorf("a relative directory of hooks: err %v", err)
	}
	if got := strings.Join(w.moment("commit", nil).said(t.Context()), "; "); !strings.HasPrefix(got, "the hook pre-commit did not run") {
		t.Errorf("silenced: %q", got)
	}
}

// TestSettingsAreReadAnew: what changes in a file is seen by the next run.
func TestSettingsAreReadAnew(t *testing.T) {
	w := newWorld(t, Options{})
	if _, err := w.Git.Run(t.Context(), gitcmd.Invocation{Op: "status"}); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"git config filter.x.clean 'evil;cat'; echo '*.txt filter=x' > .git/info/attributes",
		"git config --unset filter.x.clean; git config include.path inc",
		"printf '[filter \"x\"]\\nclean=evil;cat\\n' > .git/inc",
	} {
		w.sh(line + "; touch -d @1 a.txt")
		if _, err := w.Git.Run(t.Context(), gitcmd.Invocation{Op: "status"}); err != nil || w.fired() {
			t.Errorf("%s: evil ran (error %v)", line, err)
		}
	}
	_, _ = w.try("git status")
	if !w.fired() {
		t.Error("the control did not fire")
	}
}
