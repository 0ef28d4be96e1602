package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// undone collects what becomes of the files, over all records.
type undone struct {
	plan    *Plan
	changes []*Change
	made    []string // directories that may be empty then
	failed  bool
}

// PlanUndo says what taking out would change: what setup put there, and nothing
// else.
func (e Env) PlanUndo(name string, o Options) (*Plan, error) {
	row, err := rowOf(name)
	if err != nil {
		return nil, err
	}
	if _, err := chosen(row, o); err != nil {
		return nil, err
	}
	project, err := e.scope(o)
	if err != nil {
		return nil, err
	}
	all, err := e.records(row.name, project)
	if err != nil {
		return nil, err
	}
	u := &undone{plan: &Plan{Client: row.name, Title: row.title}}
	if len(all) == 0 {
		return u.plan, e.withoutRecord(row, o, u)
	}
	others, err := e.alsoReviewed(row.name, project)
	if err != nil {
		return nil, err
	}
	var gone []*record
	for _, r := range slices.Backward(all) {
		if len(o.Roads) > 0 && !slices.Contains(o.Roads, r.Road) {
			continue
		}
		u.failed = false
		for _, f := range slices.Backward(r.Files) {
			if f.Family == ours && len(others) > 0 {
				u.plan.Left = append(u.plan.Left, fmt.Sprintf("The mode in %s stays review, for %s. Another one: sidecar-ls mode NAME", f.Path, strings.Join(others, ", ")))
				continue
			}
			if err := u.file(r, f); err != nil {
				return nil, err
			}
		}
		if !u.failed {
			gone = append(gone, r)
		}
	}
	for _, c := range u.changes {
		if c.show(); c.existed && c.Diff != "" { // what is gone already has nothing to be removed
			u.plan.Changes = append(u.plan.Changes, c)
		}
	}
	if len(gone) > 0 || len(u.plan.Left) > 0 {
		u.plan.apply = func(p *Plan) error { return u.write(p, gone) }
	}
	return u.plan, nil
}

// file takes out of a file what a record put there.
func (u *undone) file(r *record, f recordFile) error {
	i := slices.IndexFunc(u.changes, func(c *Change) bool { return c.Path == f.Path })
	if i < 0 {
		c, err := locate(f.Path, r.Project)
		if err != nil {
			u.leave(f, err)
			return nil
		}
		c.family, c.project, c.undone, c.after, c.Remove = f.Family, r.Project != "", true, c.before, !c.existed
		i, u.changes = len(u.changes), append(u.changes, c)
	}
	c := u.changes[i]
	if c.Remove {
		u.made = append(u.made, f.Made...)
		return nil
	}
	var copied []byte
	if f.Existed {
		var err error
		if copied, err = os.ReadFile(filepath.Join(r.dir, f.Copy)); err != nil {
			return err
		}
	}
	switch {
	case sum(c.after) == f.Sum:
		c.after, c.Remove, c.did = copied, !f.Existed, append(c.did, f.Did...)
		u.made = append(u.made, f.Made...)
	case f.Existed && bytes.Equal(c.after, copied):
	case f.Family == wholeFile:
		u.plan.Left = append(u.plan.Left, fmt.Sprintf("%s has changed since; remove it by hand if you don't need it", f.Path))
	default:
		after, left, err := takeOut(f.Family, c.after, f.Did)
		if err != nil {
			u.leave(f, err)
			return nil
		}
		c.after, c.did = after, append(c.did, f.Did...)
		for _, name := range left {
			u.plan.Left = append(u.plan.Left, fmt.Sprintf("%s: you have changed %s since; take it out by hand if you don't need it", f.Path, name))
		}
	}
	return nil
}

// leave says what is to be taken out of a file by hand.
func (u *undone) leave(f recordFile, err error) {
	u.failed = true
	var names []string
	for _, it := range f.Did {
		name := shown(it.Path)
		if it.Kind == element {
			name = fmt.Sprintf("%q in %s", it.Value, name)
		}
		names = append(names, name)
	}
	u.plan.Left = append(u.plan.Left, fmt.Sprintf("%s is left as it is (%v). Mend that and run this again, or take out by hand: %s", f.Path, err, strings.Join(names, ", ")))
}

// write changes the files and forgets the records.
func (u *undone) write(p *Plan, gone []*record) error {
	all, err := stage(p.Changes)
	if err != nil {
		return fmt.Errorf("%w; nothing was written", err)
	}
	if err := commit(all); err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	slices.SortFunc(u.made, func(a, b string) int { return len(b) - len(a) }) // inner ones first
	for _, dir := range u.made {
		if err := os.Remove(dir); errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	for _, r := range gone {
		if err := r.forget(); err != nil {
			return err
		}
	}
	return nil
}
