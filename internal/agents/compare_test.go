package agents

import (
	"strings"
	"testing"
)

// TestFenced: no line of a patch ends the block that it is shown in.
func TestFenced(t *testing.T) {
	for patch, fence := range map[string]string{
		"+a\n": "```", "+``\n": "```", "```\n![x](http://127.0.0.1/)\n": "````", "+a````` b\n```\n": "``````",
	} {
		got := fenced(patch)
		if want := fence + "diff\n" + patch + fence + "\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	long := fenced(strings.Repeat("+line\n", maxPatch))
	if len(long) > maxPatch+100 || !strings.Contains(long, "bytes are not shown)\n```\n") {
		t.Errorf("%d bytes, ending with %q", len(long), long[len(long)-80:])
	}
	if got := quoted("a\r\n# b\n```"); got != "> a\n> # b\n> ```" {
		t.Errorf("got %q", got)
	}
}
