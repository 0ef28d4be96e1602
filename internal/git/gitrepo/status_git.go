package gitrepo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// statusByGit is Status by the git command, for what is not read in process:
// why says what that is. What is inside submodules is not looked at then,
// because git would take settings from there.
func (r *Repo) statusByGit(ctx context.Context, o StatusOptions, why error) (*Status, error) {
	words := [...]string{UntrackedNormal: "normal", UntrackedAll: "all", UntrackedNone: "no"}
	untracked := o.Untracked
	if len(o.Over) > 0 && untracked == UntrackedNormal {
		untracked = UntrackedAll // a directory may be left with nothing in it
	}
	c := gitcmd.Invocation{Op: "status-lines", Args: []string{"--untracked-files=" + words[untracked]}}
	if o.Below != "" && o.Below != "." {
		c.Paths = []string{o.Below}
	}
	out, err := r.Git.Run(ctx, c)
	if err != nil {
		return nil, insteadOf(r.Git, why, err)
	}
	st, err := parseStatus(string(out))
	if err != nil {
		return nil, err
	}
	if !st.Branch.Unborn {
		st.Branch.Commit, err = r.Head(ctx)
	}
	if len(o.Over) > 0 && err == nil {
		err = r.statusOver(ctx, st, o, why)
	}
	return st, err
}

// insteadOf is the error of a run of git that was to do what the process can't.
func insteadOf(git *gitcmd.Git, why, err error) error {
	return fmt.Errorf("%w, and by the git command: %w", why, git.Explain(err))
}

// parseStatus reads what git status --porcelain=v1 --branch -z prints.
func parseStatus(out string) (*Status, error) {
	st := &Status{}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i < len(fields); i++ {
		line := fields[i]
		if len(line) < 4 || line[2] != ' ' {
			return nil, fmt.Errorf("git status printed %q", gitcmd.Shown(line))
		}
		path := line[3:]
		switch line[:2] {
		case "##":
			st.Branch = parseBranch(path)
			continue
		case "??":
			st.Untracked = append(st.Untracked, path)
			continue
		}
		f := FileStatus{Staged: line[0], Changed: line[1], Path: path}
		f.Conflict = slices.Contains(conflictCodes[1:], line[:2])
		if (f.Staged == 'R' || f.Staged == 'C' || f.Changed == 'R') && i+1 < len(fields) {
			i++
			f.From = fields[i]
		}
		st.Files = append(st.Files, f)
	}
	return st, nil
}

// parseBranch reads the line that Branch.String writes.
func parseBranch(line string) Branch {
	var b Branch
	line, b.Unborn = strings.CutPrefix(line, "No commits yet on ")
	if line == "HEAD (no branch)" {
		return b
	}
	name, rest, _ := strings.Cut(line, "...")
	b.Name = name
	b.Upstream, rest, _ = strings.Cut(rest, " [")
	for part := range strings.SplitSeq(strings.TrimSuffix(rest, "]"), ", ") {
		n := 0
		switch word, _, _ := strings.Cut(part, " "); word {
		case "gone":
			b.Gone = true
		case "ahead":
			_, _ = fmt.Sscanf(part, "ahead %d", &n) // git wrote it
			b.Ahead = n
		case "behind":
			_, _ = fmt.Sscanf(part, "behind %d", &n) // git wrote it
			b.Behind = n
		}
	}
	return b
}
