package scan

import "bytes"

// quoted returns the offset behind the string or character that begins at i.
func (s *braces) quoted(i int) int {
	src, c := s.src, s.src[i]
	switch {
	case c == '`':
		if s.ticks {
			return s.template(i+1, 0)
		}
		return i + 1
	case c == '\'' && !s.single:
		return s.character(i)
	case c == '"' && s.triple && bytes.HasPrefix(src[i:], []byte(`"""`)):
		if n := bytes.Index(src[i+3:], []byte(`"""`)); n >= 0 {
			return i + n + 6
		}
		return i + 3
	case c == '"' && s.rust && i > 0 && (src[i-1] == '#' || src[i-1] == 'r'):
		hashes := 0
		for i-1-hashes >= 0 && src[i-1-hashes] == '#' {
			hashes++
		}
		if i-1-hashes >= 0 && src[i-1-hashes] == 'r' {
			end := append([]byte{'"'}, bytes.Repeat([]byte{'#'}, hashes)...)
			if n := bytes.Index(src[i+1:], end); n >= 0 {
				return i + 1 + n + len(end)
			}
			return i + 1
		}
	case c == '"' && s.lang == "csharp" && i > 0 && (src[i-1] == '@' || i > 1 && src[i-2] == '@'):
		for j := i + 1; j < len(src); j++ {
			if src[j] == '"' {
				if j+1 < len(src) && src[j+1] == '"' {
					j++
					continue
				}
				return j + 1
			}
		}
		return len(src)
	}
	long := s.rust || s.lang == "php"
	for j := i + 1; j < len(src); j++ {
		switch src[j] {
		case c:
			return j + 1
		case '\\':
			j++
		case '\n':
			if !long {
				return j // it was none
			}
		}
	}
	return len(src)
}

// character skips a character in quotes. A quote that begins none stands for
// itself: a lifetime, a digit separator.
func (s *braces) character(i int) int {
	src := s.src
	if i+2 >= len(src) || i > 0 && isWord(src[i-1]) && s.c && src[i-1] >= '0' && src[i-1] <= '9' {
		return i + 1
	}
	if src[i+1] == '\\' {
		for j := i + 3; j < len(src) && j < i+12; j++ {
			if src[j] == '\'' {
				return j + 1
			}
		}
		return i + 1
	}
	for j := i + 2; j < len(src) && j < i+7; j++ {
		if src[j] == '\'' {
			return j + 1
		}
		if src[j] < 0x80 && s.rust {
			break
		}
	}
	return i + 1
}

// template returns the offset behind a template string whose text begins at i.
func (s *braces) template(i, depth int) int {
	src := s.src
	for ; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '`':
			return i + 1
		case '$':
			if i+1 < len(src) && src[i+1] == '{' && depth < 50 {
				i = s.hole(i+2, depth+1) - 1
			}
		}
	}
	return len(src)
}

// hole returns the offset behind the } that ends the code in a template.
func (s *braces) hole(i, depth int) int {
	src := s.src
	open := 0
	for ; i < len(src); i++ {
		switch src[i] {
		case '{':
			open++
		case '}':
			if open == 0 {
				return i + 1
			}
			open--
		case '`':
			i = s.template(i+1, depth) - 1
		case '"', '\'':
			i = s.quoted(i) - 1
		}
	}
	return len(src)
}

// slash skips a comment or a regular expression; it returns the offset of the
// last byte that belongs to it.
func (s *braces) slash(i int) int {
	src := s.src
	if i+1 >= len(src) {
		return i
	}
	switch src[i+1] {
	case '/':
		if n := bytes.IndexByte(src[i:], '\n'); n >= 0 {
			return i + n - 1 // the line's end is looked at
		}
		return len(src)
	case '*':
		return s.blockComment(i)
	}
	if !s.js {
		return i
	}
	j := i - 1
	for j >= 0 && (src[j] == ' ' || src[j] == '\t') {
		j--
	}
	if j >= 0 && bytes.IndexByte([]byte("(,=:[!&|?{};\n+"), src[j]) < 0 && (j < 5 || string(src[j-5:j+1]) != "return") {
		return i
	}
	class := false
	for j = i + 1; j < len(src) && src[j] != '\n'; j++ {
		switch src[j] {
		case '\\':
			j++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return j
			}
		}
	}
	return i
}

func (s *braces) blockComment(i int) int {
	src := s.src
	if !s.nested {
		if n := bytes.Index(src[i+2:], []byte("*/")); n >= 0 {
			return i + n + 3
		}
		return len(src)
	}
	depth := 1
	for i += 2; i+1 < len(src); i++ {
		switch {
		case src[i] == '*' && src[i+1] == '/':
			if i++; depth == 1 {
				return i
			}
			depth--
		case src[i] == '/' && src[i+1] == '*':
			depth++
			i++
		}
	}
	return len(src)
}

// hashLine skips what # begins where that is a comment or the preprocessor's.
func (s *braces) hashLine(i int) int {
	src := s.src
	switch {
	case s.lang == "php" && i+1 < len(src) && src[i+1] != '[':
		if n := bytes.IndexByte(src[i:], '\n'); n >= 0 {
			return i + n - 1
		}
		return len(src)
	case !s.c && !s.hash:
		return i
	}
	j := i - 1
	for j >= 0 && (src[j] == ' ' || src[j] == '\t') {
		j--
	}
	if j >= 0 && src[j] != '\n' {
		return i
	}
	start := i
	for ; i < len(src) && src[i] != '\n'; i++ {
		if src[i] == '\\' {
			if i++; i < len(src) && src[i] == '\r' {
				i++
			}
		}
		if i+1 < len(src) && src[i] == '/' && src[i+1] == '*' {
			i = s.blockComment(i)
		}
	}
	if s.c {
		s.define(start, min(i, len(src)))
	}
	if f := s.top(); f.kind == outer && f.paren == 0 && s.lead(f, start).start >= start {
		f.head = min(i, len(src))
	}
	return min(i, len(src)) - 1
}
