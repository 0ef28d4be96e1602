package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// ErrNothingToCommit says that the paths of a commit are as HEAD has them.
var ErrNothingToCommit error = gitcmd.Failf(gitcmd.Conflicted, "the files are as HEAD has them, so there is nothing to commit")

// CommitRequest is a commit of exactly some paths, whatever else is staged or
// changed.
type CommitRequest struct {
	Message string
	Models  []string // each is named in a trailer X-AI-Model
	Paths   []PathState
	Hooks   Hooks    // nil: none is run
	Merges  []string // its parents after the first one
	Staged  string   // for CommitMade, of a commit without Paths: what StagedTree said before it
}

// PathState is a path, relative to the top of the working tree, and what is
// committed of it.
type PathState struct {
	Path    string
	Data    []byte      // the text as it was in the working tree, unless Current
	Exists  bool        // false: the path is committed as deleted, unless Current
	Mode    fs.FileMode // of a file that is not Current; 0: as it was committed before, or 0644; fs.ModeSymlink: Data is the target of a link
	Current bool        // what the working tree has now is committed
}

// CommitResult is a commit that was made.
type CommitResult struct {
	Hash    string
	Subject string
	Files   []CommittedFile
	Notes   []string // what did not happen as it would have in a terminal, in sentences
}

// CommittedFile is what a commit did to a file.
type CommittedFile struct {
	Path   string `json:"path" jsonschema:"file"`
	Change string `json:"change" jsonschema:"added, modified, deleted, type changed"`
}

// CommitPaths commits exactly the paths of req on top of HEAD. What else is
// staged stays staged, because the commit is made from an index of its own.
// Afterwards the repository's index has the paths as they were committed; one
// of which something else was staged keeps that, unless it is Current.
func (r *Repo) CommitPaths(ctx context.Context, req CommitRequest) (CommitResult, error) {
	message, err := CheckMessage(req.Message)
	if err != nil {
		return CommitResult{}, err
	}
	message = withModels(message, req.Models)
	if len(req.Paths) == 0 {
		return CommitResult{}, gitcmd.Failf(gitcmd.Invalid, "the commit names no files")
	}
	if err := committable(ctx, r); err != nil {
		return CommitResult{}, err
	}
	before, err := r.Head(ctx)
	if err != nil {
		return CommitResult{}, err
	}
	dir, err := os.MkdirTemp("", "commit-")
	if err != nil {
		return CommitResult{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	index := filepath.Join(dir, "index")
	if err := r.prepare(ctx, index, req.Paths); err != nil {
		return CommitResult{}, err
	}
	m := r.moment("commit", req.Hooks)
	m.index = index
	if message, err = beforeCommit(ctx, m, message); err != nil {
		return CommitResult{}, err
	}
	res, err := r.commitIndex(ctx, message, index, req.Merges)
	if err != nil {
		return res, err
	}
	m.after(context.WithoutCancel(ctx), "post-commit")
	res.Notes = append(res.Notes, m.said(ctx)...)
	if err := settleCommit(ctx, r.Git, before, res.Hash, req.Paths); err != nil {
		res.Notes = append(res.Notes, "the commit is made, but the index could not be brought up to it ("+err.Error()+"); stage the files of the commit again")
	}
	return res, nil
}

// committable fails where no part of what is changed can be committed.
func committable(ctx context.Context, r *Repo) error {
	if what := busy(r.GitDir); what != "" {
		return gitcmd.Failf(gitcmd.Conflicted, "%s is in progress, and no part of it can be committed; finish or abort it first", what)
	}
	if err := noConflicts(ctx, r.Git); err != nil {
		return err
	}
	if lock := filepath.Join(r.GitDir, "index.lock"); gitfile.Exists(lock) {
		return r.Git.Explain(&gitcmd.ExitError{Op: "commit", Code: 128, Stderr: fmt.Sprintf("fatal: Unable to create '%s.lock': File exists.", filepath.Join(r.GitDir, "index"))})
	}
	return nil
}

// prepare writes the index of a commit: that of the repository, for its stat
// data, with what is staged taken back and then the paths put in.
func (r *Repo) prepare(ctx context.Context, index string, paths []PathState) error {
	env := "GIT_INDEX_FILE=" + index
	err := copyIndex(index, filepath.Join(r.GitDir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		_, err = r.Git.Run(ctx, gitcmd.Invocation{Op: "read-tree", Args: []string{"--empty"}, Env: []string{env}})
	}
	if err != nil {
		return r.Git.Explain(err)
	}
	staged, err := r.stagedByGit(ctx, index)
	if err != nil {
		return err
	}
	var info strings.Builder
	for _, e := range staged {
		info.WriteString(indexLine(e.oldMode, e.oldHash, e.path))
	}
	if err := indexInfo(ctx, r.Git, info.String(), env); err != nil {
		return err
	}
	info.Reset()
	var current []change
	for _, p := range paths {
		if p.Current {
			current = append(current, change{path: p.Path, what: "modified"})
			continue
		}
		line, err := r.stateLine(ctx, p)
		if err != nil {
			return err
		}
		info.WriteString(line)
	}
	if err := indexInfo(ctx, r.Git, info.String(), env); err != nil {
		return err
	}
	if len(current) > 0 {
		blocked, err := filtered(ctx, r.Git, current)
		if err != nil {
			return err
		}
		for _, c := range current {
			if why := reason(c, StageRequest{}, blocked); why != nil {
				return why
			}
		}
		if err := addToIndex(ctx, r.Git, current, env); err != nil {
			return err
		}
	}
	staged, err = r.stagedByGit(ctx, index)
	if err != nil {
		return err
	}
	if len(staged) == 0 {
		return ErrNothingToCommit
	}
	return nil
}

// copyIndex copies an index with its time, by which git tells the files that
// may have changed in the moment after it was written.
func copyIndex(to, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// indexLine is a line for git update-index --index-info. The mode 0 takes a
// path out.
func indexLine(mode, hash, path string) string {
	if strings.Trim(mode, "0") == "" {
		return fmt.Sprintf("0 %s 0\t%s\x00", strings.Repeat("0", max(len(hash), 40)), path)
	}
	return fmt.Sprintf("%s %s 0\t%s\x00", mode, hash, path)
}

func indexInfo(ctx context.Context, git *gitcmd.Git, info, env string) error {
	if info == "" {
		return nil
	}
	c := gitcmd.Invocation{Op: "index-info", Stdin: []byte(info)}
	if env != "" {
		c.Env = []string{env}
	}
	_, err := git.Run(ctx, c)
	return git.Explain(err)
}

// stateLine stores a file's text as git would store the file, and returns the
// line of the index for it.
func (r *Repo) stateLine(ctx context.Context, p PathState) (string, error) {
	if !p.Exists {
		return indexLine("0", "", p.Path), nil
	}
	if p.Mode&fs.ModeSymlink != 0 {
		out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "hash-object", Args: []string{"--no-filters"}, Stdin: p.Data})
		return indexLine("120000", strings.TrimSpace(string(out)), p.Path), r.Git.Explain(err)
	}
	blocked, err := filtered(ctx, r.Git, []change{{path: p.Path, what: "modified"}})
	if err != nil {
		return "", err
	}
	if why := reason(change{path: p.Path, what: "modified"}, StageRequest{}, blocked); why != nil {
		return "", why
	}
	mode, err := stateMode(ctx, r.Git, p)
	if err != nil {
		return "", err
	}
	out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "hash-object", Args: []string{"--path=" + p.Path}, Stdin: append([]byte{}, p.Data...)})
	if err != nil {
		return "", r.Git.Explain(err)
	}
	return indexLine(mode, strings.TrimSpace(string(out)), p.Path), nil
}

// stateMode is the mode that a file is committed with.
func stateMode(ctx context.Context, git *gitcmd.Git, p PathState) (string, error) {
	before, err := committed(ctx, git, "HEAD", []string{p.Path})
	if err != nil {
		return "", err
	}
	switch old := before[p.Path].newMode; {
	case old == "160000", p.Mode == 0 && old != "" && !strings.HasPrefix(old, "100"):
		return "", gitcmd.Failf(gitcmd.Invalid, "%s is a link or a submodule in HEAD, so no text can be committed there", gitcmd.Shown(p.Path))
	case p.Mode == 0 && old != "":
		return old, nil
	case p.Mode&0o111 != 0:
		return "100755", nil
	}
	return "100644", nil
}

// committed is what a commit has at the paths; those that it has not are
// missing.
func committed(ctx context.Context, git *gitcmd.Git, rev string, paths []string) (map[string]entry, error) {
	if head, err := resolveRev(ctx, git, rev+"^{commit}"); err != nil || head == "" {
		return nil, err
	}
	out, err := git.Run(ctx, gitcmd.Invocation{Op: "list-tree", Args: []string{rev}, Paths: paths})
	if err != nil {
		return nil, git.Explain(err)
	}
	return parseStage(string(out)), nil
}

// parseStage reads lines mode type hash or mode hash stage, a tab and a path.
func parseStage(out string) map[string]entry {
	list := map[string]entry{}
	for line := range strings.SplitSeq(out, "\x00") {
		head, path, ok := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if !ok || len(f) < 3 {
			continue
		}
		hash := f[2]
		if len(f[2]) == 1 {
			hash = f[1]
		}
		list[path] = entry{path: path, newMode: f[0], newHash: hash}
	}
	return list
}

// settleCommit brings the repository's index up to a commit of paths that was made
// on top of before.
func settleCommit(ctx context.Context, git *gitcmd.Git, before, made string, paths []PathState) error {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = p.Path
	}
	var old map[string]entry
	var err error
	if before != "" {
		if old, err = committed(ctx, git, before, names); err != nil {
			return err
		}
	}
	now, err := committed(ctx, git, made, names)
	if err != nil {
		return err
	}
	out, err := git.Run(ctx, gitcmd.Invocation{Op: "list-files", Args: []string{"--stage"}, Paths: names})
	if err != nil {
		return git.Explain(err)
	}
	index := parseStage(string(out))
	var info strings.Builder
	for _, p := range paths {
		has, want := index[p.Path], now[p.Path]
		if has == want || !p.Current && has != old[p.Path] {
			continue
		}
		info.WriteString(indexLine(want.newMode, want.newHash, p.Path))
	}
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		err := indexInfo(ctx, git, info.String(), "")
		var f *gitcmd.Failure
		if err == nil || !errors.As(err, &f) || f.Kind != gitcmd.Conflicted || wait > time.Second {
			return err
		}
		select { // somebody else has the index; git itself doesn't wait for it
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// StagedTree writes what the index holds as a tree, and returns its name.
func (r *Repo) StagedTree(ctx context.Context) (string, error) {
	out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "write-tree"})
	return strings.TrimSpace(string(out)), r.Git.Explain(err)
}

// namedFiles returns the paths that req commits.
func namedFiles(ctx context.Context, git *gitcmd.Git, since string, req CommitRequest) (map[string]bool, error) {
	names := map[string]bool{}
	for _, p := range req.Paths {
		names[p.Path] = true
	}
	if len(req.Paths) > 0 || req.Staged == "" {
		return names, nil
	}
	if since == "" {
		var err error
		if since, err = writeEmptyTree(ctx, git); err != nil {
			return nil, err
		}
	}
	staged, err := changedBy(ctx, git, req.Staged, []string{since})
	for _, e := range staged {
		names[e.path] = true
	}
	return names, err
}

// CommitMade tells whether the commit of req was made on top of since, for
// whoever does not know any more how far CommitPaths came. When it was, the
// index is brought up to it.
func (r *Repo) CommitMade(ctx context.Context, since string, req CommitRequest) (hash string, ok bool, err error) {
	message, err := CheckMessage(req.Message)
	if err != nil {
		return "", false, err
	}
	head, err := r.Head(ctx)
	if err != nil || head == "" || head == since {
		return "", false, err
	}
	made, err := nextCommit(ctx, r.Git, since)
	if err != nil || made == "" {
		return "", false, err
	}
	res, err := describeCommit(ctx, r.Git, made)
	if err != nil || res.Subject != subject(message) {
		return "", false, err
	}
	names, err := namedFiles(ctx, r.Git, since, req)
	if err != nil {
		return "", false, err
	}
	for _, f := range res.Files {
		if !names[f.Path] {
			return "", false, nil
		}
	}
	if made == head && len(req.Paths) > 0 {
		err = settleCommit(ctx, r.Git, since, made, req.Paths)
	}
	return made, true, err
}

// nextCommit is the commit that followed since on the way to HEAD, "" when since is
// not on it.
func nextCommit(ctx context.Context, git *gitcmd.Git, since string) (string, error) {
	args := []string{"--parents", "--first-parent", "HEAD"}
	if since != "" {
		args = append(args, "^"+since)
	}
	out, err := git.Run(ctx, gitcmd.Invocation{Op: "list-commits", Args: args})
	if err != nil {
		return "", git.Explain(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	oldest := strings.Fields(lines[len(lines)-1])
	switch {
	case len(oldest) == 1 && since == "":
		return oldest[0], nil
	case len(oldest) > 1 && oldest[1] == since:
		return oldest[0], nil
	}
	return "", nil
}
