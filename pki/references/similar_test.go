package references

import "testing"

func TestSlips(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"discount", "discount", 0}, {"discont", "discount", 1}, {"discuont", "discount", 1}, {"discounts", "discount", 1}, {"disc", "discount", 4}, {"", "abc", 3}, {"aplydiscuont", "applydiscount", 2}, {"price", "prize", 1}, {"abcdef", "badcfe", 3},
	} {
		if got := slips(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
