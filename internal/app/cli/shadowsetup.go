package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// setUpShadow runs the setup of a shadow workspace again, or takes over that of another program.
func setUpShadow(ctx context.Context, c *cli, id string) error {
	switch {
	case c.take != "" && id != "":
		return usagef("shadow setup takes the id of a shadow workspace or --take, not both")
	case c.take != "":
		return takeSetup(ctx, c)
	case id == "":
		return usagef("shadow setup takes the id of a shadow workspace, which shadow list shows, or --take NAME for the setup of another program")
	}
	is, err := ask(ctx, c, shadowSetUp, id)
	if err != nil {
		return err
	}
	if c.json {
		err = c.print(is)
	} else {
		printSetup(c.Out, &is, false)
	}
	if err == nil && !isSetUp(&is) {
		err = errReported
	}
	return err
}

// takeSetup shows what taking over a setup changes in the user's settings, asks, and does it.
func takeSetup(ctx context.Context, c *cli) error {
	p, err := ask(ctx, c, shadowPlan, c.take)
	if err != nil {
		return err
	}
	if !c.json {
		fmt.Fprintf(c.Out, "%s has a setup for new working trees.\n%s\n", p.Offer.File, p.Body)
	}
	if !c.yes {
		tty, err := openTerminal()
		if err != nil {
			return fmt.Errorf("nobody can be asked, so nothing was written: %w; look at it, and say --yes", err)
		}
		text, err := readFrom(ctx, tty, "Its commands run in each new shadow workspace, as far as the mode and your rules let them.\nTake it? [y/N] ")
		if err != nil {
			return err
		}
		if yes := strings.ToLower(text); yes != "y" && yes != "yes" {
			fmt.Fprintln(c.Out, "Nothing was written.")
			return nil
		}
	}
	if _, err := ask(ctx, c, shadowTake, p); err != nil {
		return err
	}
	if c.json {
		return c.print(p)
	}
	fmt.Fprintf(c.Out, "It is in %s, under sidecar.shadow.setup.\n", p.File)
	return nil
}

// isSetUp reports whether a shadow workspace has no setup that failed.
func isSetUp(s *shadow.Setup) bool {
	return s == nil || s.State == shadow.SetupDone || s.State == shadow.SetupOffered
}

// setupState is the column of a list.
func setupState(s *shadow.Setup) string {
	if s == nil {
		return ""
	}
	return "setup " + string(s.State) + "\t"
}

// printSetup writes how it is with a setup. onlyTrouble leaves out one that is done.
func printSetup(out io.Writer, s *shadow.Setup, onlyTrouble bool) {
	if s == nil || onlyTrouble && s.State == shadow.SetupDone && s.Why == "" {
		return
	}
	fmt.Fprintf(out, "setup %s", s.State)
	if s.Command != "" {
		fmt.Fprintf(out, " at `%s`", s.Command)
	}
	if s.Why != "" {
		fmt.Fprintf(out, ": %s", s.Why)
	}
	fmt.Fprintln(out)
	if s.Output != "" {
		fmt.Fprintln(out, "  "+strings.ReplaceAll(s.Output, "\n", "\n  "))
	}
	if s.Next != "" {
		fmt.Fprintf(out, "To go on: %s.\n", s.Next)
	}
}
