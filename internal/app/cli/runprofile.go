package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/setup"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// noProfile is the name for --profile that stands for none.
const noProfile = "none"

// profiled gives a program what its profile says that it needs of the user's, once
// they have allowed that. ended is to be called when the program has ended.
func (c *cli) profiled(ctx context.Context, a *runArgs) (ended func(), err error) {
	ended = func() {}
	if c.profile == noProfile {
		return ended, nil
	}
	src, err := config.UserSource()
	if err != nil {
		return ended, err
	}
	machine, _ := c.Machine.Source()
	set, _ := config.Load(src, machine) // the command that opens the settings reports their faults
	all := profile.All(set)
	p := profile.Find(all, c.profile, a.Argv[0])
	switch {
	case p == nil && c.profile != "":
		var names []string
		for _, p := range all {
			names = append(names, p.Name)
		}
		return ended, usagef("--profile: there is none of the name %q; there are %s, and %s, which gives a program nothing of yours; the setting agents adds others", c.profile, strings.Join(names, ", "), noProfile)
	case p == nil:
		return ended, nil
	}
	folders, err := c.folders()
	if err != nil {
		return ended, err
	}
	c.Programs.Forbid(workspace.Dirs(folders)...)
	path, foreign := c.Programs.Find(absolute(a.Argv[0], a.Dir))
	if foreign != nil {
		if path, err = lookup.Confined(absolute(a.Argv[0], a.Dir)); err != nil {
			return ended, nil //nolint:nilerr // the start says that it is not there
		}
		if c.profile == "" {
			fmt.Fprintf(onTerminal(c.Err), "sidecar-ls: it runs without the profile %s: %v; --profile %s asks you whether this program is to have it\n", p.Name, foreign, p.Name)
			return ended, nil
		}
	}
	bound, err := p.Bind(path, foreign)
	if err != nil {
		return ended, err
	}
	p = &bound
	if err := hasTools(c, p.Name, p.Title); err != nil {
		return ended, err
	}
	kept, err := profile.UserKept()
	if err != nil {
		return ended, err
	}
	if err := c.consent(ctx, kept, *p); err != nil {
		return ended, err
	}
	grant, err := kept.Grant(*p, append(workspace.Dirs(folders), a.Dir)...)
	if err != nil {
		return ended, fmt.Errorf("%w, or run it with --profile %s", err, noProfile)
	}
	a.Argv = slices.Concat([]string{path}, p.World, a.Argv[1:])
	a.Title, a.Further = p.Title, p.FurtherFor(c.args[1:])
	a.Writable, a.Readable, a.Home = grant.Writable, grant.Readable, grant.Home
	a.Env, a.Pass, a.Network = p.Environ(environment(p.Env), func(program string) (string, error) { return c.Programs.Find(program) }), p.Env, p.Network
	a.Hosts, a.Idle = p.Reaches(environment(p.URLs)), p.Idle
	return func() {
		if err := grant.Return(); err != nil {
			fmt.Fprintf(onTerminal(c.Err), "sidecar-ls: what it refreshed of its keys is not kept: %v\n", err)
		}
	}, nil
}

// hasTools fails for an agent whose own tools setup has turned off: in a run it has those
// alone.
func hasTools(c *cli, name, title string) error {
	env, err := c.setupEnv()
	if err != nil {
		return nil //nolint:nilerr // nobody set it up here
	}
	undo, off := setup.ToolsOff(env, name)
	if !off {
		return nil
	}
	return fmt.Errorf("its own tools are off: setup turned off those of %s for files and commands, so that it uses ours, and in a run it has its own alone. Start it without sidecar-ls run, and its edits wait for review; or give it its tools back with: %s", title, undo)
}

// absolute is a program as it is looked for from a directory.
func absolute(program, dir string) string {
	if strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		return filepath.Join(dir, program)
	}
	return program
}

// consent asks the person once for what a profile lets a program see.
func (c *cli) consent(ctx context.Context, kept profile.Kept, p profile.Profile) error {
	if kept.Allowed(p) {
		return nil
	}
	if !c.yes {
		what := profile.Question(p.Title, p.Shown())
		if !p.Tried {
			what += "This profile was not tried with the real program.\n"
		}
		tty, err := openTerminal()
		if err != nil {
			return fmt.Errorf("%sThis is asked once, and there is no terminal to ask at: run it in one, or with --yes", what)
		}
		defer tty.Close()
		text, err := readFrom(ctx, tty, what+"Allow that? [y/N] ")
		if errors.As(err, new(unansweredError)) {
			err = nil // no is no
			text = ""
		}
		if err != nil || text != "y" && text != "Y" && text != "yes" {
			return errors.Join(errors.New("it was not allowed, so nothing was run"), err)
		}
	}
	return kept.Allow(p)
}
