package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProblems(t *testing.T) {
	p := NewProblems([]string{"the queue is locked", "mode is wrong"})
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
