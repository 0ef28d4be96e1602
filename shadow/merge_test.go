package shadow_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

func (h *house) merge(id string, main workspace.Files) shadow.Merge {
	h.t.Helper()
	m, err := h.Merge(context.Background(), id, main)
	if err != nil {
		h.t.Fatal(err)
	}
	return m
}

// apply merges into a view and applies what came out.
func (h *house) apply(id string, view workspace.View) shadow.Merge {
	h.t.Helper()
	m := h.merge(id, view)
	if err := view.Apply(context.Background(), m.Changes...); err != nil {
		h.t.Fatal(err)
	}
	return m
}

// summary is what a merge comes to, in words.
func summary(m shadow.Merge) string {
	var out []string
	for _, c := range m.Changes {
		out = append(out, c.Kind()+" "+c.Path)
	}
	for _, c := range m.Conflicts {
		out = append(out, "conflict "+c.Path)
	}
	for _, s := range m.Skipped {
		out = append(out, "skipped "+s.Path)
	}
	return strings.Join(out, ", ")
}

// TestMerge: each case begins with the files f and g, and merges what is done
// in the shadow into what is done in the main tree.
func TestMerge(t *testing.T) {
	slow.Test(t)
	type files = []string
	text := lines("line", 9)
	edit := func(n int, to string) string {
		return strings.Replace(text, fmt.Sprintf("line %d\n", n), to+"\n", 1)
	}
	for _, c := range []struct {
		name   string
		theirs func(write func(...string), path func(string) string)
		ours   func(write func(...string), path func(string) string)
		want   string // summary
		again  string // of a second merge, after the first was applied
		after  files
	}{
		{name: "nothing"},
		{name: "only theirs", theirs: func(w func(...string), _ func(string) string) { w("f", edit(2, "x"), "new/n", "n\n") }, want: "modify f, create new/n", after: files{"f", edit(2, "x"), "new/n", "n\n"}},
		{name: "only ours", ours: func(w func(...string), _ func(string) string) { w("f", edit(2, "x")) }, after: files{"f", edit(2, "x")}},
		{name: "different lines", theirs: func(w func(...string), _ func(string) string) { w("f", edit(2, "x")) }, ours: func(w func(...string), _ func(string) string) { w("f", edit(7, "y")) },
			want: "modify f", after: files{"f", strings.Replace(edit(2, "x"), "line 7\n", "y\n", 1)}},
		{name: "the same lines", theirs: func(w func(...string), _ func(string) string) { w("f", edit(2, "x"), "g", "other\n") }, ours: func(w func(...string), _ func(string) string) { w("f", edit(2, "y")) },
			want: "modify g, conflict f", again: "conflict f", after: files{"f", edit(2, "y"), "g", "other\n"}},
		{name: "the same change", theirs: func(w func(...string), _ func(string) string) { w("f", edit(2, "x")) }, ours: func(w func(...string), _ func(string) string) { w("f", edit(2, "x")) }, after: files{"f", edit(2, "x")}},
		{name: "deleted", theirs: func(_ func(...string), p func(string) string) { ownfile.Remove(p("f")) }, want: "delete f", after: files{"f", "-"}},
		{name: "deleted by both", theirs: func(_ func(...string), p func(string) string) { ownfile.Remove(p("f")) }, ours: func(_ func(...string), p func(string) string) { ownfile.Remove(p("f")) }, after: files{"f", "-"}},
		{name: "deleted and changed", theirs: func(_ func(...string), p func(string) string) { ownfile.Remove(p("f")) }, ours: func(w func(...string), _ func(string) string) { w("f", edit(2, "y")) },
			want: "conflict f", again: "conflict f", after: files{"f", edit(2, "y")}},
		{name: "changed and deleted", theirs: func(w func(...string), _ func(string) string) { w("f", edit(2, "y")) }, ours: func(_ func(...string), p func(string) string) { ownfile.Remove(p("f")) },
			want: "conflict f", again: "conflict f", after: files{"f", "-"}},
		{name: "two new files", theirs: func(w func(...string), _ func(string) string) { w("n", "theirs\n") }, ours: func(w func(...string), _ func(string) string) { w("n", "ours\n") },
			want: "conflict n", again: "conflict n", after: files{"n", "ours\n"}},
		{name: "one new file twice", theirs: func(w func(...string), _ func(string) string) { w("n", "n\n") }, ours: func(w func(...string), _ func(string) string) { w("n", "n\n") }, after: files{"n", "n\n"}},
		{name: "renamed", theirs: func(_ func(...string), p func(string) string) { ownfile.Rename(p("f"), p("moved")) }, want: "rename moved", after: files{"f", "-", "moved", text}},
		{name: "renamed and changed", theirs: func(_ func(...string), p func(string) string) { ownfile.Rename(p("f"), p("moved")) }, ours: func(w func(...string), _ func(string) string) { w("f", edit(7, "y")) },
			want: "rename moved", after: files{"f", "-", "moved", edit(7, "y")}},
		{name: "renamed with an edit, and changed", theirs: func(w func(...string), p func(string) string) {
			ownfile.Rename(p("f"), p("moved"))
			w("moved", edit(2, "x"))
		}, ours: func(w func(...string), _ func(string) string) { w("f", edit(7, "y")) },
			want: "rename moved", after: files{"f", "-", "moved", strings.Replace(edit(2, "x"), "line 7\n", "y\n", 1)}},
		{name: "renamed with an edit of what was changed", theirs: func(w func(...string), p func(string) string) {
			ownfile.Rename(p("f"), p("moved"))
			w("moved", edit(2, "x"))
		}, ours: func(w func(...string), _ func(string) string) { w("f", edit(2, "y")) },
			want: "conflict moved", again: "conflict moved", after: files{"f", edit(2, "y"), "moved", "-"}},
		{name: "renamed and deleted", theirs: func(_ func(...string), p func(string) string) { ownfile.Rename(p("f"), p("moved")) }, ours: func(_ func(...string), p func(string) string) { ownfile.Remove(p("f")) },
			want: "conflict moved", again: "conflict moved", after: files{"f", "-", "moved", "-"}},
		{name: "renamed to a name that is taken", theirs: func(_ func(...string), p func(string) string) { ownfile.Rename(p("f"), p("moved")) }, ours: func(w func(...string), _ func(string) string) { w("moved", "ours\n") },
			want: "conflict moved", again: "conflict moved", after: files{"f", text, "moved", "ours\n"}},
		{name: "renamed by both", theirs: func(_ func(...string), p func(string) string) { ownfile.Rename(p("f"), p("moved")) }, ours: func(_ func(...string), p func(string) string) { ownfile.Rename(p("f"), p("moved")) }, after: files{"f", "-", "moved", text}},
		{name: "changed and renamed", theirs: func(w func(...string), _ func(string) string) { w("f", edit(2, "x")) }, ours: func(_ func(...string), p func(string) string) { ownfile.Rename(p("f"), p("moved")) },
			want: "modify moved", after: files{"f", "-", "moved", edit(2, "x")}},
		{name: "changed, and renamed with an edit", theirs: func(w func(...string), _ func(string) string) { w("f", edit(2, "x")) }, ours: func(w func(...string), p func(string) string) {
			ownfile.Rename(p("f"), p("moved"))
			w("moved", edit(7, "y"))
		}, want: "modify moved", after: files{"f", "-", "moved", strings.Replace(edit(2, "x"), "line 7\n", "y\n", 1)}},
		{name: "changed, and renamed with an edit of the same", theirs: func(w func(...string), _ func(string) string) { w("f", edit(2, "x")) }, ours: func(w func(...string), p func(string) string) {
			ownfile.Rename(p("f"), p("moved"))
			w("moved", edit(2, "y"))
		}, want: "conflict moved", again: "conflict moved", after: files{"f", "-", "moved", edit(2, "y")}},
		{name: "made executable, and renamed", theirs: func(_ func(...string), p func(string) string) { ownfile.Chmod(p("f"), 0o755) }, ours: func(_ func(...string), p func(string) string) { ownfile.Rename(p("f"), p("moved")) },
			want: "modify moved", after: files{"f", "-", "moved", "x " + text}},
		{name: "deleted, and renamed", theirs: func(_ func(...string), p func(string) string) { ownfile.Remove(p("f")) }, ours: func(_ func(...string), p func(string) string) { ownfile.Rename(p("f"), p("moved")) },
			want: "conflict f", again: "conflict f", after: files{"f", "-", "moved", text}},
		{name: "renamed to two names", theirs: func(_ func(...string), p func(string) string) { ownfile.Rename(p("f"), p("theirs")) }, ours: func(_ func(...string), p func(string) string) { ownfile.Rename(p("f"), p("ours")) },
			want: "conflict theirs", again: "conflict theirs", after: files{"f", "-", "ours", text, "theirs", "-"}},
		{name: "renamed by both with edits", theirs: func(w func(...string), p func(string) string) {
			ownfile.Rename(p("f"), p("moved"))
			w("moved", edit(2, "x"))
		}, ours: func(w func(...string), p func(string) string) {
			ownfile.Rename(p("f"), p("moved"))
			w("moved", edit(7, "y"))
		},
			want: "modify moved", after: files{"f", "-", "moved", strings.Replace(edit(2, "x"), "line 7\n", "y\n", 1)}},
		{name: "binary in theirs", theirs: func(w func(...string), _ func(string) string) { w("g", "\x00\x01") }, want: "modify g", after: files{"g", "\x00\x01"}},
		{name: "binary in both", theirs: func(w func(...string), _ func(string) string) { w("g", "\x00\x01") }, ours: func(w func(...string), _ func(string) string) { w("g", "\x00\x02") },
			want: "conflict g", again: "conflict g", after: files{"g", "\x00\x02"}},
		{name: "mode", theirs: func(_ func(...string), p func(string) string) { ownfile.Chmod(p("f"), 0o755) }, want: "modify f", after: files{"f", "x " + text}},
		{name: "mode in both", theirs: func(_ func(...string), p func(string) string) { ownfile.Chmod(p("f"), 0o755) }, ours: func(_ func(...string), p func(string) string) { ownfile.Chmod(p("f"), 0o700) }, after: files{"f", "x " + text}},
		{name: "mode, and text in ours", theirs: func(_ func(...string), p func(string) string) { ownfile.Chmod(p("f"), 0o755) }, ours: func(w func(...string), _ func(string) string) { w("f", edit(7, "y")) },
			want: "modify f", after: files{"f", "x " + edit(7, "y")}},
		{name: "no more executable", theirs: func(_ func(...string), p func(string) string) { ownfile.Chmod(p("run"), 0o644) }, want: "modify run", after: files{"run", "#!\n"}},
		{name: "mode of a binary", theirs: func(_ func(...string), p func(string) string) { ownfile.Chmod(p("bin"), 0o755) }, want: "modify bin", after: files{"bin", "x \x00"}},
		{name: "mode and content of a binary", theirs: func(w func(...string), p func(string) string) { w("bin", "\x00\x02"); ownfile.Chmod(p("bin"), 0o755) }, want: "modify bin", after: files{"bin", "x \x00\x02"}},
		{name: "mode of what is deleted", theirs: func(_ func(...string), p func(string) string) { ownfile.Chmod(p("g"), 0o755) }, ours: func(_ func(...string), p func(string) string) { ownfile.Remove(p("g")) },
			want: "conflict g", again: "conflict g", after: files{"g", "-"}},
		{name: "renamed and made executable", theirs: func(_ func(...string), p func(string) string) {
			ownfile.Rename(p("f"), p("moved"))
			ownfile.Chmod(p("moved"), 0o755)
		}, want: "rename moved", after: files{"f", "-", "moved", "x " + text}},
		{name: "deleted executable", theirs: func(_ func(...string), p func(string) string) { ownfile.Remove(p("run")) }, want: "delete run", after: files{"run", "-"}},
		{name: "a new file twice, once executable", theirs: func(w func(...string), p func(string) string) { w("n", "n\n"); ownfile.Chmod(p("n"), 0o755) }, ours: func(w func(...string), _ func(string) string) { w("n", "n\n") },
			want: "modify n", after: files{"n", "x n\n"}},
		{name: "new executable", theirs: func(w func(...string), p func(string) string) { w("n", "n\n"); ownfile.Chmod(p("n"), 0o755) }, want: "create n", after: files{"n", "x n\n"}},
		{name: "text and mode", theirs: func(w func(...string), p func(string) string) { w("f", edit(2, "x")); ownfile.Chmod(p("f"), 0o755) }, want: "modify f", after: files{"f", "x " + edit(2, "x")}},
		{name: "link", theirs: func(_ func(...string), p func(string) string) { ownfile.Symlink("f", p("l")) }, want: "create l", after: files{"l", "-> f"}},
		{name: "link of a directory, and one that leads nowhere", theirs: func(w func(...string), p func(string) string) {
			ownfile.Symlink(".", p("here"))
			ownfile.Symlink("nothing", p("new/l"))
			w("new/n", "n\n")
			ownfile.Symlink("nothing", p("new/l"))
		},
			want: "create here, create new/l, create new/n", after: files{"here", "-> .", "new/l", "-> nothing", "new/n", "n\n"}},
		{name: "link elsewhere", theirs: func(_ func(...string), p func(string) string) {
			ownfile.Remove(p("link"))
			ownfile.Symlink("f", p("link"))
		}, want: "modify link", after: files{"link", "-> f"}},
		{name: "link elsewhere in both", theirs: func(_ func(...string), p func(string) string) {
			ownfile.Remove(p("link"))
			ownfile.Symlink("f", p("link"))
		}, ours: func(_ func(...string), p func(string) string) {
			ownfile.Remove(p("link"))
			ownfile.Symlink("crlf", p("link"))
		},
			want: "conflict link", again: "conflict link", after: files{"link", "-> crlf"}},
		{name: "the same link", theirs: func(_ func(...string), p func(string) string) {
			ownfile.Remove(p("link"))
			ownfile.Symlink("f", p("link"))
		}, ours: func(_ func(...string), p func(string) string) {
			ownfile.Remove(p("link"))
			ownfile.Symlink("f", p("link"))
		}, after: files{"link", "-> f"}},
		{name: "link deleted", theirs: func(_ func(...string), p func(string) string) { ownfile.Remove(p("link")) }, want: "delete link", after: files{"link", "-", "g", "g\n"}},
		{name: "link moved", theirs: func(_ func(...string), p func(string) string) { ownfile.Rename(p("link"), p("other")) }, want: "delete link, create other", after: files{"link", "-", "other", "-> g"}},
		{name: "link became a file", theirs: func(w func(...string), p func(string) string) {
			ownfile.Remove(p("link"))
			w("link", "text\n")
			ownfile.Chmod(p("link"), 0o755)
		}, want: "modify link", after: files{"link", "x text\n", "g", "g\n"}},
		{name: "link became a file, and what it leads to changed", theirs: func(w func(...string), p func(string) string) { ownfile.Remove(p("link")); w("link", "text\n") }, ours: func(w func(...string), _ func(string) string) { w("g", "other\n") },
			want: "modify link", after: files{"link", "text\n", "g", "other\n"}},
		{name: "link and directory", theirs: func(_ func(...string), p func(string) string) { ownfile.Symlink("f", p("n")) }, ours: func(w func(...string), _ func(string) string) { w("n/x", "x\n") },
			want: "conflict n", again: "conflict n", after: files{"n/x", "x\n"}},
		{name: "link in place of a file that was changed", theirs: func(_ func(...string), p func(string) string) { ownfile.Remove(p("g")); ownfile.Symlink("f", p("g")) }, ours: func(w func(...string), _ func(string) string) { w("g", "ours\n") },
			want: "conflict g", again: "conflict g", after: files{"g", "ours\n"}},
		{name: "link in place of a file", theirs: func(_ func(...string), p func(string) string) { ownfile.Remove(p("g")); ownfile.Symlink("f", p("g")) }, want: "modify g", after: files{"g", "-> f"}},
		{name: "file in place of a directory", theirs: func(w func(...string), _ func(string) string) { w("n", "file\n") }, ours: func(w func(...string), _ func(string) string) { w("n/x", "x\n") },
			want: "conflict n", again: "conflict n", after: files{"n/x", "x\n"}},
		{name: "directory in place of a file", theirs: func(w func(...string), _ func(string) string) { w("n/x", "x\n") }, ours: func(w func(...string), _ func(string) string) { w("n", "file\n") },
			want: "conflict n/x", again: "conflict n/x", after: files{"n", "file\n"}},
		{name: "behind a link of the main tree", theirs: func(w func(...string), _ func(string) string) { w("n/x", "x\n") }, ours: func(_ func(...string), p func(string) string) {
			ownfile.Mkdir(p("d"), 0o755)
			ownfile.Symlink("d", p("n"))
		},
			want: "skipped n/x", again: "skipped n/x", after: files{"d/x", "-"}},
		{name: "protected", theirs: func(w func(...string), _ func(string) string) { w("sub/.sidecar/settings.json", "{}\n", "ok", "1\n") }, want: "create ok, skipped sub/.sidecar/settings.json", again: "skipped sub/.sidecar/settings.json", after: files{"ok", "1\n", "sub/.sidecar/settings.json", "-"}},
		{name: "line ends", theirs: func(w func(...string), _ func(string) string) { w("crlf", "one\r\n2\r\nthree\r\nfour\r\n") }, ours: func(w func(...string), _ func(string) string) { w("crlf", "one\r\ntwo\r\nthree\r\n4\r\n") },
			want: "modify crlf", after: files{"crlf", "one\r\n2\r\nthree\r\n4\r\n"}},
		{name: "empty", theirs: func(w func(...string), _ func(string) string) { w("f", "", "e", "") }, want: "create e, modify f", after: files{"f", "", "e", ""}},
	} {
		begin := func(t *testing.T) (*house, shadow.Shadow) {
			h := newHouse(t, "f", text, "g", "g\n", "crlf", "one\r\ntwo\r\nthree\r\nfour\r\n", "run", "#!\n", "bin", "\x00")
			ownfile.Symlink("g", h.Path("link"))
			ownfile.Chmod(h.Path("run"), 0o755)
			h.Commit("more")
			s, w := h.create(shadow.CreateRequest{})
			if c.theirs != nil {
				c.theirs(w.Write, w.Path)
			}
			if c.ours != nil {
				c.ours(h.Write, h.Path)
			}
			return h, s
		}
		check := func(h *house, what string) {
			h.t.Helper()
			for i := 0; i+1 < len(c.after); i += 2 {
				if got := look(h.Path(c.after[i])); got != c.after[i+1] {
					h.t.Errorf("%s, %s: %q", what, c.after[i], got)
				}
			}
		}
		t.Run(c.name, func(t *testing.T) {
			h, s := begin(t)
			staged := h.Git("diff", "--cached")
			if got := summary(h.apply(s.ID, h.main)); got != c.want {
				t.Errorf("merge: %q, want %q", got, c.want)
			}
			if got := summary(h.apply(s.ID, h.main)); got != c.again {
				t.Errorf("second merge: %q, want %q", got, c.again)
			}
			check(h, "merged")
			if h.Git("diff", "--cached") != staged {
				t.Error("something was staged")
			}
		})
		if c.want == "" || strings.HasPrefix(c.want, "conflict") || strings.HasPrefix(c.want, "skipped") {
			continue
		}
		t.Run(c.name+", reviewed", func(t *testing.T) {
			h, s := begin(t)
			h.reviewed(s.ID, c.want, c.again, func() { check(h, "accepted") })
		})
	}
}

// look is what there is at a path: "-> target", a text with "x " before it if
// it can be executed, or "-".
func look(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "-"
	}
	if info.Mode().Type() == os.ModeSymlink {
		target, _ := os.Readlink(path)
		return "-> " + target
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "-"
	}
	if info.Mode()&0o100 != 0 {
		return "x " + string(data)
	}
	return string(data)
}

// reviewed merges into a review queue, and accepts, undoes, accepts again,
// undoes and rejects what came out.
func (h *house) reviewed(id, want, again string, accepted func()) {
	h.t.Helper()
	ctx := context.Background()
	must := func(failed []pendingedits.Failure, err error) {
		h.t.Helper()
		if err != nil || len(failed) > 0 {
			h.t.Fatalf("%+v %v", failed, err)
		}
	}
	dir := h.t.TempDir()
	open := func() *pendingedits.Store {
		queue, err := pendingedits.Open(dir, h.main, pendingedits.Options{Observer: failing{t: h.t}})
		if err != nil {
			h.t.Fatal(err)
		}
		return queue
	}
	queue := open()
	all := func() string {
		out := ""
		_ = filepath.WalkDir(h.Dir, func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == ".git" || d.Name() == ".sidecar"):
				return fs.SkipDir
			case !d.IsDir():
				out += path + ": " + look(path) + "\n"
			}
			return nil
		})
		return out
	}
	pending := func() string {
		diff, err := queue.Diff("")
		if err != nil {
			h.t.Fatal(err)
		}
		var ids []string
		for _, e := range queue.List("").Edits {
			for _, hunk := range e.Hunks {
				ids = append(ids, e.Kind, e.Name, hunk.ID, hunk.Text)
			}
		}
		return diff + fmt.Sprint(ids)
	}
	before := all()
	into := queue.For(pendingedits.Proposer{Session: "default", Tool: "shadow merge"})
	if got := summary(h.apply(id, into)); got != want {
		h.t.Errorf("merge: %q, want %q", got, want)
	}
	if got := summary(h.apply(id, into)); got != again {
		h.t.Errorf("second merge: %q, want %q", got, again)
	}
	if all() != before {
		h.t.Error("a merge into review changed files")
	}
	was := pending()
	if err := queue.Close(); err != nil {
		h.t.Fatal(err)
	}
	queue = open()
	defer func() { queue.Close() }()
	if got := pending(); got != was {
		h.t.Errorf("another start changed what is pending from\n%s\nto\n%s", was, got)
	}
	r, err := queue.Accept(ctx, pendingedits.Selection{})
	must(r.Failed, err)
	accepted()
	after := all()
	if n := len(queue.List("").Edits); n != 0 {
		h.t.Errorf("%d edits are left", n)
	}
	u, err := queue.Undo(ctx)
	must(u.Failed, err)
	if got := all(); got != before {
		h.t.Errorf("undone, before\n%s\nafter\n%s", before, got)
	}
	if got, _ := queue.Diff(""); !strings.HasPrefix(was, got) {
		h.t.Errorf("undone, pending before\n%s\nafter\n%s", was, got)
	}
	u, err = queue.Undo(ctx)
	must(u.Failed, err)
	if got := all(); got != after || len(queue.List("").Edits) != 0 {
		h.t.Errorf("accepted again\n%s\nnot\n%s\n%+v", got, after, queue.List("").Edits)
	}
	u, err = queue.Undo(ctx)
	must(u.Failed, err)
	j, err := queue.Reject(ctx, pendingedits.Selection{}, "")
	if err != nil || len(j.Rejected) == 0 || all() != before || len(queue.List("").Edits) != 0 {
		h.t.Errorf("rejected: %+v %v", j, err)
	}
}

func TestConflictTexts(t *testing.T) {
	h := newHouse(t, "f", "base\n", ".env", "KEY=base-secret\n", "long", "base\n")
	s, w := h.create(shadow.CreateRequest{})
	w.Write("f", "theirs\n", "n", "theirs\n", ".env", "KEY=their-secret\n", "long", strings.Repeat("ä", 100_000))
	h.Write("f", "ours\n", "n", "ours\n", ".env", "KEY=our-secret\n", "long", "ours\n")
	texts := map[string]string{}
	for _, c := range h.merge(s.ID, h.main).Conflicts {
		show := func(p *string) string {
			if p == nil {
				return "nil"
			}
			return fmt.Sprintf("%.10q", *p)
		}
		texts[c.Path] = show(c.Base) + show(c.Ours) + show(c.Theirs)
		if c.Path == "long" && len(*c.Theirs) > 70_000 {
			t.Errorf("%d bytes", len(*c.Theirs))
		}
		if strings.Contains(texts[c.Path]+c.Reason, "secret\"") {
			t.Errorf("shown: %s", texts[c.Path])
		}
	}
	if texts["f"] != `"base\n""ours\n""theirs\n"` || texts["n"] != `nil"ours\n""theirs\n"` || texts[".env"] != "nilnilnil" || len(texts) != 4 {
		t.Errorf("%v", texts)
	}
}

// TestMergeRespelled merges renames that change the spelling alone into a main tree
// where that makes no difference.
func TestMergeRespelled(t *testing.T) {
	text := lines("line", 9)
	h := newHouse(t, "same", text, "empty", "", "other", text, "both", text, "gone", "gone\n")
	s, w := h.create(shadow.CreateRequest{})
	for _, name := range []string{"same", "empty", "other", "both"} {
		if err := ownfile.Rename(w.Path(name), w.Path(strings.ToUpper(name))); err != nil {
			t.Fatal(err)
		}
	}
	w.Write("OTHER", "quite another text\n", "BOTH", strings.Replace(text, "line 2", "theirs", 1))
	if err := ownfile.Remove(w.Path("gone")); err != nil {
		t.Fatal(err)
	}
	h.Write("both", strings.Replace(text, "line 8", "ours", 1))
	main, err := workspace.OpenDisk([]workspace.Folder{{Dir: h.Dir}}, workspace.DiskOptions{
		Folding: func(string) workspace.Folding { return workspace.Folding{Case: true} },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer main.Close()
	m := h.apply(s.ID, main)
	if got, want := summary(m), "rename BOTH, rename EMPTY, rename OTHER, rename SAME, delete gone"; got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
	for name, want := range map[string]string{
		"SAME": text, "EMPTY": "", "OTHER": "quite another text\n",
		"BOTH": strings.NewReplacer("line 2", "theirs", "line 8", "ours").Replace(text),
	} {
		if got, err := os.ReadFile(h.Path(name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	if got := summary(h.merge(s.ID, main)); got != "" {
		t.Errorf("merged again: %s", got)
	}
}

// TestMergeOverPending: edits that wait for review are what is merged with, and
// none is lost.
// TestMergeTrades: a file becomes a directory, and a directory a file, unless the main tree
// keeps something there.
func TestMergeTrades(t *testing.T) {
	h := newHouse(t, "t", "t\n", "d/f", "f\n", "kept/f", "f\n")
	s, w := h.create(shadow.CreateRequest{})
	for _, name := range []string{"t", "d", "kept"} {
		if err := ownfile.RemoveAll(w.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
	w.Write("t/in", "in\n", "d", "file\n", "kept", "file\n", "two\nlines", "x\n")
	h.Write("kept/new", "the user's\n")
	main, err := workspace.OpenDisk([]workspace.Folder{{Dir: h.Dir}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer main.Close()
	m := h.apply(s.ID, main)
	if got, want := summary(m), "delete d/f, delete kept/f, delete t, create d, create t/in, conflict kept, skipped \"two\\nlines\""; got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
	for name, want := range map[string]string{"t/in": "in\n", "d": "file\n", "kept/new": "the user's\n"} {
		if got, err := os.ReadFile(h.Path(name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
}

func TestMergeOverPending(t *testing.T) {
	text := lines("line", 9)
	h := newHouse(t, "f", text, "g", text, "deleted", "d\n")
	queue, err := pendingedits.Open(h.t.TempDir(), h.main, pendingedits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer queue.Close()
	ctx := context.Background()
	propose := func(name, from, to string) {
		t.Helper()
		view := queue.For(pendingedits.Proposer{Session: "agent", Tool: "edit_file"})
		now, err := view.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := view.Apply(ctx, workspace.Change{Path: name, Before: now, After: []byte(strings.Replace(string(now), from, to, 1))}); err != nil {
			t.Fatal(err)
		}
	}
	propose("f", "line 1\n", "pending\n")
	propose("g", "line 1\n", "pending\n")
	s, w := h.create(shadow.CreateRequest{})
	w.Write("f", strings.Replace(text, "line 7\n", "theirs\n", 1), "g", strings.Replace(text, "line 1\n", "theirs\n", 1), "new", "n\n")
	ownfile.Remove(w.Path("deleted"))
	into := queue.For(pendingedits.Proposer{Session: "default", Tool: "shadow merge"})
	if got := summary(h.apply(s.ID, into)); got != "delete deleted, modify f, create new, conflict g" {
		t.Errorf("merge: %q", got)
	}
	if got := summary(h.apply(s.ID, into)); got != "conflict g" {
		t.Errorf("second merge: %q", got)
	}
	if now, _ := into.ReadFile("f"); !strings.Contains(string(now), "pending\n") || !strings.Contains(string(now), "theirs\n") {
		t.Errorf("f: %q", now)
	}
	if now, _ := into.ReadFile("g"); !strings.Contains(string(now), "pending\n") {
		t.Errorf("g: %q", now)
	}
	if read(t, h.Repo, "f") != text || read(t, h.Repo, "deleted") != "d\n" {
		t.Error("the files were written")
	}
	r, err := queue.Accept(ctx, pendingedits.Selection{})
	if err != nil || len(r.Failed) > 0 {
		t.Fatalf("%+v %v", r, err)
	}
	if got := read(t, h.Repo, "f"); got != strings.Replace(strings.Replace(text, "line 1\n", "pending\n", 1), "line 7\n", "theirs\n", 1) {
		t.Errorf("f: %q", got)
	}
	if got := summary(h.merge(s.ID, h.main)); got != "conflict g" {
		t.Errorf("merge after accepting: %q", got)
	}
}

// TestBelow: a folder that is not the top of its repository.
func TestBelow(t *testing.T) {
	h := newHouse(t, "top", "t\n", "sub/f", "1\n", "sub/deep/g", "1\n")
	if err := ownfile.MkdirAll(h.Path("sub/.sidecar"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.Write("sub/.sidecar/.gitignore", "*\n")
	m, err := shadow.New(shadow.Options{Dir: h.Path("sub")})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	h.Write("sub/f", "2\n", "top", "2\n")
	ctx := context.Background()
	s, err := m.Create(ctx, shadow.CreateRequest{ID: "x", IncludeUncommitted: true})
	if err != nil {
		t.Fatal(err)
	}
	if s.Path != h.Path("sub/.sidecar/shadows/x") || s.Root != s.Path+"/sub" {
		t.Errorf("%+v", s)
	}
	w := h.At(s.Path)
	if read(t, w, "top") != "2\n" || read(t, w, "sub/f") != "2\n" {
		t.Error("uncommitted files are missing")
	}
	w.Write("sub/f", "3\n", "sub/n", "n\n", "top", "3\n")
	sub, err := workspace.OpenDisk([]workspace.Folder{{Dir: h.Path("sub")}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	got, err := m.Merge(ctx, "x", sub)
	if err != nil {
		t.Fatal(err)
	}
	if summary(got) != "modify f, create n, skipped top" {
		t.Errorf("%q", summary(got))
	}
	if _, err := m.Discard(ctx, "x"); err != nil {
		t.Error(err)
	}
}

// failing fails a test for what is wrong with a queue.
type failing struct {
	pendingedits.Nobody
	t *testing.T
}

func (f failing) Report(text string) { f.t.Error(text) }
