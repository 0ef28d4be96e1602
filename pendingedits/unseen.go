package pendingedits

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// A commit is bound to the texts that a person accepted, not to the names of its files: an agent's own commit may have any
// text for them, which the review never showed. What is made real has of each file, hunk by hunk, the text from before or
// the one that was accepted: all of it, or where a file grew from commit to commit its first or last lines.

// ErrUnseen says that a commit has something that nobody accepted. It is not made.
var ErrUnseen = errors.New("it has what was not shown in the review")

// checkSeen fails with ErrUnseen where a file of q, which has begun, is not as a person accepted it: was is q before. A batch
// is accepted as a whole, with its commits and what is shown of them.
func checkSeen(base workspace.View, q, was *queued) error {
	if !q.loose || q.ref.Kind != "" { // which changes no file
		return nil
	}
	for i, p := range q.parts {
		old := was.parts[i]
		n, err := readNode(base, p.name)
		if err != nil {
			return err
		}
		isLink := p.mode&fs.ModeSymlink != 0
		switch {
		case p.content == nil:
			if n.data == nil || old.base == nil {
				continue
			}
			return unseenIn(p.name, "the commit deletes it, and you have it")
		case isLink != n.link:
			return unseenIn(p.name, map[bool]string{true: fmt.Sprintf("the commit has a link to %.80q", p.content), false: "the commit has a file, and you have a link"}[isLink])
		case isLink:
			if !hunk.Same(n.data, p.content) {
				return unseenIn(p.name, fmt.Sprintf("the commit has a link to %.80q", p.content))
			}
			continue
		case p.mode != 0 && workspace.IsExec(p.mode) != workspace.IsExec(modeOf(base, p.name)) && n.data != nil:
			return unseenIn(p.name, map[bool]string{true: "the commit makes it executable", false: "the commit makes it not executable"}[workspace.IsExec(p.mode)])
		}
		// A person may have written on since: what was accepted stays accepted.
		if composed(old.base, p.final, p.content) || old.landed > 0 && composed(old.base, old.final, p.content) {
			continue
		}
		return unseenIn(p.name, "the commit has "+foreignLine(old.base, p.final, p.content))
	}
	return nil
}

// maxShown bounds the texts whose difference is shown, in bytes.
const maxShown = 1 << 20

// differs is what the hunks that are pending don't show of a commit.
func (s *queue) differs(q *queued) string {
	if q.ref.Kind != "" {
		return ""
	}
	var b strings.Builder
	for _, p := range q.parts {
		if p.landed > 0 || p.data == nil {
			continue
		}
		var now []byte
		isLink := false
		if e := s.entries[p.name]; e != nil {
			if e, r := s.look(e, false); e != nil && !e.isLink() {
				now = r.text
			} else if e != nil {
				now, isLink = e.after, e.afterLink
			}
		} else if n, err := readNode(s.base, p.name); err == nil {
			now, isLink = n.data, n.link
		}
		link := p.mode&fs.ModeSymlink != 0
		if link == isLink && (hunk.Same(now, p.data) || !link && composed(p.base, now, p.data)) {
			continue
		}
		if len(now)+len(p.data) > maxShown {
			fmt.Fprintf(&b, "# %s: the commit has another text, which is too long to be shown\n", p.name)
			continue
		}
		if link != isLink {
			fmt.Fprintf(&b, "# %s: the commit has %s\n", p.name, map[bool]string{true: "a link", false: "a file"}[link])
		}
		b.WriteString(diff.Patch(p.name, p.name, string(now), string(p.data)))
	}
	return b.String()
}

func unseenIn(name, what string) error {
	return fmt.Errorf("%w: of %s %s; the files are as you accepted them, so commit them yourself, or have the agent commit again", ErrUnseen, name, what)
}

// maxPart bounds the lines of a hunk of which a commit may have a part.
const maxPart = 2000

// parts are what a commit may have where a person accepted a hunk.
func (h hunkText) parts() [][]string {
	sides := [][]string{h.old, h.new}
	for k := 1; k < len(h.new) && len(h.new) <= maxPart; k++ {
		sides = append(sides, h.new[:k], h.new[k:])
	}
	return sides
}

// hunkText is what lines were and are.
type hunkText struct{ old, new []string }

// maxWork bounds the lines that are compared for one text: what is so often the same is not looked at to the end.
const maxWork = 20_000_000

// composed reports whether a text has at each place that differs between two others what one of them has.
func composed(before, after, text []byte) bool {
	if hunk.Same(text, before) || hunk.Same(text, after) {
		return true
	}
	for _, t := range [][]byte{before, after, text} {
		if t != nil && !hunk.IsText(t) {
			return false
		}
	}
	// git may store the ends of lines otherwise: without carriage returns.
	split := plainLines
	if bytes.Contains(text, []byte("\r\n")) {
		split = func(text []byte) []string { return diff.SplitLines(string(text)) }
	}
	lines, rest, work := split(before), split(text), 0
	// at are the places in the text up to which it can be composed of what was looked at.
	at := map[int]bool{0: true}
	follow := func(sides ...[]string) {
		next := map[int]bool{}
		for i := range at {
			for _, side := range sides {
				if work += 1 + len(side); work > maxWork {
					at = nil
					return
				}
				if i+len(side) <= len(rest) && slices.Equal(rest[i:i+len(side)], side) {
					next[i+len(side)] = true
				}
			}
		}
		at = next
	}
	done := 0
	for _, h := range diff.Lines(lines, split(after)) {
		follow(lines[done:h.OldStart])
		follow(hunkText{h.Old, h.New}.parts()...)
		done = h.OldStart + len(h.Old)
	}
	follow(lines[done:])
	return at[len(rest)]
}

// plainLines are the lines of a text without carriage returns at their ends.
func plainLines(text []byte) []string {
	lines := diff.SplitLines(string(text))
	for i, l := range lines {
		if whole, ok := strings.CutSuffix(l, "\n"); ok {
			lines[i] = strings.TrimSuffix(whole, "\r") + "\n"
		}
	}
	return lines
}

// foreignLine quotes the first line of a text that neither of two others has.
func foreignLine(before, after, text []byte) string {
	known := map[string]bool{}
	for _, l := range append(plainLines(before), plainLines(after)...) {
		known[l] = true
	}
	for _, l := range diff.SplitLines(string(text)) {
		if !known[l] {
			return fmt.Sprintf("%.80q", strings.TrimSuffix(l, "\n"))
		}
	}
	return "its lines in another order, or some of them"
}
