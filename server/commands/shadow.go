package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/review"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

type createShadowArgs struct {
	ID                 string `json:"id,omitempty"`
	Base               string `json:"base,omitempty"`
	IncludeUncommitted bool   `json:"includeUncommitted,omitempty"`
	Materialize        *bool  `json:"materialize,omitempty"` // nil: true
}

// createdShadow is a shadow workspace that was made. Its setup may have failed.
type createdShadow struct {
	ID    string        `json:"id"`
	Path  string        `json:"path"`
	Base  string        `json:"base"`
	Setup *shadow.Setup `json:"setup,omitempty"`
}

func createShadow(ctx context.Context, d *Deps, token lsp.ProgressToken, a createShadowArgs) (createdShadow, error) {
	sh, err := shadows(d)
	if err != nil {
		return createdShadow{}, err
	}
	ctx, job := d.Progress.Begin(ctx, token, "Create a shadow workspace")
	defer job.End()
	made, err := sh.CreateShowing(ctx, shadow.CreateRequest{
		ID: a.ID, Base: a.Base, IncludeUncommitted: a.IncludeUncommitted,
		Lazy:     a.Materialize != nil && !*a.Materialize,
		Progress: func(done, total int) { job.Emit(fmt.Sprintf("%d of %d files\n", done, total)) },
	}, job.Emit)
	if err != nil {
		return createdShadow{}, shadowError(err)
	}
	if s := made.Setup; s == nil || s.State != shadow.SetupOffered || !d.Client.Can.Sidecar.Approve { // else the client offers it
		warn(ctx, d.Client, "The setup of the shadow workspace "+made.ID, setupWords(s))
	}
	return createdShadow{made.ID, made.Path, made.Base, made.Setup}, nil
}

type shadowList struct {
	Shadows []shadow.Shadow `json:"shadows"`
}

func listShadows(ctx context.Context, sh Shadows, _ none) (shadowList, error) {
	list, err := sh.List(ctx)
	if err != nil {
		return shadowList{}, shadowError(err)
	}
	usable := shadowList{[]shadow.Shadow{}}
	for _, i := range list {
		if i.Damage == nil { // else the log has it, and what is asked of it says why
			usable.Shadows = append(usable.Shadows, i)
		}
	}
	return usable, nil
}

type shadowArgs struct {
	ID string `json:"id"`
}

type shadowDiff struct {
	Diff  string       `json:"diff"`
	Files []shadowFile `json:"files"`
}

type shadowFile struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

func diffShadow(ctx context.Context, sh Shadows, a shadowArgs) (shadowDiff, error) {
	d, err := sh.Diff(ctx, a.ID)
	out := shadowDiff{d.Text, []shadowFile{}}
	for _, f := range d.Files {
		out.Files = append(out.Files, shadowFile{f.Path, f.Kind, f.Added, f.Removed})
	}
	return out, shadowError(err)
}

type mergeShadowArgs struct {
	ID   string `json:"id"`
	Into string `json:"into,omitempty"`
}

type shadowMerge struct {
	Merged    []string         `json:"merged"`
	Conflicts []shadowConflict `json:"conflicts"`
}

// shadowConflict is a change that was not merged. A text is null where there is
// no file, or where it is not shown.
type shadowConflict struct {
	Path   string  `json:"path"`
	Base   *string `json:"base"`
	Ours   *string `json:"ours"`
	Theirs *string `json:"theirs"`
}

// mergeShadow merges. Why something was not merged is a message to the user.
func mergeShadow(ctx context.Context, d *Deps, a mergeShadowArgs) (shadowMerge, error) {
	sh, err := shadows(d)
	if err != nil {
		return shadowMerge{}, err
	}
	switch a.Into {
	case "", "review", "tree":
	default:
		return shadowMerge{}, client.InvalidParams("into: review or tree is expected")
	}
	m, err := sh.Merge(ctx, a.ID, a.Into)
	d.Queue.Changed()
	if err != nil {
		return shadowMerge{}, shadowError(err)
	}
	out := shadowMerge{m.Merged, []shadowConflict{}}
	var why []string
	for _, c := range m.Conflicts {
		out.Conflicts = append(out.Conflicts, shadowConflict{c.Path, c.Base, c.Ours, c.Theirs})
		why = append(why, c.Path+": "+c.Reason)
	}
	for _, c := range m.Skipped {
		out.Conflicts = append(out.Conflicts, shadowConflict{Path: c.Path})
		why = append(why, c.Path+": "+c.Reason)
	}
	warn(ctx, d.Client, "Not merged from the shadow workspace "+a.ID, why)
	return out, nil
}

// discardShadow discards a shadow. Commits that only it had are told in a
// message to the user.
func discardShadow(ctx context.Context, d *Deps, a shadowArgs) (none, error) {
	sh, err := shadows(d)
	if err != nil {
		return none{}, err
	}
	gone, err := sh.Discard(ctx, a.ID)
	if err == nil {
		warn(ctx, d.Client, "No branch has these commits of the shadow workspace "+a.ID+"; git keeps them for some weeks", gone.Commits)
	}
	return none{}, shadowError(err)
}

// warn puts a list before the user, unless it is empty.
func warn(ctx context.Context, c *client.Client, what string, list []string) {
	const most = 10
	if len(list) == 0 {
		return
	}
	text := what + ":\n" + strings.Join(list[:min(most, len(list))], "\n")
	if n := len(list) - most; n > 0 {
		text += fmt.Sprintf("\nand %d more", n)
	}
	c.Warn(ctx, text)
}

// shadowError gives an error its code.
func shadowError(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, shadow.ErrInvalid) {
		return client.InvalidParams("%v", err)
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
		{shadow.ErrStrange, tools.Unavailable},
	} {
		if errors.Is(err, row.is) {
			return tools.Errorf(row.code, "%v", err)
		}
	}
	return review.Error(err)
}
