package app

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/app/indexing"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mask"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/extend"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/mcp/source"
	"github.com/sidecar-ls/sidecar-ls/internal/files/secrets"
	"github.com/sidecar-ls/sidecar-ls/internal/files/textindex"
	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/batchcommit"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/precheck"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/sessionview"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/shadowsetup"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/repos"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/statedir"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/version"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// build makes the parts, from the files up. before is the workspace in whose
// place this one comes; nil: it is the first. What was made is closed if the
// rest can't be.
func (w *Workspace) build(ctx context.Context, folders []workspace.Folder, before *Workspace) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	w.Client.Settings.Programs().Forbid(workspace.Dirs(folders)...) // before anything is started
	if err := w.openFiles(ctx, folders); err != nil {
		return err
	}
	w.openProcesses(folders)
	w.openIndexes()
	return w.openTools(before)
}

// openFiles opens the files, and the review queue over them.
func (w *Workspace) openFiles(ctx context.Context, folders []workspace.Folder) error {
	c, home := w.Client, w.Home
	w.Problems.Add(home.said...)
	options := workspace.DiskOptions{StateDir: filepath.Join(home.Dir.State(), "apply"), Prepare: home.Dir.Prepare, Ignores: &gitrepo.UserIgnores{}}
	if home.Err != nil {
		options.StateDir = "" // then only what needs no journal is atomic
	}
	var err error
	if w.Disk, err = workspace.OpenDisk(folders, options); err != nil {
		return err
	}
	w.watch = watch.NewLazy(w.Disk)
	if c.o.Resident {
		w.texts = textindex.New(w.Disk, w.watch.Subscribe, textindex.Options{})
	}
	w.Live = w.Disk
	if c.o.User.OpenDocuments != nil {
		w.Live = c.o.User.OpenDocuments(w.Disk)
	}
	w.tree = &pendingedits.Tree{Base: w.Live, Names: pendingedits.NamesOf(folders)}
	w.shadows = shadow.NewOpen(home.Shadows, w.Live)
	w.commits = batchcommit.New(string(home.Dir), &repos.Repos{Options: gitrepo.Options{Trusted: c.Settings.Trusted, Programs: c.Settings.Programs()}, Shadow: home.Shadows.Top}, w.Disk, home.recorder().Committed)
	mode, _ := c.Settings.Mode(c.o.Mode)
	use := c.o.Queue == QueueAlways || c.o.Queue == QueueByMode && (mode.ToStore || home.Dir.HasQueue())
	if home.Queue != nil || home.Err != nil || !use {
		return nil //nolint:nilerr // without its directory, there is no queue
	}
	report, err := w.Disk.Recover(ctx) // finishes an interrupted accept
	if err != nil {
		w.Problems.Add("an interrupted change of files could not be finished: " + err.Error())
	}
	w.Problems.Add(report.Words()...)
	home.openQueue(w.tree, w.Live, w.commits, func(text string) {
		if w.Problems.Add(text) {
			c.o.Log.Warn("review", "problem", text)
		}
	})
	return nil
}

// openProcesses readies what starts other programs: commands, language servers.
func (w *Workspace) openProcesses(folders []workspace.Folder) {
	c := w.Client
	for _, f := range folders {
		mask.Sweep(f.Dir)
	}
	if w.Home.Err == nil {
		w.Problems.Add(confine.Leftovers(w.Home.Dir)...)
	}
	w.repos = &repos.Repos{Options: gitrepo.Options{Trusted: c.Settings.Trusted, Programs: c.Settings.Programs()}, Shadow: w.Home.Shadows.Top}
	var finder secrets.Finder
	w.values = secrets.NewValues(w.Disk, &finder, c.Hide, c.Settings.SensitiveOK)
	w.Confiner = confine.New(confine.Options{
		Program: c.o.Program, Programs: c.Settings.Programs(), Root: folders[0].Dir, Folders: workspace.Dirs(folders), Home: w.Home.Dir, NoHome: w.Home.Err,
		Settings: c.Settings, Secrets: &finder, Repos: w.repos, Sessions: c.Sessions, Watch: w.watch, Files: w.pending, Review: w.review(), Recorder: w.Home.recorder(), Log: c.o.Log, Warn: c.Warn,
	})
	w.Servers = langserver.New(langserver.Options{
		Start: w.Confiner.LanguageServer, Look: w.Confiner.Look,
		Settings: func() langserver.Settings { return langserver.SettingsOf(c.Settings.Now()) },
		Disk:     langserver.OnDisk{Watch: w.watch, Texts: w.texts},
		Log:      c.o.Log,
	})
}

// openIndexes readies what is known of the files, and what watches over edits.
func (w *Workspace) openIndexes() {
	c := w.Client
	w.Index = indexing.New(indexing.Options{
		Watch: w.watch, Parsers: c.Parsers, Repos: w.repos.Options, Home: w.Home.Dir, Settings: c.Settings, Hide: c.Hide, Log: c.o.Log,
		Resident: c.o.Resident, Changed: c.o.User.IndexChanged,
	})
	if c.o.Resident && w.Home.Queue != nil {
		w.Checker = precheck.New(precheck.Options{
			Live: w.Live, Queue: w.Home.Queue, Servers: w.Servers, Sessions: c.Sessions, Settings: c.Settings, Hide: c.Hide,
			EditWait: c.o.EditWait, Changed: c.o.User.QueueChanged,
		})
	}
}

// openTools makes the tools and what runs them.
func (w *Workspace) openTools(before *Workspace) error {
	c := w.Client
	w.Skills = skills.New(skills.Options{More: func() []skills.Place { return w.Extensions.Skills() }, Settings: c.Settings, Clean: c.Hide, Files: w.Live, Watch: w.watch})
	w.Registry = tools.NewRegistry(tools.RegistryOptions{
		Kits: w.Skills.KitTools,
		Away: func(name string) *tools.Error { return w.Sources.Away(name) },
		Warn: func(text string) { c.o.Log.Warn(text) },
		Changed: func([]string) {
			c.Bus.Publish(events.Event{Type: events.ToolsChanged, ToolSet: &events.ToolSet{Activated: []string{}}})
		},
	})
	if c.o.Resident {
		w.Sources = w.newSources()
	}
	w.Extensions = extend.New(extend.Options{
		Settings: c.Settings, Folders: workspace.Dirs(w.Disk.Folders()), Starter: w.Confiner, Shell: w.shellDeps(), Registry: w.Registry,
		Bus: c.Bus, Audit: w.Home.Audit, Hide: c.Hide, Log: c.o.Log, Warn: c.Warn, Resident: c.o.Resident, Servers: w.Sources.Again,
	})
	options := dispatch.Options{
		Hooks: w.Extensions, Registry: w.Registry, Sessions: c.Sessions, Approver: c.o.User.Approver, Bus: c.Bus, Audit: w.Home.Audit, Log: c.o.Log,
		Redact: c.Hide, Settings: c.Settings.Dispatch, Views: w.views, Secrets: w.values, Confined: w.Confiner,
	}
	options.Team, _ = c.o.User.Team.(dispatch.Team)
	if before != nil {
		options.After = before.Dispatch
	}
	if w.Checker != nil {
		options.Check = w.Checker.Edit
	}
	w.Dispatch = dispatch.New(options)
	return w.Registry.Register(tools.Builtin, w.builtins()...)
}

// newSources has the MCP servers; none is started before it is told to look at
// the settings.
func (w *Workspace) newSources() *source.Manager {
	c := w.Client
	warn := c.o.User.Warn
	if warn == nil {
		warn = func(text string) { c.o.Log.Warn(text) }
	}
	return source.New(source.Options{
		Config: source.FromSettings{Settings: c.Settings, Folders: w.Disk.Folders(), Hide: c.Hide, More: func() []source.Server { return w.Extensions.MCPServers() }},
		Start:  w.Confiner.MCPServer,
		HTTP:   http.DefaultTransport,
		People: c.o.User.People, Models: c.Backends(), Review: w.review(),
		Memory: source.NewUserMemory(), Programs: c.Settings.Programs(), Registry: w.Registry, Version: version.String(), Log: c.o.Log,
		Clean: func(text string) (string, []string) { return c.Hide.Defuse(redact.Sanitize(text)), c.Hide.Signs(text) },
		Warn:  func(text string) { warn(c.Hide.Shown(text)) },
	})
}

// review is where what no session in particular did is decided about.
func (w *Workspace) review() dispatch.Later { return func() *dispatch.Dispatcher { return w.Dispatch } }

// pending are the files with what is pending.
func (w *Workspace) pending() workspace.Files {
	if w.Home.Queue == nil {
		return w.Live
	}
	return w.Home.Queue.For(pendingedits.Proposer{Session: session.Default})
}

// views are the views of a session.
func (w *Workspace) views(s *session.Session) dispatch.Destinations {
	if s.Shadow == "" {
		return sessionview.MainTree{Files: w.Live, Tree: w.tree, Queue: w.Home.Queue, NoQueue: w.Home.QueueErr, Commits: w.commits}
	}
	files, err := w.shadows.View(context.Background(), s.Shadow, s.Root)
	if err != nil {
		files = workspace.Gone(tools.Errorf(tools.Unavailable, "the shadow workspace %s can't be used any more (%v); work in another session", s.Shadow, err))
	}
	return sessionview.ShadowTree{Files: files, Materialize: func(ctx context.Context) error { return w.Home.Shadows.Materialize(ctx, s.Shadow) }}
}

// ShadowsForPeople are the shadow workspaces as people work with them.
func (w *Workspace) ShadowsForPeople() shadowsetup.Shadows {
	return shadowsetup.Shadows{
		ForPeople: shadow.ForPeople{Manager: w.Home.Shadows, Open: w.shadows, Live: w.Live, Review: w.reviewOfMerge},
		Settings:  shadowsetup.Settings{Settings: w.Client.Settings, Dir: string(w.Home.Dir)},
		Gate:      w.Dispatch, Sessions: w.Client.Sessions, Leave: confine.Commands{Confiner: w.Confiner}.Leave,
	}
}

// reviewOfMerge is where a person's merge is held for review.
func (w *Workspace) reviewOfMerge() (workspace.View, error) {
	if w.Home.Queue == nil {
		return nil, tools.Errorf(tools.Unavailable, "the review queue can't take the changes: %v; merge into the tree, or open the queue", w.Home.QueueErr)
	}
	return w.Home.Queue.For(pendingedits.Proposer{Session: session.Default, Tool: "shadow merge", Batch: w.Client.Batch(session.Default)}), nil
}

// Close ends the client that has the workspace open, and all that it has.
func (w *Workspace) Close() error { return w.Client.Close() }

// close ends what no other workspace takes over.
func (w *Workspace) close() error {
	w.Checker.Close()
	if w.Servers != nil {
		w.Servers.Close()
	}
	w.Extensions.Close()
	if w.Sources != nil {
		w.Sources.Close()
	}
	w.Confiner.Close()
	if w.values != nil {
		w.values.Close()
	}
	if w.texts != nil {
		w.texts.Close()
	}
	var err error
	if w.Index != nil {
		err = w.Index.Close()
	}
	if w.Disk != nil {
		w.shadows.Close()
		err = errors.Join(err, w.watch.Close(), w.Disk.Close())
	}
	return err
}

// importEdits moves the pending edits of files that are still there out of the
// queue of a folder that is not.
func (w *Workspace) importEdits(ctx context.Context, before *Workspace) error {
	if w.Home.Queue == nil || before.Home.Queue == nil {
		return nil
	}
	return w.Home.Queue.TakeFolders(ctx, before.Home.Queue, w.Disk.Folders(), before.Disk.Folders())
}

// undoImport takes over the edits that a folder has kept since it was the first
// one.
func (w *Workspace) undoImport(ctx context.Context) {
	left := w.Client.left
	if w.Home.Queue == nil || len(left) == 0 {
		return
	}
	w.Client.left = nil
	for _, dir := range left {
		back, err := w.Home.Queue.TakeBack(ctx, w.Live, w.Disk.Folders(), dir, statedir.Dir(dir))
		if err != nil {
			w.Problems.Add("the pending edits of " + dir + " come back when it is the first folder again: " + err.Error())
		}
		if !back {
			w.Client.left = append(w.Client.left, dir)
		}
	}
}
