package editor

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed get_diagnostics.md
var getDiagnosticsText string

const (
	diagnosticsTime = 30 * time.Second
	serversTime     = 25 * time.Second // for the servers; what they have not said by then is unknown
	maxChecked      = 200              // files of a directory
	maxShown        = 200              // problems
)

const category = "diagnostics"

type diagnosticsIn struct {
	Path     string `json:"path,omitempty" jsonschema:"file or directory; the whole workspace if left out"`
	Severity string `json:"severity,omitempty" jsonschema:"only this bad or worse" enum:"error,warning,information,hint" default:"hint"`
}

// The three states.
const (
	stateClean    = "clean"
	stateProblems = "problems"
	stateUnknown  = "unknown"
)

// diagnosticsData is the structured part of a result.
type diagnosticsData struct {
	State    string         `json:"state" jsonschema:"whether there are problems; unknown is not clean" enum:"clean,problems,unknown"`
	Problems []problemData  `json:"problems" jsonschema:"at most 200, by file and line"`
	Counts   map[string]int `json:"counts" jsonschema:"problems by severity, those left out too"`
	Checked  map[string]int `json:"checked" jsonschema:"files by who looked at them: a language server, or editor"`
	Unknown  []unknownData  `json:"unknown,omitempty" jsonschema:"what was not looked at"`
}

type problemData struct {
	Path      string `json:"path" jsonschema:"file"`
	Line      int    `json:"line" jsonschema:"from one"`
	Column    int    `json:"column" jsonschema:"from one, in bytes"`
	EndLine   int    `json:"endLine" jsonschema:"from one"`
	EndColumn int    `json:"endColumn" jsonschema:"behind the last one"`
	Severity  string `json:"severity" jsonschema:"how bad it is" enum:"error,warning,information,hint"`
	Code      string `json:"code,omitempty" jsonschema:"of the rule, as its checker has it"`
	Source    string `json:"source,omitempty" jsonschema:"the checker, as the server names it"`
	Message   string `json:"message" jsonschema:"what is wrong"`
	From      string `json:"from" jsonschema:"a language server, or editor"`
}

type unknownData struct {
	Why   string   `json:"why" jsonschema:"the reason"`
	Files int      `json:"files" jsonschema:"how many"`
	Paths []string `json:"paths" jsonschema:"some of them"`
}

// editorName is the editor as a source.
const editorName = "editor"

func getDiagnostics(d Deps) *tools.Tool {
	return tools.NewRead(tools.Def{
		Name: "get_diagnostics", Title: "Get diagnostics", Example: `{"path": "src", "severity": "error"}`, Description: getDiagnosticsText, Category: category,
		Tags: []string{"errors", "warnings", "compile", "types", "lint"}, Timeout: diagnosticsTime, OnDisk: true, Core: true,
		Output: diagnosticsData{},
	}, func(ctx context.Context, c *tools.Call, in diagnosticsIn) (tools.Result, error) {
		s, err := newSurvey(ctx, c.Files, in.Path)
		if err != nil {
			return tools.Result{}, err
		}
		s.scan(ctx, d)
		if ctx.Err() != nil {
			return tools.Result{}, ctx.Err()
		}
		return s.result(langserver.Severity(in.Severity)), nil
	})
}

// survey is a look at the problems of some files.
type survey struct {
	files workspace.Files
	path  string   // that is looked at, "." for all
	file  bool     // path is a file
	names []string // to ask our servers about
	left  int      // that were not asked about, because they are too many

	found   []langserver.Problem
	checked map[string]int
	unknown []langserver.Report
}

func newSurvey(ctx context.Context, files workspace.Files, path string) (*survey, error) {
	name, err := files.Resolve(cmp.Or(path, "."))
	if err != nil {
		return nil, err
	}
	info, err := files.Stat(name)
	if err != nil {
		return nil, err
	}
	s := &survey{files: files, path: name, file: !info.IsDir(), checked: map[string]int{}}
	if s.file {
		if _, err := files.ReadFile(name); err != nil {
			return nil, err // sensitive files are not looked at in any way
		}
		s.names = []string{name}
		return s, nil
	}
	s.names = langserver.Files(ctx, files, name)
	if len(s.names) > maxChecked {
		s.left, s.names = len(s.names)-maxChecked, s.names[:maxChecked]
	}
	return s, nil
}

// scan asks our servers and the editor.
func (s *survey) scan(ctx context.Context, d Deps) {
	var shown Shown
	var told bool
	var asking sync.WaitGroup
	if d.Shown != nil {
		asking.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, serversTime)
			defer cancel()
			name := ""
			if s.file {
				name = s.path
			}
			shown, told = d.Shown(ctx, s.files, name)
		})
	}
	within, cancel := context.WithTimeout(ctx, serversTime)
	defer cancel()
	reports := d.Servers.Diagnose(within, s.files, s.names...)
	asking.Wait()

	var own []langserver.Problem
	seen := func(string) bool { return told }
	if told && shown.Stale != nil {
		seen = func(name string) bool { return !shown.Stale(name) }
	}
	for _, r := range reports {
		switch {
		case r.Err == nil:
			own = append(own, r.Problems...)
			s.checked[r.Server]++
		case seen(r.Name):
			s.checked[editorName]++
		case told:
			r.Err = fmt.Errorf("%w; the editor has not seen the pending edits", r.Err)
			s.unknown = append(s.unknown, r)
		default:
			s.unknown = append(s.unknown, r)
		}
	}
	var theirs []langserver.Problem
	if told {
		for _, p := range shown.Problems {
			if s.within(p.Path) && seen(p.Path) {
				theirs = append(theirs, p)
			}
		}
		if s.checked[editorName] == 0 && (!s.file || seen(s.path)) {
			s.checked[editorName] = 0 // it was asked, too
		}
	}
	s.found = langserver.Merge(own, theirs)
}

func (s *survey) within(name string) bool {
	return s.path == "." || name == s.path || strings.HasPrefix(name, s.path+"/")
}

func (s *survey) result(least langserver.Severity) tools.Result {
	data := diagnosticsData{State: stateClean, Problems: []problemData{}, Counts: map[string]int{}, Checked: s.checked}
	shown := slices.DeleteFunc(slices.Clone(s.found), func(p langserver.Problem) bool { return !p.Severity.AtLeast(least) })
	for _, p := range shown {
		data.Counts[string(p.Severity)]++
		if len(data.Problems) < maxShown {
			data.Problems = append(data.Problems, dataOf(p))
		}
	}
	data.Unknown = s.whys()
	known := 0
	for who, n := range s.checked {
		if who != editorName || n > 0 || len(s.names) == 0 {
			known++
		}
	}
	switch {
	case len(shown) > 0:
		data.State = stateProblems
	case len(data.Unknown) > 0, known == 0:
		data.State = stateUnknown
	}
	return tools.Result{Text: s.text(data, len(shown)), Structured: data, Truncated: len(shown) > maxShown || s.left > 0}
}

func dataOf(p langserver.Problem) problemData {
	return problemData{p.Path, p.Line, p.Column, p.EndLine, p.EndColumn, string(p.Severity), p.Code, p.Source, p.Message, p.Server}
}

// whys groups what is unknown by its reason, whichever servers it keeps from looking.
func (s *survey) whys() []unknownData {
	const somePaths = 5
	var out []unknownData
	servers := map[string][]string{} // by reason
	for _, r := range s.unknown {
		why := r.Err.Error()
		var e *langserver.UnavailableError
		if !errors.As(r.Err, &e) {
			why = tools.AsError(r.Err).Message
		} else if rest, ok := strings.CutPrefix(why, e.Server+": "); ok && e.Server != "" {
			if why = rest; !slices.Contains(servers[why], e.Server) {
				servers[why] = append(servers[why], e.Server)
			}
		}
		i := slices.IndexFunc(out, func(u unknownData) bool { return u.Why == why })
		if i < 0 {
			i = len(out)
			out = append(out, unknownData{Why: why})
		}
		if out[i].Files++; len(out[i].Paths) < somePaths {
			out[i].Paths = append(out[i].Paths, r.Name)
		}
	}
	for i, u := range out {
		if list := servers[u.Why]; len(list) > 0 {
			out[i].Why = strings.Join(list, ", ") + ": " + u.Why
		}
	}
	if s.left > 0 {
		out = append(out, unknownData{Why: fmt.Sprintf("only the first %d files are looked at; name a directory or a file", maxChecked), Files: s.left, Paths: []string{}})
	}
	return out
}

func (s *survey) text(d diagnosticsData, total int) string {
	var b strings.Builder
	what := s.path
	if what == "." {
		what = "the workspace"
	}
	switch d.State {
	case stateClean:
		fmt.Fprintf(&b, "clean: no problems in %s\n", what)
	case stateUnknown:
		fmt.Fprintf(&b, "unknown: it can't be said whether %s has problems\n", what)
		if len(d.Unknown) == 0 {
			b.WriteString("there is no file here that a language server could check, and the editor does not share what it shows\n")
		}
	case stateProblems:
		fmt.Fprintf(&b, "%s in %s\n", countWords(d.Counts), what)
	}
	for _, p := range d.Problems {
		fmt.Fprintf(&b, "%s:%d:%d: %s: %s%s\n", p.Path, p.Line, p.Column, p.Severity, indented(p.Message), sourceWords(p))
	}
	if total > len(d.Problems) {
		fmt.Fprintf(&b, "%d more are left out; fix these first, or name a file\n", total-len(d.Problems))
	}
	for _, u := range d.Unknown {
		fmt.Fprintf(&b, "unknown for %s: %s\n", fileWords(u), u.Why)
	}
	if by := checkedWords(d.Checked); by != "" {
		fmt.Fprintf(&b, "checked by %s\n", by)
	}
	return b.String()
}

// indented keeps the further lines of a message apart from other problems.
func indented(message string) string {
	return strings.ReplaceAll(strings.TrimRight(message, "\n"), "\n", "\n    ")
}

func sourceWords(p problemData) string {
	var parts []string
	for _, s := range []string{p.Source, p.Code, p.From} {
		if s != "" && !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func countWords(counts map[string]int) string {
	var parts []string
	for _, s := range langserver.Severities {
		n := counts[string(s)]
		switch {
		case n == 0:
		case n == 1 || s == langserver.Information:
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		default:
			parts = append(parts, fmt.Sprintf("%d %ss", n, s))
		}
	}
	return strings.Join(parts, ", ")
}

func fileWords(u unknownData) string {
	switch {
	case u.Files == 1 && len(u.Paths) == 1:
		return u.Paths[0]
	case len(u.Paths) == u.Files:
		return strings.Join(u.Paths, ", ")
	case len(u.Paths) == 0:
		return tools.Count(u.Files, "file")
	}
	return fmt.Sprintf("%s (%s, …)", tools.Count(u.Files, "file"), strings.Join(u.Paths, ", "))
}

func checkedWords(checked map[string]int) string {
	var parts []string
	for _, who := range slices.Sorted(maps.Keys(checked)) {
		if n := checked[who]; who == editorName {
			parts = append(parts, "the editor")
		} else {
			parts = append(parts, fmt.Sprintf("%s (%s)", who, tools.Count(n, "file")))
		}
	}
	return strings.Join(parts, ", ")
}
