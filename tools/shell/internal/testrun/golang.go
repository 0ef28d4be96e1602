package testrun

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
)

// planGo: a directory is tested with what is below it, a file by the tests
// that it declares.
func planGo(p project) (*Plan, error) {
	words := []string{"go", "test", "-json"}
	pkg := "./..."
	run := goPattern(p.name)
	if p.Path != "" && p.IsDir {
		pkg = "./" + p.Path + "/..."
	} else if p.Path != "" {
		pkg = "./" + path.Dir(p.Path)
		var names []string
		for _, m := range goTest().FindAllStringSubmatch(p.Read(p.Path), -1) {
			names = append(names, m[1])
		}
		if run == "" && len(names) > 0 {
			run = "^(" + strings.Join(names, "|") + ")$"
		}
	}
	if run != "" {
		words = append(words, "-run="+run)
	}
	return &Plan{Runner: "go", Words: append(words, pkg)}, nil
}

var (
	goTest = lazily(`(?m)^func ((?:Test|Example|Fuzz)\w*)\(`)
	goName = lazily(`^(?:Test|Example|Fuzz)\w*(?:/.*)?$`)
)

// goPattern is the expression for exactly the test of that name, or name
// itself where it is no name.
func goPattern(name string) string {
	if !goName().MatchString(name) {
		return name
	}
	parts := strings.Split(strings.ReplaceAll(name, " ", "_"), "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// parseGo reads what go test -json prints, described by go doc test2json.
func parseGo(out string) Report {
	type key struct{ pkg, test string }
	var r Report
	said := map[key]*strings.Builder{}
	broken := map[string]*strings.Builder{} // what the compiler said, by import path
	var failed []key
	for l := range strings.Lines(out) {
		if !strings.HasPrefix(l, "{") {
			continue
		}
		var e struct{ Action, Package, ImportPath, Test, Output, FailedBuild string }
		if json.Unmarshal([]byte(l), &e) != nil {
			continue
		}
		k := key{e.Package, e.Test}
		switch e.Action {
		case "output", "build-output":
			into := said[k]
			if e.Action == "build-output" {
				into = broken[e.ImportPath]
			}
			if into == nil {
				into = &strings.Builder{}
				if e.Action == "build-output" {
					broken[e.ImportPath] = into
				} else {
					said[k] = into
				}
			}
			if into.Len() < 4*maxMessage {
				into.WriteString(e.Output)
			}
		case "pass", "skip", "fail":
			r.Counted = true
			switch {
			case e.Test == "" && e.Action == "fail" && e.FailedBuild != "":
				r.Failures = append(r.Failures, Failure{Name: e.Package, Message: text(broken[e.FailedBuild]) + text(said[k])})
			case e.Test == "" && e.Action == "fail":
				failed = append(failed, k) // reported below, if none of its tests is to blame
			case e.Test == "":
			case e.Action == "pass":
				r.Passed++
			case e.Action == "skip":
				r.Skipped++
			default:
				r.Failed++
				failed = append(failed, k)
			}
			if e.Test != "" && e.Action != "fail" {
				delete(said, k)
			}
		}
	}
	for _, k := range failed {
		blamed := func(other key) bool {
			return other.pkg == k.pkg && other.test != k.test && (k.test == "" || strings.HasPrefix(other.test, k.test+"/"))
		}
		message := goMessage(text(said[k]))
		if slices.ContainsFunc(failed, blamed) && (k.test == "" || message == "") {
			continue // one inside of it says why
		}
		f := Failure{Name: strings.Trim(k.pkg+"."+k.test, "."), Message: message}
		f.File, f.Line = position(message, goPlace())
		if f.File != "" {
			f.Message = message
		}
		r.Failures = append(r.Failures, f)
	}
	return r
}

var (
	goPlace = lazily(`(?m)^\s*([\w./-]+\.go):(\d+):`)
	goFrame = lazily(`^\s*(=== |--- |PASS$|FAIL\b|ok\s)`)
)

// goMessage is what a test said, without the frame that is put around it.
func goMessage(out string) string {
	var b strings.Builder
	for l := range strings.Lines(out) {
		if !goFrame().MatchString(strings.TrimSpace(l)) {
			b.WriteString(l)
		}
	}
	return b.String()
}

func text(b *strings.Builder) string {
	if b == nil {
		return ""
	}
	return b.String()
}

var goTextLine = lazily(`(?m)^\s*--- (PASS|FAIL|SKIP): (\S+)`)

// parseGoText reads what go test prints for people. Without -v it names only
// what failed; a package that passed counts as one test.
func parseGoText(out string) Report {
	var r Report
	var last *Failure
	said := "" // by the test that runs: with -v it stands before the result
	for l := range strings.Lines(out) {
		if m := goTextLine().FindStringSubmatch(l); m != nil {
			r.Counted, last = true, nil
			switch m[1] {
			case "PASS":
				r.Passed++
			case "SKIP":
				r.Skipped++
			default:
				r.Failed++
				r.Failures = append(r.Failures, Failure{Name: m[2], Message: said})
				last = &r.Failures[len(r.Failures)-1]
				last.File, last.Line = position(said, goPlace())
			}
			said = ""
			continue
		}
		switch {
		case !strings.HasPrefix(l, "    ") || goFrame().MatchString(strings.TrimSpace(l)):
			last, said = nil, ""
		case last == nil:
			said += l
		default:
			last.Message += l
			if last.File == "" {
				last.File, last.Line = position(l, goPlace())
			}
		}
	}
	for _, m := range goTextPackage().FindAllStringSubmatch(out, -1) {
		r.Counted = true
		if m[1] == "ok" && r.Passed == 0 {
			r.Passed++
		}
	}
	return r
}

var goTextPackage = lazily(`(?m)^(ok  |FAIL)\t\S+\t`)
