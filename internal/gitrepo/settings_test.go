package gitrepo

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
)

// Settings are read as git lists them.
func TestConfig(t *testing.T) {
	r := gittest.New(t)
	home := os.Getenv("HOME")
	r.At(home).Write("more", "[more]\n\tvalue = 1\n", "for-work", "[cond]\n\tvalue = here\n", "not-here", "[cond]\n\tvalue = elsewhere\n")
	file, err := os.OpenFile(r.Path(".git/config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`[Core] Odd = 1 # beside its section
[a.B]
	c = dotted
[a "B.c\"d"]
	E-f = "quo\"ted # ; " and \
  on ; comment
	flag
	other
	empty =
[crlf]` + "\r\n\tx = y  \r\n" + `
	tab = a\tb\nc
[include]
	path = ~/more
[includeIf "gitdir:` + r.Dir + `/"]
	path = ~/for-work
[includeIf "gitdir:/elsewhere/"]
	path = ~/not-here
`); err != nil {
		t.Fatal(err)
	}
	file.Close()
	want := config{}
	for _, item := range strings.Split(strings.TrimSuffix(r.Git("config", "--list", "-z"), "\x00"), "\x00") {
		key, value, ok := strings.Cut(item, "\n")
		if !ok {
			value = "true"
		}
		if !strings.HasPrefix(key, "include") {
			want[key] = value
		}
	}
	repo, err := Open(r.Dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := repo.config()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-git +ours:\n%s", d)
	}
	r.Git("config", "a.new", "5")
	if got, err = repo.config(); err != nil || got["a.new"] != "5" {
		t.Errorf("a change is not seen: %v", err)
	}
}

func TestConfigDamaged(t *testing.T) {
	for _, text := range []string{"[core\n", "[core \"x\n", "x = 1\n", "[core]\n\tx = \"y\n", "[core]\n\tx = \\q\n", "[core]\n\tx y\n", "[core]\n\tx # y\n", "[]\n", "[core]\n\t=1\n"} {
		file := t.TempDir() + "/config"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := readConfig(file); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
