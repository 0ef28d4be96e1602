package world

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// maxObject bounds what is read of a commit or a directory, in bytes.
const maxObject = 16 << 20

// commit is what is read of a commit.
type commit struct {
	tree, parent, message string
	parents               []string
}

// readCommit reads a commit that was made in a git directory.
func readCommit(dir, id string) (c commit, ok bool) {
	body, ok := madeObject(dir, id, "commit", maxObject)
	if !ok {
		return c, false
	}
	header, text, _ := strings.Cut(string(body), "\n\n")
	for line := range strings.Lines(header) {
		word, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case word == "tree" && c.tree == "":
			c.tree = value
		case word == "parent":
			c.parent = cmp.Or(c.parent, value)
			c.parents = append(c.parents, value)
		}
	}
	c.message = shownMessage(text)
	return c, true
}

// madeObject reads an object that was made in a git directory, in which commands
// write: no link and no alternate leads out of it.
func madeObject(dir, id, kind string, most int64) ([]byte, bool) {
	if !hash.MatchString(id) {
		return nil, false
	}
	body, ok := looseObject(dir, id, kind, most)
	if !ok {
		body, ok = packedObject(dir, id, kind, most)
	}
	if !ok || !isNamed(id, kind, body) {
		return nil, false
	}
	return body, true
}

// isNamed reports whether an object's hash is its name. A command can store any bytes under
// a name: a tree that contains itself, or a blob that differs from the repository's.
func isNamed(id, kind string, body []byte) bool {
	sum := sha1.New()
	if len(id) > 2*sha1.Size {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "%s %d\x00", kind, len(body))
	sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil)) == id
}

// looseObject reads one that is a file of its own.
func looseObject(dir, id, kind string, most int64) ([]byte, bool) {
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
	data, err := io.ReadAll(io.LimitReader(z, most+1))
	if err != nil || int64(len(data)) > most || !bytes.HasPrefix(data, []byte(kind+" ")) {
		return nil, false
	}
	_, body, ok := bytes.Cut(data, []byte{0})
	return body, ok
}

// packedObject reads one out of a pack that a command made, as git gc does.
func packedObject(dir, id, kind string, most int64) ([]byte, bool) {
	for _, sub := range []string{"objects", filepath.Join("objects", "pack")} {
		if info, err := os.Lstat(filepath.Join(dir, sub)); err != nil || !info.IsDir() {
			return nil, false
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "objects", "pack"))
	if err != nil || len(entries) == 0 || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !e.Type().IsRegular() }) {
		return nil, false // a link may lead to what the command can't read
	}
	return storedObject(object.NewStoreAlone(dir), id, kind, most)
}

func storedObject(s *object.Store, id, kind string, most int64) ([]byte, bool) {
	name, ok := object.ParseHash(id)
	if !ok {
		return nil, false
	}
	is, data, err := s.Read(name)
	if err != nil || is.String() != kind || int64(len(data)) > most {
		return nil, false
	}
	return data, true
}

// comparing finds what a commit changed. Its objects are those that commands made,
// and those of the folder's repository.
type comparing struct {
	made   string
	stored *object.Store
	prefix string
	files  []workspace.Change
	size   int64
	limits Limits
	read   map[string]map[string]treeEntry // directories that were read, by object; not all
	left   int                             // of the directories that are compared
	failed bool
}

// Bounds of what is compared: a few small objects can make a tree of more directories than
// anybody can walk through.
const (
	treesPerFile = 10   // directories, for each file that a harvest may have
	maxTreeDepth = 1000 // directories in one another
	keptTrees    = 1000 // that are read once
	keptEntries  = 1000 // in each of them
)

// committedFiles are what a commit changed; nil when that is not known: it is too
// much, or not in the usual form.
func (w *world) committedFiles(prefix string, c commit) []workspace.Change {
	k := compareIn(w, prefix)
	was, ok := k.treeOf(c.parent)
	if k.trees("", was, c.tree); !ok || k.failed {
		return nil
	}
	return k.files
}

// compareIn reads what commands made, and what the user's repository has.
func compareIn(w *world, prefix string) *comparing {
	return &comparing{
		made: privateOf(w), prefix: prefix, limits: w.o.Limits,
		stored: object.NewStore(repositoryOf(w).common, func() bool { return false }),
		read:   map[string]map[string]treeEntry{}, left: treesPerFile * w.o.Limits.Files,
	}
}

// treeOf is the tree of a commit; "" has none.
func (k *comparing) treeOf(commit string) (tree string, ok bool) {
	if commit == "" {
		return "", true
	}
	if c, ok := readCommit(k.made, commit); ok {
		return c.tree, true
	}
	body, ok := storedObject(k.stored, commit, "commit", maxObject)
	tree, isTree := strings.CutPrefix(string(body[:min(len(body), len("tree ")+40)]), "tree ")
	return tree, ok && isTree
}

func (k *comparing) object(id, kind string, most int64) []byte {
	data, ok := madeObject(k.made, id, kind, most)
	if !ok {
		data, ok = storedObject(k.stored, id, kind, most)
	}
	k.failed = k.failed || !ok
	return data
}

// treeEntry is what a directory has under a name: its mode, in octal, and object.
type treeEntry struct{ mode, id string }

func (e treeEntry) isDir() bool { return e.mode == "40000" }

// tree are the entries of a directory; "" is an empty one.
func (k *comparing) tree(id string) map[string]treeEntry {
	list := map[string]treeEntry{}
	if id == "" {
		return list
	}
	if was, ok := k.read[id]; ok {
		return was
	}
	data := k.object(id, "tree", maxObject)
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, named := strings.Cut(string(head), " ")
		if !ok || !named || len(rest) < 20 || !fs.ValidPath(name) || strings.Contains(name, "/") {
			k.failed = true
			return nil
		}
		list[name] = treeEntry{mode, hex.EncodeToString(rest[:20])}
		data = rest[20:]
	}
	if len(k.read) < keptTrees && len(list) <= keptEntries {
		k.read[id] = list
	}
	return list
}

// trees compares two directories.
func (k *comparing) trees(dir, was, now string) {
	if was == now || k.failed {
		return
	}
	if k.left--; k.left < 0 || strings.Count(dir, "/") > maxTreeDepth {
		k.failed = true
		return
	}
	before, after := k.tree(was), k.tree(now)
	names := map[string]bool{}
	for _, list := range []map[string]treeEntry{before, after} {
		for name := range list {
			names[name] = true
		}
	}
	for name := range names {
		old, e := before[name], after[name]
		if old == e || k.failed {
			continue
		}
		at := path.Join(dir, name)
		var oldDir, newDir string
		if old.isDir() {
			oldDir = old.id
		}
		if e.isDir() {
			newDir = e.id
		}
		k.trees(at, oldDir, newDir)
		switch {
		case e.mode != "" && !e.isDir():
			k.file(at, e)
		case old.mode != "" && !old.isDir():
			k.add(workspace.Change{Path: path.Join(k.prefix, at)})
		}
	}
}

func (k *comparing) file(at string, e treeEntry) {
	c := workspace.Change{Path: path.Join(k.prefix, at), Mode: 0o644}
	switch e.mode {
	case "100755":
		c.Mode = 0o755
	case "120000":
		c.Mode, c.AfterLink = 0, true
	case "160000":
		k.failed = true // a repository in it, of which only the commit is known
		return
	}
	c.After = nonNil(k.object(e.id, "blob", workspace.MaxFileSize))
	k.add(c)
}

func (k *comparing) add(c workspace.Change) {
	k.files, k.size = append(k.files, c), k.size+int64(len(c.After))
	k.failed = k.failed || len(k.files) > k.limits.Files || k.size > k.limits.Bytes
}

// maxMessage bounds a message that is taken over, in bytes.
const maxMessage = 64 << 10

// shownMessage is a commit's message as a person can read it, which is what is taken over:
// without control characters that a terminal or an editor would obey, and bounded.
func shownMessage(text string) string {
	cut := len(text) > maxMessage
	if cut {
		text = text[:maxMessage]
	}
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if text = strings.TrimSpace(text); cut {
		text += "\n[The rest of the message was too long.]"
	}
	return text
}
