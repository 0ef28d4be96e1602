package tooltest

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// Recorded compares what is made of recorded output with the section want of
// each archive below testdata, of which there are at least so many. report gets
// the archive without that section; what it returns is compared as JSON.
// -update rewrites the sections.
func Recorded(t *testing.T, least int, report func(t *testing.T, a *txtar.Archive) any) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < least {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" }); i >= 0 {
				want = string(a.Files[i].Data)
				a.Files = slices.Delete(a.Files, i, i+1)
			}
			got, err := json.MarshalIndent(report(t, a), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			if Update() {
				a.Files = append(a.Files, txtar.File{Name: "want", Data: got})
				if err := ownfile.Update(file, txtar.Format(a)); err != nil {
					t.Fatal(err)
				}
			} else if d := cmp.Diff(want, string(got)); d != "" {
				t.Errorf("(-update rewrites it) -want +got:\n%s", d)
			}
		})
	}
}
