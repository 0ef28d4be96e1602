package fs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/match"
)

// TestEditLongLine: a line of 200,000 characters is edited like any other.
func TestEditLongLine(t *testing.T) {
	line := strings.Repeat("q", 200_000)
	got, _, err := edited(t, line+"alpha\n", map[string]any{"search": "alpha", "replace": "beta"})
	if err != nil || got != line+"beta\n" {
		t.Errorf("%.100q, %v", got, err)
	}
}

const goFile = `package p

func a() int {
	x := 1
	return x
}

func b() int {
	x := 2
	return x
}
`

func TestEditTiers(t *testing.T) {
	for _, c := range []struct {
		name, text, search, replace, want string
		tier                              match.Tier
	}{
		{"exact, a part of a line", "a b c\n", "b", "B", "a B c\n", match.Exact},
		{"an LF replacement in a CRLF file", "a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n", match.Exact},
		{"parts of CRLF lines", "one two\r\nthree four\r\n", "two\nthree", "2\n3\n", "one 2\r\n3\r\n four\r\n", match.LineEnds},
		{"a line feed alone in a CRLF file", "a\r\nb\r\n", "\nb", "\nc", "a\r\nc\r\n", match.LineEnds},
		{"kept lines keep mixed line ends", "a\r\nb\nc\r\n", "a\nb\nc\n", "a\nB\nc\n", "a\r\nB\nc\r\n", match.LineEnds},
		{"CRLF search in an LF file", "a\nb\n", "a\r\nb", "c\r\nd", "c\nd\n", match.LineEnds},
		{"a final newline that is not there", "a\nb", "a\nb\n", "a\nc\n", "a\nc", match.LineEnds},
		{"trailing space of the file", "a  \nb\n", "a\nb\n", "a\nc\n", "a  \nc\n", match.Trailing},
		{"trailing space of the search", "a\nb\n", "a \nb\n", "a \nc\n", "a\nc\n", match.Trailing},
		{"spaces for tabs", goFile, "    x := 2\n    return x\n", "    x := 3\n    if x > 2 {\n        x--\n    }\n    return x\n",
			strings.Replace(goFile, "\tx := 2\n", "\tx := 3\n\tif x > 2 {\n\t\tx--\n\t}\n", 1), match.Indented},
		{"indentation left out", goFile, "x := 2\nreturn x", "x := 4\nreturn x", strings.Replace(goFile, "x := 2", "x := 4", 1), match.Indented},
		{"one long line with spaces for a tab", goFile + "\n\tlongFunctionName(argument)\n", "    longFunctionName(argument)", "    longFunctionName(other)", goFile + "\n\tlongFunctionName(other)\n", match.Indented},
		{"a slip in a line that is kept", "alpha one\nbravo two\ncharlie three\ndelta four\n", "alpha one\nbravo two\nchralie three\ndelta four\n", "alpha one\nbravo 2\nchralie three\ndelta four\n", "alpha one\nbravo 2\ncharlie three\ndelta four\n", match.Similar},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, res, err := edited(t, c.text, map[string]any{"search": c.search, "replace": c.replace})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if tier := res.Structured.(Edited).Tier; tier != c.tier {
				t.Errorf("tier %s, want %s", tier, c.tier)
			}
			if c.tier != match.Exact && !strings.Contains(res.Text, words[c.tier]) {
				t.Errorf("the result does not say %q:\n%s", words[c.tier], res.Text)
			}
		})
	}
}

func TestEditRefusals(t *testing.T) {
	three := "one\ntwo\none\ntwo\none\n"
	for _, c := range []struct {
		name, text string
		args       map[string]any
		code       tools.Code
		parts      []string
	}{
		{"nothing like it", "x\n", map[string]any{"search": "something else", "replace": "y"}, tools.NoMatch, []string{"read the file"}},
		{"a near line", "alpha = beta + gamma\n", map[string]any{"search": "alpha = beta - gamma", "replace": "y"}, tools.NoMatch, []string{"line 1", "alpha = beta + gamma", "-alpha = beta - gamma"}},
		{"three places", three, map[string]any{"search": "one", "replace": "y"}, tools.AmbiguousMatch, []string{"3 places", "1, 3, 5", "occurrence", "line_hint"}},
		{"overlapping places", "aXaXa\n", map[string]any{"search": "aXa", "replace": "y"}, tools.AmbiguousMatch, []string{"2 places"}},
		{"a place too many", three, map[string]any{"search": "one", "replace": "y", "occurrence": "4"}, tools.NoMatch, []string{"3 occurrences"}},
		{"a hint between two", three, map[string]any{"search": "one", "replace": "y", "line_hint": 2}, tools.AmbiguousMatch, []string{"1, 3, 5"}},
		{"empty search", "x\n", map[string]any{"search": "", "replace": "y"}, tools.InvalidArguments, []string{"search is empty"}},
		{"no change", "x\n", map[string]any{"search": "x", "replace": "x"}, tools.InvalidArguments, []string{"the same"}},
		{"both forms", "x\n", map[string]any{"search": "x", "replace": "y", "edits": []any{map[string]any{"search": "x", "replace": "z"}}}, tools.InvalidArguments, []string{"search", "edits", "not both"}},
		{"neither form", "x\n", map[string]any{}, tools.InvalidArguments, []string{"search is missing"}},
		{"no replace", "x\n", map[string]any{"search": "x"}, tools.InvalidArguments, []string{"replace is missing"}},
		{"a wrong occurrence", "x\n", map[string]any{"search": "x", "replace": "y", "occurrence": "second"}, tools.InvalidArguments, []string{"occurrence", "all"}},
		{"occurrence zero", "x\n", map[string]any{"search": "x", "replace": "y", "occurrence": 0}, tools.InvalidArguments, []string{"occurrence"}},
		{"occurrence and hint", "x\n", map[string]any{"search": "x", "replace": "y", "occurrence": 1, "line_hint": 1}, tools.InvalidArguments, []string{"not both"}},
		{"a hidden secret", "key = 1\n", map[string]any{"search": "1", "replace": "[REDACTED:token]"}, tools.InvalidArguments, []string{"replace", "secret"}},
		{"the second of two edits", "x\ny\n", map[string]any{"edits": []any{map[string]any{"search": "x", "replace": "z"}, map[string]any{"search": "nothing", "replace": "z"}}}, tools.NoMatch, []string{"edits[1]", "no edit was made"}},
		{"the indentation of several places", "\tfoo(1)\n\tbar(22)\n\n\t\tfoo(1)\n\t\tbar(22)\n", map[string]any{"search": "   foo(1)\n   bar(22)\n", "replace": "y"}, tools.AmbiguousMatch, []string{"indentation", "1, 4"}},
		{"a tab in one short line", "\tfoo()\n", map[string]any{"search": "    foo()", "replace": "    bar()"}, tools.NoMatch, []string{"tabs"}},
		{"a changed file", "x\n", map[string]any{"search": "x", "replace": "y", "expect_hash": strings.Repeat("0", 64)}, tools.Conflict, []string{"read it again"}},
		{"not ASCII into bytes", "caf\xe9 alpha\n", map[string]any{"search": "alpha", "replace": "é"}, tools.InvalidArguments, []string{"UTF-8"}},
		{"an unknown line between", "alpha alpha\nbravo bravo\ncharlie charlie\ndelta delta\necho echo\nfoxtrot foxtrot\ngolf golf\nhotel hotel\nindia india\njuliet juliet\n",
			map[string]any{"search": "alpha alpha\nbravo bravo\ncharlie charlie\necho echo\nfoxtrot foxtrot\ngolf golf\nhotel hotel\nindia india\njuliet juliet\n", "replace": "alpha alpha\nbravo bravo\nC\nE\nfoxtrot foxtrot\ngolf golf\nhotel hotel\nindia india\njuliet juliet\n"},
			tools.NoMatch, []string{"does not know of"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := edited(t, c.text, c.args)
			wantError(t, err, c.code, c.parts...)
		})
	}
}

func TestEditChoices(t *testing.T) {
	three := "one\ntwo\none\ntwo\none\n"
	for _, c := range []struct {
		name, text, want string
		args             map[string]any
	}{
		{"all", three, "1\ntwo\n1\ntwo\n1\n", map[string]any{"search": "one", "replace": "1", "occurrence": "all"}},
		{"the second, as a number", three, "one\ntwo\n1\ntwo\none\n", map[string]any{"search": "one", "replace": "1", "occurrence": 2}},
		{"the third, as text", three, "one\ntwo\none\ntwo\n1\n", map[string]any{"search": "one", "replace": "1", "occurrence": "3"}},
		{"a hint", three, "one\ntwo\n1\ntwo\none\n", map[string]any{"search": "one", "replace": "1", "line_hint": 3}},
		{"a hint beyond the end", three, "one\ntwo\none\ntwo\n1\n", map[string]any{"search": "one", "replace": "1", "line_hint": 6}},
		{"all over CRLF lines", "a\r\nb\r\na\r\nb\r\n", "x\r\ny\r\nx\r\ny\r\n", map[string]any{"search": "a\nb", "replace": "x\ny", "occurrence": "all"}},
		{"each edit on the result of the one before", "a\n", "c\n", map[string]any{"edits": []any{map[string]any{"search": "a", "replace": "b"}, map[string]any{"search": "b", "replace": "c"}}}},
		{"edits that undo each other", "a\n", "a\n", map[string]any{"edits": []any{map[string]any{"search": "a", "replace": "b"}, map[string]any{"search": "b", "replace": "a"}}}},
		{"deleting lines", "a\nb\nc\n", "a\nc\n", map[string]any{"search": "b\n", "replace": ""}},
		{"a mark that the file has", "x [REDACTED:token]\n", "y [REDACTED:token]\n", map[string]any{"search": "x [REDACTED:token]", "replace": "y [REDACTED:token]"}},
		{"white space only, exactly", "a  b\n", "a b\n", map[string]any{"search": "  ", "replace": " "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := edited(t, c.text, c.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestEditWholeBlockWithALineLeftOut replaces all of a long block although the
// search left a line out, and says which line went as well.
func TestEditWholeBlockWithALineLeftOut(t *testing.T) {
	var file, search strings.Builder
	file.WriteString("head of the file\n")
	for i, w := range strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima") {
		line := "the " + w + " of line " + w + "\n"
		file.WriteString(line)
		if i != 5 {
			search.WriteString(line)
		}
	}
	file.WriteString("foot of the file\n")
	got, res, err := edited(t, file.String(), map[string]any{"search": search.String(), "replace": "NEW\n"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "head of the file\nNEW\nfoot of the file\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !strings.Contains(res.Text, "line 7 of the file") {
		t.Errorf("the result does not name the line that search left out:\n%s", res.Text)
	}
}

// FuzzEdit: an edit is refused, or replaces exactly one region by the
// replacement (its line ends made the file's) and leaves the rest as it was.
func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\r\nc", "a\nb", "x\ny")
	f.Add("\tfoo(1)\n\tbar(22)\n", "    foo(1)\n    bar(22)\n", "    foo(2)\n")
	f.Add("a\rb\nc\r\n\n", "\n", "z")
	f.Add(goFile, "x := 2\nreturn x", "y\n")
	f.Add("aaa", "a\n", "b\n")
	f.Add("x", "\x0b", "0")
	f.Fuzz(func(t *testing.T, body, search, with string) {
		e := Edit{Search: search, Replace: with}
		if e.valid() != nil {
			return
		}
		got, err := replace(t.Context(), "f", body, e)
		if err != nil {
			return
		}
		if got.places != 1 || len(got.lines) != 1 {
			t.Fatalf("%d places, %v", got.places, got.lines)
		}
		switch got.tier {
		case match.Exact:
			at := strings.Index(body, search)
			for at >= 0 && (got.body[:min(at, len(got.body))] != body[:at] || !strings.HasSuffix(got.body, body[at+len(search):])) {
				next := strings.Index(body[at+1:], search)
				if next < 0 {
					t.Fatalf("%q → %q is not an edit of %q by %q", body, got.body, search, with)
				}
				at += 1 + next
			}
		default:
			// Outside of the lines that search could be, nothing changes: what
			// both texts begin and end with is more than the file less those.
			n := match.Normalize(got.body)
			if tier := got.tier; tier == match.LineEnds && !strings.Contains(match.Normalize(body), strings.TrimSuffix(match.Normalize(search), "\n")) {
				t.Fatalf("%s: %q is not in %q", tier, search, body)
			}
			pre, post := common(match.Normalize(body), n)
			if rest := len(match.Normalize(body)) - pre - post; rest > 2*len(search)+256 {
				t.Fatalf("%d bytes of %q changed for %q", rest, body, search)
			}
		}
	})
}

func common(a, b string) (pre, post int) {
	for pre < min(len(a), len(b)) && a[pre] == b[pre] {
		pre++
	}
	for post < min(len(a), len(b))-pre && a[len(a)-1-post] == b[len(b)-1-post] {
		post++
	}
	return pre, post
}

// TestEditHugeLines stays within its bounds when there is a lot to compare.
func TestEditHugeLines(t *testing.T) {
	long := strings.Repeat("abcdefgh ", 10_000)
	text := strings.Repeat("x"+long+"\n", 20)
	_, _, err := edited(t, text, map[string]any{"search": strings.Repeat("y"+long+"\n", 10), "replace": "z"})
	wantError(t, err, tools.NoMatch)
	got, res, err := edited(t, strings.Repeat("one two\n", 20_000), map[string]any{"search": "two", "replace": "2", "occurrence": "all"})
	if err != nil || got != strings.Repeat("one 2\n", 20_000) {
		t.Errorf("not all were replaced: %v", err)
	}
	if out := res.Structured.(Edited); out.Replaced != 20_000 || len(out.Lines) != match.MaxListed || out.Lines[2] != (LineRange{3, 3}) {
		t.Errorf("%d places, lines %v", out.Replaced, out.Lines)
	}
}
