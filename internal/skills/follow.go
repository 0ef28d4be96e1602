package skills

import (
	"context"
	"path"
	"slices"
	"strings"
)

// Instructions are files with a project's instructions for agents, of which the first one
// that is there counts.
func Instructions() []string { return []string{"AGENTS.md", "CLAUDE.md"} }

// Concerns reports whether a change of a file or directory of the project may change its
// skills or its instructions.
func Concerns(name string) bool {
	if name == "." || slices.Contains(Instructions(), path.Base(name)) {
		return true
	}
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == ".agents" || part == ".claude" || part == ".sidecar"
	})
}

// Follow calls f after changes on the disk that may have changed skills or instructions,
// until ctx ends.
func (l *Library) Follow(ctx context.Context, f func()) {
	if l.o.Watch == nil {
		return
	}
	feed := l.o.Watch.Subscribe()
	if feed == nil {
		return
	}
	defer feed.Close()
	for {
		select {
		case <-feed.Ready():
		case <-ctx.Done():
			return
		}
		b, err := feed.Sync(ctx)
		if err != nil {
			return
		}
		if b.Lost || slices.ContainsFunc(b.Names, Concerns) || slices.ContainsFunc(b.Dirs, Concerns) {
			f()
		}
	}
}
