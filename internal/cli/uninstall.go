package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/redact"
	"github.com/sidecar-ls/sidecar-ls/internal/setup"
	"github.com/sidecar-ls/sidecar-ls/internal/statedir"
	"github.com/sidecar-ls/sidecar-ls/internal/userdirs"
)

// leftover is something of ours on this machine.
type leftover struct {
	Path  string `json:"path"`
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`
	Goes  string `json:"goes"` // what takes it away: uninstall, uninstall --purge, or a command of the user's
}

// What takes something away.
const (
	goes      = "uninstall"
	goesPurge = "uninstall --purge"
)

// userLeftovers are the directories of the user's, in the order in which they go.
var userLeftovers = []struct {
	kind userdirs.Kind
	what string
	goes string
}{
	{userdirs.Cache, "what can be made again: proofs of the sandbox, worlds, copies of plugins", goes},
	{userdirs.State, "what you have allowed agents, their homes, and what setup has changed, with copies", goes},
	{userdirs.Data, "plugins that you have installed", goesPurge},
	{userdirs.Config, "your settings, and which folders you trust", goesPurge},
}

// uninstallOutcome is what uninstall found, or did.
type uninstallOutcome struct {
	Program  string          `json:"program"`
	Setups   []setup.Written `json:"setups"`
	Left     []leftover      `json:"left"`
	Removed  []string        `json:"removed"`
	Problems []string        `json:"problems,omitempty"`
}

// uninstall lists what there is of ours on this machine, or takes it out: but for the
// program, which whatever installed it removes, and what waits in a project for review.
func uninstall(ctx context.Context, c *cli) error {
	if len(c.args) > 0 {
		return usagef("uninstall takes no arguments, but got %q", c.args)
	}
	if c.list && (c.purge || c.yes) {
		return usagef("uninstall takes --list, or what it does: --purge, --yes")
	}
	env, err := c.setupEnv()
	if err != nil {
		return err
	}
	out := uninstallOutcome{Program: c.Self, Removed: []string{}}
	if out.Setups, err = env.Written(); err != nil {
		return err
	}
	if out.Left, err = leftovers(env, out.Setups); err != nil {
		return err
	}
	if c.list {
		return c.tellUninstall(out)
	}
	if err := noServers(ctx, out.Left); err != nil {
		return err
	}
	if !c.yes {
		if !c.json {
			_ = c.tellUninstall(out)
		}
		yes, err := c.agreed(ctx, "Take it out?")
		if err != nil {
			return fmt.Errorf("nothing was removed: %w; run it in a terminal, or with --yes", err)
		}
		if !yes {
			return errors.New("nothing was removed")
		}
	}
	for _, s := range out.Setups {
		if err := undoSetup(env, s, &out); err != nil {
			out.Problems = append(out.Problems, err.Error())
		}
	}
	for _, l := range out.Left {
		if l.Goes != goes && (l.Goes != goesPurge || !c.purge) {
			continue
		}
		if dir, _ := userdirs.Here().Dir(userdirs.State); l.Path == dir && len(out.Problems) > 0 {
			out.Problems = append(out.Problems, l.Path+" is kept: by its copies what setup changed can be taken back")
			continue
		}
		if err := os.RemoveAll(l.Path); err != nil {
			out.Problems = append(out.Problems, err.Error())
			continue
		}
		out.Removed = append(out.Removed, l.Path)
	}
	if out.Setups, err = env.Written(); err != nil {
		return err
	}
	if out.Left, err = leftovers(env, out.Setups); err != nil {
		return err
	}
	return errors.Join(c.tellUninstall(out), problem(out.Problems))
}

func problem(list []string) error {
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("not all could be taken out: %s", list[0])
}

// undoSetup takes out what setup has put into a client, as `setup CLIENT --undo` does.
func undoSetup(env setup.Env, s setup.Written, out *uninstallOutcome) error {
	o := setup.Options{Roads: []string{s.Road}}
	if s.Project != "" {
		o.Project, env.Dir = true, s.Project
	}
	p, err := env.PlanUndo(s.Client, o)
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		return fmt.Errorf("setup %s --undo: %w", s.Client, err)
	}
	for _, change := range p.Changes {
		out.Removed = append(out.Removed, change.Path+" (what setup put there)")
	}
	hide := redact.OfEnvironment()
	for _, text := range p.Left {
		out.Problems = append(out.Problems, hide.Text(text))
	}
	return nil
}

// leftovers are the user's directories, and those of the projects that we know of.
func leftovers(env setup.Env, setups []setup.Written) (all []leftover, err error) {
	for _, u := range userLeftovers {
		dir, err := userdirs.Here().Dir(u.kind)
		if err != nil {
			return nil, err
		}
		same := slices.IndexFunc(all, func(l leftover) bool { return l.Path == dir })
		if same >= 0 { // macOS has one place for both
			all[same].What += "; " + u.what
		} else if _, err := os.Lstat(dir); err == nil {
			all = append(all, leftover{dir, u.what, sizeOf(dir), u.goes})
		}
	}
	projects := map[string]bool{env.Dir: true}
	for _, s := range setups {
		projects[s.Project] = s.Project != ""
	}
	trusted, err := config.ReadTrust()
	if err != nil {
		return nil, fmt.Errorf("%s can't be read; mend or remove it: %w", config.TrustFile(), err)
	}
	for dir := range trusted {
		projects[dir] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(projects)) {
		of := filepath.Join(dir, ".sidecar")
		if _, err := os.Lstat(of); !projects[dir] || err != nil {
			continue
		}
		what := "the project's index, records and shadows"
		if statedir.Dir(dir).HasQueue() {
			what += ", and what waits there for review (sidecar-ls review list)"
		}
		all = append(all, leftover{of, what, sizeOf(of), "removing the directory, once nothing waits there"})
	}
	return all, nil
}

// size is a number of bytes for people.
func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d KiB", (bytes+1023)>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}

func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what can't be read is not counted
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// noServers fails while a server of a known project runs: it would write again what is
// taken away.
func noServers(ctx context.Context, all []leftover) error {
	for _, l := range all {
		if filepath.Base(l.Path) != ".sidecar" {
			continue
		}
		dir := filepath.Dir(l.Path)
		if at, err := attach.Find(ctx, dir); err == nil {
			return fmt.Errorf("nothing was removed: a server of %s runs (process %d); close the editor or agent that has it first", dir, at.PID)
		}
	}
	return nil
}

func (c *cli) tellUninstall(out uninstallOutcome) error {
	if c.json {
		return c.print(out)
	}
	for _, path := range out.Removed {
		fmt.Fprintln(c.Out, "removed", path)
	}
	for _, s := range out.Setups {
		fmt.Fprintf(c.Out, "set up: %s, road %s, in %s; `sidecar-ls uninstall` takes it out\n", s.Client, s.Road, s.Files)
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, l := range out.Left {
		fmt.Fprintf(t, "%s\t%s\t%s; goes by %s\n", l.Path, size(l.Bytes), l.What, l.Goes)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, text := range out.Problems {
		fmt.Fprintln(c.Out, text)
	}
	fmt.Fprintf(c.Out, "The program itself is %s: remove it as it was installed (apt, dnf, brew, scoop, winget), or remove the file.\n", out.Program)
	fmt.Fprintln(c.Out, "In VS Code: code --uninstall-extension sidecar-ls.sidecar. Keys that you put into the system's keyring stay there.")
	return nil
}
