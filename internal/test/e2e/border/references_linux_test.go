package border_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/server/review"
)

// twoBranches is a project with the branches master and other, which have different files.
func twoBranches(t *testing.T) string {
	t.Helper()
	dir := project(t, e2e.Object{})
	e2e.GitIn(t, dir, "branch", "-M", "main")
	e2e.GitIn(t, dir, "switch", "-qc", "other")
	e2e.Write(t, filepath.Join(dir, "b.txt"), "of other\n")
	e2e.GitIn(t, dir, "add", "-A")
	e2e.GitIn(t, dir, "commit", "-qm", "other")
	e2e.GitIn(t, dir, "switch", "-q", "main")
	return dir
}

// waiting is what waits for review.
func waiting(r *e2e.Rig) review.Listed {
	r.T.Helper()
	return e2e.Command[review.Listed](r, "sidecar.review.list", e2e.Object{})
}

// TestReferences: branches, tags, switches and merges of commands reach the repository when
// they are accepted, as git would have made them, and not before.
func TestReferences(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		looks [][2]string // a git command after accepting all, and what it says
	}{
		{"a branch and tags", []string{"git branch side && git tag v1 && git tag -am 'the notes' v2 other"}, [][2]string{
			{"branch --format=%(refname:short)", "main other side"}, {"rev-parse v1", "$main"}, {"cat-file -t v2", "tag"}, {"rev-parse v2^{commit}", "$other"}, {"branch --show-current", "main"}}},
		{"a tag on its own commit", []string{"echo two >> a.txt && git commit -qam second && git tag v1", "echo three >> a.txt && git commit -qam third"}, [][2]string{
			{"log --format=%s", "third second first"}, {"log -1 --format=%s v1", "second"}}},
		{"a switch", []string{"git switch -q other"}, [][2]string{
			{"branch --show-current", "other"}, {"rev-parse HEAD", "$other"}, {"status --porcelain", ""}, {"rev-parse main", "$main"}}},
		{"a new branch", []string{"git switch -qc side"}, [][2]string{
			{"branch --show-current", "side"}, {"rev-parse HEAD", "$main"}, {"status --porcelain", ""}}},
		{"a commit on another branch", []string{"git switch -q other && echo more >> b.txt && git commit -qam more"}, [][2]string{
			{"branch --show-current", "other"}, {"log --format=%s", "more other first"}, {"status --porcelain", ""}, {"rev-parse main", "$main"}}},
		{"a new branch from elsewhere", []string{"git switch -qc side other", "echo more >> b.txt && git commit -qam more"}, [][2]string{
			{"branch --show-current", "side"}, {"log --format=%s", "more other first"}, {"status --porcelain", ""}, {"rev-parse other", "$other"}}},
		{"a merge", []string{"echo two >> a.txt && git commit -qam second && git merge -q --no-edit other"}, [][2]string{
			{"log -1 --format=%s", "Merge branch 'other'"}, {"rev-parse HEAD^2", "$other"}, {"log -1 --format=%s HEAD^1", "second"}, {"status --porcelain", ""}}},
		{"a branch that is merged", []string{"git switch -qc t && echo two >> a.txt && git commit -qam second", "git switch -q main && git merge -q t"}, [][2]string{
			{"branch --show-current", "main"}, {"log --format=%s", "second first"}, {"log -1 --format=%s t", "second"}, {"status --porcelain", ""}}},
		{"a rebase after a tag", []string{"echo c > c.txt && git add c.txt && git commit -qm second && git tag v1 && git branch keep", "git rebase -q other"}, [][2]string{
			{"log --format=%s", "second other first"}, {"tag", ""}, {"branch --format=%(refname:short)", "main other"}, {"status --porcelain", ""}}},
		{"a history of its own", []string{"git checkout -q --orphan own && git rm -rqf . && echo o > o.txt && git add o.txt && git commit -qm o"}, [][2]string{
			{"branch --show-current", "own"}, {"log --format=%s", "o first"}, {"ls-files", "o.txt"}, {"status --porcelain", ""}}},
		{"a tag on a commit that is not made", []string{"git commit -q --allow-empty -m empty && git tag v1"}, [][2]string{
			{"log --format=%s", "first"}, {"tag", ""}}},
		{"what was taken back", []string{"git tag v1 && git switch -q other", "git tag -d v1 && git switch -q main"}, [][2]string{
			{"branch --show-current", "main"}, {"tag", ""}, {"status --porcelain", ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := twoBranches(t)
			r := serve(t, dir)
			complete(r)
			names := map[string]string{"$main": e2e.GitIn(t, dir, "rev-parse", "main"), "$other": e2e.GitIn(t, dir, "rev-parse", "other")}
			refs := e2e.GitIn(t, dir, "for-each-ref") + e2e.GitIn(t, dir, "branch", "--show-current")
			for _, line := range c.lines {
				res := r.Tool("run_command", e2e.Object{"command": line})
				if !res.OK || res.Decision.Rule != "world.complete" {
					t.Fatalf("%s: %+v", line, res)
				}
				t.Log(res.Content)
			}
			if now := e2e.GitIn(t, dir, "for-each-ref") + e2e.GitIn(t, dir, "branch", "--show-current"); now != refs {
				t.Errorf("before it is accepted the repository has\n%s", now)
			}
			r.Accept(e2e.Object{})
			for _, look := range c.looks {
				want := look[1]
				for name, id := range names {
					want = strings.ReplaceAll(want, name, id)
				}
				if got := strings.Join(strings.Fields(e2e.GitIn(t, dir, strings.Fields(look[0])...)), " "); got != strings.TrimSpace(want) {
					t.Errorf("git %s says %q, want %q", look[0], got, want)
				}
			}
			if left := waiting(r); len(left.Commits)+len(left.Edits) > 0 {
				t.Errorf("there waits still %+v", left)
			}
			if asked := r.Asked(); len(asked) > 0 {
				t.Errorf("it asked: %q", asked)
			}
		})
	}
}

// TestReferencesOfABatch: in audit a tag waits beside the batch; a switch, which would take the
// batch to another branch, does not.
func TestReferencesOfABatch(t *testing.T) {
	dir := twoBranches(t)
	r := serve(t, dir)
	complete(r)
	r.Mode("audit")
	res := r.Tool("run_command", e2e.Object{"command": "git tag v1; git switch -q other; echo more >> a.txt; git commit -qam more; git tag v2"})
	for _, want := range []string{"New tag v1 on ", "as a batch is committed on the workspace's branch", "as it names a commit of the batch"} {
		if !strings.Contains(res.Content, want) {
			t.Errorf("no %q in %s", want, res.Content)
		}
	}
	r.Accept(e2e.Object{})
	if got := e2e.GitIn(t, dir, "log", "-1", "--format=%s %D"); !strings.HasPrefix(got, "more HEAD -> main") {
		t.Errorf("the repository has %s", got)
	}
	if got := strings.Fields(e2e.GitIn(t, dir, "tag")); len(got) != 1 || got[0] != "v1" {
		t.Errorf("tags: %q", got)
	}
}

// TestReferencesOneByOne: a tag is made with its commit when the files of that are accepted one
// by one, and what is rejected is not made.
func TestReferencesOneByOne(t *testing.T) {
	dir := twoBranches(t)
	r := serve(t, dir)
	complete(r)
	r.Tool("run_command", e2e.Object{"command": "echo two >> a.txt && git commit -qam second && git tag v1 && git tag v2 other"})
	if list := waiting(r); len(list.Commits) != 3 {
		t.Fatalf("there waits %+v", list.Commits)
	}
	r.Tool("run_command", e2e.Object{"command": "echo n > n.txt && git add n.txt && git commit -qm third && git tag v3"})
	e2e.Command[any](r, "sidecar.review.reject", e2e.Object{"uris": []string{"file://" + filepath.Join(dir, "n.txt")}})
	if list := waiting(r); len(list.Commits) != 3 {
		t.Errorf("after a commit was rejected there waits %+v", list.Commits)
	}
	r.Accept(e2e.Object{"uris": []string{"file://" + filepath.Join(dir, "a.txt")}})
	if got := strings.Fields(e2e.GitIn(t, dir, "tag")); len(got) != 1 || got[0] != "v1" {
		t.Errorf("tags after its file: %q", got)
	}
	if got := e2e.GitIn(t, dir, "log", "-1", "--format=%s", "v1"); strings.TrimSpace(got) != "second" {
		t.Errorf("v1 is on %q", got)
	}
	left := e2e.Command[struct{ Effects []effects.Effect }](r, "sidecar.effects.list", e2e.Object{}).Effects
	if len(left) != 3 || left[0].Kind != effects.Git || left[0].What != `New tag v1 on the commit "second"` || left[0].Decision != effects.Reviewed {
		t.Errorf("it left: %+v", left)
	}
	e2e.Command[any](r, "sidecar.review.reject", e2e.Object{})
	if list := waiting(r); len(list.Commits) != 0 || strings.Contains(e2e.GitIn(t, dir, "tag"), "v2") {
		t.Errorf("after rejecting there waits %+v", list.Commits)
	}
}

// TestReferencesAreShown: a person reads what else a merge counts as merged, and what a tag says.
func TestReferencesAreShown(t *testing.T) {
	dir := twoBranches(t)
	r := serve(t, dir)
	complete(r)
	r.Tool("run_command", e2e.Object{"command": "git tag -am 'hidden words' v1; echo two >> a.txt; git add -A; git commit -qm plain; git merge -q -s ours -m harmless other; true"})
	shown := map[string]review.QueuedCommit{}
	for _, c := range waiting(r).Commits {
		title, _, _ := strings.Cut(c.Message, "\n")
		shown[title] = c
	}
	main := strings.TrimSpace(e2e.GitIn(t, dir, "rev-parse", "main"))
	tag := shown["New tag v1 on "+main[:10]+": first"]
	if !strings.Contains(tag.Message, "hidden words") || tag.Ref != "tag" || !tag.ByFile || len(tag.Paths) != 0 {
		t.Errorf("the tag is shown as %+v of %+v", tag, shown)
	}
	if plain := shown["plain"]; plain.Ref != "" || plain.Merges != nil {
		t.Errorf("the commit is shown as %+v", plain)
	}
	if _, ok := shown["harmless"]; ok {
		t.Errorf("a merge without a file is shown as %+v", shown["harmless"])
	}
	out, _, _ := e2e.RunCLI(t, "", "review", "--root", dir, "list")
	if !strings.Contains(out, "New tag v1 on "+main[:10]+": first, of default, waits to be accepted") {
		t.Errorf("the command line shows\n%s", out)
	}
	r.Tool("run_command", e2e.Object{"command": "git reset -q --hard HEAD~1; git merge -q --no-ff --no-edit other"})
	other := strings.TrimSpace(e2e.GitIn(t, dir, "rev-parse", "other"))
	if out, _, _ := e2e.RunCLI(t, "", "review", "--root", dir, "list"); !strings.Contains(out, "which merges "+other) {
		t.Errorf("the command line shows\n%s", out)
	}
}

// TestReferencesMeet: what the repository has by now under a name is not replaced.
func TestReferencesMeet(t *testing.T) {
	dir := twoBranches(t)
	r := serve(t, dir)
	complete(r)
	r.Tool("run_command", e2e.Object{"command": "git branch side && git tag v1 && git switch -q other"})
	e2e.GitIn(t, dir, "branch", "side", "other")
	e2e.GitIn(t, dir, "tag", "v1", "other")
	e2e.Write(t, filepath.Join(dir, "c.txt"), "mine\n")
	e2e.GitIn(t, dir, "add", "c.txt")
	other := strings.TrimSpace(e2e.GitIn(t, dir, "rev-parse", "other"))
	r.Accept(e2e.Object{})
	for _, name := range []string{"side", "v1"} {
		if now := strings.TrimSpace(e2e.GitIn(t, dir, "rev-parse", name)); now != other {
			t.Errorf("%s was replaced by %s", name, now)
		}
	}
	if now := e2e.GitIn(t, dir, "branch", "--show-current"); strings.TrimSpace(now) != "main" {
		t.Errorf("it switched over something that is staged: %s", now)
	}
	for _, c := range waiting(r).Commits {
		if c.Error == "" {
			t.Errorf("%s waits without a reason", c.Message)
		}
	}
	e2e.GitIn(t, dir, "commit", "-qm", "mine")
	r.Accept(e2e.Object{}) // the branch that it switched from is another one, and no file of that is lost
	if status := e2e.GitIn(t, dir, "status", "--porcelain"); strings.Contains(status, "D ") {
		t.Errorf("git status: %s", status)
	}
}

// TestGitTools: the git tools do in a complete world what commands do there, and nobody is asked
// about what waits for review.
func TestGitTools(t *testing.T) {
	dir := twoBranches(t)
	r := serve(t, dir)
	complete(r)
	call := func(tool string, args e2e.Object, asked bool) e2e.Result {
		t.Helper()
		before := len(r.Asked())
		res := r.Tool(tool, args)
		if now := len(r.Asked()) > before; now != asked || res.OK == asked {
			t.Errorf("%s %v: asked %v: %+v", tool, args, now, res)
		}
		return res
	}
	call("git_branch", e2e.Object{"action": "create", "name": "side"}, false)
	call("git_branch", e2e.Object{"action": "switch", "name": "other"}, false)
	if res := r.Tool("run_command", e2e.Object{"command": "git branch --show-current; cat b.txt"}); !strings.Contains(res.Content, "other\nof other\n") {
		t.Errorf("commands are elsewhere: %s", res.Content)
	}
	call("write_file", e2e.Object{"path": "b.txt", "content": "more of other\n"}, false)
	call("git_stage", e2e.Object{"files": []string{"b.txt"}}, false)
	call("git_stage", e2e.Object{}, false)
	call("git_commit", e2e.Object{"message": "more"}, false)
	if res := r.Tool("git_branch", e2e.Object{"action": "switch", "name": "none"}); res.OK || !strings.Contains(res.Content, "none") {
		t.Errorf("a branch that there is not: %+v", res)
	}
	if got := e2e.GitIn(t, dir, "branch", "--show-current"); strings.TrimSpace(got) != "main" || strings.Contains(e2e.GitIn(t, dir, "branch"), "side") {
		t.Errorf("before it is accepted the repository is on %s", got)
	}
	r.Accept(e2e.Object{})
	if got := e2e.GitIn(t, dir, "log", "--format=%s %D"); !strings.HasPrefix(got, "more HEAD -> other\nother") || !strings.Contains(got, "side") {
		t.Errorf("the repository has %s", got)
	}
	if got := e2e.GitIn(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("git status: %s", got)
	}
	call("git_branch", e2e.Object{"action": "delete", "name": "side"}, false)
	if !strings.Contains(e2e.GitIn(t, dir, "branch"), "side") {
		t.Error("the branch is gone from the repository")
	}

	// Controls: what is the user's is asked about.
	e2e.Write(t, filepath.Join(dir, "mine.txt"), "mine\n")
	call("git_stage", e2e.Object{}, true)
	e2e.GitIn(t, dir, "add", "mine.txt")
	call("write_file", e2e.Object{"path": "b.txt", "content": "once more\n"}, false)
	call("git_commit", e2e.Object{"message": "mine, too"}, true)
	call("git_stash", e2e.Object{"action": "push"}, true)
	r.Mode("cautious")
	call("git_branch", e2e.Object{"action": "create", "name": "third"}, true)
}

// TestCommitToolAfterSwitch: what git_commit holds goes to the branch that the session is on, also
// when its file is accepted alone.
func TestCommitToolAfterSwitch(t *testing.T) {
	dir := twoBranches(t)
	r := serve(t, dir)
	complete(r)
	r.Tool("run_command", e2e.Object{"command": "git switch -qc side"})
	r.Tool("write_file", e2e.Object{"path": "a.txt", "content": "of side\n"})
	if res := r.Tool("git_commit", e2e.Object{"message": "second"}); !res.OK {
		t.Fatalf("%+v", res)
	}
	r.Accept(e2e.Object{"uris": []string{"file://" + filepath.Join(dir, "a.txt")}})
	if got := strings.Fields(e2e.GitIn(t, dir, "log", "-1", "--format=%s %D")); strings.Join(got, " ") != "second HEAD -> side" {
		t.Errorf("the repository has %q", got)
	}
	if got := strings.TrimSpace(e2e.GitIn(t, dir, "log", "-1", "--format=%s", "main")); got != "first" || len(waiting(r).Commits) > 0 {
		t.Errorf("main has %s, there waits %+v", got, waiting(r).Commits)
	}
}
