package fs

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	iofs "io/fs"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
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
	Files []PatchedFile `json:"files"`
}

// PatchedFile is what a patch did to one file.
type PatchedFile struct {
	Path  string   `json:"path"`
	From  string   `json:"from,omitempty"` // where it was before
	Kind  string   `json:"kind"`           // create, modify, delete or rename
	Hash  string   `json:"hash,omitempty"`
	Hunks []Placed `json:"hunks,omitempty"`
}

func newApplyPatch() *tools.Tool {
	return tools.NewEdit(tools.Def{
		Name:        "apply_patch",
		Description: applyPatchDoc,
		Category:    category,
	}, applyPatch)
}

func applyPatch(ctx context.Context, c *tools.Call, in ApplyPatchArgs) (tools.Result, []workspace.Change, error) {
	files, notes, err := patch.Parse(in.Patch)
	if err != nil {
		return tools.Result{}, nil, tools.Errorf(tools.InvalidArguments, "patch: %v", err)
	}
	t := newTree(ctx, c)
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
	return tools.Result{Text: summary(out, notes), Structured: out}, changes, nil
}

// rejected joins the reasons why a patch was not applied.
func rejected(failed []*tools.Error, files int) error {
	e := &tools.Error{Code: failed[0].Code, Structured: failed[0].Structured}
	var b strings.Builder
	fmt.Fprintf(&b, "the patch was not applied, nothing changed (%d of %s did not fit)", len(failed), plural(files, "file"))
	for _, f := range failed {
		b.WriteString("\n" + f.Message)
	}
	e.Message = b.String()
	return e
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

// tree is the files as the parts of a patch that are done leave them.
type tree struct {
	ctx   context.Context
	c     *tools.Call
	nodes map[string]*node
	order []string
}

// node is a file of the tree. nil bytes stand for no file.
type node struct {
	name   string
	from   string // where its text was before, when it was moved
	before []byte // at from, else at name
	after  []byte
	mode   iofs.FileMode
	moved  bool // its text is elsewhere now
}

func newTree(ctx context.Context, c *tools.Call) *tree {
	return &tree{ctx: ctx, c: c, nodes: map[string]*node{}}
}

// resolve turns a name of the patch into one of the view. Of a name that lost
// its prefix on suspicion the form is taken that exists.
func (t *tree) resolve(name, plain string) (string, error) {
	got, err := t.c.Files.Resolve(name)
	if err != nil || plain == "" || plain == name {
		return got, err
	}
	if t.there(got) {
		return got, nil
	}
	if other, err := t.c.Files.Resolve(plain); err == nil && t.there(other) {
		return other, nil
	}
	return got, nil
}

func (t *tree) there(name string) bool {
	if n := t.nodes[name]; n != nil {
		return n.after != nil && !n.moved
	}
	_, err := t.c.Files.Stat(name)
	return err == nil
}

// load returns the file of that name, which must exist.
func (t *tree) load(name string) (*node, error) {
	if n := t.nodes[name]; n != nil {
		if n.after == nil || n.moved {
			return nil, tools.Errorf(tools.NotFound, "%s: an earlier part of the patch takes it away", name)
		}
		return n, nil
	}
	data, err := read(t.ctx, t.c, name)
	if err != nil {
		return nil, err
	}
	return t.put(&node{name: name, before: data, after: data}), nil
}

func (t *tree) put(n *node) *node {
	if t.nodes[n.name] == nil {
		t.order = append(t.order, n.name)
	}
	t.nodes[n.name] = n
	return n
}

// create makes a place for a file that must not exist.
func (t *tree) create(name string) (*node, error) {
	if n := t.nodes[name]; n != nil {
		if n.after != nil && !n.moved {
			return nil, tools.Errorf(tools.AlreadyExists, "%s: an earlier part of the patch makes it already", name)
		}
		if n.moved {
			return nil, tools.Errorf(tools.InvalidArguments, "%s is moved away and made anew in one patch; use two patches", name)
		}
		return n, nil // deleted above: made anew it is a modification
	}
	if err := vacant(t.c, name); err != nil {
		return nil, err
	}
	return t.put(&node{name: name}), nil
}

func (t *tree) apply(f patch.File) (PatchedFile, error) {
	name := f.Old
	if f.Kind == patch.Add {
		name = f.New
	}
	name, err := t.resolve(name, f.Plain)
	if err != nil {
		return PatchedFile{}, err
	}
	done := PatchedFile{Path: name, Kind: "modify"}
	switch f.Kind {
	case patch.Add:
		done.Kind = "create"
		n, err := t.create(name)
		if err != nil {
			return done, err
		}
		n.mode = f.Mode
		n.after, err = newFile(name, f)
		done.Hash = hash(n.after)
		return done, err
	case patch.Delete:
		done.Kind = "delete"
		n, err := t.load(name)
		if err != nil {
			return done, err
		}
		if f.Whole {
			err = showsAll(name, n.after, f)
		}
		n.after = nil
		return done, err
	}
	n, err := t.load(name)
	if err != nil {
		return done, err
	}
	after := n.after
	if len(f.Hunks) > 0 {
		if after, done.Hunks, err = patchFile(t.ctx, name, n.after, f.Hunks); err != nil {
			return done, err
		}
	}
	done.Hash = hash(after)
	if f.New == f.Old || f.New == "" {
		n.after = after
		return done, nil
	}
	to, err := t.c.Files.Resolve(f.New)
	if err != nil {
		return done, err
	}
	if to == name {
		n.after = after
		return done, nil
	}
	return t.move(n, to, after, done)
}

func (t *tree) move(n *node, to string, after []byte, done PatchedFile) (PatchedFile, error) {
	done.Kind, done.From, done.Path = "rename", n.name, to
	target, err := t.create(to)
	if err != nil {
		return done, err
	}
	if target.before != nil || n.from != "" {
		return done, tools.Errorf(tools.InvalidArguments, "%s is moved over or moved twice in one patch; use two patches", to)
	}
	target.after = after
	if n.before != nil { // else n was made by this very patch
		target.from, target.before = n.name, n.before
	}
	n.moved = true
	return done, nil
}

// changes are the differences between the tree and the view.
func (t *tree) changes() []workspace.Change {
	var out []workspace.Change
	for _, name := range t.order {
		n := t.nodes[name]
		switch {
		case n.moved, n.before == nil && n.after == nil:
		case n.from == "" && n.before != nil && n.after != nil && string(n.before) == string(n.after):
		case n.from != "" && n.after == nil: // moved, then deleted
			out = append(out, workspace.Change{Path: n.from, Before: n.before})
		default:
			out = append(out, workspace.Change{Path: name, From: n.from, Before: n.before, After: n.after, Mode: n.mode})
		}
	}
	return out
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
