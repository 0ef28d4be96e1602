package policy

import (
	"strings"
	"testing"
)

// TestAtLeast: a mode takes the place of another one only where it is looser in nothing but new
// hosts, about which the other's question stays.
func TestAtLeast(t *testing.T) {
	may := map[string]string{
		"autonomous": "cautious review audit plan manual", "cautious": "review audit plan manual", "review": "audit plan", "audit": "plan", "plan": "", "manual": "",
	}
	for from, list := range may {
		for _, m := range Modes() {
			old, _ := Lookup(from)
			want := m.Name == from
			for _, name := range strings.Fields(list) {
				want = want || name == m.Name
			}
			if m.AtLeast(old) != want {
				t.Errorf("%s in the place of %s: %v", m.Name, from, !want)
			}
			if got := m.Hosts(old).Behaviour.NewHosts; strict(got) < strict(old.Behaviour.NewHosts) || strict(got) < strict(m.Behaviour.NewHosts) {
				t.Errorf("%s in the place of %s: new hosts are %s", m.Name, from, got)
			}
		}
	}
	if m, _ := Lookup("review"); m.Hosts(m).Behaviour.NewHosts != Allow {
		t.Error("review asks about new hosts by itself")
	}
}
