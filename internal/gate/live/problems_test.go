package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProblems(t *testing.T) {
	var p Problems
	if p.Add("the queue is locked", "mode is wrong") || len(p.Show()) != 2 || !p.Add("too late") {
		t.Error("the start is over too early, or never")
	}
	for _, c := range []struct {
		what      string
		now, want []string
	}{
		{"the start's and the first load's, each once", []string{"mode is wrong", "key is unknown"}, []string{"the queue is locked", "mode is wrong", "key is unknown"}},
		{"nothing new", []string{"mode is wrong", "key is unknown"}, nil},
		{"one is gone, one is new", []string{"key is unknown", "list is long"}, []string{"list is long"}},
		{"one is back", []string{"mode is wrong"}, []string{"mode is wrong"}},
	} {
		got := p.Of(func() []string { return c.now })
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, d)
		}
	}
}
