package dispatch

import (
	"path"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
)

// approvals are what a person allowed in a session for more than once, as far as it matters
// to a call.
type approvals struct {
	session *session.Session
	tool    string
	hosts   []string     // of the call
	line    *commandLine // likewise
}

func (c *call) approvals() approvals {
	return approvals{c.session, c.tool.Name, c.bound.Effects.Hosts, c.line}
}

// cover reports whether a person allowed the like of the call before.
func (a approvals) cover(changes []workspace.Change) bool {
	if a.line != nil {
		return false // what was allowed of it is known to the reading of the line
	}
	if len(a.hosts) > 0 {
		return !slices.ContainsFunc(a.hosts, func(h string) bool { return !a.session.Remembered(hostKey(a.tool, h)) })
	}
	if a.session.Remembered(a.tool) {
		return true
	}
	return len(changes) > 0 && !slices.ContainsFunc(changes, func(ch workspace.Change) bool { return !a.session.Remembered(patternKey(a.tool, ch.Path)) })
}

// remember keeps an approval that was given for more than once.
func (a approvals) remember(scope Scope, changes []workspace.Change) {
	var keys []string
	switch {
	case scope == ForSession && a.line != nil:
		keys = a.line.keys()
	case scope == ForSession && len(a.hosts) > 0:
		for _, h := range a.hosts {
			keys = append(keys, hostKey(a.tool, h))
		}
	case scope == ForSession:
		keys = []string{a.tool}
	case scope == Pattern && a.line != nil:
		for _, p := range a.line.patterns() {
			keys = append(keys, shell.PatternKey(p))
		}
	case scope == Pattern:
		for _, ch := range changes {
			keys = append(keys, patternKey(a.tool, ch.Path))
		}
	}
	for _, key := range keys {
		a.session.Remember(key)
	}
}

// patterns are what an answer with the scope Pattern holds for, for people: how commands
// begin, or a tool's edits in directories. There are none when the answer can't hold for more
// than this call.
func (a approvals) patterns(changes []workspace.Change) []string {
	var list []string
	if a.line != nil {
		for _, p := range a.line.patterns() {
			list = append(list, p+" *")
		}
		return list
	}
	for _, ch := range changes {
		if in := a.tool + " " + path.Dir(ch.Path) + "/*"; !slices.Contains(list, in) {
			list = append(list, in)
		}
	}
	return list
}

// newHosts are the servers of the call that nobody has allowed in the session.
func (a approvals) newHosts() []string {
	return slices.DeleteFunc(slices.Clone(a.hosts), func(h string) bool { return a.session.Remembered(hostKey("", h)) })
}

// meetHosts keeps that a person allowed the servers of the call, so that they are not new to
// the session any more. That allows no tool to do more than its mode lets it.
func (a approvals) meetHosts() {
	for _, h := range a.hosts {
		a.session.Remember(hostKey("", h))
	}
}

// hostKey stands for a tool's use of a server; of "" for the server itself.
func hostKey(tool, host string) string { return tool + " host " + host }

// patternKey stands for a tool's edits in one directory.
func patternKey(tool, name string) string { return tool + " " + path.Dir(name) }
