package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// Settings are read as git lists them.
func TestConfig(t *testing.T) {
	r := gittest.New(t)
	home := os.Getenv("HOME")
	r.At(home).Write("more", "[more]\n\tvalue = 1\n", "for-work", "[cond]\n\tvalue = here\n", "not-here", "[cond]\n\tvalue = elsewhere\n")
	file, err := ownfile.OpenFile(r.Path(".git/config"), os.O_APPEND|os.O_WRONLY, 0)
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
	want := gitconfig.Values{}
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
		if err := ownfile.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := gitconfig.ReadFile(file); !errors.Is(err, gitfile.ErrCorrupt) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// TestWhichSettings: the variables of git(1) that say which the user's and the
// machine's settings are hold for what is read here and for what git is run
// for; the null device stands for none.
func TestWhichSettings(t *testing.T) {
	w := newWorld(t, Options{})
	w.write("../other", "[user]\n\tname = Another\n\temail = other@example.test\n[core]\n\texcludesFile = "+w.dir+"/ignored\n")
	w.write("../ignored", "*.tmp\n")
	w.write("x.tmp", "x\n")
	w.write("../nothing", "[core]\n\texcludesFile = /dev/null\n")
	for _, c := range []struct{ variable, file, author string }{
		{"GIT_CONFIG_GLOBAL", "../home/.gitconfig", "A User"}, // the control
		{"GIT_CONFIG_GLOBAL", "../other", "Another"},
		{"GIT_CONFIG_GLOBAL", os.DevNull, ""},
		{"GIT_CONFIG_GLOBAL", "../nothing", ""},
		{"GIT_CONFIG_SYSTEM", "../other", "A User"}, // the user's is stronger
		{"GIT_CONFIG_SYSTEM", os.DevNull, "A User"},
	} {
		t.Run(c.variable+" "+c.file, func(t *testing.T) {
			t.Setenv("GIT_CONFIG_NOSYSTEM", "0")
			if c.variable == "GIT_CONFIG_GLOBAL" {
				t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
			}
			if c.file != os.DevNull {
				c.file = w.path(c.file)
			}
			t.Setenv(c.variable, c.file)
			w.sh("echo x >> a.txt; git add a.txt")
			r, err := Open(w.path(""), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Resolve("HEAD"); err != nil {
				t.Error(err)
			}
			st, err := r.Status(t.Context(), StatusOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Fields(w.sh("git ls-files --others --exclude-standard"))
			if cmp.Diff(want, st.Untracked, cmpopts.EquateEmpty()) != "" {
				t.Errorf("untracked: %q, git has %q", st.Untracked, want)
			}
			_, err = r.Commit(t.Context(), "by whom", nil, "", nil)
			if c.author == "" {
				if err == nil || !strings.Contains(err.Error(), "user.name") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			w.same("git log -1 --format=%an", c.author)
		})
	}
}

// TestHeadUnreadable: what keeps HEAD from being read is said, and passes for
// no repository without a commit.
func TestHeadUnreadable(t *testing.T) {
	r := gittest.New(t)
	repo, err := Open(r.Dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Resolve("HEAD"); !errors.Is(err, ErrNoCommit) || !errors.Is(err, ErrNoSuchRev) {
		t.Errorf("the control: %v", err)
	}
	r.Commit("first", "a", "1\n")
	for _, c := range []struct{ file, text, says string }{
		{".git/HEAD", "nonsense\n", "HEAD"},
		{".git/config", "[core\n", "config"},
	} {
		before, err := os.ReadFile(r.Path(c.file))
		if err != nil {
			t.Fatal(err)
		}
		r.Write(c.file, c.text)
		if _, err := repo.Resolve("HEAD"); err == nil || errors.Is(err, ErrNoCommit) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.file, err)
		}
		r.Write(c.file, string(before))
	}
}

// TestUserIgnores: the user's ignore file is that which git takes, also once its
// settings or the repository change.
func TestUserIgnores(t *testing.T) {
	r := gittest.New(t)
	dir := r.Path("")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	outside := t.TempDir()
	global := filepath.Join(t.TempDir(), "config")
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	standard := gitconfig.UserFile("ignore")
	set := func(file, text string) {
		t.Helper()
		if err := ownfile.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var u UserIgnores
	check := func(what, here, elsewhere string) {
		t.Helper()
		if got := u.File(dir); got != here {
			t.Errorf("%s: %s, want %s", what, got, here)
		}
		if got := u.File(outside); got != elsewhere {
			t.Errorf("%s, without a repository: %s, want %s", what, got, elsewhere)
		}
	}
	set(global, "")
	check("nothing is set", standard, standard)
	set(global, "[core]\n\texcludesFile = /the/user's\n")
	check("by the user", "/the/user's", "/the/user's")
	set(global, "[core]\n\texcludesFile = ~/mine\n")
	check("in the home", filepath.Join(os.Getenv("HOME"), "mine"), filepath.Join(os.Getenv("HOME"), "mine"))
	own, err := os.ReadFile(filepath.Join(dir, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	set(filepath.Join(dir, ".git", "config"), string(own)+"[core]\n\texcludesFile = rules\n")
	check("by the repository", filepath.Join(dir, "rules"), filepath.Join(os.Getenv("HOME"), "mine"))
}
