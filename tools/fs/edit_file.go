package fs

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/match"
)

//go:embed edit_file.md
var editFileDoc string

// EditFileArgs are the arguments of edit_file: one edit, or several in Edits.
type EditFileArgs struct {
	Path       string     `json:"path" jsonschema:"file, relative to the workspace"`
	Search     *string    `json:"search,omitempty" jsonschema:"text to replace, as it is in the file"`
	Replace    *string    `json:"replace,omitempty" jsonschema:"text to put there"`
	Occurrence Occurrence `json:"occurrence,omitempty" type:"string,integer" jsonschema:"if search fits several places: which one, counted from 1, or all"`
	LineHint   int        `json:"line_hint,omitempty" jsonschema:"if search fits several places: line near the one meant" minimum:"1"`
	Edits      []Edit     `json:"edits,omitempty" jsonschema:"several edits, instead of search and replace" maxItems:"100"`
	ExpectHash string     `json:"expect_hash,omitempty" jsonschema:"hash from read_file; refused if the file has changed since"`
}

// Edit is one replacement.
type Edit struct {
	Search     string     `json:"search" jsonschema:"as above"`
	Replace    string     `json:"replace" jsonschema:"as above"`
	Occurrence Occurrence `json:"occurrence,omitempty" type:"string,integer" jsonschema:"as above"`
	LineHint   int        `json:"line_hint,omitempty" jsonschema:"as above" minimum:"1"`
}

// Occurrence chooses among several matches: "all", or a number from one. It is
// written as a string or as a number.
type Occurrence string

// UnmarshalJSON takes a string or a number.
func (o *Occurrence) UnmarshalJSON(data []byte) error {
	s := string(data)
	if strings.HasPrefix(s, `"`) {
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
	}
	*o = Occurrence(strings.TrimSpace(s))
	return nil
}

// number returns the occurrence's index from one, or 0 for all and for none.
func (o Occurrence) number() (int, error) {
	if o == "" || o == "all" {
		return 0, nil
	}
	n, err := strconv.Atoi(string(o))
	if err != nil || n < 1 {
		return 0, tools.Errorf(tools.InvalidArguments, "occurrence: %q is neither all nor a number from 1", string(o))
	}
	return n, nil
}

// Edited is the structured result of edit_file.
type Edited struct {
	Path     string      `json:"path" jsonschema:"file"`
	Hash     string      `json:"hash" jsonschema:"SHA-256 of the new text"`
	Replaced int         `json:"replaced" jsonschema:"places"`
	Tier     match.Tier  `json:"tier" jsonschema:"the least exact way in which a search text fits" enum:"exact,line-endings,trailing-whitespace,indentation,escapes,look-alikes,similarity"`
	Lines    []LineRange `json:"lines" jsonschema:"of the first 20 places of each edit, in the text after it"`
}

// LineRange is a range of lines, counted from one, End included.
type LineRange struct {
	Start int `json:"start" jsonschema:"first line, from one"`
	End   int `json:"end" jsonschema:"last line"`
}

func newEditFile() *tools.Tool {
	return tools.NewEdit(tools.Def{
		Name:        "edit_file",
		Example:     `{"path": "main.go", "search": "var limit = 10", "replace": "var limit = 20"}`,
		Description: editFileDoc,
		Category:    category,
		Core:        true,
		Output:      Edited{},
		Also:        []tools.Form{{When: "of no_match", Of: nearRegion{}}, {When: "of ambiguous_match", Of: ambiguousMatch{}}},
	}, editFile)
}

// list returns the edits in whichever form they were given.
func (in EditFileArgs) list() ([]Edit, error) {
	single := in.Search != nil || in.Replace != nil
	switch {
	case single && len(in.Edits) > 0:
		return nil, tools.Errorf(tools.InvalidArguments, "give either search and replace, or edits, not both")
	case len(in.Edits) > 0 && (in.Occurrence != "" || in.LineHint > 0):
		return nil, tools.Errorf(tools.InvalidArguments, "occurrence and line_hint belong into each of edits")
	case len(in.Edits) > 0:
		return in.Edits, nil
	case in.Search == nil:
		return nil, tools.Errorf(tools.InvalidArguments, "search is missing: give search and replace, or edits")
	case in.Replace == nil:
		return nil, tools.Errorf(tools.InvalidArguments, "replace is missing: give the text to put in place of search, \"\" to delete it")
	}
	return []Edit{{*in.Search, *in.Replace, in.Occurrence, in.LineHint}}, nil
}

func editFile(ctx context.Context, c *tools.Call, in EditFileArgs) (tools.Result, []workspace.Change, error) {
	edits, err := in.list()
	if err != nil {
		return tools.Result{}, nil, err
	}
	for i, e := range edits {
		if err := e.valid(); err != nil {
			return tools.Result{}, nil, numbered(err, i, len(edits))
		}
	}
	f, err := openText(ctx, c, in.Path)
	if err != nil {
		return tools.Result{}, nil, err
	}
	if err := unchangedSince(f.name, in.ExpectHash, f.data); err != nil {
		return tools.Result{}, nil, err
	}
	out := Edited{Path: f.name, Tier: match.Exact, Lines: []LineRange{}}
	body := f.text.Body
	var notes []string
	for i, e := range edits {
		if err := writable("replace", e.Replace, f.text); err != nil {
			return tools.Result{}, nil, numbered(err, i, len(edits))
		}
		done, err := replace(ctx, f.name, body, e)
		if err != nil {
			return tools.Result{}, nil, numbered(err, i, len(edits))
		}
		body = done.body
		out.Replaced += done.places
		out.Lines = append(out.Lines, done.lines...)
		if done.tier != match.Exact {
			out.Tier = done.tier
			notes = append(notes, done.note)
		}
	}
	after, err := encode(f.name, f.text, body)
	if err != nil {
		return tools.Result{}, nil, err
	}
	out.Hash = hash(after)
	if body == f.text.Body {
		return tools.Result{Text: f.name + " reads like this already; nothing changed", Structured: out}, nil, nil
	}
	return tools.Result{Text: report(f, out, notes, body), Structured: out},
		[]workspace.Change{{Path: f.name, Before: f.data, After: after}}, nil
}

func (e Edit) valid() error {
	switch {
	case e.Search == "":
		return tools.Errorf(tools.InvalidArguments, "search is empty; give the text to replace (write_file replaces a whole file)")
	case e.Search == e.Replace:
		return tools.Errorf(tools.InvalidArguments, "search and replace are the same, so nothing would change")
	case e.Occurrence != "" && e.LineHint > 0:
		return tools.Errorf(tools.InvalidArguments, "give occurrence or line_hint, not both")
	}
	_, err := e.Occurrence.number()
	return err
}

// numbered says which of several edits an error is about.
func numbered(err error, i, of int) error {
	e := tools.AsError(err)
	if of == 1 || e.Code == tools.Cancelled || e.Code == tools.Timeout {
		return err
	}
	return &tools.Error{Code: e.Code, Message: fmt.Sprintf("edits[%d]: %s (no edit was made)", i, e.Message), Structured: e.Structured}
}

// maxDiff bounds the diff in a result, in bytes.
const maxDiff = 4000

func report(f file, out Edited, notes []string, body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "edited %s: %s", f.name, tools.Count(out.Replaced, "place"))
	if len(out.Lines) == 1 {
		fmt.Fprintf(&b, ", %s", out.Lines[0])
	}
	for _, n := range notes {
		b.WriteString("\n" + n)
	}
	b.WriteString("\n" + clipped(diff.Unified("a/"+f.name, "b/"+f.name, f.text.Body, body, 2), maxDiff))
	return b.String()
}

func (r LineRange) String() string {
	if r.End <= r.Start {
		return fmt.Sprintf("line %d", r.Start)
	}
	return fmt.Sprintf("lines %d-%d", r.Start, r.End)
}

// clipped cuts s after the last whole line in limit bytes and says so.
func clipped(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	i := strings.LastIndexByte(s[:limit], '\n') + 1
	if i == 0 {
		return strings.ToValidUTF8(s[:limit], "") + "…\n"
	}
	return s[:i] + fmt.Sprintf("… (%d more lines)\n", strings.Count(s[i:], "\n"))
}
