package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// Past is what is known of the names that files of a repository ever had. Its zero value
// knows nothing.
type Past struct {
	names map[string]bool // those that match
	seen  map[plumbing.Hash]struct{}
	tips  []plumbing.Hash

	staged map[string]bool // names that match in an index now
}

// maxPastNames bounds the names that are kept: more are as bad as these.
const maxPastNames = 1000

// Names are the names that matched, sorted.
func (p *Past) Names() []string {
	names := maps.Clone(p.staged)
	if names == nil {
		return slices.Sorted(maps.Keys(p.names))
	}
	maps.Copy(names, p.names)
	return slices.Sorted(maps.Keys(names))
}

// Search adds the names that match in the commits that came since the last time, and those
// in an index. It looks at all commits that a reference, a log of one or a state of git's own
// names; what nothing names any more, as after a reset whose log has expired, it does not
// see. Cancelled, it goes on the next time.
func (p *Past) Search(ctx context.Context, r *Repo, match func(name string) bool) error {
	dirs := gitDirs(r)
	if err := p.stage(dirs, match); err != nil {
		return err
	}
	tips, err := allTips(r, dirs)
	if err != nil || slices.Equal(tips, p.tips) {
		return err
	}
	if p.seen == nil {
		p.seen, p.names = map[plumbing.Hash]struct{}{}, map[string]bool{}
	}
	todo := slices.Clone(tips)
	for len(todo) > 0 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		hash := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, done := p.seen[hash]; done {
			continue
		}
		parents, err := p.object(r, hash, match)
		if err != nil {
			return err
		}
		p.seen[hash] = struct{}{}
		todo = append(todo, parents...)
	}
	p.tips = tips
	return nil
}

// object looks at what a reference or a commit names, and returns the parents of a commit.
func (p *Past) object(r *Repo, hash plumbing.Hash, match func(string) bool) (parents []plumbing.Hash, err error) {
	kind, _, err := r.Objects.Read(hash)
	switch {
	case err != nil:
		return nil, err
	case kind == plumbing.TreeObject:
		return nil, p.tree(r, "", hash, nil, match)
	case kind != plumbing.CommitObject: // a file without a name, which may be any
		p.names["an object without a file name, "+hash.String()[:10]] = true
		return nil, nil
	}
	commit, err := r.Objects.Commit(hash)
	if err != nil {
		return nil, err
	}
	return commit.Parents, p.look(r, commit, match)
}

// look adds the names of a commit that none of its parents has in the same state.
func (p *Past) look(r *Repo, commit *object.Commit, match func(string) bool) error {
	var before []plumbing.Hash
	for _, parent := range commit.Parents {
		c, err := r.Objects.Commit(parent)
		if err != nil {
			return err
		}
		before = append(before, c.Tree)
	}
	return p.tree(r, "", commit.Tree, before, match)
}

func (p *Past) tree(r *Repo, dir string, tree plumbing.Hash, before []plumbing.Hash, match func(string) bool) error {
	if slices.Contains(before, tree) {
		return nil
	}
	entries, err := r.Objects.Tree(tree)
	if err != nil {
		return err
	}
	older := make([][]gitobject.TreeEntry, 0, len(before))
	for _, hash := range before {
		if hash.IsZero() {
			continue
		}
		list, err := r.Objects.Tree(hash)
		if err != nil {
			return err
		}
		older = append(older, list)
	}
	for _, e := range entries {
		var was []plumbing.Hash
		same := false
		for _, list := range older {
			i, found := slices.BinarySearchFunc(list, e, func(a, b gitobject.TreeEntry) int {
				return strings.Compare(object.Order(a), object.Order(b))
			})
			if found {
				was = append(was, list[i].Hash)
				same = same || list[i].Hash == e.Hash
			}
		}
		name := dir + e.Name
		switch {
		case same || e.Mode == filemode.Submodule:
		case e.Mode == filemode.Dir:
			if err := p.tree(r, name+"/", e.Hash, was, match); err != nil {
				return err
			}
		case len(p.names) < maxPastNames && match(name):
			p.names[name] = true
		}
	}
	return nil
}

// stage looks for names in the index of each working tree: git has the texts already.
func (p *Past) stage(dirs []string, match func(string) bool) error {
	staged := map[string]bool{}
	for _, dir := range dirs {
		x, err := index.Read(filepath.Join(dir, "index"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for i := range x.Entries {
			if e := x.Entries[i]; e.Mode != filemode.Submodule && len(staged) < maxPastNames && match(e.Name) {
				staged[e.Name] = true
			}
		}
	}
	p.staged = staged
	return nil
}

// gitDirs are the git directories of all working trees of a repository.
func gitDirs(r *Repo) []string {
	dirs := []string{r.GitDir}
	if r.CommonDir != r.GitDir {
		dirs = append(dirs, r.CommonDir)
	}
	trees, err := os.ReadDir(filepath.Join(r.CommonDir, "worktrees"))
	if err != nil {
		return dirs
	}
	for _, t := range trees {
		if dir := filepath.Join(r.CommonDir, "worktrees", t.Name()); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// stateDirs have files that name commits in a git directory, besides HEAD and its like,
// whose names are in capitals.
var stateDirs = []string{"refs", "rebase-merge", "rebase-apply", "sequencer"}

// allTips are all commits that something names, sorted.
func allTips(r *Repo, dirs []string) ([]plumbing.Hash, error) {
	tips := map[plumbing.Hash]bool{}
	iter, err := r.storage.IterReferences()
	if err != nil {
		return nil, err
	}
	defer iter.Close()
	if err := iter.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference {
			tips[ref.Hash()] = true
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		if err := stateTips(dir, tips); err != nil {
			return nil, err
		}
		if err := logTips(filepath.Join(dir, "logs"), tips); err != nil {
			return nil, err
		}
	}
	list := make([]plumbing.Hash, 0, len(tips))
	for hash := range tips {
		peeled, err := r.Objects.Peel(hash)
		if err != nil {
			continue // a log names what is gone, or it is no commit
		}
		list = append(list, peeled)
	}
	slices.SortFunc(list, func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(list), nil
}

// stateTips adds what the state of a working tree names.
func stateTips(dir string, tips map[plumbing.Hash]bool) error {
	add := func(file string) error {
		text, err := gitfile.ReadSmall(file, maxState)
		for line := range bytes.Lines(text) {
			addHash(tips, line)
		}
		return unlessGone(err)
	}
	entries, err := os.ReadDir(dir)
	if err := unlessGone(err); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name() == strings.ToUpper(e.Name()) {
			if err := add(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for _, name := range stateDirs {
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				err = add(path)
			}
			return unlessGone(err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// maxState bounds a file that names commits, in bytes: FETCH_HEAD has a line for each branch.
const maxState = 32 << 20

// unlessGone is an error but that of a file which somebody else has just removed.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// addHash adds the hash that a line begins with.
func addHash(to map[plumbing.Hash]bool, line []byte) {
	if len(line) < 40 {
		return
	}
	if hash, ok := object.ParseHash(string(line[:40])); ok && !hash.IsZero() {
		to[hash] = true
	}
}

// logTips adds what the logs of references name: each line has the old and the new commit.
func logTips(dir string, tips map[plumbing.Hash]bool) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return unlessGone(err)
		}
		f, err := os.Open(path)
		if err != nil {
			return unlessGone(err)
		}
		defer f.Close()
		in := bufio.NewScanner(f)
		in.Buffer(nil, maxOther)
		for in.Scan() {
			addHash(tips, in.Bytes())
			if b := in.Bytes(); len(b) > 41 {
				addHash(tips, b[41:])
			}
		}
		return in.Err()
	})
}
