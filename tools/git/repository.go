package git

import (
	"context"
	"errors"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// repository is a root of the view and the repository that it lies in.
type repository struct {
	repo  *gitrepo.Repo
	files workspace.Files
	root  string // name of the root in the view, "." when it is the only one
	below string // path of the root in the working tree, "." at its top
}

// repository returns the root that holds a path as a caller wrote it, and the path
// in its repository. Without a path it is the first root that is in one.
func (d Deps) repository(ctx context.Context, files workspace.Files, written string) (repository, string, error) {
	roots, err := rootsOf(files)
	if err != nil {
		return repository{}, "", err
	}
	name := "."
	if written != "" {
		if name, err = pathName(files, written); err != nil {
			return repository{}, "", err
		}
	}
	if first, _, _ := strings.Cut(name, "/"); len(roots) > 1 && name != "." {
		roots = []string{first}
	}
	for i, root := range roots {
		p := repository{files: files, root: root}
		if p.repo, err = d.Open(ctx, files.Abs(root)); err == nil {
			p.below, err = p.repo.Rel(files.Abs(root))
		}
		if errors.Is(err, gitrepo.ErrNoRepository) && i+1 < len(roots) {
			continue
		}
		if err != nil {
			return repository{}, "", asError(err)
		}
		if root != "." {
			name = strings.TrimPrefix(strings.TrimPrefix(name, root), "/")
		}
		return p, path.Join(p.below, name), nil
	}
	return repository{}, "", asError(gitrepo.ErrNoRepository)
}

// rootsOf are the names of the view's roots.
func rootsOf(files workspace.Files) ([]string, error) {
	first, err := files.Resolve(files.Abs("."))
	if err != nil || first == "." {
		return []string{"."}, nil //nolint:nilerr // a view whose root can't be named has one
	}
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	roots := []string{first}
	for _, e := range entries {
		if e.Name() != first {
			roots = append(roots, e.Name())
		}
	}
	return roots, nil
}

// pathName resolves a path argument. What could be meant as an option, or can't
// be shown, is refused.
func pathName(files workspace.Paths, written string) (string, error) {
	if strings.HasPrefix(written, "-") {
		return "", tools.Errorf(tools.InvalidArguments, "path: %q begins with a dash; write ./%s for a file of that name", written, written)
	}
	if strings.ContainsFunc(written, unicode.IsControl) {
		return "", tools.Errorf(tools.InvalidArguments, "path: %q holds a control character", written)
	}
	return files.Resolve(written)
}

// name is the view's name of a path in the repository; ok is false for what
// lies outside of the root.
func (p repository) name(repoPath string) (name string, ok bool) {
	if p.below != "." {
		if repoPath, ok = strings.CutPrefix(repoPath, p.below+"/"); !ok {
			return "", false
		}
	}
	if p.root != "." {
		repoPath = p.root + "/" + repoPath
	}
	return repoPath, true
}

// hidden reports whether the view keeps a file's content back. It says so
// before it looks whether there is such a file, so that deleted files and those
// of old commits are kept back like any other.
func (p repository) hidden(repoPath string) bool {
	if !workspace.Sensitive(repoPath) {
		return false
	}
	name, ok := p.name(repoPath)
	if !ok {
		return true
	}
	f, err := p.files.Open(name)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, workspace.ErrSensitive)
}

// shown is a name as it is written into a line of text.
func shown(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r == '"' || r == unicode.ReplacementChar || !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// asError gives the errors of gitrepo their codes, and says what to do next.
func asError(err error) error {
	for _, c := range [...]struct {
		is   error
		code tools.Code
		next string
	}{
		{gitrepo.ErrNoRepository, tools.Unavailable, "the git tools can't be used here; work with the files alone"},
		{gitrepo.ErrRefused, tools.Unavailable, "tell the user"},
		{gitrepo.ErrRevision, tools.InvalidArguments, ""},
		{gitrepo.ErrNoCommit, tools.NotFound, ""},
		{gitrepo.ErrNoSuchRev, tools.NotFound, "git_log shows commits, git_branch branches"},
		{gitcmd.ErrNoGit, tools.Unavailable, "ask the user to install git, 2.34 or newer"},
		{gitfile.ErrUnsupported, tools.Unavailable, "tell the user"},
		{gitfile.ErrCorrupt, tools.Unavailable, "tell the user"},
	} {
		if !errors.Is(err, c.is) {
			continue
		}
		if c.next == "" {
			return tools.Errorf(c.code, "%v", err)
		}
		return tools.Errorf(c.code, "%v; %s", err, c.next)
	}
	return err
}
