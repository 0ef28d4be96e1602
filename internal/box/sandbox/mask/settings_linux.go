package mask

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mount"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// settingsPath is where the copies of repositories' settings are found in the
// sandbox, which are bound over the files.
const settingsPath = "/run/sidecar-ls-settings"

// shownSettings are what a command sees of repositories' settings: copies, which
// stand over the files. git replaces such a file by another one, and takes the
// mount with it; a copy can be put over that one, too.
type shownSettings struct {
	dir   string
	spec  spec.Spec
	files map[string]*shownFile
	names []string // the keys of files, sorted
}

type shownFile struct {
	name string   // in dir
	runs []string // what Spec.Settings said of it when the command started

	// closed: it lies where the command can't write, so that who replaces it is another
	// program in any case.
	closed bool
}

// ShowSettings makes the copies: for the settings that guards protect, and for those of all other
// repositories in sight. Without a Spec.Settings there are none.
func ShowSettings(s spec.Spec, guards []*Guard) (_ *shownSettings, remove func(), err error) {
	shown := &shownSettings{spec: s, files: map[string]*shownFile{}}
	if s.Settings == nil {
		return shown, func() {}, nil
	}
	texts := map[string][]byte{}
	for _, g := range guards {
		for _, path := range g.settings {
			f := &shownFile{}
			texts[path], f.runs = s.Settings(s.Host(path))
			shown.files[path] = f
		}
	}
	for _, path := range otherSettings(s) {
		if shown.files[path] != nil {
			continue
		}
		text, _ := s.Settings(s.Host(path))
		own := filepath.Base(filepath.Dir(path)) == ".git" && slices.Contains(s.Folders(), filepath.Dir(filepath.Dir(path)))
		if there, err := os.ReadFile(s.Host(path)); err == nil && (own || !bytes.Equal(there, text)) {
			texts[path], shown.files[path] = text, &shownFile{closed: true}
		}
	}
	if len(texts) == 0 {
		return shown, func() {}, nil
	}
	if shown.dir, err = os.MkdirTemp("", "sidecar-ls-settings-*"); err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(shown.dir) }
	shown.names = slices.Sorted(maps.Keys(texts))
	for i, path := range shown.names {
		f := shown.files[path]
		f.name = strconv.Itoa(i)
		if err := os.WriteFile(filepath.Join(shown.dir, f.name), texts[path], 0o644); err != nil {
			remove()
			return nil, nil, err
		}
	}
	return shown, remove, nil
}

// otherSettings are the settings of the repositories that no guard protects name by name: in
// a directory that can't be written, as that of submodules is, and all where only reading is.
func otherSettings(s spec.Spec) (files []string) {
	var dirs []string
	for _, folder := range s.Folders() {
		dirs = append(dirs, filepath.Join(folder, ".git"))
	}
	dirs = append(dirs, s.Repositories...)
	for _, dir := range s.ReadOnly {
		if spec.GitDir(s.Host(dir)) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		for _, name := range gitEmpty {
			path := filepath.Join(dir, name)
			hidden := slices.ContainsFunc(s.Hidden, func(other string) bool { return spec.Within(path, other) })
			if info, err := os.Lstat(s.Host(path)); err == nil && info.Mode().IsRegular() && !StandsIn(info) && !hidden {
				files = append(files, path)
			}
		}
	}
	for _, path := range s.Included {
		hidden := slices.ContainsFunc(s.Hidden, func(other string) bool { return spec.Within(path, other) })
		if info, err := os.Lstat(s.Host(path)); err == nil && info.Mode().IsRegular() && !hidden {
			files = append(files, path)
		}
	}
	return files
}

// source is the file that stands over a path; "" is none.
func (s *shownSettings) source(path string) string {
	if f := s.files[path]; f != nil {
		return filepath.Join(s.dir, f.name)
	}
	return ""
}

// maxReplaced bounds how often settings may be replaced before the last copy is
// in its place.
const maxReplaced = 100

// again puts the copy over settings that another program has replaced, unless the
// command may have had a hand in that, where it can write: by a file that is open for writing, or
// settings that decide on what is run or where something is sent.
func (s *shownSettings) again(mounts *os.File, m mask) error {
	f := s.files[m.path]
	if f == nil || mounts == nil {
		return errors.New("it is no file of settings")
	}
	at := s.spec.Host(m.path)
	for range maxReplaced {
		done, err := s.cover(mounts, m, f, at)
		if done || err != nil {
			return err
		}
	}
	return errors.New("it is replaced all the time")
}

func (s *shownSettings) cover(mounts *os.File, m mask, f *shownFile, at string) (done bool, err error) {
	file, err := os.OpenFile(at, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, errors.New("it is no regular file")
	}
	if err := mount.BindThere(mounts, filepath.Join(settingsPath, f.name), m.place); err != nil {
		if errors.Is(err, unix.ENOENT) && spec.Exists(at) {
			return false, nil // it was replaced at this moment
		}
		return false, err
	}
	same := func() bool {
		now, err := os.Lstat(at)
		return err == nil && os.SameFile(info, now)
	}
	if !same() {
		return false, nil
	}
	if f.closed {
		text, _ := s.spec.Settings(at)
		if err := rewrite(filepath.Join(s.dir, f.name), text); err != nil {
			return false, err
		}
		return same(), nil
	}
	// From here on the command can't open it. The kernel grants a lease for reading
	// only when nobody has it open for writing.
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return false, fmt.Errorf("it may be open for writing: %w", err)
	}
	_, _ = unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	text, runs := s.spec.Settings(at)
	for _, r := range runs {
		if !slices.Contains(f.runs, r) {
			return false, errors.New("it has settings that it did not have before, and that decide on what is run or where something is sent")
		}
	}
	if err := rewrite(filepath.Join(s.dir, f.name), text); err != nil {
		return false, err
	}
	return same(), nil
}

// rewrite changes what a file has in it, in place: it is mounted.
func rewrite(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	return errors.Join(err, f.Truncate(int64(len(text))), f.Close())
}
