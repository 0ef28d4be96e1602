package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// A world is complete where nothing leaves it without a decision: then commands run in it
// unasked. Each condition is looked at when a command is decided on, and again when it starts.

// Complete says what of a complete world commands have, in the order of docs/border.md.
func (c *Confiner) Complete(ctx context.Context, use effects.Use) []effects.Condition {
	level, err := c.Level()
	if err == nil && c.o.Program == "" {
		err = errNoProgram
	}
	set := c.o.Settings.Now()
	return []effects.Condition{
		fullSandbox(level, err), wholeWorld(c, set, use), holds("git", "commits, references and output stay in the session"),
		noWayOut(c, use.Session), noSockets(&c.sockets, inView(ctx, c, set, c.o.Folders)), noSecrets(ctx, c, level, use), c.spending.bounds(payer(c, use.Session), use.Background),
	}
}

func holds(name, why string) effects.Condition {
	return effects.Condition{Name: name, Holds: true, Why: why}
}

func fails(name, format string, args ...any) effects.Condition {
	return effects.Condition{Name: name, Why: fmt.Sprintf(format, args...)}
}

func fullSandbox(level box.Level, err error) effects.Condition {
	const name = "sandbox"
	switch {
	case err != nil:
		return fails(name, "%v", err)
	case level != box.Full:
		return fails(name, "it is %s, and not %s", level, box.Full)
	}
	return holds(name, level.String())
}

// wholeWorld also says that git is private: what is held is held with it.
func wholeWorld(c *Confiner, set *config.Settings, use effects.Use) effects.Condition {
	const name = "files"
	if use.Shadow {
		return fails(name, "the session works in a shadow workspace, whose files commands change")
	}
	if dirs := set.Strings("sandbox.writable"); len(dirs) > 0 {
		return fails(name, "the setting sidecar.sandbox.writable lets commands write %s", dirs[0])
	}
	what, why := c.WorldStatus()
	switch {
	case what == worldDisk && why == "":
		return fails(name, "the setting sidecar.commands.world is disk")
	case what == worldDisk:
		return fails(name, "commands change the disk: %s", why)
	case c.Elsewhere() != nil:
		return fails(name, "the copy of the workspace is at another path")
	}
	return holds(name, map[bool]string{true: "an overlay", false: "a copy"}[what == worldOverlay]+" of every folder, whose changes wait for review")
}

func noWayOut(c *Confiner, session string) effects.Condition {
	const name = "network"
	if own, why := c.OwnNetwork(); !own {
		return fails(name, "%s", why)
	}
	n := c.exits.Network(session) // with the hosts of an agent that runs there
	if !n.Ask && len(n.Hosts) == 0 {
		return holds(name, "a localhost of the session, without a way out")
	}
	return holds(name, "a localhost of the session; other hosts one by one, as sidecar.sandbox.network says")
}

// noSockets looks for servers of the machine at places that commands see. Those in the
// workspace are hidden, and so are /run, /tmp and the home.
func noSockets(s *socketFiles, dirs []string) effects.Condition {
	const name = "sockets"
	tables, err := socketTables()
	if err != nil {
		return fails(name, "it is not known which sockets the machine has: %v", err)
	}
	if at := s.inSight(tables, dirs); len(at) > 0 {
		return fails(name, "a server of this machine listens at %s, which commands see", at[0])
	}
	return holds(name, "no server of this machine is in sight")
}

// visible are the directories of the machine that commands see, besides the workspace.
func visible(set *config.Settings, root string) []string {
	dirs := slices.Concat(box.Programs, []string{"/etc"}, base(set, root).ReadOnly)
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, box.Installed(home)...)
	}
	var real []string
	for _, dir := range dirs {
		if at, err := filepath.EvalSymlinks(dir); err == nil && !slices.Contains(real, at) {
			real = append(real, at)
		}
	}
	return real
}

// inView are the directories of the machine that commands see as they are, with the
// repositories that folders are linked working trees of.
func inView(ctx context.Context, c *Confiner, set *config.Settings, folders []string) []string {
	dirs := visible(set, c.o.Root)
	for _, folder := range folders {
		repo, err := c.o.Repos.Open(ctx, folder)
		if err == nil && repo.CommonDir != filepath.Join(repo.Dir, ".git") && !slices.Contains(dirs, repo.CommonDir) {
			dirs = append(dirs, repo.CommonDir)
		}
	}
	return dirs
}

func noSecrets(ctx context.Context, c *Confiner, level box.Level, use effects.Use) effects.Condition {
	const name = "secrets"
	if !level.Hides() {
		return fails(name, "nothing hides files from commands")
	}
	hidden, why := 0, ""
	for _, dir := range c.o.Folders {
		spec := base(c.o.Settings.Now(), dir)
		files, err := c.surroundings(ctx, &spec)
		if err == nil {
			err = hide(&spec, nil, files)
		}
		switch refused := (*box.RefusedError)(nil); {
		case errors.As(err, &refused):
			return fails(name, "%s", refused.Why)
		case err != nil:
			return fails(name, "it is not known what must be hidden: %v", err)
		}
		hidden += len(files)
		if _, past := c.pasts.secrets(ctx, level, &spec); past != "" {
			why = past
		}
	}
	switch {
	case why != "" && use.Git:
		return fails(name, "the command runs git, and %s; a harmless name can be listed in sidecar.sensitive.allow", why)
	case why != "":
		why = "; git's objects are hidden from commands that don't run git, because " + why
	}
	return holds(name, tools.Count(hidden, "file")+" hidden"+why)
}

// opened are the things that have come in sight of a command about which nobody was asked,
// since it started: servers of the machine, files that may hold secrets, or secrets in git's
// history besides those in hidden. specs are those of the folders that it sees.
func opened(ctx context.Context, c *Confiner, specs []Spec, hidden []string) (found []string) {
	set := c.o.Settings.Now()
	if tables, err := socketTables(); err == nil {
		for _, at := range c.sockets.inSight(tables, inView(ctx, c, set, c.o.Folders)) {
			found = append(found, "sockets: a server of this machine listens at "+at+", which it sees")
		}
	}
	level, err := c.Level()
	if err != nil {
		return found
	}
	for i := range specs {
		found = append(found, openedIn(ctx, c, level, &specs[i].Spec, hidden)...)
	}
	return found
}

// openedIn is opened for the secrets of one folder.
func openedIn(ctx context.Context, c *Confiner, level box.Level, spec *box.Spec, hidden []string) (found []string) {
	// Masks hide the files of its start; the overlay shows those that have come since.
	now := base(c.o.Settings.Now(), spec.Root)
	files, err := c.surroundings(ctx, &now)
	if err != nil {
		return append(found, "secrets: it is not known any more what must be hidden: "+err.Error())
	}
	masks := map[string]bool{}
	for _, path := range slices.Concat(spec.Hidden, spec.Sealed) {
		masks[path] = true
	}
	for _, path := range files {
		if !masked(masks, path, spec.Root) {
			found = append(found, "secrets: "+path+" may hold some, and was not there before")
		}
	}
	now.ReadOnly, now.Writable = spec.ReadOnly, spec.Writable
	dirs, why := c.pasts.secrets(ctx, level, &now)
	if why != notSearched && slices.ContainsFunc(dirs, func(dir string) bool { return !slices.Contains(hidden, dir) }) {
		found = append(found, "secrets: "+why)
	}
	return found
}

// masked reports whether a path is one of masks, or in one that is a directory.
func masked(masks map[string]bool, path, root string) bool {
	for ; box.Within(path, root); path = filepath.Dir(path) {
		if masks[path] {
			return true
		}
		if path == root {
			break
		}
	}
	return false
}

// stillComplete makes sure that a command about which nobody was asked starts in a complete
// world.
func stillComplete(ctx context.Context, c *Confiner, r shell.Run) error {
	lacks := effects.Lacks(c.Complete(ctx, effects.Use{Session: r.Session}))
	if lacks == "" && (!r.Held || r.Files == nil || !slices.Contains(c.o.Folders, r.Root)) {
		lacks = "files: the session changes them itself"
	}
	if lacks != "" {
		return &box.RefusedError{Why: "nobody was asked about it, and now something could leave its session (" + lacks + "); run it again, and a person is asked"}
	}
	return nil
}
