package object

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
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

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// ErrMissing says that there is no such object.
var ErrMissing = plumbing.ErrObjectNotFound

// MaxSize bounds an object that is read into memory, in bytes.
const MaxSize = workspace.MaxFileSize

// maxBases bounds what is kept of objects that others are deltas of, in bytes.
const maxBases = 24 << 20

// Store reads the objects of a repository. It is safe for concurrent use.
type Store struct {
	commonDir string
	partial   func() bool // whether git fetches objects when it needs them
	alone     bool        // alternates are not looked at

	mu    sync.Mutex // held while packs are looked for
	dirs  []string   // the repository's own, then its alternates; nil until the first object is asked for
	packs []*pack    // those that were there at the last look; replaced, not changed
}

// NewStore reads the objects of the repository with the git directory
// commonDir. partial reports whether git fetches those that are missing.
func NewStore(commonDir string, partial func() bool) *Store {
	return &Store{commonDir: commonDir, partial: partial}
}

// NewStoreAlone reads the objects that are in a git directory itself. Whoever
// may write there can't have others read by naming alternates.
func NewStoreAlone(dir string) *Store {
	return &Store{commonDir: dir, partial: func() bool { return false }, alone: true}
}

// Read reads an object.
func (s *Store) Read(hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	kind, data, err := s.findObject(hash)
	if errors.Is(err, ErrMissing) && s.partial() {
		err = fmt.Errorf("%w: the repository is a partial clone; what a commit lacks is fetched by: git archive COMMIT > /dev/null", err)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("object %s: %w", hash, err)
	}
	return kind, data, nil
}

func (s *Store) findObject(hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	dirs, packs, err := s.known(false)
	if err != nil {
		return 0, nil, err
	}
	for again := false; ; again = true {
		for _, p := range packs {
			at, err := p.find(hash)
			if err == nil {
				return p.read(s, at)
			}
			if !errors.Is(err, ErrMissing) && !errors.Is(err, fs.ErrClosed) {
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
			return 0, nil, ErrMissing
		}
		// It may have been packed since.
		if dirs, packs, err = s.known(true); err != nil {
			return 0, nil, err
		}
	}
}

// ReadType reads an object that must be of a kind.
func (s *Store) ReadType(want plumbing.ObjectType, hash plumbing.Hash) ([]byte, error) {
	kind, data, err := s.Read(hash)
	if err == nil && kind != want {
		err = fmt.Errorf("object %s: %w: it is a %s, not a %s", hash, gitfile.ErrCorrupt, kind, want)
	}
	return data, err
}

// known returns the object directories and their packs, and looks for them if
// that wasn't done yet, or again.
func (s *Store) known(again bool) ([]string, []*pack, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dirs != nil && !again {
		return s.dirs, s.packs, nil
	}
	dirs := []string{filepath.Join(s.commonDir, "objects")}
	if !s.alone {
		dirs = alternates(dirs[0])
	}
	have := map[string]*pack{}
	for _, p := range s.packs {
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
	s.dirs, s.packs = dirs, packs
	return dirs, packs, nil
}

// maxAlternates bounds how many object directories are searched.
const maxAlternates = 32

// Borrowed are the directories of objects that this one borrows from.
func (s *Store) Borrowed() []string { return alternates(filepath.Join(s.commonDir, "objects"))[1:] }

// alternates lists an object directory and those that it borrows from.
func alternates(dir string) []string {
	dirs := []string{dir}
	for i := 0; i < len(dirs) && len(dirs) < maxAlternates; i++ {
		text, err := gitfile.ReadSmall(filepath.Join(dirs[i], "info", "alternates"), gitfile.MaxPointer)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line != "" && line[0] != '#' && line[0] != '"' {
				dirs = append(dirs, gitfile.Resolve(line, dirs[i]))
			}
		}
	}
	return dirs[:min(len(dirs), maxAlternates)]
}

// readLoose reads an object that is a file of its own.
func readLoose(dir string, hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	name := hash.String()
	f, err := gitfile.OpenRegular(filepath.Join(dir, name[:2], name[2:]))
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
		return 0, nil, fmt.Errorf("%w: it does not begin like an object", gitfile.ErrCorrupt)
	}
	if size > MaxSize {
		return 0, nil, workspace.ErrTooLarge
	}
	data := make([]byte, size)
	n = copy(data, rest)
	if _, err := io.ReadFull(z, data[n:]); err != nil {
		return 0, nil, corrupt(err)
	}
	return kind, data, nil
}

func corrupt(err error) error { return fmt.Errorf("%w: %w", gitfile.ErrCorrupt, err) }

// ParseHash reads 40 hexadecimal digits.
func ParseHash(text string) (plumbing.Hash, bool) {
	var o plumbing.Hash
	if len(text) != 2*len(o) {
		return o, false
	}
	_, err := hex.Decode(o[:], []byte(text))
	return o, err == nil
}

// HashBlob returns the name of the blob that data are. Go-git's hasher looks
// for attacks on SHA-1 and takes three times as long; these names are only
// compared with those that git gave.
func HashBlob(data []byte) plumbing.Hash {
	sum := sha1.New()
	fmt.Fprintf(sum, "blob %d\x00", len(data))
	sum.Write(data)
	return plumbing.Hash(sum.Sum(nil))
}
