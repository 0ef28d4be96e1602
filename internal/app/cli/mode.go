package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// modeShown is the output of --json.
type modeShown struct {
	Mode  string     `json:"mode"` // that of the settings, here
	Modes []modeLine `json:"modes"`
}

type modeLine struct {
	Name string `json:"name"`
	Help string `json:"help"`
}

// modeCommand shows the mode of the settings, or writes another into the user's.
func modeCommand(_ context.Context, c *cli) error {
	if len(c.args) > 1 {
		return usagef("mode takes one mode, or none to show them")
	}
	folders, err := c.folders()
	if err != nil && !errors.Is(err, errNoProject) { // your mode is that of all projects
		return err
	}
	s := live.New(live.Options{Machine: c.Machine})
	for _, problem := range s.Open(workspace.Dirs(folders)) {
		fmt.Fprintln(c.Err, "sidecar-ls:", problem)
	}
	modes := s.Modes()
	if len(c.args) == 0 {
		return showModes(c, s.Now().String("mode"), modes)
	}
	name := c.args[0]
	i := slices.IndexFunc(modes, func(m policy.Mode) bool { return m.Name == name })
	if i < 0 {
		return noMode(s, name)
	}
	value, err := json.Marshal(name)
	if err != nil {
		return err
	}
	if err := s.PutUser("mode", value); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "The mode is now %s: %s\nIt is in %s. Sessions that are open keep theirs.\n", name, modes[i].Help, config.UserFile())
	if now := s.Now().String("mode"); now != name {
		fmt.Fprintf(c.Out, "In %s it is %s, which the project's settings ask for.\n", strings.Join(workspace.Dirs(folders), ", "), now)
	}
	return nil
}

func showModes(c *cli, now string, modes []policy.Mode) error {
	if c.json {
		shown := modeShown{Mode: now}
		for _, m := range modes {
			shown.Modes = append(shown.Modes, modeLine{m.Name, m.Help})
		}
		return c.print(shown)
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, m := range modes {
		mark := " "
		if m.Name == now {
			mark = "*"
		}
		fmt.Fprintf(t, "%s %s\t%s\n", mark, m.Name, m.Help)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.Out, "\nsidecar-ls mode NAME chooses another.")
	return err
}

// noMode says that there is no mode of a name, and which there are.
func noMode(s *live.Settings, name string) error {
	var names []string
	for _, m := range s.Modes() {
		names = append(names, m.Name)
	}
	return usagef("%s", tools.NoSuch("mode", name, names))
}

// didYouMean is a question in brackets after a name that is near others, or nothing.
func didYouMean(name string, names []string) string {
	if near := tools.Near(name, names, 1); len(near) > 0 {
		return " (did you mean " + near[0] + "?)"
	}
	return ""
}

func modeNames(_ context.Context, _ *cli, done []string, _ string) (out []candidate) {
	if len(done) > 0 {
		return nil
	}
	for _, m := range policy.Modes() {
		out = append(out, candidate{m.Name, m.Help})
	}
	return out
}
