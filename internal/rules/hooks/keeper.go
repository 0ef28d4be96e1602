package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Process is a hook's program that was started. Kill ends it and all that it has started.
type Process struct {
	In   io.WriteCloser
	Out  io.ReadCloser
	Wait func() error // an error with a method ExitCode for another code than 0
	Kill func()
	Said func() string // the end of what it wrote to standard error
}

// gate runs a hook's line once the first line has come in: what is started ahead waits
// there, so that nothing of the hook runs before its event. Another shell for the line
// would take a third of the time that a hook takes.
const gate = `read -r _ || exit 0; eval "$1"`

// A hook that fails so often in a while is given up for as long.
const (
	breakerFailures = 3
	breakerTime     = time.Minute
)

// spareTime is how long a program waits that was started ahead: what it may not see
// is found out when it is started.
const spareTime = 2 * time.Minute

// keeper has one hook in one root.
type keeper struct {
	hook  *Hook
	start func(ctx context.Context) (*Process, error)

	mu     sync.Mutex
	spare  *Process
	timer  *time.Timer
	closed bool
	work   sync.WaitGroup // what is started ahead

	failures []time.Time
	last     string // why it failed last
}

// open says why the hook is given up at that time, or "".
func (k *keeper) open(now time.Time) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.openLocked(now) {
		return ""
	}
	return fmt.Sprintf("it failed %d times in a row (%s), and is tried again in a minute", breakerFailures, k.last)
}

func (k *keeper) openLocked(now time.Time) bool {
	n := len(k.failures)
	return n >= breakerFailures && now.Sub(k.failures[n-1]) < breakerTime
}

// note remembers how a run went.
func (k *keeper) note(now time.Time, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.failures = nil
		return
	}
	k.last = err.Error()
	k.failures = slices.DeleteFunc(k.failures, func(at time.Time) bool { return now.Sub(at) >= breakerTime })
	k.failures = append(k.failures, now)
}

// run runs the hook once.
func (k *keeper) run(ctx context.Context, input []byte) (e ended, err error) {
	limit := k.hook.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p, err := k.take(ctx)
	if err != nil {
		return e, fmt.Errorf("it can't be started: %w", err)
	}
	defer k.prepare()
	defer p.In.Close()
	defer p.Out.Close()
	stop := context.AfterFunc(ctx, func() {
		p.Kill()
		p.In.Close()
		p.Out.Close()
	})
	defer stop()
	go func() {
		// A hook need not read what it is told.
		_, _ = p.In.Write(append([]byte("\n"), input...))
		p.In.Close()
	}()
	out, readErr := io.ReadAll(io.LimitReader(p.Out, maxAnswer+1))
	if len(out) > maxAnswer {
		p.Kill()
	}
	waited := p.Wait()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return e, fmt.Errorf("it was ended after %v", limit)
	case ctx.Err() != nil:
		return e, ctx.Err()
	case len(out) > maxAnswer:
		return ended{out: out}, nil
	case readErr != nil:
		return e, readErr
	}
	e = ended{out: out, stderr: p.Said()}
	var exit interface{ ExitCode() int }
	if errors.As(waited, &exit) {
		e.code = exit.ExitCode()
	} else if waited != nil {
		return e, waited
	}
	return e, nil
}

// take takes the program that was started ahead, or starts one.
func (k *keeper) take(ctx context.Context) (*Process, error) {
	k.mu.Lock()
	p := k.spare
	k.spare = nil
	if k.timer != nil {
		k.timer.Stop()
	}
	k.mu.Unlock()
	if p != nil {
		return p, nil
	}
	return k.start(ctx)
}

// prepare starts a program ahead, unless one waits.
func (k *keeper) prepare() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.spare != nil || k.closed {
		return
	}
	k.work.Go(func() {
		p, err := k.start(context.Background())
		if err != nil {
			return // the next run says why
		}
		k.mu.Lock()
		if k.spare != nil || k.closed {
			k.mu.Unlock()
			drop(p)
			return
		}
		k.spare = p
		k.timer = time.AfterFunc(spareTime, k.release)
		k.mu.Unlock()
	})
}

// release ends the program that waits.
func (k *keeper) release() {
	k.mu.Lock()
	p := k.spare
	k.spare = nil
	k.mu.Unlock()
	if p != nil {
		drop(p)
	}
}

func (k *keeper) close() {
	k.mu.Lock()
	k.closed = true
	if k.timer != nil {
		k.timer.Stop()
	}
	k.mu.Unlock()
	k.release()
	k.work.Wait()
}

// drop ends a program that is not needed.
func drop(p *Process) {
	p.Kill()
	p.In.Close()
	p.Out.Close()
	_ = p.Wait()
}
