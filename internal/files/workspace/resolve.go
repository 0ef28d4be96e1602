package workspace

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A longer path can't be opened anyway; refusing it here keeps a long one from
// becoming thousands of new directories.
const (
	maxPath    = 4095
	maxSegment = 255
)

var scheme = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]+:/`)

// Resolve turns a path as a caller wrote it into a name. Nothing is decoded or
// expanded, and links are judged when the name is used. Where several spellings
// lead to one file, the name is the one that the file has on disk.
func (d *Disk) Resolve(given string) (string, error) {
	name, err := d.resolve(given)
	if err != nil {
		shown := given
		if len(shown) > 200 {
			shown = strings.ToValidUTF8(shown[:200], "") + "…"
		}
		return "", &fs.PathError{Op: "resolve", Path: shown, Err: err}
	}
	return d.spelled(d.inner.most(name)), nil
}

func (d *Disk) resolve(given string) (string, error) {
	switch {
	case given == "":
		return "", fmt.Errorf("%w: the path is empty", fs.ErrInvalid)
	case !utf8.ValidString(given):
		return "", fmt.Errorf("%w: the path is not valid UTF-8", fs.ErrInvalid)
	case strings.IndexByte(given, 0) >= 0:
		return "", fmt.Errorf("%w: the path holds a NUL", fs.ErrInvalid)
	case len(given) > maxPath:
		return "", fmt.Errorf("%w: the path is longer than %d bytes", fs.ErrInvalid, maxPath)
	case given == "~" || strings.HasPrefix(given, "~/"):
		return "", fmt.Errorf("%w: ~ is not expanded", ErrOutside)
	case strings.HasPrefix(given, "$") && strings.Contains(given, "/"):
		return "", fmt.Errorf("%w: variables are not expanded", ErrOutside)
	}
	slashed := filepath.ToSlash(given)
	if err := d.checkBackslash(slashed); err != nil {
		return "", err
	}
	below := slashed
	if filepath.IsAbs(given) {
		below = slashed[len(filepath.VolumeName(given)):]
	}
	if err := checkSegments(d.system, below); err != nil {
		return "", err
	}
	if filepath.IsAbs(given) || strings.HasPrefix(slashed, "/") {
		return d.resolveAbs(filepath.Clean(given))
	}
	if scheme.MatchString(slashed) {
		return "", fmt.Errorf("%w: it is a URI, give a path", fs.ErrInvalid)
	}
	name := path.Clean(slashed)
	if name == ".." || strings.HasPrefix(name, "../") {
		return "", ErrOutside
	}
	return name, d.checkName(name)
}

// resolveAbs finds the root that holds an absolute path; of nested roots, the
// innermost.
func (d *Disk) resolveAbs(clean string) (string, error) {
	best, name := 0, ""
	for _, f := range d.folders {
		for _, dir := range [...]string{f.Dir, f.real} {
			rel, err := filepath.Rel(dir, clean)
			if err != nil || !filepath.IsLocal(rel) || len(dir) <= best {
				continue
			}
			best, name = len(dir), filepath.ToSlash(rel)
			if len(d.folders) > 1 {
				name = path.Join(f.Name, name)
			}
		}
	}
	if best == 0 {
		f, rel := d.underRoot(clean)
		if f == nil {
			return "", ErrOutside
		}
		name = d.viewName(f, rel)
	}
	return name, d.checkName(name)
}

// checkBackslash refuses the separator of another system, which would become
// an odd file name here, unless there is a file of that very name.
func (d *Disk) checkBackslash(slashed string) error {
	if !strings.Contains(slashed, `\`) {
		return nil
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(slashed, `\`, "/"), "/") {
		if part == ".." {
			return ErrOutside
		}
	}
	if f, rel, err := d.locate(path.Clean(slashed)); err == nil && f != nil {
		if _, err := f.root.Lstat(rel); err == nil {
			return nil
		}
	}
	return fmt.Errorf(`%w: use / as separator, not \`, fs.ErrInvalid)
}

func (d *Disk) checkName(name string) error {
	segments := 0
	for part := range strings.SplitSeq(name, "/") {
		segments++
		if len(part) > maxSegment {
			return fmt.Errorf("%w: a segment is longer than %d bytes", fs.ErrInvalid, maxSegment)
		}
		if part != "." && looksLikeDots(part) {
			return fmt.Errorf("%w: the segment %q only looks like dots", fs.ErrInvalid, part)
		}
		if segments > 1 || len(d.folders) == 1 || name == "." {
			continue
		}
		if _, _, err := d.locate(part); err != nil {
			return unrooted(d, name)
		}
	}
	return nil
}

// looksLikeDots reports whether some system or reader takes a segment for "."
// or "..", which path.Clean has removed in their true form.
func looksLikeDots(part string) bool {
	seen := strings.TrimSpace(strings.Map(func(r rune) rune {
		switch r {
		case '.', '．', '․', '﹒': // full stop: ASCII, full width, one dot leader, small
			return '.'
		}
		if invisible(r) {
			return -1
		}
		return r
	}, part))
	return seen == "." || seen == ".." || seen == "‥"
}

// unrooted is the error for a name that begins with no root: it says which one has it.
func unrooted(d *Disk, name string) error {
	var there []string
	for _, f := range d.folders {
		if _, err := f.root.Lstat(filepath.FromSlash(name)); err == nil {
			there = append(there, f.Name+"/"+name)
		}
	}
	if len(there) > 0 {
		return fmt.Errorf("%w: begin with the name of a root; there is %s", fs.ErrInvalid, strings.Join(there, ", "))
	}
	return fmt.Errorf("%w: begin with the name of a root (%s)", fs.ErrInvalid, d.rootNames())
}

func (d *Disk) rootNames() string {
	var names []string
	for _, f := range d.folders {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}
