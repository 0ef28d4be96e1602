package manual

import (
	"strings"
	"unicode/utf8"
)

// Width is the width of a text, as that of terminals and help files.
const Width = 80

// Plain is a page for a terminal. topic names the page that a link leads to, "" for none.
func Plain(page string, topic func(target string) string) string {
	to := func(text, target string) string {
		name := topic(target)
		switch {
		case strings.Contains(target, "://"):
			return text + " <" + target + ">"
		case name == "":
			return text
		}
		return text + " (help " + name + ")"
	}
	return draw(page, func(text string) string { return inline(text, to, "$1", "$2") }, drawHeading)
}

func drawHeading(b block, text string) string {
	if b.level == 1 {
		return strings.ToUpper(text)
	}
	return text + "\n" + strings.Repeat("─", min(utf8.RuneCountInString(text), Width))
}

// draw lays the blocks of a page out.
func draw(page string, inline func(string) string, head func(block, string) string) string {
	var out strings.Builder
	last := paragraph
	for i, b := range parse(page) {
		if i > 0 && (b.kind != item || last != item) {
			out.WriteString("\n")
		}
		switch b.kind {
		case heading:
			out.WriteString(head(b, inline(b.text)) + "\n")
		case item:
			out.WriteString(wrap(inline(b.text), "  "+b.mark+" ", strings.Repeat(" ", 3+utf8.RuneCountInString(b.mark))))
		case code:
			for line := range strings.SplitSeq(b.text, "\n") {
				out.WriteString(strings.TrimRight("    "+line, " ") + "\n")
			}
		case table:
			out.WriteString(drawTable(b.rows, inline))
		default:
			out.WriteString(wrap(inline(b.text), "", ""))
		}
		last = b.kind
	}
	return out.String()
}

// wrap breaks a text into lines of at most Width, unless a word is longer.
func wrap(text, first, rest string) string {
	var out strings.Builder
	line, begun := first, false
	for _, word := range strings.Fields(text) {
		if begun && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > Width {
			out.WriteString(line + "\n")
			line, begun = rest, false
		}
		if begun {
			line += " "
		}
		line, begun = line+word, true
	}
	return out.String() + line + "\n"
}

// drawTable draws a table in columns where they fit, else each row below its first cell.
func drawTable(rows [][]string, inline func(string) string) string {
	var widths []int
	for r, row := range rows {
		for i, cell := range row {
			row[i] = inline(cell)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if n := utf8.RuneCountInString(row[i]); n > widths[i] {
				widths[i] = n
			}
		}
		rows[r] = row
	}
	total := 2 * len(widths)
	for _, w := range widths {
		total += w
	}
	if total <= Width {
		return inColumns(rows, widths)
	}
	return inRows(rows)
}

func inColumns(rows [][]string, widths []int) string {
	var out strings.Builder
	for r, row := range rows {
		if r == 0 && strings.Join(row, "") == "" {
			continue
		}
		line := ""
		for i, cell := range row {
			line += "  " + cell + strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
		if r == 0 {
			for _, w := range widths {
				out.WriteString("  " + strings.Repeat("─", max(w, 1)))
			}
			out.WriteString("\n")
		}
	}
	return out.String()
}

func inRows(rows [][]string) string {
	var out strings.Builder
	head := rows[0]
	for _, row := range rows[1:] {
		out.WriteString(wrap(row[0], "  ", "  "))
		for i, cell := range row[1:] {
			if cell == "" || cell == "–" {
				continue
			}
			name := ""
			if len(row) > 2 && i+1 < len(head) && head[i+1] != "" {
				name = head[i+1] + ": "
			}
			out.WriteString(wrap(name+cell, "      ", "      "))
		}
	}
	return out.String()
}
