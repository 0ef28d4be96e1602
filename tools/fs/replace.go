package fs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/match"
)

// replacement is what one edit made of a text.
type replacement struct {
	body   string
	places int
	tier   match.Tier
	lines  []LineRange
	note   string // how an inexact place was found
}

// replace makes one edit in body.
func replace(ctx context.Context, name, body string, e Edit) (replacement, error) {
	t := match.New(body)
	spans, tier := t.Literal(e.Search)
	if len(spans) > 0 {
		chosen, err := choose(name, t, spans, tier, e)
		if err != nil {
			return replacement{}, err
		}
		return literal(t, chosen, tier, e)
	}
	return block(ctx, name, t, e)
}

// choose picks the matches that the edit means.
func choose(name string, t *match.Text, spans []match.Span, tier match.Tier, e Edit) ([]match.Span, error) {
	n, err := e.Occurrence.number()
	switch {
	case err != nil:
		return nil, err
	case n > len(spans):
		return nil, tools.Errorf(tools.NoMatch, "%s has only %s of the search text; occurrence %d is not there", name, tools.Count(len(spans), "occurrence"), n)
	case n > 0:
		return spans[n-1 : n], nil
	case e.Occurrence == "all":
		if len(spans) == 2 && spans[1].Start < spans[0].End {
			spans = spans[:1]
		}
		return spans, nil
	case len(spans) == 1:
		return spans, nil
	}
	lines := lineNumbers(t, spans)
	if e.LineHint > 0 {
		if i, ok := nearest(lines, e.LineHint); ok {
			return spans[i : i+1], nil
		}
	}
	return nil, ambiguous(name, len(spans), lines[:min(len(lines), match.MaxListed)], tier)
}

// lineNumbers returns the lines, counted from one, on which spans begin.
func lineNumbers(t *match.Text, spans []match.Span) []int {
	out := make([]int, len(spans))
	at, line := 0, 0
	for i, s := range spans {
		for line < len(t.Lines)-1 && at+len(t.Lines[line].Text)+len(t.Lines[line].EOL) <= s.Start {
			at += len(t.Lines[line].Text) + len(t.Lines[line].EOL)
			line++
		}
		out[i] = line + 1
	}
	return out
}

// nearest returns the index of the line nearest to hint when it is clearly
// nearer than the next: at most half as far away.
func nearest(lines []int, hint int) (int, bool) {
	best, bestAway, nextAway := 0, -1, -1
	for i, l := range lines {
		away := max(l-hint, hint-l)
		switch {
		case bestAway < 0 || away < bestAway:
			best, bestAway, nextAway = i, away, bestAway
		case nextAway < 0 || away < nextAway:
			nextAway = away
		}
	}
	return best, nextAway < 0 || bestAway < nextAway && 2*bestAway <= nextAway
}

// ambiguousMatch is the structured part of a failure with ambiguous_match.
type ambiguousMatch struct {
	Count int    `json:"count" jsonschema:"places where the search text fits"`
	Lines []int  `json:"lines" jsonschema:"of the first of them, from one"`
	Path  string `json:"path" jsonschema:"file"`
}

func ambiguous(name string, count int, lines []int, tier match.Tier) error {
	list := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(slices.Compact(slices.Clone(lines)))), ", "), "[]")
	if count > len(lines) {
		list += ", …"
	}
	next := "add lines around it, or give line_hint or occurrence (a number, or all)"
	if tier != match.Exact && tier != match.LineEnds {
		next = fmt.Sprintf("it differs from all of them (%s); copy the text exactly, with lines around it", words[tier])
	}
	e := tools.Errorf(tools.AmbiguousMatch, "the search text fits %d places in %s, at lines %s; %s", count, name, list, next)
	e.Structured = ambiguousMatch{count, lines, name}
	return e
}

// words name the tiers in results.
var words = map[match.Tier]string{
	match.Exact:    "exactly",
	match.LineEnds: "but for line ends",
	match.Trailing: "but for white space at line ends",
	match.Indented: "but for indentation",
	match.Escaped:  "once its escapes are read",
	match.Alike:    "but for characters that look alike",
	match.Similar:  "by similarity",
}

// literal replaces spans with the text of the edit, its line ends made those
// of the place.
func literal(t *match.Text, spans []match.Span, tier match.Tier, e Edit) (replacement, error) {
	if tier == match.LineEnds && len(spans) == 1 {
		if r, ok := mixed(t, spans[0], e); ok {
			return r, nil
		}
	}
	out := replacement{places: len(spans), tier: tier, note: "search fits " + words[tier] + "; the file's were kept"}
	var b strings.Builder
	at, line := 0, 1
	for _, s := range spans {
		with := match.Normalize(e.Replace)
		if tier == match.LineEnds && endsLine(e.Search) && s.End == len(t.Body) && !endsLine(t.Body) {
			with = strings.TrimSuffix(with, "\n") // the file has no line end here
		}
		if eol := match.EOLAt(t.Body, s); eol != "\n" {
			with = strings.ReplaceAll(with, "\n", eol)
		}
		b.WriteString(t.Body[at:s.Start])
		b.WriteString(with)
		line += lineEnds(t.Body[at:s.Start])
		if len(out.lines) < match.MaxListed {
			out.lines = append(out.lines, LineRange{line, line + max(0, diff.CountLines(with)-1)})
		}
		line += lineEnds(with)
		at = s.End
	}
	b.WriteString(t.Body[at:])
	out.body = b.String()
	return out, nil
}

// mixed replaces whole lines whose line ends differ among themselves line by
// line, so that what the edit keeps keeps its line end.
func mixed(t *match.Text, s match.Span, e Edit) (replacement, bool) {
	region := t.Body[s.Start:s.End]
	if n := strings.Count(region, "\r\n"); n == strings.Count(region, "\n") && n == strings.Count(region, "\r") {
		return replacement{}, false
	}
	old, with := lines(e.Search), lines(e.Replace)
	p, ok := t.Aligned(s, len(old), match.LineEnds)
	if !ok || endsLine(e.Search) != endsLine(e.Replace) {
		return replacement{}, false
	}
	change, err := match.Apply(t, p, match.Script(old, with), match.KeepFinal)
	if err != nil {
		return replacement{}, false
	}
	r, err := applied(t, change, p)
	return r, err == nil
}

func lines(s string) []string { return match.Texts(match.Split(s)) }

func endsLine(s string) bool { return strings.HasSuffix(s, "\n") || strings.HasSuffix(s, "\r") }

// lineEnds counts the line ends in s.
func lineEnds(s string) int {
	n := diff.CountLines(s)
	if s != "" && !endsLine(s) {
		n--
	}
	return n
}

// block replaces whole lines that fit in all but white space, or are similar.
func block(ctx context.Context, name string, t *match.Text, e Edit) (replacement, error) {
	old := lines(e.Search)
	p, err := match.Find(ctx, t, old, match.Options{Hint: e.LineHint})
	var many *match.Ambiguous
	var none *match.Missing
	if errors.As(err, &none) || p.Tier == match.Alike || p.Tier == match.Similar {
		if done, err, ok := looked(name, t, e); ok {
			return done, err
		}
	}
	switch {
	case errors.As(err, &many):
		at := make([]int, len(many.Lines))
		for i, l := range many.Lines {
			at[i] = l + 1
		}
		return replacement{}, ambiguous(name, many.Count, at, many.Tier)
	case errors.As(err, &none):
		return replacement{}, noMatch(name, t, e, none)
	case err != nil:
		return replacement{}, err
	case e.Occurrence != "" && e.Occurrence != "1":
		return replacement{}, noMatch(name, t, e, &match.Missing{
			Reason:  "occurrence needs text that fits exactly",
			Nearest: &match.Near{First: p.First, Last: p.Last, Score: p.Score},
		})
	}
	change, err := match.Apply(t, p, match.Script(old, lines(e.Replace)), match.KeepFinal)
	if err == nil {
		return applied(t, change, p)
	}
	return replacement{}, noMatch(name, t, e, &match.Missing{
		Reason:  err.Error(),
		Nearest: &match.Near{First: p.First, Last: p.Last, Score: p.Score},
	})
}

// looked replaces the one place that reads like the search text when its escapes are
// read, or that looks like it. ok is false when there is none.
func looked(name string, t *match.Text, e Edit) (done replacement, err error, ok bool) { //nolint:revive // ok says whether there is an error
	if e.Occurrence != "" {
		return done, nil, false
	}
	for _, read := range []func(string) string{unescaped, withoutEntities} {
		as := Edit{Search: read(e.Search), Replace: read(e.Replace), LineHint: e.LineHint}
		if as.Search == e.Search || as.Search == "" {
			continue
		}
		if spans, tier := t.Literal(as.Search); len(spans) == 1 {
			done, err = literal(t, spans, tier, as)
			done.tier, done.note = match.Escaped, "search fits "+words[match.Escaped]+"; replace was read the same way; check the change"
			return done, err, true
		}
	}
	spans := t.Alike(e.Search)
	switch len(spans) {
	case 0:
		return done, nil, false
	case 1:
	default:
		lines := lineNumbers(t, spans)
		return done, ambiguous(name, len(spans), lines[:min(len(lines), match.MaxListed)], match.Alike), true
	}
	region := t.Body[spans[0].Start:spans[0].End]
	with, whole := match.Keep(region, match.Normalize(e.Search), match.Normalize(e.Replace))
	if !whole {
		return done, nil, false
	}
	as := Edit{Search: e.Search, Replace: with}
	if done, err = literal(t, spans, match.Exact, as); err == nil {
		done.tier = match.Alike
		done.note = "search fits " + words[match.Alike] + codePoints(e.Search, region) + "; what it does not change keeps the file's; check the change"
	}
	return done, err, true
}

// unescaped reads the escapes of a text that was written as one line of JSON.
func unescaped(s string) string {
	if !strings.Contains(s, `\n`) || strings.ContainsAny(s, "\n\r") {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`).Replace(s)
}

// withoutEntities reads HTML's escapes.
func withoutEntities(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", "&quot;", `"`, "&#34;", `"`, "&apos;", "'", "&#39;", "'", "&#x27;", "'").Replace(s)
}

func applied(t *match.Text, c match.Change, p match.Match) (replacement, error) {
	body, err := t.With([]match.Change{c})
	if err != nil {
		return replacement{}, err
	}
	note := fmt.Sprintf("search fits %s at %s, not exactly; check the change", words[p.Tier], LineRange{p.First + 1, p.Last})
	if len(c.Dropped) > 0 {
		note += fmt.Sprintf("; line %d of the file, which search did not have, was replaced too", c.Dropped[0]+1)
	}
	return replacement{body, 1, p.Tier, []LineRange{{c.First + 1, max(c.First+1, c.First+len(c.Lines))}}, note}, nil
}
