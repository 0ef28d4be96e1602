package rank

import (
	"math"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// describing tells by a question's first line whether it describes what code
// does, as a comment would, or a change of it, as commits and issues do. The
// numbers are log-odds, learned (logistic regression) from 22,000 comments and
// commits of 104 repositories.
var describing = struct {
	bias    float32
	several float32            // for more lines
	few     float32            // for few words
	scope   float32            // for what stands before a colon
	third   float32            // for a first word as "returns"
	words   map[string]float32 // for each that is there
	first   map[string]float32 // for the first one, besides
}{
	bias: -0.85, several: -1.9, few: -1.2, scope: -1.4, third: 1.7,
	words: map[string]float32{
		"a": 1.3, "add": -1.3, "added": -1.2, "adding": -0.6, "all": 0.7, "allow": -1.3, "an": 0.7, "avoid": -0.8, "bug": -0.4,
		"create": 0.5, "data": 0.3, "do": -0.5, "don't": -1.4, "ensure": -0.5, "error": -1, "fix": -1.7, "fixed": -1.3, "fixes": -2.1,
		"given": 1.4, "handle": -0.3, "improve": -0.9, "in": -0.5, "into": 0.2, "make": -1.5, "not": -0.3, "now": -0.5, "on": -0.3,
		"or": 1.2, "returns": 0.7, "should": -0.6, "support": -1.3, "the": 1.3, "this": 0.9, "when": -1.6, "whether": 0.3,
	},
	first: map[string]float32{"add": -0.9, "added": -0.6, "don't": -0.3, "fix": -1.3, "fixed": -0.7, "make": -0.3, "return": 0.7},
}

// describes is how likely a question describes what code does. several says that
// it has more lines than the first.
func describes(title string, several bool) float32 {
	const fewWords, read = 7, 40
	d := &describing
	sum, seen := d.bias, map[string]bool{}
	if several {
		sum += d.several
	}
	if scope, _, ok := strings.Cut(title, ": "); ok && len(scope) <= 40 && !strings.Contains(scope, "`") {
		sum += d.scope
	}
	for word := range strings.FieldsFuncSeq(title, func(c rune) bool {
		return c != '\'' && (c > 0x7f || terms.Classes[c] != terms.Lower && terms.Classes[c] != terms.Upper)
	}) {
		word = strings.ToLower(word)
		if len(seen) == 0 {
			sum += d.first[word]
			if strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && len(word) > 2 {
				sum += d.third
			}
		}
		if !seen[word] {
			sum += d.words[word]
		}
		if seen[word] = true; len(seen) == read {
			break
		}
	}
	if len(seen) < fewWords {
		sum += d.few
	}
	return float32(1 / (1 + math.Exp(-float64(sum))))
}
