package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
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
	if err := c.consent(ctx, *p); err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	for _, rel := range p.State {
		dir := filepath.Join(home, rel)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir {
			return fmt.Errorf("~/%s leads over a link to %s, where the program would not find it: name that directory as state in the setting agents, or run it with --profile %s", rel, real, noProfile)
		}
		a.Writable = append(a.Writable, dir)
	}
	state, err := agentState()
	if err != nil {
		return err
	}
	a.Home = filepath.Join(state, p.Name, "home")
	if err := os.MkdirAll(a.Home, 0o700); err != nil {
		return err
	}
	for _, rel := range p.Copied {
		if err := refresh(filepath.Join(home, rel), filepath.Join(a.Home, rel)); err != nil {
			return err
		}
	}
	a.Env, a.Pass, a.Network = environment(p.Env), p.Env, p.Network
	return nil
}

// agentState is the directory of what is kept of agents.
func agentState() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "sidecar-ls", "agents"), nil
}

// consent asks the person once for what a profile lets a program see.
func (c *cli) consent(ctx context.Context, p profiles.Profile) error {
	state, err := agentState()
	if err != nil {
		return err
	}
	file := filepath.Join(state, "allowed.json")
	allowed := map[string]string{}
	if data, err := os.ReadFile(file); err == nil {
		_ = json.Unmarshal(data, &allowed) // what can't be read is asked again
	}
	sees := strings.Join(p.Sees(), "\n  ")
	sum := sha256.Sum256([]byte(p.Program + "\n" + sees))
	if allowed[p.Name] == hex.EncodeToString(sum[:]) {
		return nil
	}
	if !c.yes {
		what := fmt.Sprintf("%s runs in a world of the workspace: what it changes there waits for your review. Of yours it sees, besides:\n  %s\n", p.Title, sees)
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
	now := maps.Clone(allowed)
	now[p.Name] = hex.EncodeToString(sum[:])
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(state, 0o700), os.WriteFile(file, data, 0o600))
}

// maxCopied bounds a file that a program gets a copy of, in bytes.
const maxCopied = 64 << 20

// refresh copies a file to where there is no copy, or an older one.
func refresh(from, to string) error {
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if have, err := os.Stat(to); err == nil && !info.ModTime().After(have.ModTime()) {
		return nil
	}
	if !info.Mode().IsRegular() || info.Size() > maxCopied {
		return fmt.Errorf("%s is no file of at most %d MiB, of which the program could have a copy", from, maxCopied>>20)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, data, 0o600))
}
