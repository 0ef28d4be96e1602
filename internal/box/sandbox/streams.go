package sandbox

import (
	"io"
	"os"
	"sync"
	"time"
)

// How long the pipes of a command that has ended, or was ended, may stay open.
// What is in them by then has been read.
const (
	keptDelay = 5 * time.Second        // all that holds them ends with it, but reading takes its time under load
	bareDelay = 300 * time.Millisecond // what it left in the background holds them
)

// pipes are the streams of a command as files.
type pipes struct {
	in, out, said *os.File // the command's ends

	theirs, ours []*os.File // that were opened for it
	copied       sync.WaitGroup
}

// open makes files of a command's streams. What was opened is in the result,
// also when it fails.
func (c *Cmd) open() (p *pipes, err error) {
	p = &pipes{}
	if p.in, err = p.reader(c.Stdin); err != nil {
		return p, err
	}
	said := io.Writer(c.report)
	if c.plain {
		said = c.Stderr
	}
	if c.Stderr != nil && c.Stderr == c.Stdout {
		p.said, err = p.writer(said)
		p.out = p.said // one pipe, so that the order holds
		return p, err
	}
	if p.out, err = p.writer(c.Stdout); err != nil {
		return p, err
	}
	p.said, err = p.writer(said)
	return p, err
}

func (p *pipes) null(flag int) (*os.File, error) {
	f, err := os.OpenFile(os.DevNull, flag, 0)
	if err == nil {
		p.theirs = append(p.theirs, f)
	}
	return f, err
}

// reader is a file that the command can read r from.
func (p *pipes) reader(r io.Reader) (*os.File, error) {
	if r == nil {
		return p.null(os.O_RDONLY)
	}
	if f, ok := r.(*os.File); ok {
		return f, nil
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.theirs, p.ours = append(p.theirs, theirs), append(p.ours, ours)
	go func() {
		// Nobody waits for this: what the command does not read is nobody's.
		_, _ = io.Copy(ours, r)
		ours.Close()
	}()
	return theirs, nil
}

// writer is a file that reaches w.
func (p *pipes) writer(w io.Writer) (*os.File, error) {
	if w == nil {
		return p.null(os.O_WRONLY)
	}
	if f, ok := w.(*os.File); ok {
		return f, nil
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.theirs, p.ours = append(p.theirs, theirs), append(p.ours, ours)
	p.copied.Go(func() { _, _ = io.Copy(w, ours) }) // a writer that fails has had its say
	return theirs, nil
}

// closeTheirs leaves the command's ends to the command.
func (p *pipes) closeTheirs() {
	for _, f := range p.theirs {
		f.Close()
	}
}

func (p *pipes) closeOurs() {
	for _, f := range p.ours {
		f.Close()
	}
}

// finish reads what is left, for as long as somebody may still write.
func (p *pipes) finish(delay time.Duration) {
	late := time.Now().Add(delay)
	for _, f := range p.ours {
		_ = f.SetReadDeadline(late)
	}
	p.copied.Wait()
	p.closeOurs()
}
