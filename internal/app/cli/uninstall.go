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
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/box/world"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/setup"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/trust"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/statedir"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// leftover is something of ours on this machine.
type leftover struct {
	Path  string `json:"path"`
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`
	Goes  string `json:"goes"` // what takes it away: uninstall, uninstall --purge, or a command of the user's

	ours []string // names there; none is all
}

// What takes something away.
const (
	goes      = "uninstall"
	goesPurge = "uninstall --purge"
)

// userLeftovers are the directories of the user's, in the order in which they go. Two of
// them have a name that other programs may use too: what is ours there has names.
var userLeftovers = []struct {
	kind  userdirs.Kind
	what  string
	goes  string
	names []string // none is all
}{
	{userdirs.Cache, "what can be made again: results of sandbox tests, copies of projects and plugins; and output that waits for review", goes, nil},
	{userdirs.State, "what you have allowed agents, their homes, and what setup has changed, with copies", goes, nil},
	{userdirs.Data, "adapters that npm has installed to drive agents", goes, []string{"adapters"}},
	{userdirs.Data, "plugins that you have installed", goesPurge, []string{"plugins", "plugin-data"}},
	{userdirs.Config, "your settings and skills, and what you trust", goesPurge, []string{"settings.json", "trust.json", trust.Directory, "plugins.json", "mcp-trust.json", "mcp-tokens.json", "skills"}},
}

// uninstallOutcome is what uninstall found, or did.
type uninstallOutcome struct {
	Program  string          `json:"program"`
	Setups   []setup.Written `json:"setups"`
	Left     []leftover      `json:"left"`
	Removed  []string        `json:"removed"`
	Changed  []string        `json:"changed"` // files of the user's that have nothing of ours any more
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
	if err := c.oneFolder("uninstall"); err != nil {
		return err
	}
	env, err := c.setupEnv()
	if err != nil {
		return err
	}
	out := uninstallOutcome{Program: c.Self, Removed: []string{}, Changed: []string{}}
	if out.Setups, err = env.Written(); err != nil {
		return err
	}
	if out.Left, err = leftovers(env, out.Setups); err != nil {
		return err
	}
	if c.list {
		return c.tellUninstall(out)
	}
	if err := noneRuns(); err != nil {
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
		if err := noneRuns(); err != nil { // one may have begun meanwhile
			return err
		}
	}
	for _, s := range out.Setups {
		if err := undoSetup(env, s, &out); err != nil {
			out.Problems = append(out.Problems, err.Error())
		}
	}
	undone := len(out.Problems) == 0
	for _, l := range out.Left {
		if l.Goes != goes && (l.Goes != goesPurge || !c.purge) {
			continue
		}
		if dir, _ := userdirs.Here().Dir(userdirs.State); l.Path == dir && !undone {
			out.Problems = append(out.Problems, l.Path+" is kept: by its copies what setup changed can be taken back")
			continue
		}
		if dir, _ := userdirs.Here().Dir(userdirs.Cache); l.Path == dir && !c.purge && world.AnyOutput() {
			out.Problems = append(out.Problems, l.Path+" is kept: output waits there for review; accept or drop it (`sidecar-ls review output`), or have it removed with --purge")
			continue
		}
		if err := l.remove(); err != nil {
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
		if _, err := os.Stat(s.Project); errors.Is(err, fs.ErrNotExist) {
			return env.Forget(s.Client, s.Project)
		}
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
		if change.Remove {
			out.Removed = append(out.Removed, change.Path)
		} else {
			out.Changed = append(out.Changed, change.Path)
		}
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
		same := slices.IndexFunc(all, func(l leftover) bool { return l.Path == dir && l.Goes == u.goes })
		if same >= 0 { // macOS has one place for both
			all[same].What += "; " + u.what
			all[same].Bytes += sizeOf(dir, u.names)
			all[same].ours = append(all[same].ours, u.names...)
		} else if anyThere(dir, u.names) {
			all = append(all, leftover{dir, u.what, sizeOf(dir, u.names), u.goes, u.names})
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
		what := "the project's index, records and shadow workspaces"
		if statedir.Dir(dir).HasQueue() {
			what += ", and what waits there for review (sidecar-ls review list)"
		}
		all = append(all, leftover{of, what, sizeOf(of, nil), "removing the directory, once nothing waits there", nil})
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

// anyThere reports whether one of the names is in a directory, or it is there for none.
func anyThere(dir string, names []string) bool {
	if len(names) == 0 {
		_, err := os.Lstat(dir)
		return err == nil
	}
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// sizeOf is what the files of those names have in a directory, or all of it for none.
func sizeOf(dir string, names []string) (size int64) {
	for _, name := range among(names) {
		_ = filepath.WalkDir(filepath.Join(dir, name), func(_ string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil //nolint:nilerr // what can't be read is not counted
			}
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
			return nil
		})
	}
	return size
}

// among are names in a directory; no names are the directory itself.
func among(names []string) []string {
	if len(names) == 0 {
		return []string{"."}
	}
	return names
}

// remove takes away what is ours, and the directory if nothing else is in it.
func (l leftover) remove() error {
	for _, name := range among(l.ours) {
		if err := osfile.RemoveAll(filepath.Join(l.Path, name)); err != nil {
			return err
		}
	}
	_ = os.Remove(l.Path) // another program may have files there
	return nil
}

// noneRuns fails while a server runs that has these directories, or a program in a
// session: what it works with would be taken away.
func noneRuns() error {
	host, err := attach.AnyHost()
	if err != nil {
		return fmt.Errorf("nothing was removed: whether a server runs can't be found out: %w", err)
	}
	if host || world.InUse() {
		return errors.New("nothing was removed: a server runs; close the editors, agents and programs that have one first")
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
	for _, path := range out.Changed {
		fmt.Fprintln(c.Out, "took our lines out of", path)
	}
	for _, s := range out.Setups {
		fmt.Fprintf(c.Out, "set up: %s, via %s, in %s; `sidecar-ls uninstall` takes it out\n", s.Client, s.Road, strings.Join(s.Files, ", "))
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
	fmt.Fprintln(c.Out, "Of projects it knows this one, and those that you trust or that setup wrote into. Others may have a directory .sidecar, too.")
	fmt.Fprintf(c.Out, "The program itself is %s: remove it as it was installed (apt, dnf, brew, scoop, winget), or remove the file.\n", out.Program)
	fmt.Fprintln(c.Out, "In VS Code: code --uninstall-extension sidecar-ls.sidecar. Keys that you put into the system's keyring stay there.")
	return nil
}
