package gitrepo

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// Errors of a revision. They say what to do about it.
var (
	ErrRevision  = errors.New("not a revision")
	ErrNoSuchRev = errors.New("no such revision")
	ErrNoCommit  = errors.New("there is no commit yet") // comes with ErrNoSuchRev
)

// CheckRevision fails with ErrRevision for what is not taken as a revision:
// nothing that git could read as an option, a range, a path or a search.
func CheckRevision(text string) error {
	bad := func(why string) error {
		return fmt.Errorf("%w: %.60q %s; give a branch, a tag, a commit's hash, or one of these with ~n or ^n", ErrRevision, text, why)
	}
	switch {
	case text == "":
		return bad("is empty")
	case len(text) > 250:
		return bad("is too long")
	case text[0] == '-':
		return bad("begins with a dash")
	case text[0] == '^', text[0] == '~':
		return bad("has no name before " + text[:1])
	case strings.Contains(text, ".."):
		return bad("holds ..")
	case strings.Contains(text, "@{"):
		return bad("holds @{")
	case strings.HasSuffix(text, ".lock"), strings.HasSuffix(text, "/"), strings.Contains(text, "//"), strings.Contains(text, "/."), text[0] == '.', text[0] == '/':
		return bad("can't be a name")
	}
	for _, c := range text {
		if c <= ' ' || c == 0x7f || strings.ContainsRune(`:?*[\{}"'`, c) {
			return bad(fmt.Sprintf("holds %q", c))
		}
	}
	return nil
}

// Resolve returns the commit that a revision names: HEAD or @, a branch, a
// tag, another ref, or a hash of at least four digits, followed by any ~n and
// ^n. It fails with ErrRevision or ErrNoSuchRev.
func (r *Repo) Resolve(text string) (plumbing.Hash, error) {
	if err := CheckRevision(text); err != nil {
		return plumbing.ZeroHash, err
	}
	if _, err := r.Readable(); err != nil {
		return plumbing.ZeroHash, err
	}
	end := strings.IndexAny(text, "~^")
	if end < 0 {
		end = len(text)
	}
	hash, err := r.resolveName(text[:end])
	if err != nil {
		return plumbing.ZeroHash, err
	}
	for steps := text[end:]; steps != ""; {
		digits := 1
		for digits < len(steps) && steps[digits] >= '0' && steps[digits] <= '9' {
			digits++
		}
		n := 1
		if digits > 1 {
			if n, err = strconv.Atoi(steps[1:digits]); err != nil || n > 1<<20 {
				return plumbing.ZeroHash, fmt.Errorf("%w: %q counts too far", ErrNoSuchRev, text)
			}
		}
		if hash, err = step(r.Objects, hash, steps[0], n, text); err != nil {
			return plumbing.ZeroHash, err
		}
		if steps = steps[digits:]; steps != "" && steps[0] != '~' && steps[0] != '^' {
			return plumbing.ZeroHash, fmt.Errorf("%w: %q", ErrRevision, text)
		}
	}
	return hash, nil
}

// step goes from a commit to its n-th ancestor (~) or its n-th parent (^).
func step(objects *object.Store, hash plumbing.Hash, op byte, n int, text string) (plumbing.Hash, error) {
	parent, times := 1, n
	if op == '^' {
		parent, times = n, min(n, 1)
	}
	for range times {
		c, err := objects.Commit(hash)
		if err != nil {
			return hash, err
		}
		if parent > len(c.Parents) {
			return hash, fmt.Errorf("%w: %q goes back further than the history", ErrNoSuchRev, text)
		}
		hash = c.Parents[parent-1]
	}
	return hash, nil
}

// resolveName returns the commit that a ref or a hash names. A ref comes
// before a hash unless that is whole, as with git.
func (r *Repo) resolveName(name string) (plumbing.Hash, error) {
	if hash, ok := object.ParseHash(name); ok {
		return commitAt(r.Objects, hash, name)
	}
	if name == "@" || name == "" {
		name = "HEAD"
	}
	for _, rule := range [...]string{"%s", "refs/%s", "refs/tags/%s", "refs/heads/%s", "refs/remotes/%s", "refs/remotes/%s/HEAD"} {
		full := fmt.Sprintf(rule, name)
		if !strings.HasPrefix(full, "refs/") && !specialRef(full) {
			continue
		}
		hash, err := refOf(r.storage, plumbing.ReferenceName(full))
		if err == nil {
			return commitAt(r.Objects, hash, name)
		}
		switch {
		case name != "HEAD":
		case errors.Is(err, plumbing.ErrReferenceNotFound):
			return hash, fmt.Errorf("%w: HEAD: %w", ErrNoSuchRev, ErrNoCommit)
		default:
			return hash, fmt.Errorf("HEAD: %w", err)
		}
	}
	found, err := r.Objects.CommitsWithPrefix(strings.ToLower(name))
	switch {
	case err != nil:
		return plumbing.ZeroHash, err
	case len(found) > 1:
		return plumbing.ZeroHash, fmt.Errorf("%w: %q is the beginning of %d hashes; give more of it", ErrNoSuchRev, name, len(found))
	case len(found) == 0:
		return plumbing.ZeroHash, fmt.Errorf("%w: %q", ErrNoSuchRev, name)
	}
	return found[0], nil
}

// specialRef reports whether a name can be that of a ref beside refs/: HEAD,
// ORIG_HEAD and others like it.
func specialRef(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'A' || c > 'Z') && c != '_' {
			return false
		}
	}
	return strings.HasSuffix(name, "HEAD")
}

func commitAt(objects *object.Store, hash plumbing.Hash, name string) (plumbing.Hash, error) {
	hash, err := objects.Peel(hash)
	if err == nil {
		_, err = objects.Commit(hash)
	}
	if errors.Is(err, object.ErrMissing) {
		err = fmt.Errorf("%w: %q; the repository does not have that commit", ErrNoSuchRev, name)
	}
	return hash, err
}
