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
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/fs"
)

// parseTimeout bounds a parser's process from outside. What an honest file
// takes is far less.
const parseTimeout = 10 * time.Second

// outliner gives the file tools the symbols of a source file.
//
// Grammars are C code that a hostile file can bring to hang, to crash or to
// take all memory. So they run in a short-lived process of their own, with
// limits: what is lost then is an outline, not the server.
type outliner struct {
	worker string // the program to start as `worker outline-worker LANG`; "" parses here
}

// workerCommand is the sub-command of such a process. It is not in the help.
const workerCommand = "outline-worker"

// outline returns no symbols for a kind of file that no parser knows.
func (o outliner) outline(path string, src []byte) ([]fs.Symbol, error) {
	lang := treesitter.Language(path, src)
	if lang == "" {
		return nil, nil
	}
	parse := treesitter.Extract
	if o.worker != "" && !treesitter.Safe(lang) {
		parse = o.parse
	}
	found, err := parse(lang, src)
	switch {
	case errors.Is(err, treesitter.ErrUnsupported):
		return nil, nil
	case err != nil:
		return nil, tools.Errorf(tools.Unavailable, "%v", err)
	}
	list := make([]fs.Symbol, 0, len(found))
	for _, s := range found {
		if s.Kind == pki.Field && s.Depth > 0 {
			continue // an outline says what there is, not what it is made of
		}
		list = append(list, fs.Symbol{Name: s.Name, Kind: string(s.Kind), Signature: s.Signature, Line: s.StartLine, EndLine: s.EndLine, Depth: s.Depth})
	}
	return list, nil
}

// parsed is what a parser's process answers.
type parsed struct {
	Symbols []pki.Symbol
	Error   string
}

// parse has a process of its own do the work.
func (o outliner) parse(lang string, src []byte) ([]pki.Symbol, error) {
	ctx, cancel := context.WithTimeout(context.Background(), parseTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.worker, workerCommand, lang)
	cmd.Env = []string{"GOMAXPROCS=1"}
	cmd.SysProcAttr = dieWithParent()
	cmd.WaitDelay = time.Second
	cmd.Stdin = bytes.NewReader(src)
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return nil, treesitter.ErrTimeout
		}
		return nil, fmt.Errorf("its parser failed (%w)", err)
	}
	var p parsed
	if err := json.Unmarshal(out, &p); err != nil {
		return nil, fmt.Errorf("its parser failed (%w)", err)
	}
	if p.Error != "" {
		return nil, errors.New(p.Error)
	}
	return p.Symbols, nil
}

// outlineWorker is the process that parse starts: source on standard input,
// parsed on standard output.
func outlineWorker(lang string, s Streams) error {
	limitMyself()
	src, err := io.ReadAll(io.LimitReader(s.In, workspace.MaxFileSize))
	if err != nil {
		return err
	}
	var p parsed
	if p.Symbols, err = treesitter.Extract(lang, src); err != nil {
		p.Error = err.Error()
	}
	return json.NewEncoder(s.Out).Encode(p)
}
