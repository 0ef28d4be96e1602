package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// Over is what files of the working tree are taken for, whatever is there, by
// path relative to the top. The working tree itself is not changed.
type Over map[string]OverFile

// OverFile is what a name is taken for. The zero value is nothing.
type OverFile struct {
	Exists bool
	Link   bool                   // a symbolic one
	Exec   bool                   // of a file: it can be executed
	Read   func() ([]byte, error) // the content, or the target of a link
}

func (f OverFile) mode() filemode.FileMode {
	switch {
	case !f.Exists:
		return 0
	case f.Link:
		return filemode.Symlink
	case f.Exec:
		return filemode.Executable
	}
	return filemode.Regular
}

// hides reports whether a file of the working tree is taken for absent.
func (o Over) hides(path string) bool {
	f, ok := o[path]
	return ok && !f.Exists
}

// text is the content of a file; ok is false when the working tree has the say.
func (o Over) text(path string) (text []byte, ok bool, err error) {
	f, ok := o[path]
	switch {
	case !ok:
		return nil, false, nil
	case !f.Exists:
		return nil, true, fs.ErrNotExist
	}
	text, err = f.Read()
	return text, true, err
}

// rules reports whether a file of ignore rules is among them.
func (o Over) rules() bool {
	for name := range o {
		if path.Base(name) == ".gitignore" {
			return true
		}
	}
	return false
}

// laying lays files over what the working tree is found to be.
type laying struct {
	r    *Repo
	over Over
	x    *index.Raw
	at   *attributes
	s    *sweep // for its ignore rules
}

func (r *Repo) laying(x *index.Raw, at *attributes, over Over) *laying {
	return &laying{r, over, x, at, &sweep{r: r, index: x, over: over}}
}

// names are the paths that are laid over, sorted.
func (l *laying) names() []string { return slices.Sorted(maps.Keys(l.over)) }

// unseen reports whether git is told not to look at a file.
func (l *laying) unseen(path string) bool {
	i, ok := l.x.Find(path)
	if !ok {
		return false
	}
	e := l.x.At(i)
	return e.Stage() != 0 || e.AssumeValid() || e.Extended()&index.FlagSkipWorktree != 0 && l.over.hides(path)
}

// meant reports whether a file is only meant to be added.
func (l *laying) meant(path string) bool {
	i, ok := l.x.Find(path)
	return ok && l.x.At(i).Extended()&index.FlagIntentToAdd != 0
}

// pair is what the index has of a path, and what is laid over it.
func (l *laying) pair(ctx context.Context, path string) (pair, error) {
	p := pair{path: path}
	if i, ok := l.x.Find(path); ok && !l.meant(path) {
		p.old = side{mode: l.x.At(i).Mode(), hash: l.x.At(i).Hash()}
	}
	f := l.over[path]
	if !f.Exists {
		return p, nil
	}
	p.new = side{mode: f.mode()}
	if !f.Link && !l.at.fileMode {
		p.new.mode = filemode.Regular
		if p.old.mode&typeBits == regularType {
			p.new.mode = p.old.mode
		}
	}
	text, err := f.Read()
	if err != nil {
		return p, err
	}
	if p.new.hash = object.HashBlob(text); !f.Link && p.new.hash != p.old.hash && l.at.mayConvert(path, bytes.IndexByte(text, '\r') >= 0) {
		if text, p.new.hash, err = l.converted(ctx, path, text); err != nil {
			return p, err
		}
	}
	if p.new.hash != p.old.hash {
		p.new.over = &text
	}
	return p, nil
}

// converted is a text as git would store it. One that a filter makes of it is
// not known, only its hash.
func (l *laying) converted(ctx context.Context, path string, text []byte) ([]byte, plumbing.Hash, error) {
	out, err := l.r.Git.Run(ctx, gitcmd.Invocation{Op: "hash-only", Args: []string{"--path=" + path}, Stdin: text})
	if err != nil {
		return nil, plumbing.ZeroHash, fmt.Errorf("attributes or settings say how %s is stored: %w", path, l.r.Git.Explain(err))
	}
	hash := plumbing.NewHash(strings.TrimSpace(string(out)))
	if ends := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")); object.HashBlob(ends) == hash {
		text = ends
	}
	return text, hash, nil
}

// status changes a status that was made of the working tree.
func (l *laying) status(ctx context.Context, st *Status, o StatusOptions) error {
	byPath := map[string]FileStatus{}
	for _, f := range st.Files {
		byPath[f.Path] = f
	}
	set := func(path string, code byte) {
		f, ok := byPath[path]
		if !ok {
			f = FileStatus{Staged: ' ', Path: path}
		}
		if f.Changed = code; f.Changed == ' ' && f.Staged == ' ' {
			delete(byPath, path)
			return
		}
		byPath[path] = f
	}
	untracked := map[string]bool{}
	for _, name := range st.Untracked {
		untracked[name] = true
	}
	for _, name := range l.names() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !strings.HasPrefix(name, below(o.Below)) || l.unseen(name) {
			continue
		}
		if _, ok := l.x.Find(name); !ok {
			if module := l.module(name); module != "" {
				set(module, 'M')
				continue
			}
			delete(untracked, name)
			if as := l.listedAs(name, o); as != "" {
				untracked[as] = true
			}
			continue
		}
		p, err := l.pair(ctx, name)
		switch {
		case err != nil:
			return err
		case l.meant(name) && p.new.mode != 0:
			set(name, 'A')
		case l.meant(name):
			set(name, 'D')
		case p.old == p.new:
			set(name, ' ')
		default:
			set(name, p.code())
		}
	}
	st.Files = slices.SortedFunc(maps.Values(byPath), func(a, b FileStatus) int { return strings.Compare(a.Path, b.Path) })
	st.Untracked = slices.Sorted(maps.Keys(untracked))
	return nil
}

// above calls visit with each directory that a path is in, the top aside, until
// that returns false.
func above(name string, visit func(dir string) bool) {
	for i, c := range name {
		if c == '/' && !visit(name[:i]) {
			return
		}
	}
}

// module is the submodule that a path is in, "" for none.
func (l *laying) module(name string) (module string) {
	above(name, func(dir string) bool {
		if i, ok := l.x.Find(dir); ok && l.x.At(i).Mode() == filemode.Submodule {
			module = dir
		}
		return module == ""
	})
	return module
}

// listedAs is how a file that git does not track is listed: by the highest
// directory that has none that it does. "" is not at all.
func (l *laying) listedAs(name string, o StatusOptions) string {
	if l.over.hides(name) || o.Untracked == UntrackedNone || l.ignored(name) {
		return ""
	}
	as := name
	above(name, func(dir string) bool {
		if _, ok := l.x.Find(dir); ok {
			as = "" // git names none that was a file
			return false
		}
		if o.Untracked == UntrackedNormal && len(dir) >= len(below(o.Below)) && !l.x.HasDir(dir+"/") {
			as = dir + "/"
			return false
		}
		return true
	})
	return as
}

// ignored reports whether git ignores a file, by the rules as they are with what
// is laid over.
func (l *laying) ignored(name string) bool {
	rules := l.r.IgnoreRules()
	enter := func(dir string) {
		if text, err := l.s.patterns(below(dir) + ".gitignore"); err == nil {
			rules.AddFile(text)
		}
	}
	enter("")
	out := false
	above(name, func(dir string) bool {
		base := []byte(path.Base(dir))
		if out = rules.Ignored(base, true); out {
			return false
		}
		rules = rules.Enter(base)
		enter(dir)
		return true
	})
	return out || rules.Ignored([]byte(path.Base(name)), false)
}

// pairs are the differences from the index. A file that git does not track is
// one that was added, unless it is ignored.
func (l *laying) pairs(ctx context.Context) (pairs []pair, err error) {
	for _, name := range l.names() {
		_, tracked := l.x.Find(name)
		if l.unseen(name) || !tracked && (l.module(name) != "" || l.ignored(name)) {
			continue
		}
		p, err := l.pair(ctx, name)
		if err != nil {
			return nil, err
		}
		if p.old != p.new {
			pairs = append(pairs, p)
		}
	}
	return pairs, nil
}

// statusOver lays files over a status that the git command made: why says what is
// not read in process.
func (r *Repo) statusOver(ctx context.Context, st *Status, o StatusOptions, why error) error {
	l, err := r.layingByGit(o.Over, why)
	if err != nil {
		return err
	}
	if o.Over.rules() {
		return fmt.Errorf("%w, so what a changed .gitignore makes of other files is not known; leave out pending", why)
	}
	listed := map[string]bool{} // git lists each file, and these are directories
	for _, name := range st.Untracked {
		if as := l.listedAs(strings.TrimSuffix(name, "/"), o); as == "" && !o.Over.hides(name) {
			listed[name] = true // it is a repository, or git knows why
		} else if as != "" && strings.HasSuffix(name, "/") && !strings.HasSuffix(as, "/") {
			listed[as+"/"] = true
		} else if as != "" {
			listed[as] = true
		}
	}
	st.Untracked = slices.Sorted(maps.Keys(listed))
	return l.status(ctx, st, o)
}

// diffOver is statusOver for a diff.
func (r *Repo) diffOver(ctx context.Context, d *Diff, o DiffOptions, why error) error {
	l, err := r.layingByGit(o.Over, why)
	if err != nil {
		return err
	}
	pairs, err := l.pairs(ctx)
	if err != nil {
		return err
	}
	if o.From != "" {
		from, _, err := r.trees(o)
		if err != nil {
			return err
		}
		staged, err := r.staged(ctx, from, l.x)
		if err != nil {
			return fmt.Errorf("%w: %w", why, err)
		}
		staged = slices.DeleteFunc(staged, func(p pair) bool { _, ok := o.Over[p.path]; return !ok })
		pairs = overlay(staged, pairs)
	}
	pairs = slices.DeleteFunc(pairs, func(p pair) bool { return !o.covers(p.path) })
	if pairs, err = r.renames(pairs); err != nil {
		return err
	}
	d.Files = slices.DeleteFunc(d.Files, func(f FileDiff) bool { _, ok := o.Over[f.Path]; return ok && !l.unseen(f.Path) })
	for _, p := range pairs {
		f := FileDiff{Path: p.path, From: p.from, Code: p.code()}
		if err := r.fileDiff(&f, p, o.Hidden); err != nil {
			return err
		}
		d.Files = append(d.Files, f)
	}
	slices.SortFunc(d.Files, func(a, b FileDiff) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

func (r *Repo) layingByGit(over Over, why error) (*laying, error) {
	conf, err := r.config()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", why, err)
	}
	x, err := r.index.Read()
	if err != nil {
		return nil, fmt.Errorf("%w; leave out pending", err)
	}
	return r.laying(x, newAttributes(r, x, conf), over), nil
}
