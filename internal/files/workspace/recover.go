package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/filelock"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// RecoverReport says what Recover found. Its slices are in order.
type RecoverReport struct {
	Finished  []string // files of interrupted batches: they have their new text
	Conflicts []string // files that are neither as before nor as wanted: their batches were left as they are
	Kept      []string // paths of journals that were kept, for a person to look at: of a conflict, damaged, not ours, or of a root that isn't open
}

// Recover finishes what a crash interrupted: every file of a batch gets its
// new text. A batch with a file that somebody changed since is left alone. It
// is called once, before the first Apply, and may itself be interrupted. The
// error is the first that the operating system gave; the journal then stays.
func (d *Disk) Recover(ctx context.Context) (RecoverReport, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.respelled()
	var report RecoverReport
	if d.opts.StateDir == "" {
		return report, nil
	}
	files, err := os.ReadDir(d.opts.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return report, nil
	}
	if err != nil {
		return report, err
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		name := f.Name()
		path := filepath.Join(d.opts.StateDir, name)
		if !strings.HasPrefix(name, "apply-") || !f.Type().IsRegular() {
			continue
		}
		if err := d.recoverFrom(ctx, path, &report); err != nil {
			return report, fmt.Errorf("recovering from %s: %w", name, err)
		}
	}
	return report, nil
}

func (d *Disk) recoverFrom(ctx context.Context, path string, report *RecoverReport) error {
	file, err := osfile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its process has finished
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if err := filelock.TryLock(file); errors.Is(err, filelock.ErrLocked) {
		return nil // another process is at it
	} else if err != nil {
		return err
	}
	switch filepath.Ext(path) {
	case ".tmp": // of a batch that had not begun
		return os.Remove(path)
	case journalSuffix, noteSuffix:
	default:
		return nil
	}
	j := journal{disk: d, path: path}
	data, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	decoded, err := decodeJournal(data)
	if err != nil {
		if strings.HasSuffix(path, noteSuffix) || len(data) == 0 {
			return j.remove()
		}
		return j.setAside(".damaged", report)
	}
	p := d.planOf(decoded)
	if p == nil {
		report.Kept = append(report.Kept, path)
		return nil
	}
	if info, err := file.Stat(); err != nil || !private(info) || !p.mayRecover() {
		return errors.Join(err, j.setAside(".refused", report))
	}
	var dirs dirCache
	defer dirs.close()
	var conflicts []string
	for _, e := range p.entries {
		have, err := d.have(&dirs, e)
		if odd := errors.Is(err, ErrSpecial) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrConflict) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR); odd {
			conflicts = append(conflicts, e.view)
		} else if err != nil {
			return err
		} else if !e.knows(have) {
			conflicts = append(conflicts, e.view)
		}
	}
	if len(conflicts) > 0 {
		report.Conflicts = append(report.Conflicts, conflicts...)
		d.removeTemps(&dirs, p)
		return j.setAside(".conflict", report)
	}
	for _, at := range p.dirs {
		if err := d.makeDir(&dirs, at); err != nil {
			return err
		}
	}
	p.unhinder(&dirs)
	for _, e := range p.entries {
		if err := d.settle(ctx, &dirs, e, e.new); err != nil {
			return pathError("recover", e.view, err)
		}
		report.Finished = append(report.Finished, e.view)
	}
	if err := d.syncDirs(&dirs, p); err != nil {
		return err
	}
	d.removeTemps(&dirs, p)
	return j.remove()
}

// planOf turns a journal into a plan, nil if one of its roots isn't open.
func (d *Disk) planOf(j *decodedJournal) *plan {
	find := func(at journalName) (rootedName, bool) {
		for i := range d.folders {
			if d.folders[i].real == at.Root {
				return rootedName{&d.folders[i], at.Name}, true
			}
		}
		return rootedName{}, false
	}
	p := &plan{}
	for _, dir := range j.Dirs {
		at, ok := find(dir)
		if !ok {
			return nil
		}
		p.dirs = append(p.dirs, at)
	}
	for i, je := range j.Entries {
		at, ok := find(je.journalName)
		if !ok {
			return nil
		}
		unpack := func(s journalState, data []byte) version {
			return version{s.Exists, s.Link, data, s.Meta, s.Perm, s.Exec, s.As}
		}
		p.entries = append(p.entries, &entry{
			folder: at.folder, name: at.name, view: d.viewName(at.folder, at.name),
			old: unpack(je.Old, j.texts[2*i]), new: unpack(je.New, j.texts[2*i+1]),
			inPlace: je.InPlace, temp: je.Temp,
		})
	}
	p.relate()
	return p
}

func (d *Disk) removeTemps(dirs *dirCache, p *plan) {
	for _, e := range p.entries {
		if root, err := dirs.open(rootedName{e.folder, path.Dir(e.name)}); err == nil {
			_ = root.Remove(e.temp) // it may not be there
			_ = e.unpark(root)      // nor may this
		}
	}
}

// setAside puts the journal aside, so that it is not applied at a later start.
func (j journal) setAside(suffix string, report *RecoverReport) error {
	report.Kept = append(report.Kept, j.path+suffix)
	return os.Rename(j.path, j.path+suffix)
}

// Words say what was found of an interrupted change of files.
func (r RecoverReport) Words() (said []string) {
	for _, row := range []struct {
		what  string
		names []string
	}{
		{"a change that was interrupted has been finished: ", r.Finished},
		{"a change was interrupted, and these files were changed since by somebody else; they are left as they are: ", r.Conflicts},
		{"kept for you to look at: ", r.Kept},
	} {
		if len(row.names) > 0 {
			said = append(said, row.what+strings.Join(row.names, ", "))
		}
	}
	return said
}
