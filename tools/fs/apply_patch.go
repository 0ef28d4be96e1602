package fs

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/fs/internal/patch"
)

//go:embed apply_patch.md
var applyPatchDoc string

// ApplyPatchArgs are the arguments of apply_patch.
type ApplyPatchArgs struct {
	Patch string `json:"patch" jsonschema:"the patch"`
}

// Patched is the structured result of apply_patch.
type Patched struct {
	Files []PatchedFile `json:"files" jsonschema:"in the order of the patch"`
}

// PatchedFile is what a patch did to one file.
type PatchedFile struct {
	Path  string        `json:"path" jsonschema:"file"`
	From  string        `json:"from,omitempty" jsonschema:"where it was before"`
	Kind  string        `json:"kind" jsonschema:"what was done" enum:"create,modify,delete,rename"`
	Hash  string        `json:"hash,omitempty" jsonschema:"SHA-256 of the new text"`
	Hunks []AppliedHunk `json:"hunks,omitempty" jsonschema:"where they fit"`
}

func newApplyPatch() *tools.Tool {
	return tools.NewEdit(tools.Def{
		Name:        "apply_patch",
		Example:     `{"patch": "--- a/main.go\n+++ b/main.go\n@@ -3 +3 @@\n-var limit = 10\n+var limit = 20\n"}`,
		Description: applyPatchDoc,
		Category:    category,
		Core:        true,
		Output:      Patched{},
		Also:        []tools.Form{{When: "of no_match", Of: nearRegion{}}},
	}, applyPatch)
}

func applyPatch(ctx context.Context, c *tools.Call, in ApplyPatchArgs) (tools.Result, []workspace.Change, error) {
	files, notes, err := patch.Parse(in.Patch)
	if err != nil {
		return tools.Result{}, nil, tools.Errorf(tools.InvalidArguments, "patch: %v", err)
	}
	t := newTree(ctx, c)
	for _, f := range files {
		if f.Kind == patch.Delete || f.Kind == patch.Update && f.New != f.Old && f.New != "" {
			if name, err := t.resolve(f.Old, f.Plain); err == nil {
				t.going = append(t.going, name)
			}
		}
	}
	var failed []*tools.Error
	var out Patched
	for _, f := range files {
		done, err := t.apply(f)
		if ctx.Err() != nil {
			return tools.Result{}, nil, ctx.Err()
		}
		out.Files = append(out.Files, done)
		if err != nil {
			failed = append(failed, tools.AsError(err))
		}
	}
	if len(failed) > 0 {
		return tools.Result{}, nil, rejected(failed, len(files))
	}
	changes := t.changes()
	if len(changes) == 0 {
		return tools.Result{Text: "the files are as the patch makes them already; nothing changed", Structured: out}, nil, nil
	}
	notes = append(notes, withoutExec(changes, workspace.KeepsExec)...)
	return tools.Result{Text: summary(out, notes) + clipped(changedText(changes), maxDiff), Structured: out}, changes, nil
}

// rejected joins the reasons why a patch was not applied.
func rejected(failed []*tools.Error, files int) error {
	e := &tools.Error{Code: failed[0].Code, Structured: failed[0].Structured}
	var b strings.Builder
	fmt.Fprintf(&b, "the patch was not applied, nothing changed (%d of %s did not fit)", len(failed), tools.Count(files, "file"))
	for _, f := range failed {
		b.WriteString("\n" + f.Message)
	}
	e.Message = b.String()
	return e
}

// withoutExec says of which new files the mode is left out, where files have none.
func withoutExec(changes []workspace.Change, kept bool) (notes []string) {
	for _, ch := range changes {
		if !kept && workspace.IsExec(ch.Mode) {
			notes = append(notes, ch.Path+" is not made executable: files have no such mode on this system")
		}
	}
	return notes
}

// modesKept says what to do about a patch that changes nothing but a mode.
func modesKept(name string, kept bool) error {
	if !kept {
		return tools.Errorf(tools.InvalidArguments, "%s: the patch changes no text of it, and files have no modes on this system; leave it out", name)
	}
	return tools.Errorf(tools.InvalidArguments, "%s: the patch changes no text of it, and file modes are not changed here; use run_command for chmod", name)
}

func summary(out Patched, notes []string) string {
	var b strings.Builder
	for _, f := range out.Files {
		switch f.Kind {
		case "rename":
			fmt.Fprintf(&b, "moved %s to %s", f.From, f.Path)
		case "create":
			fmt.Fprintf(&b, "created %s", f.Path)
		case "delete":
			fmt.Fprintf(&b, "deleted %s", f.Path)
		default:
			fmt.Fprintf(&b, "edited %s", f.Path)
		}
		if len(f.Hunks) > 0 {
			b.WriteString(": ")
		}
		for i, h := range f.Hunks {
			if i > 0 {
				b.WriteString("; ")
			}
			b.WriteString(h.String())
		}
		b.WriteString("\n")
	}
	for _, n := range notes {
		fmt.Fprintf(&b, "(%s)\n", n)
	}
	return b.String()
}

// changedText shows what became of the files that were there, which need not be
// where the patch said.
func changedText(changes []workspace.Change) string {
	var b strings.Builder
	for _, ch := range changes {
		if ch.Before == nil || ch.After == nil {
			continue
		}
		before, err := workspace.DecodeText(ch.Before)
		if err != nil {
			continue
		}
		after, err := workspace.DecodeText(ch.After)
		if err != nil {
			continue
		}
		b.WriteString(diff.Unified("a/"+cmp.Or(ch.From, ch.Path), "b/"+ch.Path, before.Body, after.Body, 2))
	}
	return b.String()
}

// newFile is the text of an added file.
func newFile(name string, f patch.File) ([]byte, error) {
	var b strings.Builder
	for _, h := range f.Hunks {
		for i, o := range h.Ops {
			b.WriteString(o.Text)
			if i < len(h.Ops)-1 || !withoutFinal(h) {
				b.WriteString("\n")
			}
		}
	}
	return append([]byte{}, b.String()...), writable(name, b.String(), workspace.Text{})
}

var errShown = errors.New("the patch does not show the text that the file has")

// showsAll fails unless the removed lines of a deletion are the file's.
func showsAll(name string, data []byte, f patch.File) error {
	text, err := decode(name, data)
	if err != nil {
		return err
	}
	var want []string
	for _, h := range f.Hunks {
		for _, o := range h.Ops {
			want = append(want, o.Text)
		}
	}
	have := lines(text.Body)
	if strings.Join(have, "\n") != strings.Join(want, "\n") {
		return tools.Errorf(tools.NoMatch, "%s is not deleted: %v; read it, or use delete_file", name, errShown)
	}
	return nil
}
