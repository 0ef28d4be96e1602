package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/lsp"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

var errNoShadows = errors.New("shadow workspaces are not available: no folder is open in the editor")

func (s *Server) shadows() (Shadows, error) {
	if sh := s.current().Shadows; sh != nil {
		return sh, nil
	}
	return nil, errNoShadows
}

type createShadowArgs struct {
	ID                 string `json:"id,omitempty"`
	Base               string `json:"base,omitempty"`
	IncludeUncommitted bool   `json:"includeUncommitted,omitempty"`
	Materialize        *bool  `json:"materialize,omitempty"` // nil: true
}

type createdShadow struct {
	ID   string `json:"id"`
	Path string `json:"path"`
	Base string `json:"base"`
}

func (s *Server) createShadow(ctx context.Context, token lsp.ProgressToken, a createShadowArgs) (createdShadow, error) {
	sh, err := s.shadows()
	if err != nil {
		return createdShadow{}, err
	}
	ctx, job := s.progress.begin(ctx, token, "Create a shadow workspace")
	defer job.end()
	made, err := sh.Create(ctx, shadow.CreateRequest{
		ID: a.ID, Base: a.Base, IncludeUncommitted: a.IncludeUncommitted,
		Lazy:     a.Materialize != nil && !*a.Materialize,
		Progress: func(done, total int) { job.emit(fmt.Sprintf("%d of %d files\n", done, total)) },
	})
	if err != nil {
		return createdShadow{}, shadowError(err)
	}
	return createdShadow{made.ID, made.Path, made.Base}, nil
}

type shadowList struct {
	Shadows []shadow.Shadow `json:"shadows"`
}

func (s *Server) listShadows(ctx context.Context, _ none) (shadowList, error) {
	sh, err := s.shadows()
	if err != nil {
		return shadowList{}, err
	}
	list, err := sh.List(ctx)
	if err != nil {
		return shadowList{}, shadowError(err)
	}
	return shadowList{append([]shadow.Shadow{}, list...)}, nil
}

type shadowArgs struct {
	ID string `json:"id"`
}

func (s *Server) diffShadow(ctx context.Context, a shadowArgs) (shadow.Diff, error) {
	sh, err := s.shadows()
	if err != nil {
		return shadow.Diff{}, err
	}
	d, err := sh.Diff(ctx, a.ID)
	return d, shadowError(err)
}

type mergeShadowArgs struct {
	ID   string `json:"id"`
	Into string `json:"into,omitempty"`
}

func (s *Server) mergeShadow(ctx context.Context, a mergeShadowArgs) (shadow.Merge, error) {
	sh, err := s.shadows()
	if err != nil {
		return shadow.Merge{}, err
	}
	switch a.Into {
	case "", "review", "tree":
	default:
		return shadow.Merge{}, invalidParams("into: review or tree is expected")
	}
	m, err := sh.Merge(ctx, a.ID, a.Into)
	s.publisher.changed()
	return m, shadowError(err)
}

func (s *Server) discardShadow(ctx context.Context, a shadowArgs) (shadow.Discarded, error) {
	sh, err := s.shadows()
	if err != nil {
		return shadow.Discarded{}, err
	}
	d, err := sh.Discard(ctx, a.ID)
	return d, shadowError(err)
}

// shadowError gives an error its code.
func shadowError(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, shadow.ErrInvalid) {
		return invalidParams("%v", err)
	}
	for _, row := range []struct {
		is   error
		code tools.Code
	}{
		{shadow.ErrUnknown, tools.NotFound},
		{shadow.ErrExists, tools.AlreadyExists},
		{shadow.ErrBusy, tools.Conflict},
		{shadow.ErrTooMuch, tools.TooLarge},
		{shadow.ErrUnusable, tools.Unavailable},
	} {
		if errors.Is(err, row.is) {
			return tools.Errorf(row.code, "%v", err)
		}
	}
	return reviewError(err)
}
