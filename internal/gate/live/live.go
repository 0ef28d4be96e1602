// Package live is the settings as they hold now, for a workspace: read from the
// user, the editor and the project, and again when one of them changes.
package live

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/trust"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/retry"
)

// Settings is what holds now. Readers get a snapshot, which never changes.
type Settings struct {
	options Options

	loading sync.Mutex // one load at a time
	folders []string
	client  []json.RawMessage

	book    trust.Book
	states  atomic.Pointer[[]*trust.State] // of the folders, where they are trusted
	changed atomic.Pointer[func([]*trust.State)]
	seen    string // stamps of what was read; loading holds it
	own     string // the stamp of the user's file; loading holds it

	now      atomic.Pointer[config.Settings]
	dispatch atomic.Pointer[dispatch.Settings]
}

// Options is who follows the settings. Each may be nil.
type Options struct {
	Machine  config.MachineFile    // the zero value: there are no settings of the machine
	Level    *slog.LevelVar        // follows log.level
	Programs *lookup.Finder        // takes nothing from the folders
	Secrets  func(values []string) // gets the secret values that the settings hold
}

// New returns settings of which nothing is read before Open.
func New(o Options) *Settings {
	if o.Programs == nil {
		o.Programs = lookup.New(lookup.Options{})
	}
	return &Settings{options: o}
}

// Programs finds what runs outside of the sandbox, in no folder of the workspace.
func (s *Settings) Programs() *lookup.Finder { return s.options.Programs }

// Open reads all sources for a workspace with these folders, of which the first
// has the project's file, and returns what is wrong with them, in words for the
// user. client are the editor's layers.
func (s *Settings) Open(folders []string, client ...json.RawMessage) []string {
	s.loading.Lock()
	defer s.loading.Unlock()
	s.folders, s.client = folders, client
	return s.read()
}

// Load reads all sources again, with these layers of the client in their order,
// and returns what is wrong with them.
func (s *Settings) Load(client ...json.RawMessage) []string {
	s.loading.Lock()
	defer s.loading.Unlock()
	s.client = client
	return s.read()
}

// Reload reads all sources again: one of the files was changed.
func (s *Settings) Reload() {
	s.loading.Lock()
	defer s.loading.Unlock()
	s.read()
}

// SetFolders reads them for another set of folders, which may bring other
// settings, and be trusted or not.
func (s *Settings) SetFolders(folders []string) {
	s.loading.Lock()
	defer s.loading.Unlock()
	s.folders = folders
	s.read()
}

// Machine is where the machine's settings are.
func (s *Settings) Machine() config.MachineFile { return s.options.Machine }

// ownStamp changes with what the user's and the machine's file say.
func (s *Settings) ownStamp() string {
	return stamp(config.UserFile()) + "|" + s.options.Machine.Stamp()
}

func (s *Settings) read() []string {
	var problems []string
	s.own = s.ownStamp() // before it is read: what is written meanwhile is read again
	user, err := config.UserSource()
	if err != nil {
		problems = append(problems, err.Error())
	}
	trust, err := config.TrustSource(s.folders)
	if err != nil {
		problems = append(problems, err.Error())
	}
	machine, warning := s.options.Machine.Source()
	if warning != "" {
		problems = append(problems, warning)
	}
	sources := []config.Source{machine, user, trust}
	for _, layer := range s.client {
		sources = append(sources, config.Source{Origin: config.Client, Data: layer})
	}
	if len(s.folders) > 0 {
		own, _ := config.Load(sources...) // without the project, which has no say in whether it is trusted
		project, wrong := s.steady(own.String("workspace.trust") == "trusted")
		problems = append(problems, wrong...)
		sources = append(sources, project)
	} else {
		s.states.Store(nil)
		s.seen = s.stamps()
	}
	set, wrong := config.Load(sources...)
	for _, p := range wrong {
		problems = append(problems, p.String())
	}
	ds, more := forDispatch(set, s.folders)
	if s.options.Level != nil {
		if err := s.options.Level.UnmarshalText([]byte(set.String("log.level"))); err != nil {
			problems = append(problems, "sidecar.log.level: "+err.Error())
		}
	}
	if s.options.Secrets != nil {
		s.options.Secrets(set.SecretValues())
	}
	s.now.Store(set)
	s.dispatch.Store(ds)
	if tell := s.changed.Load(); tell != nil {
		(*tell)(s.Changed())
	}
	return append(problems, more...)
}

// forDispatch is the part of the settings that the dispatcher reads.
func forDispatch(set *config.Settings, folders []string) (*dispatch.Settings, []string) {
	var problems []string
	d := dispatch.DefaultSettings()
	d.Enabled = set.Bool("tools.enabled")
	d.Registry = session.Registry(set.String("tools.registryMode"))
	d.Families = set.Strings("mcp.tools")
	d.Audit = set.Bool("audit.enabled")
	d.ResultBytes = set.Int("result.maxBytes")
	d.OwnMode, d.FloorMode, d.Locked = set.OwnMode(), set.FloorMode(), set.Locked()
	d.ApprovalTimeout = time.Duration(set.Int("approval.timeoutSeconds")) * time.Second
	d.Retry = retry.Policy{Attempts: set.Int("retry.attempts"), Wait: firstWait}
	d.Trusted = set.String("workspace.trust") != "untrusted"
	d.Writable = len(set.Strings("sandbox.writable")) > 0
	d.Steps = set.Bool("steps.required")
	d.AskCommands = set.String("commands.ask") == "always"
	d.Floor, d.DeniedBy = set.FloorWords(), set.DeniedBy
	d.Permissions = outcomes(set.Permissions())
	var rules []shell.Rule
	for _, r := range set.CommandRules() {
		if !r.Holds(folders) {
			continue
		}
		rules = append(rules, shell.Rule{Prefix: r.Prefix, Decision: policy.Outcome(r.Decision), Known: r.Rest == "known", Packages: r.Packages})
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
			if ok, _ := doublestar.Match(g, name); ok || g == name {
				return true
			}
		}
		return false
	}
	return d, problems
}

func outcomes(m map[string]string) map[string]policy.Outcome {
	out := make(map[string]policy.Outcome, len(m))
	for k, v := range m {
		out[k] = policy.Outcome(v)
	}
	return out
}

// Now is the settings at this moment.
func (s *Settings) Now() *config.Settings { return s.now.Load() }

// Dispatch is what the dispatcher reads of them.
func (s *Settings) Dispatch() *dispatch.Settings { return s.dispatch.Load() }

// firstWait is before the second attempt of a call.
const firstWait = 1500 * time.Millisecond

// undoBytes is how much text is kept so that edits can be undone.
const undoBytes = 64 << 20

// UndoLimits bound what of agents' edits can be undone.
func (s *Settings) UndoLimits() (bytes int64, age time.Duration) {
	return undoBytes, time.Duration(s.Now().Int("undo.days")) * 24 * time.Hour
}

// Trusted reports whether what the workspace brings along may run.
func (s *Settings) Trusted() bool { return s.Now().String("workspace.trust") == "trusted" }

// SensitiveOK reports whether tools may read a file although its name is one of
// a secret.
func (s *Settings) SensitiveOK(name string) bool { return s.Dispatch().SensitiveOK(name) }

// Mode is the row of a mode; "" is the mode that the settings name.
func (s *Settings) Mode(name string) (policy.Mode, bool) {
	if name == "" {
		name = s.Now().String("mode")
	}
	if m, ok := s.Dispatch().Modes[name]; ok {
		return m, true
	}
	return policy.Lookup(name)
}

// Stricter returns the mode want if it is no looser than have in anything, else have.
func (s *Settings) Stricter(have, want string) string {
	from, known := s.Mode(have)
	if to, both := s.Mode(want); known && both && to.AtLeast(from) {
		return want
	}
	return have
}

// Modes lists the built-in modes, and then those of the settings by name.
func (s *Settings) Modes() []policy.Mode {
	out := policy.Modes()
	own := s.Dispatch().Modes
	for _, name := range slices.Sorted(maps.Keys(own)) {
		out = append(out, own[name])
	}
	return out
}

// PutUser writes a setting into the user's file, and reads all again.
func (s *Settings) PutUser(key string, value []byte) error {
	if err := config.PutUser(key, value); err != nil {
		return err
	}
	s.Reload()
	return nil
}

// writeProject writes a setting into the project's file, and reads all again. The user
// has said yes to this change: it is taken if the file is what was trusted with this
// change, whatever it was when it was written.
func (s *Settings) writeProject(key string, value []byte) error {
	s.loading.Lock()
	defer s.loading.Unlock()
	dir := s.folders[0]
	var own []byte
	if state := s.Trust(dir); state != nil {
		then := config.Source{Origin: config.Project, Name: config.ProjectFile, Data: []byte(state.Then[config.ProjectFile].Text)}
		own, _ = config.Put(then, key, value) // nil: nothing is taken
	}
	if err := config.PutProject(dir, key, value); err != nil {
		return err
	}
	if own != nil {
		s.takeOwn(own)
	}
	s.read()
	return nil
}
