package config

import "strings"

// PlainJSON is JSON without what editors and people add to settings: comments, and a comma
// after the last of several. Spaces stand where those were, so that every byte keeps its
// place. It is data itself where there are none.
func PlainJSON(data []byte) []byte {
	out := data
	blank := func(from, to int) {
		if len(out) > 0 && &out[0] == &data[0] {
			out = append([]byte(nil), data...)
		}
		for i := from; i < to; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	comma := -1       // that nothing has come after
	last := byte('{') // of what is neither space nor comment
	for i := 0; i < len(data); {
		end := i + 1
		switch c := data[i]; {
		case c == '"':
			end = afterText(data, i)
			comma, last = -1, c
		case c == '/' && comment(data, i) > i:
			end = comment(data, i)
			blank(i, end)
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case c == ',':
			comma = -1
			if !strings.ContainsRune(",:{[", rune(last)) { // elsewhere it is a mistake
				comma = i
			}
			last = c
		default:
			if (c == '}' || c == ']') && comma >= 0 {
				blank(comma, comma+1)
			}
			comma, last = -1, c
		}
		i = end
	}
	return out
}

// commentsOf are the comments of a text, as they stand before what is in the next place.
func commentsOf(data []byte) (all []byte) {
	for i := 0; i < len(data); {
		end := i + 1
		if data[i] == '"' {
			end = afterText(data, i)
		} else if data[i] == '/' && comment(data, i) > i {
			end = comment(data, i)
			all = append(all, data[i:end]...)
			if data[i+1] == '/' {
				all = append(all, "\n    "...)
			} else {
				all = append(all, ' ')
			}
		}
		i = end
	}
	return all
}

// afterText is where a string ends that begins at i.
func afterText(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"', '\n':
			return i + 1
		}
	}
	return len(data)
}

// comment is where a comment ends that begins at i; i where there is none, or it has no end.
func comment(data []byte, i int) int {
	if i+1 == len(data) {
		return i
	}
	switch data[i+1] {
	case '/':
		for j := i; j < len(data); j++ {
			if data[j] == '\n' || data[j] == '\r' { // as editors show it
				return j
			}
		}
		return len(data)
	case '*':
		for j := i + 2; j+1 < len(data); j++ {
			if data[j] == '*' && data[j+1] == '/' {
				return j + 2
			}
		}
	}
	return i
}
