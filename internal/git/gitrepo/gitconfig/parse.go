package gitconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// Setting is one setting as a file has it. Its key is section.name or
// section.middle.name, the first and the last part in lower case.
type Setting struct {
	Key   string
	Value string
	Bare  bool // there is no =, which is true for a boolean
}

// ReadFile reads one file of settings, without those that it includes. A
// file that isn't there is empty. go-git's reader takes less than git does
// ([a.b], a setting beside its section, a setting without a value), and what
// is refused here and obeyed there would hide where a working tree is.
func ReadFile(file string) ([]Setting, error) {
	data, err := gitfile.ReadSmall(file, MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := parser{text: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), line: 1}
	list, err := p.parse()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: line %d: %w", file, gitfile.ErrCorrupt, p.line, err)
	}
	return list, nil
}

// MaxSize bounds a file of settings, in bytes.
const MaxSize = 4 << 20

type parser struct {
	text []byte
	at   int
	line int
}

// next returns the next byte, \r\n as \n, and \n for ever at the end.
func (p *parser) next() byte {
	if p.at >= len(p.text) {
		p.at++
		return '\n'
	}
	c := p.text[p.at]
	p.at++
	if c == '\r' && p.at < len(p.text) && p.text[p.at] == '\n' {
		p.at++
		c = '\n'
	}
	if c == '\n' {
		p.line++
	}
	return c
}

func (p *parser) parse() ([]Setting, error) {
	var list []Setting
	section := ""
	for p.at < len(p.text) {
		switch c := p.next(); {
		case c == '\n', space(c):
		case c == '#', c == ';':
			for p.next() != '\n' {
			}
		case c == '[':
			var err error
			if section, err = p.section(); err != nil {
				return nil, err
			}
		case letter(c) && section != "":
			s, err := p.setting(c)
			if err != nil {
				return nil, err
			}
			s.Key = section + "." + s.Key
			list = append(list, s)
		default:
			return nil, fmt.Errorf("%q is not expected", c)
		}
	}
	return list, nil
}

func space(c byte) bool  { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func word(c byte) bool   { return letter(c) || c >= '0' && c <= '9' || c == '-' }

// section reads what follows a bracket.
func (p *parser) section() (string, error) {
	var name strings.Builder
	for {
		c := p.next()
		switch {
		case c == ']' && name.Len() > 0:
			return strings.ToLower(name.String()), nil
		case word(c), c == '.':
			name.WriteByte(c)
		case space(c):
			for space(c) {
				c = p.next()
			}
			if c != '"' {
				return "", errors.New("the section has no quotes")
			}
			middle, err := p.middle()
			return strings.ToLower(name.String()) + "." + middle, err
		default:
			return "", errors.New("the section has no end")
		}
	}
}

func (p *parser) middle() (string, error) {
	var b strings.Builder
	for {
		c := p.next()
		switch c {
		case '"':
			if p.next() != ']' {
				return "", errors.New("the section has no end")
			}
			return b.String(), nil
		case '\\':
			c = p.next()
		}
		if c == '\n' {
			return "", errors.New("the section has no end")
		}
		b.WriteByte(c)
	}
}

// setting reads a name that begins with c, and its value.
func (p *parser) setting(c byte) (Setting, error) {
	var name strings.Builder
	for word(c) {
		name.WriteByte(c)
		c = p.next()
	}
	for space(c) {
		c = p.next()
	}
	s := Setting{Key: strings.ToLower(name.String())}
	switch c {
	case '\n':
		s.Bare = true
		return s, nil
	case '=':
	default:
		return s, fmt.Errorf("%q is not expected in a name", c)
	}
	var err error
	s.Value, err = p.value()
	return s, err
}

func (p *parser) value() (string, error) {
	var b []byte
	kept := 0 // without the spaces at the end
	quoted := false
	for {
		c := p.next()
		switch {
		case c == '\n':
			if quoted {
				return "", errors.New("a quote has no end")
			}
			return string(b[:kept]), nil
		case space(c) && !quoted:
			if len(b) > 0 {
				b = append(b, c)
			}
			continue
		case (c == '#' || c == ';') && !quoted:
			for p.next() != '\n' {
			}
			return string(b[:kept]), nil
		case c == '"':
			quoted = !quoted
			kept = len(b)
			continue
		case c == '\\':
			c = p.next()
			switch c {
			case '\n': // the value goes on
				continue
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case '"', '\\':
			default:
				return "", fmt.Errorf("%q is not expected after a backslash", c)
			}
		}
		b = append(b, c)
		kept = len(b)
	}
}

// SplitKey takes a key apart: core.editor has no middle.
func SplitKey(key string) (section, middle, name string) {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return key, "", ""
	}
	if first == last {
		return key[:first], "", key[last+1:]
	}
	return key[:first], key[first+1 : last], key[last+1:]
}

// KeyMatches reports whether a key is meant by one that may have stars.
func KeyMatches(pattern, key string) bool {
	section, middle, name := SplitKey(key)
	s, m, n := SplitKey(pattern)
	return s == section && (m == "*" && middle != "" || m == middle) && (n == "*" || n == name)
}
