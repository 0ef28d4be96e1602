package always

import (
	"strings"
	"testing"
)

// TestHost: a rule about a host is one, and says how often a person was asked about it.
func TestHost(t *testing.T) {
	for name, c := range map[string]struct {
		rule Rule
		err  string
	}{
		"a host":        {Rule{Prefix: []string{"a.example.org"}, Host: "a.example.org"}, ""},
		"with a port":   {Rule{Host: "a.example.org:8443"}, ""},
		"no host":       {Rule{Host: "a b"}, "is no host"},
		"a URL":         {Rule{Host: "https://a.example.org"}, "leave out"},
		"with packages": {Rule{Host: "a.example.org", Packages: "x"}, "neither rest nor packages"},
		"a denial":      {Rule{Host: "a.example.org", Decision: "deny"}, "has the decision allow"},
	} {
		if err := c.rule.Check(); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
	}
	h := history{days: 7, questions: []question{{host: "a.example.org"}, {host: "a.example.org", denied: true}, {host: "b.example.org"}, {text: "go test"}}}
	f := h.hostFigures(Rule{Host: "a.example.org", In: "/w"})
	if f.Saves != 1 || f.DeniedMatches != 1 || f.Of != 4 {
		t.Errorf("%+v", f)
	}
	if words := f.Words(); words != "It allows any program of a session to send to a.example.org what it sees. In the last 7 days you were asked about it 2 times, and said no 1 times." {
		t.Error(words)
	}
	if title := f.Title(); title != "Always let commands reach `a.example.org` in this workspace?" {
		t.Error(title)
	}
	if got := f.Rule.Reaches(); got.Name != "a.example.org" || got.In != "/w" || got.Port != 0 {
		t.Errorf("%+v", got)
	}
}
