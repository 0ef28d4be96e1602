//go:build unix

package index_test

import (
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
)

// TestFurtherNames: what is written through another name of a file is seen,
// although nobody tells of the file's own.
func TestFurtherNames(t *testing.T) {
	for _, c := range []struct {
		name   string
		before bool     // the other name is there when the index begins
		other  string   // outside of the project with "../"
		linked []string // what is told of when it comes later
		told   []string // what is told of the writing
	}{
		{"inside, from the beginning", true, "math/other.go", nil, []string{"math/other.go"}},
		{"inside, later", false, "math/other.go", []string{"math/other.go"}, []string{"math/other.go"}},
		{"inside, linked and written before a question", false, "math/other.go", nil, []string{"math/other.go", "math/other.go"}},
		{"hidden", true, ".cache/other.go", nil, []string{".cache/other.go"}},
		{"outside", true, "../other.go", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, sample)
			write(t, p.dir, "math/quat.go", "package math\n\nfunc Quaternion() {}\n")
			write(t, p.dir, "math/plain.go", "package math\n\nfunc Tensor() {}\n")
			other := filepath.Join(p.dir, filepath.FromSlash(c.other))
			if c.other == "../other.go" {
				other = filepath.Join(t.TempDir(), "other.go")
			}
			link := func() {
				if err := ownfile.MkdirAll(filepath.Dir(other), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := ownfile.Link(filepath.Join(p.dir, "math/quat.go"), other); err != nil {
					needs.Skip(t, needs.Links, err)
				}
			}
			found := func(word string) (own bool) {
				for _, h := range p.ask(index.Query{Text: word}).Hits {
					own = own || h.Path == "math/quat.go" && h.Kind != "file"
				}
				return own
			}
			if c.before {
				link()
			}
			if !found("quaternion") {
				t.Fatal("the file is not found at all")
			}
			if !c.before {
				link()
				if c.linked != nil {
					p.names = append(p.names, c.linked...)
					if !found("quaternion") {
						t.Fatal("the file is not found any more")
					}
				}
			}
			if err := ownfile.WriteFile(other, []byte("package math\n\nfunc Octonion() {}\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			write(t, p.dir, "math/plain.go", "package math\n\nfunc Spinor() {}\n")
			p.names = append(p.names, c.told...)
			if found("quaternion") || !found("octonion") {
				t.Error("what was written through the other name is not seen")
			}
			if got := names(p.ask(index.Query{Text: "spinor"}).Hits); c.before && got != "" {
				t.Errorf("nobody told, and yet: %q", got) // the control: files with one name are not looked at
			}
			// Without the other name it is a file like all.
			if err := ownfile.Remove(other); err != nil {
				t.Fatal(err)
			}
			p.names = append(p.names, "math/quat.go")
			if !found("octonion") {
				t.Error("it is not found without the other name")
			}
		})
	}
}
