package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/settle"
	"github.com/sidecar-ls/sidecar-ls/internal/world"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// The values of the setting commands.world.
const (
	worldAuto    = "auto"    // an overlay where that can be had, else a shadow, else the disk
	worldOverlay = "overlay" // nothing runs without one
	worldShadow  = "shadow"  // a copy of the folder; nothing runs without one
	worldDisk    = "disk"    // commands see and change the disk
)

// enter has a command see its session's world, if it may have one: run is nil
// for the disk, and why says the reason for that.
func (c Commands) enter(spec *Spec, r shell.Run) (run *world.Run, why string, err error) {
	set := c.o.Settings.Now()
	want := set.String("commands.world")
	switch {
	case r.Files == nil || !slices.Contains(c.o.Folders, r.Root):
		return nil, "", nil // a shadow, where nothing is reviewed yet
	case want == worldDisk:
		return nil, "the setting sidecar.commands.world says so", nil
	}
	level, err := c.Level()
	if err != nil {
		return nil, "", err
	}
	kind, err := c.worldKind(want, level)
	switch {
	case err != nil && want != worldAuto:
		return nil, "", noWorld(want, err)
	case err != nil:
		return nil, err.Error(), nil //nolint:nilerr // it sees the disk, and the result says why
	}
	// Where worlds work, a command without one would change the disk past the review.
	keep := set.String("commands.output") == "session"
	run, err = c.worlds.Begin(world.Request{Session: r.Session, Kind: kind, Root: r.Root, View: r.Files, Keep: keep, Hidden: slices.Concat(spec.Hidden, spec.Sealed)})
	switch {
	case errors.As(err, new(*world.NoCopyError)) && want == worldAuto:
		return nil, joined(c.worlds.Usable(world.Overlay).Error(), err.Error()), nil
	case errors.As(err, new(*world.NoCopyError)):
		return nil, "", noWorld(want, err)
	case err != nil:
		return nil, "", &sandbox.RefusedError{Why: "what the command is to see can't be made: " + err.Error()}
	}
	spec.Merged = run.Merged(c.realIn(spec, r.Held || r.LookOnly))
	if keep {
		spec.ReadOnly = append(spec.ReadOnly, run.Lent()...)
	}
	if r.Held || r.LookOnly {
		spec.private()
	}
	return run, "", nil
}

// worldKind is the kind of world that commands have by the setting, or why they have
// none.
func (c *Confiner) worldKind(want string, level sandbox.Level) (world.Kind, error) {
	if level < sandbox.Bubblewrap {
		return "", errors.New("it takes bubblewrap, and the setting sidecar.sandbox.mode other than off")
	}
	if want == worldShadow {
		return world.Shadow, c.worlds.Usable(world.Shadow)
	}
	err := c.worlds.Usable(world.Overlay)
	if err == nil || want == worldOverlay {
		return world.Overlay, err
	}
	if copyErr := c.worlds.Usable(world.Shadow); copyErr != nil {
		if copyErr.Error() == err.Error() {
			return "", err
		}
		return "", errors.New(joined(err.Error(), copyErr.Error()))
	}
	return world.Shadow, nil
}

// joined are why there is no overlay, if that was asked for, and why there is no copy.
func joined(overlay, shadow string) string {
	if overlay == "" {
		return shadow
	}
	return overlay + "; and a copy can't be had either: " + shadow
}

// copies reports whether commands have a copy of the folder, as the settings are.
func (c *Confiner) copies() bool {
	want := c.o.Settings.Now().String("commands.world")
	if want == worldAuto && c.worlds.Usable(world.Overlay) == nil || want == worldOverlay || want == worldDisk {
		return false
	}
	return c.worlds.Usable(world.Shadow) == nil
}

// noWorld is why a command does not run that must have a world.
func noWorld(want string, err error) error {
	return &sandbox.RefusedError{Why: fmt.Sprintf("the setting sidecar.commands.world asks for %s, and there can be none: %v; change the setting to auto, or to disk", map[string]string{worldOverlay: "an overlay", worldShadow: "a shadow"}[want], err)}
}

// realIn are the directories in the root that a command changes for real: its
// repositories, where what it does is not held for review.
func (c Commands) realIn(spec *Spec, held bool) (dirs []string) {
	if held {
		return nil
	}
	root, err := filepath.EvalSymlinks(spec.Root)
	if err != nil {
		return nil
	}
	for _, path := range append([]string{filepath.Join(root, ".git")}, spec.Repositories...) {
		if info, err := os.Lstat(path); err == nil && info.IsDir() && info.Mode()&os.ModeSticky == 0 && !slices.Contains(dirs, path) && strings.HasPrefix(path, root+string(filepath.Separator)) {
			dirs = append(dirs, path)
		}
	}
	return dirs
}

// private keeps a command from changing repositories for real.
func (s *Spec) private() {
	isGit := func(dir string) bool { return slices.Contains(s.gitDirs, dir) }
	s.ReadOnly = append(s.ReadOnly, s.gitDirs...)
	s.Writable = slices.DeleteFunc(slices.Clone(s.Writable), isGit)
	s.areas = slices.DeleteFunc(slices.Clone(s.areas), func(a settle.Area) bool { return isGit(a.Dir) })
}

// IsDir reports whether there is a directory in the world of a session alone.
func (c Commands) IsDir(session, root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel) && c.worlds.IsDir(session, root, rel)
}

// Leave gives up what commands of a session left in its worlds.
func (c Commands) Leave(session string) { c.worlds.CloseSession(session) }

// Pending says that what is pending has changed: programs that stay see it.
func (c *Confiner) Pending() {
	if c != nil {
		c.worlds.Again()
	}
}

// WorldStatus is what commands see by the setting: an overlay, a shadow, or "disk".
// why says what keeps them from more.
func (c *Confiner) WorldStatus() (what, why string) {
	want := c.o.Settings.Now().String("commands.world")
	if want == worldDisk {
		return worldDisk, ""
	}
	level, err := c.Level()
	if err != nil {
		return worldDisk, err.Error()
	}
	kind, err := c.worldKind(want, level)
	if err != nil {
		return worldDisk, err.Error()
	}
	if kind == world.Shadow && want == worldAuto {
		why = c.worlds.Usable(world.Overlay).Error()
	}
	for _, dir := range c.o.Folders {
		if kind != world.Shadow {
			break
		}
		if err := c.worlds.Fits(dir); err != nil {
			return worldDisk, joined(why, err.Error())
		}
	}
	return string(kind), why
}

// trackedFiles reports what git tracks in root: a file, or with a slash at the
// end whether it tracks something in that directory.
func (c *Confiner) trackedFiles(root string) func(name string) bool {
	var names []string // sorted
	read := false
	return func(name string) bool {
		if !read {
			read = true
			names = c.indexNames(root)
		}
		i, found := slices.BinarySearch(names, name)
		return found || strings.HasSuffix(name, "/") && i < len(names) && strings.HasPrefix(names[i], name)
	}
}

// indexNames are the names in the index of the repository that root is in,
// relative to root, sorted.
func (c *Confiner) indexNames(root string) (names []string) {
	repo, err := c.o.Repos.Open(context.Background(), root)
	if err != nil {
		return nil
	}
	x, err := index.Read(filepath.Join(repo.GitDir, "index"))
	if err != nil {
		return nil
	}
	prefix := ""
	if rel, err := filepath.Rel(repo.Dir, root); err == nil && rel != "." {
		prefix = filepath.ToSlash(rel) + "/"
	}
	for i := range x.Entries {
		if name, ok := strings.CutPrefix(x.Entries[i].Name, prefix); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
