package dispatch

import (
	"context"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// commandLine is the command line of a call that has one for a shell, as it was read. A nil
// one is of a call that has none.
type commandLine struct {
	*shell.Verdict
	command string // as the call has it; the verdict's text is the part that decided
	hidden  string // why a part of it fails, whoever allows it
	trusted bool   // the workspace is
	install *install
}

// readLine reads the command line of a call.
func readLine(ctx context.Context, c *call) *commandLine {
	if !c.bound.Effects.Shell {
		return nil
	}
	at := linePaths{c.to, c.set.SensitiveOK}
	confined := c.d.o.Confined != nil && c.d.o.Confined.Weak() == ""
	j := shell.Judge{Rules: c.set.Commands, Zone: at.zone, Remembered: c.session.Remembered}
	if c.d.o.Confined != nil && !confined {
		j.Secret = func() string { return at.aSecret(ctx) }
	}
	if confined && keeps(c) {
		j.Kept = func(path string) bool { return at.zone(path) == shell.Inside && !at.holdsRepository(path) }
	}
	text := c.bound.Effects.Command
	read := shell.Read(text)
	if c.d.o.Confined != nil {
		read = c.d.o.Confined.ReadLine(ctx, text)
	}
	installs := installOf(c, text, read)
	if installs != nil && !c.asUsual {
		j.Installs = installs
	}
	v := j.Decide(text, read)
	if installs != nil && installs.why != "" && v.Outcome == "" && len(v.Parts) == 1 {
		v.Reason += "; " + installs.says()
		v.Parts[0].Reason = v.Reason
	}
	l := &commandLine{Verdict: &v, command: text, trusted: c.set.Trusted, install: installs}
	if confined && c.d.o.Confined.Words() != "" {
		l.hidden = l.opensHidden(at)
	}
	return l
}

// keeps reports whether confined commands change no file of the user's: what they delete comes
// back when it is rejected.
func keeps(c *call) bool {
	if !c.mode.ToStore || c.set.Writable || c.d.o.Confined == nil {
		return false
	}
	what, _ := c.d.o.Confined.WorldStatus()
	return what == "overlay"
}

// onlyReads reports whether the line only reads. In a workspace that is not trusted even that
// may run what the workspace brings along.
func (l *commandLine) onlyReads() bool { return l != nil && l.trusted && l.OnlyLooks() }

// runs reports whether the line has a program do something.
func (l *commandLine) runs() bool { return l != nil && !l.OnlyLooks() }

// facts adds what the reading of the line found to the facts of a decision.
func (l *commandLine) facts(f *policy.Facts) {
	if l == nil {
		return
	}
	f.Irrecoverable = f.Irrecoverable || l.Irrecoverable != ""
	if l.runs() {
		f.Command = l.Outcome
	}
	f.CommandReason = l.reason()
}

// reason says what was found about the line, and about which part of it, where it has
// several.
func (l *commandLine) reason() string {
	if strings.TrimSpace(l.command) == l.Text {
		return l.Reason
	}
	return l.Text + ": " + l.Reason
}

// verdict makes a question say what the line has that no rule knows, and offers to remember the
// answer only when it can be.
func (l *commandLine) verdict(v policy.Verdict) policy.Verdict {
	if l == nil || v.Outcome != policy.Ask {
		return v
	}
	if l.hidden != "" {
		return policy.Verdict{Outcome: policy.Deny, By: policy.ByRule, Rule: "command.hidden", Reason: l.hidden}
	}
	if (v.By == policy.ByMode || v.Remember) && l.Rule != "command.unknown" {
		v.Reason += "; " + l.reason()
	}
	v.Remember = v.Remember && len(l.keys()) > 0
	return v
}

// because is the rule by which a person is asked, and of a line which part it is about.
func (l *commandLine) because(rule string) string {
	if l == nil || l.Outcome == policy.Allow {
		return rule
	}
	return rule + ": " + tools.Clip(l.Text) + ": " + l.Reason
}

// about is what a person is asked about: the tool, and of a line which part.
func (l *commandLine) about(tool string) string {
	if l == nil || l.Outcome == policy.Allow {
		return tool
	}
	return tool + " (" + tools.Clip(l.Text) + ")"
}

// keys are what a person allows who allows the line for the session: each command that nothing
// else allows, as it is. There are none when something of the line can't be known.
func (l *commandLine) keys() []string {
	return l.open(func(p shell.Part) string { return p.Key })
}

// patterns are how the commands of the line begin that nothing else allows; none when one of
// them has none.
func (l *commandLine) patterns() []string {
	return l.open(func(p shell.Part) string { return p.Pattern })
}

// open returns something of each part that nothing else allows, once; none when a part has none.
func (l *commandLine) open(of func(shell.Part) string) []string {
	var list []string
	for _, p := range l.Parts {
		switch {
		case p.Outcome == policy.Allow || slices.Contains(list, of(p)):
		case of(p) == "":
			return nil
		default:
			list = append(list, of(p))
		}
	}
	return list
}

// opensHidden says of a line a part of which opens a file that is hidden from commands that
// nobody's yes helps; "": none does.
func (l *commandLine) opensHidden(at linePaths) string {
	file, part := shell.Opens(l.Line, at.hides)
	if file == "" {
		return ""
	}
	why := "`" + file + "` may hold secrets, and commands can't read it here, whoever allows it; "
	if strings.TrimSpace(l.command) == part {
		return why + "ask the user for what you need of it"
	}
	return tools.Clip(part) + ": " + why + "leave it out of the line, and ask the user for what you need of it"
}

// parts are the pieces of the line, as people are shown them.
func (l *commandLine) parts(hide func(string) string) []Part {
	if l == nil {
		return nil
	}
	list := make([]Part, len(l.Parts))
	for i, p := range l.Parts {
		list[i] = Part{hide(p.Text), p.Outcome, p.Rule, hide(p.Reason)}
	}
	return list
}
