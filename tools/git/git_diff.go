package git

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed git_diff.md
var diffDoc string

type diffArgs struct {
	Ref1   string `json:"ref1,omitempty" jsonschema:"branch, tag or commit to compare from"`
	Ref2   string `json:"ref2,omitempty" jsonschema:"one to compare with; the files on disk by default"`
	Path   string `json:"path,omitempty" jsonschema:"only this file or directory"`
	Staged bool   `json:"staged,omitempty" jsonschema:"what is staged, against HEAD"`

	Pending bool `json:"pending,omitempty" jsonschema:"as if all edits were accepted and saved"`
}

// Effects names what is read.
func (a diffArgs) Effects() tools.Effects {
	if a.Path == "" {
		return tools.Effects{}
	}
	return tools.Effects{Paths: []string{a.Path}}
}

// Check refuses what can't be meant before anything is looked at.
func (a diffArgs) Check() error {
	switch {
	case a.Ref2 != "" && a.Ref1 == "":
		return tools.Errorf(tools.InvalidArguments, "ref2: it is compared with ref1; give that too")
	case a.Staged && a.Ref1 != "":
		return tools.Errorf(tools.InvalidArguments, "staged: it compares what is staged with HEAD; leave out the refs, or staged")
	}
	switch {
	case a.Pending && a.Staged:
		return tools.Errorf(tools.InvalidArguments, "pending: what is pending is not staged; leave out pending, or staged")
	case a.Pending && a.Ref2 != "":
		return tools.Errorf(tools.InvalidArguments, "pending: between two commits nothing is pending; leave out pending, or ref2")
	}
	for i, ref := range []string{a.Ref1, a.Ref2} {
		if ref == "" {
			continue
		}
		if err := gitrepo.CheckRevision(ref); err != nil {
			return tools.Errorf(tools.InvalidArguments, "ref%d: %v", i+1, err)
		}
	}
	return nil
}

// DiffInfo is the structured result of git_diff.
type DiffInfo struct {
	Files    []DiffFile `json:"files" jsonschema:"that differ"`
	Added    int        `json:"added" jsonschema:"lines"`
	Removed  int        `json:"removed" jsonschema:"lines"`
	Staged   int        `json:"staged,omitempty" jsonschema:"files that are staged and not shown"`
	Conflict []string   `json:"conflict,omitempty" jsonschema:"files in conflict, which are not shown"`
}

// DiffFile is one file that differs. Status is git's letter.
type DiffFile struct {
	Path    string `json:"path" jsonschema:"file"`
	From    string `json:"from,omitempty" jsonschema:"of a rename"`
	Status  string `json:"status" jsonschema:"git's letter"`
	Added   int    `json:"added" jsonschema:"lines"`
	Removed int    `json:"removed" jsonschema:"lines"`
	Binary  bool   `json:"binary,omitempty" jsonschema:"it has no lines"`
	Hidden  bool   `json:"hidden,omitempty" jsonschema:"it may hold secrets, and is not shown"`
}

func newDiff(d Deps) *tools.Tool {
	return tools.NewRead(tools.Def{
		Name: "git_diff", Title: "Git diff", Example: `{"path": "main.go"}`, Description: diffDoc,
		Category: category, Core: true, Tags: []string{"changes", "patch", "compare"}, SeesDisk: true, MaySee: true,
		Output: DiffInfo{},
	}, func(ctx context.Context, c *tools.Call, in diffArgs) (tools.Result, error) {
		p, path, err := d.repository(ctx, c.Files, in.Path)
		if err != nil {
			return tools.Result{}, err
		}
		o := gitrepo.DiffOptions{From: in.Ref1, To: in.Ref2, Staged: in.Staged, Path: path, Hidden: p.hidden}
		if in.Pending {
			o.Over = p.over()
			c.SawFiles()
		}
		diff, err := p.repo.Diff(ctx, o)
		if err != nil {
			return tools.Result{}, asError(err)
		}
		return p.diffResult(diff), nil
	})
}

func (p repository) diffResult(d *gitrepo.Diff) tools.Result {
	info := DiffInfo{Files: []DiffFile{}, Staged: d.Staged}
	var patch strings.Builder
	for _, f := range d.Files {
		name, _ := p.name(f.Path)
		file := DiffFile{Path: name, Status: string(f.Code), Added: f.Added, Removed: f.Removed, Binary: f.Binary, Hidden: f.Hidden}
		if f.From != "" {
			file.From, _ = p.name(f.From)
		}
		info.Files = append(info.Files, file)
		info.Added, info.Removed = info.Added+f.Added, info.Removed+f.Removed
		patch.WriteString(f.Patch)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, +%d -%d lines\n", count(len(d.Files), "file differs", "files differ"), info.Added, info.Removed)
	if len(d.Files) == 0 {
		b.Reset()
		b.WriteString("no differences\n")
	}
	if d.Staged > 0 {
		fmt.Fprintf(&b, "%s staged and not shown; staged: true shows them\n", count(d.Staged, "file is", "files are"))
	}
	for _, path := range d.Conflict {
		if name, ok := p.name(path); ok {
			info.Conflict = append(info.Conflict, name)
			fmt.Fprintf(&b, "%s is in conflict and not shown; read the file, its markers show both sides\n", shown(name))
		}
	}
	if p.below != "." && patch.Len() > 0 {
		fmt.Fprintf(&b, "paths in the patch begin with %s/, which is the workspace\n", shown(p.below))
	}
	if patch.Len() > 0 {
		b.WriteByte('\n')
		b.WriteString(patch.String())
	}
	if d.Left > 0 {
		fmt.Fprintf(&b, "\n… %s left out, there is too much; give a path\n", count(d.Left, "file is", "files are"))
	}
	return tools.Result{Text: b.String(), Structured: info, Truncated: d.Left > 0}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
