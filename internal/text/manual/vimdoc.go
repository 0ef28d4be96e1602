package manual

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Chapter is a page of a help file.
type Chapter struct{ Tag, Page string }

// vimCommand is a command of a plug-in, as the first cells of tables name it.
var vimCommand = regexp.MustCompile("`(:[A-Z][A-Za-z]+)")

// Vimdoc is a help file of Neovim with its tags file: each chapter and each heading in it
// has a tag, and so has each command that a table begins a row with.
func Vimdoc(file, summary string, chapters []Chapter) (help, tags string) {
	v := vimdoc{seen: map[string]bool{}}
	var out strings.Builder
	fmt.Fprintf(&out, "*%s*  %s\n", file, summary)
	v.seen[file] = true
	for _, c := range chapters {
		v.prefix = c.Tag
		out.WriteString("\n" + strings.Repeat("=", Width-2) + "\n" + draw(c.Page, v.inline, v.head))
	}
	out.WriteString("\n vim:tw=78:ts=8:ft=help:norl:\n")
	help = v.commands(out.String())
	var lines []string
	for tag := range v.seen {
		lines = append(lines, fmt.Sprintf("%s\t%s\t/*%s*\n", tag, file, strings.ReplaceAll(tag, `/`, `\/`)))
	}
	slices.Sort(lines)
	return help, strings.Join(lines, "")
}

type vimdoc struct {
	prefix string
	seen   map[string]bool
}

// tag is a new tag as a help file writes it, "" if there is one of that name.
func (v *vimdoc) tag(name string) string {
	if v.seen[name] {
		return ""
	}
	v.seen[name] = true
	return "*" + name + "*"
}

func (v *vimdoc) head(b block, text string) string {
	name := v.prefix
	if b.level > 1 {
		name += "-" + Slug(text)
	}
	tag := v.tag(name)
	return text + strings.Repeat(" ", max(2, Width-2-utf8.RuneCountInString(text)-len(tag))) + tag
}

func (v *vimdoc) inline(text string) string {
	return strings.ReplaceAll(inline(text, func(text, _ string) string { return text }, "$1", "$2"), "|", "/")
}

// commands puts tags above the rows of tables that begin with commands.
func (v *vimdoc) commands(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  `:") {
			var tags []string
			for _, m := range vimCommand.FindAllStringSubmatch(line, -1) {
				if tag := v.tag(m[1]); tag != "" {
					tags = append(tags, tag)
				}
			}
			if len(tags) > 0 {
				line = fmt.Sprintf("%*s\n%s", Width-2, strings.Join(tags, " "), line)
			}
		}
		out.WriteString(line)
	}
	return out.String()
}

// notInSlug is what GitHub leaves out of a heading's anchor.
var notInSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// Slug is the anchor of a heading.
func Slug(heading string) string {
	text := inline(heading, func(text, _ string) string { return text }, "$1", "$2")
	return strings.ReplaceAll(strings.ToLower(notInSlug.ReplaceAllString(text, "")), " ", "-")
}
