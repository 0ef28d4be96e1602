package confine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/box/world"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// Commands starts the commands of the shell tools.
type Commands struct{ *Confiner }

// Home is the home that commands have in any tree of this project.
func (c Commands) Home(string) (string, error) { return c.home() }

// Offline reports whether commands in root have no network.
func (c Commands) Offline(root string) bool {
	level, err := c.Level()
	return err == nil && level > box.None && !base(c.o.Settings.Now(), root).Network
}

// Isolate starts a program that reads and writes nothing of the workspace.
func (c Commands) Isolate(ctx context.Context, r shell.Run) (shell.Process, error) {
	if c.o.Program == "" {
		return nil, errNoProgram
	}
	cmd, err := c.box.Command(ctx, box.Spec{
		Root: r.Root, Env: box.Environ(os.Environ()), Mode: box.Require,
		Limits: box.Limits{FileSize: 64 << 20, Processes: 64, Memory: 1 << 30},
	}, r.Dir, r.Argv...)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = r.Stdout, r.Stderr
	return &process{Cmd: cmd}, cmd.Start()
}

// Start starts a command, confined as the settings say.
func (c Commands) Start(ctx context.Context, r shell.Run) (shell.Process, error) {
	return start(ctx, c, r, r.Unasked)
}

// start has the command in its session's own home, or in the project's; of the latter it
// has the directories of shared in any case.
func start(ctx context.Context, c Commands, r shell.Run, own bool, shared ...homeDir) (shell.Process, error) {
	if c.o.Program == "" {
		return nil, errNoProgram
	}
	local := localhostOf(c.Confiner, r.Session)
	list, unseen, err := specs(ctx, c.Confiner, foldersOf(c.Confiner, &r)...)
	if err != nil {
		return nil, err
	}
	spec, beside := list[0], list[1:]
	spec.HomeVariable = shell.HomeVariable
	spec.ReadOnly = append(spec.ReadOnly, r.Readable...)
	if r.Own {
		program, readable := installation(r.Argv[0])
		r.Argv, spec.ReadOnly = append([]string{program}, r.Argv[1:]...), append(spec.ReadOnly, readable...)
	}
	if r.LookOnly {
		spec.LookOnly, spec.Writable = true, nil
	}
	var past []string // directories with what git remembers of secrets
	hides := r.Unasked || r.Looks == tools.LooksFiles || r.Looks == tools.LooksClean
	level, err := c.Level()
	if err == nil && level.Hides() && (hides || r.Looks != "") {
		past, _ = c.pasts.secrets(ctx, level, &spec.Spec)
		for i := range beside {
			dirs, _ := c.pasts.secrets(ctx, level, &beside[i].Spec)
			past = append(past, dirs...)
		}
	}
	spends := payer(c.Confiner, r.Session)
	if r.Unasked {
		if err := stillComplete(ctx, c.Confiner, r); err != nil {
			return nil, err
		}
		// Several may have been decided on at once, before one of them had begun.
		if r.Stays && !c.spending.reserve(spends) {
			return nil, &box.RefusedError{Why: fmt.Sprintf("nobody was asked about it, and %d commands run in the background; end one, or run it again, and a person is asked", c.spending.may.background)}
		}
	}
	metered := false
	defer func() {
		if r.Unasked && r.Stays && !metered {
			c.spending.release(spends)
		}
	}()
	if own {
		if err := haveOwnHome(c.Confiner, &spec, r.Session, append(stateOf(r.Session), shared...)...); err != nil {
			return nil, err
		}
	}
	sees := append([]Spec{spec}, beside...)
	var pinned []string
	if r.Looks == tools.LooksHistory && len(past) > 0 && level >= box.Bubblewrap {
		pinned = pinnedGit(ctx, c.o.Repos, r)
	}
	run, why, err := c.enter(&spec, &r)
	if err != nil {
		return nil, err
	}
	if r.Unasked && run == nil {
		return nil, &box.RefusedError{Why: "nobody was asked about it, and it would change the disk: " + why}
	}
	p := &process{why: why}
	if run != nil {
		p.runs = []*world.Run{run}
		others, more := enterBeside(c.Confiner, &spec, beside, &r, run.Kind())
		p.runs, unseen = append(p.runs, others...), append(unseen, more...)
		for _, text := range unseen {
			p.note += "; " + text
		}
	}
	if hides {
		spec.withoutPast(past)
	}
	if level >= box.Bubblewrap && (r.Looks == tools.LooksHistory || r.Looks == tools.LooksClean) {
		spec.Env = fixedPath(c.o.Settings.Now(), spec.Env, r.Root)
		spec.Env = append(append(spec.Env, inEnv(spec.git)...), pinned...)
	}
	if r.Frozen {
		spec.Env = fixedPath(c.o.Settings.Now(), spec.Env, r.Root)
	}
	wait := followAfter
	if r.Stays {
		wait = 0
	}
	local.give(&spec)
	ports, portsNote := portsFor(c.Confiner, r.Session)
	spec.Env = append(append(spec.Env, ports...), r.Env...)
	p.moved = c.movedTips(ctx, r, sees)
	p.note += portsNote
	for i := range sees {
		root := sees[i].Root
		p.note += trackedNote(c.Confiner, r.Session, root, sees[i].Sealed)
		if text := borrowedNote(ctx, c.o.Repos, level, &spec, root); text != "" {
			if _, reported := c.reportedBorrowed.LoadOrStore(r.Session+"\x00"+root, true); !reported {
				p.note += text
			}
		}
	}
	if at := spec.Root; p.kind() == world.SeparateCopy {
		p.finish, p.loose = rename(&r, at, run.Outside(at)), loose(c.Confiner)
	}
	if p.Cmd, err = c.Command(ctx, spec, r.Dir, r.Argv...); err == nil {
		p.Stdin, p.Stdout, p.Stderr = r.Stdin, r.Stdout, r.Stderr
		err = p.reaching(c.exits, local, r.Line)
	}
	if err != nil {
		_, _ = p.End(false)
		return nil, err
	}
	c.ports.Runs(p.Done())
	if run != nil {
		p.follow = time.AfterFunc(wait, c.follow)
	}
	if metered = r.Unasked; metered {
		p.meter = follow(c.Confiner, r, spends, p.Cmd, func() []string { return opened(context.WithoutCancel(ctx), c.Confiner, sees, past) })
	}
	return p, nil
}

// pinnedGit has git take the repository that the disk has where a line begins, and none that
// a command made, whose settings run what it likes.
func pinnedGit(ctx context.Context, repos Repos, r shell.Run) []string {
	dir := r.Dir
	for ; dir != r.Root && box.Within(dir, r.Root); dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
	}
	repo, err := repos.Open(ctx, dir)
	if err != nil {
		return []string{"GIT_DIR=" + os.DevNull}
	}
	return []string{"GIT_DIR=" + repo.GitDir, "GIT_WORK_TREE=" + repo.Dir}
}

// fixedPath has a command find no program that commands made: in their home, in the workspace
// or among temporary files.
func fixedPath(set *config.Settings, env []string, root string) []string {
	env, dirs := slices.Clone(env), visible(set, root)
	for i, v := range env {
		path, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		env[i] = "PATH=" + strings.Join(slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
			real, err := filepath.EvalSymlinks(dir)
			return err != nil || !slices.ContainsFunc(dirs, func(in string) bool { return box.Within(real, in) })
		}), string(filepath.ListSeparator))
	}
	return env
}

// followAfter is how long a command runs before what changes on the disk is forwarded
// to it: most are over by then, and watching the disk is not for nothing.
const followAfter = 500 * time.Millisecond

// process is a command in its world, with notes for its result.
type process struct {
	*sandbox.Cmd
	runs []*world.Run // of the folder that it began in, and of others; none: it sees the disk
	why  string
	note string

	hosts  func() []string // the sentences about hosts that it did not reach; nil: it reaches none
	meter  *meter          // nil: a person was asked about it
	moved  func() []string // says which references it moved to what nobody would check out unasked
	loose  bool            // nothing keeps it from writing the workspace
	finish func()          // writes the end of what it printed; nil: it is written
	follow *time.Timer     // begins to forward what changes on the disk; nil: nothing is
}

// Words implements shell.Process, as do its neighbours.
func (p *process) Words() string {
	words := p.Cmd.Words() + p.meter.words() + p.note
	if p.hosts != nil {
		words += reachedWords(p.hosts())
	}
	switch p.kind() {
	case world.Copy:
		words += "; in a copy of the workspace"
	case world.SeparateCopy:
		if p.loose {
			words += "; in a copy of the workspace at another path: what names a file of the workspace by its absolute path reads and changes the disk, past the review"
		} else {
			words += "; in a copy of the workspace at another path: what names a file of the workspace by its absolute path reads the disk, and can't write it"
		}
	case "":
		if p.why != "" {
			words += "; it saw the disk, not what is pending or unsaved (" + p.why + ")"
		}
	}
	return words
}

// World says in a word what the command sees.
func (p *process) World() string {
	if len(p.runs) == 0 {
		return worldDisk
	}
	return p.kind().Word()
}

// kind is the kind of its worlds; "" where it sees the disk.
func (p *process) kind() world.Kind {
	if len(p.runs) == 0 {
		return ""
	}
	return p.runs[0].Kind()
}

// Wait implements shell.Process.
func (p *process) Wait() error {
	err := p.Cmd.Wait()
	if p.finish != nil {
		p.finish()
	}
	return err
}

// Outside is the path of the workspace that the command knows as path.
func (p *process) Outside(path string) string {
	if len(p.runs) == 0 {
		return path
	}
	return p.runs[0].Outside(path)
}

// Changed is what commands of the session changed since it was asked last.
func (p *process) Changed() (shell.Changed, error) {
	if len(p.runs) == 0 {
		return shell.Changed{}, nil
	}
	h, err := gathered(p.runs, (*world.Run).Collect)
	return shell.Changed(h), err
}

// End leaves the world.
func (p *process) End(take bool) (shell.Changed, error) {
	if len(p.runs) == 0 {
		return p.withMoved(shell.Changed{}), nil
	}
	if p.follow != nil {
		p.follow.Stop()
	}
	h, err := gathered(p.runs, func(r *world.Run) (world.Collected, error) { return r.End(take) })
	return p.withMoved(shell.Changed(h)), err
}

// GiveUp leaves the world of a command that was cut off.
func (p *process) GiveUp() shell.Changed {
	if len(p.runs) == 0 {
		return p.withMoved(shell.Changed{})
	}
	if p.follow != nil {
		p.follow.Stop()
	}
	h, _ := gathered(p.runs, func(r *world.Run) (world.Collected, error) { return world.Collected{Said: r.GiveUp()}, nil })
	return p.withMoved(shell.Changed(h))
}

// withMoved says besides which references were moved.
func (p *process) withMoved(ch shell.Changed) shell.Changed {
	if p.moved != nil {
		ch.Said = append(ch.Said, p.moved()...)
	}
	return ch
}

// movedTips begins to look at the references of the repositories that a command has for
// real; nil: there are none.
func (c Commands) movedTips(ctx context.Context, r shell.Run, sees []Spec) func() []string {
	if r.Held || r.LookOnly {
		return nil
	}
	var moved []func() []string
	for i := range sees {
		repo, err := c.o.Repos.Open(ctx, sees[i].Root)
		if err != nil {
			continue
		}
		if before, err := repo.Tips(); err == nil {
			moved = append(moved, func() []string { return repo.MovedTips(context.WithoutCancel(ctx), before) })
		}
	}
	return func() (said []string) {
		for _, f := range moved {
			said = append(said, f()...)
		}
		return said
	}
}
