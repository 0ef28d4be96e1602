package gitrepo

import (
	"strings"
	"testing"
)

// TestSeenOtherwise: what has git see other objects or a shorter history than a repository
// has is said, once it is there.
func TestSeenOtherwise(t *testing.T) {
	for line, want := range map[string]string{
		"git commit -q --allow-empty -m x; git tag t; git gc -q":                        "",
		"git rev-parse HEAD > .git/shallow":                                             "the file shallow",
		"echo /elsewhere > .git/objects/info/alternates":                                "objects from /elsewhere",
		"git replace HEAD $(git commit-tree -m other HEAD^{tree})":                      "refs/replace/",
		"git replace HEAD $(git commit-tree -m other HEAD^{tree}); git replace -d HEAD": "",
		": > .git/shallow": "",
	} {
		t.Run(line, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.sh("echo x >> a.txt; git commit -qam second")
			before, err := w.Tips()
			if err != nil {
				t.Fatal(err)
			}
			w.sh("{ " + line + "\n} >/dev/null 2>&1")
			if said := strings.Join(w.MovedTips(t.Context(), before), "\n"); (want == "") != (said == "") || !strings.Contains(said, want) {
				t.Errorf("it says %q", said)
			}
			again, err := w.Tips()
			if err != nil {
				t.Fatal(err)
			}
			if said := w.MovedTips(t.Context(), again); len(said) != 0 {
				t.Errorf("what was there is said: %q", said)
			}
		})
	}
}
