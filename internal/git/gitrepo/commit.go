package gitrepo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

var errNothingStaged = gitcmd.Failf(gitcmd.Conflicted, "nothing is staged, so there is nothing to commit; stage changes first")

// NothingStaged reports whether a commit failed because there is nothing to commit.
func NothingStaged(err error) bool { return errors.Is(err, errNothingStaged) }

// Commit commits what is staged, with a trailer for each of models. below is
// the directory of the repository that the workspace is, "" for all of it:
// what is staged outside is not for the caller to commit. nil hooks: none is run.
func (r *Repo) Commit(ctx context.Context, message string, models []string, below string, hooks Hooks) (CommitResult, error) {
	message, err := CheckMessage(message)
	if err != nil {
		return CommitResult{}, err
	}
	message = withModels(message, models)
	if err := noConflicts(ctx, r.Git); err != nil {
		return CommitResult{}, err
	}
	staged, err := r.stagedByGit(ctx, "")
	if err != nil {
		return CommitResult{}, err
	}
	if len(staged) == 0 && !gitfile.Exists(filepath.Join(r.GitDir, "MERGE_HEAD")) {
		return CommitResult{}, errNothingStaged
	}
	if err := allBelow(staged, below); err != nil {
		return CommitResult{}, err
	}
	m := r.moment("commit", hooks)
	if message, err = beforeCommit(ctx, m, message); err != nil {
		return CommitResult{}, err
	}
	res, err := r.commitIndex(ctx, message, "", nil)
	if err != nil {
		return res, err
	}
	m.after(context.WithoutCancel(ctx), "post-commit")
	res.Notes = append(res.Notes, m.said(ctx)...)
	return res, nil
}

// beforeCommit runs the hooks that come before a commit, and returns the message as
// they leave it.
func beforeCommit(ctx context.Context, m *moment, message string) (string, error) {
	list, err := m.there(ctx, "pre-commit", "prepare-commit-msg", "commit-msg")
	if err != nil {
		return "", err
	}
	for i := range list {
		list[i].Args = map[string][]string{"prepare-commit-msg": {MessageFile, "message"}, "commit-msg": {MessageFile}}[list[i].Name]
	}
	end, failed, err := m.run(ctx, HookRun{Hooks: list, Message: &message})
	switch {
	case err != nil:
		return "", err
	case failed != nil:
		return "", gitcmd.Failf(gitcmd.Failed, "the commit was refused, so it was not made: %v", failed)
	case end.Restage:
		return "", gitcmd.Failf(gitcmd.Conflicted, "a hook changed files and staged them, which waits for review; nothing was committed: once the user has accepted the changes, stage them and commit again")
	case len(m.ran) == 0:
		return message, nil
	}
	if message, err = CheckMessage(end.Message); err != nil {
		return "", gitcmd.Failf(gitcmd.Failed, "the commit was not made: of the message, the hooks have left none that can be used: %v", err)
	}
	return message, nil
}

// commitIndex commits an index: the repository's own, or the file given. No hook is
// run.
func (r *Repo) commitIndex(ctx context.Context, message, index string, merges []string) (CommitResult, error) {
	before, err := r.Head(ctx)
	if err != nil {
		return CommitResult{}, err
	}
	c := gitcmd.Invocation{Op: "commit", Stdin: []byte(message)}
	if index != "" {
		c.Env = []string{"GIT_INDEX_FILE=" + index}
	}
	if len(merges) > 0 {
		err = mergeIndex(ctx, r, before, message, index, merges)
	} else {
		_, err = r.Git.Run(ctx, c)
	}
	if err != nil {
		return CommitResult{}, r.refusedCommit(ctx, before, err)
	}
	hash, err := r.Head(ctx)
	if err != nil {
		return CommitResult{}, err
	}
	res, err := describeCommit(ctx, r.Git, hash)
	if err != nil {
		return res, err
	}
	if note := unsigned(ctx, r.Git); note != "" {
		res.Notes = append(res.Notes, note)
	}
	return res, nil
}

// refusedCommit says why there is no commit.
func (r *Repo) refusedCommit(ctx context.Context, before string, err error) error {
	var exit *gitcmd.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if after, headErr := r.Head(ctx); headErr == nil && after != before {
		return gitcmd.Failf(gitcmd.Failed, "the commit %s was made, and then git reported: %s", short(after), gitcmd.Brief(exit.Error()))
	}
	return r.Git.Explain(err)
}

// unsigned says why a commit was not signed although the settings ask for it,
// or "".
func unsigned(ctx context.Context, git *gitcmd.Git) string {
	conf, err := git.Settings(ctx)
	if err != nil {
		return ""
	}
	if key := git.StrangeSigner(conf); key != "" {
		return "the commit is not signed: the repository's own settings name the program that would sign (" + key + "); " + gitcmd.OutsideHint
	}
	return ""
}

// describeCommit is what a commit that was made has changed.
func describeCommit(ctx context.Context, git *gitcmd.Git, hash string) (CommitResult, error) {
	res := CommitResult{Hash: hash, Files: []CommittedFile{}}
	out, err := git.Run(ctx, gitcmd.Invocation{Op: "show-commit", Args: []string{hash}})
	if err != nil {
		return res, git.Explain(err)
	}
	parents, message, _ := strings.Cut(string(out), "\x00")
	res.Subject = subject(message)
	files, err := changedBy(ctx, git, hash, strings.Fields(parents))
	for _, f := range files {
		res.Files = append(res.Files, CommittedFile{Path: f.path, Change: f.what})
	}
	return res, err
}

// subject is the first line of a message, fit to be shown.
func subject(message string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n")
	return gitcmd.Shown(first)
}

func short(hash string) string { return hash[:min(len(hash), 10)] }

// changedBy lists what a commit changed against its first parent.
func changedBy(ctx context.Context, git *gitcmd.Git, hash string, parents []string) ([]entry, error) {
	args := []string{"--root", hash}
	if len(parents) > 0 {
		args = []string{parents[0], hash}
	}
	out, err := git.Run(ctx, gitcmd.Invocation{Op: "diff-tree", Args: args})
	if err != nil {
		return nil, git.Explain(err)
	}
	return parseRaw(string(out)), nil
}

// entry is a path that differs between two trees, or a tree and the index.
type entry struct {
	path             string
	what             string // added, modified, deleted, type changed, unmerged
	oldMode, newMode string
	oldHash, newHash string
}

var changeWords = map[byte]string{'A': "added", 'M': "modified", 'D': "deleted", 'T': "type changed", 'U': "unmerged"}

// parseRaw reads the output of diff-tree and diff-index with -z --raw.
func parseRaw(out string) []entry {
	var list []entry
	for f := range slices.Chunk(strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), 2) {
		head := strings.Fields(strings.TrimPrefix(f[0], ":"))
		if len(f) == 2 && len(head) == 5 {
			list = append(list, entry{path: f[1], what: changeWords[head[4][0]], oldMode: head[0], newMode: head[1], oldHash: head[2], newHash: head[3]})
		}
	}
	return list
}

// stagedByGit lists what an index (the repository's own for "") has that HEAD has
// not.
func (r *Repo) stagedByGit(ctx context.Context, index string) ([]entry, error) {
	base, err := r.headOrEmpty(ctx)
	if err != nil {
		return nil, err
	}
	c := gitcmd.Invocation{Op: "staged", Args: []string{base}}
	if index != "" {
		c.Env = []string{"GIT_INDEX_FILE=" + index}
	}
	out, err := r.Git.Run(ctx, c)
	if err != nil {
		return nil, r.Git.Explain(err)
	}
	return parseRaw(string(out)), nil
}

// The empty tree, which every repository has, in both kinds of names.
const (
	emptyTree    = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	emptyTree256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
)

func (r *Repo) headOrEmpty(ctx context.Context) (string, error) {
	head, err := r.Head(ctx)
	if err != nil || head != "" {
		return head, err
	}
	return writeEmptyTree(ctx, r.Git)
}

func writeEmptyTree(ctx context.Context, git *gitcmd.Git) (string, error) {
	conf, err := git.Settings(ctx)
	if err != nil {
		return "", err
	}
	if strings.EqualFold(conf.Value("extensions.objectformat"), "sha256") {
		return emptyTree256, nil
	}
	return emptyTree, nil
}

// Head is the hash of the commit that is checked out; "" when there is none
// yet.
func (r *Repo) Head(ctx context.Context) (string, error) {
	hash, err := resolveRev(ctx, r.Git, "HEAD^{commit}")
	if !errors.Is(err, gitcmd.ErrNoGit) {
		return hash, err
	}
	h, err := r.head()
	if err != nil || h.hash.IsZero() {
		return "", err
	}
	return h.hash.String(), nil
}

// resolveRev is the hash that a revision names, "" when it names none.
func resolveRev(ctx context.Context, git *gitcmd.Git, rev string) (string, error) {
	return resolveIn(ctx, git, rev)
}

func resolveIn(ctx context.Context, g *gitcmd.Git, rev string) (string, error) {
	out, err := g.Run(ctx, gitcmd.Invocation{Op: "resolve", Args: []string{rev}})
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.Code == 1 && exit.Stderr == "" {
		return "", nil
	}
	if err != nil {
		return "", g.Explain(err)
	}
	return strings.TrimSpace(string(out)), nil
}

// unmerged are the paths of the index that are in conflict.
func unmerged(ctx context.Context, g *gitcmd.Git) ([]string, error) {
	out, err := g.Run(ctx, gitcmd.Invocation{Op: "list-files", Args: []string{"--unmerged"}})
	if err != nil {
		return nil, g.Explain(err)
	}
	return stagedPaths(string(out)), nil
}

// noConflicts fails while the index has paths in conflict.
func noConflicts(ctx context.Context, git *gitcmd.Git) error {
	paths, err := unmerged(ctx, git)
	if err == nil && len(paths) > 0 {
		err = inConflict(paths)
	}
	return err
}

func inConflict(paths []string) *gitcmd.Failure {
	return gitcmd.Failf(gitcmd.Conflicted, "these files are in conflict: %s; resolve them, then stage them", listed(paths))
}

// stagedPaths are the paths of ls-files --stage -z, each once.
func stagedPaths(out string) []string {
	var paths []string
	for line := range strings.SplitSeq(out, "\x00") {
		if _, path, ok := strings.Cut(line, "\t"); ok && !slices.Contains(paths[max(0, len(paths)-1):], path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// allBelow fails when something outside the workspace is staged.
func allBelow(staged []entry, below string) error {
	if below == "" || below == "." {
		return nil
	}
	var out []string
	for _, e := range staged {
		if !strings.HasPrefix(e.path, below+"/") {
			out = append(out, e.path)
		}
	}
	if len(out) > 0 {
		return gitcmd.Failf(gitcmd.Outside, "the repository is larger than the workspace, and changes outside of it are staged: %s; the user should commit or unstage them", listed(out))
	}
	return nil
}

// maxListed bounds how many names stand in a message.
const maxListed = 10

// listed writes names out for a message.
func listed(names []string) string {
	more := ""
	if len(names) > maxListed {
		more = ", …"
		names = names[:maxListed]
	}
	clean := make([]string, len(names))
	for i, n := range names {
		clean[i] = gitcmd.Shown(n)
	}
	return strings.Join(clean, ", ") + more
}

// abs is the path of a file in the operating system.
func abs(dir string, path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }

// busy names the operation that the repository is in the middle of, or "".
func busy(gitDir string) string {
	for _, b := range [...]struct{ file, what string }{
		{"MERGE_HEAD", "a merge"}, {"CHERRY_PICK_HEAD", "a cherry-pick"}, {"REVERT_HEAD", "a revert"},
		{"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase"},
	} {
		if _, err := os.Lstat(filepath.Join(gitDir, b.file)); err == nil {
			return b.what
		}
	}
	return ""
}
