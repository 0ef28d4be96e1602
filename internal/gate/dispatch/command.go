package dispatch

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// read reads the command line of a call that has one for a shell.
func (c *call) read(ctx context.Context) {
	if !c.bound.Effects.Shell {
		return
	}
	j := shell.Judge{Rules: c.set.Commands, Zone: c.zone, Remembered: c.session.Remembered}
	if c.d.o.Confined != nil && c.d.o.Confined.Weak() != "" {
		j.Secret = func() string { return c.aSecret(ctx) }
	}
	if keeps(c) {
		j.Kept = func(path string) bool { return c.zone(path) == shell.Inside && !holdsRepository(c, path) }
	}
	text := c.bound.Effects.Command
	line := shell.Read
	if c.d.o.Confined != nil {
		line = func(text string) *shell.Line { return c.d.o.Confined.ReadLine(ctx, text) }
	}
	v := j.Decide(text, line(text))
	c.line, c.hidden = &v, readsHidden(c, v.Line)
}

// keeps reports whether commands change no file of the user's: what they delete comes back
// when it is rejected.
func keeps(c *call) bool {
	if !c.mode.ToStore || c.set.Writable || c.d.o.Confined == nil || c.d.o.Confined.Weak() != "" {
		return false
	}
	what, _ := c.d.o.Confined.WorldStatus()
	return what == "overlay"
}

// holdsRepository reports whether git keeps its own files at a path of a command line: the
// queue has none of them.
func holdsRepository(c *call, dir string) bool {
	name, err := c.to.Resolve(dir)
	if err != nil || name == "." {
		return true
	}
	_, err = c.to.Stat(path.Join(name, ".git"))
	return !errors.Is(err, fs.ErrNotExist)
}

// onlyReads reports whether the call's line only onlyReads. In a workspace that is not
// trusted even that may run what the workspace brings along.
func (c *call) onlyReads() bool { return c.line != nil && c.set.Trusted && c.line.OnlyLooks() }

// zone tells where a path of a command line leads.
func (c *call) zone(path string) shell.Zone {
	if strings.HasPrefix(path, "~") {
		return shell.Outside
	}
	name, err := c.to.Resolve(path)
	if err != nil {
		return shell.Outside
	}
	real, err := c.to.RealName(name)
	if err != nil {
		return shell.Outside
	}
	switch worst := max(workspace.Protected(name), workspace.Protected(real)); {
	case c.secret(name) || c.secret(real):
		return shell.Sensitive
	case worst == workspace.Never:
		return shell.Forbidden
	case worst == workspace.AskFirst:
		return shell.Guarded
	}
	return shell.Inside
}

// secret reports whether a file may hold secrets by its name.
func (c *call) secret(name string) bool {
	return workspace.Sensitive(name) && (c.set.SensitiveOK == nil || !c.set.SensitiveOK(name))
}

// hides reports whether a path of a command line leads to a file that is there, and that
// commands don't see.
func hides(c *call, path string) bool {
	if c.zone(path) != shell.Sensitive {
		return false
	}
	name, err := c.to.Resolve(path)
	if err != nil {
		return false
	}
	info, err := c.to.Stat(name)
	return err == nil && !info.IsDir()
}

// secretTime bounds the search for a file that may hold secrets.
const secretTime = time.Second

// aSecret is a file of the workspace that may hold secrets, "" when there is
// none, and words for that when the search took too long to know.
func (c *call) aSecret(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, secretTime)
	defer cancel()
	var found atomic.Pointer[string]
	err := c.to.Walk(ctx, workspace.WalkOptions{
		IncludeIgnored: true, Hidden: true,
		Keep: func(name string, dir bool) bool { return dir || c.secret(name) },
	}, func(e *workspace.Entry) error {
		name := e.Path
		found.CompareAndSwap(nil, &name)
		return fs.SkipAll
	})
	switch name := found.Load(); {
	case name != nil:
		return *name
	case err != nil:
		return "some file that was not found in time"
	}
	return ""
}

// lineFacts adds what the reading of the line found to the facts of a decision.
func (c *call) lineFacts(f *policy.Facts) {
	if (c.line != nil && !c.line.OnlyLooks() || c.bound.Effects.Confined) && c.d.o.Confined != nil {
		f.Unconfined = c.d.o.Confined.Weak()
	}
	if c.line == nil {
		return
	}
	f.Irrecoverable = f.Irrecoverable || c.line.Irrecoverable != ""
	if !c.line.OnlyLooks() {
		f.Command = c.line.Outcome
	}
	f.CommandReason = lineReason(c)
}

// lineReason says what was found about the line, and about which part of it, where it has
// several.
func lineReason(c *call) string {
	if strings.TrimSpace(c.bound.Effects.Command) == c.line.Text {
		return c.line.Reason
	}
	return c.line.Text + ": " + c.line.Reason
}

// lineVerdict makes a question say what the line has that no rule knows, and offers to remember the answer only when it can be.
func (c *call) lineVerdict(v policy.Verdict) policy.Verdict {
	if c.line == nil || v.Outcome != policy.Ask {
		return v
	}
	if (v.By == policy.ByMode || v.Remember) && c.line.Rule != "command.unknown" {
		v.Reason += "; " + lineReason(c)
	}
	v.Remember = v.Remember && len(c.lineKeys()) > 0
	if why := c.hidden; why != "" {
		v = policy.Verdict{Outcome: policy.Deny, By: policy.ByRule, Rule: "command.hidden", Reason: why}
	}
	return v
}

// readsHidden says of a line a part of which opens a file that is hidden from commands that
// nobody's yes helps; "": none does, or nothing hides it.
func readsHidden(c *call, l *shell.Line) string {
	if c.d.o.Confined == nil || c.d.o.Confined.Weak() != "" || c.d.o.Confined.Words() == "" {
		return ""
	}
	file, part := shell.Opens(l, func(path string) bool { return hides(c, path) })
	if file == "" {
		return ""
	}
	why := "`" + file + "` may hold secrets, and commands can't read it here, whoever allows it; "
	if strings.TrimSpace(c.bound.Effects.Command) == part {
		return why + "ask the user for what you need of it"
	}
	return tools.Clip(part) + ": " + why + "leave it out of the line, and ask the user for what you need of it"
}

// because is the rule by which a person is asked, and of a line which part it is
// about.
func (c *call) because(a Ask) string {
	if c.line == nil || c.line.Outcome == policy.Allow {
		return a.Rule
	}
	return a.Rule + ": " + tools.Clip(c.line.Text) + ": " + c.line.Reason
}

// askedAbout is what a person is asked about: the tool, and of a line which part.
func (c *call) askedAbout() string {
	if c.line == nil || c.line.Outcome == policy.Allow {
		return c.tool.Name
	}
	return c.tool.Name + " (" + tools.Clip(c.line.Text) + ")"
}

// lineKeys are what a person allows who allows the line for the session: each
// command that nothing else allows, as it is. There are none when something of
// the line can't be known.
func (c *call) lineKeys() []string {
	var keys []string
	for _, p := range c.line.Parts {
		switch {
		case p.Outcome == policy.Allow:
		case p.Key == "":
			return nil
		default:
			keys = append(keys, p.Key)
		}
	}
	return keys
}

// irrecoverable says what of the call can't be undone, or "".
func (c *call) irrecoverable() string {
	if why := c.bound.Effects.Irrecoverable; why != "" || c.line == nil {
		return why
	}
	return c.line.Irrecoverable
}
