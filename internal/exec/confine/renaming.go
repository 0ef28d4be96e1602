package confine

import (
	"bytes"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/box/world"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// renaming writes what is printed in a copy of the workspace with the workspace's own
// path: nobody else knows the copy.
type renaming struct {
	w     io.Writer
	paths [][2][]byte // what is written as what

	mu   sync.Mutex
	held []byte // the end of what was written, with which such a path may begin
}

// rename has the streams of a command write one path as another. finish writes what is
// held back of them at the end.
func rename(r *shell.Run, from, to string) (finish func()) {
	var paths [][2][]byte
	as := world.Written(to)
	for i, text := range world.Written(from) {
		for _, old := range encodings(text) {
			paths = append(paths, [2][]byte{old, []byte(as[min(i, len(as)-1)])})
		}
	}
	var all []*renaming
	wrap := func(w io.Writer) io.Writer {
		if _, isFile := w.(*os.File); isFile || w == nil {
			return w
		}
		all = append(all, &renaming{w: w, paths: paths})
		return all[len(all)-1]
	}
	same := r.Stdout == r.Stderr
	if r.Stdout = wrap(r.Stdout); same {
		r.Stderr = r.Stdout // one stream, so that the order holds
	} else {
		r.Stderr = wrap(r.Stderr)
	}
	return func() {
		for _, w := range all {
			w.finish()
		}
	}
}

func (r *renaming) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := slices.Concat(r.held, b)
	for _, p := range r.paths {
		text = bytes.ReplaceAll(text, p[0], p[1])
	}
	keep := 0
	for _, p := range r.paths {
		for n := min(len(p[0])-1, len(text)); n > keep; n-- {
			if bytes.HasSuffix(text, p[0][:n]) {
				keep = n
			}
		}
	}
	r.held = bytes.Clone(text[len(text)-keep:])
	if _, err := r.w.Write(text[:len(text)-keep]); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (r *renaming) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.held) > 0 {
		_, _ = r.w.Write(r.held)
		r.held = nil
	}
}
