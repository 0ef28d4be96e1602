package peers

import (
	"errors"
	"strings"
	"testing"
)

// TestFacts: each fact is enough, and without one it is a person.
func TestFacts(t *testing.T) {
	for _, c := range []struct {
		facts facts
		says  string
	}{
		{facts{}, ""},
		{facts{unseen: errors.New("gone")}, "can't be looked at (gone)"},
		{facts{below: 7}, "process 7"},
		{facts{apart: "mount"}, "another mount namespace"},
	} {
		who := c.facts.who()
		err := who.May("review accept")
		if who.Person() != (c.says == "") || (err == nil) != who.Person() {
			t.Errorf("%+v: %v, %v", c.facts, who, err)
		}
		if err != nil && (!errors.Is(err, ErrNoPerson) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "in a terminal of your own")) {
			t.Errorf("%+v: %v", c.facts, err)
		}
		if err := who.May("call"); err != nil {
			t.Errorf("%+v: %v", c.facts, err)
		}
	}
}
