package shadow

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo"
)

// Names in the directory of shadows that are no shadows. An id never begins
// with a dot.
const (
	newPrefix  = ".new-"  // being filled
	oldPrefix  = ".old-"  // being removed
	basePrefix = ".base-" // what is in the .old- of the same name, as an index
	poolPrefix = ".pool-" // kept to be used again: tree, and base, its state as an index
	lostPrefix = ".lost-" // found without a registration; kept for the user
)

// A directory that was discarded is kept for the next shadow. Making a few
// thousand files shortly after as many were removed takes ext4 many times as
// long (it keeps away from inodes that were just freed), and most files of the
// next shadow are the same.

// fromPool moves a directory of the pool to dir and returns what is in it; nil
// when there is none.
func (m *Manager) fromPool(dir string) *gitrepo.Index {
	for _, name := range m.pooled() {
		at := filepath.Join(m.home(), name)
		have, err := gitrepo.ReadIndex(filepath.Join(at, baseFile))
		if err == nil {
			err = os.Rename(filepath.Join(at, "tree"), dir)
		}
		m.removeAll(at)
		if err == nil {
			return have
		}
	}
	return nil
}

// pooled lists the directories of the pool.
func (m *Manager) pooled() []string {
	entries, err := os.ReadDir(m.home())
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), poolPrefix) && e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// toPool keeps what a shadow leaves, or removes it. base is a file.
func (m *Manager) toPool(dir, base string) {
	if base == "" || len(m.pooled()) >= m.limits().Pool {
		m.removeAll(dir)
		return
	}
	at := filepath.Join(m.home(), poolPrefix+random())
	err := os.Mkdir(at, 0o755)
	if err == nil {
		err = os.Rename(base, filepath.Join(at, baseFile))
	}
	if err == nil {
		err = os.Rename(dir, filepath.Join(at, "tree"))
	}
	if err != nil {
		m.removeAll(at)
		m.removeAll(dir)
	}
}

// removeAll removes what nobody needs any more. What can't be removed now is
// tried again at the next start.
func (m *Manager) removeAll(dir string) {
	if err := os.RemoveAll(dir); err != nil {
		m.o.Log.Warn("not removed", "dir", dir, "error", err)
	}
}
