package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestSpellings: what some system takes for a protected name is protected on every
// one, because a folder may lie on another system's disk.
func TestSpellings(t *testing.T) {
	git := map[string][]string{
		"windows": {
			".git.", ".git ", ".git. .", ".GIT", "GIT~1", "git~2", "gi7eb5~1", ".git::$INDEX_ALLOCATION", ".git:x", `.git\config`, `a\.Git\hooks`,
		},
		"darwin": {".Git", ".git/config", "．git"},
		"linux":  {".git", ".GIT", ".g\u034fit"}, // the last two in a directory that ignores case
	}
	// What HFS+ leaves out of names, and git knows.
	for _, span := range [][2]rune{{0x200c, 0x200f}, {0x202a, 0x202e}, {0x206a, 0x206f}, {0xfeff, 0xfeff}} {
		for r := span[0]; r <= span[1]; r++ {
			git["darwin"] = append(git["darwin"], ".g"+string(r)+"it", string(r)+".git/config", ".git"+string(r))
		}
	}
	for system, names := range git {
		for _, name := range names {
			if Protected(name) != Never {
				t.Errorf("%s: %q is not protected", system, name)
			}
		}
	}
	for name, want := range map[string]Protection{
		".ßh/config": AskFirst, ".ẞh/config": AskFirst, ".proﬁle": AskFirst, ".gitconﬁg": AskFirst, ".hus\u212ay/pre-push": AskFirst, // of HFS+ and APFS
		".gi\u0301t": NotProtected, ".gít": NotProtected, ".gıt": NotProtected, // other names on every system, composed or not
		"straße.go": NotProtected, "ﬁle.go": NotProtected,
	} {
		if got := Protected(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
	for _, name := range []string{".e\u200cnv", ".ENV", ".env.", ".ßh/x", "\u212aubeconfig"} {
		if !Sensitive(name) {
			t.Errorf("%q is not sensitive", name)
		}
	}
}

func TestCheckSegments(t *testing.T) {
	// What is refused on Windows, and what the error says of it.
	odd := map[string]string{
		"dot.": `for "dot"`, "dot ": `for "dot"`, "dot. .": `for "dot"`, "a./b": `for "a"`, "a /b": `for "a"`, "a/b ": `for "b"`, "...": `for ""`, " ": `for ""`, "a.go...": `for "a.go"`,
		"x:ads": "<>:", "a/x::$DATA": "<>:", "C:x": "<>:", "a?": "<>:", "a*b": "<>:", `a"b`: "<>:", "a|b": "<>:", `a\b`: "<>:", "a<b": "<>:", "a>b": "<>:", "a\tb": "<>:", "a\x01": "<>:",
		"NUL": "device", "nul": "device", "con.txt": "device", "a/aux": "device", "aux/a": "device", "COM1": "device", "com0.log": "device", "lpt9": "device", "COM¹": "device",
		"con .txt": "device", "CONIN$": "device", "prn.tar.gz": "device",
	}
	plain := []string{
		".", "a.go", ".env", "..foo", "a b", " a", "a.b.c", "d/e", "d/../a", "./a/", "", "ä.go", "a\u0308.go", "A.GO", "console", "comma", "com", "com10", "nulls.go", "auxiliary", "LPTX", "COM", "a~1",
		strings.Repeat("d/", 200) + "a.go",
	}
	for name, says := range odd {
		err := checkSegments("windows", name)
		if !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("windows: %q: %v, want it to say %q", name, err, says)
		}
		for _, system := range []string{"darwin", "linux"} {
			if err := checkSegments(system, name); err != nil {
				t.Errorf("%s: %q: %v", system, name, err)
			}
		}
	}
	for _, name := range plain {
		for _, system := range []string{"windows", "darwin", "linux"} {
			if err := checkSegments(system, name); err != nil {
				t.Errorf("%s: %q: %v", system, name, err)
			}
		}
	}
}

// TestOneNameOnWindows: neither reading nor writing knows a file by two names.
func TestOneNameOnWindows(t *testing.T) {
	d, dir := openTest(t, DiskOptions{}, map[string]string{"dot": "old"})
	d.system = "windows"
	for _, given := range []string{"dot.", "dot ", "./dot. .", filepath.Join(dir, "dot."), "dot::$DATA", "sub./x", "NUL"} {
		if name, err := d.Resolve(given); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %q, %v", given, name, err)
		}
	}
	for _, c := range []Change{
		{Path: "dot.", After: text("new")}, {Path: "new /a", After: text("new")}, {From: "dot", Path: "dot.", Before: text("old")}, {Path: "con.txt", After: text("new")}, {Path: `sub\x`, After: text("new")},
	} {
		if err := d.Apply(t.Context(), c); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", c.Path, err)
		}
	}
	if got := tree(t, dir); len(got) != 1 || got["dot"] != "old" {
		t.Errorf("there is %v", got)
	}
	for _, given := range []string{"dot", filepath.Join(dir, "dot")} {
		if name, err := d.Resolve(given); name != "dot" || err != nil {
			t.Errorf("control: %q: %q, %v", given, name, err)
		}
	}
	if err := d.Apply(t.Context(), Change{Path: "dot", Before: text("old"), After: text("new")}); err != nil {
		t.Errorf("control: %v", err)
	}
}
