package gitrepo

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// plainHooks runs hooks where the test runs. That they run confined is for the tests
// of who does that.
type plainHooks struct{ t *testing.T }

func (p plainHooks) Run(ctx context.Context, r HookRun) (end HookEnd, err error) {
	message := filepath.Join(p.t.TempDir(), "message")
	if r.Message != nil {
		if err := ownfile.WriteFile(message, []byte(*r.Message), 0o600); err != nil {
			return end, err
		}
	}
	for _, h := range r.Hooks {
		cmd := exec.CommandContext(ctx, h.Path)
		for _, a := range h.Args {
			cmd.Args = append(cmd.Args, strings.Replace(a, MessageFile, message, 1))
		}
		cmd.Dir, cmd.Stdin = r.Dir, strings.NewReader(h.Stdin)
		cmd.Env = append(os.Environ(), "GIT_INDEX_FILE="+r.Index)
		if out, err := cmd.CombinedOutput(); err != nil {
			return HookEnd{Failed: h.Name, Said: string(out)}, nil //nolint:nilerr // how it ended says so
		}
	}
	if r.Message != nil {
		data, err := os.ReadFile(message)
		return HookEnd{Message: string(data)}, err
	}
	return end, nil
}

// TestHookMoments: the hooks of an operation run when git would run them, with what
// git gives them, and those that come before stop it.
func TestHookMoments(t *testing.T) {
	trusted := Options{Trusted: func() bool { return true }}
	setup := func(t *testing.T) *world {
		t.Helper()
		w := newWorld(t, trusted)
		w.withRemote("../up.git")
		w.sh("git fetch -q; git config branch.master.remote origin; git config branch.master.merge refs/heads/master")
		for _, name := range strings.Fields(allHooks) {
			w.write(".git/hooks/"+name, "#!/bin/sh\n[ $# -gt 0 ] && case $1 in *message) set -- MSG \"$2\";; esac\necho $(basename $0) \"$@\" $(cat) >> ../log\n[ ! -e ../stop-$(basename $0) ]\n")
		}
		w.sh("chmod +x .git/hooks/*")
		w.open(trusted)
		return w
	}
	log := func(w *world) string {
		data, _ := os.ReadFile(w.path("../log"))
		ownfile.Remove(w.path("../log"))
		return strings.TrimSpace(string(data))
	}
	want := func(t *testing.T, w *world, want ...string) {
		t.Helper()
		got := strings.Split(log(w), "\n")
		for i, line := range got {
			got[i] = strings.TrimSpace(line)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("ran\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	t.Run("commit", func(t *testing.T) {
		w, ctx := setup(t), t.Context()
		w.sh("echo x >> a.txt; git add a.txt")
		for _, stop := range []string{"pre-commit", "prepare-commit-msg", "commit-msg"} {
			w.write("../stop-"+stop, "")
			if _, err := w.Commit(ctx, "m", nil, "", plainHooks{t}); failureKind(err) != gitcmd.Failed || !strings.Contains(err.Error(), "the hook "+stop+" failed") {
				t.Errorf("%s: %v", stop, err)
			}
			w.same("git log --format=%s", "first")
			ownfile.Remove(w.path("../stop-" + stop))
		}
		log(w)
		res, err := w.Commit(ctx, "m", nil, "", plainHooks{t})
		if err != nil || !strings.Contains(strings.Join(res.Notes, " "), "the hooks reference-transaction, post-index-change did not run") {
			t.Errorf("%+v, %v", res, err)
		}
		want(t, w, "pre-commit", "prepare-commit-msg MSG message", "commit-msg MSG", "post-commit")
	})
	t.Run("push", func(t *testing.T) {
		w, ctx := setup(t), t.Context()
		was := w.sh("git rev-parse HEAD")
		w.sh("git -c core.hooksPath=/dev/null commit -q --allow-empty -m two; rm -f ../log")
		now := w.sh("git rev-parse HEAD")
		w.write("../stop-pre-push", "")
		if _, err := w.Push(ctx, "", false, plainHooks{t}); err == nil || !strings.Contains(err.Error(), "nothing was pushed: the hook pre-push failed") {
			t.Errorf("got %v", err)
		}
		w.same("git -C ../up.git rev-parse master", was)
		ownfile.Remove(w.path("../stop-pre-push"))
		log(w)
		if _, err := w.Push(ctx, "", false, plainHooks{t}); err != nil {
			t.Error(err)
		}
		want(t, w, "pre-push origin ../up.git refs/heads/master "+now+" refs/heads/master "+was)
		w.same("git -C ../up.git rev-parse master", now)
	})
	t.Run("switch and pull", func(t *testing.T) {
		w, ctx := setup(t), t.Context()
		was := w.sh("git rev-parse HEAD")
		w.sh("git branch other; rm -f ../log")
		m, err := w.LookAtSwitch(ctx, "other")
		if err != nil {
			t.Fatal(err)
		}
		w.write("../stop-post-checkout", "")
		notes, err := m.Do(ctx, w.Repo, plainHooks{t})
		if err != nil || !strings.Contains(strings.Join(notes, " "), "after it was done: the hook post-checkout failed") {
			t.Errorf("%q, %v", notes, err)
		}
		want(t, w, "post-checkout "+was+" "+was+" 1")
		w.sh("git -c core.hooksPath=/dev/null switch -q master; git clone -q ../up.git ../peer2; cd ../peer2; echo 1 > theirs; git add .; git commit -qm theirs; git push -q; rm -f ../log")
		no, yes := false, true
		if res, err := w.Pull(ctx, &no, nil, plainHooks{t}); err != nil || res.State != "fast-forward" {
			t.Errorf("%+v, %v", res, err)
		}
		want(t, w, "post-merge 0")
		w.sh("cd ../peer2; echo 2 > theirs; git commit -qam theirs; git push -q; cd ../work; echo ours > b.txt; git -c core.hooksPath=/dev/null commit -qam ours; rm -f ../log")
		head := w.sh("git rev-parse HEAD")
		w.write("../stop-pre-rebase", "")
		if _, err := w.Pull(ctx, &yes, nil, plainHooks{t}); err == nil || !strings.Contains(err.Error(), "nothing was rebased: the hook pre-rebase failed") {
			t.Errorf("got %v", err)
		}
		w.same("git rev-parse HEAD; git status --porcelain", head)
		w.sh("rm -f ../log")
		if res, err := w.Pull(ctx, &no, nil, plainHooks{t}); err != nil || res.State != "merged" || !strings.Contains(strings.Join(res.Notes, " "), "pre-merge-commit") {
			t.Errorf("%+v, %v", res, err)
		}
		want(t, w, "prepare-commit-msg MSG merge", "commit-msg MSG", "post-merge 0")
	})
}
