package attach

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// ErrApart says that no one process is the host of all the directories.
var ErrApart = errors.New("the folders can't be worked with together")

// connectAll reaches the host of several directories. It fails with ErrNone when none of
// them has one, and with ErrApart when they have different ones, or some have none.
// Endpoints without an editor give way first, so that whoever asks can be the host of all.
func connectAll(ctx context.Context, dirs []string) (net.Conn, Greeting, error) {
	apart := together(ctx, dirs)
	if errors.Is(apart, ErrApart) && giveWay(ctx, dirs) {
		apart = together(ctx, dirs)
	}
	if apart != nil {
		return nil, Greeting{}, apart
	}
	return connect(ctx, dirs[0])
}

// together fails with ErrApart unless one process is the host of all, or nobody of any.
func together(ctx context.Context, dirs []string) error {
	if len(dirs) == 1 {
		return nil
	}
	var first Greeting
	for i, dir := range dirs {
		g, err := Find(ctx, dir)
		switch {
		case err != nil && !errors.Is(err, ErrNone):
			return fmt.Errorf("%s: %w", dir, err)
		case i == 0:
			first = g
		case g.PID != first.PID:
			return fmt.Errorf("%w: %s", ErrApart, apart(first, dirs[0], g, dir))
		}
	}
	return nil
}

// apart says who serves which of two directories, and what to do.
func apart(g Greeting, dir string, other Greeting, otherDir string) string {
	switch {
	case g.PID == 0:
		g, dir, otherDir = other, otherDir, dir
	case other.PID != 0:
		return fmt.Sprintf("process %d serves %s, and process %d serves %s; open both in the workspace of one editor, or end one of the processes", g.PID, dir, other.PID, otherDir)
	}
	if g.Kind == Editor {
		return fmt.Sprintf("process %d serves %s for an editor that does not have %s open; open it in that editor's workspace, or close that editor", g.PID, dir, otherDir)
	}
	return fmt.Sprintf("process %d serves %s, and not %s; wait until it has ended, or end it", g.PID, dir, otherDir)
}

// giveWay asks who is in the way to leave. It reports whether all of them could: an
// editor's server stays, and then nobody is asked.
func giveWay(ctx context.Context, dirs []string) bool {
	var there []string
	for _, dir := range dirs {
		g, err := Find(ctx, dir)
		if err == nil && g.Kind != Alone {
			return false
		}
		if err == nil {
			there = append(there, dir)
		}
	}
	for _, dir := range there {
		MakeRoom(ctx, dir)
	}
	return true
}
