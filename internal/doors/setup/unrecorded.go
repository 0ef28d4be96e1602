package setup

import (
	"fmt"
	"slices"
)

// withoutRecord takes out what stands in a client's files as setup writes it, where nothing
// is recorded: the directory of the records may be gone. What it replaced is not known then.
func (e Env) withoutRecord(row client, o Options, u *undone) error {
	for _, r := range row.integrations {
		if r.files == nil || len(o.Roads) > 0 && !slices.Contains(o.Roads, r.name) || o.Project && !r.project {
			continue
		}
		plain := o
		o.OnlyOurs, o.Review = true, true
		for i, f := range r.files(e, o) {
			f.items = slices.Concat(r.files(e, plain)[i].items, f.items) // either may have been written
			if err := e.takeUnrecorded(f, u); err != nil {
				return err
			}
		}
	}
	if len(u.plan.Changes) == 0 {
		return nil
	}
	u.plan.Left = append(u.plan.Left, fmt.Sprintf("The record of what setup did is gone (%s). Lines that look like its work are taken out; those that it replaced can't be brought back.", e.State()))
	if m := e.mode(o.Project); m.Holds {
		u.plan.Left = append(u.plan.Left, "Your mode stays "+m.Name+". Another one: sidecar-ls mode NAME")
	}
	u.plan.apply = func(p *Plan) error { return u.write(p, nil) }
	return nil
}

// takeUnrecorded takes the items out of a file that has our entry, or an element of ours.
func (e Env) takeUnrecorded(f file, u *undone) error {
	c, err := e.open(f)
	if err != nil || !c.existed {
		return err
	}
	c.after = c.before
	if f.family == wholeFile {
		if !isPlug(c.before) {
			return nil
		}
		c.Remove = true
	} else if err := c.takeOurs(f); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if c.show(); c.Diff != "" {
		u.changes, u.plan.Changes = append(u.changes, c), append(u.plan.Changes, c)
	}
	return nil
}

// takeOurs takes out what the file says of the items.
func (c *Change) takeOurs(f file) error {
	d, err := open(f.family, c.before)
	if err != nil {
		return err
	}
	tree := d.tree()
	var there []done
	for _, it := range f.items {
		cur, has := at(tree, it.path)
		it = it.fit(cur, has)
		switch {
		case !has, it.kind == entry && !isOurs(cur):
			continue
		case it.kind == element || it.kind == elementThere:
			there = append(there, done{element, it.path, plain(it.value), "", 0})
		default:
			there = append(there, done{it.kind, it.path, plain(it.value), "", 0})
		}
	}
	c.did, c.undone = there, true
	c.after, _, err = takeOut(f.family, c.before, there)
	return err
}
