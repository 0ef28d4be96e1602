package confine

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
)

// Hook starts a hook's program in root. It reads what commands see, and the files that
// a line of the user's own names; it writes nothing but temporary files.
func (c *Confiner) Hook(ctx context.Context, root string, h *hooks.Hook, argv []string) (*hooks.Process, error) {
	spec, err := c.Spec(ctx, root)
	if err != nil {
		return nil, err
	}
	spec.LookOnly, spec.Writable = true, nil
	spec.Env = append(spec.Env, "CLAUDE_PROJECT_DIR="+root)
	if h.Dir != "" {
		spec.ReadOnly = append(spec.ReadOnly, h.Dir)
		spec.Env = append(spec.Env, "PLUGIN_ROOT="+h.Dir, "CLAUDE_PLUGIN_ROOT="+h.Dir)
	}
	if runtime.GOOS == "windows" {
		shell, err := own(c, c.bash)
		if err != nil { // whatever the setting says
			return nil, shells.ErrNoBash
		}
		var env []string
		argv, env = shell.Script(nil, argv[2], argv[4:]...) // of sh -c SCRIPT NAME …
		spec.Env = append(spec.Env, env...)
	} else if user, err := os.UserHomeDir(); err == nil && !h.Project && h.Dir == "" {
		argv = append([]string{"env", "HOME=" + user}, argv...) // its line may begin paths with ~
		spec.ReadOnly = append(spec.ReadOnly, named(h.Command, user)...)
	}
	p, err := c.Start(ctx, spec, root, argv)
	if err != nil {
		return nil, err
	}
	return &hooks.Process{In: p.In, Out: p.Out, Wait: p.Wait, Kill: p.Kill, Said: p.Said}, nil
}

// word is what may be a path in a line for a shell.
var word = regexp.MustCompile(`(?:~|\$HOME|\$\{HOME\})?/[^\s"'` + "`" + `;&|<>()]+`)

// named are the files that a line of the user's names by their whole path, with
// what the links among them lead to.
func named(line, home string) (files []string) {
	for _, path := range word.FindAllString(line, -1) {
		for _, prefix := range []string{"~/", "$HOME/", "${HOME}/"} {
			if rest, ok := strings.CutPrefix(path, prefix); ok {
				path = filepath.Join(home, rest)
			}
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		files = append(files, filepath.Clean(path))
		if real, err := filepath.EvalSymlinks(path); err == nil && real != files[len(files)-1] {
			files = append(files, real)
		}
	}
	return files
}
