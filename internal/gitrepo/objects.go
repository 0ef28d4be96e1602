package gitrepo

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// Objects are read by code of our own: go-git loads the whole table of a pack
// before it gives the first object, which takes longer than git takes for a
// whole log. Here a look-up reads the one in 256 of the table that can have it.

// errMissing says that there is no such object.
var errMissing = errors.New("there is no such object")

// maxObject bounds an object that is read into memory, in bytes.
const maxObject = workspace.MaxFileSize

// maxBases bounds what is kept of objects that others are deltas of, in bytes.
const maxBases = 24 << 20

// objects are the object directories of a repository. The zero value finds
// them when the first object is asked for.
type objects struct {
	mu    sync.Mutex // held while packs are looked for
	dirs  []string   // the repository's own, then its alternates
	packs []*pack    // those that were there at the last look; replaced, not changed
}

// object reads an object.
func (r *Repo) object(hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	kind, data, err := r.findObject(hash)
	if errors.Is(err, errMissing) && r.isPartial() {
		err = fmt.Errorf("%w: the repository is a partial clone; what a commit lacks is fetched by: git archive COMMIT > /dev/null", err)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("object %s: %w", hash, err)
	}
	return kind, data, nil
}

// isPartial reports whether git fetches objects when it needs them: see
// "Promisor remotes" in its technical documentation.
func (r *Repo) isPartial() bool {
	conf, err := r.config()
	if err != nil {
		return false
	}
	for key := range conf {
		if strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".promisor") && conf.bool(key, false) {
			return true
		}
	}
	return conf["extensions.partialclone"] != ""
}

func (r *Repo) findObject(hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	dirs, packs, err := r.objects.known(r, false)
	if err != nil {
		return 0, nil, err
	}
	for again := false; ; again = true {
		for _, p := range packs {
			at, err := p.find(hash)
			if err == nil {
				return p.read(r, at)
			}
			if !errors.Is(err, errMissing) && !errors.Is(err, fs.ErrClosed) {
				return 0, nil, err
			}
		}
		for _, dir := range dirs {
			kind, data, err := readLoose(dir, hash)
			if !errors.Is(err, fs.ErrNotExist) {
				return kind, data, err
			}
		}
		if again {
			return 0, nil, errMissing
		}
		// It may have been packed since.
		if dirs, packs, err = r.objects.known(r, true); err != nil {
			return 0, nil, err
		}
	}
}

// objectOf reads an object that must be of a kind.
func (r *Repo) objectOf(want plumbing.ObjectType, hash plumbing.Hash) ([]byte, error) {
	kind, data, err := r.object(hash)
	if err == nil && kind != want {
		err = fmt.Errorf("object %s: %w: it is a %s, not a %s", hash, ErrCorrupt, kind, want)
	}
	return data, err
}

// known returns the object directories and their packs, and looks for them if
// that wasn't done yet, or anew.
func (o *objects) known(r *Repo, anew bool) ([]string, []*pack, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dirs != nil && !anew {
		return o.dirs, o.packs, nil
	}
	dirs := alternates(filepath.Join(r.CommonDir, "objects"))
	have := map[string]*pack{}
	for _, p := range o.packs {
		have[p.path] = p
	}
	var packs []*pack
	for _, dir := range dirs {
		entries, err := os.ReadDir(filepath.Join(dir, "pack"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		for _, e := range entries {
			base, ok := strings.CutSuffix(e.Name(), ".idx")
			if !ok {
				continue
			}
			path := filepath.Join(dir, "pack", base)
			p := have[path]
			if p == nil {
				if p, err = openPack(path); err != nil {
					return nil, nil, err
				}
			}
			packs = append(packs, p)
		}
	}
	o.dirs, o.packs = dirs, packs
	return dirs, packs, nil
}

// maxAlternates bounds how many object directories are searched.
const maxAlternates = 32

// alternates lists an object directory and those that it borrows from.
func alternates(dir string) []string {
	dirs := []string{dir}
	for i := 0; i < len(dirs) && len(dirs) < maxAlternates; i++ {
		text, err := readSmall(filepath.Join(dirs[i], "info", "alternates"), maxPointer)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line != "" && line[0] != '#' && line[0] != '"' {
				dirs = append(dirs, resolve(line, dirs[i]))
			}
		}
	}
	return dirs[:min(len(dirs), maxAlternates)]
}

// readLoose reads an object that is a file of its own.
func readLoose(dir string, hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	name := hash.String()
	f, err := openRegular(filepath.Join(dir, name[:2], name[2:]))
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	z, err := zlib.NewReader(f)
	if err != nil {
		return 0, nil, corrupt(err)
	}
	defer z.Close()
	var head [32]byte
	n, err := io.ReadFull(z, head[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, nil, corrupt(err)
	}
	line, rest, ok := bytes.Cut(head[:n], []byte{0})
	word, number, _ := strings.Cut(string(line), " ")
	size, err := strconv.ParseInt(number, 10, 64)
	kind, unknown := plumbing.ParseObjectType(word)
	if !ok || err != nil || size < 0 || unknown != nil || kind > plumbing.TagObject {
		return 0, nil, fmt.Errorf("%w: it does not begin like an object", ErrCorrupt)
	}
	if size > maxObject {
		return 0, nil, workspace.ErrTooLarge
	}
	data := make([]byte, size)
	n = copy(data, rest)
	if _, err := io.ReadFull(z, data[n:]); err != nil {
		return 0, nil, corrupt(err)
	}
	return kind, data, nil
}

func corrupt(err error) error { return fmt.Errorf("%w: %w", ErrCorrupt, err) }

// parseHash reads 40 hexadecimal digits.
func parseHash(text string) (plumbing.Hash, bool) {
	var o plumbing.Hash
	if len(text) != 2*len(o) {
		return o, false
	}
	_, err := hex.Decode(o[:], []byte(text))
	return o, err == nil
}
