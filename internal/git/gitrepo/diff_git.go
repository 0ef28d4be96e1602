package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// diffByGit is Diff by the git command, for what is not read in process: why
// says what that is.
func diffByGit(ctx context.Context, git *gitcmd.Git, o DiffOptions, why error) (*Diff, error) {
	c := gitcmd.Invocation{Op: "patch", Args: []string{"--raw", "-z"}}
	if o.Staged {
		c.Args = append(c.Args, "--cached")
	}
	for _, rev := range []string{o.From, o.To} {
		if rev == "" {
			continue
		}
		if err := CheckRevision(rev); err != nil {
			return nil, err
		}
		hash, err := git.Run(ctx, gitcmd.Invocation{Op: "resolve", Args: []string{rev + "^{commit}"}})
		var exit *gitcmd.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("%w: %q", ErrNoSuchRev, rev)
		}
		if err != nil {
			return nil, insteadOf(git, why, err)
		}
		c.Args = append(c.Args, strings.TrimSpace(string(hash)))
	}
	if o.Path != "" && o.Path != "." {
		c.Paths = []string{o.Path}
	}
	raw, err := git.Run(ctx, c)
	if err != nil {
		return nil, insteadOf(git, why, err)
	}
	d, err := parseDiff(string(raw))
	if err != nil {
		return nil, err
	}
	c.Args[0], c.Args[1] = "--patch", "--abbrev=10"
	text, err := git.Run(ctx, c)
	if err != nil {
		return nil, insteadOf(git, why, err)
	}
	if err := d.addPatch(string(text), o.Hidden); err != nil {
		return nil, err
	}
	if o.From == "" && !o.Staged {
		o.Staged = true
		staged, err := git.Run(ctx, gitcmd.Invocation{Op: "patch", Args: []string{"--raw", "-z", "--cached"}, Paths: c.Paths})
		if err != nil {
			return nil, insteadOf(git, why, err)
		}
		list, err := parseDiff(string(staged))
		if err != nil {
			return nil, err
		}
		d.Staged = len(list.Files)
	}
	return d, nil
}

// parseDiff reads what git diff --raw -z prints.
func parseDiff(out string) (*Diff, error) {
	d := &Diff{}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		words := strings.Fields(fields[i])
		if len(words) != 5 || !strings.HasPrefix(words[0], ":") {
			return nil, fmt.Errorf("git diff printed %q", gitcmd.Shown(fields[i]))
		}
		f := FileDiff{Code: words[4][0], Path: fields[i+1]}
		switch f.Code {
		case 'U':
			if n := len(d.Conflict); n == 0 || d.Conflict[n-1] != f.Path {
				d.Conflict = append(d.Conflict, f.Path)
			}
			continue
		case 'R', 'C':
			if i+2 == len(fields) {
				return nil, fmt.Errorf("git diff printed %q", gitcmd.Shown(fields[i]))
			}
			f.From, f.Path = f.Path, fields[i+2]
			i++
		}
		d.Files = append(d.Files, f)
	}
	return d, nil
}

// addPatch gives each file its part of a patch. A change of the type has two.
func (d *Diff) addPatch(patch string, hidden func(string) bool) error {
	const start = "diff --git "
	parts := strings.Split("\n"+patch, "\n"+start)[1:]
	size := 0
	for i := range d.Files {
		f := &d.Files[i]
		n := 1
		if f.Code == 'T' {
			n = 2
		}
		if len(parts) < n {
			return fmt.Errorf("git diff printed no patch of %s", gitcmd.Shown(f.Path))
		}
		f.Hidden = hidden != nil && (hidden(f.Path) || f.From != "" && hidden(f.From))
		for _, part := range parts[:n] {
			part = start + strings.TrimSuffix(part, "\n") + "\n"
			added, removed := countLines(part)
			f.Added, f.Removed = f.Added+added, f.Removed+removed
			f.Binary = f.Binary || strings.Contains(part, "\nBinary files ")
			if f.Hidden {
				part = withoutContent(part, f.Path)
			}
			f.Patch += part
		}
		parts = parts[n:]
		if size > maxPatch {
			f.Patch = ""
			d.Left++
		}
		size += len(f.Patch)
	}
	return nil
}

// withoutContent keeps the lines of a patch that say what happens to the file.
func withoutContent(part, path string) string {
	head := part
	for _, mark := range [...]string{"\n--- ", "\nBinary files "} {
		if at := strings.Index(head, mark); at >= 0 {
			head = head[:at+1]
		}
	}
	if head == part {
		return part
	}
	return head + "# " + path + ": " + notShown + "\n"
}
