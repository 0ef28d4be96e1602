package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/profiles"
)

// noProfile is the name for --profile that stands for none.
const noProfile = "none"

// profiled gives a program what its profile says that it needs of the user's, once
// they have allowed that.
func (c *cli) profiled(ctx context.Context, a *runArgs) error {
	if c.profile == noProfile {
		return nil
	}
	src, err := config.UserSource()
	if err != nil {
		return err
	}
	set, _ := config.Load(src) // what is wrong in it is said where settings are
	all := profiles.All(set)
	p := profiles.Find(all, c.profile, a.Argv[0])
	switch {
	case p == nil && c.profile != "":
		var names []string
		for _, p := range all {
			names = append(names, p.Name)
		}
		return usagef("--profile: there is none of the name %q; there are %s, and %s, which gives a program nothing of yours; the setting agents adds others", c.profile, strings.Join(names, ", "), noProfile)
	case p == nil:
		return nil
	}
	kept, err := profiles.UserKept()
	if err != nil {
		return err
	}
	if err := c.consent(ctx, kept, *p); err != nil {
		return err
	}
	grant, err := kept.Grant(*p)
	if err != nil {
		return fmt.Errorf("%w, or run it with --profile %s", err, noProfile)
	}
	a.Writable, a.Home = grant.Writable, grant.Home
	a.Env, a.Pass, a.Network = environment(p.Env), p.Env, p.Network
	return nil
}

// consent asks the person once for what a profile lets a program see.
func (c *cli) consent(ctx context.Context, kept profiles.Kept, p profiles.Profile) error {
	if kept.Allowed(p) {
		return nil
	}
	if !c.yes {
		what := fmt.Sprintf("%s runs in a world of the workspace: what it changes there waits for your review. Of yours it sees, besides:\n  %s\n", p.Title, strings.Join(p.Sees(), "\n  "))
		if !p.Tried {
			what += "This profile was not tried with the real program.\n"
		}
		tty, err := openTerminal()
		if err != nil {
			return fmt.Errorf("%sThis is asked once, and there is no terminal to ask at: run it in one, or with --yes", what)
		}
		defer tty.Close()
		if text, err := readFrom(ctx, tty, what+"Allow that? [y/N] "); err != nil || text != "y" && text != "Y" && text != "yes" {
			return errors.Join(errors.New("it was not allowed, so nothing was run"), err)
		}
	}
	return kept.Allow(p)
}
