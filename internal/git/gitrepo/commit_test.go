package gitrepo

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

func changedFiles(list []CommittedFile) string {
	var out []string
	for _, f := range list {
		out = append(out, f.Change+" "+f.Path)
	}
	return strings.Join(out, ", ")
}

func hook(name, body string) string {
	return "cat > .git/hooks/" + name + " <<'EOH'\n#!/bin/sh\n" + body + "\nEOH\nchmod +x .git/hooks/" + name + "\n"
}

func TestCommit(t *testing.T) {
	const staged = "echo x >> a.txt; git add a.txt\n"
	for _, c := range []struct {
		name, setup string
		message     string
		below       string
		trusted     bool
		files       string
		note, fails string // parts of the note, of the error
		kind        gitcmd.Kind
		check, want string // a line of shell and its output
	}{
		{name: "what is staged", setup: staged + "echo y >> b.txt", files: "modified a.txt", check: "git status --porcelain", want: " M b.txt"},
		{name: "nothing", setup: "echo y >> b.txt", fails: "nothing is staged", kind: gitcmd.Conflicted},
		{name: "intended only", setup: "echo n > n; git add -N n", fails: "nothing is staged", kind: gitcmd.Conflicted},
		{name: "an empty message", setup: staged, message: " \n", fails: "empty", kind: gitcmd.Invalid},
		{name: "a message like an option", setup: staged, message: "--amend", files: "modified a.txt", check: "git log -1 --format=%s", want: "--amend"},
		{name: "a message like a comment", setup: staged + "git config --global commit.cleanup strip", message: "#1 is fixed", files: "modified a.txt", check: "git log -1 --format=%s", want: "#1 is fixed"},
		{name: "trailers", setup: staged, message: "s\n\nb\n\nSigned-off-by: A <a@b.test>", files: "modified a.txt", check: "git log -1 '--format=%(trailers)'", want: "Signed-off-by: A <a@b.test>\nX-AI-Model: one\nX-AI-Model: two\n"},
		{name: "the first one", setup: "rm -rf .git; git init -q; git add a.txt", files: "added a.txt"},
		{name: "the first one, of nothing", setup: "rm -rf .git; git init -q", fails: "nothing is staged", kind: gitcmd.Conflicted},
		{name: "a detached HEAD", setup: "git checkout -q --detach; " + staged, files: "modified a.txt", check: "git rev-parse master; git rev-list --count HEAD", want: "*\n2"},
		{name: "a merge", setup: "git switch -q -c o; echo o > a.txt; git commit -qam o; git switch -q master; echo m > a.txt; git commit -qam m; git merge -q o || true; echo r > a.txt; git add a.txt", files: "modified a.txt", check: "git rev-list --count --merges HEAD; ls .git/MERGE_HEAD 2>&1 | grep -c No", want: "1\n1"},
		{name: "a merge that changes nothing", setup: "git switch -q -c o; echo o > a.txt; git commit -qam o; git switch -q master; git merge -q -s ours --no-commit o", files: "", check: "git rev-list --count --merges HEAD", want: "1"},
		{name: "a conflict", setup: "git switch -q -c o; echo o > a.txt; git commit -qam o; git switch -q master; echo m > a.txt; git commit -qam m; git merge -q o || true", fails: "in conflict: a.txt", kind: gitcmd.Conflicted},
		{name: "outside the workspace", setup: "mkdir w; echo 1 > w/1; git add w; " + staged, below: "w", fails: "outside of it are staged: a.txt", kind: gitcmd.Outside},
		{name: "inside a smaller workspace", setup: "mkdir w; echo 1 > w/1; git add w", below: "w", files: "added w/1"},
		{name: "a hook, not trusted", setup: staged + hook("pre-commit", "exit 1") + hook("commit-msg", "exit 1"), files: "modified a.txt", note: "the hooks pre-commit, commit-msg did not run"},
		{name: "a hook that refuses", trusted: true, setup: staged + hook("pre-commit", "echo the reason; exit 1"), fails: "so it was not made: the hook pre-commit failed; it says: the reason"},
		{name: "a hook that adds", trusted: true, setup: staged + hook("commit-msg", "echo 'Change-Id: 5' >> \"$1\"") + hook("pre-commit", "echo h > h; git add h"), files: "modified a.txt, added h", check: "git log -1 '--format=%(trailers:key=Change-Id)'", want: "Change-Id: 5\n"},
		{name: "nobody's name", setup: staged + "git config --global --remove-section user", fails: "user.name and user.email", kind: gitcmd.Unavailable},
		{name: "signed by the user's program", setup: staged + signer + "git config --global commit.gpgsign true; git config --global gpg.program \"$PWD/../bin/signer\"", files: "modified a.txt", check: "git cat-file commit HEAD | grep -c 'BEGIN PGP'", want: "1"},
		{name: "signed by the repository's program", setup: staged + signer + "git config commit.gpgsign true; git config gpg.program \"$PWD/../bin/signer\"", files: "modified a.txt", note: "the commit is not signed", check: "git cat-file commit HEAD | grep -c 'BEGIN PGP'; true", want: "0"},
		{name: "signed by the repository's program, trusted", trusted: true, setup: staged + signer + "git config commit.gpgsign true; git config gpg.program \"$PWD/../bin/signer\"", files: "modified a.txt", note: "the commit is not signed"},
		{name: "a signature that fails", setup: staged + "git config --global commit.gpgsign true; git config --global gpg.program false", fails: "could not be signed"},
		{name: "a lock", setup: staged + "touch .git/index.lock", fails: "locked by another git command", kind: gitcmd.Conflicted},
		{name: "a lock of the branch", setup: staged + "touch .git/refs/heads/master.lock", fails: "locked by another git command", kind: gitcmd.Conflicted},
		{name: "a damaged index", setup: staged + "printf garbage-garbage > .git/index", fails: "is damaged"},
		{name: "a missing object", setup: staged + "o=$(git rev-parse :a.txt); rm -f .git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-)", fails: "damaged or missing"},
		{name: "a linked working tree", setup: "mv ../work ../main; git -C ../main worktree add -q ../work; cd ../work; " + staged, files: "modified a.txt", check: "git -C ../main rev-parse work; git -C ../main status --porcelain", want: "*"},
		{name: "a message with a secret way of writing", setup: staged, message: "s\x1b[31m", files: "modified a.txt", check: "git log -1 --format=%s | wc -c", want: "7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.sh(c.setup)
			w.Repo, _ = Open(w.path(""), Options{Programs: anywhere.Programs(), Trusted: func() bool { return c.trusted }})
			before, _ := w.try("git rev-parse HEAD")
			if c.message == "" {
				c.message = "a change"
			}
			res, err := w.Commit(t.Context(), c.message, []string{"one", "two"}, c.below, plainHooks{t})
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || failureKind(err) != c.kind {
					t.Fatalf("got %v (kind %d), want %q", err, failureKind(err), c.fails)
				}
				if after, _ := w.try("git rev-parse HEAD"); after != before {
					t.Error("a commit was made")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			w.same("git rev-parse HEAD", res.Hash)
			if got := changedFiles(res.Files); got != c.files {
				t.Errorf("changed %q", got)
			}
			notes := strings.Join(res.Notes, "; ")
			if c.note == "" && notes != "" || !strings.Contains(notes, c.note) {
				t.Errorf("notes %q", notes)
			}
			if got := w.sh(c.check + "\ntrue"); c.check != "" && !like(c.want, got) {
				t.Errorf("%s: got %q, want %q", c.check, got, c.want)
			}
			w.sound()
		})
	}
}

// signer writes a program that signs as gpg does, for git.
const signer = `cat > ../bin/signer <<'EOS'
#!/bin/sh
cat > /dev/null
echo "[GNUPG:] SIG_CREATED D 1 8 00 1 X" >&2
echo "-----BEGIN PGP SIGNATURE-----"
echo
echo "aGFsbG8="
echo "-----END PGP SIGNATURE-----"
EOS
chmod +x ../bin/signer
`

// like compares lines; the line * is any.
func like(want, got string) bool {
	w, g := strings.Split(strings.TrimSuffix(want, "\n"), "\n"), strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(w) != len(g) {
		return want == "*"
	}
	for i := range w {
		if w[i] != "*" && w[i] != g[i] {
			return false
		}
	}
	return true
}

func TestCommitPaths(t *testing.T) {
	slow.Test(t)
	text := func(path, data string) PathState { return PathState{Path: path, Data: []byte(data), Exists: true} }
	now := func(path string) PathState { return PathState{Path: path, Current: true, Exists: true} }
	gone := func(path string) PathState { return PathState{Path: path} }
	for _, c := range []struct {
		name, setup string
		paths       []PathState
		trusted     bool
		files       string
		note, fails string
		check, want string
	}{
		{name: "the working tree's text", setup: "echo x >> a.txt; echo y >> b.txt", paths: []PathState{now("a.txt")}, files: "modified a.txt", check: "git status --porcelain", want: " M b.txt"},
		{name: "an earlier text", setup: "echo final > a.txt", paths: []PathState{text("a.txt", "between\n")}, files: "modified a.txt", check: "git show HEAD:a.txt; git status --porcelain; cat a.txt", want: "between\n M a.txt\nfinal"},
		{name: "new files", setup: "mkdir d; echo 1 > d/1; echo 2 > d/2", paths: []PathState{now("d/1"), text("d/3", "three\n")}, files: "added d/1, added d/3", check: "git status --porcelain -uall", want: " D d/3\n?? d/2"},
		{name: "deletions", setup: "rm a.txt", paths: []PathState{now("a.txt"), gone("b.txt")}, files: "deleted a.txt, deleted b.txt", check: "git status --porcelain", want: "?? b.txt"},
		{name: "what else is staged stays", setup: "echo x >> a.txt; echo y >> b.txt; git add b.txt; echo z >> b.txt; echo n > n; git add n", paths: []PathState{now("a.txt")}, files: "modified a.txt", check: "git status --porcelain; git show :b.txt", want: "MM b.txt\nA  n\ntwo\ny"},
		{name: "a deletion that is staged stays", setup: "echo x >> a.txt; git rm -q b.txt", paths: []PathState{now("a.txt")}, files: "modified a.txt", check: "git status --porcelain", want: "D  b.txt"},
		{name: "something else of the path is staged", setup: "echo staged > a.txt; git add a.txt; echo final > a.txt", paths: []PathState{text("a.txt", "between\n")}, files: "modified a.txt", check: "git show :a.txt HEAD:a.txt; git status --porcelain", want: "staged\nbetween\nMM a.txt"},
		{name: "the mode stays", setup: "chmod +x a.txt; git commit -qam x; echo x >> a.txt", paths: []PathState{text("a.txt", "y\n"), {Path: "n.sh", Data: []byte("n"), Exists: true, Mode: fs.FileMode(0o755)}}, files: "modified a.txt, added n.sh", check: "git ls-tree HEAD | cut -c1-6", want: "100755\n100644\n100755"},
		{name: "line endings", setup: "echo '*.txt text' > .gitattributes; git add .gitattributes; git commit -qm att; printf 'x\\r\\n' > b.txt", paths: []PathState{text("a.txt", "one\r\ntwo\r\n"), now("b.txt")}, files: "modified a.txt, modified b.txt", check: "git show HEAD:a.txt HEAD:b.txt | od -c | grep -c '\\\\r'; true", want: "0"},
		{name: "a filter of the user", setup: "git config --global filter.x.clean 'tr a-z A-Z'; echo '*.txt filter=x' > .git/info/attributes", paths: []PathState{text("a.txt", "one!\n")}, files: "modified a.txt", check: "git show HEAD:a.txt", want: "ONE!"},
		{name: "a filter of the repository", setup: "git config filter.x.clean 'tr a-z A-Z'; echo '*.txt filter=x' > .git/info/attributes", paths: []PathState{text("a.txt", "one!\n")}, fails: "filter x"},
		{name: "a filter of the repository, current", setup: "git config filter.x.clean 'tr a-z A-Z'; echo '*.txt filter=x' > .git/info/attributes; echo x >> a.txt", paths: []PathState{now("a.txt")}, fails: "filter x"},
		{name: "a filter of the repository, trusted", trusted: true, setup: "git config filter.x.clean 'tr a-z A-Z'; echo '*.txt filter=x' > .git/info/attributes", paths: []PathState{text("a.txt", "one!\n")}, fails: "goes through the filter x"},
		{name: "as it is", paths: []PathState{now("a.txt")}, fails: "nothing to commit"},
		{name: "no paths", fails: "names no files"},
		{name: "a link", setup: "ln -s a.txt l; git add l; git commit -qm l", paths: []PathState{text("l", "text")}, fails: "a link or a submodule"},
		{name: "in a merge", setup: "git switch -q -c o; echo o > o; git add o; git commit -qm o; git switch -q master; git merge -q --no-ff --no-commit o; echo x >> a.txt", paths: []PathState{now("a.txt")}, fails: "a merge is in progress"},
		{name: "a lock", setup: "echo x >> a.txt; touch .git/index.lock", paths: []PathState{now("a.txt")}, fails: "locked"},
		{name: "the first commit", setup: "rm -rf .git; git init -q; git add b.txt", paths: []PathState{now("a.txt")}, files: "added a.txt", check: "git status --porcelain", want: "A  b.txt"},
		{name: "no index at all", setup: "rm -rf .git; git init -q", paths: []PathState{now("a.txt")}, files: "added a.txt", check: "git status --porcelain", want: "?? b.txt"},
		{name: "a split index", setup: "git update-index --split-index; echo x >> a.txt; echo y >> b.txt; git add b.txt", paths: []PathState{now("a.txt")}, files: "modified a.txt", check: "git status --porcelain", want: "M  b.txt"},
		{name: "a file for a directory", setup: "mkdir d; echo 1 > d/1; git add d; git commit -qm d; rm -r d; echo f > d", paths: []PathState{now("d"), gone("d/1")}, files: "added d, deleted d/1", check: "git status --porcelain", want: ""},
		{name: "odd names", setup: "echo 1 > '*'; echo x >> a.txt; echo 2 > ./-x", paths: []PathState{now("*"), now("-x")}, files: "added *, added -x", check: "git status --porcelain", want: " M a.txt"},
		{name: "a hook, which is run for nobody", trusted: true, setup: "echo x >> a.txt; echo y >> b.txt; git add b.txt\n" + hook("pre-commit", "echo h > h; git add h"), paths: []PathState{now("a.txt")}, files: "modified a.txt", note: "the hook pre-commit did not run", check: "git show :b.txt | tail -1", want: "y"},
		{name: "racy", setup: "echo one > a.txt; git add a.txt; echo two > a.txt; touch -r .git/index a.txt", paths: []PathState{now("a.txt")}, files: "modified a.txt", check: "git show HEAD:a.txt", want: "two"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.sh(c.setup + "\ntrue")
			w.Repo, _ = Open(w.path(""), Options{Programs: anywhere.Programs(), Trusted: func() bool { return c.trusted }})
			before, err := w.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			status := w.sh("git status --porcelain")
			req := CommitRequest{Message: "the subject\n\nbody", Models: []string{"one"}, Paths: c.paths}
			if _, ok, err := w.CommitMade(t.Context(), before, req); ok || err != nil {
				t.Errorf("made before: %v, %v", ok, err)
			}
			res, err := w.CommitPaths(t.Context(), req)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("got %v, want %q", err, c.fails)
				}
				if after, _ := w.Head(t.Context()); after != before || w.sh("git status --porcelain") != status && c.check == "" {
					t.Error("something was changed")
				}
			} else {
				if err != nil {
					t.Fatal(err)
				}
				if got := changedFiles(res.Files); got != c.files {
					t.Errorf("changed %q", got)
				}
				w.same("git log -1 --format=%H%n%s", res.Hash+"\nthe subject")
				w.same("git log -1 '--format=%(trailers)'", "X-AI-Model: one\n")
				hash, ok, err := w.CommitMade(t.Context(), before, req)
				if hash != res.Hash || (!ok && !strings.Contains(c.name, "hook")) || err != nil {
					if !strings.Contains(c.name, "hook") {
						t.Errorf("made: %q, %v, %v", hash, ok, err)
					}
				}
				if _, ok, _ := w.CommitMade(t.Context(), res.Hash, req); ok {
					t.Error("made twice")
				}
				if notes := strings.Join(res.Notes, "; "); c.note == "" && notes != "" || !strings.Contains(notes, c.note) {
					t.Errorf("notes %q", notes)
				}
			}
			if got := w.sh(c.check + "\ntrue"); c.check != "" && !like(c.want, got) {
				t.Errorf("%s\n got %q\nwant %q", c.check, got, c.want)
			}
			ownfile.Remove(filepath.Join(w.GitDir, "index.lock"))
			w.sound()
		})
	}
}

// TestCommitMadeMendsTheIndex: after a crash between the commit and the index,
// the index has the paths as they were before.
func TestCommitMadeMendsTheIndex(t *testing.T) {
	w := newWorld(t, Options{})
	before, err := w.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.sh("echo x >> a.txt; echo y >> b.txt; cp .git/index ../old; git commit -qm 'the subject' a.txt; cp ../old .git/index; git add b.txt")
	w.same("git status --porcelain", "MM a.txt\nM  b.txt")
	req := CommitRequest{Message: "the subject", Paths: []PathState{{Path: "a.txt", Current: true}}}
	for _, other := range []CommitRequest{{Message: "another", Paths: req.Paths}, {Message: "the subject", Paths: []PathState{{Path: "b.txt"}}}} {
		if _, ok, err := w.CommitMade(t.Context(), before, other); ok || err != nil {
			t.Errorf("%+v: %v, %v", other, ok, err)
		}
	}
	hash, ok, err := w.CommitMade(t.Context(), before, req)
	if !ok || err != nil || hash != w.sh("git rev-parse HEAD") {
		t.Errorf("got %q, %v, %v", hash, ok, err)
	}
	w.same("git status --porcelain", "M  b.txt")
	if _, _, err := w.CommitMade(t.Context(), before, CommitRequest{}); failureKind(err) != gitcmd.Invalid {
		t.Errorf("without a message: %v", err)
	}
}

func TestHead(t *testing.T) {
	w := newWorld(t, Options{})
	if got, err := w.Head(t.Context()); err != nil || got != w.sh("git rev-parse HEAD") {
		t.Errorf("got %q, %v", got, err)
	}
	w.sh("git switch -q --orphan empty")
	if got, err := w.Head(t.Context()); err != nil || got != "" {
		t.Errorf("without a commit: %q, %v", got, err)
	}
	w.sh("echo nonsense > .git/HEAD")
	if _, err := w.Head(t.Context()); err == nil || errors.Is(err, gitcmd.ErrNoGit) {
		t.Errorf("a damaged HEAD: %v", err)
	}
}
