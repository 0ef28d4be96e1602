package tools

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Where a word of a question was found, and what that is worth.
const (
	inName   = 6.0
	inTitle  = 3.0 // also the tags, the category and the server
	inFields = 2.0 // names of arguments
	inText   = 1.0
)

// Found is a tool that a search found.
type Found struct {
	*Tool
	Listed bool // it is in the model's list
}

// Find returns the tools of list that a question in plain words asks for, best
// first: by the words that it shares with a tool's name, title, tags, arguments
// and description, rare words counting more, and the whole question being a
// name, or a part of one, counting most.
func Find(list []*Tool, question string) []*Tool {
	asked := findWords(question)
	worth := make([]map[string]float64, len(list))
	in := map[string]float64{} // how many tools have the word
	for i, t := range list {
		worth[i] = wordsOf(t)
		for w := range worth[i] {
			in[w]++
		}
	}
	name := strings.ToLower(cleanName(question))
	score := map[*Tool]float64{}
	for i, t := range list {
		for _, w := range asked {
			score[t] += worth[i][w] * math.Log(1+float64(len(list))/max(in[w], 1))
		}
		switch {
		case name == t.Name:
			score[t] += 1000
		case name != "" && strings.Contains(t.Name, name):
			score[t] += 100
		}
	}
	found := slices.DeleteFunc(slices.Clone(list), func(t *Tool) bool { return score[t] <= 0 })
	slices.SortStableFunc(found, func(a, b *Tool) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), strings.Compare(a.Name, b.Name))
	})
	return found
}

// wordsOf are the words that t can be found by, with the most that each is worth.
func wordsOf(t *Tool) map[string]float64 {
	worth := map[string]float64{}
	add := func(text string, w float64) {
		for _, word := range findWords(text) {
			worth[word] = max(worth[word], w)
		}
	}
	add(t.Description, inText)
	if t.schema != nil {
		for name := range t.schema.Properties {
			add(name, inFields)
		}
	}
	add(strings.Join(append([]string{t.Title, t.Category, t.Source.Server}, t.Tags...), " "), inTitle)
	add(t.Name, inName)
	return worth
}

// findWords splits text into words of at least two letters, each once, in
// lower case and without the endings that make no difference to a question.
func findWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		for _, ending := range [...]string{"ing", "es", "s"} {
			if short, ok := strings.CutSuffix(w, ending); ok && len(short) >= 3 {
				words[i] = short
				break
			}
		}
	}
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 2 || slices.Contains(stopWords, w) })
	slices.Sort(words)
	return slices.Compact(words)
}

// stopWords say nothing about what a tool does.
var stopWords = strings.Fields("an and are be by for from how in is it of on or that the this to tool use want what which with")
