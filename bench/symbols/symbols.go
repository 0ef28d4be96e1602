package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// languages are those that are compared, with the kinds of tags that mean
// functions, methods, classes, interfaces, types and enums. Those that
// universal-ctags does not know are compared with what their lines say.
var languages = map[string]struct {
	ctags string
	kinds []string
}{
	"bash":       {"Sh", []string{"function"}},
	"c":          {"C", []string{"function", "prototype", "struct", "union", "enum", "typedef"}},
	"cpp":        {"C++", []string{"function", "prototype", "class", "struct", "union", "enum", "typedef"}},
	"csharp":     {"C#", []string{"class", "enum", "interface", "method", "struct", "typedef"}},
	"go":         {"Go", []string{"func", "struct", "interface", "type", "methodSpec", "talias"}},
	"java":       {"Java", []string{"class", "enum", "interface", "method", "annotation"}},
	"javascript": {"JavaScript", []string{"function", "class", "method", "generator"}},
	"kotlin":     {"Kotlin", []string{"class", "interface", "method", "object", "typealias"}},
	"markdown":   {"Markdown", []string{"chapter", "section", "subsection", "subsubsection", "l4subsection", "l5subsection"}},
	"scala":      {"", nil},
	"swift":      {"", nil},
	"lua":        {"Lua", []string{"function"}},
	"php":        {"PHP", []string{"class", "function", "interface", "trait"}},
	"python":     {"Python", []string{"class", "function", "member"}},
	"ruby":       {"Ruby", []string{"class", "method", "singletonMethod"}},
	"rust":       {"Rust", []string{"function", "method", "struct", "enum", "interface", "typedef", "macro"}},
	"typescript": {"TypeScript", []string{"class", "enum", "function", "interface", "method", "generator", "alias"}},
	"tsx":        {"TypeScript", []string{"class", "enum", "function", "interface", "method", "generator", "alias"}},
}

// compared are the kinds of ours that the figures are about.
var compared = []pki.Kind{pki.Function, pki.Method, pki.Class, pki.Interface, pki.Struct, pki.Enum, pki.Type, pki.Heading}

// declarations are lines of the languages that ctags does not know.
var declarations = map[string]*regexp.Regexp{
	"scala": regexp.MustCompile(`(?m)^[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+)*(?:(?:private|protected)(?:\[\w+\])?[ \t]+|(?:final|sealed|abstract|override|implicit|lazy|case|inline)[ \t]+)*(?:def|class|trait|object)[ \t]+(\w+)`),
	"swift": regexp.MustCompile(`(?m)^[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+)*(?:(?:public|private|internal|fileprivate|open|static|final|override|mutating|class|nonisolated|required|convenience|indirect)(?:\(set\))?[ \t]+)*(?:func|class|struct|enum|protocol|typealias)[ \t]+(\w+)`),
}

// linesOf finds declarations by their first lines alone.
func linesOf(lang string, files []string) (list []tag) {
	re := declarations[lang]
	if re == nil {
		return nil
	}
	for _, file := range files {
		src, _ := os.ReadFile(file)
		for _, at := range re.FindAllSubmatchIndex(src, -1) {
			list = append(list, tag{file, string(src[at[2]:at[3]]), "line", 1 + bytes.Count(src[:at[2]], []byte("\n")), false})
		}
	}
	return list
}

// tag is one symbol of either side.
type tag struct {
	file, name, kind string
	line             int
	local            bool // in a function
}

func (t tag) String() string {
	return fmt.Sprintf("%s:%d %s %s", t.file, t.line, t.kind, t.name)
}

// nearby: both sides may take a declaration to begin at different lines.
const nearby = 3

func compareSymbols(dirs []string, most int, only []string, verbose bool) error {
	ctags, err := exec.LookPath("ctags")
	if err != nil {
		return fmt.Errorf("universal-ctags is needed: %w", err)
	}
	byLang, err := collect(dirs)
	if err != nil {
		return err
	}
	fmt.Println("symbols beside universal-ctags: functions, methods, classes, interfaces, types and enums")
	for _, lang := range slices.Sorted(maps.Keys(byLang)) {
		l, known := languages[lang]
		if !known || len(only) > 0 && !slices.Contains(only, lang) {
			continue
		}
		files := spread(byLang[lang], most)
		all := linesOf(lang, files)
		if l.ctags != "" {
			if all, err = tagsOf(ctags, l.ctags, lang, files); err != nil {
				return err
			}
		}
		ours, failed, rate := oursOf(lang, files)
		want := slices.DeleteFunc(slices.Clone(all), func(t tag) bool { return l.kinds != nil && !slices.Contains(l.kinds, t.kind) })
		got := slices.DeleteFunc(slices.Clone(ours), func(t tag) bool { return !slices.Contains(compared, pki.Kind(t.kind)) })
		missed, extra := minus(want, ours), minus(got, all)
		j := judge{lang, make(map[string][][]byte)}
		why := make(map[string]int)
		really := slices.DeleteFunc(slices.Clone(missed), func(t tag) bool {
			reason := j.mistaken(t)
			if reason != "" {
				why[reason]++
				if verbose && why[reason] <= 2 {
					fmt.Printf("      not a declaration (%s): %s | %s\n", reason, t, strings.TrimSpace(j.line(t)))
				}
			}
			return reason != ""
		})
		invented := slices.DeleteFunc(slices.Clone(extra), j.plausible)
		fmt.Printf("  %-11s %4d files  %6d tags  recall %5.1f %% → %5.1f %%   %6d symbols  precision %5.1f %% → %5.1f %%   %4.1f MB/s  %d without  %v\n",
			lang, len(files), len(want), 100-percent(len(missed), len(want)), 100-percent(len(really), len(want)-len(missed)+len(really)),
			len(got), 100-percent(len(extra), len(got)), 100-percent(len(invented), len(got)), rate, failed, why)
		if verbose {
			show(&j, "missed", really)
			show(&j, "extra", invented)
		}
	}
	return nil
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }

func show(j *judge, what string, list []tag) {
	rnd := rand.New(rand.NewPCG(1, 2))
	rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, t := range list[:min(15, len(list))] {
		fmt.Printf("      %s %s | %s\n", what, t, strings.TrimSpace(j.line(t)))
	}
}

// collect finds the source files below directories, by language.
func collect(dirs []string) (map[string][]string, error) {
	found := make(map[string][]string)
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && (d.Name() == ".git" || d.Name() == "dist" || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			info, _ := d.Info()
			if info == nil || !info.Mode().IsRegular() || info.Size() > 200<<10 || strings.Contains(name, ".min.") {
				return nil
			}
			lang := treesitter.Language(name, nil)
			if lang == "c" || lang == "" && filepath.Ext(name) == "" {
				src, _ := os.ReadFile(name)
				lang = treesitter.Language(name, src)
			}
			if lang != "" {
				found[lang] = append(found[lang], name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// spread returns n files that lie evenly in a list.
func spread(files []string, n int) []string {
	if len(files) <= n {
		return files
	}
	var out []string
	for i := range n {
		out = append(out, files[i*len(files)/n])
	}
	return out
}

func tagsOf(ctags, name, lang string, files []string) ([]tag, error) {
	cmd := exec.CommandContext(context.Background(), ctags, "--output-format=json", "--fields=+Kns", "--kinds-all=*", "--language-force="+name, "-L", "-", "-f", "-")
	cmd.Stdin = strings.NewReader(strings.Join(files, "\n"))
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ctags: %w", err)
	}
	var list []tag
	for line := range bytes.Lines(out) {
		var t struct {
			Name, Path, Kind string
			Line             int
			ScopeKind        string
		}
		if json.Unmarshal(line, &t) != nil || strings.HasPrefix(t.Name, "__anon") || strings.Contains(strings.ToLower(t.Name), "anonymous") {
			continue
		}
		list = append(list, tag{t.Path, normal(lang, t.Name), t.Kind, t.Line, t.ScopeKind == "function"})
	}
	return list, nil
}

// normal writes names as we do.
func normal(lang, name string) string {
	switch lang {
	case "cpp":
		name = strings.Replace(name, "operator ", "operator", 1)
	case "lua":
		return name[strings.LastIndexAny(name, ".:")+1:]
	case "csharp":
		if last := name[strings.LastIndexByte(name, '.')+1:]; last != "" {
			name = last
		}
		return strings.TrimPrefix(name, "~")
	case "javascript", "typescript", "tsx":
		return strings.TrimPrefix(name, "#")
	case "ruby":
		return strings.TrimPrefix(name, "self.")
	}
	return name
}

func oursOf(lang string, files []string) (list []tag, failed int, rate float64) {
	size := 0
	var spent time.Duration
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		start := time.Now()
		symbols, err := treesitter.Extract(lang, src)
		spent += time.Since(start)
		size += len(src)
		if err != nil {
			failed++
		}
		for _, s := range symbols {
			line := 1 + bytes.Count(src[:s.NameByte], []byte("\n"))
			list = append(list, tag{file, normal(lang, s.Name), string(s.Kind), line, false})
		}
	}
	return list, failed, float64(size) / 1e6 / spent.Seconds()
}

// minus returns what of a has no fellow in b.
func minus(a, b []tag) []tag {
	type key struct{ file, name string }
	lines := make(map[key][]int)
	for _, t := range b {
		k := key{t.file, t.name}
		lines[k] = append(lines[k], t.line)
	}
	var out []tag
	for _, t := range a {
		if !slices.ContainsFunc(lines[key{t.file, t.name}], func(line int) bool { return max(line-t.line, t.line-line) <= nearby }) {
			out = append(out, t)
		}
	}
	return out
}
