package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/references"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/fs"
)

// parseTimeout bounds a parser's process from outside. What an honest file
// takes is far less.
const parseTimeout = 10 * time.Second

// outliner gives the tools the symbols of a source file, and what it refers to.
//
// Grammars are C code that a hostile file can bring to hang, to crash or to
// take all memory. So they run in a short-lived process of their own, with
// limits: what is lost then is an outline, not the server.
type outliner struct {
	worker string // the program to start as `worker outline-worker LANG [names]`; "" parses here
}

// workerCommand is the sub-command of such a process. It is not in the help.
const workerCommand = "outline-worker"

// outline returns no symbols for a kind of file that no parser knows.
func (o outliner) outline(path string, src []byte) ([]fs.Symbol, error) {
	lang := treesitter.Language(path, src)
	if lang == "" {
		return nil, nil
	}
	found, err := o.parse(context.Background(), lang, src, false)
	switch {
	case errors.Is(err, treesitter.ErrUnsupported):
		return nil, nil
	case err != nil:
		return nil, tools.Errorf(tools.Unavailable, "%v", err)
	}
	list := make([]fs.Symbol, 0, len(found.Symbols))
	for _, s := range found.Symbols {
		if s.Kind == pki.Field && s.Depth > 0 {
			continue // an outline says what there is, not what it is made of
		}
		list = append(list, fs.Symbol{Name: s.Name, Kind: string(s.Kind), Signature: s.Signature, Line: s.StartLine, EndLine: s.EndLine, Depth: s.Depth})
	}
	return list, nil
}

// finder gives the search tools the references of source files.
func (o outliner) finder() *references.Finder {
	return &references.Finder{
		Language: treesitter.Language,
		Analyze: func(ctx context.Context, lang string, src []byte) (pki.File, error) {
			f, err := o.parse(ctx, lang, src, true)
			if err != nil {
				f = treesitter.Names(lang, src)
			}
			return f, err
		},
	}
}

// parsed is what a parser's process answers.
type parsed struct {
	File  pki.File
	Error string
}

// parse returns the symbols of a source and, if names is set, what it refers to.
func (o outliner) parse(ctx context.Context, lang string, src []byte, names bool) (pki.File, error) {
	switch {
	case o.worker != "" && !treesitter.Safe(lang):
		return o.start(ctx, lang, src, names)
	case names:
		return treesitter.Analyze(lang, src)
	}
	symbols, err := treesitter.Extract(lang, src)
	return pki.File{Symbols: symbols}, err
}

// withNames is the second argument of a process that is to find references.
const withNames = "names"

// start has a process of its own do the work.
func (o outliner) start(ctx context.Context, lang string, src []byte, names bool) (pki.File, error) {
	ctx, cancel := context.WithTimeout(ctx, parseTimeout)
	defer cancel()
	args := []string{workerCommand, lang}
	if names {
		args = append(args, withNames)
	}
	cmd := exec.CommandContext(ctx, o.worker, args...)
	cmd.Env = []string{"GOMAXPROCS=1"}
	cmd.SysProcAttr = dieWithParent()
	cmd.WaitDelay = time.Second
	cmd.Stdin = bytes.NewReader(src)
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return pki.File{}, treesitter.ErrTimeout
		}
		return pki.File{}, fmt.Errorf("its parser failed (%w)", err)
	}
	var p parsed
	if err := json.Unmarshal(out, &p); err != nil {
		return pki.File{}, fmt.Errorf("its parser failed (%w)", err)
	}
	if p.Error != "" {
		return pki.File{}, errors.New(p.Error)
	}
	return p.File, nil
}

// outlineWorker is the process that start starts: source on standard input,
// parsed on standard output.
func outlineWorker(args []string, s Streams) error {
	limitMyself()
	src, err := io.ReadAll(io.LimitReader(s.In, workspace.MaxFileSize))
	if err != nil {
		return err
	}
	var p parsed
	if p.File, err = (outliner{}).parse(context.Background(), args[0], src, len(args) > 1); err != nil {
		p.Error = err.Error()
	}
	return json.NewEncoder(s.Out).Encode(p)
}
