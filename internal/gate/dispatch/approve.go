package dispatch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// confirmWord is what a person types to allow what can't be undone.
const confirmWord = "CONFIRM"

// ErrNobody is an Approver's answer when no person can be reached.
var ErrNobody = errors.New("nobody can be asked")

// ask puts the call to a person, with its real effect, and returns nil only
// when that person allowed exactly this.
func (c *call) ask(ctx context.Context, v policy.Verdict, changes []workspace.Change) error {
	asked := c.d.o.Now()
	defer func() { c.asked += c.d.o.Now().Sub(asked) }()
	if answered, err := c.answeredByHook(ctx, v); answered {
		return err
	}
	c.questions++
	a := c.question(v, changes)
	c.reported = true
	c.publish(events.Event{Type: events.PermissionRequested, Permission: &events.Permission{ApprovalID: a.ID, Outcome: string(policy.Ask), Rule: v.Rule, Reason: v.Reason}})
	answer, decided, err := c.answer(ctx, a)
	if answer.Allow && answer.Scope == Pattern && a.Pattern == "" {
		answer.Scope = Once
		c.notes.add("The user allowed this with the scope pattern, but there is no safe pattern for it, so that holds once.")
	}
	outcome, by := policy.Deny, v.By // what asks is what denies when nobody answers
	if err == nil {
		outcome = policy.Allow
	}
	if decided {
		by = policy.ByUser
		if c.d.o.Confined != nil {
			c.d.o.Confined.Looked(c.session.ID)
		}
	}
	c.res.Decision = Decision{Outcome: string(outcome), By: by, Rule: v.Rule}
	c.publish(events.Event{Type: events.PermissionResolved, Permission: &events.Permission{ApprovalID: a.ID, Outcome: string(outcome), By: by, Rule: v.Rule, Scope: string(answer.Scope), Reason: c.d.o.Redact.Text(answer.Reason)}})
	if err != nil {
		return err
	}
	of := c.approvals()
	if v.Remember {
		of.remember(answer.Scope, changes)
	}
	of.meetHosts()
	if answer.Reason != "" {
		c.notes.add("The user allowed this and said: " + answer.Reason)
	}
	return nil
}

// answer waits for a person's answer to a. Every way but a clear yes is a no;
// decided reports whether it is a person's.
func (c *call) answer(ctx context.Context, a Ask) (ans Answer, decided bool, err error) {
	if c.d.o.Approver == nil {
		return Answer{}, false, tools.Errorf(tools.NotApproved, "%s needs a person's approval (%s) and nobody can be asked here", c.tool.Name, c.line.because(a.Rule))
	}
	wait, cancel := context.WithDeadline(ctx, a.Expires)
	defer cancel()
	ans, err = c.d.o.Approver.Approve(wait, a)
	switch {
	case ctx.Err() != nil:
		return ans, false, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded) || wait.Err() != nil:
		return ans, false, tools.Errorf(tools.NotApproved, "nobody answered within %v; %s was not run", c.set.ApprovalTimeout, c.tool.Name)
	case err != nil:
		return ans, false, tools.Errorf(tools.NotApproved, "%s needs a person's approval (%s): %v", c.tool.Name, c.line.because(a.Rule), err)
	case !ans.Allow && ans.Reason != "":
		return ans, true, tools.Errorf(tools.NotApproved, "the user did not allow %s: %s", c.line.about(c.tool.Name), ans.Reason)
	case !ans.Allow:
		return ans, true, tools.Errorf(tools.NotApproved, "the user did not allow %s; ask what to do instead, or go on without it", c.line.about(c.tool.Name))
	case a.Irrecoverable && ans.Typed != confirmWord:
		return ans, true, tools.Errorf(tools.NotApproved, "%s can't be undone and needs the typed word %s", c.tool.Name, confirmWord)
	}
	return ans, true, nil
}

// listPatterns are the patterns as one text, which is short whatever the edit.
func listPatterns(list []string) string {
	const most = 3
	if more := len(list) - most; more > 0 {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(list, ", ")
}

// question is what a person is shown. Its hash covers what would be done, not
// only what is visible of it.
func (c *call) question(v policy.Verdict, changes []workspace.Change) Ask {
	hide := func(s string) string { return c.d.o.Redact.Visible(c.d.o.Redact.Text(s)) }
	var pattern []string
	if v.Remember {
		pattern = c.approvals().patterns(changes)
	}
	a := Ask{
		ID:            newID("ask_"),
		CallID:        c.req.CallID,
		Session:       c.session.ID,
		AgentPath:     []string{c.session.ID},
		Tool:          c.tool.Name,
		Title:         hide(title(c.tool, changes, c.bound.Effects)),
		Arguments:     redactedArguments(c.req.Arguments, hide, nil),
		Effects:       c.effects(changes),
		Rule:          v.Rule,
		Irrecoverable: irrecoverable(c.bound.Effects, c.line) != "",
		Rememberable:  v.Remember,
		Pattern:       hide(listPatterns(pattern)),
		Expires:       c.d.o.Now().Add(c.set.ApprovalTimeout),
	}
	a.Always, a.Packages = c.forGood(v)
	if asksForHost(c) {
		a.Always = hostForGood(c)
		a.Host = a.Always
	}
	if own := c.req.own; own != nil {
		a.AgentPath = append(a.AgentPath, hide(own.Agent))
		if c.req.tool == nil {
			a.Title = strings.TrimSuffix(a.Title, "?") + " (by " + hide(own.Agent) + " itself)?"
		}
	}
	for _, names := range [][]string{a.Effects.Writes, a.Effects.Reads, a.Effects.Hosts} {
		for i, name := range names {
			names[i] = hide(name)
		}
	}
	a.Effects.Command = hide(a.Effects.Command)
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%s\x00%s\x00%s\x00%s\x00", c.tool.Name, c.req.Arguments, c.bound.Effects.Title, c.bound.Effects.Change, c.bound.Effects.Warns)
	if w := c.bound.Effects.Writes; len(w.Files) > 0 {
		fmt.Fprintf(sum, "%q %q\x00", w.Version, w.Files)
	}
	fmt.Fprintf(sum, "%s\x00", a.Packages)
	var diffs strings.Builder
	for _, ch := range changes {
		hashChange(sum, ch)
		diffs.WriteString(unified(ch))
	}
	a.Hash = hex.EncodeToString(sum.Sum(nil))
	a.Diff = hide(diffs.String())
	a.Brief, a.BriefAll = brief(changes)
	a.Brief = hide(a.Brief)
	a.Reason = hide(whyAsked(c, v, changes))
	if c.line != nil && c.line.install != nil && v.Remember {
		if says := hide(c.line.install.says()); !strings.Contains(a.Reason, says) {
			a.Reason += "\n" + strings.ToUpper(says[:1]) + says[1:] + "."
		}
	}
	if w := c.bound.Effects.Warns; w != "" {
		a.Reason += "\n" + hide(w)
	}
	if s := a.Effects.Sandbox; s != "" && !strings.Contains(a.Reason, s) {
		a.Reason += "\n" + s
	}
	switch {
	case a.Diff != "":
		a.Body = a.Diff
	case a.Effects.Command != "" && c.bound.Effects.Title == "" && toldWhole(a.Effects.Command):
	case a.Effects.Command != "":
		a.Body = a.Effects.Command
	case c.bound.Effects.Change != "" && toldWhole(c.bound.Effects.Change):
	case c.bound.Effects.Change != "":
		a.Body = hide(c.bound.Effects.Change)
	default:
		a.Body = string(a.Arguments)
	}
	if text := hide(writesText(c.bound.Effects.Writes.Files)); text != "" {
		a.Body = strings.TrimPrefix(strings.TrimSuffix(a.Body, "\n")+"\n\n"+text, "\n\n")
	}
	a.Detail = strings.TrimSuffix(a.Reason+"\n\n"+a.Body, "\n\n")
	return a
}

// forGood is how the commands of a line begin that a rule for good may allow, if one rule
// would have answered the question.
// packages is the digest of what an install may install.
func (c *call) forGood(v policy.Verdict) (pattern, packages string) {
	if !v.Remember || c.line == nil {
		return "", ""
	}
	if i := c.line.install; i != nil && i.why == "" {
		c.d.lists.add(i.list)
		return strings.Join(i.list.Words, " "), i.list.Digest
	}
	list := c.line.patterns()
	if len(list) != 1 || shell.CheckKnown(strings.Fields(list[0])) != nil {
		return "", ""
	}
	return list[0], ""
}

// hashChange adds all of a change, each part with its length, so that no two
// different changes hash alike.
func hashChange(w hash.Hash, ch workspace.Change) {
	fmt.Fprintf(w, "%q %q %v %v %v %d %d\x00", ch.Path, ch.From, ch.Mode, ch.Before == nil, ch.After == nil, len(ch.Before), len(ch.After))
	w.Write(ch.Before)
	w.Write(ch.After)
}

// titleRunes bounds what a title says of a command.
const titleRunes = 160

// toldWhole reports whether a title says all of a text.
func toldWhole(text string) bool {
	return !strings.Contains(text, "\n") && utf8.RuneCountInString(text) <= titleRunes
}

// inTitle is a text as a title has it: its first line, or the beginning of that.
func inTitle(text string) string {
	if toldWhole(text) {
		return text
	}
	line, _, _ := strings.Cut(text, "\n")
	if runes := []rune(line); len(runes) > titleRunes {
		line = string(runes[:titleRunes])
	}
	return line + " …"
}

// verbs say what a person does who allows a change of a kind.
var verbs = map[string]string{"create": "Create", "modify": "Change", "delete": "Delete", "rename": "Move"}

// title asks in one line for what would be done.
func title(t *tools.Tool, changes []workspace.Change, e tools.Effects) string {
	name := t.Title
	if name == "" {
		name = "Call `" + t.Name + "`"
	}
	switch {
	case e.Title != "":
		return inTitle(e.Title) + "?"
	case e.Command != "":
		return "Run `" + inTitle(e.Command) + "`?"
	case e.Change != "":
		return name + ": " + inTitle(e.Change) + "?"
	case len(e.Paths) == 1 && len(changes) == 0:
		return name + " `" + e.Paths[0] + "`?"
	case len(e.Hosts) > 0:
		return name + " from " + strings.Join(e.Hosts, ", ") + "?"
	case len(changes) == 1 && changes[0].From != "":
		return fmt.Sprintf("Move `%s` to `%s`?", changes[0].From, changes[0].Path)
	case len(changes) == 1:
		return fmt.Sprintf("%s `%s`?", verbs[changes[0].Kind()], changes[0].Path)
	case len(changes) > 1:
		return fmt.Sprintf("Change %d files?", len(changes))
	}
	return name + "?"
}

// whyAsked says in one sentence why a person is asked.
func whyAsked(c *call, v policy.Verdict, changes []workspace.Change) string {
	why := irrecoverable(c.bound.Effects, c.line)
	if v.Rule == "path.protected" {
		if name, _ := protection(c.to, changes, c.bound.Effects.Writes.Files); name != "" {
			v.Reason = strings.Replace(v.Reason, "the file", "`"+name+"`", 1)
		}
	}
	switch {
	case why == "":
		return v.Reason
	case v.Rule == "irrecoverable":
		return "It can't be undone: " + why
	}
	return v.Reason + "\nIt can't be undone: " + why
}

// irrecoverable says what of a call can't be undone, or "".
func irrecoverable(e tools.Effects, l *commandLine) string {
	if e.Irrecoverable != "" || l == nil {
		return e.Irrecoverable
	}
	return l.Irrecoverable
}

// unified is a change as a unified diff; a file that is not text is named only.
func unified(ch workspace.Change) string {
	from := ch.Path
	if ch.From != "" {
		from = ch.From
	}
	oldName, newName := "a/"+from, "b/"+ch.Path
	if ch.Before == nil {
		oldName = "/dev/null"
	}
	if ch.After == nil {
		newName = "/dev/null"
	}
	before, errBefore := workspace.DecodeText(ch.Before)
	after, errAfter := workspace.DecodeText(ch.After)
	if errBefore != nil || errAfter != nil {
		return fmt.Sprintf("Binary files %s and %s differ (%d and %d bytes)\n", oldName, newName, len(ch.Before), len(ch.After))
	}
	d := diff.Unified(oldName, newName, before.Body, after.Body, 3)
	if ch.From != "" {
		d = fmt.Sprintf("rename from %s\nrename to %s\n", ch.From, ch.Path) + d
	}
	if d == "" {
		d = fmt.Sprintf("%s %s\n", ch.Kind(), ch.Path)
	}
	return d
}

// effects lists what the call would touch.
func (c *call) effects(changes []workspace.Change) EffectList {
	e := EffectList{Access: c.access(), Reads: slices.Clone(c.bound.Effects.Paths), Command: c.d.o.Redact.Text(c.bound.Effects.Command), Hosts: slices.Clone(c.bound.Effects.Hosts)}
	e.Writes = touched(changes)
	for _, w := range c.bound.Effects.Writes.Files {
		if minded(w) && len(e.Writes) < maxWrites {
			e.Writes = append(e.Writes, w.Path)
		}
	}
	if (c.line != nil || c.bound.Effects.Confined) && c.d.o.Confined != nil {
		e.Sandbox = c.d.o.Confined.Words()
	}
	return e
}
