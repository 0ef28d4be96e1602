package effects

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// TestTableIsDocumented: docs/border.md has the table as it is.
func TestTableIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/border.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, head := range Columns() {
		if !strings.Contains(string(page), " "+head+" |") {
			t.Errorf("no column %q", head)
		}
	}
	for _, k := range Kinds() {
		cells := []string{}
		for _, r := range Row(k) {
			cells = append(cells, string(r))
		}
		row := " | " + strings.Join(cells, " | ") + " |\n"
		found := false
		for line := range strings.Lines(string(page)) {
			found = found || strings.HasPrefix(line, "| `"+string(k)+"` |") && strings.HasSuffix(line, row)
		}
		if !found {
			t.Errorf("no row of %s that ends in%s", k, row)
		}
	}
}

// TestTableIsKept: what the policy decides where no rule of the user speaks is never looser
// than the table, and no stricter where nothing leaves.
func TestTableIsKept(t *testing.T) {
	order := []Ruling{Free, Reviewed, Asked, Refused}
	for _, m := range policy.Modes() {
		for _, c := range []struct {
			kind  Kind
			waits bool
			facts policy.Facts
		}{
			{Files, m.ToStore, policy.Facts{Access: "edit", ToStore: m.ToStore}},
			{Git, m.Batch, policy.Facts{Access: "exec", Queued: m.Batch}},
			{Git, false, policy.Facts{Access: "exec"}},
			{Network, false, policy.Facts{Access: "read", NewHosts: "example.com"}},
			{Port, false, policy.Facts{Access: "exec", AlwaysAsk: true}},
			{Process, false, policy.Facts{Access: "exec"}},
			{Process, false, policy.Facts{Access: "exec", Lacks: "world: there is none"}},
			{Program, false, policy.Facts{Access: "exec"}},
			{Setting, false, policy.Facts{Access: "exec", AlwaysAsk: true}},
		} {
			c.facts.Behaviour, c.facts.Trusted = m.Behaviour, true
			got, want := Decided(policy.Decide(c.facts).Outcome, c.waits), Rule(m, c.kind, c.waits)
			if slices.Index(order, got) < slices.Index(order, want) {
				t.Errorf("%s in %s: %s, and the table says %s", c.kind, m.Name, got, want)
			}
		}
		inside := policy.Decide(policy.Facts{Access: "exec", Inside: true, Behaviour: m.Behaviour, Trusted: true}).Outcome
		if (inside == policy.Allow) != (m.ToStore || m.Straight()) {
			t.Errorf("in a complete world %s decides %s", m.Name, inside)
		}
	}
}
