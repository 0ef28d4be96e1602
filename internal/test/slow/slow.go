// Package slow marks tests that the everyday loop leaves out.
package slow

import "testing"

// Test skips a test that takes seconds where only the short ones are wanted
// (make quick). make test runs it.
func Test(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
}
