package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/ide"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/setup"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// serveLSP speaks LSP until the client leaves.
func serveLSP(ctx context.Context, c *cli) error {
	if len(c.args) > 0 {
		return usagef("serve takes no arguments, but got %q", c.args[0])
	}
	user, err := config.UserSource()
	if err != nil {
		return err
	}
	machine, _ := c.Machine.Source()
	set, _ := config.Load(user, machine) // problems are reported to the client when it is there
	level := new(slog.LevelVar)
	if err := level.UnmarshalText([]byte(firstOf(c.logLevel, set.String("log.level")))); err != nil {
		return usagef("--log-level: %v", err)
	}
	out := c.Err
	var editors switched
	name := firstOf(c.logFile, set.String("log.file"))
	switch {
	case name != "":
		f, err := openLog(name)
		if err != nil {
			return err
		}
		defer f.Close()
		out = f
	case c.detached:
		out = &editors
	}
	serve.Stay()
	o := serve.Options{
		App: app.Options{Log: redact.NewLogger(out, level), Level: level, Program: c.Self, Programs: c.Programs, Machine: c.Machine, EditWait: c.EditWait}, Exit: c.Exit, Person: AnswerPerson, Places: ide.PlacesHere,
		Setup: func(dir string) (setup.Env, error) { return setup.Here(dir, c.Self, c.Programs, hasVerb) },
	}
	if c.logLevel != "" {
		o.App.Level = nil // the flag is stronger than the setting
	}
	if c.detached {
		return c.serveDetached(ctx, o, &editors)
	}
	read, first := firstMessage(ctx, c.In)
	if err := c.handOver(ctx, user, read, first, o.App.Log); !errors.Is(err, errNoHandover) {
		return err
	}
	widen(c.Out)
	return serve.Serve(ctx, again(read, c.In), c.Out, o)
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// openLog opens the file that is logged to, for its owner alone.
func openLog(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}
