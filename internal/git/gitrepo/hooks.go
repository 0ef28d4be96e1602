package gitrepo

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// Hooks runs hooks where the programs of the session run that the operation is for: in
// its sandbox and its world. git itself, which runs outside, runs none.
type Hooks interface {
	// Run runs hooks one after the other until one fails. It fails with
	// ErrNoSandbox where nothing confines programs.
	Run(ctx context.Context, r HookRun) (HookEnd, error)
}

// HookRun are hooks of one moment.
type HookRun struct {
	Dir     string // top of the working tree
	Hooks   []Hook
	Index   string  // which they may change, if it is the repository's
	Message *string // of a commit, in the file that git makes for it
}

// Hook is one hook.
type Hook struct {
	Name, Path string
	Args       []string // MessageFile stands for the file of the message
	Stdin      string
}

// MessageFile is the argument that stands for the file of a message.
const MessageFile = "\x00message"

// HookEnd is what came of them.
type HookEnd struct {
	Failed  string // the name of one that failed, and ended it
	Said    string // what was printed, the end of it
	Message string // as they left it
	Restage bool   // they changed what is staged, in a copy that is not taken over
}

// ErrNoSandbox says that hooks did not run, because nothing would confine them.
var ErrNoSandbox error = gitcmd.Failf(gitcmd.Unavailable, "there is no sandbox for the hooks of the repository")

// moment is what happens to hooks in an operation.
type moment struct {
	of     *Repo
	hooks  Hooks
	index  string   // that they work on: a commit's own, or the repository's
	names  []string // of the hooks that git runs then
	ran    []string // names of hooks that were run, or need not be
	silent string   // why none is, "" when they are
	notes  []string
}

// moment begins an operation.
func (r *Repo) moment(op string, hooks Hooks) *moment {
	m := &moment{of: r, hooks: hooks, index: filepath.Join(r.GitDir, "index"), names: gitcmd.HooksOf(op)}
	switch {
	case !r.Git.Trusted():
		m.silent = gitcmd.TrustHint
	case hooks == nil:
		m.silent = "hooks run in the sandbox of a session, and this is done for none"
	}
	return m
}

// there are the hooks of these names that there are, in order.
func (m *moment) there(ctx context.Context, names ...string) ([]Hook, error) {
	conf, err := m.of.Git.Settings(ctx)
	if err != nil {
		return nil, err
	}
	dir, _ := m.of.Git.HooksDir(conf)
	var list []Hook
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			list = append(list, Hook{Name: name, Path: path})
		}
	}
	return list, nil
}

// run runs hooks of the moment. failed is the failure of one, which ends an operation
// that it comes before.
func (m *moment) run(ctx context.Context, r HookRun) (end HookEnd, failed, err error) {
	if len(r.Hooks) == 0 || m.silent != "" {
		return end, nil, nil
	}
	r.Dir, r.Index = m.of.Dir, m.index
	end, err = m.hooks.Run(ctx, r)
	if err == ErrNoSandbox { //nolint:errorlint // it is that, and comes from nowhere else
		m.silent = "nothing would confine them: there is no sandbox here, or the setting sidecar.sandbox.mode is off"
		return HookEnd{}, nil, nil
	}
	if err != nil {
		return end, nil, err
	}
	for _, h := range r.Hooks {
		m.ran = append(m.ran, h.Name)
	}
	if end.Failed != "" {
		said := end.Said
		if said == "" {
			said = "nothing"
		}
		failed = gitcmd.Failf(gitcmd.Failed, "the hook %s failed; it says: %s", end.Failed, gitcmd.Brief(gitcmd.CleanMessage(said)))
	}
	return end, failed, nil
}

// after runs a hook that comes when all is done. That it fails is a note.
func (m *moment) after(ctx context.Context, name string, args ...string) {
	list, err := m.there(ctx, name)
	if err == nil && len(list) > 0 {
		list[0].Args = args
		var failed error
		if _, failed, err = m.run(ctx, HookRun{Hooks: list}); failed != nil {
			err = failed
		}
	}
	if err != nil {
		m.notes = append(m.notes, "after it was done: "+err.Error())
	}
}

// said are the sentences about hooks: those that there are and that did not run.
func (m *moment) said(ctx context.Context) []string {
	list, err := m.there(ctx, m.names...)
	if err != nil {
		return m.notes
	}
	list = slices.DeleteFunc(list, func(h Hook) bool { return slices.Contains(m.ran, h.Name) })
	if len(list) == 0 {
		return m.notes
	}
	names := make([]string, len(list))
	for i, h := range list {
		names[i] = h.Name
	}
	what := "the hook " + names[0]
	if len(names) > 1 {
		what = "the hooks " + strings.Join(names, ", ")
	}
	why := m.silent
	if why == "" {
		why = "git runs it while it works, and here it works outside of the sandbox"
	}
	return append(m.notes, what+" did not run: "+why)
}
