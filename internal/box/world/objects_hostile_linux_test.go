package world

import (
	"slices"
	"strings"
	"testing"
)

// putObject is a program that puts an object under a name that is not its own.
const putObject = `cat > /tmp/put.py <<'END'
import os, sys, zlib
git, name, kind = sys.argv[1:4]
body = sys.stdin.buffer.read()
at = os.path.join(git, "objects", name[:2])
os.makedirs(at, exist_ok=True)
open(os.path.join(at, name[2:]), "wb").write(zlib.compress(kind.encode() + b" %d\0" % len(body) + body))
END
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
printf '40000 d\0\001\043\105\147\211\001\043\105\147\211\001\043\105\147\211\001\043\105\147\211' | python3 /tmp/put.py .git $tree tree
git update-ref HEAD $(python3 -c "
import os,sys
" ; printf 'tree %s\nparent %s\nauthor A <a@e.org> 1 +0000\ncommitter A <a@e.org> 1 +0000\n\nmade\n' $tree $(git rev-parse HEAD) | git hash-object -w -t commit --stdin --literally)`, nil},
		{"a tree of too many", `tree=$(git mktree </dev/null)
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do tree=$(for n in a b c d e f g h i j; do printf '040000 tree %s\t%s\n' $tree $n; done | git mktree); done; ` + commit, nil},
		{"the user's tree", `echo x > x.txt; git add x.txt; tree=$(git write-tree)
git cat-file tree $tree | python3 /tmp/put.py .git $(git rev-parse HEAD^{tree}) tree; ` + commit, []string{"x.txt"}},
		{"a text", `echo x > x.txt; git add x.txt; tree=$(git write-tree); blob=$(git rev-parse :x.txt); rm -f .git/objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-)
echo evil | python3 /tmp/put.py .git $blob blob; ` + commit, nil},
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
