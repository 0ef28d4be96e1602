package worker

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

const (
	// parserCommand is the sub-command of a parser's process. It is not in the help.
	parserCommand = "outline-worker"
	// parseTimeout bounds one file from outside. What an honest file takes is
	// far less.
	parseTimeout = 10 * time.Second
	// workerIdle is how long a process without work is kept.
	workerIdle = 20 * time.Second
	// workerWork is the processor time after which a process is replaced; at
	// twice that it is ended by the system.
	workerWork = 30 * time.Second
)

// Parsers is a pool of processes that parse sources in languages with a grammar
// that is not safe; the others are parsed here. A process that failed is not
// used again: what is lost is the symbols of a file.
//
// A nil pool parses all in this process.
type Parsers struct {
	program string        // started as `program outline-worker`
	slots   chan struct{} // one for each process that may be at work

	mu     sync.Mutex
	idle   []*parserProcess // the one used last at the end
	closed bool
}

// NewParsers returns a pool that starts program, this program's path; nil without
// one.
func NewParsers(program string) *Parsers {
	if program == "" {
		return nil
	}
	return &Parsers{program: program, slots: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))}
}

// parseRequest and parseReply are what goes to a process and comes back.
type parseRequest struct {
	Lang  string
	Names bool // not only symbols
	Src   []byte
}

type parseReply struct {
	File  pki.File
	Error string
	Last  bool // the process ends
}

// parserProcess is one process.
type parserProcess struct {
	tree  *proctree.Tree
	in    io.WriteCloser
	enc   *gob.Encoder
	dec   *gob.Decoder
	timer *time.Timer // ends it when it has been idle for long
}

// Parse returns the symbols of a source and, if names is set, what it refers to.
func (p *Parsers) Parse(ctx context.Context, lang string, src []byte, names bool) (pki.File, error) {
	if p == nil || treesitter.Safe(lang) {
		return parseHere(lang, src, names)
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return pki.File{}, parseEnd(ctx)
	}
	w, err := p.claim()
	if err != nil {
		return pki.File{}, fmt.Errorf("its parser failed (%w)", err)
	}
	ctx, cancel := context.WithTimeout(ctx, parseTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, w.kill)
	var r parseReply
	err = w.enc.Encode(parseRequest{lang, names, src})
	if err == nil {
		err = w.dec.Decode(&r)
	}
	if !stop() || err != nil {
		w.kill()
		w.wait()
		if ctx.Err() != nil {
			return pki.File{}, parseEnd(ctx)
		}
		return pki.File{}, fmt.Errorf("its parser failed (%w)", err)
	}
	if r.Last {
		w.wait()
	} else {
		p.release(w)
	}
	if r.Error != "" {
		return pki.File{}, errors.New(r.Error)
	}
	return r.File, nil
}

// parseEnd says why a context that is over ended a parser.
func parseEnd(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return treesitter.ErrTimeout
	}
	return ctx.Err()
}

// claim returns a process that waits for work.
func (p *Parsers) claim() (*parserProcess, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("the server is closing")
	}
	for len(p.idle) > 0 {
		last := len(p.idle) - 1
		w := p.idle[last]
		p.idle = p.idle[:last]
		if w.timer.Stop() {
			return w, nil
		}
	}
	return p.start()
}

func (p *Parsers) start() (*parserProcess, error) {
	cmd := exec.Command(p.program, parserCommand) //nolint:noctx // it outlives the call that it is started for
	cmd.Env = []string{"GOMAXPROCS=1"}
	cmd.SysProcAttr = dieWithParent()
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	tree, err := proctree.Start(cmd, limits)
	if err != nil {
		return nil, err
	}
	return &parserProcess{tree: tree, in: in, enc: gob.NewEncoder(in), dec: gob.NewDecoder(bufio.NewReader(out))}, nil
}

// release keeps a process for the next file.
func (p *Parsers) release(w *parserProcess) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		go w.end()
		return
	}
	w.timer = time.AfterFunc(workerIdle, w.end)
	p.idle = append(p.idle, w)
}

// Close ends the processes that wait, and those at work when they are done.
func (p *Parsers) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, w := range idle {
		if w.timer.Stop() {
			w.end()
		}
	}
	for range cap(p.slots) { // until the last one is done
		p.slots <- struct{}{}
	}
	for range cap(p.slots) {
		<-p.slots
	}
}

// end lets the process end by itself.
func (w *parserProcess) end() {
	_ = w.in.Close()
	w.wait()
}

func (w *parserProcess) kill() { w.tree.Kill() }

func (w *parserProcess) wait() {
	_ = w.in.Close()
	_ = w.tree.Wait()
}

// parseHere parses in this process.
func parseHere(lang string, src []byte, names bool) (pki.File, error) {
	if names {
		return treesitter.Analyze(lang, src)
	}
	symbols, err := treesitter.Extract(lang, src)
	return pki.File{Symbols: symbols}, err
}

// parse is the work of such a process, until the input ends.
func parse(r io.Reader, w io.Writer) error {
	limitMyself()
	in, out := gob.NewDecoder(bufio.NewReader(r)), gob.NewEncoder(w)
	for {
		var r parseRequest
		switch err := in.Decode(&r); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(r.Src) > workspace.MaxFileSize:
			return workspace.ErrTooLarge
		}
		var p parseReply
		f, err := parseHere(r.Lang, r.Src, r.Names)
		if err != nil {
			p.Error = err.Error()
		}
		p.File, p.Last = f, processorTime() > workerWork
		if err := out.Encode(p); err != nil || p.Last {
			return err
		}
	}
}
