package model

import (
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestKnown: a name finds its model however it is spelt, and another version is not
// taken for it.
func TestKnown(t *testing.T) {
	for name, want := range map[string]struct {
		window   int
		priced   bool
		vision   bool
		adaptive bool
	}{
		"claude-opus-4-5":                       {200_000, true, true, false},
		"claude-opus-4-5-20251101":              {200_000, true, true, false},
		"anthropic/claude-opus-4.5":             {200_000, true, true, false},
		"anthropic/claude-opus-4.5:beta":        {200_000, false, true, false},
		"Claude-Opus-5-5":                       {1_000_000, true, true, true},
		"claude-opus-5":                         {1_000_000, true, true, true},
		"claude-opus-4-1-20250805":              {200_000, false, true, false},
		"claude-opus-19-3":                      {0, false, true, true}, // nothing but what all have
		"gpt-5":                                 {400_000, true, true, false},
		"gpt-5-2025-08-07":                      {400_000, true, true, false}, // no gpt-5.2
		"gpt-5.4":                               {1_050_000, true, true, false},
		"gpt-5.4-pro":                           {1_050_000, false, true, false},
		"gpt-5.4-mini-2026-03-17":               {400_000, true, true, false},
		"models/gemini-2.5-pro-preview-05-06":   {1_048_576, true, true, false},
		"openai/gpt-oss-120b:free":              {131_072, false, false, false},
		"qwen3-coder:30b":                       {262_144, false, false, false},
		"Qwen/Qwen3-Coder-30B-A3B-Instruct":     {262_144, false, false, false},
		"qwen3:8b":                              {40_960, false, false, false},
		"qwen3.8-27b":                           {262_144, false, true, false},
		"llama3.3:70b-instruct-q4_K_M":          {131_072, false, false, false},
		"hf.co/x/Meta-Llama-3.1-8B-GGUF:Q4_K_M": {131_072, false, false, false},
		"deepseek/deepseek-v4-flash":            {1_000_000, false, false, false},
		"mistral-large-2411":                    {131_072, false, false, false},
		"glm-4.6":                               {204_800, true, false, false},
		"glm-4.6v":                              {128_000, true, true, false},
		"kimi-k2-0711-preview":                  {131_072, true, false, false},
	} {
		f, ok := Known(name)
		if !ok || f.Window != want.window || (f.Prices != nil) != want.priced || f.Vision != want.vision || f.Adaptive != want.adaptive || f.AsOf == "" {
			t.Errorf("%s: %v, %+v; want %+v", name, ok, f, want)
		}
	}
	for _, name := range []string{"", "/", "gpt", "gpt-5.99", "gpt-50", "o3x", "glm-4", "qwen30", "mine", "not-gpt-5"} {
		if f, ok := Known(name); ok {
			t.Errorf("%s is known: %+v", name, f)
		}
	}
}

// TestKnownTable: every row is whole, and says nothing that can't be.
func TestKnownTable(t *testing.T) {
	var table struct {
		AsOf, Currency string
		Models         []map[string]json.RawMessage
	}
	if err := json.Unmarshal(knownText, &table); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^20\d\d-\d\d-\d\d$`).MatchString(table.AsOf) || table.Currency != "USD" {
		t.Errorf("as of %q in %q", table.AsOf, table.Currency)
	}
	members := []string{"adaptive", "answer", "caches", "names", "prices", "reasons", "vision", "window"}
	seen := map[string]bool{}
	for _, row := range table.Models {
		for _, member := range slices.Sorted(maps.Keys(row)) {
			if !slices.Contains(members, member) {
				t.Errorf("%s: the member %s is not known", row["names"], member)
			}
		}
		var names []string
		if err := json.Unmarshal(row["names"], &names); err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", row["names"], err)
		}
		for _, name := range names {
			if seen[plain(name)] || strings.Contains(name, "/") {
				t.Errorf("%s is there twice, or has a vendor", name)
			}
			seen[plain(name)] = true
			f, ok := Known(name)
			if !ok {
				t.Errorf("%s is not found", name)
			}
			if f.Window < f.Answer || f.Window > 0 && f.Window < 8000 {
				t.Errorf("%s: window %d, answer %d", name, f.Window, f.Answer)
			}
			for i, p := range f.Prices {
				if p.Input <= 0 || p.Output < p.Input || p.CacheRead >= p.Input || (i == 0) != (p.Above == 0) || i > 0 && (p.Above <= f.Prices[i-1].Above || p.Input <= f.Prices[i-1].Input) {
					t.Errorf("%s: price %+v", name, p)
				}
			}
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d models", len(seen))
	}
}

// TestCost: each kind of token has its price, a long request its own, and what has no
// price makes the cost unknown.
func TestCost(t *testing.T) {
	f := Facts{Prices: []Price{
		{Input: 2, Output: 10, CacheRead: 0.2, CacheWrite: 2.5},
		{Above: 100_000, Input: 4, Output: 15, CacheRead: 0.4},
	}}
	for name, c := range map[string]struct {
		facts Facts
		usage Usage
		want  float64
		known bool
	}{
		"input and output":   {f, Usage{Input: 1_000, Output: 100}, 0.003, true},
		"reasoning is in it": {f, Usage{Input: 1_000, Output: 100, Reasoning: 90}, 0.003, true},
		"caches":             {f, Usage{Input: 1_000, Output: 100, CacheRead: 10_000, CacheWrite: 2_000}, 0.01, true},
		"not yet long":       {f, Usage{Input: 50_000, CacheRead: 50_000}, 0.11, true},
		"long by its cache":  {f, Usage{Input: 50_000, CacheRead: 50_001}, 0.2200004, true},
		"an unknown price":   {f, Usage{Input: 150_000, CacheWrite: 1}, 0, false},
		"no price":           {Facts{Window: 1}, Usage{Input: 1}, 0, false},
		"nothing was said":   {f, Usage{}, 0, true},
	} {
		if got, known := c.facts.Cost(c.usage); known != c.known || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, %v; want %v, %v", name, got, known, c.want, c.known)
		}
	}
}

// TestEffort: the profile's effort holds where a request has none, and is said as the
// model wants it.
func TestEffort(t *testing.T) {
	for name, c := range map[string]struct {
		wire   string
		asked  string
		change func(*Profile)
		want   string // JSON, members of the body
	}{
		"tokens":          {"anthropic", "", func(p *Profile) { p.Effort = "low" }, `{"max_tokens":10240,"thinking":{"budget_tokens":2048,"type":"enabled"}}`},
		"at most":         {"anthropic", "", func(p *Profile) { p.Effort, p.Tokens, p.Longest = "high", 60_000, 64_000 }, `{"max_tokens":64000,"thinking":{"budget_tokens":24576,"type":"enabled"}}`},
		"the request's":   {"anthropic", "medium", func(p *Profile) { p.Effort = "low" }, `{"max_tokens":16384,"thinking":{"budget_tokens":8192,"type":"enabled"}}`},
		"a word":          {"anthropic", "", func(p *Profile) { p.Effort, p.Adaptive = "low", true }, `{"max_tokens":8192,"output_config":{"effort":"low"},"thinking":{"display":"summarized","type":"adaptive"}}`},
		"none":            {"anthropic", "", func(p *Profile) { p.Adaptive = true }, `{"max_tokens":8192}`},
		"chat":            {"chat", "", func(p *Profile) { p.Effort = "low" }, `{"reasoning_effort":"low"}`},
		"responses":       {"responses", "", func(p *Profile) { p.Effort = "low" }, `{"reasoning":{"effort":"low","summary":"auto"}}`},
		"responses, none": {"responses", "", func(*Profile) {}, `{}`},
	} {
		p := newProvider(t)
		if _, _, err := p.ask(t.Context(), c.wire, "text", Request{Effort: c.asked}, func(cl *Client) { c.change(&cl.Profile) }); err != nil {
			t.Fatal(name, err)
		}
		var body map[string]json.RawMessage
		if err := json.Unmarshal(p.bodies["text"][0], &body); err != nil {
			t.Fatal(name, err)
		}
		maps.DeleteFunc(body, func(member string, _ json.RawMessage) bool {
			return !slices.Contains([]string{"max_tokens", "thinking", "output_config", "reasoning_effort", "reasoning"}, member)
		})
		if got, _ := json.Marshal(body); string(got) != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
