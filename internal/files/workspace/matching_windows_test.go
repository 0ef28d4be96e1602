package workspace

import (
	"slices"
	"testing"
)

// TestMatching asks a directory for one name.
func TestMatching(t *testing.T) {
	files := map[string]string{"Dir/a.go": "a", "Dir/Straße.txt": "s", "Dir/É.go": "e", "b.go": "b", "bb.go": "bb"}
	d, dir := openTest(t, DiskOptions{}, files)
	root := d.folders[0].root
	for _, c := range []struct {
		dir, base string
		want      []string
	}{
		{".", "b.go", []string{"b.go"}},
		{".", "B.GO", []string{"b.go"}},
		{".", "dir", []string{"Dir"}},
		{"dir", "A.go", []string{"a.go"}},
		{"Dir", "é.GO", []string{"É.go"}},
		{"Dir", "STRAßE.txt", []string{"Straße.txt"}},
		{"Dir", "STRASSE.txt", nil}, // is another name for Windows
		{"Dir", "b.go", nil},
		{".", "b", nil},
		{".", "none.go", nil},
		{"none", "b.go", nil},
		{"b.go", "b.go", nil},
	} {
		if got := matching(root, c.dir, c.base); !slices.Equal(got, c.want) {
			t.Errorf("%s in %s matches %q, want %q", c.base, c.dir, got, c.want)
		}
	}
	// What is found is how it is written now.
	s := d.folders[0].spelled
	for _, name := range []string{"B.go", "b.GO"} {
		was, _ := s.in(".", name)
		writeFiles(t, dir, map[string]string{"z" + name: ""})
		if err := root.Rename(was, "between"); err != nil {
			t.Fatal(err)
		}
		if got, ok := s.in(".", name); ok {
			t.Errorf("%s is gone, and is written %s", name, got)
		}
		if err := root.Rename("between", name); err != nil {
			t.Fatal(err)
		}
		if got, ok := s.in(".", "b.go"); !ok || got != name {
			t.Errorf("it is written %s, want %s", got, name)
		}
	}
	if s.lists > 0 && s.lists != 2 { // for what the directory does: in it, and once more to be certain
		t.Errorf("the directory was listed %d times", s.lists)
	}
}

// TestAmong picks the file of a name where an answer has others too, as that of a
// directory that tells letter case apart.
func TestAmong(t *testing.T) {
	d, _ := openTest(t, DiskOptions{}, map[string]string{"readme": "1", "other": "2"})
	s := d.folders[0].spelled
	for _, c := range []struct {
		base  string
		names []string
		want  string
	}{
		{"readme", []string{"README", "readme"}, "readme"},
		{"README", []string{"readme"}, "readme"},
		{"readme", []string{"other"}, ""},
		{"none", []string{"other"}, ""},
		{"readme", nil, ""},
	} {
		if got, _ := s.among(".", c.base, c.names); got != c.want {
			t.Errorf("%s among %q is %q, want %q", c.base, c.names, got, c.want)
		}
	}
	s.probe = pretend(Folding{})
	if got, ok := s.among(".", "README", []string{"readme"}); ok {
		t.Errorf("control: where letter case tells, it is %q", got)
	}
}
