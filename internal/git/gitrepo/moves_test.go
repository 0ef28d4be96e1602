package gitrepo

import (
	"context"
	"strings"
)

// What was looked at, done at once.

func (r *Repo) SwitchBranch(ctx context.Context, name string) (string, error) {
	return r.atOnce(ctx)(r.LookAtSwitch(ctx, name))
}

func (r *Repo) StashPush(ctx context.Context, message, below string) (string, error) {
	return r.atOnce(ctx)(r.LookAtStashPush(ctx, message, below))
}

func (r *Repo) StashApply(ctx context.Context, nth int, pop bool) (string, error) {
	return r.atOnce(ctx)(r.LookAtStashApply(ctx, nth, pop))
}

func (r *Repo) atOnce(ctx context.Context) func(*Move, error) (string, error) {
	return func(m *Move, err error) (string, error) {
		if err != nil {
			return "", err
		}
		notes, err := m.Do(ctx, r, nil)
		return strings.Join(notes, "; "), err
	}
}
