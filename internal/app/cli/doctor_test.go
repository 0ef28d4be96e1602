package cli

import (
	"strings"
	"testing"
)

// TestStronger: the advice is one for a missing bubblewrap, and another for one that may not
// make namespaces.
func TestStronger(t *testing.T) {
	for why, want := range map[string]string{
		"bubblewrap is not installed": "install the package bubblewrap",
		"bubblewrap does not work: bwrap: No permissions to create new namespace": "allow unprivileged user namespaces",
		"the kernel has version 2 of Landlock, and 3 is needed":                   "a newer kernel",
	} {
		got := stronger(why)
		if !strings.Contains(got, want) || strings.Contains(got, "install the package") != strings.Contains(why, "not installed") {
			t.Errorf("%s: %s", why, got)
		}
	}
}
