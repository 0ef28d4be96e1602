// Scoreboard tries what the project says of its safety on lists of hostile
// inputs and prints a line for each claim: how many were tried, how many held,
// and how many controls showed that the attempt works where nothing guards.
//
//	go run ./bench/scoreboard
//
// It fails when something did not hold. Each line runs the project's tests of
// that name and counts what they say.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
)

// line is a claim and the test that tries it.
type line struct {
	number  string
	claim   string
	pkg     string
	test    string
	figures string // an expression for what the test says: held, tried and, when there are some, controls
}

var lines = []line{
	{"25", "output sanitised", "./internal/redact", "TestSanitize", `(\d+) of (\d+) clean, (\d+) controls`},
	{"26", "nothing fetched when shown", "./internal/redact", "TestNothingIsFetched", `(\d+) of (\d+) defused, (\d+) controls`},
	{"27", "secrets found, listed", "./internal/redact", "TestSecrets", `(\d+) of (\d+) found, (\d+) controls`},
	{"27", "secrets found, drawn", "./internal/redact", "TestVariants", `(\d+) of (\d+) found, (\d+) controls`},
	{"27", "sinks without secrets", "./internal/app", "TestSecretsReachNoSink", `(\d+) of (\d+) clean, (\d+) controls`},
	{"28", "harmless texts unchanged", "./internal/redact", "TestHarmlessTextStays", `(\d+) of (\d+) unchanged, (\d+) controls`},
}

func main() {
	failed := false
	for _, l := range lines {
		out, err := exec.CommandContext(context.Background(), "go", "test", l.pkg, "-run", "^"+l.test+"$", "-count=1", "-v").CombinedOutput()
		m := regexp.MustCompile(l.figures).FindSubmatch(out)
		if m == nil {
			fmt.Printf("%-4s %-28s not run: %v\n%s", l.number, l.claim, err, out)
			failed = true
			continue
		}
		held, _ := strconv.Atoi(string(m[1]))
		tried, _ := strconv.Atoi(string(m[2]))
		controls, _ := strconv.Atoi(string(m[3]))
		fmt.Printf("%-4s %-28s %6d tried, %6d held, %6d controls\n", l.number, l.claim, tried, held, controls)
		failed = failed || err != nil || tried == 0 || controls == 0
	}
	if failed {
		os.Exit(1)
	}
}
