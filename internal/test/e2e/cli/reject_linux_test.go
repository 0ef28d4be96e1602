package cli_test

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// answers runs a command at a terminal on which a person types this.
func (p *person) answers(typed, name string, args ...string) (shown string, code int) {
	p.t.Helper()
	other, tty := pty(p.t)
	seen := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(other) // ends with an error when nobody has the terminal any more
		seen <- string(data)
	}()
	if _, err := io.WriteString(other, typed); err != nil {
		p.t.Fatal(err)
	}
	out, code := p.command(tty, name, args...)
	tty.Close()
	return <-seen + out, code
}

// TestRejectAll: without a name all goes only after a question, or by a word; and it comes back.
func TestRejectAll(t *testing.T) {
	p := newPerson(t)
	call := func(file, content string) {
		t.Helper()
		if out, code := p.command(nil, "call", "--mode", "review", "write_file", "path="+file, "content="+content); code != 0 {
			t.Fatal(out)
		}
	}
	has := func(want string, parts ...string) {
		t.Helper()
		out, _ := p.command(nil, "review")
		for _, part := range append(parts, want) {
			if !strings.Contains(out, part) {
				t.Errorf("%q is missing in\n%s", part, out)
			}
		}
	}
	call("a.txt", "ONE\n")
	call("b.txt", "new\n")
	if out, code := p.command(nil, "review", "reject"); code != 2 || !strings.Contains(out, "2 changes in 2 files") || !strings.Contains(out, "--all") {
		t.Errorf("without a terminal: %d %s", code, out)
	}
	has("a.txt", "b.txt")
	for _, no := range []string{"\n", "n\n"} {
		if out, code := p.answers(no, "review", "reject"); code != 1 || !strings.Contains(out, "Reject all that waits, 2 changes in 2 files?") || !strings.Contains(out, "nothing was rejected") {
			t.Errorf("no: %d %s", code, out)
		}
	}
	has("a.txt", "b.txt")
	if out, code := p.answers("y\n", "review", "reject"); code != 0 || !strings.Contains(out, "rejected a.txt, b.txt") {
		t.Errorf("yes: %d %s", code, out)
	}
	has("Nothing is pending.")
	if out, code := p.command(nil, "review", "reject"); code != 0 || !strings.Contains(out, "Nothing was rejected") {
		t.Errorf("nothing waits: %d %s", code, out)
	}
	if out, code := p.command(nil, "review", "history"); code != 0 || !strings.Contains(out, "reject") {
		t.Errorf("history: %d %s", code, out)
	}
	if out, code := p.command(nil, "review", "undo"); code != 0 || !strings.Contains(out, "restored a.txt, b.txt\n  undone: rejecting an edit by write_file, modify a.txt +1 −1, create b.txt +1 −0; it waits again") {
		t.Errorf("undo: %d %s", code, out)
	}
	has("a.txt", "b.txt", "h1", "h2")
	if out, code := p.command(nil, "review", "undo"); code != 0 || !strings.Contains(out, "Nothing was restored: no edit or decision is left to undo") {
		t.Errorf("nothing to undo: %d %s", code, out)
	}
	if out, code := p.command(nil, "review", "reject", "--all", "a.txt"); code != 2 {
		t.Errorf("all and a name: %d %s", code, out)
	}
	if out, code := p.command(nil, "review", "accept", "--all"); code != 2 {
		t.Errorf("accept all: %d %s", code, out)
	}
	if out, code := p.command(nil, "review", "reject", "a.txt"); code != 0 { // a name is enough
		t.Errorf("by name: %d %s", code, out)
	}
	if out, code := p.command(nil, "review", "reject", "--all"); code != 0 || !strings.Contains(out, "rejected b.txt") {
		t.Errorf("--all: %d %s", code, out)
	}
	if out, code := p.command(nil, "review", "undo"); code != 0 || !strings.Contains(out, "create b.txt") {
		t.Errorf("undo of the newest: %d %s", code, out)
	}
	if out, code := p.command(nil, "review", "accept"); code != 0 {
		t.Errorf("accept: %d %s", code, out)
	}
	if out, code := p.command(nil, "review", "undo"); code != 0 || !strings.Contains(out, "deleted b.txt\n  undone: accepting an edit by write_file, create b.txt +1 −0; it waits again") {
		t.Errorf("undo of an accept: %d %s", code, out)
	}
}

// TestDiffNamesChanges: each place of a patch says which changes it has, a word that is
// nothing which waits gets a list, and the patch is one that git takes.
func TestDiffNamesChanges(t *testing.T) {
	e2e.Home(t)
	var sixty strings.Builder
	for i := range 60 {
		fmt.Fprintf(&sixty, "line %d\n", i+1)
	}
	repo := e2e.Repository(t, "a.txt", sixty.String(), "gone.txt", "x\n", "run.sh", "#!/bin/sh\n")
	sh := e2e.Shell{T: t, Dir: repo.Dir}
	text := strings.NewReplacer("line 1\n", "LINE 1\n", "line 30\n", "LINE 30\n", "line 33\n", "@@ -1,1 +1,1 @@\n", "line 60\n", "").Replace(sixty.String())
	sh.Run(0, "call", "--mode", "review", "write_file", "path=a.txt", "content="+text)
	sh.Run(0, "call", "--mode", "review", "write_file", "path=b.txt", "content=new\n")
	sh.Run(0, "call", "--mode", "review", "delete_file", "path=gone.txt")
	sh.Run(0, "call", "--mode", "review", "move_file", "from=run.sh", "to=go.sh")
	diff := sh.Run(0, "review", "diff")
	heads := regexp.MustCompile(`(?m)^(@@ -.*| ?# h.*)$`).FindAllString(diff, -1)
	want := "@@ -1,4 +1,4 @@ h1|@@ -27,10 +27,10 @@ h2 h3|@@ -57,4 +57,3 @@ h4|@@ -0,0 +1 @@ h5|# h7: rename|@@ -1 +0,0 @@ h6"
	if got := strings.Join(heads, "|"); got != want {
		t.Errorf("got  %s\nwant %s\n%s", got, want, diff)
	}
	repo.GitIn(diff, "apply", "--check", "-")
	if one := sh.Run(0, "review", "diff", "h4"); !strings.Contains(one, "@@ h4\n") || strings.Contains(one, "@@ h1") || strings.Contains(one, "b.txt") {
		t.Errorf("of one change: %s", one)
	}
	if list := sh.Run(0, "review", "list", "h5"); !strings.Contains(list, "b.txt") || strings.Contains(list, "a.txt") {
		t.Errorf("list of one change: %s", list)
	}
	for _, args := range [][]string{{"accept", "h9"}, {"reject", "h9"}, {"diff", "h9"}, {"verify", "h9"}} {
		if out := sh.Run(1, append([]string{"review"}, args...)...); !strings.Contains(out, "no change h9 waits; what waits: h7 (go.sh), h6 (gone.txt), h5 (b.txt)") {
			t.Errorf("%q: %s", args, out)
		}
	}
	for _, args := range [][]string{{"accept", "c.txt"}, {"reject", "c.txt"}, {"diff", "c.txt"}} {
		if out := sh.Run(1, append([]string{"review"}, args...)...); !strings.Contains(out, "c.txt") || !strings.Contains(out, "what waits: ") || !strings.Contains(out, "b.txt") {
			t.Errorf("%q: %s", args, out)
		}
	}
}
