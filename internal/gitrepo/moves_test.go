package gitrepo

import "context"

// What was looked at, done at once.

func (r *Repo) SwitchBranch(ctx context.Context, name string) (string, error) {
	return atOnce(ctx)(r.LookAtSwitch(ctx, name))
}

func (r *Repo) StashPush(ctx context.Context, message, below string) (string, error) {
	return atOnce(ctx)(r.LookAtStashPush(ctx, message, below))
}

func (r *Repo) StashApply(ctx context.Context, nth int, pop bool) (string, error) {
	return atOnce(ctx)(r.LookAtStashApply(ctx, nth, pop))
}

func atOnce(ctx context.Context) func(*Move, error) (string, error) {
	return func(m *Move, err error) (string, error) {
		if err != nil {
			return "", err
		}
		return m.Do(ctx)
	}
}
