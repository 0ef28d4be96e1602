package ide

import (
	"os"
	"path/filepath"
	"time"
)

// Claude Code writes what was accepted itself, and only into a file that is not
// newer than it was when it read it. Accepting has written the file already, so it
// gets the time back that it had, until Claude Code has written the same text.

// backdate gives the file that time.
func (d *diff) backdate() {
	if d.modified.IsZero() {
		return // it is new
	}
	d.touch(d.modified)
	d.a.mu.Lock()
	defer d.a.mu.Unlock()
	d.a.backdated = append(d.a.backdated, d)
}

// redate makes a file new that has still the time of backdate: the agent did not
// write it, and programs that go by times must see that it has changed.
func (d *diff) redate() {
	if info, err := os.Stat(d.path); err == nil && info.ModTime().Equal(d.modified) {
		d.touch(time.Now())
	}
}

// touch sets the file's time, and that of no file outside of its folder.
func (d *diff) touch(t time.Time) {
	for _, dir := range both(d.a.ide.folders()) {
		name, err := filepath.Rel(dir, d.path)
		if err != nil || !filepath.IsLocal(name) {
			continue
		}
		root, err := os.OpenRoot(dir)
		if err == nil {
			err = root.Chtimes(name, t, t)
			_ = root.Close()
		}
		if err != nil {
			d.a.ide.o.Log.Warn("the time of a file can't be set, so its agent may not write it", "file", d.name, "error", err)
		}
		return
	}
}

// redateAll is redate for all that the agent had time to write. It closes a diff before
// it writes, so that is no sign; that it does something else is.
func (a *agent) redateAll() {
	a.mu.Lock()
	all := a.backdated
	a.backdated = nil
	a.mu.Unlock()
	for _, d := range all {
		d.redate()
	}
}
