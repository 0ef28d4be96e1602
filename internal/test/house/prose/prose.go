// Package prose reads text as a person does: paragraphs and sentences, without
// code and tables. It knows the phrases that make such text hard to read.
package prose

import (
	"fmt"
	"regexp"
	"strings"
)

// MostWords is how many words a sentence may have.
const MostWords = 35

// Finding is a sentence that has to be rewritten.
type Finding struct {
	Sentence string
	Why      string
}

// phrase is a wording that is wrong wherever it stands.
type phrase struct {
	pattern *regexp.Regexp
	better  string
}

var phrases = []phrase{
	{regexp.MustCompile(`(?i)\b(is|are|was|were) (told|heard|said)\b`), "name who says or reads it: gets, reads, shows, reports"},
	{regexp.MustCompile(`(?i)\bbe heard\b`), "use the verb that is meant: resume, send, deliver"},
	{regexp.MustCompile(`(?i)\bno longer[.;:]?$`), "name the act: distrust, disable, remove"},
	{regexp.MustCompile(`(?i)\bthat there (is|are) not\b`), "unknown, missing"},
	{regexp.MustCompile(`(?i)\bnot any more\b`), "no longer, or the opposite verb"},
	{regexp.MustCompile(`(?i)\bthat which\b`), "name the thing"},
	{regexp.MustCompile(`(?i)\bhears? (of|nothing)\b`), "gets, is notified of"},
	{regexp.MustCompile(`(?i)\bsays (no|a) word\b|\bwithout a word\b`), "silent, without a message"},
	{regexp.MustCompile(`^What [^?]*[^?]$`), "begin with the noun that is meant"},
	{regexp.MustCompile(`(?i)\broads?\b`), "integration"},
}

// Check finds what is wrong in one sentence.
func Check(sentence string) []Finding {
	var list []Finding
	for _, p := range phrases {
		if m := p.pattern.FindString(sentence); m != "" {
			if len(m) > 40 {
				m = m[:40] + "…"
			}
			list = append(list, Finding{sentence, fmt.Sprintf("%q: %s", m, p.better)})
		}
	}
	if n := Words(sentence); n > MostWords {
		list = append(list, Finding{sentence, fmt.Sprintf("%d words, at most %d", n, MostWords)})
	}
	return list
}

// Text checks a text that is not Markdown, such as a title.
func Text(text string) []Finding {
	var list []Finding
	for _, s := range Sentences(strings.Join(strings.Fields(inline(text)), " ")) {
		list = append(list, Check(s)...)
	}
	return list
}

// Markdown checks the prose of a Markdown document.
func Markdown(text string) []Finding {
	var list []Finding
	for _, p := range Paragraphs(text) {
		for _, s := range Sentences(p) {
			list = append(list, Check(s)...)
		}
	}
	return list
}

var (
	item    = regexp.MustCompile(`^\s*([-*+]|\d+\.)\s+`)
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	front   = regexp.MustCompile(`(?s)\A---\n.*?\n---\n`)
)

// Paragraphs are the paragraphs and list items of a Markdown document, each on one
// line. Headings, code, tables, comments and front matter are left out.
func Paragraphs(text string) []string {
	text = comment.ReplaceAllString(front.ReplaceAllString(text, ""), "")
	var list, now []string
	end := func() {
		if len(now) > 0 {
			list = append(list, strings.Join(strings.Fields(inline(strings.Join(now, " "))), " "))
		}
		now = nil
	}
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		bare := strings.TrimLeft(line, " >")
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) {
				fence = ""
			}
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
			end()
			fence = bare[:3]
		case bare == "", strings.HasPrefix(bare, "#"), strings.HasPrefix(bare, "|"):
			end()
		case len(now) == 0 && strings.HasPrefix(line, "    ") && !item.MatchString(line):
			// indented code
		default:
			if item.MatchString(bare) {
				end()
				bare = item.ReplaceAllString(bare, "")
			}
			now = append(now, bare)
		}
	}
	end()
	return list
}

var (
	codeSpan = regexp.MustCompile("``.+?``|`[^`]*`")
	image    = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	link     = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	emphasis = regexp.MustCompile(`\*+([^*\s](?:[^*]*[^*\s])?)\*+`)
)

// inline takes Markdown's marks off a line. A piece of code counts as one word.
func inline(s string) string {
	s = codeSpan.ReplaceAllString(s, "CODE")
	s = image.ReplaceAllString(s, "")
	s = link.ReplaceAllString(s, "$1")
	return emphasis.ReplaceAllString(s, "$1")
}

// stop ends a sentence, if what follows begins another one.
var stop = regexp.MustCompile(`[.!?][")»”]?\s+`)

// short are abbreviations whose full stop ends no sentence.
var short = regexp.MustCompile(`(?i)\b(e\.g|i\.e|etc|vs|cf|no)\.$`)

// Sentences are the sentences of a paragraph.
func Sentences(paragraph string) []string {
	var list []string
	begin := 0
	for _, at := range stop.FindAllStringIndex(paragraph, -1) {
		if short.MatchString(strings.TrimSpace(paragraph[begin:at[1]])) {
			continue
		}
		list = append(list, strings.TrimSpace(paragraph[begin:at[1]]))
		begin = at[1]
	}
	if rest := strings.TrimSpace(paragraph[begin:]); rest != "" {
		list = append(list, rest)
	}
	return list
}

var letter = regexp.MustCompile(`[\p{L}\p{N}]`)

// Words is how many words a sentence has.
func Words(sentence string) int {
	n := 0
	for _, w := range strings.Fields(sentence) {
		if letter.MatchString(w) {
			n++
		}
	}
	return n
}
