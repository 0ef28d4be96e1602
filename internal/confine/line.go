package confine

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/policy/shell"
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
