package shadow

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// Bounds of a diff, in bytes.
const (
	maxShownFile = 8 << 20
	maxDiff      = 32 << 20
)

// Diff is what was done in a shadow.
type Diff struct {
	Text  string     `json:"diff"` // a patch in git's format
	Files []FileDiff `json:"files"`
}

// FileDiff is one file of a Diff.
type FileDiff struct {
	Path    string `json:"path"`
	From    string `json:"from,omitempty"` // what it was called before
	Kind    string `json:"kind"`           // create, modify, delete or rename
	Added   int    `json:"added"`          // lines; 0 for what is binary or not shown
	Removed int    `json:"removed"`
}

// Diff compares a shadow, as it is now, with how it began. The contents of
// files that may hold secrets are left out.
func (m *Manager) Diff(ctx context.Context, id string) (Diff, error) {
	none := Diff{Files: []FileDiff{}}
	if err := m.wait(ctx); err != nil {
		return none, err
	}
	t, err := m.find(id)
	if err != nil {
		return none, err
	}
	d, err := m.diff(ctx, t)
	if gone := m.same(t); gone != nil {
		return none, gone
	}
	return d, err
}

func (m *Manager) diff(ctx context.Context, t *tree) (Diff, error) {
	d := Diff{Files: []FileDiff{}}
	list, err := m.changes(ctx, t)
	if err != nil {
		return d, err
	}
	c, err := t.contents()
	if err != nil {
		return d, err
	}
	defer c.close()
	var shown []change
	for _, ch := range c.renames(ctx, list) {
		shown = append(shown, ch.apart()...)
	}
	var b strings.Builder
	for _, ch := range shown {
		if err := ctx.Err(); err != nil {
			return d, err
		}
		p := m.patch(ctx, c, ch)
		text := p.String()
		f := FileDiff{Path: ch.name(), Kind: ch.kind()}
		if ch.renamed() {
			f.From = ch.old.path
		}
		if p.Omit == "" && !diff.Binary(p.Old) && !diff.Binary(p.New) {
			for _, h := range diff.Hunks(p.Old, p.New) {
				f.Added, f.Removed = f.Added+h.NewLines, f.Removed+h.OldLines
			}
		}
		d.Files = append(d.Files, f)
		if b.Len()+len(text) > maxDiff {
			p.Omit, p.Old, p.New = "left out, because the whole diff would be too large", "", ""
			text = p.String()
		}
		b.WriteString(text)
	}
	d.Text = b.String()
	return d, nil
}

// patch is one change as a patch. What can't be read is said instead.
func (m *Manager) patch(ctx context.Context, c *contents, ch change) diff.FilePatch {
	p := diff.FilePatch{OldName: ch.old.path, NewName: ch.new.path, OldMode: uint32(ch.old.mode), NewMode: uint32(ch.new.mode), Similarity: ch.similarity}
	if ch.old.hash != ch.new.hash || !ch.old.exists() || !ch.new.exists() {
		p.OldID, p.NewID = short(ch.old), short(ch.new)
	} else {
		return p // only the name or the mode
	}
	if m.o.Settings.Hidden(ch.name()) || ch.old.exists() && m.o.Settings.Hidden(ch.old.path) {
		p.Omit = "the contents are not shown, because the file may hold secrets"
		return p
	}
	old, err := c.old(ctx, ch.old)
	if err == nil && (len(old) > maxShownFile || ch.new.size > maxShownFile) {
		err = fmt.Errorf("it has more than %d bytes", maxShownFile)
	}
	var now []byte
	if err == nil {
		now, err = c.new(ch.new)
	}
	if err != nil {
		p.Omit = "the contents are not shown: " + err.Error()
		return p
	}
	p.Old, p.New = string(old), string(now)
	return p
}

// short is an object's name as patches abbreviate it.
func short(s side) string {
	hash := s.hash
	if !s.exists() {
		hash = plumbing.ZeroHash
	}
	return hash.String()[:10]
}
