package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/redact"
	"github.com/sidecar-ls/sidecar-ls/internal/trust"
)

// trustFolder says whether the user trusts a workspace, shows what has changed since,
// and keeps what they say.
func trustFolder(_ context.Context, c *cli) error {
	verb := strings.Join(c.args, " ")
	word, known := map[string]string{"": "", "yes": "trusted", "no": "untrusted", "forget": ""}[verb]
	if !known {
		return usagef("trust takes yes, no or forget, not %q", verb)
	}
	folder, err := c.folder()
	if err != nil {
		return err
	}
	dir := folder.Dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	all, err := config.ReadTrust()
	if err != nil {
		return fmt.Errorf("%s can't be read; mend or remove it: %w", config.TrustFile(), err)
	}
	if verb != "" {
		if err := all.Set(dir, word); err != nil {
			return err
		}
	}
	said := all.Of(dir)
	changed, err := trustedContent(dir, verb, said)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(trustStatus{dir, firstOf(said, "unknown"), changed.names, changed.diff, changed.refused})
	}
	switch said {
	case "trusted":
		fmt.Fprintf(c.Out, "%s is trusted: its language servers, git hooks, hooks, tools and skills may run or be used as they are now. Its settings only make yours stricter.\n", dir)
	case "untrusted":
		fmt.Fprintf(c.Out, "%s is not trusted: tools only read there.\n", dir)
	default:
		fmt.Fprintf(c.Out, "%s: you have not said whether you trust it; nothing that the project names is run.\n", dir)
	}
	if len(changed.names) > 0 {
		fmt.Fprintln(c.Out, redact.Visible(changed.diff))
		switch {
		case verb == "yes":
			fmt.Fprintf(c.Out, "Taken: %s.\n", strings.Join(changed.names, ", "))
		case changed.refused:
			fmt.Fprintf(c.Out, "You said no to this change of %s: the stricter of both holds. sidecar-ls trust yes takes it.\n", strings.Join(changed.names, ", "))
		default:
			fmt.Fprintf(c.Out, "This has changed since you trusted it: %s. The stricter of both holds until you take it with sidecar-ls trust yes.\n", strings.Join(changed.names, ", "))
		}
	}
	if verb != "" {
		fmt.Fprintln(c.Out, "Running servers take a changed answer after a restart, and what its files say now at once; an editor's own answer takes precedence.")
	}
	return nil
}

// trustStatus is what is known of a folder.
type trustStatus struct {
	Folder  string   `json:"folder"`
	Trust   string   `json:"trust"`
	Changed []string `json:"changed,omitempty"` // files that are not as they were when the folder was trusted
	Diff    string   `json:"diff,omitempty"`
	Refused bool     `json:"refused,omitempty"` // the user has said no to the change
}

// trustChange is what has changed in a trusted folder.
type trustChange struct {
	names   []string
	diff    string
	refused bool
}

// trustedContent compares what a folder says with what it said when it was trusted,
// here or in an editor, and takes or forgets it as the verb says.
func trustedContent(dir, verb, said string) (c trustChange, err error) {
	var book trust.Book
	if verb == "no" || verb == "forget" {
		return c, book.Forget(dir)
	}
	if _, err := os.Stat(trust.Page(dir)); err != nil && said != "trusted" {
		return c, nil // nobody has trusted it
	}
	state, err := book.Look(dir)
	if err != nil && verb != "yes" {
		return c, err
	}
	c = trustChange{state.Changed(), state.Diff(), state.Refused}
	if verb == "yes" {
		err = book.Take(state)
	}
	return c, err
}
