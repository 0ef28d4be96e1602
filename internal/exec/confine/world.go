package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/box/world"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitguard"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// The values of the setting commands.world.
const (
	worldAuto    = "auto"    // an overlay where that can be had, else a copy, else the disk
	worldOverlay = "overlay" // nothing runs without one
	worldCopy    = "copy"    // a copy of the folder; nothing runs without one
	worldDisk    = "disk"    // commands see and change the disk
)

// enter has a command see its session's world, if it may have one: run is nil
// for the disk, and why says the reason for that. Where the world is elsewhere, r begins
// there.
func (c Commands) enter(spec *Spec, r *shell.Run) (run *world.Run, why string, err error) {
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
	run, err = begin(c.Confiner, spec, r, kind)
	switch {
	case errors.Is(err, world.ErrOthersRun):
		return nil, "", tools.ErrNotFrozen
	case errors.As(err, new(*world.NoCopyError)) && want == worldAuto:
		return nil, joined(c.noOverlay(level).Error(), err.Error()), nil
	case errors.As(err, new(*world.NoCopyError)):
		return nil, "", noWorld(want, err)
	case err != nil:
		return nil, "", &box.RefusedError{Why: "what the command is to see can't be made: " + err.Error()}
	}
	run.Show(&spec.Spec)
	if r.Held || r.LookOnly {
		spec.private()
	}
	if kind == world.SeparateCopy && r.Moved != nil {
		if r.Argv, r.Env, err = r.Moved(c.moved(r.Line, run.In), run.In); err != nil {
			_, _ = run.End(false)
			return nil, "", err
		}
	}
	r.Dir = run.In(r.Dir)
	return run, "", nil
}

// begin has a command see the world of one folder.
func begin(c *Confiner, spec *Spec, r *shell.Run, kind world.Kind) (*world.Run, error) {
	// Where worlds work, a command without one would change the disk past the review.
	held := r.Held || r.LookOnly && kind != world.SeparateCopy // there it can't write it in any case
	linked := spec.linked
	if !r.Held && !r.LookOnly {
		linked = nil // it is changed for real
	}
	return c.worlds.Begin(world.Request{
		Linked:  linked,
		Session: r.Session, Kind: kind, Root: spec.Root, View: r.Files, Hold: r.Held, Drop: r.Drop, Fresh: r.Fresh, Still: r.Frozen,
		Hidden: spec.Hidden, Sealed: spec.Sealed, Real: realIn(spec, held),
	})
}

// loose reports whether a command can write the workspace although it is to work in a
// copy elsewhere: there is no sandbox, or the settings let it.
func loose(c *Confiner) bool {
	level, err := c.Level()
	return err != nil || level == box.None || slices.ContainsFunc(c.o.Settings.Now().Strings("sandbox.writable"), func(dir string) bool {
		real, err := filepath.EvalSymlinks(dir)
		return err == nil && slices.ContainsFunc(c.o.Folders, func(folder string) bool {
			rel, err := filepath.Rel(real, folder)
			return err == nil && filepath.IsLocal(rel)
		})
	})
}

// worldKind is the kind of world that commands have by the setting, or why they have
// none.
func (c *Confiner) worldKind(want string, level box.Level) (world.Kind, error) {
	copies := copyAt(level)
	if want == worldCopy {
		return copies, c.worlds.Usable(copies)
	}
	err := c.noOverlay(level)
	if err == nil || want == worldOverlay {
		return world.Overlay, err
	}
	if box.Mode(c.o.Settings.Now().String("sandbox.mode")) == box.Off { // the user wants none
		return "", errors.New("the setting sidecar.sandbox.mode is off, so that nothing keeps a command in a copy; the setting sidecar.commands.world = copy gives it one all the same")
	}
	if copyErr := c.worlds.Usable(copies); copyErr != nil {
		if copyErr.Error() == err.Error() {
			return "", err
		}
		return "", errors.New(joined(err.Error(), copyErr.Error()))
	}
	return copies, nil
}

// copyAt is where a copy can be at a level: in the place of the folder, or apart.
func copyAt(level box.Level) world.Kind {
	if level < box.Bubblewrap {
		return world.SeparateCopy
	}
	return world.Copy
}

// noOverlay is why there can be no overlay.
func (c *Confiner) noOverlay(level box.Level) error {
	if level < box.Bubblewrap {
		return errors.New("it takes bubblewrap, and the setting sidecar.sandbox.mode other than off")
	}
	return c.worlds.Usable(world.Overlay)
}

// joined are why there is no overlay, if that was asked for, and why there is no copy.
func joined(overlay, copied string) string {
	if overlay == "" {
		return copied
	}
	return overlay + "; and a copy can't be had either: " + copied
}

// copies reports whether commands have a copy of the folder, as the settings are.
func (c *Confiner) copies() bool {
	want := c.o.Settings.Now().String("commands.world")
	if want == worldAuto && c.worlds.Usable(world.Overlay) == nil || want == worldOverlay || want == worldDisk {
		return false
	}
	return c.worlds.Usable(world.Copy) == nil
}

// noWorld is why a command does not run that must have a world.
func noWorld(want string, err error) error {
	return &box.RefusedError{Why: fmt.Sprintf("the setting sidecar.commands.world asks for %s, and there can be none: %v; change the setting to auto, or to disk", map[string]string{worldOverlay: "an overlay", worldCopy: "a copy of the workspace"}[want], err)}
}

// realIn are the directories in the root that a command changes for real: its
// repositories, where what it does is not held for review.
func realIn(spec *Spec, held bool) (dirs []string) {
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
	s.areas = slices.DeleteFunc(slices.Clone(s.areas), func(a gitguard.Area) bool { return isGit(a.Dir) })
}

// IsDir reports whether there is a directory in the world of a session alone.
func (c Commands) IsDir(session, root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel) && c.worlds.IsDir(session, root, rel)
}

// Leave gives up what commands of a session left in its worlds.
func (c Commands) Leave(session string) {
	c.worlds.CloseSession(session)
	c.homes.close(session)
	c.spending.close(session)
}

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
	if kind != world.Overlay && want == worldAuto {
		why = c.noOverlay(level).Error()
	}
	for _, dir := range c.o.Folders {
		if kind == world.Overlay {
			break
		}
		if err := c.worlds.Fits(dir); err != nil {
			return worldDisk, joined(why, err.Error())
		}
	}
	return kind.Word(), why
}

// Elsewhere is why a program that is told the workspace's paths has no world, as the
// settings are, although others have one; nil: it has one.
func (c *Confiner) Elsewhere() error {
	if level, err := c.Level(); err == nil && copyAt(level) == world.SeparateCopy {
		return errElsewhere
	}
	return nil
}

// errElsewhere is why such a program is not run.
var errElsewhere = errors.New("it is told the workspace's paths, and only bubblewrap can put a copy of the workspace there; `sidecar-ls run` runs it in one elsewhere")

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
