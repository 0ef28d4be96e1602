package confine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// GitHooks runs the hooks of a repository for one call, as a command of the call's
// session: what they write is taken over as what a command writes.
type GitHooks struct {
	c       Commands
	call    *tools.Call
	root    string // "": the top of the working tree
	leave   bool   // nobody takes over what they write; the next command of the session brings it
	changes []workspace.Change
	said    []string
}

// GitHooks are those for a call in a root of the workspace.
func (c Commands) GitHooks(call *tools.Call, root string) *GitHooks {
	return &GitHooks{c: c, call: call, root: root}
}

// HooksOver are those for commits that a person has accepted, over what the files are
// by then, in the world of a session.
func (c Commands) HooksOver(session string, files workspace.Files) gitrepo.Hooks {
	return &GitHooks{c: c, call: &tools.Call{Session: session, Files: files, Held: true}, leave: true}
}

// Changes are the changes of files that hooks made, one for each file.
func (g *GitHooks) Changes() []workspace.Change { return g.changes }

// Said are sentences about what they changed and is not taken over.
func (g *GitHooks) Said() []string { return g.said }

// exchange is where the files of a run of hooks are, below the home of commands, and
// what they are called there.
const (
	exchangeDir  = ".sidecar-git"
	messageFile  = "message"
	indexFile    = "index"
	atFile       = "at" // names the hook that runs
	maxExchanged = 256 << 20
)

// Run implements gitrepo.Hooks.
func (g *GitHooks) Run(ctx context.Context, r gitrepo.HookRun) (end gitrepo.HookEnd, err error) {
	level, err := g.c.Level()
	if err != nil || level == box.None || g.c.Confiner == nil || g.c.o.Program == "" || runtime.GOOS == "windows" {
		return end, gitrepo.ErrNoSandbox
	}
	home, err := g.c.home()
	if err != nil {
		return end, err
	}
	dir, err := os.OpenRoot(home)
	if err != nil {
		return end, err
	}
	defer dir.Close()
	name := rand.Text()
	at := path.Join(exchangeDir, name)
	if err := dir.MkdirAll(at, 0o700); err != nil {
		return end, err
	}
	defer func() { _ = dir.RemoveAll(at) }()
	var before []byte
	if before, err = os.ReadFile(r.Index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return end, err
	}
	if r.Message != nil {
		if err := dir.WriteFile(path.Join(at, messageFile), []byte(*r.Message), 0o600); err != nil {
			return end, err
		}
	}
	if g.call.Held { // what is staged is the user's; they get a copy
		if err := dir.WriteFile(path.Join(at, indexFile), before, 0o600); err != nil {
			return end, err
		}
	}
	var said lastWords
	run := shell.Run{
		Session: g.call.Session, Root: cmp.Or(g.root, r.Dir), Dir: r.Dir, Files: g.call.Files, Held: g.call.Held,
		Argv:   []string{"/bin/sh", "-c", g.script(r, at)},
		Stdout: &said, Stderr: &said,
	}
	for _, h := range r.Hooks {
		if rel, err := filepath.Rel(r.Dir, h.Path); err != nil || !filepath.IsLocal(rel) { // the user's own, for all repositories
			run.Readable = append(run.Readable, filepath.Dir(h.Path))
		}
	}
	// Unasked commands may have changed the hooks of a held world, so these run like unasked commands.
	p, err := start(ctx, g.c, run, g.call.Held && level >= box.Bubblewrap, homeDir{exchangeDir, name})
	if err != nil {
		return end, fmt.Errorf("the hooks can't be run: %w", err)
	}
	failed := p.Wait()
	changed, err := p.End(!g.leave)
	if err != nil {
		return end, err
	}
	if !g.leave {
		changed.Tell(g.call)
		g.took(changed)
	}
	if err := ctx.Err(); err != nil {
		return end, err
	}
	end.Said = said.String()
	if failed != nil {
		name, _ := exchanged(dir, path.Join(at, atFile))
		if end.Failed = strings.TrimSpace(string(name)); end.Failed == "" {
			return end, fmt.Errorf("the hooks can't be run: %s", end.Said)
		}
	}
	if r.Message != nil {
		text, err := exchanged(dir, path.Join(at, messageFile))
		if err != nil {
			return end, err
		}
		end.Message = string(text)
	}
	if g.call.Held && end.Failed == "" {
		end.Restage, err = restaged(dir, path.Join(at, indexFile), before)
	}
	return end, err
}

// took notes what a run changed. What several runs changed of a file is one change.
func (g *GitHooks) took(changed shell.Changed) {
	g.said = append(g.said, changed.Said...)
next:
	for _, ch := range changed.Changes {
		for i, have := range g.changes {
			if have.Path == ch.Path && have.From == "" && ch.From == "" {
				ch.Before, ch.BeforeLink = have.Before, have.BeforeLink
				g.changes[i] = ch
				continue next
			}
		}
		g.changes = append(g.changes, ch)
	}
}

// exchanged reads a file that hooks may have written.
func exchanged(dir *os.Root, name string) ([]byte, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxExchanged {
		return nil, fmt.Errorf("%s: %w", path.Base(name), fs.ErrInvalid)
	}
	return dir.ReadFile(name)
}

// script is the line of shell that runs hooks one after the other. The names that git
// gives its own files are those in the world of the session.
func (g *GitHooks) script(r gitrepo.HookRun, at string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "x=\"$%s/%s\"; unset %s\n", shell.HomeVariable, at, shell.HomeVariable)
	b.WriteString("export GIT_EDITOR=: GIT_PAGER=cat\n")
	if g.call.Held {
		b.WriteString("export GIT_INDEX_FILE=\"$x/" + indexFile + "\"\n")
	} else {
		b.WriteString("GIT_INDEX_FILE=$(git rev-parse --git-path index) || exit\nexport GIT_INDEX_FILE\n")
	}
	if r.Message != nil {
		b.WriteString("m=$(git rev-parse --git-path COMMIT_EDITMSG) && cat \"$x/" + messageFile + "\" > \"$m\" || exit\n")
	}
	for _, h := range r.Hooks {
		words := []string{tools.ShellWord(h.Path)}
		if rel, err := filepath.Rel(r.Dir, h.Path); err == nil && filepath.IsLocal(rel) {
			words[0] = tools.ShellWord("./" + filepath.ToSlash(rel)) // where the working tree is a copy elsewhere
		}
		for _, a := range h.Args {
			if a == gitrepo.MessageFile {
				words = append(words, `"$m"`)
			} else {
				words = append(words, tools.ShellWord(a))
			}
		}
		input := "</dev/null"
		if h.Stdin != "" {
			input = "<<'__sidecar_end'\n" + strings.TrimSuffix(h.Stdin, "\n") + "\n__sidecar_end"
		}
		fmt.Fprintf(&b, "echo %s > \"$x/%s\"\n", tools.ShellWord(h.Name), atFile)
		fmt.Fprintf(&b, "%s %s\nc=$?; [ $c = 0 ] || exit $c\n", strings.Join(words, " "), input)
	}
	if r.Message != nil {
		b.WriteString("cat \"$m\" > \"$x/" + messageFile + "\"\n")
	}
	return b.String()
}

// restaged reports whether hooks changed what an index stages.
func restaged(dir *os.Root, name string, before []byte) (bool, error) {
	after, err := exchanged(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return len(before) > 0, nil
	}
	if err != nil || bytes.Equal(before, after) {
		return false, err
	}
	was, err := index.Staged(before)
	if err != nil {
		return true, nil //nolint:nilerr // it is not known, so nothing is committed of it
	}
	now, err := index.Staged(after)
	return err != nil || was != now, nil //nolint:nilerr // likewise
}
