package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/trust"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// trustFolder says whether the user trusts a workspace, shows what has changed since,
// and keeps what they say.
func trustFolder(ctx context.Context, c *cli) error {
	verb := strings.Join(c.args, " ")
	word, known := map[string]string{"": "", "yes": "trusted", "no": "untrusted", "forget": ""}[verb]
	if !known {
		return usagef("trust takes yes, no or forget, not %q", verb)
	}
	if err := c.oneFolder("trust"); err != nil {
		return err
	}
	folder, err := c.folder()
	if err != nil {
		return err
	}
	dir := folder.Dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if c.hash != "" && verb != "yes" {
		return usagef("--hash goes with trust yes")
	}
	all, err := config.ReadTrust()
	if err != nil {
		return fmt.Errorf("%s can't be read; mend or remove it: %w", config.TrustFile(), err)
	}
	var book trust.Book
	state, err := trustState(&book, dir, verb, all.Of(dir))
	if err != nil {
		return err
	}
	out := trustStatus{Folder: dir, Hash: state.Hash(), NotCompared: state.Loose()}
	if verb == "" || verb == "yes" {
		out.Changed, out.Diff, out.Refused = state.Changed(), state.Diff(), state.Refused
	}
	if !c.json {
		c.showTrustChange(out, state.Unshown())
	}
	if verb == "yes" {
		if err := c.mayTake(ctx, out); err != nil {
			return err
		}
	}
	if verb != "" {
		err = all.Set(dir, word)
	}
	switch {
	case err != nil:
	case verb == "yes":
		err = book.Take(state)
	case verb != "":
		err = book.Forget(dir)
	}
	if err != nil {
		return err
	}
	said := all.Of(dir)
	if out.Trust = firstOf(said, "unknown"); c.json {
		return c.print(out)
	}
	c.showTrust(out, verb)
	return nil
}

// trustStatus describes the trust of a folder.
type trustStatus struct {
	Folder      string   `json:"folder"`
	Trust       string   `json:"trust"`
	Hash        string   `json:"hash"`              // of what its files say now: trust yes --hash takes that alone
	Changed     []string `json:"changed,omitempty"` // files that are not as they were when the folder was trusted
	Diff        string   `json:"diff,omitempty"`
	Refused     bool     `json:"refused,omitempty"`     // the user has said no to the change
	NotCompared []string `json:"notCompared,omitempty"` // words of hooks that may name files, and nobody knows which
}

// trustState compares what a folder says with what it said when it was trusted, here
// or in an editor.
func trustState(book *trust.Book, dir, verb, said string) (*trust.State, error) {
	if _, err := os.Stat(trust.Page(dir)); verb == "no" || verb == "forget" || err != nil && said != "trusted" {
		now := trust.Read(dir) // nobody has trusted it, or will
		return &trust.State{Dir: dir, Then: now, Now: now}, nil
	}
	state, err := book.Look(dir)
	if verb == "yes" {
		err = nil // the page is written again
	}
	return state, err
}

// showTrustChange shows what has changed, before it is taken.
func (c *cli) showTrustChange(out trustStatus, unshown []string) {
	if len(out.Changed) > 0 {
		fmt.Fprintln(c.Out, redact.Visible(out.Diff))
	}
	if len(unshown) > 0 {
		fmt.Fprintf(c.Out, "Not shown, because it is no text or too long: %s. Look at it before you accept it.\n", strings.Join(unshown, ", "))
	}
}

// mayTake fails if what is there is not what the user has seen, or if they say no to
// it. Where no terminal is, as in scripts, what was printed is taken.
func (c *cli) mayTake(ctx context.Context, out trustStatus) error {
	switch in, ok := c.In.(*os.File); {
	case c.hash != "" && c.hash != out.Hash:
		return fmt.Errorf("nothing was accepted: %s has changed since you looked; sidecar-ls trust shows what it says now", out.Folder)
	case c.hash != "" || c.json || len(out.Changed) == 0 || !ok || !term.IsTerminal(int(in.Fd())):
		return nil
	}
	yes, err := c.agreed(ctx, "Accept these changes?")
	if err == nil && !yes {
		err = errors.New("nothing was accepted; the stricter value of each setting applies")
	}
	return err
}

func (c *cli) showTrust(out trustStatus, verb string) {
	dir, names := out.Folder, strings.Join(out.Changed, ", ")
	switch out.Trust {
	case "trusted":
		fmt.Fprintf(c.Out, "%s is trusted: its language servers, git hooks, hooks, tools and skills may run or be used as they are now. Its settings only make yours stricter.\n", dir)
	case "untrusted":
		fmt.Fprintf(c.Out, "%s is not trusted: tools only read there.\n", dir)
	default:
		fmt.Fprintf(c.Out, "%s: you have not said whether you trust it; nothing that the project names is run.\n", dir)
	}
	if len(out.NotCompared) > 0 {
		fmt.Fprintf(c.Out, "Not compared, because nobody knows which files these words of its hooks name: %s.\n", redact.Visible(strings.Join(out.NotCompared, ", ")))
	}
	switch {
	case len(out.Changed) == 0:
	case verb == "yes":
		fmt.Fprintf(c.Out, "Accepted: %s.\n", names)
	case out.Refused:
		fmt.Fprintf(c.Out, "You said no to this change of %s: the stricter value of each setting applies. To accept it: sidecar-ls trust yes --hash %s\n", names, out.Hash)
	default:
		fmt.Fprintf(c.Out, "This has changed since you trusted it: %s. Until you accept it, the stricter value of each setting applies. To accept it: sidecar-ls trust yes --hash %s, or sidecar-ls trust yes, which accepts what is there then.\n", names, out.Hash)
	}
	if verb != "" {
		fmt.Fprintln(c.Out, "Running servers heed a changed answer after a restart, and what its files say now at once; an editor's own answer takes precedence.")
	}
}
