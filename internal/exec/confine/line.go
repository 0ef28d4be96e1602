package confine

import (
	"context"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
)

// ReadLine reads a command line as the shell does that runs it. Where there is none,
// nothing runs.
func (c *Confiner) ReadLine(ctx context.Context, line string) *shell.Line {
	s, err := c.Shell()
	if err != nil || !s.PowerShell {
		l := shell.Read(line)
		if s.Variable {
			l.Path = s.Native
		}
		return l
	}
	if why, ok := shell.ParsesSafely(line); !ok {
		return shell.Unread(why)
	}
	parsed, err := s.Parse(ctx, line)
	if err != nil {
		return shell.Unread(err.Error())
	}
	return shell.FromPowerShell(parsed)
}

// moved is a line that finds the directories that it changes to elsewhere. What
// PowerShell changes to is not known here.
func (c *Confiner) moved(line string, in func(path string) string) string {
	s, err := c.Shell()
	if err != nil || s.PowerShell {
		return line
	}
	return shell.Moved(line, func(name string) string {
		path := s.Native(name)
		if at := in(path); at != path {
			return filepath.ToSlash(s.Inside(at))
		}
		return name
	})
}
