package treesitter

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// lineStarts returns the offset of the first byte of every line.
func lineStarts(src []byte) []int {
	starts := make([]int, 1, 1+len(src)/32)
	for i, c := range src {
		if c == '\n' || c == '\r' && (i+1 == len(src) || src[i+1] != '\n') {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// lineCount returns how many lines src has: what follows its last line break
// is one only if there is something.
func lineCount(src []byte, starts []int) int {
	if n := len(starts); n > 1 && starts[n-1] == len(src) {
		return n - 1
	}
	return len(starts)
}

// lineAt returns the line of an offset, counted from one.
func lineAt(starts []int, offset int) int {
	i, found := slices.BinarySearch(starts, offset)
	if found {
		i++
	}
	return i
}

// position returns the line and the column, in bytes, of an offset; both count
// from one.
func position(starts []int, offset int) (line, column int) {
	line = lineAt(starts, offset)
	return line, offset - starts[line-1] + 1
}

// skipComments moves start past white space and past comments that a grammar
// counts as part of a declaration.
func skipComments(src []byte, start, end int, marker string) int {
	for {
		text := bytes.TrimLeft(src[start:end], " \t\r\n")
		start = end - len(text)
		i := bytes.IndexAny(text, "\r\n")
		if !bytes.HasPrefix(text, []byte(marker)) || i < 0 {
			return start
		}
		start += i
	}
}

// wordsBefore moves start to the beginning of its line if only words precede
// it there: export, const, static and whatever else a grammar keeps outside of
// the declaration.
func wordsBefore(src []byte, start int) int {
	i := start
	for i > 0 && start-i < maxSignature {
		c := src[i-1]
		if c != ' ' && c != '\t' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' {
			break
		}
		i--
	}
	if i > 0 && src[i-1] != '\n' && src[i-1] != '\r' {
		return start
	}
	return start - len(bytes.TrimLeft(src[i:start], " \t"))
}

// signature is the declaration up to its body, on one line, and where that
// begins. from is the offset behind the name; what stops a declaration is
// looked for after it.
func (g *grammar) signature(decl []byte, from int) (text string, end int) {
	end = len(decl)
	depth := 0
scan:
	for i := max(0, from); i < len(decl) && i < from+4*maxSignature; i++ {
		switch c := decl[i]; c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '"':
			if j := bytes.IndexAny(decl[i+1:], "\"\n"); j >= 0 && decl[i+1+j] == '"' {
				i += j + 1
			}
		case '{':
			if before := bytes.TrimRight(decl[:i], " \t\r\n"); depth <= 0 && bytes.HasSuffix(before, []byte(":")) {
				depth++ // an object as a type
				continue
			} else if depth > 0 {
				depth++
				continue
			}
			end = i
			break scan
		case '}':
			depth--
		case ';':
			if depth <= 0 {
				end = i
				break scan
			}
		case '\n', '\r':
			if depth <= 0 && g.lines {
				end = i
				break scan
			}
		case ':':
			// The colon before a block: nothing but a comment follows it.
			if rest, _, _ := bytes.Cut(decl[i+1:], []byte("\n")); depth <= 0 && g.lines {
				if rest = bytes.TrimSpace(rest); len(rest) == 0 || rest[0] == '#' {
					end = i
					break scan
				}
			}
		}
	}
	text = fold(string(decl[:end]))
	for _, tail := range []string{"=>", "=", ":", "->", ","} {
		text = strings.TrimSpace(strings.TrimSuffix(text, tail))
	}
	return cut(text, maxSignature), end
}

// fold puts text on one line.
func fold(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
}

// cut shortens text to n characters.
func cut(text string, n int) string {
	if len(text) <= n || utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// commentAbove returns the comment that ends on the line above start, and from
// where to where it stands.
func commentAbove(src []byte, start int, marker string) (text string, from, to int) {
	lineStart := bytes.LastIndexAny(src[:start], "\n\r") + 1
	if len(bytes.TrimSpace(src[lineStart:start])) > 0 {
		return "", start, start // something else begins on this line
	}
	block, from := blockAbove(src, lineStart, marker)
	if text = comment(block, marker); text == "" {
		return "", start, start
	}
	return text, from, lineStart
}

// blockAbove returns the lines of the comment above the line that begins at
// end, last one first, and where the first one begins.
func blockAbove(src []byte, end int, marker string) (block []string, begin int) {
	const most = 100 // lines
	inside := false  // of /* */
	begin = end
	for len(block) < most && end > 0 {
		from, text := lineBefore(src, end)
		line := strings.TrimSpace(strings.ToValidUTF8(text, ""))
		switch {
		case inside:
			block, begin = append(block, line), from
			if strings.Contains(line, "/*") {
				return block, begin
			}
		case marker == "//" && strings.HasSuffix(line, "*/"):
			if len(block) > 0 {
				return block, begin
			}
			i := strings.Index(line, "/*")
			if i > 0 {
				return nil, end // behind code
			}
			block, begin = append(block, line), from
			if i == 0 {
				return block, begin
			}
			inside = true
		case strings.HasPrefix(line, marker) && !strings.HasPrefix(line, "#!"):
			block, begin = append(block, line), from
		case len(block) == 0 && strings.HasPrefix(line, "#[") && strings.HasSuffix(line, "]"): // an attribute in between
		default:
			return block, begin
		}
		end = from
	}
	if inside {
		return nil, end
	}
	return block, begin
}

// lineBefore returns the line that ends where another one begins, at end.
func lineBefore(src []byte, end int) (from int, text string) {
	stop := end - 1
	if stop > 0 && src[stop] == '\n' && src[stop-1] == '\r' {
		stop--
	}
	from = bytes.LastIndexAny(src[:stop], "\n\r") + 1
	return from, string(src[from:min(stop, from+1000)])
}

// comment joins the lines of a block, last one first, without their marks.
func comment(block []string, marker string) string {
	slices.Reverse(block)
	for i, line := range block {
		switch {
		case strings.HasPrefix(line, "/*"):
			line = strings.TrimLeft(strings.TrimPrefix(line, "/*"), "*!")
		case strings.HasPrefix(line, marker):
			line = strings.TrimLeft(strings.TrimPrefix(line, marker), marker[:1]+"!")
		case marker == "//":
			line = strings.TrimPrefix(line, "*")
			if line == "/" { // the rest of */
				line = ""
			}
		}
		block[i] = strings.TrimSpace(strings.TrimSuffix(line, "*/"))
	}
	return cut(strings.TrimSpace(strings.Join(block, "\n")), maxDoc)
}

// docstring strips the quotes of a Python string.
func docstring(text string) string {
	text = strings.TrimLeft(strings.ToValidUTF8(text, ""), "rRuUbBfF")
	for _, q := range []string{`"""`, "'''", `"`, "'"} {
		if strings.HasPrefix(text, q) {
			text = strings.TrimSuffix(strings.TrimPrefix(text, q), q)
			break
		}
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return cut(strings.TrimSpace(strings.Join(lines, "\n")), maxDoc)
}

func trimText(text string) string { return strings.TrimSpace(strings.ToValidUTF8(text, "")) }
