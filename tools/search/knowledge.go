package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Knowledge answers questions about the project. Its error says why there is
// no answer, in words for the model.
type Knowledge interface {
	Search(ctx context.Context, files workspace.Files, q index.Query) (index.Answer, error)
}

const (
	// knowledgePatience is how long a question waits for an index that is being
	// built before it is answered from what there is.
	knowledgePatience = 3 * time.Second
	// likelyFiles is how many files are named apart from the hits.
	likelyFiles = 5
)

type knowledgeArgs struct {
	Query        string   `json:"query" jsonschema:"what to look for"`
	MaxHits      int      `json:"max_hits,omitempty" jsonschema:"most hits" default:"10" minimum:"1" maximum:"50"`
	KindFilter   []string `json:"kind_filter,omitempty" jsonschema:"only these kinds: function, method, class, interface, struct, enum, type, constant, variable, heading, file"`
	PathPrefix   string   `json:"path_prefix,omitempty" jsonschema:"only below this directory"`
	GraphDepth   int      `json:"graph_depth,omitzero" jsonschema:"hops from the hits to callers, callees, imports, implementations and tests" default:"1" minimum:"0" maximum:"3"`
	MaxGraphHits int      `json:"max_graph_hits,omitzero" jsonschema:"most of those" default:"10" minimum:"0" maximum:"50"`
}

// knowledgeHit is a hit as the structured part of a result has it.
type knowledgeHit struct {
	Path  string  `json:"path" jsonschema:"file"`
	Start int     `json:"start" jsonschema:"first line, from one"`
	End   int     `json:"end" jsonschema:"last line"`
	Kind  string  `json:"kind" jsonschema:"function, class, heading, file, …"`
	Name  string  `json:"name" jsonschema:"qualified"`
	Score float64 `json:"score" jsonschema:"the higher the better"`
	Why   string  `json:"why" jsonschema:"words, vector, or the way in the graph"`

	Overloads []lineRange `json:"overloads,omitempty" jsonschema:"others of its name in the file"`
}

type lineRange struct {
	Start int `json:"start" jsonschema:"first line, from one"`
	End   int `json:"end" jsonschema:"last line"`
}

type knowledgeFile struct {
	Path  string  `json:"path" jsonschema:"file"`
	Score float64 `json:"score" jsonschema:"the higher the better"`
}

// knowledgeData is the structured part of a result.
type knowledgeData struct {
	Hits  []knowledgeHit  `json:"hits" jsonschema:"by their words, then by the graph"`
	Files []knowledgeFile `json:"files" jsonschema:"the likeliest"`
	Ready bool            `json:"ready" jsonschema:"every file was looked at"`

	Parsed    int `json:"parsed" jsonschema:"files whose symbols come from a parser, the others' from their lines"`
	Parseable int `json:"parseable" jsonschema:"those, and the ones that may get there"`
}

func projectKnowledgeSearch(k Knowledge) *tools.Tool {
	return tools.NewRead(tools.Def{
		Name:        "project_knowledge_search",
		Title:       "Search the project's knowledge",
		Example:     `{"query": "where is the limit of requests checked"}`,
		Description: knowledgeText,
		Category:    "search",
		Core:        true,
		Tags:        []string{"symbol", "definition", "where", "how", "semantic", "index"},
		Output:      knowledgeData{},
	}, func(ctx context.Context, c *tools.Call, in knowledgeArgs) (tools.Result, error) {
		if k == nil {
			return tools.Result{}, tools.Errorf(tools.Unavailable, "there is no project index here; use grep")
		}
		return runKnowledge(ctx, c, k, in)
	})
}

var symbolKinds = []pki.Kind{
	pki.Function, pki.Method, pki.Class, pki.Interface, pki.Struct, pki.Enum, pki.Type, pki.Constant, pki.Variable, pki.Module, pki.Extension, pki.Heading, "file",
}

func runKnowledge(ctx context.Context, c *tools.Call, k Knowledge, in knowledgeArgs) (tools.Result, error) {
	if strings.TrimSpace(in.Query) == "" {
		return tools.Result{}, tools.Errorf(tools.InvalidArguments, "query: it is empty; say in words what to look for")
	}
	q := index.Query{
		Text: legible(in.Query), MaxHits: in.MaxHits, MaxFiles: likelyFiles, GraphDepth: in.GraphDepth, MaxGraphHits: in.MaxGraphHits, Wait: knowledgePatience,
	}
	for _, kind := range in.KindFilter {
		if !slices.Contains(symbolKinds, pki.Kind(kind)) {
			return tools.Result{}, tools.Errorf(tools.InvalidArguments, "kind_filter: %q is no kind; expected some of %v", tools.Clip(kind), symbolKinds)
		}
		q.Kinds = append(q.Kinds, pki.Kind(kind))
	}
	var err error
	if q.Prefix, err = pathPrefix(c.Files, in.PathPrefix); err != nil {
		return tools.Result{}, err
	}
	a, err := k.Search(ctx, c.Files, q)
	if err != nil {
		return tools.Result{}, err
	}
	return tools.Result{Text: renderAnswer(a, in), Structured: answerData(a)}, nil
}

// legible puts spaces in the place of what can't be seen, so that it joins no
// words.
func legible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return ' '
		}
		return r
	}, text)
}

// pathPrefix is what the names of the hits begin with.
func pathPrefix(files workspace.Files, path string) (string, error) {
	if path == "" || path == "." || path == "./" {
		return "", nil
	}
	name, err := files.Resolve(path)
	if err != nil {
		return "", err
	}
	info, err := files.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return name, nil // the beginning of names
	case err != nil:
		return "", err
	case name == ".":
		return "", nil
	case info.IsDir():
		return name + "/", nil
	}
	return name, nil
}

func why(h index.Hit) string {
	switch {
	case h.Via != nil && h.Via.Hops == 1:
		return fmt.Sprintf("graph: %s (1 hop from %s)", h.Via.Relation, h.Via.From)
	case h.Via != nil:
		return fmt.Sprintf("graph: %s (%d hops from %s)", h.Via.Relation, h.Via.Hops, h.Via.From)
	case h.Vector && !h.Lexical:
		return "vector"
	case h.Vector && h.Exact:
		return "lexical: named in the query; vector"
	case h.Vector:
		return "lexical; vector"
	case h.Exact:
		return "lexical: named in the query"
	}
	return "lexical"
}

func answerData(a index.Answer) knowledgeData {
	d := knowledgeData{Hits: []knowledgeHit{}, Files: []knowledgeFile{}, Ready: a.Status.Ready, Parsed: a.Status.Parsed, Parseable: a.Status.Parseable}
	for _, h := range slices.Concat(a.Hits, a.Graph) {
		hit := knowledgeHit{Path: h.Path, Start: h.Start, End: h.End, Kind: string(h.Kind), Name: h.Name, Score: rounded(h.Score), Why: why(h)}
		for _, o := range h.Overloads {
			hit.Overloads = append(hit.Overloads, lineRange(o))
		}
		d.Hits = append(d.Hits, hit)
	}
	for _, f := range a.Files {
		d.Files = append(d.Files, knowledgeFile{f.Path, rounded(f.Score)})
	}
	return d
}

func rounded(score float32) float64 { return float64(int(score*100+0.5)) / 100 }

func renderAnswer(a index.Answer, in knowledgeArgs) string {
	var b strings.Builder
	if !a.Status.Ready {
		fmt.Fprintf(&b, "The index is still being built: it has %s so far. Ask again soon, or use grep.\n", count(a.Status.Files, "file"))
	}
	if m := a.Status.Meaning; m != nil && m.State == "failing" {
		fmt.Fprintf(&b, "By words alone, since there are no embeddings: %s\n", m.Err)
	}
	if len(a.Hits) == 0 {
		b.WriteString("no match; ")
		switch {
		case in.PathPrefix != "" || len(in.KindFilter) > 0:
			b.WriteString("ask without path_prefix and kind_filter, or use grep\n")
		default:
			b.WriteString("use other words, names from the code if you know some, or grep\n")
		}
		return b.String()
	}
	for _, h := range a.Hits {
		renderHit(&b, h)
	}
	if len(a.Graph) > 0 {
		b.WriteString("tied to these by the graph:\n")
		for _, h := range a.Graph {
			renderHit(&b, h)
		}
	}
	if len(a.Files) > 1 {
		b.WriteString("likeliest files:")
		for i, f := range a.Files {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(" " + showPath(f.Path))
		}
		b.WriteByte('\n')
	}
	if n := a.WordsAlone; n > 0 {
		fmt.Fprintf(&b, "%s with unsaved or pending text without all embeddings yet; what lacks them is found by its words alone\n", count(n, "file"))
	}
	if s := a.Status; s.Parsing && slices.ContainsFunc(a.Hits, func(h index.Hit) bool { return !h.Parsed }) {
		fmt.Fprintf(&b, "(where some hits end is a guess until their files are parsed)\n")
	}
	return b.String()
}

func renderHit(b *strings.Builder, h index.Hit) {
	fmt.Fprintf(b, "%s:%d-%d\t%s\t%s\t%.2f\t%s", showPath(h.Path), h.Start, h.End, h.Kind, h.Name, h.Score, why(h))
	for i, o := range h.Overloads {
		lead := ", "
		if i == 0 {
			lead = "; overloads: "
		}
		fmt.Fprintf(b, "%s%d-%d", lead, o.Start, o.End)
	}
	b.WriteByte('\n')
}
