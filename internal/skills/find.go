package skills

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Bounds of a search for skills below one place.
const (
	maxDepth = 6
	maxDirs  = 2000
	maxFound = 200
)

// Bounds of what is read, in bytes.
const (
	maxFile = 1 << 20  // a SKILL.md that is longer is none
	maxBody = 64 << 10 // what is read of one
	maxPart = 64 << 10 // of another file of a skill
)

// file is the name of what makes a directory a skill.
const file = "SKILL.md"

// source is where the files of skills are: each opening is closed by who opened it.
type source interface {
	open() (fs.FS, func(), error)
	at(dir string) source // of a directory in it
}

// inView are files of a session.
type inView struct{ files fs.FS }

func (v inView) open() (fs.FS, func(), error) { return v.files, func() {}, nil }
func (v inView) at(dir string) source         { return below{v, dir} }

// below is a directory of another source.
type below struct {
	source
	dir string
}

func (b below) open() (fs.FS, func(), error) {
	files, end, err := b.source.open()
	if err != nil {
		return nil, nil, err
	}
	sub, err := fs.Sub(files, b.dir)
	if err != nil {
		end()
		return nil, nil, err
	}
	return sub, end, nil
}

func (b below) at(dir string) source { return below{b.source, path.Join(b.dir, dir)} }

// onDisk is a directory of the disk, below one that no link on the way leads out of. No
// link in it leads out of it.
type onDisk struct{ top, dir string }

func (d onDisk) open() (fs.FS, func(), error) {
	top, err := os.OpenRoot(d.top)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = top.Close() }()
	root, err := top.OpenRoot(filepath.FromSlash(d.dir))
	if err != nil {
		return nil, nil, err
	}
	return root.FS(), func() { _ = root.Close() }, nil
}

func (d onDisk) at(dir string) source { return onDisk{d.top, path.Join(d.dir, dir)} }

//go:embed shipped
var shippedFiles embed.FS

// embedded are the files that ship.
type embedded struct{}

func (embedded) open() (fs.FS, func(), error) { return shippedFiles, func() {}, nil }
func (e embedded) at(dir string) source       { return below{e, dir} }

// finder finds the skills of one place.
type finder struct {
	l        *Library
	ctx      context.Context
	place    Place
	keep     bool            // the texts of what is found
	seen     map[string]bool // directories of skills that were read, of all places
	dirs     int
	met      map[string]bool // directories that were looked at, so that no link leads there again
	found    []*Skill
	problems []string
}

func (l *Library) finder(ctx context.Context, p Place, seen map[string]bool) *finder {
	return &finder{l: l, ctx: ctx, place: p, seen: seen, met: map[string]bool{}}
}

func (f *finder) problem(where string, err error) {
	const most = 20
	if len(f.problems) < most {
		f.problems = append(f.problems, f.l.clean(fmt.Sprintf("the %s skill in %s is left out: %v", f.place.Origin, where, err)))
	}
}

// lookInPlace looks below the place. Directly in one of the user's, links lead where the
// user has made them lead.
func (f *finder) lookInPlace() {
	f.look(onDisk{f.place.Dir, "."}, ".")
	if f.place.Origin != OfUser {
		return
	}
	entries, err := os.ReadDir(f.place.Dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 || f.over() {
			continue
		}
		real, err := filepath.EvalSymlinks(filepath.Join(f.place.Dir, e.Name()))
		if info, err2 := os.Stat(real); err == nil && err2 == nil && info.IsDir() && !f.met[real] {
			f.met[real] = true
			f.directory(onDisk{real, "."}, e.Name())
		}
	}
}

// look looks below a directory of a source.
func (f *finder) look(src source, dir string) {
	files, end, err := src.open()
	if err != nil {
		return
	}
	defer end()
	if info, err := fs.Stat(files, dir); err == nil && info.IsDir() {
		f.walk(src, files, dir, 0)
	}
}

func (f *finder) over() bool {
	return f.dirs >= maxDirs || len(f.found) >= maxFound || f.ctx.Err() != nil
}

// walk looks into the directories of a directory.
func (f *finder) walk(src source, files fs.FS, dir string, depth int) {
	if f.dirs++; f.over() {
		if f.dirs == maxDirs || len(f.found) == maxFound {
			f.problem(dir, fmt.Errorf("there are more than %d directories or %d skills in its place", maxDirs, maxFound))
		}
		return
	}
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.Name() == ".git" || e.Name() == "node_modules" || depth >= maxDepth:
			continue
		case e.Type()&fs.ModeSymlink != 0:
			real, ok := realDir(files, name)
			if !ok || f.met[real] {
				continue
			}
			f.met[real] = true
		case !e.IsDir():
			continue
		default:
			if f.met[name] {
				continue
			}
			f.met[name] = true
		}
		if _, err := fs.Stat(files, path.Join(name, file)); err == nil {
			f.skill(src.at(name), files, name, e.Name())
			continue
		}
		f.walk(src, files, name, depth+1)
	}
}

// directory looks at a directory that may be a skill itself.
func (f *finder) directory(src source, folder string) {
	files, end, err := src.open()
	if err != nil {
		return
	}
	defer end()
	if _, err := fs.Stat(files, file); err == nil {
		f.skill(src, files, ".", folder)
		return
	}
	f.walk(src, files, ".", 1)
}

// realDir is where a link to a directory leads, by the view or the directory that it is in.
func realDir(files fs.FS, name string) (string, bool) {
	info, err := fs.Stat(files, name)
	if err != nil || !info.IsDir() {
		return "", false
	}
	if paths, ok := files.(workspace.Paths); ok {
		real, err := paths.RealName(name)
		return real, err == nil
	}
	return name, true
}

// skill reads the skill in dir.
func (f *finder) skill(src source, files fs.FS, dir, folder string) {
	s := &Skill{Origin: f.place.Origin, Project: f.place.Project, files: src}
	where, real := dir, dir
	switch at := src.(type) {
	case onDisk:
		where = filepath.Join(at.top, filepath.FromSlash(at.dir))
		if real = where; f.seen != nil {
			real, _ = filepath.EvalSymlinks(where)
		}
	default:
		if paths, ok := files.(workspace.Paths); ok {
			real, _ = paths.RealName(dir)
			real = paths.Abs(real)
		}
	}
	if f.seen[real] { // two places lead to it
		return
	}
	if f.seen != nil {
		f.seen[real] = true
	}
	s.path = filepath.Join(real, file)
	if err := f.read(s, files, dir, folder); err != nil {
		f.problem(where, err)
		return
	}
	f.found = append(f.found, s)
}

func (f *finder) read(s *Skill, files fs.FS, dir, folder string) error {
	info, err := fs.Stat(files, path.Join(dir, file))
	if err != nil {
		return err
	}
	if info.Size() > maxFile {
		return fmt.Errorf("%s has %d bytes, and may have %d: move what is needed seldom into files beside it", file, info.Size(), maxFile)
	}
	text, _, err := readText(files, path.Join(dir, file), maxFile)
	if err != nil {
		return err
	}
	if s.hash = hashOf(text); f.keep {
		s.text = text
	}
	head, body, err := split(text)
	if err != nil {
		return err
	}
	fields, err := parse(head, func(format string, args ...any) {
		if len(s.Warnings) < 10 {
			s.Warnings = append(s.Warnings, f.l.clean(fmt.Sprintf(format, args...)))
		}
	})
	if err != nil {
		return err
	}
	if s.body = body; len(body) > maxBody {
		s.body, s.cut = strings.ToValidUTF8(body[:maxBody], ""), true
		s.Warnings = append(s.Warnings, fmt.Sprintf("its body has %d bytes, of which %d are read", len(body), maxBody))
	}
	return f.l.finish(s, fields, folder)
}

// readText reads a text of at most so many bytes; more reports whether it goes on.
func readText(files fs.FS, name string, most int) (text string, more bool, err error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return "", false, err
	}
	if !info.Mode().IsRegular() {
		return "", false, &fs.PathError{Op: "read", Path: name, Err: workspace.ErrSpecial}
	}
	file, err := files.Open(name)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err != nil {
		return "", false, err
	}
	if more = len(data) > most; more {
		for data = data[:most]; len(data) > 0 && !utf8.RuneStart(data[len(data)-1]); {
			data = data[:len(data)-1]
		}
		if r, _ := utf8.DecodeLastRune(data); r == utf8.RuneError {
			data = data[:len(data)-1]
		}
	}
	if !utf8.Valid(data) || slices.Contains(data, 0) {
		return "", false, fmt.Errorf("%s is no text in UTF-8", path.Base(name))
	}
	return string(data), more, nil
}

// Bounds of the list of a skill's files.
const (
	maxFiles     = 100
	maxFileDepth = 6
)

// Files are the names of the files beside SKILL.md, relative to the skill; more reports
// whether there are others. What may hold secrets is left out.
func (s *Skill) Files() (names []string, more bool) {
	files, end, err := s.open()
	if err != nil {
		return nil, false
	}
	defer end()
	dirs := 0
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		if dirs++; dirs > maxDirs || depth > maxFileDepth {
			more = true
			return
		}
		entries, err := fs.ReadDir(files, dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			switch {
			case len(names) == maxFiles:
				more = true
				return
			case e.IsDir():
				if e.Name() != ".git" && e.Name() != "node_modules" {
					walk(name, depth+1)
				}
			case name == file || !e.Type().IsRegular() || workspace.Sensitive(name):
			default:
				names = append(names, name)
			}
		}
	}
	walk(".", 0)
	return names, more
}

// ErrName says that a name can't be one of a skill's files.
var ErrName = errors.New("it is no name of a file of the skill: give one of those that it lists, relative to the skill, with /")

// Read reads a file of the skill; more reports whether it goes on. No name and no link
// leads out of the skill.
func (s *Skill) Read(name string) (text string, more bool, err error) {
	name = path.Clean(name)
	if !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, 0) || strings.Contains(name, `\`) {
		return "", false, ErrName
	}
	if workspace.Sensitive(name) {
		return "", false, &fs.PathError{Op: "read", Path: name, Err: workspace.ErrSensitive}
	}
	files, end, err := s.open()
	if err != nil {
		return "", false, err
	}
	defer end()
	return readText(files, name, maxPart)
}
