package git

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

var everything = flag.Bool("everything", false, "try all conditions without a git command, too")

// conditions are what a repository may be like. Each has a change of a file
// that is tracked, and is made twice, the same both times: for the tools and
// for the git command.
var conditions = []struct {
	name  string
	alone bool // it is always tried without a git command too
	make  func(t *testing.T, r *gittest.Repo) *gittest.Repo
}{
	{"plain", true, func(_ *testing.T, r *gittest.Repo) *gittest.Repo {
		r.Write("a.txt", "one\n2\n", "new", "n\n")
		return r
	}},
	{"renames", false, func(_ *testing.T, r *gittest.Repo) *gittest.Repo {
		r.Git("mv", "moved.txt", "d/now.txt")
		r.Write("d/now.txt", "1\n2\n3\n4\nfive\n", "a.txt", "x\n")
		r.Git("add", "d")
		return r
	}},
	{"a submodule", false, func(_ *testing.T, r *gittest.Repo) *gittest.Repo {
		r.Git("init", "-q", "-b", "main", "../sub")
		r.At("../sub").Commit("first", "s", "1\n")
		r.Git("submodule", "--quiet", "add", "../sub", "mod")
		r.Git("commit", "-qm", "submodule")
		r.At("mod").Commit("inside", "s", "2\n")
		r.Write("a.txt", "x\n")
		return r
	}},
	{"links", false, func(t *testing.T, r *gittest.Repo) *gittest.Repo {
		link := func(target, name string) {
			if err := errors.Join(ownfile.RemoveAll(r.Path(name)), ownfile.Symlink(target, r.Path(name))); err != nil {
				t.Fatal(err)
			}
		}
		link("a.txt", "link")
		link("d", "todir")
		r.Commit("links")
		link("nowhere", "link")
		link("../../outside", "a.txt")
		if err := ownfile.Remove(r.Path("todir")); err != nil {
			t.Fatal(err)
		}
		r.Write("todir/x", "a directory now\n")
		return r
	}},
	{"modes", false, func(t *testing.T, r *gittest.Repo) *gittest.Repo {
		r.Git("update-index", "--chmod=+x", "d/b.txt")
		r.Git("commit", "-qm", "mode")
		if err := errors.Join(ownfile.Chmod(r.Path("a.txt"), 0o755), ownfile.Chmod(r.Path("d/b.txt"), 0o644)); err != nil {
			t.Fatal(err)
		}
		return r
	}},
	{"line ends", true, func(_ *testing.T, r *gittest.Repo) *gittest.Repo {
		r.Commit("attributes", ".gitattributes", "*.txt text eol=crlf\n*.sh text eol=lf\n*.bin -text\n", "x.txt", "1\r\n2\r\n", "s.sh", "1\n", "b.bin", "1\r\n")
		r.Write("x.txt", "1\r\nzwei\r\n", "new.txt", "1\r\n", "s.sh", "2\n", "b.bin", "1\n")
		return r
	}},
	{"no commit", false, func(t *testing.T, r *gittest.Repo) *gittest.Repo {
		if err := ownfile.RemoveAll(r.Path(".git")); err != nil {
			t.Fatal(err)
		}
		r.Git("init", "-q", "-b", "main")
		r.Git("add", "d")
		r.Write("d/b.txt", "x\n")
		return r
	}},
	{"detached", false, func(_ *testing.T, r *gittest.Repo) *gittest.Repo {
		r.Commit("second", "a.txt", "2\n")
		r.Git("checkout", "-q", "--detach", "HEAD~1")
		r.Write("d/c.txt", "x\n")
		return r
	}},
	{"conflicts", false, func(t *testing.T, r *gittest.Repo) *gittest.Repo {
		r.Git("checkout", "-qb", "side")
		r.Git("rm", "-q", "d/b.txt")
		r.Commit("side", "a.txt", "side\n", "both", "side\n", "fine", "1\n")
		r.Git("checkout", "-q", "main")
		r.Commit("main", "a.txt", "main\n", "both", "main\n", "d/b.txt", "main\n")
		if r.Try("merge", "-q", "side") {
			t.Fatal("there is no conflict")
		}
		return r
	}},
	{"linked", false, func(_ *testing.T, r *gittest.Repo) *gittest.Repo {
		r.Git("worktree", "add", "-q", "../linked")
		linked := r.At("../linked")
		linked.Write("a.txt", "x\n", "new", "n\n")
		r.Write("a.txt", "the other tree's\n")
		return linked
	}},
	{"names", true, func(_ *testing.T, r *gittest.Repo) *gittest.Repo {
		odd := []string{"-dash", "sp ace/\"quote\"", "new\nline", "tab\t", "日本/語", "not\xffutf8", `back\slash`, " lead", "trail ", "a:b", "*", ":(top)x", "--all"}
		for _, name := range odd {
			r.Write(name, "1\n2\n3\n"+name)
		}
		r.Commit("odd")
		for i, name := range odd {
			switch i % 3 {
			case 0:
				r.Write(name, "changed\n")
			case 1:
				r.Git("mv", "--", name, name+" moved")
			}
		}
		r.Write("-new", "1\n", "n\new", "2\n", "n\xffew", "3\n")
		return r
	}},
}

// steps are what is done, by a tool and by the git command.
var steps = []struct {
	tool, args string
	git        []string
}{
	{"git_push", `{"remote":"other"}`, []string{"push", "-q", "other", "HEAD"}},
	{"git_stash", `{"action":"push"}`, []string{"stash", "push", "-q"}},
	{"git_stash", `{"action":"pop"}`, []string{"stash", "pop", "-q"}},
	{"git_branch", `{"action":"create","name":"topic"}`, []string{"branch", "topic"}},
	{"git_branch", `{"action":"switch","name":"topic"}`, []string{"switch", "-q", "topic"}},
	{"git_stage", `{}`, []string{"add", "-A"}},
	{"git_commit", `{"message":"a change"}`, []string{"commit", "-qm", "a change"}},
	{"git_push", `{"remote":"origin","set_upstream":true}`, []string{"push", "-q", "-u", "origin", "HEAD"}},
	{"", "", nil}, // somebody else pushes
	{"git_pull", `{}`, []string{"pull", "-q"}},
	{"git_branch", `{"action":"switch","name":"main"}`, []string{"switch", "-q", "main"}},
	{"git_branch", `{"action":"delete","name":"topic"}`, []string{"branch", "-q", "-d", "topic"}},
}

// side is one of the two repositories.
type side struct {
	*gittest.Repo
	top *gittest.Repo // where it and what it needs are
}

func newSide(t *testing.T, make func(*testing.T, *gittest.Repo) *gittest.Repo, overHTTP bool) side {
	t.Helper()
	first := sample(t)
	top := first.At("..")
	s := side{make(t, first), top}
	urls := []string{"../up.git", gittest.Serve(t, top.Dir, func(string, string) bool { return true }) + "/up.git"}
	if overHTTP {
		slices.Reverse(urls)
	}
	first.Git("init", "-q", "--bare", "-b", "main", "../up.git")
	top.At("up.git").Git("config", "http.receivepack", "true")
	s.Git("remote", "add", "origin", urls[0])
	s.Git("remote", "add", "other", urls[1])
	return s
}

// state is all of a side that a tool can change.
func (s side) state(t *testing.T, tool string) string {
	t.Helper()
	out := s.Git("ls-files", "--stage", "-z") + s.Git("for-each-ref", "--format=%(HEAD) %(refname) %(tree) %(subject)")
	if strings.Contains(tool, "push") {
		out += s.top.At("up.git").Git("for-each-ref", "--format=%(refname) %(tree) %(subject)")
	}
	err := filepath.WalkDir(s.Dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == ".git" && e.IsDir():
			return filepath.SkipDir
		case e.Name() == ".git", e.IsDir():
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text, _ := os.Readlink(path)
		if text == "" {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		out += fmt.Sprintf("\n%q %v %q", path[len(s.Dir):], info.Mode(), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// peer commits and pushes to the branch that s is on, if the remote has it.
func (s side) peer(branch string) {
	if !s.top.At("up.git").Try("rev-parse", "-q", "--verify", "refs/heads/"+branch) {
		return
	}
	peer := s.top.At("peer")
	s.top.Git("clone", "-q", "-b", branch, "up.git", peer.Dir)
	peer.Commit("theirs", "-theirs", "1\n", "d/their\nline", "2\n")
	peer.Git("push", "-q")
}

// TestBesideGit does with the tools what it does with the git command in a
// repository that is the same, in all conditions, with and without a git
// command for the tools: both succeed and have done the same, or both refuse.
// Without a git command a tool may say that it needs one, and changes nothing.
func TestBesideGit(t *testing.T) {
	slow.Test(t)
	for i, c := range conditions {
		for _, program := range []string{"", gitcmd.NoGit} {
			if program != "" && !c.alone && !*everything {
				continue
			}
			t.Run(c.name+map[string]string{"": "", gitcmd.NoGit: ", no git"}[program], func(t *testing.T) {
				theirs := newSide(t, c.make, i%2 == 0)
				ours := newSide(t, c.make, i%2 == 0)
				list := Tools(deps(gitrepo.Options{Git: program}))
				files := view(t, ours.Dir)
				did := 0
				// done runs a tool and reports whether there was what it needs.
				done := func(tool, args string) (tools.Result, error, bool) {
					res, err := run(t, list, files, tool, args)
					if program == gitcmd.NoGit && err != nil && tools.AsError(err).Code == tools.Unavailable && strings.Contains(err.Error(), "git command") {
						return res, err, false
					}
					did++
					return res, err, true
				}
				look := func() {
					t.Helper()
					reads(t, ours.Repo, done)
				}
				look()
				for _, s := range steps {
					if s.tool == "" {
						branch := strings.TrimSpace(ours.Git("branch", "--show-current"))
						ours.peer(branch)
						theirs.peer(branch)
						continue
					}
					_, err, can := done(s.tool, s.args)
					if !can {
						if d := gocmp.Diff(theirs.state(t, s.tool), ours.state(t, s.tool)); d != "" {
							t.Errorf("%s %s refused, and yet -before +after:\n%s", s.tool, s.args, d)
						}
						if ours.Try(s.git...) != theirs.Try(s.git...) {
							t.Fatalf("git %q: the two are not the same", s.git)
						}
						continue
					}
					if ok := theirs.Try(s.git...); ok != (err == nil) {
						t.Fatalf("%s %s: %v; git %q succeeded: %v", s.tool, s.args, err, s.git, ok)
					} else if !ok && c.name == "plain" {
						t.Errorf("the control: %s %s: %v", s.tool, s.args, err)
					}
					if d := gocmp.Diff(theirs.state(t, s.tool), ours.state(t, s.tool)); d != "" {
						t.Fatalf("after %s %s -git +ours:\n%s", s.tool, s.args, d)
					}
					if s.tool == "git_commit" {
						look()
					}
				}
				if all := len(steps) - 1 + 14; program == "" && did != all || did < 5 {
					t.Errorf("only %d calls were answered", did)
				}
			})
		}
	}
}

// reads compares what the tools that read say with what git prints.
func reads(t *testing.T, r *gittest.Repo, done func(tool, args string) (tools.Result, error, bool)) {
	t.Helper()
	born := r.Try("rev-parse", "-q", "--verify", "HEAD")
	if res, err, can := done("git_status", `{}`); err != nil && can {
		t.Error(err)
	} else if can {
		want := strings.Split(strings.TrimSuffix(r.Git("status", "--porcelain", "-z"), "\x00"), "\x00")
		for i := 0; i+1 < len(want); i++ {
			if strings.HasPrefix(want[i], "R") { // the old name follows
				want[i] += " from " + want[i+1]
				want = slices.Delete(want, i+1, i+2)
			}
		}
		got := []string{}
		info := res.Structured.(StatusInfo)
		for _, f := range info.Files {
			line := cmp.Or(f.Staged, " ") + cmp.Or(f.Changed, " ") + " " + f.Path
			if f.From != "" {
				line += " from " + f.From
			}
			got = append(got, line)
		}
		for _, name := range info.Untracked {
			got = append(got, "?? "+name)
		}
		if len(got) == 0 {
			got = append(got, "")
		}
		slices.Sort(want)
		slices.Sort(got)
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("status -git +ours:\n%s", d)
		}
		head := ""
		if born {
			head = strings.TrimSpace(r.Git("rev-parse", "HEAD"))
		}
		if branch := strings.TrimSpace(r.Git("branch", "--show-current")); info.Branch != branch || info.Commit != head {
			t.Errorf("status is on %q at %q, git on %q at %q", info.Branch, info.Commit, branch, head)
		}
	}
	for _, c := range []struct {
		args string
		git  []string
	}{
		{`{}`, nil}, {`{"staged":true}`, []string{"--cached"}}, {`{"ref1":"HEAD"}`, []string{"HEAD"}}, {`{"ref1":"HEAD~1","ref2":"HEAD"}`, []string{"HEAD~1", "HEAD"}},
	} {
		args := append([]string{"-c", "core.quotePath=false", "diff", "--abbrev=10"}, c.git...)
		res, err, can := done("git_diff", c.args)
		if !can {
			continue
		}
		if hasHead := born && (len(c.git) < 2 || r.Try("rev-parse", "-q", "--verify", "HEAD~1")); c.args != `{}` && !strings.Contains(c.args, "staged") && !hasHead {
			if err == nil {
				t.Errorf("diff %s without such a commit: %s", c.args, res.Text)
			}
			continue
		}
		if err != nil {
			t.Errorf("diff %s: %v", c.args, err)
			continue
		}
		info := res.Structured.(DiffInfo)
		if len(info.Conflict) > 0 { // whose files are named and not shown
			args = append(args, "--", ".")
			for _, name := range info.Conflict {
				args = append(args, ":(exclude,literal)"+name)
			}
			if want := strings.Fields(r.Git("diff", "--name-only", "--diff-filter=U")); !slices.Equal(want, info.Conflict) {
				t.Errorf("diff %s: in conflict %q, by git %q", c.args, info.Conflict, want)
			}
		}
		_, patch, _ := strings.Cut(res.Text, "\n\n")
		if d := gocmp.Diff(r.Git(args...), patch); d != "" {
			t.Errorf("diff %s -git +ours:\n%s", c.args, d)
		}
	}
	res, err, can := done("git_log", `{}`)
	if can && (err == nil) != born {
		t.Errorf("log: %v", err)
	} else if can && err == nil {
		want := strings.Split(strings.TrimSpace(strings.ReplaceAll(r.Git("log", "-10", "--format=%H %P %an %aI %s"), "+00:00 ", "Z ")), "\n")
		var got []string
		for _, c := range res.Structured.(LogInfo).Commits {
			got = append(got, strings.Join([]string{c.Hash, strings.Join(c.Parents, " "), c.Author, c.Date, c.Subject}, " "))
		}
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("log -git +ours:\n%s", d)
		}
	}
	res, err, can = done("git_branch", `{"action":"list"}`)
	if can && err != nil {
		t.Errorf("branches: %v", err)
	} else if can {
		want := strings.TrimSpace(r.Git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"))
		var got []string
		for _, b := range res.Structured.(BranchInfo).Branches {
			got = append(got, b.Name)
		}
		slices.Sort(got)
		if d := gocmp.Diff(want, strings.Join(got, "\n")); d != "" {
			t.Errorf("branches -git +ours:\n%s", d)
		}
	}
}
