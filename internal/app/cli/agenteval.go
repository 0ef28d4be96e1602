package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/evals"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/models"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
)

// evalFlags are the flags of agent eval alone.
type evalFlags struct {
	atOnce int
	only   string
	tokens int64
	keep   bool
}

func (e *evalFlags) define(f *flag.FlagSet) {
	f.IntVar(&e.atOnce, "n", 2, "with eval: so many tasks at once")
	f.StringVar(&e.only, "only", "", "with eval: the tasks of these names alone, with commas between them")
	f.Int64Var(&e.tokens, "budget-tokens", 500_000, "with eval: tokens that the agent may use for a task; 0 is no bound")
	f.BoolVar(&e.keep, "keep", false, "with eval: leave the directories in which it worked")
}

// evalModel has our own agent do tasks and prints how well that went.
func evalModel(ctx context.Context, c *cli) error {
	if err := c.takes("eval", "a directory of tasks, or nothing for those that come with sidecar-ls", 0, 1); err != nil {
		return err
	}
	switch {
	case c.eval.atOnce < 1:
		return usagef("--n: at least one task runs at once")
	case c.eval.tokens < 0:
		return usagef("--budget-tokens: must not be negative")
	}
	tasks, err := c.tasks()
	if err != nil {
		return err
	}
	if err := c.answers(); err != nil {
		return err
	}
	report, err := evals.Run(ctx, tasks, evals.Options{
		Programs: c.Programs,
		Open:     c.openPlace, Profile: c.model, Tokens: c.eval.tokens, AtOnce: c.eval.atOnce, Keep: c.eval.keep, Done: c.sayTask,
	})
	var printed error
	if c.json {
		printed = c.print(report)
	} else {
		printed = report.Table(c.Out)
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted: %d of %d tasks were begun", len(report.Tasks), len(tasks))
	case err != nil || printed != nil:
		return errors.Join(err, printed)
	case report.Broken():
		return errors.New("some tasks could not be run")
	}
	return nil
}

// tasks are those that the command line names.
func (c *cli) tasks() ([]evals.Task, error) {
	find := evals.Shipped
	if len(c.args) == 1 {
		find = func() ([]evals.Task, error) { return evals.In(c.args[0]) }
	}
	all, err := find()
	if err != nil || c.eval.only == "" {
		return all, err
	}
	var some []evals.Task
	for _, name := range strings.Split(c.eval.only, ",") {
		i := slices.IndexFunc(all, func(t evals.Task) bool { return t.Name == name })
		if i < 0 {
			var names []string
			for _, t := range all {
				names = append(names, t.Name)
			}
			return nil, usagef("--only: there is no task %q; there are %s", name, strings.Join(names, ", "))
		}
		some = append(some, all[i])
	}
	return some, nil
}

// answers checks that there is a model to ask, before anything is run.
func (c *cli) answers() error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	s := live.New(live.Options{Machine: c.Machine})
	s.Open([]string{here})
	_, _, err = models.Backends{Settings: s}.Model(c.model)
	return err
}

// sayTask says how a task ended, while others run.
func (c *cli) sayTask(r evals.Result) {
	if c.json {
		return
	}
	said := "not solved"
	switch {
	case r.Skipped != "":
		said = "skipped"
	case r.Solved:
		said = "solved"
	}
	fmt.Fprintf(c.Err, "· %s: %s, %d steps\n", r.Task, said, r.Steps)
	if r.Dir != "" {
		fmt.Fprintf(c.Err, "  its files are in %s\n", r.Dir)
	}
}
