package shell

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// maxTap bounds what an output has for a follower who has not looked yet, in bytes. A command
// that prints more in that time floods.
const maxTap = 1 << 20

// tap is what an output had since somebody looked.
type tap struct {
	more chan struct{} // holds a token when there is something

	mu   sync.Mutex
	held []byte
	lost bool
}

func (t *tap) add(b []byte) {
	t.mu.Lock()
	if free := maxTap - len(t.held); len(b) > free {
		b, t.lost = b[:free], true
	}
	t.held = append(t.held, b...)
	t.mu.Unlock()
	select {
	case t.more <- struct{}{}:
	default:
	}
}

// take returns what there is, once, and whether some was lost.
func (t *tap) take() (piece string, lost bool) {
	select {
	case <-t.more:
	default:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	piece, lost = string(t.held), t.lost
	t.held, t.lost = t.held[:0], false
	return piece, lost
}

// tap follows the output from now on. before is what was kept after the first offset bytes.
func (o *output) tap(offset int64) (t *tap, before string) {
	t = &tap{more: make(chan struct{}, 1)}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.taps = append(o.taps, t)
	return t, string(o.kept(offset))
}

func (o *output) untap(t *tap) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.taps {
		if o.taps[i] == t {
			o.taps = append(o.taps[:i:i], o.taps[i+1:]...)
			return
		}
	}
}

// ending says why a follower stops.
type ending string

// The endings; "" is none.
const (
	exited  ending = "exited"  // the command has ended
	timeout ending = "timeout" // the time is over
	flooded ending = "flooded" // lines came faster than they can be read
	given   ending = "cancelled"
)

// follower finds the lines of a command that match a pattern.
type follower struct {
	j       *job
	tap     *tap
	lines   Lines
	pattern *regexp.Regexp // nil: each line
	held    bool           // lines may wait for a pause
	lost    bool           // not all was looked at
}

// follow begins with what the command printed after the first offset bytes. The lines of that
// which match are before.
func (sh *shell) follow(j *job, pattern *regexp.Regexp, offset int64) (f *follower, before []string) {
	f = &follower{j: j, lines: sh.d.Calls.Lines(), pattern: pattern, held: true}
	var text string
	f.tap, text = j.out.tap(offset)
	return f, f.matching(f.lines.Write(text))
}

func (f *follower) close() { f.j.out.untap(f.tap) }

// next waits for output, gathers for a while, and returns the lines that match; there may be
// none. With an end they are the last ones.
func (f *follower) next(ctx context.Context, gather time.Duration) (found []string, end ending) {
	var quiet <-chan time.Time
	if f.held {
		t := time.NewTimer(gather)
		defer t.Stop()
		quiet = t.C
	}
	select {
	case <-f.tap.more:
	case <-quiet:
		f.held = false
		return f.matching(f.lines.Pause()), ""
	case <-f.j.done:
		return f.last(exited)
	case <-ctx.Done():
		return f.last(endOf(ctx))
	}
	t := time.NewTimer(gather)
	defer t.Stop()
	select {
	case <-t.C:
	case <-f.j.done:
		return f.last(exited)
	case <-ctx.Done():
		return f.last(endOf(ctx))
	}
	piece, lost := f.tap.take()
	f.held = true
	found = f.matching(f.lines.Write(piece))
	if lost {
		f.lost, end = true, flooded
	}
	return found, end
}

// last returns the rest. The last line need not be whole once the command has ended.
func (f *follower) last(why ending) ([]string, ending) {
	piece, lost := f.tap.take()
	f.lost = lost
	text := f.lines.Write(piece)
	if why == exited {
		text += f.lines.Close()
	} else {
		text += f.lines.Pause()
	}
	return f.matching(text), why
}

func endOf(ctx context.Context) ending {
	if ctx.Err() == context.DeadlineExceeded {
		return timeout
	}
	return given
}

// matching are the lines of a text that match, without empty ones.
func (f *follower) matching(text string) (found []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && (f.pattern == nil || f.pattern.MatchString(line)) {
			found = append(found, line)
		}
	}
	return found
}

// maxPattern bounds a pattern, in bytes.
const maxPattern = 500

// compilePattern reads a pattern; "" is nil.
func compilePattern(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	if len(pattern) > maxPattern {
		return nil, tools.Errorf(tools.InvalidArguments, "pattern: it has %d bytes, and at most %d are taken; look for less of the line", len(pattern), maxPattern)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, tools.Errorf(tools.InvalidArguments, "pattern: it is no regular expression of RE2 (%s); there are no look-arounds and no references back, and a sign such as ( or [ is written with a backslash before it", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re, nil
}

// primed is where the line began in which an output stands at offset, at most so many bytes
// before: what a line means, and whether it is part of a secret, needs what came before.
func (o *output) primed(most int64) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	from := max(0, o.total-most)
	if from == 0 {
		return 0
	}
	b := o.kept(from)
	if nl := bytes.IndexByte(b, '\n'); nl >= 0 && int64(len(b)) == o.total-from {
		return from + int64(nl) + 1
	}
	return from
}
