package rank_test

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pki/rank"
)

func TestDescribes(t *testing.T) {
	r := rank.NewReader(rank.Default())
	const seven = "ledger cursor tensor window router socket lease"
	for less, more := range map[string]string{
		seven + "\n\nIt is lost.":           seven,
		strings.TrimSuffix(seven, " lease"): seven,
		"store: " + seven:                   "store " + seven,
		"open " + seven:                     "opens " + seven,
		"process " + seven:                  "opens " + seven,
		"fix " + seven:                      seven + " fix",
		seven + " should":                   seven,
	} {
		if a, b := r.Read(less).Describes, r.Read(more).Describes; a >= b {
			t.Errorf("%q describes what code does with %.2f, %q with %.2f", less, a, more, b)
		}
	}
	for text, describes := range map[string]bool{
		"Returns whether the cursor is at the end of the given buffer.":    true,
		"how does the pool decide which of the idle connections it reuses": true,
		"Converts a list of names into the paths that they stand for":      true,
		"store: keep the ledger open":                                      false,
		"Fix crash when the buffer is empty":                               false,
		"Don't retry if the server should not be asked again":              false,
		"The cursor is lost\n\nOpen a buffer and close it.":                false,
		"ledger":                        false,
		"":                              false,
		strings.Repeat("fix when ", 99): false,
	} {
		if got := r.Read(text).Describes; got < 0 || got > 1 || (got > 0.5) != describes {
			t.Errorf("%q describes what code does with %.2f", text, got)
		}
	}
}
