package testrun

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Report is what a run says of its tests.
type Report struct {
	Counted  bool // the output says how many tests there were
	Passed   int
	Failed   int
	Skipped  int
	Failures []Failure
}

// Failure is a test that failed, or what kept tests from running.
type Failure struct {
	Name    string `json:"name" jsonschema:"of the test"`
	File    string `json:"file,omitempty" jsonschema:"where it failed"`
	Line    int    `json:"line,omitempty" jsonschema:"from one"`
	Message string `json:"message,omitempty" jsonschema:"why"`
}

// Bounds of what is kept of failures.
const (
	maxFailures = 100
	maxMessage  = 2000
)

// Output is what a run printed.
type Output struct {
	Stdout, Stderr string
	Reports        []string // files of a runner that writes its report to such: JUnit's XML
}

// Parse reads the output of a runner. For one that it does not know, or that
// was called in another way, it takes whatever form the output has.
func Parse(runner string, o Output) Report {
	o.Stdout, o.Stderr = plain(o.Stdout), plain(o.Stderr)
	var r Report
	switch runner {
	case "go":
		r = parseGo(o.Stdout)
	case "vitest", "jest":
		r = parseJest(o.Stdout)
	case "gradle":
		r = parseJUnit(o.Reports)
		r.addJavac(o.Stderr)
	case "maven":
		r = parseJUnit(o.Reports)
	}
	if !r.Counted {
		more := guess(o.Stdout + "\n" + o.Stderr)
		more.Failures = append(r.Failures, more.Failures...)
		r = more
	}
	return r.bounded()
}

// guess is the report of the parser that finds most tests in a text.
func guess(text string) Report {
	var best Report
	for _, parse := range []func(string) Report{parseGo, parseJest, parsePytest, parseCargo, parseGoText, parseSurefire, parseJestText, parseMocha, parseTAP} {
		if r := parse(text); r.Counted && (!best.Counted || r.total() > best.total()) {
			best = r
		}
	}
	return best
}

func (r Report) total() int { return r.Passed + r.Failed + r.Skipped }

func (r Report) bounded() Report {
	r.Failures = slices.Clone(r.Failures)
	for i, f := range r.Failures {
		f.Message = strings.Trim(plain(f.Message), "\n")
		if len(f.Message) > maxMessage {
			f.Message = strings.ToValidUTF8(f.Message[:maxMessage], "") + "…"
		}
		r.Failures[i] = f
	}
	slices.SortStableFunc(r.Failures, func(a, b Failure) int {
		return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Name, b.Name))
	})
	if len(r.Failures) > maxFailures {
		r.Failures = r.Failures[:maxFailures]
	}
	return r
}

// lazily compiles an expression when it is used for the first time: most
// servers run no tests, and none of them those of all kinds.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

var colours = lazily("\x1b\\[[0-9;?]*[A-Za-z]")

// plain is text without the sequences that colour it.
func plain(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	return colours().ReplaceAllString(text, "")
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// counts reads pairs of a number and a word, such as "3 passed, 1 failed".
func counts(text string) map[string]int {
	found := map[string]int{}
	for _, m := range countRule().FindAllStringSubmatch(text, -1) {
		found[m[2]] += number(m[1])
	}
	return found
}

var countRule = lazily(`(\d+) (\w+)`)

// position finds the first "file:line" in a message, for a runner whose sources
// end in one of exts.
func position(message string, rule *regexp.Regexp) (file string, line int) {
	if m := rule.FindStringSubmatch(message); m != nil {
		return m[1], number(m[2])
	}
	return "", 0
}
