package gitrepo

import (
	"errors"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// TestEndlessTrees: a tree that is in itself, under a name that is not its own, and one of
// more directories than anybody can walk through end a comparison with an error, and the
// history goes on after them.
func TestEndlessTrees(t *testing.T) {
	for name, make := range map[string]string{
		"in itself": `tree=0123456789012345678901234567890123456789; mkdir -p .git/objects/01
made=$(printf '40000 d\0\001\043\105\147\211\001\043\105\147\211\001\043\105\147\211\001\043\105\147\211' | git hash-object -w -t tree --stdin --literally)
cp .git/objects/$(echo $made | cut -c1-2)/$(echo $made | cut -c3-) .git/objects/01/23456789012345678901234567890123456789
evil=$(printf 'tree %s\nparent %s\nauthor A <a@e.org> 1 +0000\ncommitter A <a@e.org> 1 +0000\n\nevil\n' $tree $(git rev-parse HEAD) | git hash-object -w -t commit --stdin --literally)`,
		"too many": `tree=$(git mktree </dev/null)
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do tree=$(for n in a b c d e f g h i j; do printf '040000 tree %s\t%s\n' $tree $n; done | git mktree); done
evil=$(git commit-tree -p HEAD -m evil $tree)`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.sh(`echo x >> a.txt; git commit -qam second; ` + make + `
git update-ref refs/heads/evil $evil; git update-ref refs/heads/after $(git commit-tree -p $evil -m after master^{tree}); git update-ref HEAD $(git commit-tree -p after -m last after^{tree})`)
			if d, err := w.Diff(t.Context(), DiffOptions{From: "master~4", To: "after"}); err != nil || len(d.Files) != 1 {
				t.Errorf("the control: %+v, %v", d, err)
			}
			if _, err := w.Diff(t.Context(), DiffOptions{From: "master", To: "evil"}); !errors.Is(err, gitfile.ErrCorrupt) || !strings.Contains(err.Error(), "more than") {
				t.Errorf("a comparison: %v", err)
			}
			h, err := w.History(t.Context(), HistoryOptions{Count: 10, Files: 20})
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, s := range h.Steps {
				said = append(said, strings.TrimSpace(s.Message))
			}
			if got := strings.Join(said, " "); got != "last second" {
				t.Errorf("the history has %q", got)
			}
		})
	}
}
