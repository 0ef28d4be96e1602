package fs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/match"
	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/patch"
)

// AppliedHunk is where a hunk was applied.
type AppliedHunk struct {
	Line   int        `json:"line" jsonschema:"in the file before the patch, from one"`
	Offset int        `json:"offset,omitempty" jsonschema:"lines from where the patch said"`
	Tier   match.Tier `json:"tier" jsonschema:"how exactly it fits" enum:"exact,line-endings,trailing-whitespace,indentation,escapes,look-alikes,similarity"`
}

func (p AppliedHunk) String() string {
	s := fmt.Sprintf("line %d", p.Line)
	if p.Offset != 0 {
		s += fmt.Sprintf(" (%+d from the patch)", p.Offset)
	}
	if p.Tier != match.Exact {
		s += " " + words[p.Tier] + ", check it"
	}
	return s
}

func withoutFinal(h patch.Hunk) bool { return h.Final == match.WithoutFinal }

// patchFile applies hunks to a file. All are placed in the text as it was, so
// that none can land in what another one added; all that don't fit are
// reported together.
func patchFile(ctx context.Context, name string, data []byte, hunks []patch.Hunk) ([]byte, []AppliedHunk, error) {
	text, err := decode(name, data)
	if err != nil {
		return nil, nil, err
	}
	t := match.New(text.Body)
	var changes []match.Change
	var placed []AppliedHunk
	var failed []*tools.Error
	after, moved := 0, 0 // where the last hunk ended, how far it was off
	for i, h := range hunks {
		for _, o := range h.Ops {
			if o.Kind != '+' {
				continue
			}
			if err := writable("patch", o.Text, text); err != nil {
				return nil, nil, err
			}
		}
		p, err := locate(ctx, t, h, after, moved)
		var change match.Change
		if err == nil {
			change, err = fit(t, p, h)
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			failed = append(failed, hunkError(name, t, i+1, h, err))
			continue
		}
		where := AppliedHunk{Line: p.First + 1, Tier: p.Tier}
		if h.Line > 0 {
			where.Offset = p.First + 1 - h.Line
			moved = where.Offset
		}
		after = max(after, change.Last)
		placed, changes = append(placed, where), append(changes, change)
	}
	if len(failed) > 0 {
		return nil, nil, rejectedHunks(failed)
	}
	slices.SortStableFunc(changes, func(a, b match.Change) int { return cmp.Compare(a.First, b.First) })
	body, err := t.With(changes)
	if err != nil {
		return nil, nil, tools.Errorf(tools.NoMatch, "%s: %v; make one hunk of them", name, err)
	}
	out, err := encode(name, text, body)
	return out, placed, err
}

func rejectedHunks(failed []*tools.Error) error {
	var texts []string
	for _, f := range failed {
		texts = append(texts, f.Message)
	}
	return &tools.Error{Code: failed[0].Code, Message: strings.Join(texts, "\n"), Structured: failed[0].Structured}
}

var (
	errNoContext = errors.New("it has no context lines; add some lines of the file around the change")
	errRemoved   = errors.New("lines to remove differ from the file's")
)

// locate finds the lines of a hunk: below the hunk before it, and only if that
// fails, anywhere.
func locate(ctx context.Context, t *match.Text, h patch.Hunk, after, moved int) (match.Match, error) {
	old := match.Old(h.Ops)
	if len(old) == 0 {
		if len(t.Lines) == 0 || h.Line == 0 && len(h.Anchors) == 0 {
			return match.Match{Tier: match.Exact, First: len(t.Lines), Last: len(t.Lines)}, nil
		}
		return match.Match{}, errNoContext
	}
	o := match.Options{From: after, End: h.End}
	if h.Line > 0 {
		o.Hint = h.Line + moved
	}
	p, err := match.Find(ctx, t, old, o)
	var many *match.Ambiguous
	var none *match.Missing
	if errors.As(err, &many) && len(h.Anchors) > 0 {
		from, anchorErr := below(t, h.Anchors, after)
		if anchorErr != nil {
			return p, anchorErr
		}
		o.From, o.First = from, true
		return match.Find(ctx, t, old, o)
	}
	if errors.As(err, &many) && o.Hint != h.Line && h.Line > 0 {
		o.Hint = h.Line
		return match.Find(ctx, t, old, o)
	}
	if errors.As(err, &none) && (after > 0 || h.End) {
		if again, err := match.Find(ctx, t, old, match.Options{Hint: h.Line}); err == nil && again.Tier == match.Exact {
			return again, nil
		}
	}
	return p, err
}

// below returns the line after the anchors, each of which must be there once
// below the one before.
func below(t *match.Text, anchors []string, from int) (int, error) {
	for _, a := range anchors {
		found := -1
		for i := from; i < len(t.Lines); i++ {
			if strings.TrimSpace(t.Lines[i].Text) != a {
				continue
			}
			if found >= 0 {
				return 0, fmt.Errorf("its anchor %q is there more than once, at lines %d and %d; add context lines", a, found+1, i+1)
			}
			found = i
		}
		if found < 0 {
			return 0, fmt.Errorf("its anchor %q is not a line of the file; copy the line, or add context lines", a)
		}
		from = found + 1
	}
	return from, nil
}

// fit applies a hunk to its place. What it removes must be there but for white
// space, however similar the rest is.
func fit(t *match.Text, p match.Match, h patch.Hunk) (match.Change, error) {
	j := 0
	for _, o := range h.Ops {
		if o.Kind == '+' {
			continue
		}
		i := p.At[j]
		j++
		if o.Kind == '-' && (i < 0 || p.Tier != match.Alike && strings.Join(strings.Fields(t.Lines[i].Text), "") != strings.Join(strings.Fields(o.Text), "")) {
			return match.Change{}, errRemoved
		}
	}
	c, err := match.Apply(t, p, h.Ops, h.Final)
	return c.Trim(t), err
}

// hunkError says why a hunk does not fit and what comes nearest.
func hunkError(name string, t *match.Text, number int, h patch.Hunk, err error) *tools.Error {
	var many *match.Ambiguous
	var none *match.Missing
	at := fmt.Sprintf("%s, hunk %d: ", name, number)
	switch {
	case errors.As(err, &many):
		var lines []string
		for _, l := range many.Lines {
			lines = append(lines, fmt.Sprint(l+1))
		}
		return tools.Errorf(tools.AmbiguousMatch, "%sfits %d places, at lines %s; add context lines", at, many.Count, strings.Join(lines, ", "))
	case errors.As(err, &none) && none.Nearest != nil:
		near := describe(name, t, match.Old(h.Ops), none.Nearest)
		reason := ""
		if none.Reason != "" {
			reason = " (" + none.Reason + ")"
		}
		e := tools.Errorf(tools.NoMatch, "%sits lines are not in the file%s. %s", at, reason, near.text())
		e.Structured = near
		return e
	case errors.As(err, &none):
		return tools.Errorf(tools.NoMatch, "%sits lines are not in the file, nor anything like them; read the file again", at)
	}
	return tools.Errorf(tools.NoMatch, "%s%v", at, err)
}
