package gitrepo

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/object"
)

// decide says of the files and submodules that a sweep was unsure of whether
// they are changed.
func (r *Repo) decide(ctx context.Context, x *index.Raw, conf gitconfig.Values, untracked Untracked, s *swept) error {
	changed := make([]bool, len(s.unsure))
	at := newAttributes(r, x, conf)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	next := 0
	for range min(runtime.GOMAXPROCS(0), len(s.unsure)) {
		wg.Go(func() {
			buf := make([]byte, 64<<10)
			for {
				mu.Lock()
				i := next
				next++
				stop := failed != nil
				mu.Unlock()
				if i >= len(s.unsure) || stop {
					return
				}
				e := x.At(s.unsure[i])
				differs, err := contentDiffers(ctx, r.Dir, e, at, buf)
				if err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				}
				changed[i] = differs
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return failed
	}
	for i, entry := range s.unsure {
		if changed[i] {
			s.changed = append(s.changed, sweptFile{entry, 'M'})
		}
	}
	for _, entry := range s.modules {
		differs, err := r.moduleDiffers(ctx, x.At(entry), conf, untracked)
		if err != nil {
			return err
		}
		if differs {
			s.changed = append(s.changed, sweptFile{entry, 'M'})
		}
	}
	slices.SortFunc(s.changed, func(a, b sweptFile) int { return a.entry - b.entry })
	return nil
}

// contentDiffers compares a file with the object that the index names for it.
func contentDiffers(ctx context.Context, dir string, e index.RawEntry, at *attributes, buf []byte) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	file := filepath.Join(dir, filepath.FromSlash(e.Name))
	if e.Mode() == filemode.Symlink {
		target, err := os.Readlink(file)
		if err != nil {
			return true, nil // it has gone meanwhile
		}
		return object.HashBlob([]byte(target)) != e.Hash(), nil
	}
	f, err := gitfile.OpenNoFollow(file)
	if err != nil {
		if gitfile.Missing(err) {
			return true, nil
		}
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	sum := sha1.New()
	fmt.Fprintf(sum, "blob %d\x00", info.Size())
	returns := false
	for {
		n, err := f.Read(buf)
		sum.Write(buf[:n])
		returns = returns || bytes.IndexByte(buf[:n], '\r') >= 0
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, err
		}
	}
	if at.mayConvert(e.Name, returns) {
		return false, fmt.Errorf("%w: attributes or settings say how %s is stored", gitfile.ErrUnsupported, e.Name)
	}
	return plumbing.Hash(sum.Sum(nil)) != e.Hash(), nil
}

// content reads a file of one side.
func (r *Repo) content(path string, s side) ([]byte, error) {
	file := filepath.Join(r.Dir, filepath.FromSlash(path))
	switch {
	case s.mode == 0:
		return nil, nil
	case s.over != nil:
		return *s.over, nil
	case s.mode == filemode.Submodule:
		dirty := ""
		if s.disk {
			dirty = "-dirty"
		}
		return fmt.Appendf(nil, "Subproject commit %s%s\n", s.hash, dirty), nil
	case s.disk && s.mode == filemode.Symlink:
		target, err := os.Readlink(file)
		return []byte(target), err
	case s.disk:
		if info, err := os.Lstat(file); err == nil && info.Size() > object.MaxSize {
			return nil, workspace.ErrTooLarge
		}
		return gitfile.ReadNoFollow(file, object.MaxSize)
	}
	return r.Objects.ReadType(plumbing.BlobObject, s.hash)
}

// moduleDiffers reports whether a submodule is at another commit than the
// index has, or has changes of its own.
func (r *Repo) moduleDiffers(ctx context.Context, e index.RawEntry, conf gitconfig.Values, untracked Untracked) (bool, error) {
	dir := filepath.Join(r.Dir, filepath.FromSlash(e.Name))
	if _, err := os.Lstat(filepath.Join(dir, ".git")); gitfile.Missing(err) {
		return false, nil // it was not fetched
	}
	if why := moduleSettings(r.Dir, conf); why != "" {
		return false, fmt.Errorf("%w: %s", gitfile.ErrUnsupported, why)
	}
	sub, err := openAt(dir, r.o)
	if err != nil || sub == nil {
		return false, fmt.Errorf("the submodule %s: %w", e.Name, errors.Join(err, ErrRefused))
	}
	h, err := sub.head()
	if err != nil {
		return false, fmt.Errorf("the submodule %s: %w", e.Name, err)
	}
	if h.hash != e.Hash() {
		return true, nil
	}
	st, err := sub.Status(ctx, StatusOptions{Untracked: untracked})
	if err != nil {
		return false, fmt.Errorf("the submodule %s: %w", e.Name, err)
	}
	return len(st.Files) > 0 || len(st.Untracked) > 0, nil
}

// moduleSettings says which setting tells git to pass over some of what
// changes in submodules; those settings are ignored here.
func moduleSettings(dir string, conf gitconfig.Values) string {
	for key := range conf {
		if key == "diff.ignoresubmodules" || strings.HasPrefix(key, "submodule.") && strings.HasSuffix(key, ".ignore") {
			return key + " is set"
		}
	}
	list, err := gitconfig.ReadFile(filepath.Join(dir, ".gitmodules"))
	if err != nil {
		return ".gitmodules can't be read"
	}
	for _, s := range list {
		if strings.HasSuffix(s.Key, ".ignore") {
			return ".gitmodules sets " + s.Key
		}
	}
	return ""
}

// attributes tell roughly which files git may store otherwise than they are.
type attributes struct {
	r      *Repo
	x      *index.Raw
	always conversion // whatever the path

	fileMode bool // the bit for executable files means something

	mu   sync.Mutex
	dirs map[string]conversion
}

// conversion is what may happen to a file on its way into the repository.
type conversion struct {
	ends    bool // of lines
	content bool // all of it: filters, $Id$, encodings
}

func (c conversion) or(d conversion) conversion {
	return conversion{c.ends || d.ends, c.content || d.content}
}

func newAttributes(r *Repo, x *index.Raw, conf gitconfig.Values) *attributes {
	a := &attributes{r: r, x: x, dirs: map[string]conversion{}, fileMode: conf.Bool("core.filemode", true)}
	if auto := strings.ToLower(conf["core.autocrlf"]); auto == "input" || conf.Bool("core.autocrlf", false) {
		a.always.ends = true
	}
	files := []string{filepath.Join(r.CommonDir, "info", "attributes"), "/etc/gitattributes", gitconfig.UserFile("attributes")}
	if file := conf["core.attributesfile"]; file != "" {
		files[2] = gitfile.Resolve(gitconfig.ExpandHome(file), r.Dir)
	}
	for _, file := range files {
		if text, err := gitfile.ReadSmall(file, MaxPattern); err == nil {
			a.always = a.always.or(conversionIn(text))
		}
	}
	return a
}

// conversionIn looks for the words that matter in a file of attributes.
func conversionIn(text []byte) conversion {
	var c conversion
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		has := func(word string) bool { return bytes.Contains(line, []byte(word)) }
		c.ends = c.ends || has("text") || has("eol") || has("crlf")
		c.content = c.content || has("filter") || has("ident") || has("working-tree-encoding")
	}
	return c
}

// mayConvert reports whether a file may be stored otherwise than it is.
// returns says whether it holds a carriage return: without one, the ends of
// its lines are as they are stored.
func (a *attributes) mayConvert(name string, returns bool) bool {
	c := a.always
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		c = c.or(a.in(dir))
		if dir == "." {
			break
		}
	}
	return c.content || c.ends && returns
}

// in looks at the attributes file of a directory.
func (a *attributes) in(dir string) conversion {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.dirs[dir]
	if ok {
		return c
	}
	name := path.Join(dir, ".gitattributes")
	text, err := gitfile.ReadNoFollow(filepath.Join(a.r.Dir, filepath.FromSlash(name)), MaxPattern)
	if err != nil {
		if i, ok := a.x.Find(name); ok { // git falls back to the index
			text, err = a.r.Objects.ReadType(plumbing.BlobObject, a.x.At(i).Hash())
			if err != nil {
				c = conversion{true, true}
			}
		}
	}
	c = c.or(conversionIn(text))
	a.dirs[dir] = c
	return c
}
