// Package opcount counts what a test does: the statements that it runs, as the
// coverage of Go counts them. So a test can tell how work grows, whatever the
// machine is busy with.
package opcount

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Variable is the environment variable that tells the counted test how much to
// do.
const Variable = "OPCOUNT"

// Size is how much a counted test is to do; ok is false when it runs by itself.
func Size() (n int, ok bool) {
	n, err := strconv.Atoi(os.Getenv(Variable))
	return n, err == nil
}

// Count runs the test of that name, in the package of the test that calls it, once with
// each of sizes, and returns how many statements of the packages over it ran.
func Count(t *testing.T, test string, sizes []int, over ...string) []int {
	t.Helper()
	dir := t.TempDir()
	program, profile := filepath.Join(dir, "counted.test"), filepath.Join(dir, "profile")
	// What others compile is taken: see the Makefile's test.
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-trimpath", "-covermode=count", "-coverpkg="+strings.Join(over, ","), "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	counts := make([]int, 0, len(sizes))
	for _, size := range sizes {
		cmd := exec.CommandContext(t.Context(), program, "-test.coverprofile="+profile, "-test.run=^"+test+"$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", Variable, size))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", test, err, out)
		}
		counts = append(counts, executed(t, profile))
	}
	return counts
}

// executed is how many statements ran, by a profile of the coverage.
func executed(t *testing.T, profile string) (total int) {
	t.Helper()
	f, err := os.Open(profile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text()) // place, statements, times
		if len(fields) != 3 {
			continue
		}
		statements, err1 := strconv.Atoi(fields[1])
		times, err2 := strconv.Atoi(fields[2])
		if err1 == nil && err2 == nil {
			total += statements * times
		}
	}
	return total
}
