package extend

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/plugin"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/trust"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// Options are what a workspace's extensions work with. Audit may be nil.
type Options struct {
	Settings Settings
	Folders  []string // of the workspace
	Starter  Starter
	Shell    shell.Deps // by which custom tools run
	Registry *tools.Registry

	Bus   *events.Bus
	Audit *auditlog.Log
	Hide  *redact.Redactor
	Log   *slog.Logger
	Warn  func(text string) // puts a text before the user

	Resident bool   // the process stays: plugins are watched
	Servers  func() // is told when the servers of plugins have changed
}

// Settings are those that hold now: *live.Settings.
type Settings interface {
	Now() *config.Settings
	Trusted() bool
	Trust(dir string) *trust.State // nil: the folder is not trusted
	Follow()                       // what the project's files say now
}

// Starter starts what extends the workspace, confined: *confine.Confiner.
type Starter interface {
	Hook(ctx context.Context, root string, h *hooks.Hook, argv []string) (*hooks.Process, error)
}

// Extensions are those of one workspace. They follow the settings.
type Extensions struct {
	o       Options
	hooks   *hooks.Runner
	plugins *plugin.Manager

	ready   chan struct{} // closed when they were loaded for the first time
	loading sync.Mutex
	seen    atomic.Pointer[config.Settings] // of which they are
	files   atomic.Pointer[string]
	looked  atomic.Int64    // when the files were looked at, in nanoseconds
	told    map[string]bool // problems that the user knows of; loading holds it
	failed  sync.Map        // of hooks, in words that the user was told
}

// New returns the extensions that the settings name now; see Ready.
func New(o Options) *Extensions {
	x := &Extensions{o: o, told: map[string]bool{}, ready: make(chan struct{})}
	x.plugins = plugin.New(plugin.Options{
		Places: x.places, Trusted: o.Settings.Trusted, Host: x, Memory: &plugin.UserMemory{}, Store: store(), Watch: o.Resident, Clean: func(text string) (string, []string) { return o.Hide.Defuse(redact.Sanitize(text)), o.Hide.Signs(text) }, Warn: func(text string) { o.Warn(o.Hide.Shown(text)) }, Log: o.Log,
	})
	x.hooks = hooks.New(hooks.Options{Config: x, Start: o.Starter.Hook, Told: x.ran})
	load := func() {
		defer close(x.ready)
		x.Follow()
	}
	if o.Resident {
		go load() // the start of a server does not wait
	} else {
		load()
	}
	return x
}

// Ready waits until they were loaded for the first time, which a server's start does not
// wait for, or until ctx ends. What was changed since counts from now on.
func (x *Extensions) Ready(ctx context.Context) {
	select {
	case <-x.ready:
		x.lookAgain()
	case <-ctx.Done():
	}
}

// Follow reads the settings and files again if they are others now.
func (x *Extensions) Follow() {
	x.o.Settings.Follow()
	set, files := x.o.Settings.Now(), x.stamps()
	x.looked.Store(time.Now().UnixNano())
	if old := x.files.Load(); x.seen.Load() == set && old != nil && *old == files {
		return
	}
	x.loading.Lock()
	defer x.loading.Unlock()
	if x.seen.Swap(set) != set {
		x.loadTools(set)
		for _, dir := range set.Strings("plugins.dirs") {
			if !filepath.IsAbs(dir) {
				x.problems([]string{fmt.Sprintf("sidecar.plugins.dirs: %q is no absolute path, and is not looked at", dir)})
			}
		}
	}
	x.plugins.Reload()
	x.files.Store(&files)
	x.hooks.Reload()
	if _, problems := x.hooks.List(); len(problems) > 0 {
		x.problems(problems)
	}
}

// problems tells the user what is wrong, once.
func (x *Extensions) problems(list []string) {
	for _, text := range list {
		if !x.told[text] {
			x.told[text] = true
			x.o.Log.Warn("extensions", "problem", text)
			x.o.Warn(x.o.Hide.Shown(text))
		}
	}
}

// Close ends what runs of them.
func (x *Extensions) Close() {
	if x != nil {
		<-x.ready
		x.plugins.Close()
		x.hooks.Close()
	}
}

// maxAge is how old what is known of the files may be.
const maxAge = 250 * time.Millisecond

func (x *Extensions) lookAgain() {
	if x.seen.Load() != x.o.Settings.Now() || time.Since(time.Unix(0, x.looked.Load())) > maxAge {
		x.Follow()
	}
}

// Active implements dispatch.Hooks, as does Run.
func (x *Extensions) Active(e hooks.Event, names ...string) bool {
	x.lookAgain()
	return x.hooks.Active(e, names...)
}

// Run runs the hooks of an event.
func (x *Extensions) Run(ctx context.Context, in hooks.Input, names ...string) hooks.Outcome {
	return x.hooks.Run(ctx, in, names...)
}

// ListHooks describes the hooks in their order, and what is wrong with their sources.
func (x *Extensions) ListHooks() ([]hooks.Status, []string) {
	<-x.ready
	x.Follow()
	list, problems := x.hooks.List()
	for i := range list {
		list[i].Command = x.o.Hide.Shown(list[i].Command)
		list[i].LastError = x.o.Hide.Shown(list[i].LastError)
	}
	return list, problems
}

// ran tells everybody of a hook that was run.
func (x *Extensions) ran(r hooks.Ran) {
	hide := x.o.Hide.Text
	x.o.Bus.Publish(events.Event{Type: events.Hook, Session: r.Session, CallID: r.Call, Tool: r.Tool, HookRun: &events.HookRun{
		Event: string(r.Event), Origin: r.Hook.Origin, Command: hide(r.Hook.Line()), Decision: r.Decision,
		Failure: hide(r.Failure), Message: hide(r.Said), DurationMs: r.Took.Milliseconds(),
	}})
	if r.Said != "" {
		_, known := x.failed.LoadOrStore(r.Said, true)
		if r.Failure == "" || !known {
			x.o.Warn(x.o.Hide.Shown(r.Said))
		}
	}
	if x.o.Audit == nil || !x.o.Settings.Now().Bool("audit.enabled") {
		return
	}
	x.o.Audit.Add(func() auditlog.Record {
		args, _ := json.Marshal(map[string]string{"event": string(r.Event), "tool": r.Tool, "origin": r.Hook.Origin, "command": hide(r.Hook.Line()), "failure": hide(r.Failure)})
		outcome := r.Decision
		if outcome == "" {
			outcome = hooks.Allow
		}
		return auditlog.Record{
			Session: r.Session, CallID: r.Call, Tool: "hook", Access: string(tools.Read), Outcome: outcome, By: "rule", Rule: "hook",
			OK: r.Failure == "", DurationMs: r.Took.Milliseconds(), Arguments: args,
		}
	})
}
