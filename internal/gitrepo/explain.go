package gitrepo

import (
	"errors"
	"strings"
)

// known are messages of git and what they mean to whoever called a tool. The
// first row that matches counts; %s in a text is git's own message.
var known = []struct {
	kind Kind
	says []string // one of them is in git's message
	text string
}{
	{Conflicted, []string{".lock': File exists"}, "the repository is locked by another git command; try again, and if none is running, the user should remove the lock: %s"},
	{Unavailable, []string{"No space left on device", "Disk quota exceeded"}, "the disk is full: %s"},
	{Failed, []string{"bad signature 0x", "index file corrupt", "index file smaller than expected", "bad index file sha1 signature", "index uses", "unordered stage entries"}, "the index of the repository is damaged; the user can mend it with git (rm .git/index, git reset): %s"},
	{Failed, []string{"is corrupt", "object corrupt", "corrupt loose object", "inflate: data stream error", "unable to read tree", "could not parse object", "bad object", "invalid object"}, "an object of the repository is damaged or missing; git fsck tells more: %s"},
	{Unavailable, []string{"Please tell me who you are", "unable to auto-detect email", "auto-detection is disabled", "empty ident name", "no name was given", "no email was given"}, "git does not know who commits; the user should set user.name and user.email"},
	{Failed, []string{"gpg failed to sign", "failed to write commit object", "error: Load key", "Couldn't load public key"}, "the commit could not be signed, so it was not made: %s"},
	{Unavailable, []string{"Authentication failed", "could not read Username", "could not read Password", "terminal prompts disabled", "Permission denied (", "The requested URL returned error: 401", "The requested URL returned error: 403", "Host key verification failed"}, "the remote did not accept the credentials that git has, and nobody is asked for others; the user should set up a credential helper or a key: %s"},
	{Unavailable, []string{"Could not resolve host", "Failed to connect", "Couldn't connect", "Connection refused", "Connection timed out", "Network is unreachable", "No route to host", "unable to access", "Could not read from remote repository", "does not appear to be a git repository", "early EOF", "the remote end hung up"}, "the remote could not be reached: %s"},
	{Failed, []string{"' not allowed"}, "only https, http, ssh and file remotes are used: %s"},
}

// explain puts a failed run of git into words.
func (r *Repo) explain(err error) error {
	var exit *exitError
	if !errors.As(err, &exit) {
		return err
	}
	for _, k := range known {
		for _, text := range k.says {
			if strings.Contains(exit.stderr, text) {
				return &Failure{k.kind, strings.Replace(k.text, "%s", brief(exit.stderr), 1)}
			}
		}
	}
	return &Failure{Failed, "git " + exit.op + ": " + brief(exit.Error())}
}

// maxBrief bounds a message of git inside another one, in bytes.
const maxBrief = 2000

// brief is a message without the words that git begins lines with.
func brief(text string) string {
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
