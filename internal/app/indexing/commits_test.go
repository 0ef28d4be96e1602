package indexing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
)

func whole() int { return 100 }

// TestPast: what a project index hears of the commits of the folders it is of.
func TestPast(t *testing.T) {
	r := gittest.New(t)
	plain := t.TempDir()
	p := commits{share: whole, atOnce: unitsAtOnce, folders: []workspace.Folder{{Name: "in", Dir: filepath.Join(r.Dir, "in")}, {Name: "plain", Dir: plain}}}
	check := func(news bool, want ...string) {
		t.Helper()
		commits, changed, more, err := p.read(t.Context())
		if more {
			if commits, _, more, err = p.read(t.Context()); more {
				t.Fatal("there is more and more")
			}
		}
		if err != nil || changed != news {
			t.Fatalf("news %v, %v; want %v", changed, err, news)
		}
		var got []string
		for _, c := range commits {
			got = append(got, strings.Join(c.Files, " "))
		}
		if !slices.Equal(got, want) {
			t.Errorf("commits of %q, want %q", got, want)
		}
	}
	if err := ownfile.Mkdir(filepath.Join(r.Dir, "in"), 0o777); err != nil {
		t.Fatal(err)
	}
	check(false)
	r.Commit("everything", "in/a", "1\n", "out", "1\n")
	check(true) // the first commit says nothing about one file
	r.Commit("two", "in/a", "2\n", "out", "2\n")
	check(true, "in/a")
	r.Commit("one outside", "out", "3\n")
	r.Commit("deeper", "in/b/c", "1\n")
	check(true, "in/b/c", "", "in/a")
	check(false, "in/b/c", "", "in/a")
	r.Git("reset", "-q", "--hard", "HEAD~1")
	r.Commit("another way", "in/d", "1\n")
	check(true, "in/d", "", "in/a")
	if err := ownfile.RemoveAll(filepath.Join(r.Dir, ".git")); err != nil {
		t.Fatal(err)
	}
	check(true)

	p.rest = 1 << 60
	if commits, news, more, err := p.read(t.Context()); commits != nil || news || more || err != nil {
		t.Errorf("right after a look: %v %v %v %v", commits, news, more, err)
	}
}

// TestPastIsBounded: of a large change nothing is kept, control: a small one.
func TestPastIsBounded(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "a", "1\n")
	var files []string
	for i := range history.MaxFiles + 1 {
		files = append(files, filepath.Join("d", strings.Repeat("x", i+1)), "1\n")
	}
	r.Commit("too much", files...)
	r.Commit("small", files[0], "2\n")
	p := commits{share: whole, atOnce: unitsAtOnce, folders: []workspace.Folder{{Dir: r.Dir}}}
	commits, _, _, err := p.read(t.Context())
	if err != nil || len(commits) != 1 || len(commits[0].Files) != 1 {
		t.Errorf("%d commits are known, %v", len(commits), err)
	}
}

// TestPastIsKept: a later run reads no more than what is new, and what it does
// not know for its own is read again.
func TestPastIsKept(t *testing.T) {
	r := gittest.New(t)
	r.Commit("everything", "a", "1\n")
	r.Commit("two", "a", "2\n")
	r.Commit("three", "b", "3\n")
	cache := t.TempDir()
	file := filepath.Join(cache, historyFile)
	store := &index.Store{Open: func(bool) (*os.Root, error) { return os.OpenRoot(cache) }}
	run := func(what, folder string, problems int, want ...string) {
		t.Helper()
		var told []error
		p := commits{share: whole, atOnce: unitsAtOnce, folders: []workspace.Folder{{Name: folder, Dir: r.Dir}}, store: store, problem: func(err error) { told = append(told, err) }}
		commits, news, more, err := p.read(t.Context())
		if more {
			commits, _, _, err = p.read(t.Context())
		}
		var got []string
		for _, c := range commits {
			got = append(got, strings.Join(c.Files, " "))
		}
		if err != nil || !news || !slices.Equal(got, want) || len(told) != problems {
			t.Fatalf("%s: %q, news %v, %v, %q; want %q", what, got, news, err, told, want)
		}
		if _, news, more, err := p.read(t.Context()); news || more || err != nil {
			t.Fatalf("%s: again news %v, more %v, %v", what, news, more, err)
		}
	}
	run("the first run", "", 0, "b", "a")

	// What is kept is what is known: one that differs shows that it was used.
	var kept []storedCommits
	data, err := store.Kept(historyFile)
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err != nil {
		t.Fatal(err)
	}
	kept[0].Commits[0].Files = []string{"kept"}
	if data, err = json.Marshal(kept); err != nil {
		t.Fatal(err)
	}
	again := func() {
		t.Helper()
		if err := store.Keep(historyFile, data); err != nil {
			t.Fatal(err)
		}
	}
	again()
	run("nothing is new", "", 0, "kept", "a")
	r.Commit("four", "c", "4\n")
	run("one is new", "", 0, "c", "kept", "a")
	run("it was kept again", "", 0, "c", "kept", "a")
	run("another folder", "other", 0, "c", "b", "a")

	again()
	r.Git("reset", "-q", "--hard", "HEAD~2")
	r.Commit("another way", "d", "1\n")
	run("no ancestor", "", 0, "d", "a")

	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := ownfile.WriteFile(file, append(good[:len(good)-1], 'x'), 0o600); err != nil {
		t.Fatal(err)
	}
	run("damaged", "", 1, "d", "a")
	again()
	if err := ownfile.Rename(file, file+".aside"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file + ".aside"); err != nil || ownfile.WriteFile(file, text, 0o600) != nil {
		t.Fatal(err)
	}
	run("a copy", "", 1, "d", "a")
	if err := store.Keep(historyFile, []byte(`[{"Head":"x"}]`)); err != nil {
		t.Fatal(err)
	}
	run("other data", "", 1, "d", "a")
}

// TestPastUnits: of each commit it is read which functions it touched, one call
// later, and by a run that an earlier one left it to.
func TestPastUnits(t *testing.T) {
	r := gittest.New(t)
	text := func(one, two string) string {
		return "package p\n\nfunc one() {\n\t" + one + "\n}\n\nfunc (s *S) two() {\n\t" + two + "\n}\n"
	}
	r.Commit("everything", "in/a.go", text("a()", "b()"), "in/b.txt", "1\n")
	r.Commit("one", "in/a.go", text("A()", "b()"), "in/b.txt", "2\n")
	r.Commit("both", "in/a.go", text("A(1)", "B()"), "in/new.go", "package p\n\nfunc three() {}\n")
	one, two := history.NameOf("", "one"), history.NameOf("S", "two")
	cache := t.TempDir()
	store := &index.Store{Open: func(bool) (*os.Root, error) { return os.OpenRoot(cache) }}
	share := 0
	open := func() *commits {
		return &commits{share: func() int { return share }, atOnce: unitsAtOnce, folders: []workspace.Folder{{Dir: filepath.Join(r.Dir, "in")}}, store: store, problem: func(err error) { t.Error(err) }}
	}
	check := func(what string, p *commits, more bool, want ...[][]history.Name) {
		t.Helper()
		commits, _, got, err := p.read(t.Context())
		if err != nil || got != more || len(commits) != len(want) {
			t.Fatalf("%s: %d commits, more %v, %v", what, len(commits), got, err)
		}
		for i, c := range commits {
			if !slices.EqualFunc(c.Units, want[i], slices.Equal) {
				t.Errorf("%s: commit %d touched %v, want %v", what, i, c.Units, want[i])
			}
		}
	}
	both, first := [][]history.Name{{one, two}, nil}, [][]history.Name{{one}, nil}
	p := open()
	check("it may take nothing", p, false, nil, nil)
	check("still", p, false, nil, nil)
	share = 100
	check("it may now", p, false, both, first)
	r.Commit("two", "in/a.go", text("A(1)", "C()"))
	check("one is new", p, true, nil, both, first)
	check("it is read", p, false, [][]history.Name{{two}}, both, first)

	share = 0
	r.Commit("two again", "in/a.go", text("A(1)", "D()"))
	check("one is left", p, false, nil, [][]history.Name{{two}}, both, first)
	share = 100
	again := *p
	again.store, again.of = nil, slices.Clone(p.of)
	share = 0
	r.Commit("one again", "in/a.go", text("B(1)", "D()"))
	check("another is left", &again, false, nil, nil, [][]history.Name{{two}}, both, first)
	share = 100
	check("both are read", &again, false, [][]history.Name{{one}}, [][]history.Name{{two}}, [][]history.Name{{two}}, both, first)
	r.Git("reset", "-q", "--hard", "HEAD~1")

	p = open()
	check("another run", p, true, nil, [][]history.Name{{two}}, both, first)
	check("it is read there", p, false, [][]history.Name{{two}}, [][]history.Name{{two}}, both, first)
	check("it was kept", open(), false, [][]history.Name{{two}}, [][]history.Name{{two}}, both, first)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Commit("one more", "in/a.go", text("E()", "D()"))
	check("before the end", p, true, nil, [][]history.Name{{two}}, [][]history.Name{{two}}, both, first)
	if _, news, _, err := p.read(ctx); news || !errors.Is(err, context.Canceled) {
		t.Errorf("ended: news %v, %v", news, err)
	}
}

// TestPastUnitsInSteps: what commits touched is read some commits at a time, the
// newest first, with a look for new ones between, and a later run goes on.
func TestPastUnitsInSteps(t *testing.T) {
	r := gittest.New(t)
	write := func(message string, n int) {
		t.Helper()
		r.Commit(message, "a.go", fmt.Sprintf("package p\n\nfunc one() {\n\ta(%d)\n}\n", n), "b.go", fmt.Sprintf("package p\n\nvar b = %d\n", n%2))
	}
	for n := range 5 {
		write("change", n)
	}
	cache := t.TempDir()
	store := &index.Store{Open: func(bool) (*os.Root, error) { return os.OpenRoot(cache) }}
	var told []error
	open := func() *commits {
		return &commits{share: whole, atOnce: 2, folders: []workspace.Folder{{Dir: r.Dir}}, store: store, problem: func(err error) { told = append(told, err) }}
	}
	// known tells of each commit whether its units are.
	known := func(p *commits, wantMore bool) string {
		t.Helper()
		commits, _, more, err := p.read(t.Context())
		if err != nil || more != wantMore || len(told) > 0 {
			t.Fatalf("more %v, %v, %q", more, err, told)
		}
		var out strings.Builder
		for _, c := range commits {
			switch {
			case c.Units == nil:
				out.WriteByte('-')
			case len(c.Units) == len(c.Files) && slices.Contains(c.Units[slices.Index(c.Files, "a.go")], history.NameOf("", "one")):
				out.WriteByte('+')
			default:
				t.Fatalf("%q touched %v", c.Files, c.Units)
			}
		}
		return out.String()
	}
	expect := func(got, want string) {
		t.Helper()
		if got != want {
			t.Fatalf("of the commits is known: %s, want %s", got, want)
		}
	}
	p := open()
	expect(known(p, true), "----")
	expect(known(p, true), "++--")
	write("one that comes meanwhile", 7)
	expect(known(p, true), "-++--")
	expect(known(p, true), "++++-")
	p = open()
	expect(known(p, true), "++++-")
	write("one before it goes on", 8)
	p = open()
	expect(known(p, true), "-++++-")
	expect(known(p, false), "++++++")
	p = open()
	expect(known(p, false), "++++++")
	p.rest = 1 << 60
	write("nobody looks", 9)
	expect(known(p, false), "")

	// What is kept of the unread is not believed when it can't be so.
	p = open()
	expect(known(p, true), "-++++++")
	good, err := store.Kept(historyFile)
	if err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func(k *storedCommits, u *storedUnread){
		"as it was":            func(*storedCommits, *storedUnread) {},
		"of an earlier server": func(k *storedCommits, _ *storedUnread) { k.Units, k.Unread = false, nil },
		"no such commit":       func(_ *storedCommits, u *storedUnread) { u.Commit = 7 },
		"before the first":     func(_ *storedCommits, u *storedUnread) { u.Commit = -1 },
		"twice":                func(k *storedCommits, u *storedUnread) { k.Unread = append(k.Unread, *u) },
		"another file": func(_ *storedCommits, u *storedUnread) {
			u.Paths, u.Blobs = append(u.Paths, "c.go"), append(u.Blobs, u.Blobs[:40]...)
		},
		"half of a blob's sum": func(_ *storedCommits, u *storedUnread) { u.Blobs = u.Blobs[:len(u.Blobs)-10] },
	} {
		var kept []storedCommits
		if err := json.Unmarshal(good, &kept); err != nil || len(kept[0].Unread) != 1 {
			t.Fatalf("%d are unread, %v", len(kept[0].Unread), err)
		}
		spoil(&kept[0], &kept[0].Unread[0])
		data, err := json.Marshal(kept)
		if err == nil {
			err = store.Keep(historyFile, data)
		}
		if err != nil {
			t.Fatal(err)
		}
		want := "-------" // all is read again
		if what == "as it was" {
			want = "-++++++"
		}
		if got := known(open(), true); got != want {
			t.Errorf("%s: of the commits is known: %s, want %s", what, got, want)
		}
	}
}

// TestPastOfOthers: a repository that can't be read takes nothing from the others,
// nor from what was known before.
func TestPastOfOthers(t *testing.T) {
	good, bad := gittest.New(t), gittest.New(t)
	cache := t.TempDir()
	open := func() *commits {
		return &commits{
			share: func() int { return 0 }, atOnce: unitsAtOnce, store: &index.Store{Open: func(bool) (*os.Root, error) { return os.OpenRoot(cache) }},
			folders: []workspace.Folder{{Name: "bad", Dir: bad.Dir}, {Name: "good", Dir: good.Dir}},
		}
	}
	check := func(p *commits, fails bool, want ...string) {
		t.Helper()
		commits, news, _, err := p.read(t.Context())
		var got []string
		for _, c := range commits {
			got = append(got, strings.Join(c.Files, " "))
		}
		if (err != nil) != fails || !news || !slices.Equal(got, want) {
			t.Fatalf("commits of %q, news %v, %v; want %q", got, news, err, want)
		}
	}
	for _, r := range []*gittest.Repo{good, bad} {
		r.Commit("everything", "a", "1\n")
		r.Commit("two", "a", "2\n")
	}
	check(open(), false, "bad/a", "good/a")
	if err := ownfile.WriteFile(filepath.Join(bad.Dir, ".git", "HEAD"), []byte(strings.Repeat("1", 40)+"\n"), 0o600); err != nil { // a commit that is gone
		t.Fatal(err)
	}
	p := open()
	check(p, true, "bad/a", "good/a")
	good.Commit("three", "b", "3\n")
	check(p, true, "bad/a", "good/b", "good/a")
}

// TestPastForgetsTheOldest: with those that are too many goes what is to be read of them.
func TestPastForgetsTheOldest(t *testing.T) {
	r := gittest.New(t)
	r.Commit("everything", "a.go", "package p\n\nfunc a() {}\n")
	p := commits{share: whole, atOnce: 1, folders: []workspace.Folder{{Dir: r.Dir}}}
	if _, _, _, err := p.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := &p.of[0]
	f.commits = make([]history.Commit, history.MaxCommits)
	for i := range f.commits {
		f.commits[i] = history.New(1, "old", []string{"a.go"}, nil)
	}
	f.unread = []unread{{5, make([]gitrepo.Edit, 1)}, {len(f.commits) - 1, make([]gitrepo.Edit, 1)}}
	r.Commit("change", "a.go", "package p\n\nfunc a() { b() }\n")
	for reads := 1; ; reads++ {
		commits, _, more, err := p.read(t.Context())
		if err != nil || len(commits) != history.MaxCommits || reads > 10 {
			t.Fatalf("%d commits, %v, %d reads", len(commits), err, reads)
		}
		if more {
			continue
		}
		if len(commits[0].Units) != 1 || commits[0].Files[0] != "a.go" || commits[5].Units != nil || commits[6].Units == nil {
			t.Errorf("units of the newest: %v, of others: %v, %v", commits[0].Units, commits[5].Units, commits[6].Units)
		}
		break
	}
}
