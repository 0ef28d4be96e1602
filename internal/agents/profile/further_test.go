package profile

import (
	"slices"
	"testing"
)

// TestFurther: each program gets directories by its own flag, and none that it would
// take for others.
func TestFurther(t *testing.T) {
	dirs := []string{"/w/a b", "/w/c,d", "/w/e\nf"}
	for _, test := range []struct {
		name       string
		args, left []string
	}{
		{"claude", []string{"--add-dir=/w/a b", "--add-dir=/w/c,d", "--add-dir=/w/e\nf"}, nil},
		{"codex", []string{"--add-dir=/w/a b", "--add-dir=/w/c,d", "--add-dir=/w/e\nf"}, nil},
		{"gemini", []string{"--include-directories=/w/a b", "--include-directories=/w/e\nf"}, []string{"/w/c,d"}},
		{"opencode", nil, dirs},
	} {
		p := Find(builtin, test.name, "")
		args, left := Further(p.Further, dirs)
		if !slices.Equal(args, test.args) || !slices.Equal(left, test.left) {
			t.Errorf("%s: %q and %q, want %q and %q", test.name, args, left, test.args, test.left)
		}
	}
	if p := Find(builtin, "claude", "").Driven(); p.Further != "" {
		t.Errorf("its adapter gets directories by %s", p.Further)
	}
}

// TestFurtherFor: a person's own flag counts, and a sub-command is left as it is where it
// would refuse ours.
func TestFurtherFor(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"claude", nil, addDir},
		{"claude", []string{"mcp", "list"}, addDir},
		{"claude", []string{"-p", "look at --add-dir"}, addDir},
		{"claude", []string{"--add-dir", "/x", "go on"}, ""},
		{"codex", []string{"exec", "--add-dir=/x", "go on"}, ""},
		{"gemini", nil, includeDir},
		{"gemini", []string{"fix the tests"}, includeDir},
		{"gemini", []string{"-m", "pro"}, includeDir},
		{"gemini", []string{"mcp", "list"}, ""},
		{"gemini", []string{"--include-directories", "/x"}, ""},
		{"opencode", []string{"run", "x"}, ""},
	} {
		if got := Find(builtin, test.name, "").FurtherFor(test.args); got != test.want {
			t.Errorf("%s %q: %q, want %q", test.name, test.args, got, test.want)
		}
	}
}
