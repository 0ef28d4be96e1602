package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// aside is a git directory that nobody else knows, over the objects and the
// settings of a repository: its references and its index are copies. git moves in
// it between exactly the commits that were looked at, whatever another program
// makes of the repository's own references meanwhile.
type aside struct {
	of  *Repo
	dir string
	*gitcmd.Git
}

// standing is where an aside begins.
type standing struct {
	branch string            // that is checked out, "" for none
	commit string            // "" when the branch has none yet
	refs   map[string]string // further references
	config string            // settings besides the repository's own
}

// aside makes one whose working tree is work. The caller removes it.
func (r *Repo) aside(ctx context.Context, work string, s standing) (_ *aside, err error) {
	dir, err := os.MkdirTemp("", "git-")
	if err != nil {
		return nil, err
	}
	a := &aside{of: r, dir: dir}
	defer func() {
		if err != nil {
			a.remove()
		}
	}()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	conf, err := r.Git.Settings(ctx)
	if err != nil {
		return nil, err
	}
	head := "ref: refs/heads/" + s.branch + "\n"
	if s.branch == "" {
		head = s.commit + "\n"
	}
	files := map[string]string{"HEAD": head, "config": r.settingsOf(conf) + s.config}
	if s.branch != "" && s.commit != "" {
		files["refs/heads/"+s.branch] = s.commit + "\n"
	}
	for name, commit := range s.refs {
		files[name] = commit + "\n"
	}
	for _, c := range [...]struct{ from, name string }{
		{r.CommonDir, "info/exclude"}, {r.CommonDir, "info/attributes"}, {r.GitDir, "info/sparse-checkout"}, {r.CommonDir, "shallow"},
	} {
		data, err := gitfile.ReadSmall(filepath.Join(c.from, filepath.FromSlash(c.name)), 16<<20)
		switch {
		case err == nil:
			files[c.name] = string(data)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "refs"), 0o700); err != nil {
		return nil, err
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return nil, err
		}
	}
	a.Git = r.Git.Aside(gitcmd.Tree{Dir: work, GitDir: dir, CommonDir: dir, Objects: filepath.Join(r.CommonDir, "objects")}, index.NewLast(filepath.Join(dir, "index")))
	return a, nil
}

// settingsOf are the settings of an aside: those of the repository, by their files,
// so that they count as its own. What decides on the form of a repository git reads
// from the first file alone.
func (r *Repo) settingsOf(conf gitcmd.Settings) string {
	quote := func(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }
	var b strings.Builder
	fmt.Fprintf(&b, "[core]\n\trepositoryformatversion = %s\n", cmp0(conf.Value("core.repositoryformatversion")))
	for _, key := range []string{"objectformat", "partialclone"} {
		if v := conf.Value("extensions." + key); v != "" {
			fmt.Fprintf(&b, "[extensions]\n\t%s = %s\n", key, quote(v))
		}
	}
	fmt.Fprintf(&b, "[include]\n\tpath = %s\n", quote(filepath.ToSlash(filepath.Join(r.CommonDir, "config"))))
	if conf.Bool("extensions.worktreeconfig") {
		fmt.Fprintf(&b, "[include]\n\tpath = %s\n", quote(filepath.ToSlash(filepath.Join(r.GitDir, "config.worktree"))))
	}
	if lfs := filepath.Join(r.CommonDir, "lfs"); conf.Value("lfs.storage") == "" && gitfile.Exists(lfs) {
		fmt.Fprintf(&b, "[lfs]\n\tstorage = %s\n", quote(filepath.ToSlash(lfs)))
	}
	b.WriteString("[core]\n\tsplitIndex = false\n\tbare = false\n\tlogAllRefUpdates = true\n")
	return b.String()
}

func cmp0(v string) string {
	if v == "" {
		return "0"
	}
	return v
}

func (a *aside) remove() { _ = os.RemoveAll(a.dir) }

// head is the commit that it is at.
func (a *aside) head(ctx context.Context) (string, error) { return a.resolve(ctx, "HEAD^{commit}") }

// resolve is the object that a revision names in it, "" for none.
func (a *aside) resolve(ctx context.Context, rev string) (string, error) {
	return resolveIn(ctx, a.Git, rev)
}

// run runs an operation and discards what it prints.
func (a *aside) run(ctx context.Context, op string, args ...string) error {
	_, err := a.Run(ctx, gitcmd.Invocation{Op: op, Args: args})
	return err
}

// hold locks the index the way git does.
func (r *Repo) hold() (*index.Held, error) {
	if err := r.Git.NoLinks(); err != nil { // before anything is done aside
		return nil, err
	}
	path := filepath.Join(r.GitDir, "index")
	h, err := index.Hold(path)
	if errors.Is(err, index.ErrLocked) {
		err = r.Git.Explain(&gitcmd.ExitError{Op: "lock", Code: 128, Stderr: fmt.Sprintf("fatal: Unable to create '%s.lock': File exists.", path)})
	}
	return h, err
}

// borrow takes a copy of an index, and of what is apart of it.
func (a *aside) borrow(h *index.Held) error {
	err := copyIndex(filepath.Join(a.dir, "index"), h.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	shared, _ := filepath.Glob(filepath.Join(filepath.Dir(h.Path), "sharedindex.*"))
	for _, from := range shared {
		if err == nil {
			err = copyIndex(filepath.Join(a.dir, filepath.Base(from)), from)
		}
	}
	return err
}

// giveBack replaces the index by that of the aside.
func (a *aside) giveBack(ctx context.Context, h *index.Held) error {
	data, err := os.ReadFile(filepath.Join(a.dir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return h.Put(ctx, data)
}
