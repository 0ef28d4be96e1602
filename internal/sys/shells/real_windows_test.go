package shells

import (
	"slices"
	"testing"

	"golang.org/x/sys/windows"
)

// real is how Windows itself parts a command line.
func real(t *testing.T, line string) []string {
	t.Helper()
	argv, err := windows.DecomposeCommandLine("x.exe " + line)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clip(argv[1:])
}
