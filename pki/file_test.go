package pki

import (
	"strings"
	"testing"
)

func TestPath(t *testing.T) {
	for _, c := range []struct {
		from  Path
		steps string // separated by spaces
		want  Path
	}{
		{"store", ".New () @1 .items []", "store.New()@1.items[]"},
		{"T!", "^ []", "T!"},
		{"T!", "^ ^ []", "T!^"},
		{"T!", "~ ()", "T!"},
		{"T!", "^ ()", "T!^()"},
		{"T!", "~ []", "T!~[]"},
		{"T!", "<K> []", "T!"},
		{"T!", "<K> [k]", "K"},
		{"T!", "<K> <L> [k]", "L"},
		{"T!", "<K> <L> []", "T!^<K>"},
		{"T!", "<A!^<B>> [k]", "A!^<B>"},
		{"T!", "<A!^<B>> []", "T!"},
		{"T!", "^ [k]", "T!^[k]"},
		{Unknown, ".a", Unknown},
		{"a", "<?>", "a^"},
		{"a", "." + strings.Repeat("x", 300), Unknown},
	} {
		got := c.from
		for step := range strings.FieldsSeq(c.steps) {
			if key, ok := strings.CutPrefix(step, "<"); ok {
				got = got.Map(Path(strings.TrimSuffix(key, ">")))
				continue
			}
			got = got.Then(step)
		}
		if got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.from, c.steps, got, c.want)
		}
	}
	if name, steps := Path("a.b()").Root(); name != "a" || steps != ".b()" {
		t.Errorf("got %q and %q", name, steps)
	}
}
