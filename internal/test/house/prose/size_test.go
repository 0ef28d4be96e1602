package prose

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestSize: the reference and the pages that say why stay short enough to be read.
func TestSize(t *testing.T) {
	const mostWords, mostMedian = 25000, 16
	tree := os.DirFS("../../../../docs")
	total := 0
	for _, page := range []string{"border", "protocol", "tools", "settings", "hooks", "security", "world", "sandbox", "git", "knowledge", "shadow", "platforms", "language-servers"} {
		text := read(t, tree, page+".md")
		total += len(strings.Fields(text))
		var lengths []int
		for _, p := range Paragraphs(text) {
			for _, s := range Sentences(p) {
				lengths = append(lengths, Words(s))
			}
		}
		slices.Sort(lengths)
		median := lengths[len(lengths)/2]
		if t.Logf("%s: %d sentences, median %d, longest %d", page, len(lengths), median, lengths[len(lengths)-1]); median > mostMedian {
			t.Errorf("%s: the median sentence has %d words, want at most %d", page, median, mostMedian)
		}
	}
	if t.Logf("%d words", total); total > mostWords {
		t.Errorf("the pages have %d words, want at most %d", total, mostWords)
	}
}
