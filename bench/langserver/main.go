// Langserver measures how long it takes until a pending Go edit is checked,
// beside gopls asked by itself, in turn:
//
//	go run ./bench/langserver -server bin/sidecar-ls
//
// Both have a copy of the packages of this repository that need no C compiler,
// and are warm. Shown are medians.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/servers"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

var (
	binary = flag.String("server", "bin/sidecar-ls", "the server to measure")
	rounds = flag.Int("n", 9, "rounds, besides the first two")
	settle = flag.Duration("settle", 2*time.Second, "how long the review is left to look at the queue before each measurement")
)

// subject is the file that is edited: many packages import it.
const subject = "internal/files/workspace/overlay.go"

func main() {
	log.SetFlags(0)
	flag.Parse()
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	dir, err := servers.Dir()
	if err != nil {
		return err
	}
	gopls := filepath.Join(dir, "gopls", "gopls")
	if _, err := os.Stat(gopls); err != nil {
		return errors.New("gopls is not here; make tools installs it")
	}
	bare, err := startBare(ctx, gopls)
	if err != nil {
		return err
	}
	defer bare.stop()
	ours, err := startOurs(ctx, gopls)
	if err != nil {
		return err
	}
	defer ours.stop()
	var alone, asked, checked, edited []time.Duration
	for round := range *rounds + 2 {
		line := fmt.Sprintf("\nvar _ int = %q\n", fmt.Sprint(round))
		var took [4]time.Duration
		for i, f := range []func(string) error{bare.diagnose, ours.propose, ours.diagnose, ours.edit} {
			time.Sleep(*settle)
			begun := time.Now()
			if err := f(line); err != nil {
				return err
			}
			took[i] = time.Since(begun)
		}
		if round >= 2 {
			alone, edited, asked, checked = append(alone, took[0]), append(edited, took[1]), append(asked, took[2]), append(checked, took[3])
		}
	}
	base := cost.Middle(alone)
	show := func(what string, d time.Duration) {
		fmt.Printf("%-62s %8.1f ms   %.2f× gopls\n", what, float64(d)/1e6, float64(d)/float64(base))
	}
	show("gopls by itself: change and problems of the file", base)
	show("get_diagnostics of the pending file (reach: ≤ 1.2×)", cost.Middle(asked))
	show("an edit whose result says what it breaks, packages around too", cost.Middle(checked))
	show("an edit of a file without a language server", cost.Middle(edited))
	return nil
}

// peer is a server that is spoken to.
type peer struct {
	ctx     context.Context
	conn    *lsp.Conn
	cmd     *exec.Cmd
	in      io.Closer
	dir     string
	text    string
	version int32
}

func start(ctx context.Context, initialize map[string]any, argv ...string) (*peer, error) {
	dir, err := copyRepository(ctx)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, subject))
	if err != nil {
		return nil, err
	}
	p := &peer{ctx: ctx, dir: dir, text: string(text), cmd: exec.CommandContext(ctx, argv[0], argv[1:]...)}
	p.cmd.Dir = dir
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.in, p.conn = in, lsp.NewConn(out, in, quiet{}, lsp.Options{})
	go func() { _ = p.conn.Run(ctx) }()
	uri := workspace.FileURI(dir)
	initialize["rootUri"] = uri
	initialize["workspaceFolders"] = []lsp.WorkspaceFolder{{URI: uri, Name: "bench"}}
	if err := p.conn.Call(ctx, "initialize", initialize, nil); err != nil {
		return nil, err
	}
	return p, p.conn.Notify(ctx, "initialized", struct{}{})
}

// withC are the directories of packages that need a C compiler, and of what
// imports them.
var withC = []string{"pki/treesitter/", "internal/app/", "internal/test/", "cmd/", "bench/", "server/"}

// copyRepository makes a copy of what git knows here, apart from those.
func copyRepository(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "bench-langserver-*")
	if err != nil {
		return "", err
	}
	list, err := exec.CommandContext(ctx, "git", "ls-files", "-z", "*.go", "go.mod", "go.sum", "*.md", "*.sh", "*.scm").Output()
	if err != nil {
		return "", err
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		if slices.ContainsFunc(withC, func(dir string) bool { return strings.HasPrefix(name, dir) }) {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		to := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, 0o644)); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func (p *peer) stop() {
	_ = p.conn.Call(p.ctx, "shutdown", nil, nil)
	_ = p.conn.Notify(p.ctx, "exit", nil)
	_ = p.in.Close()
	_ = p.cmd.Wait()
	_ = os.RemoveAll(p.dir)
}

// startBare starts gopls with the options that sidecar-ls gives it.
func startBare(ctx context.Context, gopls string) (*peer, error) {
	p, err := start(ctx, map[string]any{
		"initializationOptions": json.RawMessage(`{"pullDiagnostics":true,"diagnosticsTrigger":"Save","semanticTokens":false}`),
		"capabilities":          json.RawMessage(`{"textDocument":{"diagnostic":{}}}`),
	}, gopls)
	if err != nil {
		return nil, err
	}
	p.version = 1
	return p, p.conn.Notify(ctx, "textDocument/didOpen", lsp.DidOpenTextDocumentParams{TextDocument: lsp.TextDocumentItem{
		URI: p.uri(), LanguageID: "go", Version: 1, Text: p.text,
	}})
}

func (p *peer) uri() string { return workspace.FileURI(filepath.Join(p.dir, subject)) }

// diagnose is for gopls by itself.
func (p *peer) diagnose(line string) error {
	p.version++
	err := p.conn.Notify(p.ctx, "textDocument/didChange", lsp.DidChangeTextDocumentParams{
		TextDocument: lsp.VersionedTextDocumentIdentifier{URI: p.uri(), Version: p.version}, ContentChanges: []lsp.ContentChange{{Text: p.text + line}},
	})
	if err != nil {
		return err
	}
	var report lsp.DocumentDiagnosticReport
	if err := p.conn.Call(p.ctx, "textDocument/diagnostic", lsp.DocumentDiagnosticParams{TextDocument: lsp.TextDocumentIdentifier{URI: p.uri()}}, &report); err != nil {
		return err
	}
	if len(report.Items) == 0 {
		return errors.New("gopls found no problem")
	}
	return nil
}

// ours is sidecar-ls.
type ours struct{ *peer }

func startOurs(ctx context.Context, gopls string) (*ours, error) {
	program, err := filepath.Abs(*binary)
	if err != nil {
		return nil, err
	}
	p, err := start(ctx, map[string]any{
		"initializationOptions": map[string]any{"sidecar": map[string]any{
			"mode": "review", "workspace.trust": "trusted", "result.maxBytes": 100_000,
			"languageServers": map[string]any{"gopls": map[string]any{"command": []string{gopls}}},
		}},
		"capabilities": struct{}{},
	}, program, "serve", "--log-level", "error")
	if err != nil {
		return nil, err
	}
	o := &ours{p}
	for range 10 { // until it has loaded everything
		text, err := o.tool("get_diagnostics", map[string]any{"path": subject})
		if err != nil || !strings.HasPrefix(text, "unknown") {
			return o, err
		}
		log.Print(text)
	}
	return o, errors.New("gopls does not get ready")
}

func (o *ours) tool(name string, args map[string]any) (string, error) {
	var res struct {
		OK      bool   `json:"ok"`
		Content string `json:"content"`
	}
	err := o.conn.Call(o.ctx, "workspace/executeCommand", map[string]any{"command": "sidecar.tools.call", "arguments": []any{map[string]any{"name": name, "arguments": args}}}, &res)
	if err == nil && !res.OK {
		err = errors.New(res.Content)
	}
	return res.Content, err
}

// propose holds an edit of a file that no server looks at, and then what
// diagnose is to find: only the last is waited for by nobody.
func (o *ours) propose(line string) error {
	_, err := o.tool("write_file", map[string]any{"path": "bench.txt", "content": line})
	return err
}

// diagnose proposes by the review's own command, which is not waited for, and
// asks.
func (o *ours) diagnose(line string) error {
	if err := o.conn.Call(o.ctx, "workspace/executeCommand", map[string]any{"command": "sidecar.review.propose", "arguments": []any{map[string]any{"uri": o.uri(), "text": o.text + line}}}, nil); err != nil {
		// Nothing is pending for it yet.
		if _, err := o.tool("write_file", map[string]any{"path": subject, "content": o.text + line}); err != nil {
			return err
		}
	}
	text, err := o.tool("get_diagnostics", map[string]any{"path": subject})
	if err == nil && !strings.Contains(text, "error: ") {
		err = fmt.Errorf("no problem was found: %s", text)
	}
	return err
}

// edit proposes another text and reads in the result what it breaks.
func (o *ours) edit(line string) error {
	text, err := o.tool("write_file", map[string]any{"path": subject, "content": o.text + strings.Replace(line, "_", "_, _", 1)})
	if err == nil && !strings.Contains(text, "new problem") {
		err = fmt.Errorf("no problem was found: %s", text)
	}
	return err
}

// quiet answers what servers ask with nothing.
type quiet struct{}

func (quiet) Notification(context.Context, string, json.RawMessage) {}

func (quiet) Request(_ context.Context, method string, _ json.RawMessage) (any, error) {
	if method == "workspace/configuration" {
		return []any{map[string]any{"pullDiagnostics": true, "diagnosticsTrigger": "Save"}}, nil
	}
	return nil, nil
}
