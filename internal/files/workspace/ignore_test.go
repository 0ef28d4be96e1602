package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

func TestIgnoreRules(t *testing.T) {
	for _, c := range []struct {
		rules string // separated by |
		names string // what is excluded; a directory has a slash at its end
		not   string // what is not
	}{
		{"foo", "foo foo/ a/foo a/foo/", "foobar a/b"},
		{"/foo", "foo foo/", "a/foo"},
		{"foo/", "foo/ a/foo/", "foo a/foo"},
		{"*.o", "x.o .o a/x.o", "x.oo o"},
		{"foo*", "foo foobar a/foob", "xfoo"},
		{"*foo*", "foo xfoox", "fo"},
		{"a/b", "a/b", "b c/a/b"},
		{"a/*", "a/b a/c/", "a b/a/c"},
		{"a/*/c", "a/b/c", "a/c a/b/d/c"},
		{"a/**", "a/b a/b/", "a a/"},
		{"a/**/c", "a/c a/b/c a/b/d/c", "c b/a/c"},
		{"**/a", "a b/a b/c/a", "ab"},
		{"**/a/b", "a/b x/a/b x/y/a/b", "a/c/b b"},
		{"**", "a a/ b/c", ""},
		{"a**b", "ab axb x/ayb", "a/b"},
		{"x/a**b", "x/ab x/acb", "x/a/b ab"},
		{"a/**/**/b", "a/b a/x/b a/x/y/b", "b"},
		{"?", "a x/b", "ab"},
		{"[ab]c", "ac bc", "cc abc"},
		{"[!ab]c", "cc", "ac bc"},
		{"[^ab]c", "cc", "ac bc"},
		{"[a-c]x", "ax bx cx", "dx -x"},
		{"[]a]", "] a", "b"},
		{"[a-]", "a -", "b"},
		{`[\]]`, "]", `\`},
		{"[[:digit:]]x", "0x 9x", "ax :x"},
		{"[[:alpha:]_]", "a Z _", "1"},
		{"[[:nosuch:]]", "", "n : ["},
		{"[a", "", "[a a"},
		{`foo\`, "", `foo foo\`},
		{`\#a`, "#a", `\#a`},
		{`\!a`, "!a", `\!a`},
		{"#a", "", "#a a"},
		{`\*`, "*", "a"},
		{`a\*b*`, "a*b a*bc", "axb"},
		{"a ", "a", ""},
		{`a\ `, `a\x20`, "a"},
		{"{a,b}", "{a,b}", "a b"},
		{"*.log|!keep.log", "a.log", "keep.log b/keep.log"},
		{"!keep.log|*.log", "a.log keep.log", ""},
		{"a/*|!a/b", "a/c", "a/b"},
		{"*.o|!*.o|x.o", "x.o", "y.o"},
		{"foo|!foo/", "foo", "foo/"},
		{"*.asn1.[ch]", "a.asn1.c a.b.asn1.h", "a.asn1.x asn1.c"},
		{"*.c.[012]*.*", "a.c.0.x a.c.2bc.de", "a.c a.c.3.x"},
		{"a//b", "", "a/b"},
		{"/", "", "a"},
		{"/*", "a b/", "b/c"},
		{"/*/c", "a/c", "c a/b/c"},
		{"\xef\xbb\xbfa", "a", ""},
		{"a\r", "a", ""},
	} {
		t.Run(c.rules, func(t *testing.T) {
			var rules dirRules
			rules.add(gitRules, []byte(strings.ReplaceAll(c.rules, "|", "\n")+"\n"))
			for want, names := range map[bool]string{true: c.names, false: c.not} {
				for _, n := range strings.Fields(names) {
					n = strings.ReplaceAll(n, `\x20`, " ")
					if got := matchPath(rules, n) == excluded; got != want {
						t.Errorf("%q excluded = %v, want %v", n, got, want)
					}
				}
			}
		})
	}
}

// matchPath says what the rules of one directory say about a path below it,
// whatever they say about the directories on the way.
func matchPath(rules dirRules, name string) verdict {
	name, dir := strings.CutSuffix(name, "/")
	for {
		first, rest, deeper := strings.Cut(name, "/")
		if !deeper {
			return rules.match([]byte(name), dir)
		}
		rules, name = rules.enter([]byte(first)), rest
	}
}

func TestIgnoreKindsOutrankDirectories(t *testing.T) {
	userIgnore(t, "user.txt\n")
	d := diskOf(t, map[string]string{
		".sidecarignore":    "!a/back.txt\n",
		".ignore":           "*.tmp\n!kept.tmp\n",
		".gitignore":        "*.txt\n",
		".git/info/exclude": "secret\n",
		"a/.gitignore":      "!*.tmp\n!own.txt\n",
		"a/back.txt":        "", "a/own.txt": "", "a/x.txt": "", "a/x.tmp": "", "kept.tmp": "",
		"secret": "", "a/secret": "", "user.txt": "", "plain": "",
	})
	want := []string{"a/back.txt", "a/own.txt", "kept.tmp", "plain"}
	if diff := cmp.Diff(want, walked(t, d, WalkOptions{})); diff != "" {
		t.Errorf("walk (-want +got):\n%s", diff)
	}
}

func TestIgnored(t *testing.T) {
	userIgnore(t, "")
	d := diskOf(t, map[string]string{
		".gitignore":     "out/\n*.log\n!keep.log\n",
		"sub/.gitignore": "gen\n",
		"sub/gen/x":      "", "out/x": "", ".git/config": "", ".hidden": "",
	})
	for name, want := range map[string]bool{
		"out": true, "out/x": true, "out/deep/x": true, "a.log": true, "keep.log": false, "sub/gen": true,
		"sub/gen/x": true, "gen": false, "sub": false, ".git": true, ".git/config": true, ".hidden": false, ".": false,
	} {
		if got := d.Ignored(name, name == "out" || name == "sub" || name == ".git"); got != want {
			t.Errorf("Ignored(%q) = %v, want %v", name, got, want)
		}
	}
}

// A generated tree is listed as git and ripgrep list it. The alphabet of names
// and patterns is small so that they meet.
func TestWalkEqualsGitAndRipgrep(t *testing.T) {
	slow.Test(t)
	userIgnore(t, "")
	rg, _ := exec.LookPath("rg")
	git, _ := exec.LookPath("git")
	if rg == "" && git == "" {
		needs.Skip(t, needs.Git, "neither rg nor git is here to compare with")
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		files := randomTree(r)
		d := diskOf(t, files)
		dir := d.Abs(".")
		rules := ""
		for name, text := range files {
			if path.Base(name) == ".gitignore" {
				rules += fmt.Sprintf("-- %s --\n%s", name, text)
			}
		}
		for _, hidden := range []bool{false, true} {
			got := walked(t, d, WalkOptions{Hidden: hidden})
			if rg != "" {
				args := []string{"--files", "--no-config", "--no-require-git", "--no-ignore-parent", "-g", "!.git"}
				if hidden {
					args = append(args, "--hidden")
				}
				if diff := cmp.Diff(sortedLines(outputOf(t, dir, nil, rg, args...)), got); diff != "" {
					t.Fatalf("seed %d, hidden %v (-rg +ours):\n%s%s", seed, hidden, diff, rules)
				}
			}
			if git != "" && hidden {
				outputOf(t, dir, nil, git, "init", "-q")
				want := sortedLines(outputOf(t, dir, nil, git, "-c", "core.quotePath=false", "ls-files", "--others", "--exclude-standard"))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("seed %d (-git +ours):\n%s%s", seed, diff, rules)
				}
			}
		}
	}
}

func randomTree(r *rand.Rand) map[string]string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	name := func() string {
		return pick("a", "b", "ab", "a.o", "b.o", "foo", "foo.c", ".h", "x y", "fool", "b.c", "é")
	}
	pattern := func() string {
		elem := func() string {
			return pick("a", "b", "ab", "*", "*.o", "foo*", "f?o", "[ab]", "[!a]*", "**", ".h", "*o*", `\a`, "x y", "a*b", "[a-b].[co]", "*.*")
		}
		p := elem()
		for r.IntN(3) == 0 {
			p += "/" + elem()
		}
		return pick("", "", "", "!", "!") + pick("", "", "/") + p + pick("", "", "", "/")
	}
	files := map[string]string{}
	var fill func(dir string, depth int)
	fill = func(dir string, depth int) {
		for range 2 + r.IntN(4) {
			n := path.Join(dir, name())
			if _, taken := files[n]; taken {
				continue
			}
			if depth < 4 && r.IntN(2) == 0 && !strings.Contains(n, ".o") {
				fill(n+"d", depth+1)
				if r.IntN(2) == 0 {
					fill(path.Join(dir, pick("ad", "bd")), depth+1)
				}
				continue
			}
			files[n] = ""
		}
		if r.IntN(2) == 0 || depth == 0 {
			text := ""
			for range 1 + r.IntN(5) {
				text += pattern() + pick("\n", "\n", "d\n")
			}
			files[path.Join(dir, ".gitignore")] = text
		}
	}
	fill("", 0)
	return files
}

// FuzzIgnore compares one pattern and one name with git.
func FuzzIgnore(f *testing.F) {
	git, err := exec.LookPath("git")
	if err != nil {
		needs.Skip(f, needs.Git, "git is not here to compare with")
	}
	for _, s := range [][2]string{
		{"a", "a"}, {"*.o", "x/y.o"}, {"/a/**/b", "a/x/y/b"}, {"[!a]b", "cb"}, {`\*`, "*"}, {"a**", "abc"}, {"[a/b]c", "ac"},
		{"***/b", "a/b"}, {"a/***", "a/b"}, {"[[:alpha:]", "a"}, {"[]-a]", "^"}, {`[\--0]`, "."}, {"x[a/]b", "xab"}, {`a\/b`, "a/b"},
		{"!", "a"}, {" ", " a"}, {`a\ \ `, "a  "}, {"**/**", "a"}, {"*a*b*c", "xaybzc"}, {"/**/", "a/b"},
	} {
		f.Add(s[0], s[1])
	}
	dir := f.TempDir()
	run := func(args ...string) ([]byte, error) {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir, "HOME="+dir)
		return cmd.CombinedOutput()
	}
	if out, err := run("init", "-q"); err != nil {
		f.Fatalf("%v: %s", err, out)
	}
	var mu sync.Mutex
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 20 || len(name) > 20 || !fs.ValidPath(name) || strings.ContainsAny(pattern+name, "\n\r\x00") ||
			path.Clean("/"+name) != "/"+name || strings.Contains("/"+name+"/", "/.git") || strings.Contains(name, "..") || strings.HasPrefix(name, ":") {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if err := ownfile.WriteFile(filepath.Join(dir, ".gitignore"), []byte(pattern+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := run("check-ignore", "--no-index", "-q", "--", name)
		if code := exitCode(err); code > 1 {
			return // git refuses the pattern
		}
		d := diskOf(t, map[string]string{".gitignore": pattern + "\n"})
		if got, want := d.Ignored(name, false), err == nil; got != want {
			t.Errorf("pattern %q, name %q: ignored = %v, git says %v", pattern, name, got, want)
		}
	})
}

func exitCode(err error) int {
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		return e.ExitCode()
	}
	return 0
}

// A hostile ignore file must not be slow: stars don't multiply.
func TestGlobIsNotExponential(t *testing.T) {
	pattern := strings.Repeat("a*", 200) + "b"
	if matchGlob(pattern, bytes.Repeat([]byte("a"), 255)) {
		t.Error("matched")
	}
	if !matchGlob(pattern, append(bytes.Repeat([]byte("a"), 254), 'b')) {
		t.Error("did not match")
	}
}

func diskOf(t testing.TB, files map[string]string) *Disk {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := ownfile.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d, err := OpenDisk([]Folder{{Dir: dir}}, DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// userIgnore gives the test a user with an ignore file of their own.
func userIgnore(t *testing.T, text string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HOME", dir)
	if err := ownfile.MkdirAll(filepath.Join(dir, "git"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.WriteFile(filepath.Join(dir, "git", "ignore"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// outputOf runs a program that exits with 0 or 1.
func outputOf(t testing.TB, dir string, stdin []byte, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	if exitCode(err) > 1 || cmd.ProcessState == nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	return out
}

func sortedLines(out []byte) []string {
	var list []string
	for l := range strings.Lines(string(out)) {
		list = append(list, strings.TrimPrefix(strings.TrimSuffix(l, "\n"), "./"))
	}
	slices.Sort(list)
	return list
}

// walked returns the names that a walk visits, sorted.
func walked(t testing.TB, files Files, opts WalkOptions) []string {
	t.Helper()
	var mu sync.Mutex
	var names []string
	err := files.Walk(context.Background(), opts, func(e *Entry) error {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, e.Path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// TestUserIgnoreElsewhere: what DiskOptions says of the user's own ignore file holds
// for walks and questions, is followed, and takes nothing but a file.
func TestUserIgnoreElsewhere(t *testing.T) {
	userIgnore(t, "default\n")
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "ignore")
	for _, name := range []string{"local/db", "default", "plain"} {
		if err := ownfile.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := ownfile.WriteFile(file, []byte("local/\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	at := file
	d, err := OpenDisk([]Folder{{Dir: dir}}, DiskOptions{Ignores: ignoresOf(func(of string) string {
		if of != dir {
			t.Errorf("asked about %s", of)
		}
		return at
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []struct {
		at      string
		ignored bool
		want    []string
	}{
		{file, true, []string{"default", "plain"}},
		{"", false, []string{"default", "local/db", "plain"}},
		{t.TempDir(), false, []string{"default", "local/db", "plain"}},
		{filepath.Join(dir, "nothing"), false, []string{"default", "local/db", "plain"}},
	} {
		at = c.at
		if got := walked(t, d, WalkOptions{}); !cmp.Equal(got, c.want) || d.Ignored("local/db", false) != c.ignored || !slices.Equal(UserIgnores(d), []string{c.at}) {
			t.Errorf("by %q: %q, of %q", c.at, got, UserIgnores(d))
		}
	}
}

type ignoresOf func(dir string) string

func (f ignoresOf) File(dir string) string { return f(dir) }
