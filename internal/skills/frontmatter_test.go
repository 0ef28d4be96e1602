package skills

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestFrontmatter: what people write in frontmatter is read, and what can't be read says
// where.
func TestFrontmatter(t *testing.T) {
	text := func(s string) value { return value{text: s} }
	for _, one := range []struct {
		name, in string
		want     map[string]value
		warns    int
		err      string
	}{
		{"plain", "name: a\ndescription: Does it. # not this\n", map[string]value{"name": text("a"), "description": text("Does it.")}, 0, ""},
		{"a colon", "description: Use this when: asked\n", map[string]value{"description": text("Use this when: asked")}, 1, ""},
		{"an address", "description: See https://example.org/a:b\n", map[string]value{"description": text("See https://example.org/a:b")}, 0, ""},
		{"several lines", "description: one\n  two\n\n  three\nname: a\n", map[string]value{"description": text("one two\nthree"), "name": text("a")}, 0, ""},
		{"below", "description:\n  one: really\n", map[string]value{"description": {entries: map[string]string{"one": "really"}}}, 0, ""},
		{"text below", "description:\n  one\n  two\n", map[string]value{"description": text("one two")}, 0, ""},
		{"single quotes", "description: 'it''s: #1'\n", map[string]value{"description": text("it's: #1")}, 0, ""},
		{"double quotes", `description: "a \"b\" \u00e9\n"` + " # c\n", map[string]value{"description": text("a \"b\" é\n")}, 0, ""},
		{"quotes over lines", "description: \"one\n  two\"\n", map[string]value{"description": text("one two")}, 0, ""},
		{"literal", "description: |\n  one\n    two\n\n  three\nname: a\n", map[string]value{"description": text("one\n  two\n\nthree\n"), "name": text("a")}, 0, ""},
		{"folded", "description: >-\n  one\n  two\n\n  three\n", map[string]value{"description": text("one two\nthree")}, 0, ""},
		{"kept", "description: |+\n  one\n\n", map[string]value{"description": text("one\n\n")}, 0, ""},
		{"indented by two", "description: |2\n   one\n", map[string]value{"description": text(" one\n")}, 0, ""},
		{"map", "metadata:\n  author: me # a\n  version: \"1.0\"\n  # c\n  deep:\n    more: x\n  after: y\nname: a\n", map[string]value{"metadata": {entries: map[string]string{"author": "me", "version": "1.0", "deep": "", "after": "y"}}, "name": text("a")}, 0, ""},
		{"map in brackets", "metadata: {author: me, v: '1'}\n", map[string]value{"metadata": {entries: map[string]string{"author": "me", "v": "1"}}}, 0, ""},
		{"list", "allowed-tools:\n- Read\n- 'Bash(git:*)'\n- Grep # c\nname: a\n", map[string]value{"allowed-tools": text("Read Bash(git:*) Grep"), "name": text("a")}, 0, ""},
		{"list in brackets", "allowed-tools: [Read, \"Grep\",\n  Glob]\n", map[string]value{"allowed-tools": text("Read Grep Glob")}, 0, ""},
		{"unknown", "hooks:\n  PreToolUse:\n    - matcher: x\n      y: z\nname: a\n", map[string]value{"hooks": {entries: map[string]string{"PreToolUse": ""}}, "name": text("a")}, 0, ""},
		{"nothing", "description:\nname: a\n", map[string]value{"description": {}, "name": text("a")}, 0, ""},
		{"empty", "# only a comment\n\n", map[string]value{}, 0, ""},
		{"twice", "name: a\nname: b\n", map[string]value{"name": text("a")}, 1, ""},
		{"quoted key", "\"name\": a\n", map[string]value{"name": text("a")}, 0, ""},

		{"no key", "name\n", nil, 0, "line 2 of SKILL.md: a key and a colon are expected"},
		{"no room", "name:a\n", nil, 0, "a key and a colon are expected"},
		{"open quotes", "name: a\ndescription: \"one\nlicense: b\n", nil, 0, "line 3 of SKILL.md can't be read: while scanning a quoted scalar, found unexpected end of stream; a text"},
		{"open quotes at the end", "description: 'one\n", nil, 0, "found unexpected end of stream"},
		{"open bracket", "a: [b\nc: d\n", nil, 0, "line 2 of SKILL.md can't be read: while parsing a flow sequence, did not find expected ',' or ']'"},
		{"tab", "metadata:\n\ta: b\n", nil, 0, "found character that cannot start any token"},
		{"indented", "name: a\n   b: c\n", map[string]value{"name": text("a b: c")}, 1, ""},
		{"indented first", "  name: a\n", map[string]value{"name": text("a")}, 0, ""},
		{"indented otherwise", "  name: a\n b: c\n", nil, 0, "did not find expected"},
		{"a colon over lines", "description: Use it when: asked\n  or: told, it's\nname: a\n", map[string]value{"description": text("Use it when: asked or: told, it's"), "name": text("a")}, 1, ""},
		{"a colon and a comment", "name: a # not this\ndescription: Use it: now\n", map[string]value{"name": text("a"), "description": text("Use it: now")}, 1, ""},
		{"words of YAML", "name: yes\nversion: 1.10\ndate: 2026-01-02\nnone: ~\n", map[string]value{"name": text("yes"), "version": text("1.10"), "date": text("2026-01-02"), "none": {}}, 0, ""},
		{"alias", "name: &n a\ndescription: *n\nlist: &l [*l, *n]\n", map[string]value{"name": text("a"), "description": text("a"), "list": text(" a")}, 0, ""},
		{"an alias to nothing", "name: *n\n", nil, 0, "unknown anchor"},
		{"deep", "name: " + strings.Repeat("[", 100_000), nil, 0, "exceeded max depth"},
		{"escape", `name: "a\q"` + "\n", nil, 0, "found unknown escape character"},
		{"sign", "name: |x\n  a\n", nil, 0, "did not find expected comment or line break"},
		{"list at the top", "- a\n", nil, 0, "a key and a colon"},
	} {
		warns := 0
		got, err := parse(one.in, func(string, ...any) { warns++ })
		switch {
		case one.err != "" && (err == nil || !strings.Contains(err.Error(), one.err)):
			t.Errorf("%s: %v, %v, want an error with %q", one.name, got, err, one.err)
		case one.err == "" && (err != nil || !reflect.DeepEqual(got, one.want) || warns != one.warns):
			t.Errorf("%s: %#v with %d warnings, %v, want %#v with %d", one.name, got, warns, err, one.want, one.warns)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, one := range []struct{ in, head, body, err string }{
		{"---\nname: a\n---\n\nbody\n", "name: a", "body", ""},
		{"\ufeff---\r\nname: a\r\n---\r\nbody\r\n", "name: a", "body", ""},
		{"--- \nname: a\n...\n", "name: a", "", ""},
		{"---\n---", "", "", ""},
		{"name: a\n---\n", "", "", "does not begin"},
		{"", "", "", "does not begin"},
		{"---\nname: a\n", "", "", "no end"},
	} {
		head, body, err := split(one.in)
		switch {
		case one.err != "" && (err == nil || !strings.Contains(err.Error(), one.err)):
			t.Errorf("%q: %v, want an error with %q", one.in, err, one.err)
		case one.err == "" && (err != nil || head != one.head || body != one.body):
			t.Errorf("%q: %q, %q, %v", one.in, head, body, err)
		}
	}
}

func FuzzFrontmatter(f *testing.F) {
	for _, s := range []string{"---\nname: a\ndescription: >\n  b\n---\nc", "---\na: [b,\n c]\nd: {e: f}\n---", "---\nm:\n  - 'x'\n  y: \"\\u00e9\"\n---\n## Steps\n1. a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		head, body, err := split(text)
		if err != nil {
			return
		}
		_, _ = parse(head, func(format string, args ...any) { _ = fmt.Sprintf(format, args...) })
		for _, s := range stepsOf(body) {
			if s == "" {
				t.Errorf("%q has an empty step", text)
			}
		}
	})
}

func TestSteps(t *testing.T) {
	body := "1. not this\n\n## Steps\n\n1. **Write** a test\n   that fails.\n2) Run it\n```\n3. not this\n```\n### More\n10. Third\n\n## After\n1. not this\n"
	if got := stepsOf(body); !reflect.DeepEqual(got, []string{"Write a test", "Run it", "Third"}) {
		t.Errorf("the steps are %q", got)
	}
	for _, none := range []string{"", "# Title\n1. a\n", "## Steps\n- a\n", "## Stepsister\n1. a\n"} {
		if got := stepsOf(none); got != nil {
			t.Errorf("%q has the steps %q", none, got)
		}
	}
}
