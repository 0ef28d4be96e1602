package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/rename"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// DiffOptions say what is compared with what.
type DiffOptions struct {
	From, To string // revisions; without To the working tree, without both the index and the working tree
	Staged   bool   // HEAD (or From) and the index
	Path     string // only this file, or what is below this directory, relative to the top; "" is all

	Over Over // what is laid over the working tree; files of it that git does not track and does not ignore are shown as added

	// Hidden reports whether a file's content is not to be shown; nil: none.
	Hidden func(path string) bool
}

// Diff is what differs.
type Diff struct {
	Files    []FileDiff // by path
	Conflict []string   // files in conflict, which have no one difference
	Left     int        // files whose text was left out, because there is too much
	Staged   int        // files that are staged, when the working tree was compared with the index
}

// FileDiff is one file that differs.
type FileDiff struct {
	Path           string
	From           string // of a rename: the old path
	Code           byte   // M A D R T
	Added, Removed int    // lines
	Binary         bool
	Hidden         bool
	Patch          string // in git's format; "" when there was too much
}

// maxPatch bounds the text of a diff, in bytes: what comes after that is named
// only.
const maxPatch = 4 << 20

// maxCompared bounds a file whose lines are compared, in bytes.
const maxCompared = 16 << 20

// Diff compares as git diff does. Contents are compared in this process, as
// they are stored: neither drivers nor text conversions run.
func (r *Repo) Diff(ctx context.Context, o DiffOptions) (*Diff, error) {
	d, err := r.diff(ctx, o)
	if errors.Is(err, gitfile.ErrUnsupported) {
		why := err
		if d, err = diffByGit(ctx, r.Git, o, why); err == nil && len(o.Over) > 0 {
			err = r.diffOver(ctx, d, o, why)
		}
	}
	return d, err
}

// diff is Diff in this process.
func (r *Repo) diff(ctx context.Context, o DiffOptions) (*Diff, error) {
	conf, err := r.Readable()
	if err != nil {
		return nil, err
	}
	pairs, x, err := r.differences(ctx, conf, o)
	if err != nil {
		return nil, err
	}
	d := &Diff{}
	if x != nil {
		d.Conflict = slices.DeleteFunc(x.Conflicts(), func(path string) bool { return !o.covers(path) })
		if o.From == "" && !o.Staged {
			if d.Staged, err = r.countStaged(ctx, x, o); err != nil {
				return nil, err
			}
		}
	}
	pairs = slices.DeleteFunc(pairs, func(p pair) bool { return !o.covers(p.path) })
	if renamesOn(conf, "diff.renames") {
		if pairs, err = r.renames(pairs); err != nil {
			return nil, err
		}
	}
	size := 0
	for _, p := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f := FileDiff{Path: p.path, From: p.from, Code: p.code()}
		if size > maxPatch {
			d.Left++
		} else if err := r.fileDiff(&f, p, o.Hidden); err != nil {
			return nil, err
		}
		size += len(f.Patch)
		d.Files = append(d.Files, f)
	}
	return d, nil
}

// covers reports whether a path is one of those that are compared.
func (o *DiffOptions) covers(path string) bool {
	return o.Path == "" || o.Path == "." || path == o.Path || strings.HasPrefix(path, o.Path+"/")
}

// countStaged counts the files that are staged.
func (r *Repo) countStaged(ctx context.Context, x *index.Raw, o DiffOptions) (int, error) {
	h, err := r.head()
	if err != nil {
		return 0, err
	}
	tree, err := r.TreeOf(h.hash)
	if err != nil {
		return 0, err
	}
	staged, err := r.staged(ctx, tree, x)
	n := 0
	for _, p := range staged {
		if o.covers(p.path) {
			n++
		}
	}
	return n, err
}

// differences finds the files that differ, and returns the index if that is
// one of the sides, or stands between them.
func (r *Repo) differences(ctx context.Context, conf gitconfig.Values, o DiffOptions) ([]pair, *index.Raw, error) {
	from, to, err := r.trees(o)
	if err != nil {
		return nil, nil, err
	}
	if o.To != "" {
		c := comparer{r: r, ctx: ctx}
		err := c.compare("", inTree(from), inTree(to))
		return c.pairs, nil, err
	}
	if o.Staged {
		x, err := r.index.Read()
		if err != nil {
			return nil, nil, err
		}
		pairs, err := r.staged(ctx, from, x)
		return pairs, x, err
	}
	x, found, err := r.worktreeState(ctx, conf, StatusOptions{Untracked: UntrackedNone, Over: o.Over})
	if err != nil {
		return nil, nil, err
	}
	at := newAttributes(r, x, conf)
	var pairs []pair
	laid := r.laying(x, at, o.Over)
	for _, c := range found.changed {
		if name := x.NameAt(c.entry); len(o.Over) > 0 && !laid.unseen(name) {
			if _, ok := o.Over[name]; ok {
				continue
			}
		}
		p, err := r.onDisk(ctx, x.At(c.entry), c.code, at)
		if err != nil {
			return nil, nil, err
		}
		if p.old != p.new {
			pairs = append(pairs, p)
		}
	}
	over, err := laid.pairs(ctx)
	if err != nil {
		return nil, nil, err
	}
	if len(over) > 0 {
		pairs = append(pairs, over...)
		slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.path, b.path) })
	}
	for _, i := range x.Special {
		if e := x.At(i); e.Extended()&index.FlagIntentToAdd != 0 {
			return nil, nil, fmt.Errorf("%w: %s is only meant to be added", gitfile.ErrUnsupported, e.Name)
		}
	}
	if o.From == "" {
		return pairs, x, nil
	}
	staged, err := r.staged(ctx, from, x)
	return overlay(staged, pairs), x, err
}

// trees returns the trees that a diff names.
func (r *Repo) trees(o DiffOptions) (from, to plumbing.Hash, err error) {
	commit := plumbing.ZeroHash
	switch {
	case o.From != "":
		commit, err = r.Resolve(o.From)
	case o.Staged:
		var h head
		h, err = r.head()
		commit = h.hash
	}
	if err != nil {
		return from, to, err
	}
	if from, err = r.TreeOf(commit); err != nil || o.To == "" {
		return from, to, err
	}
	if commit, err = r.Resolve(o.To); err != nil {
		return from, to, err
	}
	to, err = r.TreeOf(commit)
	return from, to, err
}

// onDisk is what a changed file of the index is in the working tree.
func (r *Repo) onDisk(ctx context.Context, e index.RawEntry, code byte, at *attributes) (pair, error) {
	p := pair{path: e.Name, old: side{mode: e.Mode(), hash: e.Hash()}}
	if code == 'D' {
		return p, nil
	}
	if e.Mode() == filemode.Submodule && code == 'M' {
		return p, r.moduleOnDisk(ctx, &p)
	}
	info, err := os.Lstat(filepath.Join(r.Dir, filepath.FromSlash(e.Name)))
	if err != nil {
		if gitfile.Missing(err) {
			return p, nil // it has gone meanwhile
		}
		return p, err
	}
	p.new = side{mode: filemode.Regular, disk: true}
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		p.new.mode = filemode.Symlink
	case info.Mode()&0o100 != 0:
		p.new.mode = filemode.Executable
	}
	if p.new.mode != filemode.Symlink && p.old.mode&typeBits == regularType && !at.fileMode {
		p.new.mode = p.old.mode
	}
	data, err := r.content(p.path, p.new)
	if err != nil {
		return p, err
	}
	if p.new.mode != filemode.Symlink && at.mayConvert(e.Name, slices.Contains(data, '\r')) {
		return p, fmt.Errorf("%w: attributes or settings say how %s is stored", gitfile.ErrUnsupported, e.Name)
	}
	if p.new.hash = object.HashBlob(data); p.new.hash == p.old.hash {
		p.new.disk = false // then they are equal if their modes are
	}
	return p, nil
}

// moduleOnDisk is what a submodule is at.
func (r *Repo) moduleOnDisk(ctx context.Context, p *pair) error {
	sub, err := openAt(filepath.Join(r.Dir, filepath.FromSlash(p.path)), r.o)
	if err != nil || sub == nil {
		return fmt.Errorf("the submodule %s: %w", p.path, errors.Join(err, ErrRefused))
	}
	h, err := sub.head()
	if err != nil {
		return fmt.Errorf("the submodule %s: %w", p.path, err)
	}
	st, err := sub.Status(ctx, StatusOptions{Untracked: UntrackedNone})
	if err != nil {
		return fmt.Errorf("the submodule %s: %w", p.path, err)
	}
	p.new = side{mode: filemode.Submodule, hash: h.hash, disk: len(st.Files) > 0}
	return nil
}

// overlay replaces the new sides of what is staged by those of the working
// tree, where that has others.
func overlay(staged, changed []pair) []pair {
	byPath := map[string]int{}
	for i, p := range staged {
		byPath[p.path] = i
	}
	for _, p := range changed {
		i, ok := byPath[p.path]
		if !ok {
			staged = append(staged, p)
			continue
		}
		staged[i].new = p.new
		if p.new.hash == staged[i].old.hash && p.new.mode != filemode.Submodule {
			staged[i].new.disk, staged[i].new.over = false, nil
		}
	}
	staged = slices.DeleteFunc(staged, func(p pair) bool { return p.old == p.new })
	slices.SortFunc(staged, func(a, b pair) int { return strings.Compare(a.path, b.path) })
	return staged
}

// shortHash is how much of a hash is shown.
const shortHash = 10

// Short is the beginning of an object's name, as much as is shown.
func Short(hash plumbing.Hash) string { return hash.String()[:shortHash] }

// notShown stands for what is hidden.
const notShown = "content not shown: the file may hold secrets"

// fileDiff writes the text of one difference.
func (r *Repo) fileDiff(f *FileDiff, p pair, hidden func(string) bool) error {
	if f.Code == 'T' { // as git does: one file goes, another one comes
		gone, come := p, p
		gone.new, come.old = side{}, side{}
		var parts [2]FileDiff
		for i, half := range []pair{gone, come} {
			parts[i] = FileDiff{Path: p.path}
			if err := r.fileDiff(&parts[i], half, hidden); err != nil {
				return err
			}
		}
		f.Added, f.Removed = parts[1].Added, parts[0].Removed
		f.Binary, f.Hidden = parts[0].Binary || parts[1].Binary, parts[0].Hidden
		f.Patch = parts[0].Patch + parts[1].Patch
		return nil
	}
	text := diff.FilePatch{OldName: p.path, NewName: p.path, OldMode: uint32(p.old.mode), NewMode: uint32(p.new.mode), Similarity: p.score * 100 / rename.MaxScore}
	if p.from != "" {
		text.OldName = p.from
	}
	if p.old.mode == 0 {
		text.OldName = ""
	}
	if p.new.mode == 0 {
		text.NewName = ""
	}
	if p.old.hash != p.new.hash || p.old.mode == 0 || p.new.mode == 0 {
		text.OldID, text.NewID = Short(p.old.hash), Short(p.new.hash)
	}
	f.Hidden = hidden != nil && (hidden(p.path) || p.from != "" && hidden(p.from))
	same := p.old.hash == p.new.hash && p.old.disk == p.new.disk && p.new.over == nil && p.old.mode != 0 && p.new.mode != 0
	if f.Hidden && !same {
		text.Omit = notShown
	} else if !same {
		if err := r.contents(&text, p); err != nil {
			return err
		}
	}
	f.Binary = text.Omit == "" && (diff.Binary(text.Old) || diff.Binary(text.New))
	f.Patch = text.String()
	f.Added, f.Removed = countLines(f.Patch)
	return nil
}

// contents reads both sides, unless one is too large to be compared.
func (r *Repo) contents(text *diff.FilePatch, p pair) error {
	from := p.path
	if p.from != "" {
		from = p.from
	}
	old, err := r.content(from, p.old)
	var now []byte
	if err == nil {
		now, err = r.content(p.path, p.new)
	}
	if errors.Is(err, workspace.ErrTooLarge) || len(old) > maxCompared || len(now) > maxCompared {
		text.Omit = "content not shown: the file is too large to be compared"
		return nil
	}
	text.Old, text.New = string(old), string(now)
	return err
}

// countLines counts the lines that a patch adds and removes.
func countLines(patch string) (added, removed int) {
	_, body, ok := strings.Cut(patch, "\n@@ ")
	if !ok {
		return 0, 0
	}
	for line := range strings.Lines("@@ " + body) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}
