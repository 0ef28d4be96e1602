package world

import (
	"bytes"
	"compress/zlib"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/object"
)

// Commands have a copy of the repository's index, references and new objects for
// themselves, in the upper layer. What they commit there is read as messages: the
// commits of the user's repository are made of what is accepted.

// maxCommits bounds the commits that one harvest reports.
const maxCommits = 50

// commits are the messages of those that commands made since the last harvest,
// the oldest first.
func (w *world) commits() (messages []string) {
	private := filepath.Join(w.upper(), ".git")
	if _, err := os.Lstat(private); err != nil {
		return nil
	}
	head := w.head()
	if head == "" || head == w.committed {
		return nil
	}
	until := []string{w.committed, headOf(filepath.Join(w.root, ".git"), filepath.Join(w.root, ".git"))}
	for at := head; at != "" && len(messages) < maxCommits && !slices.Contains(until, at); {
		parent, message, ok := readCommit(private, at)
		if !ok {
			break // it is the user's
		}
		messages = append(messages, message)
		at = parent
	}
	w.committed = head
	slices.Reverse(messages)
	return messages
}

// head is the commit that commands have checked out.
func (w *world) head() string {
	return headOf(filepath.Join(w.upper(), ".git"), filepath.Join(w.root, ".git"))
}

var hash = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// headOf is the commit of HEAD in the first of two git directories that has it;
// "" is none.
func headOf(first, second string) string {
	read := func(name string) string {
		for _, dir := range []string{first, second} {
			info, err := os.Lstat(filepath.Join(dir, name))
			if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
				continue
			}
			if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				return strings.TrimSpace(string(data))
			}
		}
		return ""
	}
	head := read("HEAD")
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		ref = ""
	}
	switch {
	case hash.MatchString(head):
		return head
	case !filepath.IsLocal(ref) || !strings.HasPrefix(ref, "refs/"):
		return ""
	}
	if id := read(ref); hash.MatchString(id) {
		return id
	}
	for line := range strings.Lines(read("packed-refs")) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref && hash.MatchString(id) {
			return id
		}
	}
	return ""
}

// maxCommit bounds what is read of a commit, in bytes.
const maxCommit = 1 << 20

// readCommit reads a commit that was made in a git directory.
func readCommit(dir, id string) (parent, message string, ok bool) {
	if !hash.MatchString(id) {
		return "", "", false
	}
	body, ok := looseCommit(dir, id)
	if !ok {
		body, ok = packedCommit(dir, id)
	}
	if !ok {
		return "", "", false
	}
	header, text, _ := strings.Cut(string(body), "\n\n")
	for line := range strings.Lines(header) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "parent "); ok && parent == "" {
			parent = id
		}
	}
	return parent, strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")), true
}

// looseCommit reads one that is a file of its own. Commands write the directory:
// no link leads out of it.
func looseCommit(dir, id string) ([]byte, bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	name := filepath.Join("objects", id[:2], id[2:])
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	z, err := zlib.NewReader(f)
	if err != nil {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(z, maxCommit))
	if err != nil || !bytes.HasPrefix(data, []byte("commit ")) {
		return nil, false
	}
	_, body, ok := bytes.Cut(data, []byte{0})
	return body, ok
}

// packedCommit reads one out of a pack that a command made, as git gc does.
func packedCommit(dir, id string) ([]byte, bool) {
	name, ok := object.ParseHash(id)
	if !ok {
		return nil, false
	}
	entries, err := os.ReadDir(filepath.Join(dir, "objects", "pack"))
	if err != nil || len(entries) == 0 || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !e.Type().IsRegular() }) {
		return nil, false // a link may lead to what the command can't read
	}
	for _, sub := range []string{"objects", filepath.Join("objects", "pack")} {
		if info, err := os.Lstat(filepath.Join(dir, sub)); err != nil || !info.IsDir() {
			return nil, false
		}
	}
	c, err := object.NewStoreAlone(dir).Commit(name)
	if err != nil || len(c.Raw) > maxCommit {
		return nil, false
	}
	return c.Raw, true
}
