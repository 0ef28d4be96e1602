package docs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/docs"
)

// why are the pages of the reference and of reasons, which have bounds of their own.
var why = []string{"border", "protocol", "tools", "settings", "hooks", "security", "world", "sandbox", "git", "knowledge", "shadow", "platforms", "language-servers"}

var (
	picture  = regexp.MustCompile(`(?m)^!\[[^\]]*\]\([^)]*\)`)
	ends     = regexp.MustCompile(`[.:;!?](?:\s|\*|$)|\n[-\d|#]|\n\n|\|`)
	hasWord  = regexp.MustCompile(`[\pL\pN]`)
	commands = regexp.MustCompile("(?s)```(?:sh)?\n(.*?)```")
)

func words(text string) (n int) {
	for _, word := range strings.Fields(text) {
		if hasWord.MatchString(word) {
			n++
		}
	}
	return n
}

// TestSize: the guides are short, and so are their sentences; a first edit takes at most
// three commands.
func TestSize(t *testing.T) {
	const mostWords, mostReadme, mostMedian, mostCommands = 11000, 900, 16, 3
	pages := map[string]string{"README.md": read(t)["README.md"]}
	for _, p := range docs.Pages() {
		if !slices.Contains(why, p.Name) {
			pages[p.Path] = p.Text
		}
	}
	total := 0
	for name, page := range pages {
		prose := picture.ReplaceAllString(fences.ReplaceAllString(page, ""), "")
		total += words(prose)
		var lengths []int
		for _, sentence := range ends.Split(prose, -1) {
			if n := words(sentence); n > 2 {
				lengths = append(lengths, n)
			}
		}
		slices.Sort(lengths)
		if median := lengths[len(lengths)/2]; median > mostMedian {
			t.Errorf("%s: the median sentence has %d words, want at most %d", name, median, mostMedian)
		}
		if strings.HasPrefix(name, "docs/start-") {
			block := commands.FindStringSubmatch(page)[1]
			n := strings.Count("\n"+block, "\n$ ")
			if n == 0 {
				n = strings.Count(block, "\n")
			}
			if n > mostCommands {
				t.Errorf("%s: %d commands to a first edit", name, n)
			}
		}
	}
	if n := words(pages["README.md"]); n > mostReadme {
		t.Errorf("README.md has %d words, want at most %d", n, mostReadme)
	}
	if !strings.HasPrefix(pages["README.md"], "# sidecar-ls\n\nRun any coding agent; every change waits for your review, in your editor.\n") {
		t.Error("README.md does not begin with the pitch")
	}
	if len(pages) != 32 || total < mostWords/2 || total > mostWords {
		t.Errorf("%d pages have %d words, want at most %d", len(pages), total, mostWords)
	}
}
