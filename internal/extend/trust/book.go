package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// Directory is where it is kept what trusted folders said, below the user's
// settings: no project and no confined command can write there.
const Directory = "trusted"

// Book has what folders said when they were trusted: a file for each.
type Book struct {
	mu    sync.Mutex
	first map[string]page // of folders, where nothing could be written
}

// page is what is kept of a folder.
type page struct {
	Folder  string  `json:"folder"`
	Trusted Content `json:"trusted"`
	Refused string  `json:"refused,omitempty"` // the hash of content that the user said no to
}

// State is a trusted folder: what it said, and what it says.
type State struct {
	Dir       string
	Then, Now Content
	Refused   bool // the user has said no to what is there now
}

// Page is where it is kept what a folder said; "" without a directory for that.
func Page(dir string) string {
	return config.Beside(filepath.Join(Directory, hash([]byte(realPath(dir)))[:32]+".json"))
}

// Look compares a trusted folder with what it was. Without a page, what is there
// now is what was trusted: the user's word was for the folder as it is.
func (b *Book) Look(dir string) (*State, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &State{Dir: dir, Now: Read(dir)}
	p, err := b.read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p = page{Folder: realPath(dir), Trusted: s.Now}
		err = b.write(dir, p)
	case err != nil:
		s.Then = Content{}
		return s, fmt.Errorf("%s can't be read, so nothing in %s counts as trusted; sidecar-ls trust yes takes what is there: %w", Page(dir), dir, err)
	}
	s.Then, s.Refused = p.Trusted, p.Refused == s.Now.hash()
	return s, err
}

func (b *Book) read(dir string) (p page, err error) {
	real := realPath(dir)
	if p, ok := b.first[real]; ok {
		return p, nil
	}
	name := Page(dir)
	if name == "" {
		return p, fs.ErrNotExist
	}
	if _, err := os.Stat(name); err != nil {
		return p, err
	}
	if err := config.ReadBeside(name, &p); err != nil {
		return p, err
	}
	if p.Folder != real || p.Trusted == nil {
		return p, errors.New("it is not about that folder")
	}
	return p, nil
}

// write keeps a page. Where that fails, it holds as long as this process lives.
func (b *Book) write(dir string, p page) error {
	err := config.WriteBeside(Page(dir), p)
	if err == nil {
		delete(b.first, p.Folder)
		return nil
	}
	if b.first == nil {
		b.first = map[string]page{}
	}
	b.first[p.Folder] = p
	return fmt.Errorf("what %s says is trusted for as long as this process lives; it can't be kept: %w", dir, err)
}

// Take makes what a folder says now what was trusted.
func (b *Book) Take(s *State) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.write(s.Dir, page{Folder: realPath(s.Dir), Trusted: s.Now})
}

// Refuse notes that the user said no to what a folder says now.
func (b *Book) Refuse(s *State) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.write(s.Dir, page{Folder: realPath(s.Dir), Trusted: s.Then, Refused: s.Now.hash()})
}

// Forget forgets what a folder said.
func (b *Book) Forget(dir string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.first, realPath(dir))
	name := Page(dir)
	if name == "" {
		return nil
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
