package workspace

import (
	"runtime"
	"testing"
)

func TestFilePath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of other systems")
	}
	for _, c := range []struct {
		uri, want string
		ok        bool
	}{
		{"file:///a/b.go", "/a/b.go", true},
		{"file:///a%20b/%C3%A4%23.go", "/a b/ä#.go", true},
		{"file://localhost/a", "/a", true},
		{"file:/a", "/a", true},
		{"FILE:///a", "/a", true},
		{"file:///c%3A/x", "C:/x", true},
		{"file:///C:/x", "C:/x", true},
		{"file:///a/../b//c/", "/b/c", true},
		{"file:///", "/", true},
		{"file://host/a", "", false},
		{"file:///a?b", "", false},
		{"file:///a#b", "", false},
		{"file:///a%00", "", false},
		{"file:///a%zz", "", false},
		{"untitled:Untitled-1", "", false},
		{"http://127.0.0.1/x", "", false},
		{"a.go", "", false},
		{"", "", false},
	} {
		got, ok := FilePath(c.uri)
		if got != c.want || ok != c.ok {
			t.Errorf("FilePath(%q) = %q, %v; want %q, %v", c.uri, got, ok, c.want, c.ok)
		}
	}
	if got, want := FileURI("/a b/ä(1).go"), "file:///a%20b/%C3%A4%281%29.go"; got != want {
		t.Errorf("FileURI is %q, want %q", got, want)
	}
	for _, path := range []string{"/a b/ä#?%.go", "/", "/x/[y]"} {
		if got, ok := FilePath(FileURI(path)); got != path || !ok {
			t.Errorf("FilePath(FileURI(%q)) = %q, %v", path, got, ok)
		}
	}
}
