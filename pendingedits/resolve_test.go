package pendingedits

import (
	"io/fs"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
)

// TestResolve: an entry and what its files are come to one thing, whatever happened before.
func TestResolve(t *testing.T) {
	one := []hunk.Hunk{{ID: "h1", By: []string{"s"}}}
	edit := &entry{name: "a", session: "s", base: []byte("1\n2\n"), hunks: []hunk.Hunk{{ID: "h1", Start: 1, Old: []string{"2\n"}, New: []string{"two\n"}, By: one[0].By}}}
	both := *edit
	both.mode, both.modeID, both.modeBy = 0o755, "h2", one[0].By
	create := &entry{name: "a", session: "s", whole: true, after: []byte("new"), hunks: one}
	remove := &entry{name: "a", session: "s", whole: true, base: []byte("old"), hunks: one}
	move := &entry{name: "b", from: "a", session: "s", whole: true, base: []byte("1\n2\n"), after: []byte("1\n2\n"), hunks: one}
	link := &entry{name: "a", session: "s", whole: true, after: []byte("to"), afterLink: true, hunks: one}
	file := func(text string) live { return live{data: []byte(text), stamp: stamp{mode: 0o644}} }
	none := live{}
	for _, c := range []struct {
		name  string
		e     *entry
		now   live
		state State
		text  string
		shown bool
		left  int // hunks
	}{
		{"as it was", edit, file("1\n2\n"), Clean, "1\ntwo\n", true, 1},
		{"moved", edit, file("0\n1\n2\n"), Moved, "0\n1\ntwo\n", true, 1},
		{"the user's own line", edit, file("1\nzwei\n"), Conflict, "1\nzwei\n", false, 1},
		{"done", edit, file("1\ntwo\n"), Clean, "1\ntwo\n", false, 0},
		{"no file", edit, none, Conflict, "", false, 1},
		{"not to be read", edit, live{trouble: fs.ErrPermission}, Conflict, "", false, 1},
		{"text is done, the mode is not", &both, file("1\ntwo\n"), Clean, "1\ntwo\n", false, 1},
		{"the mode is done, the text is not", &both, live{data: []byte("1\n2\n"), stamp: stamp{mode: 0o755}}, Clean, "1\ntwo\n", true, 1},
		{"a new file", create, none, Clean, "new", true, 1},
		{"a new file that is there", create, file("new"), Conflict, "new", false, 0},
		{"another new file is there", create, file("other"), Conflict, "other", false, 1},
		{"a file to delete", remove, file("old"), Clean, "", true, 1},
		{"it is deleted", remove, none, Conflict, "", false, 0},
		{"a rename", move, file("1\n2\n"), Clean, "1\n2\n", true, 1},
		{"a rename of what was changed", move, file("1\n2\n3\n"), Moved, "1\n2\n3\n", true, 1},
		{"a rename to what is there", move, live{data: []byte("1\n2\n"), there: []byte("x")}, Conflict, "1\n2\n", false, 1},
		{"it is renamed", move, live{there: []byte("1\n2\n")}, Conflict, "", false, 0},
		{"a link", link, none, Clean, "", false, 1},
		{"the link is there", link, live{data: []byte("to"), link: true}, Conflict, "to", false, 0},
		{"a file is there", link, file("to"), Conflict, "to", false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 {
				r := resolve(c.e, c.now)
				left := 0
				if r.left != nil {
					left = len(r.left.parts())
				}
				if string(r.text) != c.text || r.shown != c.shown || left != c.left {
					t.Errorf("text %q, shown %v, %d left; want %q, %v, %d", r.text, r.shown, left, c.text, c.shown, c.left)
				}
				if c.left > 0 && r.edit.State != c.state {
					t.Errorf("state %s, want %s", r.edit.State, c.state)
				}
			}
		})
	}
}
