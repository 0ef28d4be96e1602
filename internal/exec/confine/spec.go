package confine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/box/world"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitguard"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
)

// Spec is what a child process may see and do, and what is looked after while it
// does.
type Spec struct {
	box.Spec
	areas []gitguard.Area
	git   gitSettings // the user's that commands know

	// gitDirs are those of Writable in which a repository is that the root is
	// another working tree of: elsewhere. linked is that, if the root is all of the tree.
	gitDirs   []string
	elsewhere *gitrepo.Repo
	linked    *world.Linked
}

// Spec makes the Spec of child processes in root. Nothing runs when not all is
// known that must be hidden.
func (c *Confiner) Spec(ctx context.Context, root string) (Spec, error) {
	list, _, err := specs(ctx, c, root)
	if len(list) == 0 {
		return Spec{}, err
	}
	return list[0], err
}

// specs are the Specs of processes in the first of roots that see the others, too: one for
// each folder. Of those others that can't be shown, unseen says why.
func specs(ctx context.Context, c *Confiner, roots ...string) (list []Spec, unseen []string, err error) {
	if why := c.o.Settings.Now().Locked(); why != "" {
		return nil, nil, errors.New(why)
	}
	home, err := c.home()
	if err != nil {
		return nil, nil, err
	}
	var git gitParts
	var repositories []string
	for _, root := range roots {
		spec, repo, err := specOf(ctx, c, root, home)
		if err != nil && len(list) > 0 {
			unseen = append(unseen, notSeen(root, err))
			continue
		}
		list = append(list, spec)
		if err != nil {
			return list, nil, err
		}
		git.repos, repositories = append(git.repos, repo), append(repositories, spec.Repositories...)
	}
	level, err := c.box.LevelFor(list[0].Mode)
	for i := range list {
		git.standIns = git.standIns || len(list[i].Sealed) > 0
		if err == nil {
			git.ignored = append(git.ignored, ignored(c, list[i].Root, git.repos[i], repositories, level)...)
		}
	}
	slices.Sort(git.ignored)
	git.ignored = slices.Compact(git.ignored)
	git.standIns = git.standIns || level >= box.Bubblewrap && c.copies()
	if list[0].git, err = writeGitConfig(home, git); err != nil {
		return list, unseen, err
	}
	return list, unseen, writeLogin(home)
}

// specOf is the Spec of one folder, but for git's settings; the repository is nil where there
// is none.
func specOf(ctx context.Context, c *Confiner, root, home string) (Spec, *gitrepo.Repo, error) {
	spec := Spec{Spec: base(c.o.Settings.Now(), root)}
	spec.Home = home
	repo, repoErr := c.o.Repos.Open(ctx, root)
	level, err := c.box.LevelFor(spec.Mode)
	if err == nil && level > box.None {
		hidden, err := c.surroundings(ctx, &spec.Spec)
		if refused := (*box.RefusedError)(nil); errors.As(err, &refused) {
			return spec, nil, refused
		}
		if err != nil {
			return spec, nil, fmt.Errorf("it is not known what must be hidden from a command: %w", err)
		}
		var tracked []string
		if repoErr == nil {
			tracked, hidden = c.tracked.split(repo, hidden)
		}
		_, own := ownState(spec.Root)
		if repoErr == nil {
			var ownTracked []string
			ownTracked, own = c.tracked.split(repo, own)
			tracked = append(tracked, ownTracked...)
		}
		spec.Hidden = append(spec.Hidden, own...)
		if err := hide(&spec.Spec, tracked, hidden); err != nil && level.Hides() {
			return spec, nil, err
		}
		if spec.areas, err = areasOf(&spec.Spec); err != nil {
			return spec, nil, err
		}
		if level >= box.Bubblewrap {
			c.share(&spec)
		}
	}
	if level >= box.Bubblewrap {
		spec.Env = withoutVCS(spec.Env, root)
	}
	if repoErr != nil {
		return spec, nil, nil //nolint:nilerr // there is none, or git says in the command why it can't be opened
	}
	if repo.CommonDir != filepath.Join(repo.Dir, ".git") {
		// A linked working tree has its repository elsewhere: commits, branches, tags and
		// stashes can be made there, but nothing that git runs or obeys is changed.
		spec.elsewhere = repo
		spec.ReadOnly = append(spec.ReadOnly, repo.CommonDir)
		spec.gitDirs = linkedDirs(repo)
		spec.Writable = append(spec.Writable, spec.gitDirs...)
		for _, dir := range spec.gitDirs {
			if spec.areas != nil && filepath.Base(dir) != "objects" { // of which git writes none by a name that is known
				spec.areas = append(spec.areas, gitguard.Area{Dir: dir})
			}
		}
		if real, err := filepath.EvalSymlinks(root); err == nil && real == repo.Dir {
			spec.linked = &world.Linked{Own: repo.GitDir, Common: repo.CommonDir, Settings: func(file string) ([]byte, error) { return gitconfig.Moved(file, repo.GitDir) }}
		}
	}
	return spec, repo, nil
}

// linkedDirs are the directories of a repository elsewhere that commands in a working
// tree of it change: the tree's own, objects, references and their logs.
func linkedDirs(repo *gitrepo.Repo) []string {
	dirs := []string{repo.GitDir}
	for _, name := range box.GitData {
		dir := filepath.Join(repo.CommonDir, name)
		if info, err := os.Lstat(dir); err == nil && info.IsDir() || errors.Is(err, fs.ErrNotExist) && name == logsDir {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// logsDir is one of box.GitData that a bare repository has none of until it needs one.
const logsDir = "logs"

// makeLogs has a command that changes a repository elsewhere find a place for its logs:
// without one git moves HEAD's log, and then not the branch.
func (s *Spec) makeLogs() {
	for _, dir := range s.gitDirs {
		if filepath.Base(dir) != logsDir || !slices.Contains(s.Writable, dir) {
			continue
		}
		if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			s.Writable = slices.DeleteFunc(slices.Clone(s.Writable), func(at string) bool { return at == dir })
		}
	}
}

// home is the home that child processes have.
func (c *Confiner) home() (string, error) {
	if c.o.NoHome != nil {
		return "", c.o.NoHome
	}
	return c.o.Home.CommandHome()
}

// Secrets lists the files in root that are hidden from commands, and those of
// them that git tracks. It fails when no command is run.
func (c *Confiner) Secrets(ctx context.Context, root string) (all, tracked []string, err error) {
	spec := base(c.o.Settings.Now(), root)
	if all, err = c.surroundings(ctx, &spec); err != nil {
		return nil, nil, fmt.Errorf("what is to be hidden from commands is not known, so none is run: %w", err)
	}
	rest := all
	if repo, err := c.o.Repos.Open(ctx, root); err == nil {
		tracked, rest = c.tracked.split(repo, all)
	}
	if err := hide(&spec, tracked, rest); err != nil {
		return nil, nil, fmt.Errorf("no command is run: %w", err)
	}
	return all, tracked, nil
}

// Try runs a command that does nothing in root, with what the settings say.
func Try(ctx context.Context, program string, programs *lookup.Finder, root string, set *config.Settings) error {
	s := newSandbox(program, programs, nil, nil)
	defer s.Close()
	argv, spec := []string{"true"}, base(set, root)
	if runtime.GOOS == "windows" { // which has no such program
		shell, err := shells.Find(programs, set.String("commands.shell"))
		if err != nil {
			return err
		}
		var env []string
		argv, env = shell.Line("exit 0")
		spec.Env = append(spec.Env, env...)
	}
	cmd, err := s.Command(ctx, spec, root, argv...)
	if err != nil {
		return err
	}
	return cmd.Run()
}
