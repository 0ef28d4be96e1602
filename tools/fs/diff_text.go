package fs

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed diff_text.md
var diffTextDoc string

// DiffTextArgs are the arguments of diff_text: two texts, or two files.
type DiffTextArgs struct {
	A     *string  `json:"a,omitempty" jsonschema:"the old text"`
	B     *string  `json:"b,omitempty" jsonschema:"the new text"`
	Paths []string `json:"paths,omitempty" jsonschema:"the old and the new file, instead of texts" minItems:"2" maxItems:"2"`
}

// Effects names what is read, for whoever asks why a call would be refused.
func (a DiffTextArgs) Effects() tools.Effects { return tools.Effects{Paths: a.Paths} }

// Check refuses what is neither two texts nor two files.
func (a DiffTextArgs) Check() error {
	switch {
	case len(a.Paths) > 0 && (a.A != nil || a.B != nil):
		return tools.Errorf(tools.InvalidArguments, "paths: two files are compared, or the texts a and b; leave one of them out")
	case len(a.Paths) == 0 && (a.A == nil || a.B == nil):
		return tools.Errorf(tools.InvalidArguments, "give two texts as a and b, or two files as paths")
	}
	return nil
}

// Compared is the structured result of diff_text.
type Compared struct {
	Equal   bool `json:"equal" jsonschema:"the texts are the same"`
	Added   int  `json:"added" jsonschema:"lines"`
	Removed int  `json:"removed" jsonschema:"lines"`
}

func newDiffText() *tools.Tool {
	return tools.NewRead(tools.Def{
		Name:        "diff_text",
		Example:     `{"paths": ["config/old.json", "config/new.json"]}`,
		Description: diffTextDoc,
		Category:    category,
		Tags:        []string{"compare", "difference"},
		Output:      Compared{},
	}, diffText)
}

func diffText(ctx context.Context, c *tools.Call, in DiffTextArgs) (tools.Result, error) {
	oldName, newName := "a", "b"
	var old, now workspace.Text
	if len(in.Paths) == 0 {
		old.Body, now.Body = *in.A, *in.B
	} else {
		a, err := openText(ctx, c, in.Paths[0])
		if err != nil {
			return tools.Result{}, err
		}
		b, err := openText(ctx, c, in.Paths[1])
		if err != nil {
			return tools.Result{}, err
		}
		oldName, newName, old, now = a.name, b.name, a.text, b.text
	}
	var out Compared
	for _, h := range diff.Hunks(old.Body, now.Body) {
		out.Added, out.Removed = out.Added+h.NewLines, out.Removed+h.OldLines
	}
	out.Equal = old.Body == now.Body
	switch {
	case !out.Equal:
		return tools.Result{Text: diff.Unified(oldName, newName, old.Body, now.Body, 3), Structured: out}, nil
	case old.Encoding != now.Encoding:
		return tools.Result{Text: fmt.Sprintf("the texts are equal; %s is in %v, %s in %v\n", oldName, old.Encoding, newName, now.Encoding), Structured: out}, nil
	}
	return tools.Result{Text: "the texts are equal\n", Structured: out}, nil
}
