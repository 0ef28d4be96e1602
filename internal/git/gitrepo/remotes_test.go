package gitrepo

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// withRemote gives the world a bare repository up.git and a second clone peer,
// as the remote origin at url.
func (w *world) withRemote(url string) {
	w.t.Helper()
	w.sh("git clone -q --bare . ../up.git; git -C ../up.git config http.receivepack true; git remote add origin " + url + "; git clone -q ../up.git ../peer")
}

// serve serves the repositories below the world over http, to user:secret
// only.
func (w *world) serve() (url string) {
	w.t.Helper()
	return gittest.Serve(w.t, w.dir, func(user, password string) bool { return user == "user" && password == "secret" })
}

func TestPushAndPull(t *testing.T) {
	slow.Test(t)
	for _, way := range []string{"file", "http"} {
		t.Run(way, func(t *testing.T) {
			w := newWorld(t, Options{})
			ctx := t.Context()
			url := "../up.git"
			if way == "http" {
				server := w.serve()
				url = server + "/up.git"
				w.sh("git config --global credential.helper store; echo " + strings.Replace(server, "://", "://user:secret@", 1) + " > ../home/.git-credentials")
			}
			w.withRemote(url)

			if _, err := w.Push(ctx, "", false, nil); failureKind(err) != gitcmd.NoUpstream || !strings.Contains(err.Error(), "remotes: origin") {
				t.Errorf("no upstream: %v", err)
			}
			if _, err := w.Pull(ctx, nil, nil, nil); failureKind(err) != gitcmd.NoUpstream {
				t.Errorf("no upstream to pull: %v", err)
			}
			if _, err := w.Push(ctx, "nope", false, nil); failureKind(err) != gitcmd.NotFound {
				t.Errorf("no such remote: %v", err)
			}
			w.sh("git commit -q --allow-empty -m two")
			res, err := w.Push(ctx, "", true, nil)
			if err != nil || res.State != "pushed" || res.Remote != "origin" || res.To != "master" {
				t.Fatalf("%+v, %v", res, err)
			}
			w.same("git -C ../up.git log -1 --format=%s master; git rev-parse --abbrev-ref @{u}", "two\norigin/master")
			if res, err = w.Push(ctx, "", false, nil); err != nil || res.State != "up to date" {
				t.Errorf("again: %+v, %v", res, err)
			}
			w.sh("git switch -qc topic")
			if res, err = w.Push(ctx, "origin", false, nil); err != nil || res.State != "created" {
				t.Errorf("a new branch: %+v, %v", res, err)
			}
			w.sh("git switch -q master; cd ../peer; git pull -q; echo theirs > a.txt; git commit -qam theirs; git push -q")
			w.sh("echo ours > b.txt; git commit -qam ours")
			if _, err := w.Push(ctx, "", false, nil); failureKind(err) != gitcmd.Conflicted || !strings.Contains(err.Error(), "pull first") {
				t.Errorf("not a fast-forward: %v", err)
			}
			head := w.sh("git rev-parse HEAD")
			if _, err := w.Pull(ctx, nil, nil, nil); failureKind(err) != gitcmd.Diverged {
				t.Errorf("diverged: %v", err)
			}
			w.same("git rev-parse HEAD", head)
			no, yes := false, true
			if res, err := w.Pull(ctx, &no, nil, nil); err != nil || res.State != "merged" || changedFiles(res.Files) != "modified a.txt" {
				t.Errorf("merge: %+v, %v", res, err)
			}
			w.sh("git reset -q --hard " + head)
			if res, err := w.Pull(ctx, &yes, nil, nil); err != nil || res.State != "rebased" {
				t.Errorf("rebase: %+v, %v", res, err)
			}
			if res, err := w.Pull(ctx, nil, nil, nil); err != nil || res.State != "up to date" {
				t.Errorf("again: %+v, %v", res, err)
			}
			w.sh("git push -q; cd ../peer; git pull -q; echo more > a.txt; git commit -qam more; git push -q")
			if res, err := w.Pull(ctx, nil, nil, nil); err != nil || res.State != "fast-forward" || changedFiles(res.Files) != "modified a.txt" {
				t.Errorf("fast-forward: %+v, %v", res, err)
			}
			// Conflicts: taken back, with the changes that aren't committed.
			w.sh("cd ../peer; echo theirs > a.txt; git commit -qam theirs; git push -q")
			w.sh("echo ours > a.txt; git commit -qam ours; echo local > b.txt")
			head = w.sh("git rev-parse HEAD")
			for _, rebase := range []*bool{&no, &yes} {
				if *rebase {
					w.sh("git checkout -q b.txt")
				}
				if _, err := w.Pull(ctx, rebase, nil, nil); failureKind(err) != gitcmd.Conflicted || !strings.Contains(err.Error(), "conflicts in a.txt") {
					t.Errorf("conflict (rebase %v): %v", *rebase, err)
				}
				want := head + "\nmaster\n M b.txt"
				if *rebase {
					want = head + "\nmaster"
				}
				w.same("git rev-parse HEAD; git branch --show-current; git status --porcelain", want)
			}
			w.sh("echo dirty > a.txt")
			if _, err := w.Pull(ctx, &no, nil, nil); failureKind(err) != gitcmd.Conflicted {
				t.Errorf("changes in the way: %v", err)
			}
			if got := w.read("a.txt"); got != "dirty\n" {
				t.Errorf("the change is lost: %q", got)
			}
			w.sh("git checkout -q a.txt; git merge -q origin/master || true")
			if _, err := w.Pull(ctx, &no, nil, nil); failureKind(err) != gitcmd.Conflicted || !strings.Contains(err.Error(), "a merge is in progress") {
				t.Errorf("in a merge: %v", err)
			}
			if !gitfile.Exists(filepath.Join(w.GitDir, "MERGE_HEAD")) {
				t.Error("the user's merge was taken back")
			}
			w.sh("git merge --abort; git push -q origin :topic; git checkout -q --detach")
			if _, err := w.Push(ctx, "", false, nil); failureKind(err) != gitcmd.Conflicted {
				t.Errorf("push from no branch: %v", err)
			}
			if _, err := w.Pull(ctx, nil, nil, nil); failureKind(err) != gitcmd.Conflicted {
				t.Errorf("pull into no branch: %v", err)
			}
			w.sound()
		})
	}
}

func TestRemoteTrouble(t *testing.T) {
	slow.Test(t)
	closed := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return "http://" + l.Addr().String()
	}()
	for _, c := range []struct{ name, url, setup, says string }{
		{"credentials missing", "%s/up.git", "", "credentials"},
		{"credentials wrong", "%s/up.git", "git config --global credential.helper store; echo %s > ../home/.git-credentials; sed -i 's#://#://user:wrong@#' ../home/.git-credentials", "credentials"},
		{"a helper of the repository", "%s/up.git", "git config credential.helper '!f() { evil; echo username=user; echo password=secret; }; f'", "credentials"},
		{"askpass of the repository", "%s/up.git", "git config core.askPass evil", "credentials"},
		{"no such repository", "%s/none.git", "git config --global credential.helper store; echo %s > ../home/.git-credentials; sed -i 's#://#://user:secret@#' ../home/.git-credentials", "could not be reached"},
		{"nobody listens", closed + "/up.git", "", "could not be reached"},
		{"no such host", "http://h.invalid/up.git", "", "could not be reached"},
		{"a secret in the URL", strings.Replace(closed, "://", "://user:tok3n@", 1) + "/up.git", "", "could not be reached"},
		{"no such directory", "../none.git", "", "could not be reached"},
		{"ssh to nowhere", "ssh://h.invalid/x", "", "could not be reached"},
		{"another protocol", "git://h.invalid/x", "", "only https"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Options{})
			server := w.serve()
			w.withRemote(strings.ReplaceAll(c.url, "%s", server))
			w.sh(strings.ReplaceAll(c.setup, "%s", server) + "\ngit config branch.master.remote origin; git config branch.master.merge refs/heads/master; git commit -q --allow-empty -m two")
			_, push := w.Push(t.Context(), "", false, nil)
			_, pull := w.Pull(t.Context(), nil, nil, nil)
			for what, err := range map[string]error{"push": push, "pull": pull} {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s: %v, want %q", what, err, c.says)
				} else if strings.Contains(err.Error(), "tok3n") || strings.Contains(err.Error(), "wrong@") {
					t.Errorf("%s shows a secret: %v", what, err)
				}
			}
			if w.fired() {
				t.Error("evil ran")
			}
			w.same("git -C ../up.git log -1 --format=%s", "first")
		})
	}
}

// TestPullStops: a server that never answers.
func TestPullStops(t *testing.T) {
	w := newWorld(t, Options{})
	asked := make(chan struct{}, 9)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		asked <- struct{}{}
		<-req.Context().Done()
	}))
	defer s.Close()
	w.withRemote(s.URL + "/up.git")
	w.sh("git config branch.master.remote origin; git config branch.master.merge refs/heads/master")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, err := w.Pull(ctx, nil, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := w.Push(ctx, "", false, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("timed out: %v", err)
	}
	w.sound()
}

// TestHooksOfTheRemote: what the other side refuses is told in its words.
func TestHooksOfTheRemote(t *testing.T) {
	w := newWorld(t, Options{})
	w.withRemote("../up.git")
	w.sh("mkdir -p ../up.git/hooks; printf '#!/bin/sh\\necho not on a friday; exit 1\\n' > ../up.git/hooks/pre-receive; chmod +x ../up.git/hooks/pre-receive; git commit -q --allow-empty -m two")
	if _, err := w.Push(t.Context(), "origin", false, nil); failureKind(err) != gitcmd.Failed || !strings.Contains(err.Error(), "not on a friday") {
		t.Errorf("got %v", err)
	}
}

// TestConnectionSettings: a repository does not say who gets the credentials.
func TestConnectionSettings(t *testing.T) {
	for _, key := range []string{"http.proxy", "http.sslVerify", "http.https://h.test/.sslVerify", "http.sslCAInfo", "http.http://127.0.0.1.curloptResolve", "remote.origin.proxy"} {
		w := newWorld(t, Options{})
		w.withRemote("../up.git")
		w.sh("git config " + key + " false")
		if _, err := w.Push(t.Context(), "origin", false, nil); failureKind(err) != gitcmd.Unavailable || !strings.Contains(err.Error(), "credentials would be sent") {
			t.Errorf("%s: %v", key, err)
		}
		w.sh("git config --unset " + key + "; git config --global " + key + " false")
		if _, err := w.Push(t.Context(), "origin", false, nil); err != nil {
			t.Errorf("%s of the user: %v", key, err)
		}
	}
}
