package workspace

import (
	"strings"
	"testing"
)

func TestFilePath(t *testing.T) {
	long := strings.Repeat("/"+strings.Repeat("d", 40), 12)
	for _, c := range []struct {
		uri           string
		unix, windows string // "" when the URI is refused
	}{
		{"file:///a/b.go", "/a/b.go", ""},
		{"file:///a%20b/%C3%A4%23.go", "/a b/ä#.go", ""},
		{"file://localhost/a", "/a", ""},
		{"file:/a", "/a", ""},
		{"FILE:///a", "/a", ""},
		{"file:///a/../b//c/", "/b/c", ""},
		{"file:///", "/", ""},
		{"file://", "/", ""},
		{"file:///../a", "/a", ""},

		// As VS Code, other editors and the command line write a drive.
		{"file:///c%3A/a%20b/%C3%A4.go", "/c:/a b/ä.go", `C:\a b\ä.go`},
		{"file:///C:/x", "/C:/x", `C:\x`},
		{"file:///c:/x", "/c:/x", `C:\x`},
		{"file:/c:/x", "/c:/x", `C:\x`},
		{"file://localhost/c:/x", "/c:/x", `C:\x`},
		{"file:///c%3A/", "/c:", `C:\`},
		{"file:///c%3A", "/c:", `C:\`},
		{"file:///c:/a/../../b", "/b", `C:\b`},
		{`file:///c:\a\..\b`, `/c:\a\..\b`, `C:\b`},
		{"file:///c:/a%5C..%5C..%5Cb", `/c:/a\..\..\b`, `C:\b`},
		{"file:///c:x", "/c:x", ""},
		{"file:///1:/x", "/1:/x", ""},
		{"file:///c%3A" + long, "/c:" + long, "C:" + strings.ReplaceAll(long, "/", `\`)},

		// UNC.
		{"file://server/share/a.go", "", `\\server\share\a.go`},
		{"file://server/share", "", `\\server\share\`},
		{"file:////server/share/a.go", "/server/share/a.go", `\\server\share\a.go`},
		{"file://wsl%24/Debian/home", "", `\\wsl$\Debian\home`},
		{"file://wsl.localhost/Debian/home", "", `\\wsl.localhost\Debian\home`},
		{"file://server/share/../../sub/x", "", `\\server\share\sub\x`},
		{"file://server/../x", "", ""},
		{"file://server/", "", ""},
		{"file://server", "", ""},

		// Devices and other prefixes.
		{"file://./pipe/x", "", ""},
		{"file:////./pipe/x", "/pipe/x", ""},
		{"file:////%3F/c:/x", "/?/c:/x", ""},
		{"file://%3F/c:/x", "", ""},
		{"file://../share/x", "", ""},
		{"file://server/c:/x", "", ""},

		{"file:///c:/a?b", "", ""},
		{"file:///c:/a#b", "", ""},
		{"file:///c:/a%00", "", ""},
		{"file:///c:/a%zz", "", ""},
		{"file://%zz/share/a", "", ""},
		{"untitled:Untitled-1", "", ""},
		{"http://127.0.0.1/x", "", ""},
		{"vscode-remote://wsl%2Bdebian/home/x", "", ""},
		{`C:\x`, "", ""},
		{"a.go", "", ""},
		{"", "", ""},
	} {
		for _, on := range []struct{ system, want string }{{"linux", c.unix}, {"darwin", c.unix}, {"windows", c.windows}} {
			if got, ok := filePath(on.system, c.uri); got != on.want && ok || ok != (on.want != "") {
				t.Errorf("%s: FilePath(%q) = %q, %v; want %q", on.system, c.uri, got, ok, on.want)
			}
		}
	}
}

func TestFileURI(t *testing.T) {
	for _, c := range []struct{ system, path, want, back string }{
		{"linux", "/a b/ä(1).go", "file:///a%20b/%C3%A4%281%29.go", ""},
		{"linux", "/a b/ä#?%.go", "file:///a%20b/%C3%A4%23%3F%25.go", ""},
		{"linux", "/", "file:///", ""},
		{"linux", "/x/[y]", "file:///x/%5By%5D", ""},
		{"linux", `/a\b`, "file:///a%5Cb", ""},
		{"linux", "/c:/x", "file:///c:/x", ""},
		{"darwin", "/Users/me/a.go", "file:///Users/me/a.go", ""},
		{"windows", `C:\a b\ä#.go`, "file:///C:/a%20b/%C3%A4%23.go", ""},
		{"windows", `c:\x`, "file:///c:/x", `C:\x`},
		{"windows", `C:\`, "file:///C:/", ""},
		{"windows", `\\server\share\a b.go`, "file://server/share/a%20b.go", ""},
		{"windows", `\\wsl$\Debian\home`, "file://wsl$/Debian/home", ""},
		{"windows", `\\?\C:\long\x`, "file:///C:/long/x", `C:\long\x`},
		{"windows", `\\?\UNC\server\share\x`, "file://server/share/x", `\\server\share\x`},
	} {
		got := fileURI(c.system, c.path)
		if got != c.want {
			t.Errorf("%s: FileURI(%q) = %q, want %q", c.system, c.path, got, c.want)
		}
		want := c.back
		if want == "" {
			want = c.path
		}
		if back, ok := filePath(c.system, got); back != want || !ok {
			t.Errorf("%s: FilePath(FileURI(%q)) = %q, %v, want %q", c.system, c.path, back, ok, want)
		}
	}
}
