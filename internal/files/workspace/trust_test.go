package workspace

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
)

// A hostile repository can bring a journal along, which is read when somebody
// opens it.
func TestRecoverTrustsNoJournal(t *testing.T) {
	fresh := func(name string) *entry { return &entry{name: name, temp: ".t-" + filepath.Base(name)} }
	link := fresh("new")
	link.new = version{Exists: true, Link: ".git"}
	for what, c := range map[string]struct {
		entries []*entry
		mode    os.FileMode
		done    bool
	}{
		"control: a new file":              {[]*entry{fresh("sub/a.txt")}, 0o600, true},
		"control: the user may edit it":    {[]*entry{fresh(".sidecar/tools/a.json")}, 0o600, true},
		"a hook":                           {[]*entry{fresh(".git/hooks/pre-commit")}, 0o600, false},
		"a hook and a file":                {[]*entry{fresh("sub/a.txt"), fresh(".git/hooks/pre-commit")}, 0o600, false},
		"the project's settings":           {[]*entry{fresh(".sidecar/settings.json")}, 0o600, false},
		"a hook through a link":            {[]*entry{fresh("there/hooks/pre-commit")}, 0o600, false},
		"a hook through a link it makes":   {[]*entry{link, fresh("new/hooks/pre-commit")}, 0o600, false},
		"the mode that git gives to files": {[]*entry{fresh("sub/a.txt")}, 0o644, false},
	} {
		t.Run(what, func(t *testing.T) {
			if c.mode != 0o600 && runtime.GOOS == "windows" {
				needs.Skip(t, needs.FileModes, "modes tell nothing here")
			}
			d, dir := openTest(t, DiskOptions{}, map[string]string{".git/hooks/x": "", ".sidecar/tools/x": "", "sub/x": ""})
			if what == "a hook through a link" {
				symlink.Make(t, ".git", filepath.Join(dir, "there"))
			}
			p := &plan{}
			for _, e := range c.entries {
				e := *e
				e.folder = &d.folders[0]
				if e.new.Link == "" {
					e.new = version{Exists: true, Data: []byte("evil\n"), Perm: 0o755}
				}
				p.entries = append(p.entries, &e)
			}
			var journal bytes.Buffer
			if err := encodeJournal(&journal, p); err != nil {
				t.Fatal(err)
			}
			state := t.TempDir()
			path := filepath.Join(state, "apply-1"+journalSuffix)
			if err := ownfile.WriteFile(path, journal.Bytes(), c.mode); err != nil {
				t.Fatal(err)
			}
			report, err := reopen(t, dir, state).Recover(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if c.done != (len(report.Finished) == len(c.entries)) || c.done != (len(report.Kept) == 0) {
				t.Errorf("report %+v", report)
			}
			for _, e := range c.entries {
				if _, err := os.Lstat(filepath.Join(dir, e.name)); c.done != (err == nil) {
					t.Errorf("%s: %v", e.name, err)
				}
			}
		})
	}
}
