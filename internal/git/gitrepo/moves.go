package gitrepo

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// Move is an operation that changes files of the working tree: looked at, and not
// done yet. What Do does is what was looked at, or nothing.
type Move struct {
	Files []MovedFile // that it may write or delete
	Pin   string      // the objects that were looked at
	op    string
	do    func(ctx context.Context, m *moment) (note string, err error)
}

// MovedFile is a file that an operation writes or deletes.
type MovedFile struct {
	Path string // relative to the top of the working tree
	Link string // the target of the link that it becomes, "" when it does not
	gone bool   // it is deleted
}

// Do does it, and says what did not happen as in a terminal.
func (m *Move) Do(ctx context.Context, r *Repo, hooks Hooks) (notes []string, err error) {
	now := r.moment(m.op, hooks)
	note, err := m.do(ctx, now)
	if err != nil {
		return nil, err
	}
	if note != "" {
		notes = append(notes, note)
	}
	return append(notes, now.said(ctx)...), nil
}

// ErrMoved is why nothing was done: what was looked at is not there any more.
var ErrMoved error = gitcmd.Failf(gitcmd.Conflicted, "the repository changed after it was looked at, so nothing was done; call again")

// place is where the working tree stands.
type place struct{ branch, commit string }

func (r *Repo) place(ctx context.Context) (p place, err error) {
	if p.branch, err = currentBranch(ctx, r.Git); err == nil {
		p.commit, err = r.Head(ctx)
	}
	return p, err
}

// still fails unless the working tree stands where it stood.
func (r *Repo) still(ctx context.Context, p place) error {
	now, err := r.place(ctx)
	if err == nil && now != p {
		err = ErrMoved
	}
	return err
}

// differ are the files in which two commits differ; "" is one without files.
func (r *Repo) differ(ctx context.Context, from, to string) ([]MovedFile, error) {
	for _, commit := range []*string{&from, &to} {
		if *commit == "" {
			empty, err := writeEmptyTree(ctx, r.Git)
			if err != nil {
				return nil, err
			}
			*commit = empty
		}
	}
	out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "diff-tree", Args: []string{from, to}})
	if err != nil {
		return nil, r.Git.Explain(err)
	}
	return r.moved(ctx, parseRaw(string(out)), func(e entry) (mode, hash string) { return e.newMode, e.newHash })
}

// moves are the files that going from one commit to another may write.
func (r *Repo) moves(ctx context.Context, from, to string) ([]MovedFile, error) {
	files, err := r.differ(ctx, from, to)
	if err != nil {
		return nil, err
	}
	more, err := r.unseen(ctx, r.Git, to)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, f := range files {
		known[f.Path] = true
	}
	for _, f := range more {
		if !known[f.Path] {
			files = append(files, f)
		}
	}
	return files, nil
}

// unseen are the files of a commit that the index does not have, or has without one
// in the working tree. git may write these although they are as in the commit before.
func (r *Repo) unseen(ctx context.Context, g *gitcmd.Git, commit string) ([]MovedFile, error) {
	index, err := indexed(ctx, r.Git, g)
	if err != nil {
		return nil, err
	}
	out, err := g.Run(ctx, gitcmd.Invocation{Op: "list-tree", Args: []string{commit}})
	if err != nil {
		return nil, r.Git.Explain(err)
	}
	var list []entry
	for path, e := range parseStage(string(out)) {
		if absent, there := index[path]; absent || !there {
			list = append(list, entry{path: path, newMode: e.newMode, newHash: e.newHash})
		}
	}
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return r.moved(ctx, list, func(e entry) (mode, hash string) { return e.newMode, e.newHash })
}

// maxTarget bounds the target of a link.
const maxTarget = 4096

// moved are entries as files that are written; becomes says what of an entry is.
func (r *Repo) moved(ctx context.Context, list []entry, becomes func(entry) (mode, hash string)) ([]MovedFile, error) {
	files := make([]MovedFile, 0, len(list))
	for _, e := range list {
		mode, hash := becomes(e)
		f := MovedFile{Path: e.path, gone: mode == "000000"}
		if mode == "120000" {
			target, err := r.target(ctx, hash)
			if err != nil {
				return nil, err
			}
			f.Link = target
		}
		files = append(files, f)
	}
	return files, nil
}

// target is the text of a link. Of one that is too long for a link nothing but that
// it is none.
func (r *Repo) target(ctx context.Context, hash string) (string, error) {
	if id, ok := object.ParseHash(hash); ok {
		if _, data, err := r.Objects.Read(id); err == nil {
			return string(data[:min(len(data), maxTarget)]), nil
		}
	}
	out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "blob", Args: []string{hash}})
	if err != nil {
		return "", r.Git.Explain(err)
	}
	return string(out[:min(len(out), maxTarget)]), nil
}

// moveTo has the working tree go from one commit to another, as git switch does.
// done is called once that has happened, with the index still held; when it fails,
// the working tree goes back.
func (r *Repo) moveTo(ctx context.Context, from place, to string, looked []MovedFile, done func() error) error {
	h, err := r.hold()
	if err != nil {
		return err
	}
	defer h.Release()
	if err := r.still(ctx, from); err != nil {
		return err
	}
	a, err := r.aside(ctx, r.Dir, standing{branch: from.branch, commit: from.commit})
	if err != nil {
		return err
	}
	defer a.remove()
	if err := a.borrow(h); err != nil {
		return err
	}
	if from.commit != "" && !gitfile.Exists(filepath.Join(a.dir, "index")) {
		return gitcmd.Failf(gitcmd.Conflicted, "the repository has no index, without which git would write all files anew, so nothing was done; the user can rebuild it with git reset")
	}
	now, err := r.unseen(ctx, a.Git, to)
	if err != nil {
		return err
	}
	for _, f := range now {
		if !slices.ContainsFunc(looked, func(l MovedFile) bool { return l.Path == f.Path }) {
			return ErrMoved
		}
	}
	if err := a.run(ctx, "switch", "--detach", to); err != nil {
		return r.Git.Explain(err)
	}
	ctx = context.WithoutCancel(ctx)
	if err := done(); err != nil {
		if from.commit != "" {
			err = errors.Join(err, a.run(ctx, "switch", "--detach", from.commit))
		}
		return err
	}
	return a.giveBack(ctx, h)
}
