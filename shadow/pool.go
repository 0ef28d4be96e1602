package shadow

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// Names in the directory of shadows that are no shadows. An id never begins
// with a dot.
const (
	newPrefix  = ".new-"  // being filled
	oldPrefix  = ".old-"  // being removed
	basePrefix = ".base-" // what is in the .old- of the same name, as an index
	keepPrefix = ".keep-" // the two of them on the way to the pool
	poolPrefix = ".pool-" // kept to be used again: tree, and base, its state as an index
	lostPrefix = ".lost-" // found without a registration; kept for the user
)

// A directory that was discarded is kept for the next shadow. Making a few
// thousand files shortly after as many were removed takes ext4 many times as
// long (it keeps away from inodes that were just freed), and most files of the
// next shadow are the same.

// fromPool moves a directory of the pool to dir and returns what is in it; nil
// when there is none. Several may ask at once, in several processes: whoever
// renames it to claim has it.
func (m *Manager) fromPool(dir, claim string) *index.Index {
	for _, name := range m.pooled() {
		if os.Rename(filepath.Join(m.home(), name), claim) != nil {
			continue // somebody else has it
		}
		base := filepath.Join(claim, baseFile)
		_, err := os.Lstat(base)
		var have *index.Index
		if err == nil {
			have, err = index.Read(base)
		}
		if err == nil {
			err = os.Rename(filepath.Join(claim, "tree"), dir)
		}
		m.removeAll(claim)
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

// toPool keeps what a shadow leaves, or removes it. base is a file. What is in
// the pool is complete.
func (m *Manager) toPool(dir, base string) {
	if base == "" || len(m.pooled()) >= m.limits().Pool {
		m.removeAll(dir)
		return
	}
	at := filepath.Join(m.home(), keepPrefix+strings.TrimPrefix(filepath.Base(dir), oldPrefix))
	err := os.Mkdir(at, 0o755)
	if err == nil {
		err = os.Rename(base, filepath.Join(at, baseFile))
	}
	if err == nil {
		err = os.Rename(dir, filepath.Join(at, "tree"))
	}
	if err == nil {
		err = m.o.Fail("discard.pooling")
	}
	if err == nil {
		err = os.Rename(at, filepath.Join(m.home(), poolPrefix+random()))
	}
	if err != nil {
		m.removeAll(at)
		m.removeAll(dir)
	}
}

// trimPool removes what there is more than may be.
func (m *Manager) trimPool() {
	names := m.pooled()
	for _, name := range names[min(len(names), m.limits().Pool):] {
		at := filepath.Join(m.home(), oldPrefix+random()+"-pool")
		if err := os.Rename(filepath.Join(m.home(), name), at); err == nil { // else somebody else has it
			m.removeAll(at)
		}
	}
}

// removeAll removes what nobody needs any more. What can't be removed now is
// tried again at the next start.
func (m *Manager) removeAll(dir string) {
	if err := os.RemoveAll(dir); err != nil {
		m.o.Log.Warn("not removed", "dir", dir, "error", err)
	}
}
