package gitrepo

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// sound fails when git fsck finds anything wrong.
func (w *world) sound() {
	w.t.Helper()
	if out, err := w.try("git fsck --strict --no-dangling"); err != nil || strings.TrimSpace(strings.ReplaceAll(out, "notice: HEAD points to an unborn branch (master)", "")) != "" && !strings.HasPrefix(out, "notice") {
		w.t.Errorf("git fsck: %v\n%s", err, out)
	}
}

// same compares what git says with what is wanted.
func (w *world) same(line, want string) {
	w.t.Helper()
	if got := w.sh(line); got != want {
		w.t.Errorf("%s\n got %q\nwant %q", line, got, want)
	}
}

func words(list []StagedFile) string {
	var out []string
	for _, f := range list {
		out = append(out, f.Change+" "+f.Path)
	}
	return strings.Join(out, ", ")
}

func namesLeft(list []LeftOut) string {
	var out []string
	for _, l := range list {
		out = append(out, l.Path)
	}
	return strings.Join(out, ", ")
}

// stageCases are what is staged, and what git add would do to have the same
// index.
var stageCases = []struct {
	name, setup, like string
	req               StageRequest
	files, left       string
	fails             gitcmd.Kind
	trusted           bool
}{
	{name: "everything", setup: "echo x >> a.txt; rm b.txt; echo n > new.txt; mkdir d; echo n > d/e.txt", like: "git add -A", files: "modified a.txt, deleted b.txt, added d/e.txt, added new.txt"},
	{name: "a file", setup: "echo x >> a.txt; echo y >> b.txt", req: StageRequest{Paths: []string{"a.txt"}}, like: "git add a.txt", files: "modified a.txt"},
	{name: "a deleted file", setup: "rm a.txt", req: StageRequest{Paths: []string{"a.txt"}}, like: "git add a.txt", files: "deleted a.txt"},
	{name: "a directory", setup: "mkdir d; echo 1 > d/1; echo 2 > d/2; echo x >> a.txt", req: StageRequest{Paths: []string{"d"}}, like: "git add d", files: "added d/1, added d/2"},
	{name: "below a directory", setup: "mkdir d; echo 1 > d/1; echo x >> a.txt", req: StageRequest{Below: "d"}, like: "git add d", files: "added d/1"},
	{name: "unchanged", req: StageRequest{Paths: []string{"a.txt"}}, like: "true"},
	{name: "missing", req: StageRequest{Paths: []string{"nope"}}, like: "true", fails: gitcmd.NotFound},
	{name: "one of two is missing", setup: "echo x >> a.txt", req: StageRequest{Paths: []string{"a.txt", "nope"}}, like: "true", fails: gitcmd.NotFound},
	{name: "the repository itself", req: StageRequest{Paths: []string{".git/config"}}, like: "true", fails: gitcmd.Protected},
	{name: "the top by name", setup: "echo x >> a.txt", req: StageRequest{Paths: []string{"."}}, like: "git add .", files: "modified a.txt"},
	{name: "ignored", setup: "echo '*.log' > .gitignore; git add .gitignore; echo x > x.log", req: StageRequest{Paths: []string{"x.log"}}, like: "true", fails: gitcmd.Invalid},
	{name: "ignored below a directory", setup: "echo '*.log' > .gitignore; mkdir d; echo x > d/x.log; echo y > d/y", req: StageRequest{Paths: []string{"d"}}, like: "git add d", files: "added d/y"},
	{name: "a file that becomes a directory", setup: "rm a.txt; mkdir a.txt; echo x > a.txt/x", like: "git add -A", files: "deleted a.txt, added a.txt/x"},
	{name: "a directory that becomes a file", setup: "mkdir d; echo 1 > d/1; git add d; git commit -qm d; rm -r d; echo f > d", like: "git add -A", files: "deleted d/1, added d"},
	{name: "a link", setup: "ln -s a.txt l; rm b.txt; ln -s a.txt b.txt", like: "git add -A", files: "type changed b.txt, added l"},
	{name: "a mode", setup: "chmod +x a.txt", like: "git add -A", files: "modified a.txt"},
	{name: "odd names", setup: "echo 1 > 'a b'; echo 1 > '*'; echo 1 > ':(top)x'; echo 1 > ä; echo 1 > 'q\"'; printf 1 > \"$(printf 'n\\nl')\"; echo 1 > ./--all", like: "git add -A", files: "added *, added --all, added :(top)x, added a b, added n\nl, added q\", added ä"},
	{name: "a name that is a pattern", setup: "echo 1 > '*'; echo x >> a.txt", req: StageRequest{Paths: []string{"*"}}, like: "git --literal-pathspecs add '*'", files: "added *"},
	{name: "line endings", setup: "printf '*.txt text eol=crlf\\n' > .gitattributes; printf 'x\\r\\n' > a.txt", like: "git add -A", files: "modified a.txt, added .gitattributes"},
	{name: "a conflict that is resolved", setup: "git switch -q -c o; echo o > a.txt; git commit -qam o; git switch -q master; echo m > a.txt; git commit -qam m; git merge -q o || true; echo r > a.txt", like: "git add -A", files: "resolved a.txt"},
	{name: "intended", setup: "echo n > new; git add -N new", like: "git add -A", files: "added new"},
	{name: "a secret among all", setup: "echo S=1 > .env; echo x >> a.txt", like: "git add a.txt", files: "modified a.txt", left: ".env"},
	{name: "a secret by name", setup: "echo S=1 > .env; echo x >> a.txt", req: StageRequest{Paths: []string{"a.txt", ".env"}}, like: "true", fails: gitcmd.Sensitive},
	{name: "a secret that is tracked", setup: "echo S=1 > .env; git add .env; git commit -qm e; echo S=2 > .env", req: StageRequest{Paths: []string{".env"}}, like: "git add .env", files: "modified .env"},
	{name: "a secret that is allowed", setup: "echo S=1 > .env", req: StageRequest{Allowed: func(p string) bool { return p == ".env" }}, like: "git add .env", files: "added .env"},
	{name: "a repository within", setup: "git init -q sub; (cd sub; echo 1 > 1; git add .; git commit -qm 1); echo x >> a.txt", like: "git add a.txt", files: "modified a.txt", left: "sub/"},
	{name: "a submodule", setup: "git -c protocol.file.allow=always submodule --quiet add \"$PWD\" sub; git commit -qm s; (cd sub; git commit -q --allow-empty -m more)", like: "git add sub", files: "modified sub"},
	{name: "a filter of the repository among all", setup: "git config filter.x.clean rev; echo 'a.txt filter=x' > .git/info/attributes; echo abc > a.txt; echo x > b.txt", like: "git add b.txt", files: "modified b.txt", left: "a.txt"},
	{name: "a filter of the repository by name", setup: "git config filter.x.clean rev; echo 'a.txt filter=x' > .git/info/attributes; echo abc > a.txt", req: StageRequest{Paths: []string{"a.txt"}}, like: "true", fails: gitcmd.Unavailable},
	{name: "a filter of the repository, trusted", trusted: true, setup: "git config filter.x.clean rev; echo 'a.txt filter=x' > .git/info/attributes; echo abc > a.txt", req: StageRequest{Paths: []string{"a.txt"}}, like: "true", fails: gitcmd.Unavailable},
	{name: "a filter of the user", setup: "git config --global filter.x.clean rev; git config --global filter.x.required true; echo 'a.txt filter=x' > .git/info/attributes; echo abc > a.txt", like: "git add -A", files: "modified a.txt"},
	{name: "a linked working tree", setup: "mv ../work ../main; git -C ../main worktree add -q ../work; cd ../work; echo x >> a.txt", like: "git add -A", files: "modified a.txt"},
	{name: "a split index", setup: "git update-index --split-index; echo x >> a.txt", like: "git add -A", files: "modified a.txt"},
	{name: "sha256", setup: "rm -rf .git; git init -q --object-format=sha256; git add b.txt; git commit -qm 1; echo x > a.txt", like: "git add -A", files: "added a.txt"},
	{name: "no commit yet", setup: "rm -rf .git; git init -q", like: "git add -A", files: "added a.txt, added b.txt"},
	{name: "a lock", setup: "echo x >> a.txt; touch .git/index.lock", like: "true", fails: gitcmd.Conflicted},
	{name: "a damaged index", setup: "echo x >> a.txt; printf garbage-garbage > .git/index", like: "true", fails: gitcmd.Failed},
}

// TestStage compares with git add on a copy of the same repository.
func TestStage(t *testing.T) {
	slow.Test(t)
	for _, c := range stageCases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.sh("cd ..; " + "cd work; " + c.setup)
			w.sh("cp -a ../work ../like")
			if gitfile.Exists(filepath.Join(w.dir, "main")) {
				w.sh("cp -a ../main ../main2; echo \"gitdir: $PWD/../main2/.git/worktrees/work\" > ../like/.git")
			}
			w.Repo, _ = Open(w.path(""), Options{Programs: anywhere.Programs(), Trusted: func() bool { return c.trusted }})
			if w.Repo == nil {
				t.Fatal("not opened")
			}
			if out, err := w.try("cd ../like; rm -f .git/index.lock; " + c.like); err != nil && c.fails == 0 {
				t.Fatalf("%v\n%s", err, out)
			}
			got, err := w.Stage(t.Context(), c.req)
			if c.fails != 0 || c.name == "a damaged index" {
				if err == nil || failureKind(err) != c.fails {
					t.Fatalf("got %v, want kind %d", err, c.fails)
				}
				t.Log(err)
			} else if err != nil {
				t.Fatal(err)
			}
			if err == nil && (words(got.Files) != c.files || namesLeft(got.LeftOut) != c.left) {
				t.Errorf("staged %q, left %q", words(got.Files), namesLeft(got.LeftOut))
			}
			if c.name == "a damaged index" {
				return
			}
			if a, b := w.sh("git ls-files --stage --debug | grep -v '^  [cmud]\\|^  dev\\|^  size'"), w.sh("cd ../like && git ls-files --stage --debug | grep -v '^  [cmud]\\|^  dev\\|^  size'"); a != b {
				t.Errorf("the index is\n%s\nand by git\n%s", a, b)
			}
			ownfile.Remove(filepath.Join(w.GitDir, "index.lock"))
			w.sound()
		})
	}
}
