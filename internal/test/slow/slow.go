// Package slow marks tests that take long. make quick runs the unmarked ones of units,
// make test all but those of Rare, make test-all these, and make sweep the whole of what
// tests marked Sweep try a part of.
package slow

import (
	"os"
	"testing"
)

// Variable is "rare" where make test-all runs the tests.
const Variable = "SIDECAR_TESTS"

// Test skips a test that takes seconds where only the short ones are wanted.
func Test(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
}

// Rare skips a test that takes long and seldom fails. Where it runs, those of Test don't.
func Rare(t testing.TB) {
	t.Helper()
	if os.Getenv(Variable) != "rare" {
		t.Skip("is rare; make test-all runs it")
	}
}

// Sweep skips a test that takes hours, unless the package's flag wants it.
func Sweep(t testing.TB, everything bool) {
	t.Helper()
	if !everything {
		t.Skip("takes long; make sweep runs it, and -everything of its package")
	}
}
