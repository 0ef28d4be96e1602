package search

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// oracle answers always the same and keeps what it was asked.
type oracle struct {
	answer index.Answer
	err    error
	asked  index.Query
}

func (o *oracle) Search(_ context.Context, _ workspace.Files, q index.Query) (index.Answer, error) {
	o.asked = q
	return o.answer, o.err
}

func askOracle(t *testing.T, o Knowledge, files workspace.Files, args string) (tools.Result, error) {
	t.Helper()
	list := Tools(Deps{Knowledge: o})
	tool := list[slices.IndexFunc(list, func(t *tools.Tool) bool { return t.Name == "project_knowledge_search" })]
	b, err := tool.Bind(json.RawMessage(args))
	if err != nil {
		return tools.Result{}, err
	}
	r, _, err := b.Run(t.Context(), &tools.Call{Files: files})
	tooltest.Fits(t, tool, r, err)
	return r, err
}

func TestKnowledgeArguments(t *testing.T) {
	files := project(t, map[string]string{"src/a.go": "package a\n", "b.go": "package b\n"})
	for args, want := range map[string]index.Query{
		`{"query":"x"}`:                          {MaxHits: 10, GraphDepth: 1, MaxGraphHits: 10},
		`{"query":"x","max_hits":50}`:            {MaxHits: 50, GraphDepth: 1, MaxGraphHits: 10},
		`{"query":"x","graph_depth":0}`:          {MaxHits: 10, MaxGraphHits: 10},
		`{"query":"x","max_graph_hits":0}`:       {MaxHits: 10, GraphDepth: 1},
		`{"query":"x","path_prefix":"src"}`:      {MaxHits: 10, GraphDepth: 1, MaxGraphHits: 10, Prefix: "src/"},
		`{"query":"x","path_prefix":"./src/"}`:   {MaxHits: 10, GraphDepth: 1, MaxGraphHits: 10, Prefix: "src/"},
		`{"query":"x","path_prefix":"b.go"}`:     {MaxHits: 10, GraphDepth: 1, MaxGraphHits: 10, Prefix: "b.go"},
		`{"query":"x","path_prefix":"sr"}`:       {MaxHits: 10, GraphDepth: 1, MaxGraphHits: 10, Prefix: "sr"},
		`{"query":"x","path_prefix":"."}`:        {MaxHits: 10, GraphDepth: 1, MaxGraphHits: 10},
		`{"query":"x","kind_filter":["method"]}`: {MaxHits: 10, GraphDepth: 1, MaxGraphHits: 10, Kinds: []pki.Kind{pki.Method}},
	} {
		o := &oracle{}
		if _, err := askOracle(t, o, files, args); err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		want.Text, want.MaxFiles, want.Wait = "x", likelyFiles, knowledgePatience
		if diff := cmp.Diff(want, o.asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
	}
	for args, code := range map[string]tools.Code{
		`{}`:                                     tools.InvalidArguments,
		`{"query":" \n"}`:                        tools.InvalidArguments,
		`{"query":"x","max_hits":0}`:             tools.InvalidArguments,
		`{"query":"x","max_hits":51}`:            tools.InvalidArguments,
		`{"query":"x","graph_depth":4}`:          tools.InvalidArguments,
		`{"query":"x","graph_depth":-1}`:         tools.InvalidArguments,
		`{"query":"x","max_graph_hits":51}`:      tools.InvalidArguments,
		`{"query":"x","kind_filter":["metod"]}`:  tools.InvalidArguments,
		`{"query":"x","kind_filter":"method"}`:   "",
		`{"query":"x","path_prefix":"../other"}`: tools.OutsideWorkspace,
	} {
		_, err := askOracle(t, &oracle{}, files, args)
		var te *tools.Error
		switch {
		case code == "" && err == nil: // a slip that is put right
		case errors.As(err, &te) && te.Code == code:
		case errors.Is(err, workspace.ErrOutside) && code == tools.OutsideWorkspace:
		default:
			t.Errorf("%s: got %v, want %s", args, err, code)
		}
	}
}

func TestKnowledgeAnswer(t *testing.T) {
	hit := index.Hit{Path: "a.go", Start: 3, End: 9, Kind: pki.Method, Name: "T.M", Score: 1.234}
	named := hit
	named.Name, named.Exact = "T.N", true
	near := index.Hit{Path: "b.go", Start: 1, End: 2, Kind: pki.Function, Name: "f", Score: 0.5, Via: &index.Via{Relation: "called-by", Hops: 2, From: "T.M"}}
	full := index.Answer{Hits: []index.Hit{hit, named}, Graph: []index.Hit{near}, Files: []index.File{{Path: "a.go", Score: 2}, {Path: "b.go", Score: 1}}, Status: index.Status{Ready: true}}
	files := project(t, nil)
	for what, c := range map[string]struct {
		answer index.Answer
		args   string
		want   string
	}{
		"hits": {full, `{"query":"x"}`, "a.go:3-9\tmethod\tT.M\t1.23\tlexical\na.go:3-9\tmethod\tT.N\t1.23\tlexical: named in the query\n" +
			"tied to these by the graph:\nb.go:1-2\tfunction\tf\t0.50\tgraph: called-by (2 hops from T.M)\nlikeliest files: a.go, b.go\n"},
		"of unsaved text": {index.Answer{Hits: []index.Hit{hit}, WordsAlone: 2, Status: index.Status{Ready: true}}, `{"query":"x"}`,
			"a.go:3-9\tmethod\tT.M\t1.23\tlexical\n2 files with unsaved or pending text without all embeddings yet; what lacks them is found by its words alone\n"},
		"none":              {index.Answer{Status: index.Status{Ready: true}}, `{"query":"x"}`, "no match; use other words, names from the code if you know some, or grep\n"},
		"none of a kind":    {index.Answer{Status: index.Status{Ready: true}}, `{"query":"x","kind_filter":["enum"]}`, "no match; ask without path_prefix and kind_filter, or use grep\n"},
		"while it is built": {index.Answer{Status: index.Status{Files: 12}}, `{"query":"x"}`, "The index is still being built: it has 12 files so far. Ask again soon, or use grep.\nno match; use other words, names from the code if you know some, or grep\n"},
	} {
		r, err := askOracle(t, &oracle{answer: c.answer}, files, c.args)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if diff := cmp.Diff(c.want, r.Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		d := r.Structured.(knowledgeData)
		if len(d.Hits) != len(c.answer.Hits)+len(c.answer.Graph) || d.Ready != c.answer.Status.Ready {
			t.Errorf("%s: %+v", what, d)
		}
	}
}

func TestKnowledgeUnavailable(t *testing.T) {
	files := project(t, nil)
	var te *tools.Error
	if _, err := askOracle(t, nil, files, `{"query":"x"}`); !errors.As(err, &te) || te.Code != tools.Unavailable || !strings.Contains(te.Message, "grep") {
		t.Errorf("without an index: %v", err)
	}
	off := tools.Errorf(tools.Unavailable, "off; use grep")
	if _, err := askOracle(t, &oracle{err: off}, files, `{"query":"x"}`); !errors.Is(err, off) {
		t.Errorf("switched off: %v", err)
	}
}
