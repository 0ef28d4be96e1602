package lint

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Finding is one thing that a linter says. Lines and columns count from one, as
// the linter counts; 0 is not known.
type Finding struct {
	File     string `json:"file" jsonschema:"relative to the workspace"`
	Line     int    `json:"line,omitempty" jsonschema:"from one"`
	Column   int    `json:"column,omitempty" jsonschema:"from one"`
	Rule     string `json:"rule,omitempty" jsonschema:"the linter's name of it"`
	Severity string `json:"severity" jsonschema:"error, warning or info"`
	Message  string `json:"message" jsonschema:"what is wrong"`

	Broken bool   `json:"-"` // what keeps the rest from being looked at: it is told wherever it is
	Fix    []Edit `json:"-"` // all of it or nothing
}

// The severities.
const (
	Error   = "error"
	Warning = "warning"
	Info    = "info"
)

// The rules of what can't be read, where a linter has no name for it.
const (
	compiler = "compiler"
	syntax   = "syntax"
)

// Report is what a linter's output says.
type Report struct {
	Read     bool // it is the output of that linter
	Findings []Finding
	Fixed    map[string]string // the texts of files as its fixes make them, for a linter that gives them whole
}

// Output is what a linter printed.
type Output struct {
	Stdout, Stderr string
	Code           int // its exit code
}

// Parse reads the output of a linter, by the name that its plan has.
func Parse(linter string, o Output) Report {
	parse := parsers[linter]
	if parse == nil {
		return Report{}
	}
	r := parse(o)
	broken := o.Code > 1 && (linter != "cargo clippy" && linter != "cargo check" || o.Code != 101)
	if broken || o.Code != 0 && len(r.Findings) == 0 {
		r.Read = false // it did not come to its end
	}
	for i, f := range r.Findings {
		r.Findings[i].Message = strings.Join(strings.Fields(f.Message), " ")
	}
	return r
}

var parsers = map[string]func(Output) Report{
	"golangci-lint": parseGolangci, "go vet": parseVet, "eslint": parseESLint, "biome": parseBiome, "ruff": parseRuff,
	"flake8": parseFlake8, "pyflakes": parsePyflakes, "cargo clippy": parseCargo, "cargo check": parseCargo, "shellcheck": parseShellcheck,
}

// Sort sorts findings by their places, and drops what is there twice, as from a
// package that is compiled for its tests too.
func Sort(list []Finding) []Finding {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(list, func(a, b Finding) bool {
		return a.File == b.File && a.Line == b.Line && a.Column == b.Column && a.Rule == b.Rule && a.Message == b.Message
	})
}

// lazily compiles an expression when it is used for the first time.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// decode reads the JSON that begins with one of the words, after what else is
// printed before it.
func decode(out string, into any, begins ...string) bool {
	for _, word := range begins {
		if at := strings.Index(out, word); at >= 0 {
			return json.NewDecoder(strings.NewReader(out[at:])).Decode(into) == nil
		}
	}
	return false
}

var goError = lazily(`(?m)^(?:vet: )?([^\s:]+\.go):(\d+):(?:(\d+):)? (.+)$`)

// goErrors are what a compiler of Go says.
func goErrors(text string) (list []Finding) {
	for _, m := range goError().FindAllStringSubmatch(text, -1) {
		list = append(list, Finding{File: m[1], Line: number(m[2]), Column: number(m[3]), Rule: compiler, Severity: Error, Message: m[4], Broken: true})
	}
	return list
}

var goPosition = lazily(`^(.*):(\d+):(\d+)$`)

// parseVet reads what go vet -json prints, on one stream or the other: an
// object for each package, among lines that name it and what does not compile.
func parseVet(o Output) Report {
	r := Report{Read: true}
	for _, text := range []string{o.Stdout, o.Stderr} {
		var said, objects strings.Builder
		inside := false
		for l := range strings.Lines(text) {
			inside = inside || strings.HasPrefix(l, "{")
			switch {
			case strings.HasPrefix(l, "#"):
			case inside:
				objects.WriteString(l)
			default:
				said.WriteString(l)
			}
			inside = inside && strings.TrimRight(l, "\r\n") != "}" && strings.TrimSpace(l) != "{}"
		}
		r.Findings = append(r.Findings, goErrors(said.String())...)
		for d := json.NewDecoder(strings.NewReader(objects.String())); ; {
			var packages map[string]map[string]json.RawMessage
			if err := d.Decode(&packages); err != nil {
				r.Read = r.Read && strings.TrimSpace(objects.String()[d.InputOffset():]) == ""
				break
			}
			for _, analyzers := range packages {
				for rule, data := range analyzers {
					var found []vetFinding
					if json.Unmarshal(data, &found) != nil {
						continue // an analyzer that failed has an object
					}
					for _, v := range found {
						r.Findings = append(r.Findings, v.finding(rule))
					}
				}
			}
		}
	}
	return r
}

type vetFinding struct {
	Posn, Message  string
	SuggestedFixes []struct {
		Edits []struct {
			Filename   string
			Start, End int
			New        string
		}
	} `json:"suggested_fixes"`
}

func (v vetFinding) finding(rule string) Finding {
	f := Finding{Rule: rule, Severity: Warning, Message: v.Message}
	if m := goPosition().FindStringSubmatch(v.Posn); m != nil {
		f.File, f.Line, f.Column = m[1], number(m[2]), number(m[3])
	}
	if len(v.SuggestedFixes) > 0 { // the others are instead of the first
		for _, e := range v.SuggestedFixes[0].Edits {
			f.Fix = append(f.Fix, Edit{File: e.Filename, Start: Position{Offset: e.Start}, End: Position{Offset: e.End}, New: e.New})
		}
	}
	return f
}

// goFormatters give the parts of one rewritten file as findings of their own:
// one of them alone, such as a line that moves, would lose text.
var goFormatters = []string{"gofmt", "gofumpt", "goimports", "gci", "golines", "swaggo"}

func parseGolangci(o Output) Report {
	var j struct {
		Issues []struct {
			FromLinter, Text, Severity string
			Pos                        struct {
				Filename     string
				Line, Column int
			}
			SuggestedFixes []struct {
				TextEdits []struct {
					Pos, End int
					NewText  []byte
				}
			}
		}
	}
	if !decode(o.Stdout, &j, `{"Issues":`) {
		return Report{}
	}
	r := Report{Read: true}
	for _, i := range j.Issues {
		f := Finding{File: i.Pos.Filename, Line: i.Pos.Line, Column: i.Pos.Column, Rule: i.FromLinter, Severity: severity(i.Severity), Message: i.Text}
		if i.FromLinter == "typecheck" {
			f.Rule, f.Severity, f.Broken = compiler, Error, true
			if list := goErrors(i.Text); len(list) > 0 {
				r.Findings = append(r.Findings, list...)
				continue
			}
		}
		if len(i.SuggestedFixes) > 0 && !slices.Contains(goFormatters, i.FromLinter) {
			for _, e := range i.SuggestedFixes[0].TextEdits {
				f.Fix = append(f.Fix, Edit{File: f.File, Start: Position{Offset: e.Pos}, End: Position{Offset: e.End}, New: string(e.NewText)})
			}
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

// severity is a linter's word as one of ours.
func severity(word string) string {
	switch word {
	case "error", "fatal", "error: internal compiler error":
		return Error
	case "info", "information", "style", "hint", "note", "help", "suggestion":
		return Info
	}
	return Warning
}

func parseESLint(o Output) Report {
	var files []struct {
		FilePath string
		Output   *string
		Messages []struct {
			RuleID       string `json:"ruleId"`
			Severity     int
			Fatal        bool
			Message      string
			Line, Column int
		}
	}
	if !decode(o.Stdout, &files, `[{"filePath"`, "[]") {
		return Report{}
	}
	r := Report{Read: true, Fixed: map[string]string{}}
	for _, file := range files {
		if file.Output != nil {
			r.Fixed[file.FilePath] = *file.Output
		}
		for _, m := range file.Messages {
			f := Finding{File: file.FilePath, Line: m.Line, Column: m.Column, Rule: m.RuleID, Severity: Warning, Message: m.Message}
			if m.Severity > 1 {
				f.Severity = Error
			}
			if m.Fatal {
				f.Rule, f.Broken = syntax, true
			}
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}

func parseBiome(o Output) Report {
	type at struct{ Line, Column int }
	var j struct {
		Diagnostics []struct {
			Severity, Message, Category string
			Location                    struct {
				Path  json.RawMessage
				Start at
			}
		}
	}
	if !decode(o.Stdout, &j, `{"summary"`) {
		return Report{}
	}
	r := Report{Read: true}
	for _, d := range j.Diagnostics {
		f := Finding{Line: d.Location.Start.Line, Column: d.Location.Start.Column, Rule: strings.TrimPrefix(d.Category, "lint/"), Severity: severity(d.Severity), Message: d.Message}
		if json.Unmarshal(d.Location.Path, &f.File) != nil {
			continue // of no file
		}
		if d.Category == "parse" {
			f.Rule, f.Broken = syntax, true
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

// parseRuff reads ruff's output format json. Its columns count characters.
func parseRuff(o Output) Report {
	type at struct{ Row, Column int }
	var list []struct {
		Code, Message, Filename string
		Location                at
		Cell                    *int // of a notebook
		Fix                     *struct {
			Applicability string
			Edits         []struct {
				Content     string
				Location    at
				EndLocation at `json:"end_location"`
			}
		}
	}
	if !decode(o.Stdout, &list, "[") {
		return Report{}
	}
	r := Report{Read: true}
	for _, l := range list {
		f := Finding{File: l.Filename, Line: l.Location.Row, Column: l.Location.Column, Rule: l.Code, Severity: Warning, Message: l.Message}
		if l.Code == "" || l.Code == "E999" || l.Code == "invalid-syntax" {
			f.Rule, f.Severity, f.Broken = syntax, Error, true
		}
		if l.Fix != nil && l.Fix.Applicability == "safe" && l.Cell == nil {
			for _, e := range l.Fix.Edits {
				f.Fix = append(f.Fix, Edit{File: l.Filename, Start: Position{Line: e.Location.Row, Column: e.Location.Column}, End: Position{Line: e.EndLocation.Row, Column: e.EndLocation.Column}, New: e.Content})
			}
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

var (
	flake8Line   = lazily(`(?m)^(.+?):(\d+):(\d+): ([A-Z]+\d+) (.*)$`)
	pyflakesLine = lazily(`(?m)^(.+?\.pyi?):(\d+):(?:(\d+):?)? (.+)$`)
)

func parseFlake8(o Output) Report {
	r := Report{Read: true}
	for _, m := range flake8Line().FindAllStringSubmatch(o.Stdout, -1) {
		f := Finding{File: m[1], Line: number(m[2]), Column: number(m[3]), Rule: m[4], Severity: Warning, Message: m[5]}
		if m[4] == "E999" || m[4] == "E902" {
			f.Rule, f.Severity, f.Broken = syntax, Error, true
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

// parsePyflakes reads findings from one stream, and what is no Python from the
// other.
func parsePyflakes(o Output) Report {
	r := Report{Read: true}
	for i, text := range []string{o.Stdout, o.Stderr} {
		for _, m := range pyflakesLine().FindAllStringSubmatch(text, -1) {
			f := Finding{File: m[1], Line: number(m[2]), Column: number(m[3]), Severity: Warning, Message: m[4]}
			if i == 1 {
				f.Rule, f.Severity, f.Broken = syntax, Error, true
			}
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}

type rustMessage struct {
	Message, Level string
	Code           *struct{ Code string }
	Spans          []rustSpan
	Children       []rustMessage
}

type rustSpan struct {
	FileName  string          `json:"file_name"`
	ByteStart int             `json:"byte_start"`
	ByteEnd   int             `json:"byte_end"`
	Line      int             `json:"line_start"`
	Column    int             `json:"column_start"`
	Primary   bool            `json:"is_primary"`
	Expansion json.RawMessage // of a macro
	New       *string         `json:"suggested_replacement"`
	Sure      string          `json:"suggestion_applicability"`
}

// parseCargo reads one message a line.
func parseCargo(o Output) Report {
	var r Report
	for l := range strings.Lines(o.Stdout) {
		var j struct {
			Reason  string
			Message rustMessage
		}
		if !strings.HasPrefix(l, "{") || json.Unmarshal([]byte(l), &j) != nil {
			continue
		}
		r.Read = r.Read || j.Reason == "build-finished"
		if j.Reason != "compiler-message" || len(j.Message.Spans) == 0 {
			continue // sums such as "2 warnings emitted" have no place
		}
		r.Findings = append(r.Findings, j.Message.finding())
	}
	return r
}

func (m rustMessage) finding() Finding {
	f := Finding{Severity: severity(m.Level), Message: m.Message}
	at := m.Spans[0]
	for _, s := range m.Spans {
		if s.Primary {
			at = s
			break
		}
	}
	f.File, f.Line, f.Column = at.FileName, at.Line, at.Column
	if m.Code != nil {
		f.Rule = m.Code.Code
	}
	f.Broken = f.Severity == Error && !strings.HasPrefix(f.Rule, "clippy::")
	for _, child := range m.Children {
		if f.Fix = child.fix(); f.Fix != nil {
			break
		}
	}
	return f
}

// fix are the edits of a suggestion that the compiler is sure of.
func (m rustMessage) fix() (edits []Edit) {
	for _, s := range m.Spans {
		if s.New == nil || s.Sure != "MachineApplicable" || len(s.Expansion) > 0 && string(s.Expansion) != "null" {
			return nil
		}
		edits = append(edits, Edit{File: s.FileName, Start: Position{Offset: s.ByteStart}, End: Position{Offset: s.ByteEnd}, New: *s.New})
	}
	return edits
}

func parseShellcheck(o Output) Report {
	var list []struct {
		File, Level, Message string
		Line, Column, Code   int
	}
	if !decode(o.Stdout, &list, "[") {
		return Report{}
	}
	r := Report{Read: true}
	for _, l := range list {
		r.Findings = append(r.Findings, Finding{File: l.File, Line: l.Line, Column: l.Column, Rule: "SC" + strconv.Itoa(l.Code), Severity: severity(l.Level), Message: l.Message})
	}
	return r
}
