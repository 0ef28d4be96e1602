package adapter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
)

// Finder finds the program that drives an agent.
type Finder struct {
	Programs *lookup.Finder
	Data     string // the directory of what the user has installed; adapters are in it
}

// Of is that of the user, which finds programs by p.
func Of(p *lookup.Finder) (Finder, error) {
	data, err := userdirs.Here().Dir(userdirs.Data)
	return Finder{p, data}, err
}

// Bind has the profile of a driven agent be for the program that is there, where nobody
// but the user could have put it. An adapter of ours that is nowhere is one to be
// installed, for the agent that is there.
func (f Finder) Bind(p profile.Profile) (profile.Profile, error) {
	d := p.Driven()
	path, err := f.Programs.Find(d.Program)
	ours := table[d.Program]
	switch {
	case err == nil:
		return d.Bind(path, nil)
	case refused(err):
		return d, err
	case ours == nil:
		return d, fmt.Errorf("%s is not on PATH; install it, or name its program in the setting agents", d.Program)
	}
	d.Path = ours.path(f.Data)
	if d.Agent, err = f.Programs.Find(p.Program); err != nil {
		if refused(err) {
			return d, err
		}
		return d, fmt.Errorf("%s is not on PATH; install %s, or name its program in the setting agents", p.Program, p.Title)
	}
	if ours.installed(f.Data) {
		return d, nil
	}
	if _, err := f.Programs.Find("npm"); err != nil {
		return d, fmt.Errorf("it is driven by %s, which npm installs, and npm is not on PATH; install npm", d.Program)
	}
	d.Install = ours.question(f.Data)
	return d, nil
}

// refused reports whether a program is there that is not taken.
func refused(err error) bool {
	var passed *lookup.Error
	return errors.As(err, &passed) && len(passed.Passed) > 0
}

// Ready installs the adapter of a bound profile where that is to be done.
func (f Finder) Ready(ctx context.Context, p profile.Profile) error {
	ours := table[p.Program]
	if p.Install == "" || ours.installed(f.Data) {
		return nil
	}
	npm, err := f.Programs.Find("npm")
	if err != nil {
		return err
	}
	return ours.install(ctx, npm, append(f.Programs.Environ(), npmSettings()...), f.Data)
}

// npmSettings are the variables by which npm reaches its registry.
func npmSettings() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(strings.ToLower(v), "=")
		return !strings.HasPrefix(name, "npm_config_") && !slices.Contains([]string{"http_proxy", "https_proxy", "no_proxy", "node_extra_ca_certs"}, name)
	})
}
