package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// trust says whether the user trusts a workspace, or keeps what they say.
func trust(_ context.Context, c *cli) error {
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
	if c.json {
		return c.print(map[string]string{"folder": dir, "trust": firstOf(said, "unknown")})
	}
	switch said {
	case "trusted":
		fmt.Fprintf(c.Out, "%s is trusted: the language servers, git hooks and filters of the project may run, and its settings may loosen yours.\n", dir)
	case "untrusted":
		fmt.Fprintf(c.Out, "%s is not trusted: tools only read there.\n", dir)
	default:
		fmt.Fprintf(c.Out, "%s: you have not said whether you trust it; nothing that the project names is run.\n", dir)
	}
	if verb != "" {
		fmt.Fprintln(c.Out, "Running servers apply this after a restart; an editor's own answer takes precedence.")
	}
	return nil
}
