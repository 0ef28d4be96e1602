package world

import (
	"slices"
	"strings"
	"testing"
)

// putObject puts an object, the first argument, under a name that is not its own.
const putObject = `at() { echo .git/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); }
put() { mkdir -p $(dirname $(at $2)); rm -f $(at $2); cp $(at $1) $(at $2); }
`

// TestMisnamedObjects: what a command puts under another object's name counts for nothing,
// and a tree that can't be walked through ends nothing but itself.
func TestMisnamedObjects(t *testing.T) {
	const commit = `git update-ref HEAD $(git commit-tree -p HEAD -m made $tree)`
	for _, c := range []struct {
		name, line string
		files      []string // nil: not known
	}{
		{"control", `echo x > x.txt; git add x.txt; tree=$(git write-tree); ` + commit, []string{"x.txt"}},
		{"a tree in itself", `tree=0123456789012345678901234567890123456789
put $(printf '40000 d\0\001\043\105\147\211\001\043\105\147\211\001\043\105\147\211\001\043\105\147\211' | git hash-object -w -t tree --stdin --literally) $tree
git update-ref HEAD $(printf 'tree %s\nparent %s\nauthor A <a@e.org> 1 +0000\ncommitter A <a@e.org> 1 +0000\n\nmade\n' $tree $(git rev-parse HEAD) | git hash-object -w -t commit --stdin --literally)`, nil},
		{"a tree of too many", `tree=$(git mktree </dev/null)
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do tree=$(for n in a b c d e f g h i j; do printf '040000 tree %s\t%s\n' $tree $n; done | git mktree); done; ` + commit, nil},
		{"the user's tree", `echo x > x.txt; git add x.txt; tree=$(git write-tree)
put $tree $(git rev-parse HEAD^{tree}); ` + commit, []string{"x.txt"}},
		{"a text", `echo x > x.txt; git add x.txt; tree=$(git write-tree); blob=$(git rev-parse :x.txt); put $(echo evil | git hash-object -w --stdin) $blob
` + commit, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gitRig(t)
			out, h := r.run(putObject + c.line)
			if !slices.Equal(messages(h), []string{"made"}) {
				t.Fatalf("commits %q\n%s", messages(h), out)
			}
			var names []string
			for _, f := range h.Commits[0].Files {
				names = append(names, f.Path)
			}
			if strings.Join(names, " ") != strings.Join(c.files, " ") {
				t.Errorf("it has %q, want %q\n%s", names, c.files, out)
			}
		})
	}
}
