package testrun

import (
	"encoding/xml"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/detect"
)

// reportDirs are where Gradle and Maven leave JUnit's reports, below the
// directory of a project or of a module in it.
var reportDirs = map[string]string{"gradle": "build/test-results", "maven": "target/surefire-reports"}

func planGradle(p project) (*Plan, error) {
	program := "gradle"
	if own := p.on.Script("gradlew", ".bat"); p.Has(own) {
		program = "./" + own
	} else if up := p.Above(own); up != "" {
		program = up
	}
	words := []string{program, "cleanTest", "test", "--continue", "--console=plain"}
	pattern := javaClass(p.Path)
	switch {
	case p.Path != "" && p.IsDir:
		if pkg := javaPackage(p.Path); pkg != "" {
			pattern = pkg + ".*"
		}
	case pattern != "" && p.name != "":
		pattern += "." + p.name
	}
	if pattern == "" && p.name != "" {
		pattern = "*" + p.name
	}
	if pattern != "" {
		words = append(words, "--tests", pattern)
	}
	return &Plan{Runner: "gradle", Words: words}, nil
}

func planMaven(p project) (*Plan, error) {
	program := "mvn"
	if own := p.on.Script("mvnw", ".cmd"); p.Has(own) {
		program = "./" + own
	} else if up := p.Above(own); up != "" {
		program = up
	}
	words := []string{program, "--batch-mode", "--no-transfer-progress", "test"}
	class := javaClass(p.Path)
	test := class
	switch {
	case p.Path != "" && p.IsDir:
		if pkg := javaPackage(p.Path); pkg != "" {
			test = strings.ReplaceAll(pkg, ".", "/") + "/**"
		}
	case class != "" && p.name != "":
		test += "#" + p.name
	case p.name != "" && strings.ContainsAny(p.name, "#.") || isUpper(p.name):
		test = p.name
	case p.name != "":
		test = "*#" + p.name
	}
	if test != "" {
		words = append(words, "-Dtest="+test)
	}
	return &Plan{Runner: "maven", Words: words}, nil
}

func isUpper(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

var javaRoots = lazily(`^(?:.*/)?src/[^/]+/(?:java|kotlin|groovy|scala)/(.*)$`)

// javaClass is the full name of the class in a source file, or "".
func javaClass(file string) string {
	m := javaRoots().FindStringSubmatch(file)
	if m == nil || path.Ext(file) == "" {
		return ""
	}
	return strings.ReplaceAll(strings.TrimSuffix(m[1], path.Ext(file)), "/", ".")
}

// javaPackage is the package of a directory of sources, or "".
func javaPackage(dir string) string {
	if m := javaRoots().FindStringSubmatch(dir); m != nil {
		return strings.ReplaceAll(m[1], "/", ".")
	}
	return ""
}

// Bounds of the reports that are read.
const (
	maxReports     = 2000
	maxReportBytes = 4 << 20
	reportDepth    = 3 // how deep modules lie below the project
)

// Reports are the reports that a run left in files, for a runner that does.
func Reports(files detect.Files, p Plan, since time.Time) []string {
	at := reportDirs[p.Runner]
	if at == "" {
		return nil
	}
	var found []string
	var read func(dir string)
	read = func(dir string) {
		entries, err := files.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if e.IsDir() {
				read(name)
				continue
			}
			info, err := e.Info()
			if err != nil || path.Ext(name) != ".xml" || info.Size() > maxReportBytes || info.ModTime().Before(since.Add(-time.Second)) || len(found) == maxReports {
				continue
			}
			if data, err := files.ReadFile(name); err == nil {
				found = append(found, string(data))
			}
		}
	}
	var modules func(dir string, depth int)
	modules = func(dir string, depth int) {
		read(path.Join(dir, at))
		entries, err := files.ReadDir(dir)
		if err != nil || depth == 0 {
			return
		}
		for _, e := range entries {
			switch name := e.Name(); {
			case !e.IsDir(), strings.HasPrefix(name, "."), name == "src", name == "build", name == "target", name == "node_modules":
			default:
				modules(path.Join(dir, name), depth-1)
			}
		}
	}
	modules(p.Dir, reportDepth)
	return found
}

type junitSuite struct {
	Suites []junitSuite `xml:"testsuite"`
	Cases  []struct {
		Name    string      `xml:"name,attr"`
		Class   string      `xml:"classname,attr"`
		Failure *junitFault `xml:"failure"`
		Error   *junitFault `xml:"error"`
		Skipped *struct{}   `xml:"skipped"`
	} `xml:"testcase"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// parseJUnit reads reports in the XML of JUnit, one class each.
func parseJUnit(reports []string) Report {
	var r Report
	for _, data := range reports {
		var s junitSuite
		if xml.Unmarshal([]byte(data), &s) != nil {
			continue
		}
		r.Counted = true
		r.add(s)
	}
	return r
}

func (r *Report) add(s junitSuite) {
	for _, inner := range s.Suites {
		r.add(inner)
	}
	for _, c := range s.Cases {
		fault := c.Failure
		if fault == nil {
			fault = c.Error
		}
		switch {
		case c.Skipped != nil:
			r.Skipped++
		case fault == nil:
			r.Passed++
		default:
			r.Failed++
			f := Failure{Name: c.Class + "." + strings.TrimSuffix(c.Name, "()"), Message: fault.Text}
			if f.Message == "" {
				f.Message = fault.Message
			}
			simple := c.Class[strings.LastIndexByte(c.Class, '.')+1:]
			if m := regexp.MustCompile(`\((` + regexp.QuoteMeta(simple) + `\.\w+):(\d+)\)`).FindStringSubmatch(f.Message); m != nil {
				f.File, f.Line = m[1], number(m[2])
			}
			r.Failures = append(r.Failures, f)
		}
	}
}

var (
	surefireEnd    = lazily(`(?m)^(?:\[\w+\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)\s*$`)
	surefireFailed = lazily(`(?m)^\[ERROR\]   (\S+?:\d+(?:->\S+)?|\S+\.\S+) (.*)$`)
	mavenBroken    = lazily(`(?m)^\[ERROR\] (\S+\.(?:java|kt)):\[(\d+),\d+\] (.+)$`)
)

// parseSurefire reads what Maven prints for people.
func parseSurefire(out string) Report {
	var r Report
	for _, m := range surefireEnd().FindAllStringSubmatch(out, -1) {
		failed := number(m[2]) + number(m[3])
		r.Counted = true
		r.Failed += failed
		r.Skipped += number(m[4])
		r.Passed += number(m[1]) - failed - number(m[4])
	}
	for _, m := range surefireFailed().FindAllStringSubmatch(out, -1) {
		r.Failures = append(r.Failures, Failure{Name: m[1], Message: m[2]})
	}
	for _, m := range mavenBroken().FindAllStringSubmatch(out, -1) {
		r.Counted = true
		f := Failure{Name: "compilation", File: m[1], Line: number(m[2]), Message: m[3]}
		if len(r.Failures) == 0 || r.Failures[len(r.Failures)-1] != f {
			r.Failures = append(r.Failures, f)
		}
	}
	return r
}

var javacError = lazily(`(?m)^(\S+\.java):(\d+): error: (.+)$`)

// addJavac adds what the compiler of Java says, as Gradle passes it on.
func (r *Report) addJavac(out string) {
	for _, m := range javacError().FindAllStringSubmatch(out, -1) {
		r.Counted = true
		r.Failures = append(r.Failures, Failure{Name: "compilation", File: m[1], Line: number(m[2]), Message: m[3]})
	}
}
