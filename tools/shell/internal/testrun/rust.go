package testrun

import (
	"path"
	"strings"
)

// planCargo: a file of tests/ is a target, a file of src/ a module. A crate of
// a workspace is tested from its own directory.
func planCargo(p project) (*Plan, error) {
	words := []string{"cargo", "test", "--no-fail-fast", "--color=never"}
	filter := p.name
	stem := strings.TrimSuffix(path.Base(p.Path), ".rs")
	if p.Path != "" && !p.IsDir {
		top, rest, _ := strings.Cut(p.Path, "/")
		switch {
		case top == "tests" && !strings.Contains(rest, "/"):
			words = append(words, "--test="+stem)
		case top == "tests": // tests/name/main.rs, or a module of it
			dir, _, _ := strings.Cut(rest, "/")
			words = append(words, "--test="+dir)
		case top == "examples":
			words = append(words, "--example="+stem)
		case top == "benches":
			words = append(words, "--bench="+stem)
		case p.Path == "src/main.rs":
			words = append(words, "--bins")
		case strings.HasPrefix(p.Path, "src/bin/"):
			words = append(words, "--bin="+stem)
		case p.Path == "src/lib.rs":
			words = append(words, "--lib")
		case top == "src" && filter == "":
			module := strings.TrimSuffix(strings.TrimSuffix(rest, ".rs"), "/mod")
			filter = strings.ReplaceAll(module, "/", "::") + "::"
		}
	}
	if filter != "" {
		words = append(words, "--", filter)
	}
	return &Plan{Runner: "cargo", Words: words}, nil
}

var (
	cargoTest    = lazily(`(?m)^test (.+?) \.\.\. (?:.*\b)?(ok|FAILED|ignored)(?:, .*)?$`)
	cargoEnd     = lazily(`(?m)^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;`)
	cargoSaid    = lazily(`^---- (.+?) stdout ----\n$`)
	cargoPlace   = lazily(`panicked at (?:'.*', )?([^\s:]+\.rs):(\d+):`)
	cargoBroken  = lazily(`(?m)^(error(?:\[E\d+\])?: .+)\n(?:.*\n)?\s*--> (\S+?):(\d+):\d+`)
	cargoCompile = lazily("(?m)^error: could not compile `([^`]+)`")
)

// parseCargo reads what the test harness of Rust prints.
func parseCargo(out string) Report {
	var r Report
	for _, m := range cargoEnd().FindAllStringSubmatch(out, -1) {
		r.Counted = true
		r.Passed += number(m[1])
		r.Failed += number(m[2])
		r.Skipped += number(m[3])
	}
	said, title := map[string]string{}, ""
	for l := range strings.Lines(out) {
		switch m := cargoSaid().FindStringSubmatch(l); {
		case m != nil:
			title = m[1]
		case l == "failures:\n":
			title = "" // the names once more, or what another program printed
		case title != "":
			said[title] += l
		}
	}
	for _, m := range cargoTest().FindAllStringSubmatch(out, -1) {
		if m[2] == "FAILED" {
			name := strings.TrimSuffix(m[1], " - should panic")
			f := Failure{Name: name, Message: said[name]}
			f.File, f.Line = position(f.Message, cargoPlace())
			r.Failures = append(r.Failures, f)
		}
	}
	if m := cargoCompile().FindStringSubmatch(out); m != nil {
		r.Counted = true
		for _, b := range cargoBroken().FindAllStringSubmatch(out, -1) {
			r.Failures = append(r.Failures, Failure{Name: m[1], File: b[2], Line: number(b[3]), Message: b[1]})
		}
	}
	return r
}
