package testrun

import (
	"cmp"
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/detect"
)

// planNode: the script "test" is run, with arguments for vitest or jest if it
// is one of them; without the script, a runner that is installed.
func planNode(p project) (*Plan, error) {
	var m struct {
		Scripts         map[string]string
		Dependencies    map[string]string
		DevDependencies map[string]string `json:"devDependencies"`
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(p.Read("package.json"), "\ufeff")), &m); err != nil {
		return nil, detect.Refuse("package.json can't be read: %v", err)
	}
	script := m.Scripts["test"]
	kind := "npm"
	for _, k := range []string{"vitest", "jest"} {
		if nodeWord(script, k) {
			kind = k
			break
		}
		if script == "" && (m.Dependencies[k] != "" || m.DevDependencies[k] != "") {
			kind = k
			break
		}
	}
	words := []string{p.on.Script("npm", ".cmd"), "test", "--silent", "--"}
	switch {
	case script == "" && kind == "npm", strings.Contains(script, "no test specified"):
		return nil, nil
	case script == "":
		words = []string{p.on.Script("npx", ".cmd"), "--no-install", kind}
	}
	switch kind {
	case "vitest":
		words = append(words, "--run", "--reporter=json")
		if p.Path != "" {
			words = append(words, p.Path)
		}
		if p.name != "" {
			words = append(words, "--testNamePattern="+regexp.QuoteMeta(p.name))
		}
	case "jest":
		words = append(words, "--json")
		if p.name != "" {
			words = append(words, "--testNamePattern="+regexp.QuoteMeta(p.name))
		}
		switch {
		case p.Path != "" && p.IsDir:
			words = append(words, "--testPathPatterns="+regexp.QuoteMeta(p.Path+"/"))
			if old(m.DevDependencies["jest"]) || old(m.Dependencies["jest"]) {
				words[len(words)-1] = "--testPathPattern=" + regexp.QuoteMeta(p.Path+"/")
			}
		case p.Path != "":
			words = append(words, "--runTestsByPath", p.Path)
		}
	default:
		if p.Path != "" {
			words = append(words, p.Path)
		}
		if p.name != "" {
			words = append(words, nodeName(script, p.name)...)
		}
		if words[len(words)-1] == "--" {
			words = words[:len(words)-1]
		}
	}
	return &Plan{Runner: kind, Words: words}, nil
}

// nodeWord reports whether a script calls a program.
func nodeWord(script, program string) bool {
	for _, w := range strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune(" \t;&|()\"'", r) }) {
		if path.Base(w) == program {
			return true
		}
	}
	return false
}

// nodeName is how the program of a script takes the name of a test.
func nodeName(script, name string) []string {
	switch {
	case nodeWord(script, "mocha"):
		return []string{"--grep", name}
	case strings.Contains(script, "node --test"), strings.Contains(script, "node --import"):
		return []string{"--test-name-pattern=" + regexp.QuoteMeta(name)}
	case nodeWord(script, "ava"):
		return []string{"--match=" + name}
	}
	return []string{"-t", name}
}

// old reports whether a version of jest is one before 30, whose option for
// directories has another name.
func old(version string) bool {
	digits := strings.TrimLeft(version, "^~>=v ")
	major, _, _ := strings.Cut(digits, ".")
	n := number(major)
	return n > 0 && n < 30
}

// jestReport is what jest --json prints, and vitest's reporter json.
type jestReport struct {
	NumTotalTests *int
	TestResults   []struct {
		Name             string
		Status           string
		Message          string
		AssertionResults []struct {
			FullName        string
			Status          string
			FailureMessages []string
			Location        *struct{ Line int }
		}
	}
}

// parseJest reads the report, which stands among what scripts print.
func parseJest(out string) Report {
	var r Report
	at := strings.Index(out, `{"num`)
	if at < 0 {
		return r
	}
	var j jestReport
	if json.NewDecoder(strings.NewReader(out[at:])).Decode(&j) != nil || j.NumTotalTests == nil {
		return r
	}
	r.Counted = true
	for _, file := range j.TestResults {
		before := r.Failed
		for _, a := range file.AssertionResults {
			switch a.Status {
			case "passed":
				r.Passed++
			case "failed":
				r.Failed++
				f := Failure{Name: a.FullName, File: file.Name, Message: ownFrames(strings.Join(a.FailureMessages, "\n"))}
				if a.Location != nil {
					f.Line = a.Location.Line
				}
				if m := regexp.MustCompile(regexp.QuoteMeta(file.Name) + `:(\d+):\d+`).FindStringSubmatch(f.Message); m != nil {
					f.Line = number(m[1])
				}
				r.Failures = append(r.Failures, f)
			default: // pending, skipped, todo, disabled
				r.Skipped++
			}
		}
		if file.Status == "failed" && r.Failed == before { // it could not be loaded, or a hook failed
			message := cmp.Or(ownFrames(file.Message), "it failed outside of its tests, as in a hook such as beforeAll, and the report does not say how; run the file with command to see it")
			r.Failures = append(r.Failures, Failure{Name: file.Name, File: file.Name, Message: message})
		}
	}
	return r
}

var (
	nodeFrame = lazily(`^\s+at .*?(?:\S+:\d+:\d+\)?|\(<anonymous>\))$`)
	notOwn    = lazily(`[/( ]node_modules/|\bnode:internal/`)
)

// ownFrames is a message without the frames of packages and of Node itself, and
// those without a place that they call. Where there is no other, the first one
// stays: it says where the error was made.
func ownFrames(message string) string {
	var kept []string
	frames, first, dropped := 0, "", false
	for l := range strings.SplitSeq(message, "\n") {
		switch {
		case !nodeFrame().MatchString(l):
			dropped = false
		case notOwn().MatchString(l), dropped && strings.HasSuffix(l, "(<anonymous>)"):
			first, dropped = cmp.Or(first, l), true
			continue
		default:
			frames++
			dropped = false
		}
		kept = append(kept, l)
	}
	if frames == 0 && first != "" {
		kept = append(kept, first)
	}
	return strings.Join(kept, "\n")
}

var (
	jestTests  = lazily(`(?m)^\s*Tests:?\s+(.*\d+ (?:passed|failed|skipped|todo|total).*)$`)
	jestFailed = lazily(`(?m)^\s*(?:● +(.+)|FAIL +(\S+ > .+))$`)
)

// parseJestText reads what jest and vitest print for people.
func parseJestText(out string) Report {
	var r Report
	m := jestTests().FindStringSubmatch(out)
	if m == nil {
		return r
	}
	n := counts(m[1])
	r = Report{Counted: true, Passed: n["passed"], Failed: n["failed"], Skipped: n["skipped"] + n["todo"]}
	seen := map[string]bool{}
	for _, f := range jestFailed().FindAllStringSubmatch(out, -1) {
		name := strings.TrimSpace(f[1] + f[2])
		if name != "Console" && !seen[name] && len(r.Failures) < r.Failed {
			r.Failures = append(r.Failures, Failure{Name: name})
		}
		seen[name] = true
	}
	return r
}

var (
	mochaCount  = lazily(`(?m)^\s*(\d+) (passing|failing|pending)\b`)
	mochaFailed = lazily(`(?m)^  \d+\) (.+\n(?:       .+\n)*)((?:\n?.{6,}\n)*)`)
)

// parseMocha reads the reporter "spec" of mocha.
func parseMocha(out string) Report {
	var r Report
	for _, m := range mochaCount().FindAllStringSubmatch(out, -1) {
		r.Counted = true
		switch m[2] {
		case "passing":
			r.Passed = number(m[1])
		case "failing":
			r.Failed = number(m[1])
		default:
			r.Skipped = number(m[1])
		}
	}
	if _, list, ok := strings.Cut(out, " failing\n"); ok {
		for _, m := range mochaFailed().FindAllStringSubmatch(list, -1) {
			r.Failures = append(r.Failures, Failure{Name: strings.TrimSuffix(strings.Join(strings.Fields(m[1]), " "), ":"), Message: m[2]})
		}
	}
	return r
}

var (
	tapLine = lazily(`(?m)^(\s*)(not )?ok \d+(?: -)? ?([^#\n]*)(#[^\n]*)?$`)
	tapPlan = lazily(`(?m)^(?:TAP version 1[34]|\s*1\.\.\d+)$`)
)

// parseTAP reads the Test Anything Protocol, which node --test prints. Of
// nested results those inside count.
func parseTAP(out string) Report {
	var r Report
	if !tapPlan().MatchString(out) {
		return r
	}
	found := tapLine().FindAllStringSubmatchIndex(out, -1)
	depth := func(i int) int { return found[i][3] - found[i][2] }
	for i, at := range found {
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return out[at[2*n]:at[2*n+1]]
		}
		if i > 0 && depth(i-1) > depth(i) {
			continue // the sum of those before it
		}
		r.Counted = true
		directive := strings.ToLower(group(4))
		switch {
		case strings.HasPrefix(directive, "# skip"), strings.HasPrefix(directive, "# todo"):
			r.Skipped++
		case group(2) == "":
			r.Passed++
		default:
			r.Failed++
			r.Failures = append(r.Failures, Failure{Name: strings.TrimSpace(group(3)), Message: tapMessage(out[at[1]:])})
		}
	}
	return r
}

// tapMessage is the block of YAML that follows a result.
func tapMessage(rest string) string {
	_, block, ok := strings.Cut(rest, "---\n")
	if !ok || strings.TrimSpace(rest[:len(rest)-len(block)-len("---\n")]) != "" {
		return ""
	}
	end := strings.Index(block, "...\n")
	if end < 0 {
		return ""
	}
	return block[:end]
}
