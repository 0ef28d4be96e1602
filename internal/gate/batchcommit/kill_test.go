package batchcommit_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/batchcommit"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/repos"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
	"github.com/sidecar-ls/sidecar-ls/internal/test/crash"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

var everything = flag.Bool("everything", false, "kill at every point, and in 200 random rounds")

// dirVar and atVar say to a process of this test where to accept, and at which point to die.
const dirVar, atVar = "BATCHCOMMIT_DIR", "BATCHCOMMIT_AT"

// TestMain is also the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(dirVar); dir != "" {
		at, err := strconv.Atoi(os.Getenv(atVar))
		if err == nil {
			err = acceptIn(dir, at)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// place is a workspace with a queue and its repository, as the server has it.
type place struct {
	disk  *workspace.Disk
	store *pendingedits.Store
}

func openPlace(dir, state string, fail func(string) error) (*place, error) {
	disk, err := workspace.OpenDisk([]workspace.Folder{{Name: "work", Dir: dir}}, workspace.DiskOptions{StateDir: filepath.Join(state, "apply"), Fail: fail})
	if err != nil {
		return nil, err
	}
	if _, err := disk.Recover(context.Background()); err != nil {
		return nil, err
	}
	commits := batchcommit.New(dir, &repos.Repos{Options: gitrepo.Options{Trusted: func() bool { return false }}, Shadow: func(string) string { return "" }}, disk, nil)
	store, err := pendingedits.Open(filepath.Join(state, "pending"), disk, pendingedits.Options{Commits: commits, Fail: fail})
	if err != nil {
		return nil, err
	}
	return &place{disk, store}, nil
}

func (p *place) close() {
	_ = p.store.Close()
	_ = p.disk.Close()
}

// acceptIn accepts what is pending, and dies at the point at; 0: at none.
func acceptIn(dir string, at int) error {
	n := 0
	p, err := openPlace(dir, filepath.Join(filepath.Dir(dir), "state"), func(string) error {
		if n++; n == at {
			crash.Now()
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Println("open")
	if _, err := p.store.Accept(context.Background(), pendingedits.Selection{Session: "agent"}); err != nil {
		return err
	}
	fmt.Println("points", n)
	return p.store.Close()
}

// proposed is what waits: a batch with two commits, a commit of files that are accepted one by one, and an edit of another
// session, which nobody decides on.
func proposed(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	r.Commit("first", "a", "1\n", "b", "2\n", "c", "3\n", "d", "4\n")
	p, err := openPlace(r.Dir, filepath.Join(filepath.Dir(r.Dir), "state"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	batch := pendingedits.Proposer{Session: "agent", Tool: "edit", Batch: true}
	for i, name := range []string{"a", "b"} {
		before, after := fmt.Sprintf("%d\n", i+1), fmt.Sprintf("new %d\n", i+1)
		if err := p.store.For(batch).Apply(t.Context(), workspace.Change{Path: name, Before: []byte(before), After: []byte(after)}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.store.QueueCommit(t.Context(), batch, "commit of "+name, nil, false, nil); err != nil {
			t.Fatal(err)
		}
	}
	other := pendingedits.Proposer{Session: "other", Tool: "edit"}
	for _, c := range []workspace.Change{{Path: "c", Before: []byte("3\n"), After: []byte("new 3\n")}} {
		if err := p.store.For(other).Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if waits, err := p.store.QueueFiles(t.Context(), other, pendingedits.FileCommit{ID: "x", Message: "commit of c", Files: []pendingedits.CommitFile{{Name: "c", Data: []byte("new 3\n"), Mode: 0o644}}}); err != nil || !waits {
		t.Fatal(waits, err)
	}
	for _, ref := range []workspace.Reference{
		{Kind: workspace.RefTag, Dir: ".", Name: "v1", Commit: "x", Own: true, Message: "of c"},
		{Kind: workspace.RefBranch, Dir: ".", Name: "side", Commit: strings.TrimSpace(r.Git("rev-parse", "HEAD"))},
		{Kind: workspace.RefSwitch, Dir: ".", Name: "next", New: true, Commit: "x", Own: true},
	} {
		if _, err := p.store.QueueFiles(t.Context(), other, pendingedits.FileCommit{ID: ref.Name, Message: "New " + ref.Name, Ref: ref}); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// killed runs the accept in a process that is ended by end, and reports whether it was.
func killed(t *testing.T, r *gittest.Repo, at int, end func(cmd *exec.Cmd)) (dead bool, out string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), dirVar+"="+r.Dir, atVar+"="+strconv.Itoa(at))
	var text strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end(cmd)
	err = cmd.Wait()
	if dead = crash.Was(cmd); err != nil && !dead {
		t.Fatalf("it failed: %v\n%s", err, text.String())
	}
	return dead, text.String()
}

// after opens the queue that a killed process has left: all that was pending is there or accepted, and accepting what is left
// makes each commit once.
func after(t *testing.T, when string, r *gittest.Repo) {
	t.Helper()
	_ = ownfile.Remove(r.Path(".git/index.lock")) // of git, which was killed, too
	// What the process was about to start may have its lock for a moment.
	if f, err := ownfile.OpenFile(filepath.Join(filepath.Dir(r.Dir), "state/pending/lock"), os.O_RDWR, 0); err == nil {
		if err := errors.Join(filelock.Lock(f), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	p, err := openPlace(r.Dir, filepath.Join(filepath.Dir(r.Dir), "state"), nil)
	if err != nil {
		t.Fatalf("%s: it can't be opened: %v", when, err)
	}
	defer p.close()
	for name, want := range map[string]string{"a": "new 1\n", "b": "new 2\n", "c": "new 3\n"} {
		if data, err := p.store.For(pendingedits.Proposer{Session: "other"}).ReadFile(name); err != nil || string(data) != want {
			t.Errorf("%s: %s has %q, %v", when, name, data, err)
		}
	}
	if list := p.store.List(""); !slices.ContainsFunc(list.Edits, func(e pendingedits.Edit) bool { return e.Name == "c" }) {
		t.Errorf("%s: the other session's edit is gone: %+v", when, list)
	}
	for _, session := range []string{"agent", "other", "agent"} {
		if _, err := p.store.Accept(t.Context(), pendingedits.Selection{Session: session}); err != nil && !strings.Contains(err.Error(), "nothing") {
			t.Errorf("%s: accepting the rest of %s: %v", when, session, err)
		}
	}
	log := strings.Fields(strings.ReplaceAll(r.Git("log", "--format=%s", "--reverse"), " ", "-"))
	if want := []string{"first", "commit-of-a", "commit-of-b", "commit-of-c"}; !slices.Equal(log, want) {
		t.Errorf("%s: the branch has %v, want %v; %+v", when, log, want, p.store.List(""))
	}
	names := r.Git("for-each-ref", "--format=%(refname) %(subject)", "refs/tags", "refs/heads/side") + r.Git("branch", "--show-current")
	if want := "refs/heads/side first\nrefs/tags/v1 of c\nnext\n"; names != want {
		t.Errorf("%s: there is %q, want %q; %+v", when, names, want, p.store.List(""))
	}
	if out := r.Git("status", "--porcelain"); out != "" {
		t.Errorf("%s: git status:\n%s", when, out)
	}
}

// TestKilled: a process that is killed at any point of an accept with commits leaves a queue that opens.
func TestKilled(t *testing.T) {
	slow.Test(t)
	dead, out := killed(t, proposed(t), 0, func(*exec.Cmd) {})
	at := strings.LastIndex(out, "points ")
	if dead || at < 0 {
		t.Fatalf("control: %s", out)
	}
	points, err := strconv.Atoi(strings.TrimSpace(out[at+len("points "):]))
	if err != nil || points < 20 {
		t.Fatalf("there are %d points, %v", points, err)
	}
	step := 5
	if *everything {
		step = 1
	}
	tried := 0
	for at := 1; at <= points; at += step {
		r := proposed(t)
		if dead, out := killed(t, r, at, func(*exec.Cmd) {}); !dead {
			t.Fatalf("point %d was not reached:\n%s", at, out)
		}
		after(t, fmt.Sprintf("killed at point %d of %d", at, points), r)
		tried++
	}
	t.Logf("killed at %d of %d points", tried, points)
}

// TestKilledAnywhere: so does one that is killed at any moment, also while git works.
func TestKilledAnywhere(t *testing.T) {
	slow.Test(t)
	begun := time.Now()
	if dead, out := killed(t, proposed(t), 0, func(*exec.Cmd) {}); dead {
		t.Fatalf("control: %s", out)
	}
	whole := time.Since(begun)
	rounds, seed := 12, uint64(38)
	if *everything {
		rounds, seed = 200, uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	deaths := 0
	for i := range rounds {
		r := proposed(t)
		moment := time.Duration(random.Int64N(int64(whole)))
		dead, _ := killed(t, r, 0, func(cmd *exec.Cmd) {
			timer := time.AfterFunc(moment, func() { _ = cmd.Process.Kill() })
			t.Cleanup(func() { timer.Stop() })
		})
		if dead {
			deaths++
		}
		after(t, fmt.Sprintf("round %d, killed after %v", i, moment), r)
	}
	t.Logf("%d of %d rounds ended by a kill", deaths, rounds)
}
