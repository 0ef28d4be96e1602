package gitrepo

import (
	"context"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// StageRequest says what is staged.
type StageRequest struct {
	Paths   []string               // files and directories, relative to the top of the working tree; none: all changes
	Below   string                 // with no Paths, the directory whose changes are meant; "" is the whole working tree
	Allowed func(path string) bool // whether a file that may hold secrets may be staged although it is new
}

// StageResult is what was staged.
type StageResult struct {
	Files   []StagedFile `json:"files" jsonschema:"what was staged"`
	LeftOut []LeftOut    `json:"leftOut,omitempty" jsonschema:"what was not, and why"`
	Same    []string     `json:"unchanged,omitempty" jsonschema:"what was named and has no change that is not staged"`
	Notes   []string     `json:"-"`
}

// StagedFile is what was staged of a file.
type StagedFile struct {
	Path   string `json:"path" jsonschema:"file"`
	Change string `json:"change" jsonschema:"added, modified, deleted, type changed, resolved"`
}

// LeftOut is a change that was not staged.
type LeftOut struct {
	Path string `json:"path" jsonschema:"file"`
	Why  string `json:"why" jsonschema:"the reason"`
}

// Stage puts changes of the working tree into the index: all of them or, when
// one that was named can't be staged, none.
func (r *Repo) Stage(ctx context.Context, req StageRequest) (StageResult, error) {
	for _, p := range req.Paths {
		if p != "." && !gitfile.ValidName(p) {
			return StageResult{}, gitcmd.Failf(gitcmd.Protected, "%s belongs to the repository itself and can't be staged", gitcmd.Shown(p))
		}
	}
	paths := req.Paths
	if len(paths) == 0 && req.Below != "" && req.Below != "." {
		paths = []string{req.Below}
	}
	changes, err := changes(ctx, r.Git, paths)
	if err != nil {
		return StageResult{}, err
	}
	return r.stage(ctx, req, changes, func(files []change) error { return addToIndex(ctx, r.Git, files) })
}

// change is a file of the working tree that is not as the index has it.
type change struct {
	path string
	what string // as in StagedFile.Change, or ignored
}

// changes lists what could be staged at or below paths, and what of that is
// ignored.
func changes(ctx context.Context, git *gitcmd.Git, paths []string) ([]change, error) {
	out, err := git.Run(ctx, gitcmd.Invocation{Op: "status", Args: []string{"--ignored=matching"}, Paths: paths})
	if err != nil {
		return nil, git.Explain(err)
	}
	var list []change
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if c, ok := parseChange(entry); ok {
			list = append(list, c)
		}
	}
	return list, nil
}

// parseChange reads one entry of git status --porcelain=v2 -z --no-renames.
func parseChange(entry string) (change, bool) {
	kind, rest, _ := strings.Cut(entry, " ")
	switch kind {
	case "?":
		return change{rest, "added"}, true
	case "!":
		return change{rest, "ignored"}, true
	case "u":
		if f := strings.SplitN(rest, " ", 10); len(f) == 10 {
			return change{f[9], "resolved"}, true
		}
	case "1":
		f := strings.SplitN(rest, " ", 8)
		if len(f) < 8 || len(f[0]) != 2 {
			break
		}
		switch f[0][1] {
		case 'A':
			return change{f[7], "added"}, true
		case 'M':
			return change{f[7], "modified"}, true
		case 'D':
			return change{f[7], "deleted"}, true
		case 'T':
			return change{f[7], "type changed"}, true
		}
	}
	return change{}, false
}

// stage sorts changes into what is staged, by add, and what is not.
func (r *Repo) stage(ctx context.Context, req StageRequest, changes []change, add func([]change) error) (StageResult, error) {
	res := StageResult{Files: []StagedFile{}}
	blocked, err := filtered(ctx, r.Git, changes)
	if err != nil {
		return res, err
	}
	var files []change
	for _, c := range changes {
		why := reason(c, req, blocked)
		switch named := slices.Contains(req.Paths, strings.TrimSuffix(c.path, "/")); {
		case why == nil:
			files = append(files, c)
		case named:
			return res, why
		case c.what != "ignored":
			res.LeftOut = append(res.LeftOut, LeftOut{c.path, why.Text})
		}
	}
	for _, p := range req.Paths {
		if slices.ContainsFunc(changes, func(c change) bool { return holds(p, c.path) }) {
			continue
		}
		if !r.known(ctx, p) {
			return res, gitcmd.Failf(gitcmd.NotFound, "%s is neither a file nor known to git; the status shows what has changed", gitcmd.Shown(p))
		}
		res.Same = append(res.Same, p)
	}
	if len(files) > 0 {
		if err := add(files); err != nil {
			return res, err
		}
	}
	for _, c := range files {
		res.Files = append(res.Files, StagedFile{c.path, c.what})
	}
	return res, nil
}

// holds reports whether a path of git is p or below it.
func holds(p, of string) bool {
	return p == "." || strings.TrimSuffix(of, "/") == p || strings.HasPrefix(of, p+"/")
}

// reason says why a change is not staged, nil when it is.
func reason(c change, req StageRequest, blocked map[string]string) *gitcmd.Failure {
	switch {
	case c.what == "ignored":
		return gitcmd.Failf(gitcmd.Invalid, "%s is ignored by the rules of the repository, so it is not staged", gitcmd.Shown(c.path))
	case strings.HasSuffix(c.path, "/"):
		return gitcmd.Failf(gitcmd.Invalid, "%s is a repository of its own, so its files are not staged here", gitcmd.Shown(c.path))
	case c.what == "added" && workspace.Sensitive(c.path) && (req.Allowed == nil || !req.Allowed(c.path)):
		return gitcmd.Failf(gitcmd.Sensitive, "%s may hold secrets and is not in the repository yet, so it is not staged; the user can stage it, or allow it with sidecar.sensitive.allow", gitcmd.Shown(c.path))
	case blocked[c.path] != "":
		return gitcmd.Failf(gitcmd.Unavailable, "%s goes through the filter %s, which only the repository's own settings define; without it, what is staged would be damaged; %s", gitcmd.Shown(c.path), gitcmd.Shown(blocked[c.path]), gitcmd.OutsideHint)
	}
	return nil
}

// filtered finds the changes whose content would have to go through a filter
// that doesn't run.
func filtered(ctx context.Context, git *gitcmd.Git, changes []change) (map[string]string, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	conf, err := git.Settings(ctx)
	if err != nil {
		return nil, err
	}
	own := conf.OwnFilters()
	if len(own) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for _, c := range changes {
		if c.what != "deleted" {
			in.WriteString(c.path + "\x00")
		}
	}
	out, err := git.Run(ctx, gitcmd.Invocation{Op: "attributes", Args: []string{"filter"}, Stdin: []byte(in.String())})
	if err != nil {
		return nil, git.Explain(err)
	}
	blocked := map[string]string{}
	for f := range slices.Chunk(strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), 3) {
		if len(f) == 3 && slices.Contains(own, f[2]) {
			blocked[f[0]] = f[2]
		}
	}
	return blocked, nil
}

// known reports whether a path is in the index or in the working tree.
func (r *Repo) known(ctx context.Context, p string) bool {
	if gitfile.Exists(abs(r.Dir, p)) {
		return true
	}
	out, err := r.Git.Run(ctx, gitcmd.Invocation{Op: "list-files", Paths: []string{p}})
	return err == nil && len(out) > 0
}

// addToIndex stages files as they are in the working tree.
func addToIndex(ctx context.Context, git *gitcmd.Git, files []change, env ...string) error {
	var in strings.Builder
	for _, c := range files {
		in.WriteString(c.path + "\x00")
	}
	_, err := git.Run(ctx, gitcmd.Invocation{Op: "stage", Stdin: []byte(in.String()), Env: env})
	return git.Explain(err)
}
