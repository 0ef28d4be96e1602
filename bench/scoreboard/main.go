// Scoreboard tries what the project says of its safety on hostile inputs and
// prints a line for each claim: how many were tried, how many held, and how
// many controls showed that the attempt works where nothing guards. The last
// line switches guards off, one by one, and counts how many of the tests notice.
//
//	go run ./bench/scoreboard [-lines 7-28] [-mutants=false]
//
// It runs the project's tests and counts what they say, in minutes: the longest
// line may take three. It fails when something did not hold, or had no control.
// Lines of parts that are not there are said to be so. What takes longer is not
// here: `make fuzz`, `make test` with the race detector, `go run ./bench/soak`.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// perLine bounds one line.
const perLine = 3 * time.Minute

// score is what a line came to.
type score struct{ tried, held, controls int }

func main() {
	chosen := flag.String("lines", "1-99", "from-to, of those to try")
	mutate := flag.Bool("mutants", true, "switch guards off, too")
	flag.Parse()
	from, to, err := span(*chosen)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ok := board(ctx, from, to)
	if *mutate && to >= 44 {
		ok = guards(ctx) && ok
	}
	stop()
	if !ok {
		os.Exit(1)
	}
}

func span(text string) (from, to int, err error) {
	first, last, two := strings.Cut(text, "-")
	if from, err = strconv.Atoi(first); err == nil && two {
		to, err = strconv.Atoi(last)
		return from, to, err
	}
	return from, from, err
}

// board tries the lines and reports whether all held.
func board(ctx context.Context, from, to int) bool {
	dir, err := os.MkdirTemp("", "scoreboard-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	defer func() { _ = os.RemoveAll(dir) }()
	machine(ctx)
	ok := true
	programs := map[string]string{}
	for _, l := range lines {
		if n, _ := strconv.Atoi(l.number); n < from || n > to {
			continue
		}
		if l.pkg == "" {
			fmt.Printf("%-4s %-34s not there\n", l.number, l.claim)
			continue
		}
		began := time.Now()
		if programs[l.pkg] == "" {
			name := filepath.Join(dir, strings.ReplaceAll(l.pkg, "/", "_"))
			if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", name, "./"+l.pkg).CombinedOutput(); err != nil {
				fmt.Printf("%-4s %-34s not built: %v\n%s", l.number, l.claim, err, out)
				ok = false
				continue
			}
			programs[l.pkg] = name
		}
		s, said, err := l.try(ctx, programs[l.pkg])
		fmt.Printf("%-4s %-34s %7d tried, %7d held, %6d controls  %5.1f s\n", l.number, l.claim, s.tried, s.held, s.controls, time.Since(began).Seconds())
		least := l.least
		if least == 0 {
			least = 100
		}
		if err != nil || s.tried == 0 || s.held*100 < s.tried*least || s.controls == 0 {
			ok = false
			fmt.Printf("     %v\n%s", err, tail(said))
		}
	}
	return ok
}

// machine says what the figures were got on.
func machine(ctx context.Context) {
	version := func(name string, args ...string) string {
		out, err := exec.CommandContext(ctx, name, args...).Output()
		if err != nil {
			return "no " + name
		}
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return first
	}
	fmt.Printf("%s/%s, user %d; %s; %s; %s; %s\n\n", runtime.GOOS, runtime.GOARCH, os.Getuid(), version("uname", "-r"), version("git", "--version"), version("bwrap", "--version"), runtime.Version())
}

// try runs a line's tests and counts.
func (l line) try(ctx context.Context, program string) (s score, said string, err error) {
	said, err = run(ctx, program, l.pkg, l.tests)
	if l.figures == "" {
		s.tried, s.held = leaves(said)
		s.controls = s.held
	} else {
		s = figures(l.figures, said)
		if err != nil && s.held == s.tried {
			s.held = 0
		}
	}
	if l.controls != "" {
		more, err := run(ctx, program, l.pkg, l.controls)
		if err != nil {
			return s, said + more, err
		}
		_, s.controls = leaves(more)
	}
	return s, said, err
}

func run(ctx context.Context, program, pkg, tests string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, perLine)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-test.run", "^("+tests+")$", "-test.v", "-test.timeout", perLine.String())
	cmd.Dir = pkg
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// figures sums what an expression finds. What is lost or not held is not held;
// where a test only says how many it tried, it failed if one did not hold.
func figures(expression, said string) (s score) {
	re := regexp.MustCompile(expression)
	for _, m := range re.FindAllStringSubmatch(said, -1) {
		group := func(name string) (int, bool) {
			i := re.SubexpIndex(name)
			if i < 0 || m[i] == "" {
				return 0, false
			}
			n, err := strconv.Atoi(m[i])
			return n, err == nil
		}
		tried, _ := group("tried")
		controls, _ := group("controls")
		s.tried, s.controls = s.tried+tried, s.controls+controls
		held, told := group("held")
		if lost, ok := group("lost"); ok {
			held, told = tried-lost, true
		}
		if blocked, ok := group("blocked"); ok { // the others are the controls
			s.tried += blocked - tried
			held, told = blocked, true
		}
		if !told {
			held = tried
		}
		s.held += held
	}
	return s
}

// leaves counts tests without sub-tests, and those of them that passed.
func leaves(said string) (tried, passed int) {
	results := regexp.MustCompile(`(?m)^ *--- (PASS|FAIL): (\S+)`).FindAllStringSubmatch(said, -1)
	for _, m := range results {
		inner := false
		for _, other := range results {
			inner = inner || strings.HasPrefix(other[2], m[2]+"/")
		}
		if inner {
			continue
		}
		tried++
		if m[1] == "PASS" {
			passed++
		}
	}
	return tried, passed
}

// tail is the end of what a test said.
func tail(said string) string {
	const most = 3000
	return said[max(0, len(said)-most):]
}
