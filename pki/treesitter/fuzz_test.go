package treesitter

import (
	"path/filepath"
	"testing"
)

// Nothing that a file can hold stops the process or leads to a bad range.
func FuzzExtract(f *testing.F) {
	langs := []string{"typescript", "python", "ruby", "bash", "cpp", "kotlin", "csharp", "php", "markdown", "yaml", "toml", "go", "rust", "swift", "scala", "lua", "java"}
	for _, file := range sources(f) {
		src := read(f, file)
		lang := Language(filepath.Base(file), src)
		for i, l := range langs {
			if l == lang {
				f.Add(uint8(i), src)
			}
		}
	}
	f.Add(uint8(2), []byte("x = <<A + <<B\na\nA\nb\nB\n"))
	f.Add(uint8(5), []byte(`val a = "${"${b}"}"`))
	f.Fuzz(func(t *testing.T, lang uint8, src []byte) {
		name := langs[int(lang)%len(langs)]
		if f, err := Analyze(name, src); err == nil {
			checkReferences(t, src, f)
		}
		checkReferences(t, src, Names(name, src, nil))
	})
}

// Names and comments are cut apart by hand; they come from broken code too.
func FuzzText(f *testing.F) {
	f.Add([]byte("/** a\n * b\n */\nvoid A::B<C>::operator<<(int)"), 17)
	f.Fuzz(func(t *testing.T, src []byte, at int) {
		if at < 0 || at > len(src) {
			return
		}
		commentAbove(src, at, "//")
		commentAbove(src, at, "#")
		splitName(string(src))
		docstring(string(src))
		for i := range grammars {
			grammars[i].signature(src[wordsBefore(src, at):], min(at, len(src)-at))
		}
	})
}
