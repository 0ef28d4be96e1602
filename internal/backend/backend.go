// Package backend is the language models of the settings: their profiles, keys
// and endpoints.
package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/retry"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/system"
)

// Backends is the language models of the settings, for the tool that switches
// between them.
type Backends struct{ Settings Settings }

// Settings are where the profiles come from: *live.Settings.
type Settings interface {
	Now() *config.Settings
	PutUser(key string, value []byte) error
}

// maxTry bounds the question to an endpoint whether it takes a key.
const maxTry = 10 * time.Second

func (b Backends) profile(name string) (config.Backend, error) {
	var known []string
	for _, p := range b.Settings.Now().Backends() {
		if p.Name == name {
			return p, nil
		}
		known = append(known, p.Name)
	}
	return config.Backend{}, tools.Errorf(tools.NotFound, "profile: there is no %q; there are %s", name, strings.Join(known, ", "))
}

// key is the key of a profile, or an error that says what is missing.
func key(p config.Backend) (string, error) {
	k := p.Key
	if k == "" && p.KeyEnv != "" {
		k = os.Getenv(p.KeyEnv)
	}
	switch {
	case k == "" && p.KeyEnv != "":
		return "", tools.Errorf(tools.Unavailable, "%s has no key: the user must set %s in the server's environment, or key in backend.profiles; nothing was switched", p.Name, p.KeyEnv)
	case k == "" && p.Provider == "anthropic":
		return "", tools.Errorf(tools.Unavailable, "%s has no key: the user must set key or keyEnv in backend.profiles; nothing was switched", p.Name)
	case k != "" && !safeForKey(p.URL):
		return "", tools.Errorf(tools.Unavailable, "%s would get its key over a connection that others can read; its url must begin with https://; nothing was switched", p.Name)
	case strings.ContainsAny(k, "\r\n\x00"):
		return "", tools.Errorf(tools.Unavailable, "the key of %s has a line break in it; nothing was switched", p.Name)
	}
	return k, nil
}

// safeForKey reports whether nobody on the way can read what is sent.
func safeForKey(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Backend implements system.Backends.
func (b Backends) Backend(name string) (system.Backend, error) {
	p, err := b.profile(name)
	if err != nil {
		return system.Backend{}, err
	}
	if _, err := key(p); err != nil {
		return system.Backend{}, err
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
	k, err := key(p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxTry)
	defer cancel()
	at := map[string]string{"anthropic": "/v1/models", "openai": "/models", "ollama": "/api/tags"}[p.Provider]
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+at, nil)
	if err != nil {
		return err
	}
	switch {
	case p.Provider == "anthropic":
		req.Header.Set("x-api-key", k)
		req.Header.Set("anthropic-version", "2023-06-01")
	case k != "":
		req.Header.Set("Authorization", "Bearer "+k)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // a key goes nowhere else
	res, err := client.Do(req)
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
	p, err := b.profile(cmp.Or(b.Active(), "none"))
	if err != nil {
		return map[string]any{"profile": b.Active(), "ready": false}, nil //nolint:nilerr // that there is none is the answer
	}
	_, missing := key(p)
	return map[string]any{"profile": p.Name, "provider": p.Provider, "url": p.URL, "model": p.Model, "ready": missing == nil}, nil
}
