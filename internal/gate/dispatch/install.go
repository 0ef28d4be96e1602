package dispatch

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/lockfile"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// install lists the packages that a command line would install, by the files that the session
// sees. The line is one command alone. It is a shell.Installs.
type install struct {
	words []string
	dir   string // where the command begins
	list  lockfile.List
	why   string // nothing of it can be relied on; "" also where it is no such install
}

// installOf reads the lock file that a line installs from; nil: there is none, or the command
// would not find the same.
func installOf(c *call, text string, l *shell.Line) *install {
	words, alone := l.Alone(text)
	if !alone || c.bound.Effects.Dir == nil || !c.tool.InWorld || c.req.own != nil || c.req.over != nil || c.req.RunBy != "" {
		return nil
	}
	i := &install{words: words, dir: c.bound.Effects.Dir(c.session.ID)}
	if i.dir == "" {
		return nil
	}
	at, err := c.see.Resolve(i.dir)
	if err != nil {
		return nil
	}
	above := strings.Count(at, "/") // directories between it and its folder
	if len(workspace.FoldersOf(c.see)) == 1 && at != "." {
		above++ // whose name is not in it
	}
	i.list, err = lockfile.Read(words, above, func(name string) ([]byte, error) { return readBeside(c, path.Join(at, name)) })
	switch {
	case errors.Is(err, lockfile.ErrOther):
		return nil
	case err != nil:
		i.why = err.Error()
	}
	return i
}

// readBeside reads a file as the session sees it. Of one that may hold secrets it says no more
// than whether it is there.
func readBeside(c *call, name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, workspace.ErrOutside
	}
	all := workspace.Files(c.dest.Live())
	if c.mode.SeesPending {
		all = c.dest.Pending(c.author(), c.mode.Batch)
	}
	switch info, err := all.Stat(name); {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, workspace.ErrSpecial
	case info.Size() > lockfile.MaxBytes:
		return nil, workspace.ErrTooLarge
	}
	return c.see.ReadFile(name)
}

// Digest implements shell.Installs.
func (i *install) Digest(words []string) string {
	if i == nil || !slices.Equal(words, i.words) {
		return ""
	}
	return i.list.Digest
}

// frozen returns the files that a call must find unchanged, if a rule allowed it by its packages; else nil.
func frozen(c *call) *tools.Frozen {
	if c.line == nil || c.line.install == nil || c.line.Packages == "" || c.res.Decision.Rule != "command.allow" || c.res.Decision.Outcome != string(policy.Allow) {
		return nil
	}
	i := c.line.install
	f := &tools.Frozen{Program: i.words[0], Dir: i.dir, Env: i.list.Env, Scratch: i.list.Scratch}
	for _, s := range i.list.Seen {
		f.Files = append(f.Files, tools.FrozenFile{Name: s.Name, Sum: s.Sum})
	}
	return f
}

// sameInstall asks again about an install whose lock file changed while a person was asked.
func sameInstall(ctx context.Context, c *call) error {
	for range 3 {
		if c.line == nil || c.line.install == nil || c.questions == 0 {
			return nil
		}
		was, now := c.line.install, readLine(ctx, c)
		if now.install != nil && now.install.list.Digest == was.list.Digest && now.install.why == was.why {
			return nil
		}
		c.line = now
		c.notes.add("The lock file changed while the user was asked, so the user was asked again.")
		if err := c.settle(ctx, c.decide(nil), nil); err != nil {
			return err
		}
	}
	return tools.Errorf(tools.Conflict, "the lock file changes while the user is asked about it; let it rest, and run this again")
}

// again decides once more about a call that a rule allowed by its packages, and that would find
// other files where it runs: as if there were no such rule.
func again(ctx context.Context, c *call) error {
	c.asUsual = true
	c.line = readLine(ctx, c)
	c.notes.add("The rule that allows this install did not hold where it runs, so it was decided on without it.")
	return c.settle(ctx, c.decide(nil), nil)
}

// shownLists are the lists of packages that a person was shown with a question, by their digests.
type shownLists struct {
	mu   sync.Mutex
	says map[string]string
	of   map[string]string // the last digest, by how its command begins
	last []string
}

// maxOffered bounds them.
const maxOffered = 200

func (o *shownLists) add(l lockfile.List) {
	o.mu.Lock()
	defer o.mu.Unlock()
	digest := l.Digest
	if o.of == nil {
		o.of = map[string]string{}
	}
	o.of[strings.Join(l.Words, " ")] = digest
	if _, ok := o.says[digest]; ok {
		return
	}
	if o.says == nil {
		o.says = map[string]string{}
	}
	if len(o.last) == maxOffered {
		delete(o.says, o.last[0])
		o.last = o.last[1:]
	}
	o.says[digest] = l.Says()
	o.last = append(o.last, digest)
}

// Offered describes a list of packages for which a question offered a rule; ok is false for
// other lists.
func (d *Dispatcher) Offered(digest string) (says string, ok bool) {
	d.lists.mu.Lock()
	defer d.lists.mu.Unlock()
	says, ok = d.lists.says[digest]
	return says, ok
}

// says is what a person who is asked reads of an install.
func (i *install) says() string {
	if i.why != "" {
		return "no rule can allow this install for good: " + i.why
	}
	return "it installs " + i.list.Says()
}

// LastOffered is the list of which a question offered a rule last, by how its command begins;
// "": none did.
func (d *Dispatcher) LastOffered(command string) (digest string) {
	d.lists.mu.Lock()
	defer d.lists.mu.Unlock()
	return d.lists.of[command]
}
