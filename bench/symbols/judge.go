package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
)

// Where both sides differ, one of them is wrong, and the line itself mostly
// tells which: what ctags says is a declaration must look like one, and what it
// does not know, but looks like one without doubt, is none of our inventions.

// looks is what a declaration of a name looks like in a language, NAME being
// the name.
var looks = map[string]string{
	"bash":       `^\s*(function\s+NAME\b|NAME\s*\(\s*\))`,
	"c":          `\b(struct|union|enum)\s+(\w+\s+)*NAME\b|typedef|[\w*)]\s*[\s*(]NAME\s*\(|[\s*}]NAME\s*[;,\[]|^\s*NAME\s*\(.*[^;]\s*$|#\s*define\s+NAME\b`,
	"cpp":        `\b(class|struct|union|enum|namespace|concept)\s+(.*\s)?NAME\b|typedef|using\s+NAME\s*=|[\w*&>\])]\s*[\s*&]NAME\s*\(|^\s*~?NAME\s*\(|::~?NAME\s*\(|operator|[\s*}]NAME\s*;|#\s*define\s+NAME\b`,
	"csharp":     `\b(class|struct|interface|enum|record|delegate)\b.*\bNAME\b|[\w\]>?]\s+(\w+(<[^>]*>)?\.)*NAME\s*(<[^>]*>)?\s*\(|^\s*(public|internal|protected|private|static)?\s*~?NAME\s*\([^;]*$|\bthis\s*\[|operator`,
	"go":         `\bfunc\b.*\bNAME\b|\btype\s+NAME\b|^\s*NAME\b`,
	"java":       `\b(class|interface|enum|record|@interface)\s+NAME\b|[\w\]>]\s+NAME\s*\(|^\s*(public|protected|private)?\s*NAME\s*\([^;]*$`,
	"javascript": `\b(type|interface|enum)\s+NAME\b|\bfunction\s*\*?\s*NAME\b|\bclass\s+NAME\b|NAME["']?\s*[:=]\s*(async\s*)?(function|\(|\w+\s*=>)|NAME["']?\s*[:=]\s*class\b|(^|[{,\s*#])NAME["']?\s*(<[^>]*>)?\([^;]*$|NAME\s*=\s*$|(get|set|async|static)\s+NAME\s*\(|NAME\s*\(.*\)\s*\{`,
	"kotlin":     `\bfun\b.*\bNAME\b|\b(class|interface|object|typealias)\s+NAME\b|companion\s+object|\bconstructor\s*\(`,
	"lua":        `\bfunction\s+([\w.:]*[.:])?NAME\b|\bNAME["']?\]?\s*=\s*function\b|local\s+NAME\s*=\s*function\b`,
	"php":        `\bfunction\s+&?\s*NAME\b|\b(class|interface|trait|enum)\s+NAME\b`,
	"python":     `\b(def|class)\s+NAME\b`,
	"ruby":       `\bdef\s+([\w.]+\.)?NAME|\b(class|module)\s+([\w:]*::)?NAME\b|alias(_method)?\s+:?NAME`,
	"rust":       `\b(fn|struct|enum|union|trait|type|mod)\s+NAME\b|macro_rules!\s*NAME\b`,
	"scala":      `\b(def|class|trait|object|type|enum)\s+NAME`,
	"swift":      `\b(func|class|struct|enum|protocol|extension|typealias|associatedtype|actor)\s+([\w.]+\.)?NAME|\b(init|deinit|subscript)\b|func\s+\S+`,
	"markdown":   `NAME`,
	"typescript": `\bfunction\s*\*?\s*NAME\b|\b(class|interface|enum|namespace|module)\s+["']?NAME\b|\btype\s+NAME\b|NAME["']?[?!]?\s*[:=].*(function|=>|\()|NAME["']?\s*=\s*class\b|(^|[{,\s*#;])NAME["']?\??\s*(<.*)?\(|NAME["']?\??\s*(<.*)?$|NAME\s*[:=]\s*$|(get|set|async|static)\s+NAME\s*\(|\bnew\s*\(`,
}

// judge tells declarations from what is none, by their lines.
type judge struct {
	lang  string
	lines map[string][][]byte
}

func (j *judge) line(t tag) string {
	lines, ok := j.lines[t.file]
	if !ok {
		src, _ := os.ReadFile(t.file)
		lines = bytes.Split(src, []byte("\n"))
		j.lines[t.file] = lines
	}
	if t.line < 1 || t.line > len(lines) {
		return ""
	}
	return string(lines[t.line-1])
}

func (j *judge) plausible(t tag) bool {
	lang := j.lang
	if lang == "tsx" {
		lang = "typescript"
	}
	re, err := regexp.Compile(strings.ReplaceAll(looks[lang], "NAME", regexp.QuoteMeta(t.name)+`(?:\b|$)`))
	return err == nil && re.MatchString(j.line(t))
}

// mistaken reports why a tag of ctags is no declaration, or "".
func (j *judge) mistaken(t tag) string {
	line := strings.TrimSpace(j.line(t))
	switch {
	case t.name == "_" || strings.HasPrefix(t.name, "<") || strings.HasPrefix(t.name, "{"):
		return "has no name"
	case strings.HasPrefix(line, "*") || strings.HasPrefix(line, "//"):
		return "comment"
	}
	switch j.lang {
	case "c", "cpp":
		switch {
		case t.kind == "prototype" && t.local:
			return "variable in a function"
		case strings.HasPrefix(strings.TrimPrefix(line, "static "), t.name) && strings.ToUpper(t.name) == t.name || t.kind == "prototype" && strings.HasPrefix(line, t.name+"("):
			return "call of a macro"
		}
	case "csharp":
		if t.kind == "typedef" && strings.HasPrefix(line, "using") {
			return "alias of an import"
		}
		if strings.Contains(t.name, ".") && !regexp.MustCompile(`^[\w<>\[\],.?]+\s+`+regexp.QuoteMeta(t.name)).MatchString(line) {
			return "call"
		}
	case "kotlin":
		if t.kind == "method" && !regexp.MustCompile(`\bfun\b`).MatchString(line) {
			return "parameter of a lambda"
		}
	case "javascript":
		if t.kind == "class" && !regexp.MustCompile(`\bclass\b`).MatchString(line) {
			return "object"
		}
	case "typescript", "tsx":
		if t.kind == "alias" && !regexp.MustCompile(`\btype\s+`+regexp.QuoteMeta(t.name)+`\b[^,}]*$`).MatchString(line) {
			return "import"
		}
	}
	if !j.plausible(t) {
		return "use"
	}
	return ""
}
