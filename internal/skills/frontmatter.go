package skills

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// value is what a key of the frontmatter has: a text, or a map of texts.
type value struct {
	text    string
	entries map[string]string
}

// split takes a SKILL.md apart: what stands between its first two ---, and what follows.
func split(text string) (head, body string, err error) {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	lines := strings.Split(text, "\n")
	if strings.TrimRight(lines[0], " \t") != "---" {
		return "", "", errors.New("it does not begin with frontmatter: its first line has to be ---")
	}
	for i, line := range lines[1:] {
		if end := strings.TrimRight(line, " \t"); end == "---" || end == "..." {
			return strings.Join(lines[1:i+1], "\n"), strings.TrimSpace(strings.Join(lines[i+2:], "\n")), nil
		}
	}
	return "", "", errors.New("its frontmatter has no end: a line --- has to follow it")
}

// parse reads frontmatter. A text with a colon that is in no quotes, as many clients
// allow it, is read as if it were in quotes.
func parse(head string, warn func(format string, args ...any)) (map[string]value, error) {
	root, err := load(head)
	if err != nil {
		quoted := unquoted.ReplaceAllStringFunc(head, quote)
		again, err2 := load(quoted)
		if err2 != nil {
			return nil, err
		}
		warn("a text with a colon has to be in quotes in its frontmatter; it was read as if it were")
		root = again
	}
	out := map[string]value{}
	if len(root.Content) == 0 { // only comments
		return out, nil
	}
	keys := root.Content[0]
	if keys.Kind != yaml.MappingNode {
		if textOf(keys) == "" && keys.Kind == yaml.ScalarNode {
			return out, nil
		}
		return nil, fmt.Errorf("line %d of %s: a key and a colon are expected, as in name: some-name", keys.Line, file)
	}
	for key, v := range pairs(keys) {
		if _, twice := out[key]; twice {
			warn("%s is there twice in its frontmatter, and the first one counts", key)
			continue
		}
		one := value{text: textOf(v)}
		if v.Kind == yaml.MappingNode {
			one.entries = map[string]string{}
			for name, entry := range pairs(v) {
				one.entries[name] = textOf(entry)
			}
		}
		out[key] = one
	}
	return out, nil
}

// load reads the nodes of frontmatter: as they are written, so that no word becomes a
// number or a date. The line --- is the first, for the lines in errors.
func load(head string) (root yaml.Node, err error) {
	err = yaml.Load([]byte("---\n"+head), &root)
	var where *yaml.LoadError
	if !errors.As(err, &where) {
		return root, err
	}
	line, what := where.Mark.Line, where.Message
	if where.ContextMsg != "" { // where what can't be read begins
		line, what = where.ContextMark.Line, where.ContextMsg+", "+what
	}
	return root, fmt.Errorf("line %d of %s can't be read: %s; a text with signs of YAML in it has to be in quotes", line, file, what)
}

// unquoted is a key at the top with a text in no quotes, on its line and those that are
// indented below it.
var unquoted = regexp.MustCompile(`(?m)^[\w-]+:[ \t]+[^\s"'|>\[{&*!%@#` + "`" + `].*(\n[ \t]+\S.*)*$`)

// quote puts the text of a key in quotes, if there is a colon in it.
func quote(line string) string {
	key, text, _ := strings.Cut(line, ":")
	if !strings.Contains(text, ":") {
		return line
	}
	return key + ": '" + strings.ReplaceAll(strings.TrimSpace(text), "'", "''") + "'"
}

// pairs are the keys of a mapping, and their values.
func pairs(m *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		for i := 0; i+1 < len(m.Content); i += 2 {
			if !yield(m.Content[i].Value, m.Content[i+1]) {
				return
			}
		}
	}
}

// textOf is the text of a scalar, or those of a list, with spaces between. What is below
// has none.
func textOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return ""
		}
		return n.Value
	case yaml.AliasNode:
		if n.Alias.Kind == yaml.ScalarNode {
			return textOf(n.Alias)
		}
	case yaml.SequenceNode:
		var items []string
		for _, item := range n.Content {
			if item.Kind == yaml.ScalarNode || item.Kind == yaml.AliasNode {
				items = append(items, textOf(item))
			}
		}
		return strings.Join(items, " ")
	}
	return ""
}
