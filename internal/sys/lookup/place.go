package lookup

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many links a path may lead over.
const maxLinks = 40

// program is why a program is not taken; "" if it is.
func program(path string, forbidden []root) string {
	if why, ok := walk(path, forbidden, func(info fs.FileInfo) string {
		if !info.Mode().IsRegular() {
			return "it is no program"
		}
		return ""
	}); !ok {
		return why
	}
	return ""
}

// directory is why nothing in a directory is taken; "" if it is.
func directory(path string, forbidden []root) string {
	if why, ok := walk(path, forbidden, func(info fs.FileInfo) string {
		if !info.IsDir() {
			return "it is no directory"
		}
		return ""
	}); !ok {
		return why
	}
	return ""
}

// walk follows a path from the top, over links, and sees of each directory and link on
// it that nobody else could have put another one there.
func walk(path string, forbidden []root, end func(fs.FileInfo) string) (why string, ok bool) {
	if !filepath.IsAbs(path) {
		return relative, false
	}
	path = filepath.Clean(path)
	links := 0
	at, rest := split(path)
	for {
		info, err := os.Lstat(at)
		if err != nil {
			return "it can't be looked at: " + err.Error(), false
		}
		for _, r := range forbidden {
			if within(r.path, at) || r.info != nil && os.SameFile(r.info, info) {
				return "it is below " + r.what + ", " + r.path, false
			}
		}
		if target, is := linkOf(at, info); is {
			if links++; links > maxLinks {
				return "it leads over too many links", false
			}
			if why := foreign(at, info); why != "" {
				return why, false
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(at), target)
			}
			at, rest = split(filepath.Join(append([]string{target}, rest...)...))
			continue
		}
		if len(rest) == 0 {
			if why := end(info); why != "" {
				return why, false
			}
			why := open(at, info, false)
			return why, why == ""
		}
		// In a sticky directory others can't replace what is not theirs; that what is
		// taken itself lies in one is not enough, because anybody may put things there.
		if why := open(at, info, len(rest) > 1); why != "" {
			return why, false
		}
		at, rest = filepath.Join(at, rest[0]), rest[1:]
	}
}

// below reports whether a path, or what its links lead to, lies below one of these.
func below(path string, forbidden []root) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	for _, r := range forbidden {
		if within(r.path, filepath.Clean(path)) || within(r.path, real) {
			return true
		}
	}
	return false
}

// split is the top of a path, and what comes below it.
func split(path string) (top string, rest []string) {
	volume := filepath.VolumeName(path)
	top = volume + string(filepath.Separator)
	below := strings.Trim(path[len(volume):], string(filepath.Separator))
	if below == "" {
		return top, nil
	}
	return top, strings.Split(below, string(filepath.Separator))
}

// linkOf is where a link leads. A junction of Windows is one.
func linkOf(path string, info fs.FileInfo) (target string, ok bool) {
	if info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
		return "", false
	}
	target, err := os.Readlink(path)
	return target, err == nil
}

// within reports whether a path is a directory or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
