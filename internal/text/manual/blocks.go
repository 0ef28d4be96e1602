// Package manual turns the Markdown of our documents into text for a terminal, a man page
// and a help file of Neovim. It reads the part of Markdown that docs/ uses: headings,
// paragraphs, lists, tables, fenced code, and links, code and emphasis within a line.
package manual

import (
	"regexp"
	"strings"
)

// kind says how a block is drawn.
type kind int

const (
	paragraph kind = iota
	heading
	item
	table
	code
)

type block struct {
	kind  kind
	level int        // of a heading
	mark  string     // of an item: • or its number
	text  string     // one line, or for code the lines as they are
	rows  [][]string // of a table, its header first
}

var (
	headingLine = regexp.MustCompile(`^(#{1,6}) +(.*?) *$`)
	itemLine    = regexp.MustCompile(`^ *(-|\*|\d+\.) +(.*)$`)
	rule        = regexp.MustCompile(`^\|[-:| ]+\|$`)
	imageLine   = regexp.MustCompile(`(?s)^!\[[^\]]*\]\([^)]*\)$`)
	comment     = regexp.MustCompile(`(?s)<!--.*?-->`)
)

// parse reads a page. What it does not know is a paragraph.
func parse(page string) (out []block) {
	var open *block // the paragraph or item that the next line continues
	lines := strings.Split(comment.ReplaceAllString(page, ""), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \r")
		switch {
		case line == "":
			open = nil
		case strings.HasPrefix(line, "```"):
			open = nil
			from := i + 1
			for i++; i < len(lines) && !strings.HasPrefix(lines[i], "```"); i++ {
			}
			out = append(out, block{kind: code, text: strings.Join(lines[min(from, len(lines)):min(i, len(lines))], "\n")})
		case headingLine.MatchString(line):
			open = nil
			m := headingLine.FindStringSubmatch(line)
			out = append(out, block{kind: heading, level: len(m[1]), text: m[2]})
		case strings.HasPrefix(line, "|"):
			if open == nil || open.kind != table {
				out = append(out, block{kind: table})
				open = &out[len(out)-1]
			}
			if !rule.MatchString(line) {
				open.rows = append(open.rows, cells(line))
			}
		case itemLine.MatchString(line):
			m := itemLine.FindStringSubmatch(line)
			mark := m[1]
			if mark == "-" || mark == "*" {
				mark = "•"
			}
			out = append(out, block{kind: item, mark: mark, text: m[2]})
			open = &out[len(out)-1]
		case open != nil && open.kind != table:
			open.text += " " + strings.TrimSpace(line)
		default:
			out = append(out, block{text: strings.TrimSpace(line)})
			open = &out[len(out)-1]
		}
	}
	return withoutImages(out)
}

func withoutImages(blocks []block) (out []block) {
	for _, b := range blocks {
		if b.kind != paragraph || !imageLine.MatchString(b.text) {
			out = append(out, b)
		}
	}
	return out
}

// cells splits a row at the bars that no backslash stands before.
func cells(line string) (out []string) {
	const bar = "\x00"
	line = strings.ReplaceAll(strings.Trim(line, "|"), `\|`, bar)
	for cell := range strings.SplitSeq(line, "|") {
		out = append(out, strings.ReplaceAll(strings.TrimSpace(cell), bar, "|"))
	}
	return out
}

var (
	link     = regexp.MustCompile(`!?\[([^\]]*)\]\(([^)\s]*)\)`)
	strong   = regexp.MustCompile(`\*\*(.+?)\*\*`)
	emphasis = regexp.MustCompile(`(^|[\s(])\*([^*\s][^*]*?)\*`)
	span     = regexp.MustCompile("`[^`]+`")
)

// inline rewrites the links and the emphasis of a line, and leaves its code as it is.
func inline(text string, target func(text, target string) string, bold, slanted string) string {
	var kept []string
	keep := func(s string) string {
		kept = append(kept, s)
		return "\x00"
	}
	text = link.ReplaceAllStringFunc(text, func(s string) string {
		m := link.FindStringSubmatch(s)
		return target(m[1], m[2])
	})
	text = span.ReplaceAllStringFunc(text, keep)
	text = strong.ReplaceAllString(text, bold)
	text = emphasis.ReplaceAllString(text, "${1}"+slanted)
	for _, s := range kept {
		text = strings.Replace(text, "\x00", s, 1)
	}
	return text
}
