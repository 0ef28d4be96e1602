package shell

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// making is a host that makes the home of commands when it is asked for it.
type making struct {
	*host
	home string
}

func (m making) Home(string) (string, error) { return m.home, ownfile.MkdirAll(m.home, 0o700) }

// TestEnd: the end of a session takes its state out of the home, and makes no home where there is
// none any more.
func TestEnd(t *testing.T) {
	for _, gone := range []bool{false, true} {
		m := making{host: &host{}, home: filepath.Join(t.TempDir(), "home")}
		sh := &shell{d: Deps{Host: m}, session: "one"}
		home, err := sh.home()
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(home.MkdirAll(filepath.Join(StateDir, "one"), 0o700), home.Close())
		if gone {
			err = errors.Join(err, ownfile.RemoveAll(m.home))
		}
		if err != nil {
			t.Fatal(err)
		}
		sh.end()
		if _, err := os.Lstat(m.home); errors.Is(err, fs.ErrNotExist) != gone {
			t.Errorf("gone %v: the home: %v", gone, err)
		}
		if _, err := os.Lstat(filepath.Join(m.home, StateDir, "one")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("gone %v: the state is there, %v", gone, err)
		}
	}
}
