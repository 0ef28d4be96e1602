package models

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Model is the language model of a profile, "" for the one in use, ready to be asked,
// and what is known of it. An error is a *tools.Error that says what the user must do.
func (b Backends) Model(name string) (*model.Client, model.Facts, error) {
	b.Settings.Follow()
	if name = cmp.Or(name, b.Active()); name == "" {
		return nil, model.Facts{}, tools.Errorf(tools.Unavailable, "No model yet. Choose one: sidecar-ls setup model")
	}
	p, err := b.profile(name)
	if err != nil {
		return nil, model.Facts{}, err
	}
	if p.Model == "" {
		return nil, model.Facts{}, tools.Errorf(tools.Unavailable, "%s names no model: the user must choose one: sidecar-ls setup model", p.Name)
	}
	if _, err := b.key(p); err != nil {
		return nil, model.Facts{}, err // now, and not in the middle of a conversation
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return nil, model.Facts{}, err
	}
	table, known := model.Known(p.Model)
	facts := over(p, table, local(u))
	wire := wireOf(p)
	tokens := p.MaxTokens
	if wire == "anthropic" {
		tokens = facts.Answer // which this wire wants to be told
	}
	return &model.Client{Profile: model.Profile{
		Name: p.Name, Wire: wire, URL: address(p, wire), Model: p.Model, Key: func() (string, error) { return b.key(p) },
		Tokens: tokens, Longest: table.Answer, Effort: p.Effort, Adaptive: table.Adaptive,
		Chat:    model.ChatFlags{Reasoning: p.Reasoning, SendReasoning: p.SendReasoning, OldMaxTokens: !newNames(u)},
		NoCalls: p.Calls == "text", Vision: facts.Vision, Cache: table.Caches || !known,
	}, Policy: model.Policy{Start: start(p, local(u))}}, facts, nil
}

// startHere is how long a server of the user's own may take to begin an answer, unless
// its profile says so: it loads a model first, and may read a long conversation slowly.
const startHere = 30 * time.Minute

// start is how long the server of a profile may take to begin an answer; 0 is as usual.
func start(p config.Backend, here bool) time.Duration {
	if p.StartSeconds == 0 && (here || p.Provider == "ollama") {
		return startHere
	}
	return time.Duration(p.StartSeconds) * time.Second
}

// over lays what the profile says over what the table knows of its model. A server of
// the user's has neither the maker's prices nor, if it is Ollama's, the window that the
// model was made for.
func over(p config.Backend, f model.Facts, here bool) model.Facts {
	if here || p.Provider == "ollama" {
		f.Prices = nil
	}
	if p.Provider == "ollama" {
		f.Window = 0
	}
	f.Window = cmp.Or(p.Window, f.Window)
	if p.MaxTokens > 0 {
		f.Answer = p.MaxTokens
	} else if f.Window > 0 && f.Answer >= f.Window {
		f.Answer = f.Window / 2
	}
	if p.Vision != nil {
		f.Vision = *p.Vision
	}
	return f
}

// wireOf is how the provider is spoken to, unless the profile says something else.
func wireOf(p config.Backend) string {
	if p.Provider == "anthropic" {
		return cmp.Or(p.Wire, "anthropic")
	}
	return cmp.Or(p.Wire, "chat")
}

// root is the address of a profile without the version: people write it with and
// without.
func root(p config.Backend) string { return strings.TrimSuffix(p.URL, "/v1") }

// address is what the paths of a wire are added to. Those of the anthropic wire have the
// version, the others do not; an address of the provider openai is whole, whatever its
// version is called.
func address(p config.Backend, wire string) string {
	switch {
	case wire == "anthropic":
		return root(p)
	case p.Provider == "openai":
		return p.URL
	}
	return root(p) + "/v1"
}

// newNames reports whether a server knows max_completion_tokens. OpenAI's own refuse the
// old name for their newer models, and others know the old one alone.
func newNames(u *url.URL) bool {
	return u.Hostname() == "api.openai.com" || strings.HasSuffix(u.Hostname(), ".openai.azure.com")
}
