package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
)

// Find says who the host of dir is. It fails with ErrNone.
func Find(ctx context.Context, dir string) (Greeting, error) {
	c, g, err := connect(ctx, dir)
	if err == nil {
		_ = c.Close()
	}
	return g, err
}

// Dial connects to the host of dir, which is that of more directories, too. It fails with
// ErrNone when there is none, and with ErrApart when they have different ones, or some have
// none.
func Dial(ctx context.Context, dir string, w Wish, more ...string) (net.Conn, Greeting, error) {
	words, err := w.words()
	if err != nil {
		return nil, Greeting{}, err
	}
	c, g, err := connectAll(ctx, append([]string{dir}, more...))
	if err != nil {
		return nil, g, err
	}
	return c, g, want(c, g, words)
}

// DialPerson connects a person's command line to the host of the directories, as Dial does.
// It fails with ErrUnable, too, when that knows no command lines.
func DialPerson(ctx context.Context, dirs ...string) (net.Conn, Greeting, error) {
	c, g, err := connectAll(ctx, dirs)
	return asPerson(c, g, err)
}

// EachPerson connects a person's command line to each host of this user that answers some,
// whatever its directory is, one after the other. do closes the connection.
func EachPerson(ctx context.Context, do func(net.Conn, Greeting)) {
	seen := map[int]bool{} // a host of several directories has a name for each
	for _, base := range names() {
		c, g, err := connectTo(ctx, base)
		if err != nil {
			continue // it has ended, or is none of ours
		}
		if seen[g.PID] {
			_ = c.Close()
			continue
		}
		if c, g, err = asPerson(c, g, err); err == nil {
			seen[g.PID] = true
			do(c, g)
		}
	}
}

func asPerson(c net.Conn, g Greeting, err error) (net.Conn, Greeting, error) {
	if err != nil {
		return nil, g, err
	}
	if !g.Person {
		_ = c.Close()
		return nil, g, fmt.Errorf("process %d: %w", g.PID, ErrUnable)
	}
	return c, g, want(c, g, wantPerson)
}

// DialServer connects an editor's process to the server of dir that another editor
// has left. It fails with ErrNone when there is none.
func DialServer(ctx context.Context, dir string) (net.Conn, error) {
	c, g, err := connect(ctx, dir)
	if err != nil {
		return nil, err
	}
	if g.Kind != Left {
		_ = c.Close()
		return nil, fmt.Errorf("%w without an editor; process %d has one, or needs none", ErrNone, g.PID)
	}
	return c, want(c, g, wantServer)
}

// want says what a connection is for. It closes it when that fails.
func want(c net.Conn, g Greeting, words string) error {
	if _, err := c.Write([]byte(words + "\n")); err != nil {
		_ = c.Close()
		return fmt.Errorf("process %d: %w", g.PID, err)
	}
	return c.SetDeadline(time.Time{})
}

// AskToLeave asks the host of dir to give way, and waits until it has. It
// fails with ErrNone, and with ErrBusy when the host stays.
func AskToLeave(ctx context.Context, dir string) error {
	c, g, err := connect(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if g.Kind != Alone {
		return fmt.Errorf("process %d: %w", g.PID, ErrBusy)
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(deadline)
	}
	if _, err = c.Write([]byte(wantLeave + "\n")); err != nil {
		return err
	}
	switch answer, err := readLine(c); {
	case err != nil:
		return fmt.Errorf("process %d: %w", g.PID, err)
	case answer != "left":
		return fmt.Errorf("process %d: %w", g.PID, ErrBusy)
	}
	return nil
}

// connect reaches the host, wherever it is, and reads its greeting.
func connect(ctx context.Context, dir string) (net.Conn, Greeting, error) {
	base, err := name(dir)
	if err != nil {
		return nil, Greeting{}, err
	}
	return connectTo(ctx, base)
}

// connectTo is connect by the host's name.
func connectTo(ctx context.Context, base string) (net.Conn, Greeting, error) {
	ctx, cancel := context.WithTimeout(ctx, handshake)
	defer cancel()
	var wrong error // in a place where there may be one
	for _, place := range places(base) {
		c, g, err := reach(ctx, place)
		if err == nil {
			return c, g, nil
		}
		if wrong == nil && !errors.Is(err, ErrNone) {
			wrong = err
		}
	}
	if wrong == nil {
		wrong = ErrNone
	}
	return nil, Greeting{}, wrong
}

// reach connects to the host in a place.
func reach(ctx context.Context, place string) (net.Conn, Greeting, error) {
	var g Greeting
	c, err := dial(ctx, place)
	if err != nil {
		return nil, g, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(deadline)
	}
	if !peers.SameUser(c) {
		_ = c.Close()
		return nil, g, fmt.Errorf("%s belongs to another user", place)
	}
	line, err := readLine(c)
	if err == nil {
		err = json.Unmarshal([]byte(line), &g)
	}
	if err == nil && g.Protocol != protocol {
		err = fmt.Errorf("process %d is sidecar-ls %s, which this one does not know how to attach to; use the same version", g.PID, g.Version)
	}
	if err != nil {
		_ = c.Close()
		return nil, g, err
	}
	return c, g, nil
}
