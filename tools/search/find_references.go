package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/pki/references"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// referencesTimeout bounds a search for references; what was found until a
// little before is the answer then.
const (
	referencesTimeout = 30 * time.Second
	maxSymbol         = 300 // bytes of a symbol's name
)

// What a result has at most.
const (
	maxDefinitions = 30
	maxImporters   = 40
	maxUsages      = 1000
)

type referencesArgs struct {
	Symbol string `json:"symbol" jsonschema:"its name, qualified or not"`
	Path   string `json:"path,omitempty" jsonschema:"file or directory where it is defined or used"`
	Kind   string `json:"kind,omitempty" jsonschema:"only these places" enum:"definition,import,usage,call,type,extends,read,write"`
}

// site is one place of the structured result.
type site struct {
	Path   string `json:"path" jsonschema:"file"`
	Line   int    `json:"line" jsonschema:"from one"`
	Column int    `json:"column" jsonschema:"from one, in bytes"`
	Kind   string `json:"kind" jsonschema:"definition, import, call, type, extends, read, write, …"`
	Name   string `json:"name,omitempty" jsonschema:"of a definition qualified; else the symbol around"`
	Text   string `json:"text" jsonschema:"the line"`
	Likely bool   `json:"likely,omitempty" jsonschema:"the name is the same, whose it is is not known"`
}

// referencesData is the structured part of a result. The totals count what was
// left out too.
type referencesData struct {
	Definitions []site   `json:"definitions" jsonschema:"where it is defined"`
	Importers   []site   `json:"importers" jsonschema:"where it is imported"`
	Usages      []site   `json:"usages" jsonschema:"where it is used"`
	Total       total    `json:"total" jsonschema:"with what was left out"`
	ByName      []string `json:"byName,omitempty" jsonschema:"languages in which only names were compared"`
	Partial     bool     `json:"partial,omitempty" jsonschema:"time ran out; there may be more"`
}

type total struct {
	Definitions int `json:"definitions" jsonschema:"how many"`
	Importers   int `json:"importers" jsonschema:"how many"`
	Usages      int `json:"usages" jsonschema:"how many"`
}

func findReferences(f *references.Finder) *tools.Tool {
	return tools.NewRead(tools.Def{
		Name:        "find_references",
		Title:       "Find references",
		Example:     `{"symbol": "Server.Start", "kind": "call"}`,
		Description: findReferencesText,
		Category:    "search",
		Core:        true,
		Tags:        []string{"symbol", "definition", "usages", "callers", "imports"},
		Timeout:     referencesTimeout,
		Output:      referencesData{},
	}, func(ctx context.Context, c *tools.Call, in referencesArgs) (tools.Result, error) {
		if f == nil {
			return tools.Result{}, tools.Errorf(tools.Unavailable, "no parser is at hand; use grep")
		}
		return runReferences(ctx, f, c, in)
	})
}

func runReferences(ctx context.Context, f *references.Finder, c *tools.Call, in referencesArgs) (tools.Result, error) {
	q, err := in.query(c)
	if err != nil {
		return tools.Result{}, err
	}
	within, cancel := context.WithTimeout(ctx, referencesTimeout-5*time.Second)
	defer cancel()
	r, err := f.Find(within, c.Files, q)
	switch {
	case ctx.Err() != nil:
		return tools.Result{}, ctx.Err()
	case errors.Is(err, references.ErrNoSymbol):
		text := fmt.Sprintf("nothing is called %s in this workspace's code", in.Symbol)
		if like := similar(f.Similar(within, c.Files, in.Symbol)); like != "" {
			text += ", but there is " + like + "; upper and lower case differ\n"
		} else if like := similar(f.Misspelt(within, c.Files, in.Symbol)); like != "" {
			text += ", but there is " + like + "; check the spelling\n"
		} else {
			text += "; for a part of a name or for other text use grep\n"
		}
		return tools.Result{Text: text, Structured: referencesData{Definitions: []site{}, Importers: []site{}, Usages: []site{}}}, nil
	case errors.Is(err, references.ErrElsewhere):
		return in.result(r, fmt.Sprintf("%s is neither defined nor used at %s; leave path out, or take one of these:", in.Symbol, in.Path)), nil
	case err != nil:
		return tools.Result{}, err
	}
	return in.result(r, ""), nil
}

// similar names the first of some definitions.
func similar(list []references.Reference) string {
	const most = 5
	var names []string
	for _, p := range list[:min(len(list), most)] {
		names = append(names, fmt.Sprintf("%s (%s, %s:%d)", p.Name, p.Kind, p.Path, p.Line))
	}
	return strings.Join(names, ", ")
}

func (in *referencesArgs) query(c *tools.Call) (references.Query, error) {
	q := references.Query{Symbol: strings.TrimSpace(in.Symbol)}
	if !strings.ContainsFunc(q.Symbol, func(r rune) bool { return unicode.IsLetter(r) || r == '_' || r == '$' }) {
		return q, tools.Errorf(tools.InvalidArguments, "symbol: a name is expected, such as Name, pkg.Name or Type.method; to search for other text use grep")
	}
	if len(q.Symbol) > maxSymbol || strings.ContainsFunc(q.Symbol, unicode.IsSpace) {
		return q, tools.Errorf(tools.InvalidArguments, "symbol: one name of at most %d bytes without white space is expected; to search for text use grep", maxSymbol)
	}
	if in.Path == "" {
		return q, nil
	}
	name, err := c.Files.Resolve(in.Path)
	if err != nil {
		return q, err
	}
	if _, err := c.Files.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return q, tools.Errorf(tools.NotFound, "path: %s does not exist; check it with list_directory or search_files", in.Path)
	} else if err != nil {
		return q, err
	}
	q.Path = name
	return q, nil
}

// wants reports whether the argument kind lets a site through.
func (in *referencesArgs) wants(section, kind string) bool {
	return in.Kind == "" || in.Kind == section || in.Kind == kind
}

// result filters, cuts and writes what was found. lead, if any, goes before it.
func (in *referencesArgs) result(r *references.Result, lead string) tools.Result {
	data := referencesData{ByName: r.ByName, Partial: r.Partial}
	var b strings.Builder
	if lead != "" {
		fmt.Fprintln(&b, lead)
	}
	cut := false
	section := func(title, name string, found []references.Reference, most int) ([]site, int) {
		list := []site{}
		for _, p := range found {
			if in.wants(name, p.Kind) {
				list = append(list, site{p.Path, p.Line, p.Column, p.Kind, p.Name, p.Text, p.ByName})
			}
		}
		all := len(list)
		list = list[:min(all, most)]
		cut = cut || len(list) < all
		if all > 0 {
			fmt.Fprintf(&b, "%s (%d)\n", title, all)
			for _, p := range list {
				p.write(&b)
			}
			if len(list) < all {
				fmt.Fprintf(&b, "… %d more; narrow with path or kind\n", all-len(list))
			}
			b.WriteByte('\n')
		}
		return list, all
	}
	sure, likely := split(r.Uses)
	data.Definitions, data.Total.Definitions = section("definitions", "definition", r.Definitions, maxDefinitions)
	data.Importers, data.Total.Importers = section("importers", "import", r.Imports, maxImporters)
	data.Usages, data.Total.Usages = section("usages", "usage", sure, maxUsages)
	title := "usages by name: whose member it is is unknown"
	if len(r.ByName) > 0 {
		title = "usages by name: scopes are not followed in " + strings.Join(r.ByName, ", ")
	}
	more, n := section(title, "usage", likely, maxUsages-len(data.Usages))
	data.Usages, data.Total.Usages = append(data.Usages, more...), data.Total.Usages+n
	if lead == "" {
		in.close(&b, r, data.Total)
	}
	return tools.Result{Text: b.String(), Structured: data, Truncated: cut}
}

// close says what is missing.
func (in *referencesArgs) close(b *strings.Builder, r *references.Result, t total) {
	switch {
	case t == total{}:
		fmt.Fprintf(b, "%s has no %s here; leave kind out to see what there is\n", in.Symbol, cmp.Or(in.Kind, "reference"))
	case len(r.Definitions) == 0:
		fmt.Fprintf(b, "no file of the workspace defines %s; these places have the name\n", in.Symbol)
	case in.Kind == "" && t.Usages == 0:
		b.WriteString("no usages\n")
	}
	if r.Failed > 0 {
		fmt.Fprintf(b, "%s could not be parsed: their names were compared as text\n", count(r.Failed, "file"))
	}
	if r.Partial {
		b.WriteString("time ran out: there may be more; narrow with a qualified symbol, or use grep\n")
	}
}

func (p *site) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s:%d:%d: ", showPath(p.Path), p.Line, p.Column)
	showLine(b, []byte(p.Text), 0)
	b.WriteByte('\n')
}

// split parts what is certain from what is not.
func split(uses []references.Reference) (sure, likely []references.Reference) {
	likely = slices.Clone(uses)
	likely = slices.DeleteFunc(likely, func(p references.Reference) bool { return !p.ByName })
	sure = slices.DeleteFunc(slices.Clone(uses), func(p references.Reference) bool { return p.ByName })
	return sure, likely
}
