package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// Status is what git status tells.
type Status struct {
	Branch    Branch
	Files     []FileStatus // by path: what is staged, changed or in conflict
	Untracked []string     // sorted; a directory has a slash at its end
}

// FileStatus is one file with git's two letters, ' ' for nothing.
type FileStatus struct {
	Staged   byte // of the index against HEAD: M T A D R, or a letter of a conflict: D A U
	Changed  byte // of the working tree against the index: M T D A, or of a conflict
	Path     string
	From     string // of a rename: the old path
	Conflict bool
}

// StatusOptions has a useful zero value.
type StatusOptions struct {
	Untracked Untracked
	Below     string // only what is below this directory, slash-separated; "" is all
	Over      Over   // what is laid over the working tree
}

// Status compares HEAD, the index and the working tree, as git status does. It
// is worked out in this process, and by the git command where that takes what
// is not read here (see docs/git.md).
func (r *Repo) Status(ctx context.Context, o StatusOptions) (*Status, error) {
	s, err := r.status(ctx, o)
	if errors.Is(err, gitfile.ErrUnsupported) {
		return r.statusByGit(ctx, o, err)
	}
	return s, err
}

// status is Status in this process.
func (r *Repo) status(ctx context.Context, o StatusOptions) (*Status, error) {
	conf, err := r.Readable()
	if err != nil {
		return nil, err
	}
	for _, key := range [...]string{"core.ignorecase", "core.precomposeunicode"} {
		if conf.Bool(key, false) {
			return nil, fmt.Errorf("%w: %s is set", gitfile.ErrUnsupported, key)
		}
	}
	if !conf.Bool("core.symlinks", true) {
		return nil, fmt.Errorf("%w: core.symlinks is off", gitfile.ErrUnsupported)
	}
	h, err := r.head()
	if err != nil {
		return nil, err
	}
	x, found, err := r.worktreeState(ctx, conf, o)
	if err != nil {
		return nil, err
	}
	tree, err := r.TreeOf(h.hash)
	if err != nil {
		return nil, err
	}
	staged, err := r.staged(ctx, tree, x)
	if err == nil && renamesOn(conf, "status.renames") {
		staged, err = r.renames(staged)
	}
	if err != nil {
		return nil, err
	}
	st := &Status{Untracked: found.untracked}
	if st.Files, err = join(x, staged, found.changed, below(o.Below)); err != nil {
		return nil, err
	}
	if len(o.Over) > 0 {
		if err := r.laying(x, newAttributes(r, x, conf), o.Over).status(ctx, st, o); err != nil {
			return nil, err
		}
	}
	st.Branch, err = r.branch(ctx, h, conf)
	return st, err
}

// renamesOn reports whether renames are looked for.
func renamesOn(conf gitconfig.Values, key string) bool {
	value, ok := conf[key]
	if !ok {
		value, ok = conf["diff.renames"]
	}
	return !ok || value == "copies" || value == "copy" || gitconfig.Values{key: value}.Bool(key, true)
}

// below is a directory as the beginning of the paths in it.
func below(dir string) string {
	if dir == "" || dir == "." {
		return ""
	}
	return dir + "/"
}

// staged compares a tree with the index. Conflicts are left out.
func (r *Repo) staged(ctx context.Context, tree plumbing.Hash, x *index.Raw) ([]pair, error) {
	c := comparer{r: r, ctx: ctx}
	if err := c.compare("", inTree(tree), indexRoot(x)); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(c.pairs, func(p pair) bool { return p.new.mode == 0 && x.Conflicting(p.path) }), nil
}

// code is the letter of a difference.
func (p pair) code() byte {
	switch {
	case p.from != "":
		return 'R'
	case p.old.mode == 0:
		return 'A'
	case p.new.mode == 0:
		return 'D'
	case p.old.mode&typeBits != p.new.mode&typeBits:
		return 'T'
	}
	return 'M'
}

// conflictCodes are git's letters by which stages a path has, a bit each.
var conflictCodes = [...]string{1: "DD", 2: "AU", 3: "UD", 4: "UA", 5: "DU", 6: "AA", 7: "UU"}

// join makes the list of files of what is staged, changed and in conflict.
func join(x *index.Raw, staged []pair, changed []sweptFile, below string) ([]FileStatus, error) {
	byPath := map[string]*FileStatus{}
	at := func(path string) *FileStatus {
		f := byPath[path]
		if f == nil {
			f = &FileStatus{Staged: ' ', Changed: ' ', Path: path}
			byPath[path] = f
		}
		return f
	}
	for _, p := range staged {
		f := at(p.path)
		f.Staged, f.From = p.code(), p.from
	}
	meant, gone := false, false
	for _, c := range changed {
		f := at(x.NameAt(c.entry))
		f.Changed = c.code
		gone = gone || c.code == 'D'
	}
	for k := 0; k < len(x.Special); {
		e := x.At(x.Special[k])
		k++
		if e.Extended()&index.FlagIntentToAdd != 0 {
			meant = true
			if f := at(e.Name); f.Changed != 'D' {
				f.Changed = 'A'
			}
		}
		if e.Stage() == 0 {
			continue
		}
		stages := 1 << (e.Stage() - 1)
		for ; k < len(x.Special) && x.NameAt(x.Special[k]) == e.Name; k++ {
			stages |= 1 << (x.At(x.Special[k]).Stage() - 1)
		}
		letters := conflictCodes[stages]
		*at(e.Name) = FileStatus{Staged: letters[0], Changed: letters[1], Path: e.Name, Conflict: true}
	}
	if meant && gone {
		return nil, fmt.Errorf("%w: a file that is meant to be added may be a rename", gitfile.ErrUnsupported)
	}
	list := make([]FileStatus, 0, len(byPath))
	for _, f := range byPath {
		if strings.HasPrefix(f.Path, below) {
			list = append(list, *f)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Path < list[j].Path })
	return list, nil
}

// Porcelain writes a status as git status --porcelain=v1 --branch -z does.
func (s *Status) Porcelain() string {
	var b strings.Builder
	b.WriteString("## " + s.Branch.String() + "\x00")
	for _, f := range s.Files {
		fmt.Fprintf(&b, "%c%c %s\x00", f.Staged, f.Changed, f.Path)
		if f.From != "" {
			b.WriteString(f.From + "\x00")
		}
	}
	for _, name := range s.Untracked {
		b.WriteString("?? " + name + "\x00")
	}
	return b.String()
}
