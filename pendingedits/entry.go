package pendingedits

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// entry is what is proposed for one file. It says nothing about the live text,
// which changes without being asked: how the two go together is a resolution.
// Entries are never changed, only replaced.
type entry struct {
	name, from string // from is set for a rename
	base       []byte // the text that was there when it was proposed; nil: no file
	hunks      []hunk // in order, exact in base

	// A whole is taken or left as one: a create, delete or rename, or content
	// that has no lines. It has one hunk, which is only an id.
	whole bool
	after []byte // nil deletes

	// Of a file that is created, its mode; else, if not 0, the execute bits of
	// mode are proposed too: as a part of a whole, or by themselves as modeID.
	mode   fs.FileMode
	modeID string
	modeBy []string // whose that is; see hunk

	// The base, or after, of a whole is the target of a symbolic link.
	baseLink, afterLink bool

	session, tool string
	command       string // see Proposer
	batch         bool   // part of the session's batch
	updated       time.Time
	revision      int64
}

// hunk is a change of whole lines. For an entry's hunks start and old are
// lines of its base.
type hunk struct {
	id       string
	start    int
	old, new []string
	by       []string // the sessions whose it is, sorted; shared, never changed
}

func (h hunk) end() int { return h.start + len(h.old) }

func (e *entry) by() Proposer {
	return Proposer{Session: e.session, Tool: e.tool, Command: e.command, Batch: e.batch}
}

// source is the file of the base view that the entry changes.
func (e *entry) source() string {
	if e.from != "" {
		return e.from
	}
	return e.name
}

func (e *entry) kind() string {
	switch {
	case e.from != "":
		return "rename"
	case e.base == nil:
		return "create"
	case e.whole && e.after == nil:
		return "delete"
	}
	return "modify"
}

// without returns e with its base as if the hunks for which applied is true
// had been in it always, and without those for which dropped is true; nil when
// nothing is left.
func (e *entry) without(applied, dropped func(hunk) bool) *entry {
	var lines []string
	var left []hunk
	base, at := diff.SplitLines(string(e.base)), 0
	for _, h := range e.hunks {
		lines = append(lines, base[at:h.start]...)
		at = h.end()
		switch {
		case applied(h):
			lines = append(lines, h.new...)
			continue
		case !dropped(h):
			h.start = len(lines)
			left = append(left, h)
		}
		lines = append(lines, h.old...)
	}
	mode := hunk{id: e.modeID}
	modeGone := e.modeID == "" || applied(mode) || dropped(mode)
	if len(left) == 0 && modeGone {
		return nil
	}
	rest := *e
	if modeGone {
		rest.mode, rest.modeID, rest.modeBy = 0, "", nil
	}
	rest.base, rest.hunks = join(append(lines, base[at:]...)), left
	return rest.signed()
}

// parts are all that can be chosen of e: its hunks, and the change of the mode
// as one without lines.
func (e *entry) parts() []hunk {
	if e.modeID == "" {
		return e.hunks
	}
	return append([]hunk{{id: e.modeID, by: e.modeBy}}, e.hunks...)
}

// proposal is the text that e makes of its base without the hunks for which
// dropped is true; nil is no file.
func (e *entry) proposal(dropped func(hunk) bool) []byte {
	if e.whole {
		switch {
		case !dropped(e.hunks[0]):
			return e.after
		case e.from != "":
			return nil
		}
		return e.base
	}
	kept := slices.DeleteFunc(slices.Clone(e.hunks), dropped)
	return join(apply(diff.SplitLines(string(e.base)), kept))
}

// none is for entry.without and entry.proposal.
func none(hunk) bool { return false }

// idSet are ids of hunks.
type idSet map[string]bool

func (s idSet) has(h hunk) bool { return s[h.id] }

// apply returns lines with the changes made, which must be in order and exact.
func apply(lines []string, changes []hunk) []string {
	if len(changes) == 0 {
		return lines
	}
	out, at := make([]string, 0, len(lines)+8), 0
	for _, h := range changes {
		out = append(append(out, lines[at:h.start]...), h.new...)
		at = h.end()
	}
	return append(out, lines[at:]...)
}

// join never returns nil: no bytes are not no file.
func join(lines []string) []byte {
	n := 0
	for _, line := range lines {
		n += len(line)
	}
	b := make([]byte, 0, n)
	for _, line := range lines {
		b = append(b, line...)
	}
	return b
}

// runsOn reports whether putting b after a makes other lines of them: a has no
// line end, or half of one whose other half is in b.
func runsOn(a, b string) bool {
	return !strings.HasSuffix(a, "\n") && (!strings.HasSuffix(a, "\r") || strings.HasPrefix(b, "\n"))
}

// isText reports whether a file's content has lines that hunks can be made of.
func isText(data []byte) bool {
	return data != nil && !diff.Binary(string(data[:min(len(data), diff.BinaryWithin)]))
}

// same compares files: no file is not an empty one.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// file makes data the content of a file that is there.
func file(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}
