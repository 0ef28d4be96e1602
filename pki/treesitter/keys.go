package treesitter

import (
	"bytes"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// yamlKeys returns the keys of the two outer levels of block mappings.
func yamlKeys(src []byte) []pki.Symbol {
	starts := lineStarts(src)
	var k keys
	inner := -1  // indentation of the second level under the open key
	scalar := -1 // indentation of the key whose block scalar runs on
	for i, start := range starts {
		line := textOf(src, starts, i)
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		if text = strings.TrimRight(text, " \t"); text == "" {
			continue
		}
		if scalar >= 0 && indent > scalar {
			continue
		}
		scalar = -1
		if text[0] == '#' {
			continue
		}
		if indent == 0 && (text == "---" || strings.HasPrefix(text, "--- ") || text == "...") {
			k.close(0, i+1, start)
			continue
		}
		name, value, ok := yamlKey(text)
		if indent == 0 {
			// What is not a key here, a sequence for one, belongs to the key above.
			inner = -1
			if ok {
				k.add(0, name, text, i+1, start, src)
			}
		} else if ok && len(k.open) > 0 && (inner < 0 || indent == inner) {
			inner = indent
			k.add(1, name, text, i+1, start, src)
		} else if inner < 0 {
			inner = indent // the first line under a key settles what the second level is
		}
		if v := strings.TrimSpace(value); v != "" && (v[0] == '|' || v[0] == '>') {
			scalar = indent
		}
	}
	k.close(0, lineCount(src, starts)+1, len(src))
	return k.out
}

// yamlKey splits "key: value". Flow collections and sequence items are no keys.
func yamlKey(text string) (name, value string, ok bool) {
	switch text[0] {
	case '-', '?':
		if len(text) == 1 || text[1] == ' ' {
			return "", "", false
		}
	case '{', '[', '}', ']', '%', '@', '`', ',':
		return "", "", false
	case '"', '\'':
		end := strings.IndexByte(text[1:], text[0])
		if end < 0 {
			return "", "", false
		}
		rest := strings.TrimLeft(text[end+2:], " ")
		value, ok = strings.CutPrefix(rest, ":")
		return text[1 : end+1], value, ok && end > 0 && (value == "" || value[0] == ' ')
	}
	for i := 0; i < len(text); i++ {
		if text[i] == '#' && i > 0 && text[i-1] == ' ' {
			break
		}
		if text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t') {
			name = strings.TrimSpace(text[:i])
			return name, text[i+1:], name != "" && name != "<<"
		}
	}
	return "", "", false
}

// tomlKeys returns the tables, and the keys of the document and of each table.
func tomlKeys(src []byte) []pki.Symbol {
	starts := lineStarts(src)
	var k keys
	level := 0
	quote := "" // the triple quote that a string is waiting for
	brackets := 0
	for i, start := range starts {
		text := strings.TrimSpace(textOf(src, starts, i))
		if quote != "" || brackets > 0 {
			quote, brackets = tomlState(text, quote, brackets)
			continue
		}
		if text == "" || text[0] == '#' {
			continue
		}
		if text[0] == '[' {
			name, _, ok := strings.Cut(strings.TrimLeft(text, "["), "]")
			if name = strings.TrimSpace(name); ok && name != "" {
				k.add(0, name, text, i+1, start, src)
				level = 1
			}
			continue
		}
		name, value, ok := tomlKey(text)
		if !ok {
			continue
		}
		k.add(level, name, text, i+1, start, src)
		quote, brackets = tomlState(value, "", 0)
	}
	k.close(0, lineCount(src, starts)+1, len(src))
	return k.out
}

func tomlKey(text string) (name, value string, ok bool) {
	from := 0
	if q := text[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(text[1:], q)
		if end < 0 {
			return "", "", false
		}
		from = end + 2
	}
	i := strings.IndexByte(text[from:], '=')
	if i < 0 {
		return "", "", false
	}
	name = strings.TrimSpace(text[:from+i])
	if bare := strings.Trim(name, `"'`); bare != "" && !strings.ContainsAny(bare, `"'`) {
		name = bare
	}
	return name, text[from+i+1:], name != ""
}

// tomlState follows strings and brackets over one line of a value.
func tomlState(text, quote string, brackets int) (string, int) {
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case quote != "":
			if quote[0] == '"' && rest[0] == '\\' {
				i++
			} else if strings.HasPrefix(rest, quote) {
				i += len(quote) - 1
				quote = ""
			}
		case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, "'''"):
			quote = rest[:3]
			i += 2
		case rest[0] == '"', rest[0] == '\'':
			quote = rest[:1]
		case rest[0] == '#':
			return "", brackets
		case rest[0] == '[', rest[0] == '{':
			brackets++
		case rest[0] == ']', rest[0] == '}':
			brackets = max(0, brackets-1)
		}
		i++
	}
	if len(quote) == 1 { // these end with their line
		quote = ""
	}
	return quote, brackets
}

// keys collects keys of two levels; each reaches to the next of its level.
type keys struct {
	out  []pki.Symbol
	open []int // indexes in out, by level
}

func (k *keys) add(level int, name, text string, line, start int, src []byte) {
	if len(k.out) == maxSymbols || len(name) > maxName {
		return
	}
	level = min(level, len(k.open))
	k.close(level, line, start)
	s := pki.Symbol{
		Name: name, Kind: pki.Key, Signature: cut(fold(text), maxSignature),
		StartLine: line, StartByte: start, NameByte: start + max(0, bytes.Index(src[start:], []byte(name))), Depth: level,
	}
	s.Doc, s.DocStart, s.DocEnd = commentAbove(src, start, "#")
	if level > 0 {
		s.Container = k.out[k.open[0]].Qualified
	}
	s.Qualified = join(s.Container, name)
	k.open = append(k.open, len(k.out))
	k.out = append(k.out, s)
}

func (k *keys) close(level, line, offset int) {
	for len(k.open) > level {
		end(&k.out[k.open[len(k.open)-1]], line, offset)
		k.open = k.open[:len(k.open)-1]
	}
}
