// Package models is the language models of the settings: their profiles, keys
// and endpoints.
package models

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/retry"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/system"
)

// Backends is the language models of the settings: for the tool that switches between
// them, and for whoever asks one.
type Backends struct {
	Settings Settings
	Programs *lookup.Finder                        // finds what asks the keyring
	Know     func(source string, secrets []string) // is told the keys that are in no setting; may be nil
}

// Settings are where the profiles come from: *live.Settings.
type Settings interface {
	Follow() // reads what has been written since
	Now() *config.Settings
	PutUser(key string, value []byte) error
}

// maxTry bounds the question to an endpoint whether it takes a key.
const maxTry = 10 * time.Second

func (b Backends) profile(name string) (config.Backend, error) {
	for _, p := range b.Settings.Now().Backends() {
		if p.Name == name {
			return p, nil
		}
	}
	return config.Backend{}, tools.Errorf(tools.NotFound, "profile: there is no %q; there are %s", name, b.names())
}

// names are those of the profiles, for a person or a model to choose from.
func (b Backends) names() string {
	var all []string
	for _, p := range b.Settings.Now().Backends() {
		all = append(all, p.Name)
	}
	return strings.Join(all, ", ")
}

// unswitched is an error of a question before a switch.
func unswitched(err error) error {
	e := *tools.AsError(err)
	e.Message += "; nothing was switched"
	return &e
}

// Backend implements system.Backends.
func (b Backends) Backend(name string) (system.Backend, error) {
	p, err := b.profile(name)
	if err != nil {
		return system.Backend{}, err
	}
	if _, err := b.key(p); err != nil {
		return system.Backend{}, unswitched(err)
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return system.Backend{}, err
	}
	return system.Backend{Profile: p.Name, Provider: p.Provider, URL: p.URL, Host: u.Host, Model: p.Model}, nil
}

// Active implements system.Backends.
func (b Backends) Active() string { return b.Settings.Now().String("backend.profile") }

// Try implements system.Backends. It asks for the list of models, which costs nothing and needs the key.
func (b Backends) Try(ctx context.Context, name string) error {
	p, err := b.profile(name)
	if err != nil {
		return err
	}
	k, err := b.key(p)
	if err != nil {
		return unswitched(err)
	}
	res, err := ask(ctx, p, k)
	if err != nil {
		why := err
		if inner := errors.Unwrap(err); inner != nil {
			why = inner
		}
		return tools.Errorf(tools.Unavailable, "%s does not answer: %v; nothing was switched", p.Name, why)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		return tools.Errorf(tools.Unavailable, "%s does not take its key (%s); nothing was switched", p.Name, res.Status)
	case res.StatusCode != http.StatusOK:
		e := tools.Errorf(tools.Unavailable, "%s answers %s to a question for its models; nothing was switched", p.Name, res.Status)
		e.Transient, e.RetryAfter = retry.Transient(res.StatusCode, res.Header)
		return e
	}
	return nil
}

// Use implements system.Backends.
func (b Backends) Use(name string) error {
	value, err := json.Marshal(name)
	if err != nil {
		return err
	}
	if err := b.Settings.PutUser("backend.profile", value); err != nil {
		return tools.Errorf(tools.Unavailable, "the endpoint answered, but the profile was not switched: %v", err)
	}
	return nil
}

// Describe describes the profile in use for sidecar.backend.get.
func (b Backends) Describe() (any, error) {
	b.Settings.Follow()
	p, err := b.profile(cmp.Or(b.Active(), "none"))
	if err != nil {
		return map[string]any{"profile": b.Active(), "ready": false}, nil //nolint:nilerr // that there is none is the answer
	}
	_, missing := b.key(p)
	return map[string]any{"profile": p.Name, "provider": p.Provider, "url": p.URL, "model": p.Model, "ready": missing == nil}, nil
}
