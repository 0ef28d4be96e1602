package offered

import (
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Files of instructions name others to be read with them: a word @path, relative to the
// file that names it.

// Bounds of what is read with a file of instructions.
const (
	maxImports     = 16  // files
	maxImportDepth = 4   // files that name files
	maxImportWords = 500 // that may name a file: a word like @name mostly names none
)

var (
	importWord = regexp.MustCompile(`(?:^|[\s(])@([^\s()]+)`)
	codeSpan   = regexp.MustCompile("`[^`\n]*`")
)

// importing reads what a file of instructions names.
type importing struct {
	files fs.ReadFileFS
	seen  map[string]bool
	read  int // files
	text  strings.Builder
	room  int // bytes
}

// withImports is the text of a file of instructions, and that of the files that it names:
// each once, text of the project alone, and none that may hold secrets.
func withImports(files fs.ReadFileFS, name, text string) string {
	i := &importing{files: files, seen: map[string]bool{name: true}, room: maxInstructions - len(text)}
	i.follow(path.Dir(name), text, 1)
	return text + i.text.String()
}

func (i *importing) follow(dir, text string, depth int) {
	if depth > maxImportDepth {
		return
	}
	for _, word := range importWords(text) {
		name := path.Join(dir, word)
		if path.IsAbs(word) || strings.HasPrefix(word, "~") || !fs.ValidPath(name) || i.seen[name] || i.read == maxImports || len(i.seen) > maxImportWords || i.room <= 0 || workspace.Sensitive(name) || workspace.Protected(name) == workspace.Never {
			continue
		}
		i.seen[name] = true
		data, err := i.files.ReadFile(name)
		if err != nil || strings.ContainsRune(string(data[:min(len(data), 8<<10)]), 0) {
			continue
		}
		i.read++
		more := "\n\n[" + name + "]\n" + strings.TrimSpace(strings.ToValidUTF8(string(data), "\ufffd"))
		if len(more) > i.room {
			more = strings.ToValidUTF8(more[:max(i.room, 0)], "") + "\n(cut)"
		}
		i.room -= len(more)
		i.text.WriteString(more)
		i.follow(path.Dir(name), string(data), depth+1)
	}
}

// importWords are the paths that a text names, but for those in code.
func importWords(text string) (words []string) {
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			continue
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
			continue
		}
		for _, m := range importWord.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
			words = append(words, strings.TrimRight(m[1], ".,;:!?"))
		}
	}
	return words
}
