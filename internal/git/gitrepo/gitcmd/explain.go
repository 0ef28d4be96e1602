package gitcmd

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// known are messages of git and what they mean to whoever called a tool. The
// first row that matches counts; %s in a text is git's own message.
var known = []struct {
	kind Kind
	says []string // one of them is in git's message
	text string
}{
	{Conflicted, []string{".lock': File exists"}, "the repository is locked by another git command; try again, and if none is running, the user should remove the lock: %s"},
	{Unavailable, []string{"No space left on device", "Out of diskspace", "Disk quota exceeded"}, "the disk is full: %s"},
	{Failed, []string{"bad signature 0x", "index file corrupt", "index file smaller than expected", "bad index file sha1 signature", "index uses", "unordered stage entries"}, "the index of the repository is damaged; the user can mend it with git (rm .git/index, git reset): %s"},
	{Failed, []string{"is corrupt", "object corrupt", "corrupt loose object", "inflate: data stream error", "unable to read tree", "could not parse object", "bad object", "invalid object"}, "an object of the repository is damaged or missing; git fsck tells more: %s"},
	{Unavailable, []string{"Please tell me who you are", "unable to auto-detect email", "auto-detection is disabled", "empty ident name", "no name was given", "no email was given"}, "git does not know who commits; the user should set user.name and user.email"},
	{Failed, []string{"gpg failed to sign", "failed to write commit object", "error: Load key", "Couldn't load public key"}, "the commit could not be signed, so it was not made: %s"},
	{Unavailable, []string{"Authentication failed", "could not read Username", "could not read Password", "terminal prompts disabled", "Permission denied (", "The requested URL returned error: 401", "The requested URL returned error: 403", "Host key verification failed"}, "the remote did not accept the credentials that git has, and nobody is asked for others; the user should set up a credential helper or a key: %s"},
	{Unavailable, []string{"Could not resolve host", "Failed to connect", "Couldn't connect", "Connection refused", "Connection timed out", "Network is unreachable", "No route to host", "unable to access", "Could not read from remote repository", "does not appear to be a git repository", "fatal: repository '", "early EOF", "the remote end hung up"}, "the remote could not be reached: %s"},
	{Exists, []string{"already exists"}, "a branch of that name already exists: %s"},
	{Conflicted, []string{"is not fully merged"}, "the branch has commits that are nowhere else, so it is not deleted; the user can delete it with git branch -D: %s"},
	{Conflicted, []string{"checked out at", "already used by worktree"}, "the branch is checked out in a working tree: %s"},
	{NotFound, []string{"invalid reference", "not found.", "is not a valid reference", "did not match any", "log for 'stash' only has", "No stash entries found"}, "there is no such branch or stash: %s"},
	{Conflicted, []string{"would be overwritten by", "Please commit your changes or stash them", "already exists, no checkout", "cannot switch branch while", "You have unstaged changes", "Your index contains uncommitted changes"}, "changes that are not committed are in the way, so nothing was done; commit or stash them first: %s"},
	{Diverged, []string{"Need to specify how to reconcile", "Not possible to fast-forward"}, "the branch and its upstream both have commits that the other has not"},
	{NoUpstream, []string{"There is no tracking information", "You asked to pull from the remote"}, "the branch has no upstream to pull from"},
	{Conflicted, []string{"you do not have the initial commit yet", "You do not have", "not a valid object name", "not a commit"}, "there is no commit yet; make one first: %s"},
	{Conflicted, []string{"couldn't find remote ref", "no such ref was fetched"}, "the remote does not have the upstream branch any more: %s"},
	{Failed, []string{"' not allowed"}, "only https, http, ssh and file remotes are used: %s"},
}

// Explain puts a failed run of git into words.
func (g *Git) Explain(err error) error {
	var exit *ExitError
	if !errors.As(err, &exit) {
		return err
	}
	for _, k := range known {
		for _, text := range k.says {
			if strings.Contains(exit.Stderr, text) {
				return &Failure{k.kind, strings.Replace(k.text, "%s", Brief(exit.Stderr), 1)}
			}
		}
	}
	if lock := filepath.Join(g.GitDir, "index.lock"); exit.Stderr == "" && gitfile.Exists(lock) { // as git stash push has it
		return &Failure{Conflicted, strings.Replace(known[0].text, "%s", lock, 1)}
	}
	return &Failure{Failed, "git " + exit.Op + ": " + Brief(exit.Error())}
}

// maxBrief bounds a message of git inside another one, in bytes.
const maxBrief = 2000

// Brief is a message without the words that git begins lines with.
func Brief(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		for _, prefix := range [...]string{"fatal: ", "error: ", "warning: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		lines[i] = line
	}
	text = strings.Join(lines, "\n")
	if len(text) > maxBrief {
		text = strings.ToValidUTF8(text[:maxBrief], "") + "…"
	}
	return text
}
