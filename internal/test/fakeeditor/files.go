package fakeeditor

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

func (p *plan) create(c *lsp.CreateFile) error {
	path, err := FilePath(c.URI)
	if err != nil {
		return err
	}
	before, err := p.text(c.URI)
	if err != nil {
		return err
	}
	if before != nil {
		switch {
		case c.Options != nil && c.Options.Overwrite:
		case c.Options != nil && c.Options.IgnoreIfExists:
			return nil
		default:
			return fmt.Errorf("%s exists", c.URI)
		}
	}
	p.texts[c.URI] = new(string)
	p.do = append(p.do, func(context.Context) error {
		if err := ownfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return ownfile.WriteFile(path, nil, 0o644)
	})
	return nil
}

func (p *plan) rename(r *lsp.RenameFile) error {
	from, err := FilePath(r.OldURI)
	if err != nil {
		return err
	}
	to, err := FilePath(r.NewURI)
	if err != nil {
		return err
	}
	before, err := p.text(r.OldURI)
	if err != nil {
		return err
	}
	if before == nil {
		return fmt.Errorf("%s does not exist", r.OldURI)
	}
	target, err := p.text(r.NewURI)
	if err != nil {
		return err
	}
	if target != nil && (r.Options == nil || !r.Options.Overwrite) {
		return fmt.Errorf("%s exists", r.NewURI)
	}
	p.texts[r.OldURI], p.texts[r.NewURI] = nil, before
	p.do = append(p.do, func(ctx context.Context) error {
		if err := ownfile.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := ownfile.Rename(from, to); err != nil {
			return err
		}
		b := p.e.buffers[r.OldURI]
		if b == nil {
			return nil
		}
		if err := p.e.closeBuffer(ctx, r.OldURI); err != nil {
			return err
		}
		return p.e.open(ctx, r.NewURI, "text", b.doc.Text())
	})
	return nil
}

func (p *plan) remove(d *lsp.DeleteFile) error {
	path, err := FilePath(d.URI)
	if err != nil {
		return err
	}
	before, err := p.text(d.URI)
	if err != nil {
		return err
	}
	if before == nil {
		if d.Options != nil && d.Options.IgnoreIfNotExists {
			return nil
		}
		return fmt.Errorf("%s does not exist", d.URI)
	}
	p.texts[d.URI] = nil
	p.do = append(p.do, func(ctx context.Context) error {
		if err := ownfile.Remove(path); err != nil {
			return err
		}
		if p.e.buffers[d.URI] == nil {
			return nil
		}
		return p.e.closeBuffer(ctx, d.URI)
	})
	return nil
}
