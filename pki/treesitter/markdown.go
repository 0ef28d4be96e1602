package treesitter

import (
	"bytes"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// headings returns the headings of a Markdown text, each reaching to the next
// one of its level or above.
func headings(src []byte) []pki.Symbol {
	starts := lineStarts(src)
	var out []pki.Symbol
	var levels []int // of out
	var open []int   // indexes in out
	// text is where the title begins, body the first line behind it.
	add := func(level int, title string, line, start, text, body int) {
		for len(open) > 0 && levels[open[len(open)-1]] >= level {
			end(&out[open[len(open)-1]], line, start)
			open = open[:len(open)-1]
		}
		s := pki.Symbol{Name: cut(title, maxSignature), Kind: pki.Heading, Depth: len(open), StartLine: line, StartByte: start, NameByte: text}
		s.BodyByte = len(src)
		if body < len(starts) {
			s.BodyByte = starts[body]
		}
		s.Signature = strings.Repeat("#", level) + " " + s.Name
		if len(open) > 0 {
			s.Container = out[open[len(open)-1]].Qualified
		}
		s.Qualified = join(s.Container, s.Name)
		if len(s.Qualified) > maxDoc { // headings of headings that are whole sentences
			s.Qualified = s.Name
		}
		open = append(open, len(out))
		out, levels = append(out, s), append(levels, level)
	}

	var fence string
	frontMatter := false
	paragraph := -1 // first line of the paragraph that a setext underline would end
	for i, start := range starts {
		if len(out) == maxSymbols {
			break
		}
		line := textOf(src, starts, i)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		text := strings.TrimSpace(line)
		switch mark := fenceMark(text); {
		case i == 0 && text == "---":
			frontMatter = true
		case frontMatter:
			frontMatter = text != "---" && text != "..."
		case fence != "":
			if mark != "" && mark[0] == fence[0] && len(mark) >= len(fence) && strings.Trim(text, mark[:1]) == "" {
				fence = ""
			}
		case indent >= 4 && paragraph < 0 || text == "":
			paragraph = -1
		case mark != "" && indent < 4:
			fence, paragraph = mark, -1
		case indent < 4 && paragraph >= 0 && strings.Trim(text, "=") == "":
			add(1, paragraphText(src, starts, paragraph, i), paragraph+1, starts[paragraph], starts[paragraph], i+1)
			paragraph = -1
		case indent < 4 && paragraph >= 0 && strings.Trim(text, "-") == "":
			add(2, paragraphText(src, starts, paragraph, i), paragraph+1, starts[paragraph], starts[paragraph], i+1)
			paragraph = -1
		case indent < 4 && strings.HasPrefix(text, "#"):
			paragraph = -1
			title := strings.TrimLeft(text, "#")
			level := len(text) - len(title)
			if level > 6 || title != "" && title[0] != ' ' && title[0] != '\t' {
				break
			}
			if title = atxTitle(title); title != "" {
				at := bytes.IndexFunc(src[start:], func(r rune) bool { return r != '#' && r != ' ' && r != '\t' })
				add(level, title, i+1, start, start+max(at, 0), i+1)
			}
		case strings.ContainsRune("-*+>|<", rune(text[0])) || strings.Trim(text, "-_* ") == "":
			paragraph = -1 // lists, quotes, tables, HTML and rules are no titles
		default:
			if paragraph < 0 {
				paragraph = i
			}
		}
	}
	for _, i := range open {
		end(&out[i], lineCount(src, starts)+1, len(src))
	}
	return out
}

// end closes a section before the line that begins at offset.
func end(s *pki.Symbol, line, offset int) {
	s.EndLine, s.EndByte = max(s.StartLine, line-1), offset
	s.NameByte, s.BodyByte = min(s.NameByte, offset), min(max(s.BodyByte, s.StartByte), offset)
}

func textOf(src []byte, starts []int, i int) string {
	end := len(src)
	if i+1 < len(starts) {
		end = starts[i+1]
	}
	return strings.ToValidUTF8(strings.TrimRight(string(src[starts[i]:end]), "\r\n"), "")
}

func paragraphText(src []byte, starts []int, from, to int) string {
	var parts []string
	for i := max(from, to-5); i < to; i++ {
		parts = append(parts, textOf(src, starts, i))
	}
	return fold(strings.Join(parts, " "))
}

func atxTitle(text string) string {
	text = strings.TrimSpace(text)
	if bare := strings.TrimRight(text, "#"); bare == "" || bare != text && strings.HasSuffix(bare, " ") {
		text = bare
	}
	return fold(text)
}

// fenceMark returns the ``` or ~~~ that a line begins with.
func fenceMark(text string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(text, c)
		if n := len(text) - len(rest); n >= 3 && (c == "~" || !strings.Contains(rest, "`")) {
			return text[:n]
		}
	}
	return ""
}
