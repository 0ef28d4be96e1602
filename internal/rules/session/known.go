package session

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"sync"
)

// Bounds of what a session remembers of the files that it has read.
const (
	maxKnown      = 512
	maxKnownText  = 128 << 10 // bytes of a file whose text is kept
	maxKnownTexts = 1 << 20   // bytes of all
)

// Known is what a session knows of the texts of files: those that it has read whole, with
// what it made of them since. It tells whether others have changed a file meanwhile.
type Known struct {
	mu    sync.Mutex
	files []knownFile // the last is the newest
}

type knownFile struct {
	name string
	sum  [sha256.Size]byte
	text []byte // nil: it is not kept
}

// Saw notes that the session was shown a file, or a part of it: that is not news of the rest.
func (k *Known) Saw(name string, data []byte, whole bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := k.find(name); whole || i < 0 {
		k.put(name, data)
	}
}

// Gone notes that the session was shown that there is no such file.
func (k *Known) Gone(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.files = slices.DeleteFunc(k.files, func(f knownFile) bool { return f.name == name })
}

// Changed reports whether a file is another than the session knows, and what it knows: nil if
// that is not kept. Of a file that it has not read it knows nothing.
func (k *Known) Changed(name string, now []byte) (was []byte, changed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := k.find(name)
	if i < 0 || k.files[i].sum == sha256.Sum256(now) {
		return nil, false
	}
	return k.files[i].text, true
}

// Made notes a change that the session has made: where it knew the text before, it knows it
// after, too. nil is no file, and from the old name of one that moves.
func (k *Known) Made(name, from string, before, after []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := k.find(cmp.Or(from, name))
	knew := before == nil || i >= 0 && k.files[i].sum == sha256.Sum256(before)
	if i >= 0 && (from != "" || after == nil) {
		k.files = slices.Delete(k.files, i, i+1)
	}
	if knew && after != nil {
		k.put(name, after)
	}
}

func (k *Known) find(name string) int {
	return slices.IndexFunc(k.files, func(f knownFile) bool { return f.name == name })
}

func (k *Known) put(name string, data []byte) {
	f := knownFile{name: name, sum: sha256.Sum256(data)}
	if len(data) <= maxKnownText {
		f.text = append([]byte{}, data...)
	}
	k.files = append(slices.DeleteFunc(k.files, func(f knownFile) bool { return f.name == name }), f)
	k.files = k.files[max(0, len(k.files)-maxKnown):]
	room := maxKnownTexts
	for i := range slices.Backward(k.files) {
		if room -= len(k.files[i].text); room < 0 {
			k.files[i].text = nil
		}
	}
}
