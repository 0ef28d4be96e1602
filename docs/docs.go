// Package docs holds the documents, for those who have the program and not its
// repository. A topic is a page, or a section of one.
package docs

import (
	"cmp"
	"embed"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/editors"
	"github.com/sidecar-ls/sidecar-ls/internal/text/manual"
)

//go:embed *.md
var files embed.FS

// Page is a document.
type Page struct {
	Name  string // claude, for docs/claude.md; vscode, for that editor's README
	Path  string // from the root of the repository
	Title string
	Text  string // as Markdown
}

// Pages are all documents, by name.
func Pages() (out []Page) {
	add := func(system fs.FS, pattern, dir string, name func(string) string) {
		found, err := fs.Glob(system, pattern)
		for _, file := range found {
			data, _ := fs.ReadFile(system, file)
			text := string(data)
			title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
			out = append(out, Page{name(file), dir + "/" + file, title, text})
		}
		if err != nil || len(found) == 0 {
			panic("the program carries no " + pattern)
		}
	}
	add(files, "*.md", "docs", func(file string) string { return strings.TrimSuffix(file, ".md") })
	add(editors.Pages, "*/README.md", "editors", path.Dir)
	slices.SortFunc(out, func(a, b Page) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// renamed are the sections that had another name before, by the anchor of that. People know
// it from other texts.
var renamed = map[string]string{"roads": "integrations", "the-ide-road": "the-ide-integration", "the-hook-road": "the-hook-integration"}

// Find returns the Markdown of a topic: a page by its name, a section as PAGE#SECTION or
// by its own name where one page has it. also are the sections that a name may mean.
func Find(topic string) (text string, also []string) {
	name, section, within := strings.Cut(strings.TrimSuffix(topic, ".md"), "#")
	name, section = strings.TrimSuffix(name, ".md"), cmp.Or(renamed[section], section)
	topic = cmp.Or(renamed[manual.Slug(topic)], topic)
	var found []string
	for _, p := range Pages() {
		if p.Name == name && !within {
			return p.Text, nil
		}
		for _, s := range sections(p.Text) {
			switch {
			case p.Name == name && within && s.slug == section:
				return s.text, nil
			case !within && s.is(topic):
				found, text = append(found, p.Name+"#"+s.slug), s.text
			}
		}
	}
	if len(found) == 0 {
		return row(topic), nil
	}
	if len(found) > 1 {
		return "", found
	}
	return text, nil
}

// listing are the pages of whose tables each row is a topic.
var listing = []string{"modes", "settings", "tools"}

// row is the row of a table with the name of a topic in its first cell, as a small page.
func row(topic string) string {
	for _, p := range Pages() {
		if !slices.Contains(listing, p.Name) {
			continue
		}
		var head []string
		for line := range strings.Lines(p.Text) {
			if !strings.HasPrefix(line, "|") {
				head = nil
				continue
			}
			first, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
			name := strings.Trim(strings.TrimSpace(first), "`")
			if len(head) == 2 && (strings.EqualFold(name, topic) || strings.EqualFold(name, "sidecar."+topic)) {
				return "## " + name + "\n\n" + strings.Join(head, "") + line + "\n[" + p.Title + "](" + p.Name + ".md)\n"
			}
			if len(head) < 2 {
				head = append(head, line)
			}
		}
	}
	return ""
}

// Sections are the titles of all sections, for suggestions.
func Sections() (out []string) {
	for _, p := range Pages() {
		for _, s := range sections(p.Text) {
			out = append(out, s.title)
		}
	}
	return out
}

// Plain is Markdown for a terminal, whose links name topics.
func Plain(text string) string {
	return manual.Plain(text, func(target string) string {
		file, section, _ := strings.Cut(target, "#")
		name := strings.TrimSuffix(path.Base(file), ".md")
		if name == "README" {
			name = path.Base(path.Dir(file))
		}
		if !slices.ContainsFunc(Pages(), func(p Page) bool { return p.Name == name }) {
			return ""
		}
		if section != "" {
			name += "#" + section
		}
		return name
	})
}

type section struct{ title, slug, text string }

// is reports whether a section has that name; of a setting, sidecar. may be left out.
func (s section) is(name string) bool {
	title := strings.Trim(strings.ToLower(s.title), "`")
	name = strings.ToLower(name)
	return title == name || s.slug == name || title == "sidecar."+name
}

var headings = regexp.MustCompile("(?m)^(#{2,6}) +(.*?) *$|^```")

// sections are the parts of a page below its headings, each with those inside of it.
func sections(page string) (out []section) {
	type mark struct{ level, at int }
	var open []mark
	code := false
	for _, m := range headings.FindAllStringSubmatchIndex(page, -1) {
		if m[2] < 0 {
			code = !code
			continue
		}
		if code {
			continue
		}
		title := page[m[4]:m[5]]
		out = append(out, section{title, manual.Slug(title), page[m[0]:]})
		open = append(open, mark{m[3] - m[2], m[0]})
	}
	for i := range out {
		for _, later := range open[i+1:] {
			if later.level <= open[i].level {
				out[i].text = page[open[i].at:later.at]
				break
			}
		}
	}
	return out
}
