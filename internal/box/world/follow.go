package world

import (
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Saved forwards a file of the disk, by its path, to the programs that run in
// worlds of its folder: the kernel tells them nothing of a change below.
func (m *Manager) Saved(path string) { m.each(func(w *world) { w.forward(path) }) }

// Again puts before the programs that run what is pending now.
func (m *Manager) Again() {
	m.each(func(w *world) { _, _ = w.prepare(w.view, true) }) // what fails here fails for the next command, which says it
}

// Forget makes the kernel forget what it knows of names that no program uses: one
// that was not there may be there now. A copy is brought up to the folder.
func (m *Manager) Forget() {
	m.each(func(w *world) { _ = w.layer.renew(w.view, true) })
}

// each calls f for each world in which programs run, with its lock held.
func (m *Manager) each(f func(*world)) {
	m.mu.Lock()
	var all []*world
	for _, w := range m.worlds {
		all = append(all, w)
	}
	m.mu.Unlock()
	for _, w := range all {
		w.mu.Lock()
		if w.users > 0 && !w.closed && !w.still {
			f(w)
		}
		w.mu.Unlock()
	}
}

// forward writes a file of the folder into the world, unless a command or a
// pending edit has made another of it there.
func (w *world) forward(path string) {
	rel, ok := nameIn(w.root, path)
	if !ok || workspace.Protected(rel) == workspace.Never {
		return
	}
	if w.held[rel] == nil && w.layer.follow(rel) {
		return
	}
	top, err := w.inside()
	if err != nil {
		return
	}
	defer top.Close()
	at := filepath.FromSlash(rel)
	info, err := top.Lstat(at)
	h := w.held[rel]
	if err == nil {
		now, _, err := readNodeOf(regular{top}, at)
		if err != nil || h == nil || !h.same || now != h.node || isWhiteout(info) {
			return
		}
	}
	low, text, err := readNode(path)
	if err != nil || h == nil && !low.there || h != nil && h.node == low {
		return
	}
	x := want{held: held{node: low, text: text, lower: stampOf(path), same: true}}
	if w.putMerged(rel, x) == nil {
		w.held[rel] = &x.held
	}
}
