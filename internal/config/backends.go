package config

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// Backend is where a language model is reached.
type Backend struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`        // anthropic, openai (or whoever speaks as it does) or ollama
	URL      string `json:"url"`             // what the provider's paths are added to
	Model    string `json:"model,omitempty"` // "": nobody can be asked

	// Where its key is. The first that has one counts, in this order.
	KeyEnv  string `json:"keyEnv,omitempty"` // the variable of the environment
	Key     string `json:"key,omitempty"`
	KeyFile string `json:"keyFile,omitempty"` // see ReadKeyFile
	Keyring bool   `json:"keyring,omitempty"` // the system's, under the profile's name

	// How it is asked, over what is known of the model.
	Wire          string `json:"wire,omitempty"`      // anthropic, chat or responses; "": that of the provider
	Window        int    `json:"window,omitempty"`    // tokens of a conversation with its answer
	MaxTokens     int    `json:"maxTokens,omitempty"` // of an answer
	Vision        *bool  `json:"vision,omitempty"`    // it sees images
	Calls         string `json:"calls,omitempty"`     // native or text; "": native
	Effort        string `json:"effort,omitempty"`    // low, medium or high; "": the model's default
	Reasoning     string `json:"reasoning,omitempty"` // the member of a chat server's answers that has it; "": either
	SendReasoning bool   `json:"sendReasoning,omitempty"`
	StartSeconds  int    `json:"startSeconds,omitempty"` // until an answer begins, at most; 0: see the documentation
}

// What the members of a backend may be.
var (
	providers  = []string{"openai", "anthropic", "ollama"}
	wires      = []string{"anthropic", "chat", "responses"}
	callShapes = []string{"native", "text"}
	efforts    = []string{"low", "medium", "high"}
	reasonings = []string{"reasoning_content", "reasoning"}
)

// Bounds of a backend's numbers, in tokens.
const (
	minWindow = 1000
	maxWindow = 100_000_000
)

// maxStartSeconds bounds how long a model may take to begin an answer: a day.
const maxStartSeconds = 24 * 60 * 60

// Backends returns a copy of the setting backend.profiles.
func (s *Settings) Backends() []Backend { return get[[]Backend](s, "backend.profiles") }

func (p *parser) backends(v jsontext.Value) (any, bool) {
	all, ok := p.entries(v, "profiles", maxBackends)
	if !ok {
		return nil, false
	}
	var got []Backend
	for i, e := range all {
		where := fmt.Sprintf("profile %d: ", i+1)
		b := Backend{Provider: providers[0]}
		if !p.fields(where, e, map[string]func(where string, v jsontext.Value) bool{
			"name": p.into(&b.Name), "provider": p.oneOf(&b.Provider, providers...), "url": p.into(&b.URL), "model": p.into(&b.Model),
			"keyEnv": p.into(&b.KeyEnv), "key": p.into(&b.Key), "keyFile": p.into(&b.KeyFile), "keyring": p.flag(func(on bool) { b.Keyring = on }),
			"wire": p.oneOf(&b.Wire, wires...), "window": p.intoNumber(&b.Window, minWindow, maxWindow), "maxTokens": p.intoNumber(&b.MaxTokens, 1, maxWindow),
			"vision": p.flag(func(on bool) { b.Vision = &on }), "calls": p.oneOf(&b.Calls, callShapes...), "effort": p.oneOf(&b.Effort, efforts...),
			"reasoning": p.oneOf(&b.Reasoning, reasonings...), "sendReasoning": p.flag(func(on bool) { b.SendReasoning = on }),
			"startSeconds": p.intoNumber(&b.StartSeconds, 1, maxStartSeconds),
		}) {
			continue
		}
		why := b.check()
		if why == "" && slices.ContainsFunc(got, func(o Backend) bool { return o.Name == b.Name }) {
			why = "there are two profiles " + b.Name
		}
		if why != "" {
			p.wrong("%s%s", where, why)
			continue
		}
		b.URL = strings.TrimRight(b.URL, "/")
		got = append(got, b)
	}
	return got, true
}

// check says what is wrong with a backend, or "".
func (b *Backend) check() string {
	u, err := url.Parse(b.URL)
	switch {
	case b.Name == "" || len(b.Name) > maxModeName || strings.ContainsFunc(b.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Sprintf("needs a name of at most %d printable bytes", maxModeName)
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "needs a url that begins with https:// or http://"
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "the url must have no user, query or fragment; a key goes into keyEnv, keyFile, keyring or key"
	case b.KeyFile != "" && !filepath.IsAbs(b.KeyFile) && !strings.HasPrefix(b.KeyFile, "~/"):
		return "keyFile must be an absolute path, or begin with ~/"
	case b.Window > 0 && b.MaxTokens >= b.Window:
		return "maxTokens must be less than window, which has room for the conversation too"
	}
	return ""
}

// keys are those that can be read without asking anybody: they are secrets before they
// are used.
func (b *Backend) keys() (all []string) {
	inFile, _ := b.ReadKeyFile() // whoever uses it says what is wrong
	for _, key := range []string{b.Key, os.Getenv(b.KeyEnv), inFile} {
		if key != "" {
			all = append(all, key)
		}
	}
	return all
}

// addBackends lets a profile of want take the place of one by the same name.
func addBackends(have, want any) any {
	got := slices.Clone(have.([]Backend))
	for _, b := range want.([]Backend) {
		if i := slices.IndexFunc(got, func(o Backend) bool { return o.Name == b.Name }); i >= 0 {
			got[i] = b
		} else {
			got = append(got, b)
		}
	}
	return got
}

func cloneBackends(all []Backend) []Backend {
	all = slices.Clone(all)
	for i, b := range all {
		if b.Vision != nil {
			sees := *b.Vision
			all[i].Vision = &sees
		}
	}
	return all
}
