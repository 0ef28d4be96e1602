package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/term"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
)

// firstModes are the modes that a person chooses from at the first start.
var firstModes = []struct{ mode, say string }{
	{"review", "Review changes (recommended): edits wait until you accept them"},
	{"cautious", "Ask before each: you are asked about every edit and command of our tools"},
}

// firstStart asks at a terminal for a mode, where none is chosen, and keeps the answer: so it
// asks once.
func firstStart(ctx context.Context, streams Streams, find func() ([]workspace.Folder, error)) error {
	in, isFile := streams.In.(*os.File)
	if !isFile || !term.IsTerminal(int(in.Fd())) || !canAsk() {
		return nil
	}
	folders, err := find()
	if err != nil {
		return nil //nolint:nilerr // what begins next says it
	}
	s := live.New(live.Options{Machine: streams.Machine})
	s.Open(workspace.Dirs(folders))
	if e, _ := s.Now().Explain("mode"); !e.Default {
		return nil
	}
	var lines, names []string
	for _, m := range firstModes {
		lines, names = append(lines, m.say), append(names, m.mode)
	}
	i, _, err := pick(ctx, "How do you want to work with agents? You are asked once; sidecar-ls mode changes it.\nEdits of the program that starts now wait for review either way.", lines, names, false)
	if err != nil {
		return err
	}
	value, err := json.Marshal(firstModes[i].mode)
	if err != nil {
		return err
	}
	if err := s.PutUser("mode", value); err != nil {
		return err
	}
	fmt.Fprintf(onTerminal(streams.Err), "sidecar-ls: the mode is now %s, in %s\n", firstModes[i].mode, config.UserFile())
	return nil
}

// unavailable says why an agent of the list can't be started, before anything else is asked.
func unavailable(list []agents.Info, name string) error {
	name = profile.Named(name)
	for _, a := range list {
		if a.Name == name && !a.Available {
			return errors.New(a.Why)
		}
	}
	return nil
}

// allowed asks the person once for what an agent sees of theirs. It returns false for
// an agent that needs no more consent.
func (c *cli) allowed(ctx context.Context, list []agents.Info, name string) (consent bool, err error) {
	name = profile.Named(name)
	i := slices.IndexFunc(list, func(a agents.Info) bool { return a.Name == name })
	if i < 0 || list[i].Consented || list[i].Kind == "program" {
		return false, nil // the start reports what is wrong
	}
	if c.yes {
		return true, nil
	}
	sees := list[i].Shown
	if len(sees) == 0 { // of an earlier version
		sees = list[i].Sees
	}
	what := profile.Question(list[i].Title, sees)
	tty, err := openTerminal()
	if err != nil {
		return false, fmt.Errorf("%sThis is asked once, and there is no terminal to ask at: run it in one, or with --yes", what)
	}
	text, err := readFrom(ctx, tty, what+"Allow that? [y/N] ")
	if err != nil || text != "y" && text != "Y" && text != "yes" {
		return false, errors.Join(errors.New("it was not allowed, so nothing was run"), err)
	}
	return true, nil
}
