package model

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// Facts are what is known of a model before it is asked. What is not known is 0 or false.
type Facts struct {
	Window   int     `json:"window"`   // tokens of a conversation and its answer together
	Answer   int     `json:"answer"`   // tokens of the longest answer, with the reasoning
	Vision   bool    `json:"vision"`   // it sees images
	Caches   bool    `json:"caches"`   // its provider charges less for what it was sent before
	Reasons  bool    `json:"reasons"`  // it can think before it answers
	Adaptive bool    `json:"adaptive"` // how long it thinks is said by a word, not in tokens
	Prices   []Price `json:"prices"`   // at its maker, in the order of Above; nil: not known

	AsOf string `json:"-"` // the day on which this was so, such as 2026-01-31
}

// Price is what a million tokens cost, in USD. 0 is not known.
type Price struct {
	Above      int64   `json:"above"` // the price of requests with more tokens than this
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
}

// Cost is what one answer costs, in USD. It is not known if the price of a kind of
// tokens is not that the answer took. The sum of several answers must be made of their
// costs, because long requests can have a price of their own.
func (f Facts) Cost(u Usage) (amount float64, known bool) {
	var at *Price
	for i := range f.Prices {
		if p := &f.Prices[i]; p.Above == 0 || u.Input+u.CacheRead+u.CacheWrite > p.Above {
			at = p
		}
	}
	if at == nil {
		return 0, false
	}
	for _, part := range []struct {
		tokens int64
		price  float64
	}{{u.Input, at.Input}, {u.Output, at.Output}, {u.CacheRead, at.CacheRead}, {u.CacheWrite, at.CacheWrite}} {
		if part.tokens > 0 && part.price == 0 {
			return 0, false
		}
		amount += float64(part.tokens) * part.price / 1e6
	}
	return amount, true
}

//go:embed known.json
var knownText []byte

// knownModels are the facts by the beginning of a name, as plain gives it.
var knownModels = sync.OnceValue(func() map[string]Facts {
	var table struct {
		AsOf   string
		Models []struct {
			Names []string
			Facts
		}
	}
	if err := json.Unmarshal(knownText, &table); err != nil {
		panic(err) // a test reads it
	}
	all := map[string]Facts{}
	for _, row := range table.Models {
		row.AsOf = table.AsOf
		for _, name := range row.Names {
			all[plain(name)] = row.Facts
		}
	}
	return all
})

// plain is a name without who serves the model and how it spells versions:
// anthropic/claude-opus-4.5 is claude-opus-4-5.
func plain(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	return strings.ReplaceAll(strings.ToLower(name), ".", "-")
}

var (
	// another is the rest of the name of another version: gpt-5.9 is no gpt-5. A date
	// and a size are none.
	another = regexp.MustCompile(`^(?:[0-9a-z]|-[0-9]{1,2}(?:$|[^0-9a-z]))`)
	// same is the rest of the name of the same model: a variant has its own price.
	same = regexp.MustCompile(`^(?:-(?:latest|preview|[0-9]{2,8}))*$`)
)

// Known are the facts of the model with a name such as claude-opus-4-5-20251101,
// openai/gpt-5 or qwen3-coder:30b: those of the longest name in the table that it begins
// with. ok is false when there is none.
func Known(name string) (f Facts, ok bool) {
	name = plain(name)
	for n := len(name); n > 0; n-- {
		f, ok := knownModels()[name[:n]]
		rest := name[n:]
		if !ok || another.MatchString(rest) {
			continue
		}
		if !same.MatchString(rest) {
			f.Prices = nil
		}
		return f, true
	}
	return Facts{}, false
}
