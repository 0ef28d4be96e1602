package world

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// What is built where a copy is elsewhere may have a path in it: that of the folder, if
// it was built before, or that of the copy. Either leads to the wrong one of the two.

// namesFolder reports whether a text in a directory has the folder's path in it, as the
// settings of a build have: it would build what is on the disk.
func (c *renewal) namesFolder(rel string) bool {
	_, found := firstNaming(c.from(rel), c.s.w.root)
	return found
}

// mayNameCopy reports that nobody minds a path in what is there: packages of Node.js are
// many, and found by where they are.
func mayNameCopy(rel string) bool {
	for dir := rel; dir != "."; dir = up(dir) {
		switch path.Base(dir) {
		case "node_modules", "bower_components", ".pnpm-store":
			return true
		}
	}
	return false
}

// namesCopy is a text of what was built that has the copy's path in it, as the settings
// of a build and the programs of an environment of Python have; "" is none. Outside it
// would lead into the copy. In programs and objects the path is, nearly always, for
// debuggers.
func (w *world) namesCopy(built []output) (name string) {
	for _, o := range built {
		if mayNameCopy(o.rel) {
			continue
		}
		if at, found := firstNaming(filepath.Join(w.upper(), filepath.FromSlash(o.rel)), w.upper()); found {
			return filepath.ToSlash(strings.TrimPrefix(at, w.upper()+string(filepath.Separator)))
		}
	}
	return ""
}

// firstNaming is the first text below a path, or link, that has dir in it.
func firstNaming(below, dir string) (at string, found bool) {
	var paths [][]byte
	for _, path := range Written(dir) {
		paths = append(paths, []byte(path))
	}
	_ = filepath.WalkDir(below, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what can't be read is neither copied nor moved
		case d.IsDir() && mayNameCopy(d.Name()) && path != below:
			return fs.SkipDir
		case d.Type().IsRegular() && textHas(path, paths) || d.Type()&fs.ModeSymlink != 0 && leadsTo(path, dir):
			at, found = path, true
			return fs.SkipAll
		}
		return nil
	})
	return at, found
}

// Written are the ways in which programs write a path: as it is, and on Windows as text
// in a string of JSON or C, with slashes, and as the shells of Git and WSL do. The forms
// of two paths are in the same order, and are as many.
func Written(path string) []string {
	drive, rest, _ := strings.Cut(path, ":")
	onDrive := len(drive) == 1 && strings.HasPrefix(rest, `\`)
	if !onDrive && !strings.HasPrefix(path, `\\`) {
		return []string{path}
	}
	slashes := strings.ReplaceAll(path, `\`, `/`)
	unix := slashes
	if onDrive {
		unix = "/" + strings.ToLower(drive) + slashes[len("C:"):]
	}
	return []string{path, strings.ReplaceAll(path, `\`, `\\`), slashes, unix}
}

// leadsTo reports whether a link has a path in dir.
func leadsTo(link, dir string) bool {
	target, err := os.Readlink(link)
	return err == nil && moved(target, dir, "") != target
}

// textHas reports whether a text has one of some words in it. What has a NUL near its
// beginning is no text.
func textHas(path string, words [][]byte) bool {
	f, err := osfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	const block = 64 << 10
	overlap := 0
	for _, word := range words {
		overlap = max(overlap, len(word)-1)
	}
	buf, have := make([]byte, overlap+block), 0
	for first, rest := true, maxText; rest > 0; first, rest = false, rest-block {
		n, err := io.ReadFull(f, buf[have:])
		data := buf[:have+n]
		if first && bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0 {
			return false
		}
		if slices.ContainsFunc(words, func(word []byte) bool { return bytes.Contains(data, word) }) {
			return true
		}
		if err != nil {
			return false
		}
		have = copy(buf, data[len(data)-overlap:])
	}
	return false
}

// maxText bounds what is read of a text, in bytes: what is larger is data.
const maxText = 32 << 20
