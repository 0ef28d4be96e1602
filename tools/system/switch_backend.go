package system

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Backends are the language models that the settings name.
type Backends interface {
	// Backend returns a profile that has what it needs to be used. It fails
	// with tools.NotFound, and with tools.Unavailable when its key is missing.
	Backend(profile string) (Backend, error)
	// Active is the name of the profile in use, or "".
	Active() string
	// Try asks the profile's endpoint whether it takes the key. It changes
	// nothing.
	Try(ctx context.Context, profile string) error
	// Use makes the profile the one in use, for good.
	Use(profile string) error
}

// Backend is where a language model is reached.
type Backend struct {
	Profile  string `json:"profile" jsonschema:"its name in the settings"`
	Provider string `json:"provider" jsonschema:"such as ollama"`
	URL      string `json:"url" jsonschema:"of its endpoint"`
	Host     string `json:"-"`
	Model    string `json:"model,omitempty" jsonschema:"that is used"`
}

//go:embed switch_backend.md
var switchBackendText string

type switchBackendIn struct {
	Profile string `json:"profile" jsonschema:"name of a profile of the settings" minLength:"1" maxLength:"64"`
}

func switchBackend(backends Backends) *tools.Tool {
	d := tools.Def{
		Name: "switch_backend", Title: "Switch the language model", Example: `{"profile": "local"}`, Description: switchBackendText, Category: "system", AlwaysAsk: true, Idempotent: true,
		Tags:   []string{"model", "provider", "ollama"},
		Output: Backend{},
	}
	t := tools.NewExec(d, func(ctx context.Context, _ *tools.Call, in switchBackendIn) (tools.Result, error) {
		b, err := backends.Backend(in.Profile)
		if err != nil {
			return tools.Result{}, err
		}
		if err := backends.Try(ctx, in.Profile); err != nil {
			return tools.Result{}, err
		}
		if err := backends.Use(in.Profile); err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: fmt.Sprintf("%s is in use: %s at %s. Its endpoint answered.", b.Profile, b.Provider, b.URL), Structured: b}, nil
	})
	return tools.Before(t, func(in switchBackendIn) (tools.Effects, error) {
		b, err := backends.Backend(in.Profile)
		if err != nil {
			return tools.Effects{}, err
		}
		old := backends.Active()
		if old == "" {
			old = "none"
		}
		return tools.Effects{Change: fmt.Sprintf("language model: %s → %s (%s at %s)", old, b.Profile, b.Provider, b.URL), Hosts: []string{b.Host}}, nil
	})
}
