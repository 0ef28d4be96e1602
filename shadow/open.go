package shadow

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
)

// Open has the files of the shadows that sessions work in.
type Open struct {
	m    *Manager
	main workspace.View // with what the user has open

	mu    sync.Mutex
	files map[string]*openFiles // by id
}

// openFiles are the files of one shadow while a session works in it.
type openFiles struct {
	disk *workspace.Disk
	view workspace.View // open documents over disk
	at   os.FileInfo    // of its directory when it was opened
}

// NewOpen returns one without files. main is the view of the main tree: what the
// user has open of a shadow's files is seen there.
func NewOpen(m *Manager, main workspace.View) *Open {
	return &Open{m: m, main: main, files: map[string]*openFiles{}}
}

// View returns the files of a shadow whose directory is root. They are opened
// once, and again when the directory has changed: a shadow of the same name.
func (o *Open) View(ctx context.Context, id, root string) (workspace.View, error) {
	info, err := os.Stat(root)
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.files[id]; f != nil {
		if err == nil && os.SameFile(info, f.at) {
			return f.view, nil
		}
		o.forget(id)
	}
	if err != nil {
		return nil, err
	}
	sh, err := o.m.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: root}}, workspace.DiskOptions{StateDir: o.m.journal(id), Prepare: o.m.o.Prepare, Exclude: sh.Exclude, Ignores: &gitrepo.UserIgnores{}})
	if err != nil {
		return nil, err
	}
	if _, err := disk.Recover(ctx); err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	files, err := o.m.View(ctx, id, disk)
	if err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	f := &openFiles{disk: disk, at: info, view: buffered{workspace.NewOverlay(files, buffers{o.main, root}), files}}
	o.files[id] = f
	return f.view, nil
}

// Discard removes a shadow. Sessions that work in it learn of it by their next
// call.
func (o *Open) Discard(ctx context.Context, id string) (Discarded, error) {
	d, err := o.m.Discard(ctx, id)
	if err == nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.forget(id)
		err = os.RemoveAll(o.m.journal(id))
	}
	return d, err
}

// Close closes all files.
func (o *Open) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id := range o.files {
		o.forget(id)
	}
}

// forget closes the files of a shadow; o.mu is held.
func (o *Open) forget(id string) {
	if f := o.files[id]; f != nil {
		f.disk.Close()
		delete(o.files, id)
	}
}

// journal is where changes of several files of a shadow are noted.
func (m *Manager) journal(id string) string {
	return filepath.Join(m.o.StateDir, "shadows", id+".apply")
}

// buffered is the files of a shadow below what the user has open. What is
// applied goes to the files; a document with unsaved text differs from it, which
// is a conflict.
type buffered struct {
	workspace.Files
	files workspace.View
}

func (b buffered) Apply(ctx context.Context, changes ...workspace.Change) error {
	return b.files.Apply(ctx, changes...)
}

// buffers are what lies over the disk in the view of the main tree, as far as
// it lies in a directory in there.
type buffers struct {
	main workspace.View
	dir  string
}

func (b buffers) Names() []string {
	over := workspace.Overlaid(b.main)
	if len(over) == 0 {
		return nil
	}
	prefix, err := b.main.Resolve(b.dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, name := range over {
		if rest, ok := strings.CutPrefix(name, prefix+"/"); ok {
			names = append(names, rest)
		}
	}
	return names
}

func (b buffers) Lookup(name string) (data []byte, deleted, ok bool) {
	if !slices.Contains(b.Names(), name) {
		return nil, false, false
	}
	full, err := b.main.Resolve(filepath.Join(b.dir, filepath.FromSlash(name)))
	if err == nil {
		data, err = b.main.ReadFile(full)
	}
	return data, false, err == nil
}
