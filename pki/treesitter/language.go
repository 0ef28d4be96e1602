package treesitter

import (
	"bytes"
	"path"
	"strings"
)

var byExtension = map[string]string{
	".go": "go",
	".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
	".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
	".py": "python", ".pyi": "python", ".pyw": "python",
	".java": "java",
	".c":    "c",
	".cc":   "cpp", ".cpp": "cpp", ".cxx": "cpp", ".c++": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp", ".h++": "cpp",
	".ipp": "cpp", ".tpp": "cpp", ".inl": "cpp", ".cu": "cpp", ".cuh": "cpp", ".ino": "cpp",
	".cs": "csharp",
	".rs": "rust",
	".rb": "ruby", ".rake": "ruby", ".gemspec": "ruby", ".ru": "ruby",
	".php": "php", ".phtml": "php",
	".kt": "kotlin", ".kts": "kotlin",
	".scala": "scala", ".sc": "scala", ".sbt": "scala",
	".swift": "swift",
	".lua":   "lua",
	".sh":    "bash", ".bash": "bash", ".ksh": "bash", ".zsh": "bash", ".bats": "bash",
	".md": "markdown", ".markdown": "markdown", ".mdx": "markdown",
	".yaml": "yaml", ".yml": "yaml",
	".toml": "toml",
}

var byName = map[string]string{
	"rakefile": "ruby", "gemfile": "ruby", "guardfile": "ruby", "podfile": "ruby", "vagrantfile": "ruby", "brewfile": "ruby",
	"sconstruct": "python", "sconscript": "python",
	".bashrc": "bash", ".bash_profile": "bash", ".bash_aliases": "bash", ".profile": "bash", ".zshrc": "bash", "pkgbuild": "bash",
	"cargo.lock": "toml", "poetry.lock": "toml", "pipfile": "toml",
	".clang-format": "yaml", ".clang-tidy": "yaml",
}

var byInterpreter = []struct{ prefix, lang string }{
	{"bash", "bash"}, {"sh", "bash"}, {"dash", "bash"}, {"ksh", "bash"}, {"zsh", "bash"},
	{"python", "python"}, {"pypy", "python"},
	{"node", "javascript"}, {"deno", "typescript"}, {"bun", "typescript"}, {"ts-node", "typescript"},
	{"ruby", "ruby"}, {"php", "php"}, {"lua", "lua"}, {"scala", "scala"}, {"swift", "swift"}, {"kotlin", "kotlin"},
}

// Language names the language of a file by its name or, where the name does
// not tell, by the first line of src; a header is C++ if it looks so. It
// returns "" for a language that Extract does not know. src may be nil.
func Language(name string, src []byte) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	if lang := byName[base]; lang != "" {
		return lang
	}
	ext := path.Ext(base)
	if ext == ".h" {
		return header(src)
	}
	if lang := byExtension[ext]; lang != "" {
		return lang
	}
	if ext == "" || ext == base {
		return interpreter(src)
	}
	return ""
}

func interpreter(src []byte) string {
	line, _, _ := bytes.Cut(src[:min(len(src), 200)], []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return ""
	}
	for _, word := range strings.Fields(string(rest)) {
		word = path.Base(word)
		if word == "env" || strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		for _, i := range byInterpreter {
			if version, ok := strings.CutPrefix(word, i.prefix); ok && strings.Trim(version, "0123456789.") == "" {
				return i.lang
			}
		}
		return ""
	}
	return ""
}

// header tells C++ from C by words at the beginning of lines that C has not.
func header(src []byte) string {
	src = src[:min(len(src), 64<<10)]
	for line := range bytes.Lines(src) {
		line = bytes.TrimSpace(line)
		for _, sign := range []string{"class ", "namespace ", "template ", "template<", "using ", "public:", "private:", "protected:", "constexpr ", "virtual "} {
			if bytes.HasPrefix(line, []byte(sign)) {
				return "cpp"
			}
		}
	}
	return "c"
}
