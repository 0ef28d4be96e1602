package testrun

import (
	"strings"
)

// planPytest: the interpreter of the project's own environment, if it has one.
func planPytest(p project) (*Plan, error) {
	if !p.Has("pytest.ini") && !p.Has("conftest.py") && !strings.Contains(p.Read("pyproject.toml"), "pytest") && !strings.Contains(p.Read("setup.cfg")+p.Read("tox.ini"), "pytest") &&
		!p.Has("tests") && !p.Has("test") && !strings.HasSuffix(p.Path, ".py") {
		return nil, nil
	}
	return pytest(p, "pytest"), nil
}

// planBare is for tests of Python that no project is around. What they import
// lies where they run, or beside them.
func planBare(p project) (*Plan, error) { return pytest(p, p.on.Python(), "-m", "pytest"), nil }

func pytest(p project, words ...string) *Plan {
	for _, dir := range []string{".venv", "venv"} {
		if own := p.on.InVenv(dir, "python"); p.Has(own) {
			words = []string{own, "-m", "pytest"}
			break
		}
	}
	words = append(words, "-ra", "--tb=short", "--color=no")
	target := p.Path
	switch {
	case p.name == "":
	case strings.HasSuffix(target, ".py") && strings.Contains(p.name, "::"):
		target += "::" + strings.TrimPrefix(p.name, target+"::")
	case strings.Contains(p.name, ".py::"):
		target = p.name
	default:
		words = append(words, "-k", strings.NewReplacer("::", " and ", ".", " and ").Replace(p.name))
	}
	if target != "" {
		words = append(words, "./"+target)
	}
	return &Plan{Runner: "pytest", Words: words}
}

var (
	pytestEnd     = lazily(`(?m)^=* ?((?:\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+|no tests ran) in [\d.]+s`)
	pytestShort   = lazily(`(?m)^(FAILED|ERROR) (\S+?\.py\S*|\S+)(?: - (.*))?$`)
	pytestSection = lazily(`(?m)^_{3,} (.+?) _{3,}$`)
	pytestPlace   = lazily(`(?m)^(\S+\.py):(\d+): `)
)

// parsePytest reads the summary of pytest, and what stands above it about each
// failure.
func parsePytest(out string) Report {
	var r Report
	ends := pytestEnd().FindAllStringSubmatch(out, -1)
	if ends == nil {
		return r
	}
	n := counts(ends[len(ends)-1][1])
	r = Report{Counted: true, Passed: n["passed"] + n["xpassed"], Failed: n["failed"] + n["error"] + n["errors"], Skipped: n["skipped"] + n["xfailed"]}
	said := pytestSections(out)
	for _, m := range pytestShort().FindAllStringSubmatch(out, -1) {
		f := Failure{Name: m[2], Message: m[3]}
		f.File, _, _ = strings.Cut(m[2], "::")
		short := m[2]
		if at := strings.Index(short, "::"); at >= 0 {
			short = strings.ReplaceAll(short[at+2:], "::", ".")
		}
		for _, title := range []string{short, "ERROR collecting " + m[2], "ERROR at setup of " + short, "ERROR at teardown of " + short} {
			if detail := said[title]; detail != "" {
				f.Message = detail
				for _, at := range pytestPlace().FindAllStringSubmatch(detail, -1) {
					if at[1] == f.File {
						f.Line = number(at[2])
					}
				}
				break
			}
		}
		r.Failures = append(r.Failures, f)
	}
	return r
}

// pytestSections are the texts under the titles of failures.
func pytestSections(out string) map[string]string {
	said := map[string]string{}
	at := pytestSection().FindAllStringSubmatchIndex(out, -1)
	for i, m := range at {
		end := len(out)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		body := out[m[1]:end]
		if stop := strings.Index(body, "\n==="); stop >= 0 {
			body = body[:stop]
		}
		said[out[m[2]:m[3]]] = body
	}
	return said
}
