package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/policy/shell"
	"github.com/sidecar-ls/sidecar-ls/internal/retry"
	"github.com/sidecar-ls/sidecar-ls/internal/session"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// settings is what holds now. Readers take a snapshot; load swaps in a new one.
type settings struct {
	project func() ([]byte, error) // reads the project's file; nil: there is none
	folders func() []string        // of the workspace, that the user may have trusted; nil: none
	level   *slog.LevelVar         // follows log.level

	secrets func(values []string) // is told those that the settings hold; may be nil

	loading sync.Mutex // one load at a time
	client  []json.RawMessage

	now      atomic.Pointer[config.Settings]
	dispatch atomic.Pointer[dispatch.Settings]
}

// load reads all sources anew, the client's layers in their order, and returns
// what is wrong with them.
func (s *settings) load(client ...json.RawMessage) []string {
	s.loading.Lock()
	defer s.loading.Unlock()
	s.client = client
	return s.read()
}

// reload reads all sources anew: one of the files was changed.
func (s *settings) reload() {
	s.loading.Lock()
	defer s.loading.Unlock()
	s.read()
}

func (s *settings) read() []string {
	var problems []string
	user, err := config.UserSource()
	if err != nil {
		problems = append(problems, err.Error())
	}
	sources := []config.Source{user}
	if s.folders != nil {
		said, err := trustSource(s.folders())
		if err != nil {
			problems = append(problems, err.Error())
		}
		sources = append(sources, said)
	}
	for _, layer := range s.client {
		sources = append(sources, config.Source{Origin: config.Client, Data: layer})
	}
	if s.project != nil {
		data, err := s.project()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err.Error())
		}
		own, _ := config.Load(sources...) // without the project, which has no say in whether it is trusted
		sources = append(sources, config.Source{Origin: config.Project, Name: config.ProjectFile, Data: data, Trusted: own.String("workspace.trust") == "trusted"})
	}
	set, wrong := config.Load(sources...)
	for _, p := range wrong {
		problems = append(problems, p.String())
	}
	ds, more := dispatchSettings(set)
	if s.level != nil {
		if err := s.level.UnmarshalText([]byte(set.String("log.level"))); err != nil {
			problems = append(problems, "sidecar.log.level: "+err.Error())
		}
	}
	if s.secrets != nil {
		s.secrets(secretSettings(set))
	}
	s.now.Store(set)
	s.dispatch.Store(ds)
	return append(problems, more...)
}

// dispatchSettings is the part of the settings that the dispatcher reads.
func dispatchSettings(set *config.Settings) (*dispatch.Settings, []string) {
	var problems []string
	d := dispatch.DefaultSettings()
	d.Enabled = set.Bool("tools.enabled")
	d.Registry = session.Registry(set.String("tools.registryMode"))
	d.Audit = set.Bool("audit.enabled")
	d.ResultBytes = set.Int("result.maxChars")
	d.ApprovalTimeout = time.Duration(set.Int("approval.timeoutSeconds")) * time.Second
	d.Retry = retry.Policy{Attempts: set.Int("retry.attempts"), Wait: time.Duration(set.Int("retry.waitMs")) * time.Millisecond}
	d.Trusted = set.String("workspace.trust") != "untrusted"
	d.Permissions = outcomes(set.Permissions())
	var rules []shell.Rule
	for _, r := range set.CommandRules() {
		rules = append(rules, shell.Rule{Prefix: r.Prefix, Decision: policy.Outcome(r.Decision)})
	}
	d.Commands = shell.MakeRules(rules)
	d.Modes = map[string]policy.Mode{}
	for _, m := range set.CustomModes() {
		mode, err := policy.Custom{Name: m.Name, Description: m.Description, Base: m.Base, Destination: m.Destination, Permissions: outcomes(m.Permissions)}.Mode()
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		d.Modes[m.Name] = mode
	}
	globs := set.Strings("sensitive.allow")
	for _, g := range globs {
		if !doublestar.ValidatePattern(g) {
			problems = append(problems, fmt.Sprintf("sidecar.sensitive.allow: %q is not a glob", g))
		}
	}
	d.SensitiveOK = func(name string) bool {
		for _, g := range globs {
			if ok, _ := doublestar.Match(g, name); ok {
				return true
			}
		}
		return false
	}
	return d, problems
}

// trusted reports whether what the workspace brings along may run.
func (s *settings) trusted() bool { return s.now.Load().String("workspace.trust") == "trusted" }

// strictSchemas reports whether models are given strict schemas.
func (s *settings) strictSchemas() bool { return s.now.Load().Bool("tools.strictSchemas") }

func outcomes(m map[string]string) map[string]policy.Outcome {
	out := make(map[string]policy.Outcome, len(m))
	for k, v := range m {
		out[k] = policy.Outcome(v)
	}
	return out
}

// mode is the row of a mode; "" is the mode that the settings name.
func (s *settings) mode(name string) (policy.Mode, bool) {
	if name == "" {
		name = s.now.Load().String("mode")
	}
	if m, ok := s.dispatch.Load().Modes[name]; ok {
		return m, true
	}
	return policy.Lookup(name)
}

// modes lists the built-in modes, and then those of the settings by name.
func (s *settings) modes() []server.Mode {
	own := s.dispatch.Load().Modes
	var out []server.Mode
	for _, m := range policy.Modes() {
		out = append(out, server.Mode{Name: m.Name, Description: m.Help})
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		out = append(out, server.Mode{Name: name, Description: own[name].Help})
	}
	return out
}
