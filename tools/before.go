package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Before lets f look at the arguments of t, valid and decoded, before anything
// is decided about a call: f refuses it, so that nobody is asked in vain, or
// says what it would do. In is the argument struct of t; another is a
// programming error and panics at the first call.
func Before[In any](t *Tool, f func(In) (Effects, error)) *Tool {
	bind := t.bind
	t.bind = func(args json.RawMessage) (*Bound, error) {
		b, err := bind(args)
		if err != nil {
			return nil, err
		}
		in, ok := b.Args.(In)
		if !ok {
			panic(fmt.Sprintf("tool %q: its arguments are %T, not %T", t.Name, b.Args, in))
		}
		b.Effects, err = f(in)
		return b, err
	}
	return t
}

// Planned lets f work out from the files what a call of t would do, before
// anything is decided about it: the effects, and the arguments that t then
// runs with, so that what was decided is what is done. In is as for Before.
func Planned[In any](t *Tool, f func(ctx context.Context, files workspace.Files, in In) (In, Effects, error)) *Tool {
	bind := t.bind
	t.bind = func(args json.RawMessage) (*Bound, error) {
		b, err := bind(args)
		if err != nil {
			return nil, err
		}
		b.plan = func(ctx context.Context, files workspace.Files) error {
			in, effects, err := f(ctx, files, b.Args.(In))
			if err == nil {
				b.Args, b.Effects = in, effects
			}
			return err
		}
		return b, nil
	}
	return t
}
