package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/extend"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/plugin"
)

// pluginVerbs are what the command plugin does; each but list and new takes a plugin.
func pluginVerbs() []string {
	return []string{"list", "trust", "distrust", "enable", "disable", "reload", "add", "remove", "new"}
}

// pluginCommand is the command plugin.
func pluginCommand(ctx context.Context, c *cli) error {
	if len(c.args) == 0 {
		return usagef("plugin takes %s", strings.Join(pluginVerbs(), ", "))
	}
	verb, rest := c.args[0], c.args[1:]
	switch verb {
	case "list":
		if len(rest) > 0 {
			return usagef("plugin list takes nothing, but got %q", rest[0])
		}
		list, err := ask(ctx, c, pluginList, struct{}{})
		if err != nil {
			return err
		}
		return c.printPlugins(list...)
	case "trust", "distrust", "enable", "disable", "reload":
		if len(rest) != 1 {
			return usagef("plugin %s takes the id of a plugin; sidecar-ls plugin list has them", verb)
		}
		if verb != "trust" && (c.mine || c.override != "") {
			return usagef("--mine and --override go with plugin trust, not with plugin %s", verb)
		}
		return c.decidePlugin(ctx, verb, plugin.Decision{ID: rest[0], Mine: c.mine, Override: words(c.override)})
	case "add":
		if len(rest) != 1 {
			return usagef("plugin add takes a directory with a plugin, or an executable file")
		}
		return c.addPlugin(ctx, rest[0])
	case "remove":
		if len(rest) != 1 {
			return usagef("plugin remove takes the id of a plugin; sidecar-ls plugin list has them")
		}
		return c.removePlugin(ctx, rest[0])
	case "new":
		if len(rest) != 2 {
			return usagef("plugin new takes a language (%s) and a directory", strings.Join(languages(), ", "))
		}
		return c.newPlugin(rest[0], rest[1])
	}
	return usagef("plugin takes %s, not %q", strings.Join(pluginVerbs(), ", "), verb)
}

// words are the parts of a list with commas.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// What is asked about plugins, and said of them. A decision is a person's.
var (
	pluginList = query[struct{}, []plugin.Status]{name: "plugin list", answer: func(_ context.Context, w *app.Workspace, _ struct{}) ([]plugin.Status, error) {
		p := w.Extensions.Plugins()
		p.Reload()
		return p.List(), nil
	}}
	pluginSet = query[plugin.Decision, plugin.Status]{name: "plugin set", decides: true, answer: func(_ context.Context, w *app.Workspace, d plugin.Decision) (plugin.Status, error) {
		return w.Extensions.Plugins().Decide(d)
	}}
	pluginReload = query[string, plugin.Status]{name: "plugin reload", decides: true, answer: func(_ context.Context, w *app.Workspace, id string) (plugin.Status, error) {
		return w.Extensions.Plugins().Again(id)
	}}
)

// decidePlugin carries out a verb of a person; what they trust is printed first.
func (c *cli) decidePlugin(ctx context.Context, verb string, d plugin.Decision) error {
	switch verb {
	case "trust", "distrust":
		d.Trusted = new(verb == "trust")
	case "enable", "disable":
		d.Enabled = new(verb == "enable")
	default:
		st, err := ask(ctx, c, pluginReload, d.ID)
		if err != nil {
			return err
		}
		return c.printPlugins(st)
	}
	if verb == "trust" {
		list, err := ask(ctx, c, pluginList, struct{}{})
		if err != nil {
			return err
		}
		for _, st := range list {
			if st.ID == d.ID {
				d.Hash = st.Hash
				if !c.json {
					fmt.Fprintf(c.Out, "%s %s in %s would run:\n", st.Name, st.Version, st.Path)
					for _, line := range st.Commands {
						fmt.Fprintln(c.Out, "  "+line)
					}
				}
			}
		}
	}
	st, err := ask(ctx, c, pluginSet, d)
	if err != nil {
		return err
	}
	return c.printPlugins(st)
}

func (c *cli) printPlugins(list ...plugin.Status) error {
	if c.json {
		return c.print(map[string]any{"plugins": list})
	}
	if len(list) == 0 {
		fmt.Fprintf(c.Out, "There are no plugins. sidecar-ls plugin new makes one, and %s is where yours lie.\n", extend.UserPlugins())
		return nil
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, st := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d tools, %d hooks, %d skills, %d servers\n", st.ID, st.Version, st.Origin, st.State, st.Trust, st.Tools, st.Hooks, st.Skills, st.Servers)
	}
	_ = t.Flush() // as with Fprint, there is nobody left to tell
	for _, st := range list {
		said := st.Warnings
		if st.Error != "" {
			said = append([]string{st.Error}, said...)
		}
		if len(st.Changed) > 0 {
			said = append(said, "since it was trusted: "+strings.Join(st.Changed, ", "))
		}
		for _, text := range said {
			fmt.Fprintf(c.Err, "sidecar-ls: %s: %s\n", st.ID, text)
		}
	}
	return nil
}

// addPlugin copies a plugin to the user's own.
func (c *cli) addPlugin(ctx context.Context, from string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	to := filepath.Join(extend.UserPlugins(), filepath.Base(filepath.Clean(from)))
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s is there already; remove it first (sidecar-ls plugin remove)", to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if info.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else {
		var data []byte
		if data, err = os.ReadFile(from); err == nil {
			err = os.WriteFile(to, data, info.Mode().Perm())
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "Copied to %s. Nothing of it runs before you trust it: sidecar-ls plugin trust ID\n", to)
	list, err := ask(ctx, c, pluginList, struct{}{})
	if err != nil {
		return err
	}
	for _, st := range list {
		if st.Path == to {
			return c.printPlugins(st)
		}
	}
	return fmt.Errorf("%s is no plugin: it needs a plugin.json, or to be an executable file", to)
}

// removePlugin removes one of the user's own plugins.
func (c *cli) removePlugin(ctx context.Context, id string) error {
	list, err := ask(ctx, c, pluginList, struct{}{})
	if err != nil {
		return err
	}
	for _, st := range list {
		if st.ID != id {
			continue
		}
		if filepath.Dir(st.Path) != extend.UserPlugins() {
			return fmt.Errorf("%s lies in %s, which is not mine to remove; disable it, or remove it there", id, st.Path)
		}
		if _, err := ask(ctx, c, pluginSet, plugin.Decision{ID: id, Trusted: new(false)}); err != nil {
			return err
		}
		if err := os.RemoveAll(st.Path); err != nil {
			return err
		}
		_, err := ask(ctx, c, pluginList, struct{}{}) // unloads it
		fmt.Fprintf(c.Out, "Removed %s.\n", st.Path)
		return err
	}
	return fmt.Errorf("there is no plugin %q; sidecar-ls plugin list has them", id)
}
