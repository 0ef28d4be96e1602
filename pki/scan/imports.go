package scan

import "bytes"

const (
	maxImports = 500     // of one file
	maxPath    = 200     // bytes of a path
	maxNames   = 8 << 10 // bytes of a list of names
)

// Imports calls add with the path of everything that src imports, as it is
// written, in the languages in which lines tell: Go, JavaScript, TypeScript,
// Python, C and C++. In Python from a import b may mean the module a.b: that is
// added too. What add gets is only good until it returns.
func Imports(lang string, src []byte, add func(path []byte)) {
	n := 0
	found := func(path []byte) {
		if n < maxImports && len(path) > 0 && len(path) <= maxPath && bytes.IndexByte(path, '\n') < 0 {
			n++
			add(path)
		}
	}
	switch lang {
	case "go":
		goImports(src, found)
	case "javascript", "typescript", "tsx":
		scriptImports(src, found)
	case "python":
		pythonImports(src, found)
	case "c", "cpp":
		includes(src, found)
	}
}

// eachLine calls f with the text behind word on every line that begins so, white
// space apart. f returns how much of that it has read.
func eachLine(src []byte, word string, f func(rest []byte) int) {
	for from := 0; ; {
		i := bytes.Index(src[from:], []byte(word))
		if i < 0 {
			return
		}
		begin := from + i
		from = begin + len(word)
		for begin > 0 && (src[begin-1] == ' ' || src[begin-1] == '\t') {
			begin--
		}
		if begin == 0 || src[begin-1] == '\n' {
			from += f(src[from:])
		}
	}
}

// goImports reads import "a" and import ( … ).
func goImports(src []byte, add func([]byte)) {
	eachLine(src, "import", func(rest []byte) int {
		read, list := 0, false
		for text := range bytes.Lines(rest) {
			code, _, _ := bytes.Cut(text, []byte("//"))
			code = bytes.TrimSpace(code)
			if read += len(text); read == len(text) {
				code, list = bytes.CutPrefix(code, []byte("("))
			}
			name, quoted, ok := bytes.Cut(code, []byte(`"`))
			if bytes.ContainsAny(name, "(){}=:") || !ok && len(name) > 0 {
				break // the end of the list, or something else
			}
			path, after, closed := bytes.Cut(quoted, []byte(`"`))
			if closed {
				add(path)
			}
			if !list || bytes.IndexByte(after, ')') >= 0 {
				break
			}
		}
		return read
	})
}

// scriptImports reads from "a", import "a", require("a") and import("a").
func scriptImports(src []byte, add func([]byte)) {
	for _, word := range [...]string{"from", "import", "require"} {
		for at := 0; ; {
			i := bytes.Index(src[at:], []byte(word))
			if i < 0 {
				break
			}
			begin := at + i
			at = begin + len(word)
			if begin > 0 && (isWord(src[begin-1]) || src[begin-1] == '.') {
				continue
			}
			rest := bytes.TrimLeft(src[at:], " \t")
			if word != "from" {
				rest = bytes.TrimLeft(bytes.TrimPrefix(rest, []byte("(")), " \t\r\n")
			}
			if len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
				continue
			}
			if end := bytes.IndexByte(rest[1:min(len(rest), maxPath+2)], rest[0]); end >= 0 {
				add(rest[1 : 1+end])
			}
		}
	}
}

// pythonImports reads import a, b as c and from a import b.
func pythonImports(src []byte, add func([]byte)) {
	var joined []byte
	eachLine(src, "import ", func(rest []byte) int {
		end, _ := line(rest, 0)
		eachName(rest[:end], add)
		return end
	})
	eachLine(src, "from ", func(rest []byte) int {
		end, _ := line(rest, 0)
		module, names, ok := bytes.Cut(rest[:end], []byte(" import"))
		if module = bytes.TrimSpace(module); !ok || bytes.ContainsAny(module, " \t") {
			return end
		}
		if names = bytes.TrimLeft(names, " \t"); bytes.HasPrefix(names, []byte("(")) {
			names, _, _ = bytes.Cut(rest[end-len(names)+1:min(len(rest), end+maxNames)], []byte(")"))
		}
		if len(bytes.Trim(module, ".")) > 0 {
			add(module)
		}
		eachName(names, func(name []byte) {
			if bytes.Equal(name, bytes.ToLower(name)) { // as modules are called
				joined = append(joined[:0], module...)
				if !bytes.HasSuffix(module, []byte(".")) {
					joined = append(joined, '.')
				}
				add(append(joined, name...))
			}
		})
		return end
	})
}

// eachName calls f with the names of a list, without what they are called from
// there on.
func eachName(list []byte, f func([]byte)) {
	for text := range bytes.Lines(list) {
		text, _, _ = bytes.Cut(text, []byte("#"))
		for name := range bytes.SplitSeq(text, []byte(",")) {
			name = bytes.TrimLeft(name, " \t\\")
			if i := bytes.IndexAny(name, " \t\r\n;\\"); i >= 0 {
				name = name[:i]
			}
			if len(name) > 0 && !bytes.ContainsFunc(name, func(c rune) bool { return c < 0x80 && c != '.' && !isWord(byte(c)) }) {
				f(name)
			}
		}
	}
}

// includes reads #include <a> and #include "a".
func includes(src []byte, add func([]byte)) {
	for at := 0; ; {
		i := bytes.IndexByte(src[at:], '#')
		if i < 0 {
			return
		}
		at += i + 1
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(src[at:], " \t"), []byte("include"))
		if rest = bytes.TrimLeft(rest, " \t"); !ok || len(rest) == 0 || rest[0] != '"' && rest[0] != '<' {
			continue
		}
		end, _ := line(rest[:min(len(rest), maxPath+2)], 0)
		if end := bytes.IndexAny(rest[1:end], `">`); end >= 0 {
			add(rest[1 : 1+end])
		}
	}
}
