package langserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// fakeArg makes this test binary a language server that behaves as the next
// argument says.
const fakeArg = "be-a-language-server"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == fakeArg {
		fake{out: os.Stdout, how: os.Args[2]}.run()
		return
	}
	os.Exit(m.Run())
}

func fakePool(t *testing.T, how string, change func(*Options)) *Pool {
	t.Helper()
	return newPool(t, map[string][]string{"clangd": {os.Args[0], fakeArg, how}}, change)
}

// fake tells of each document how many bytes it has, as a problem.
type fake struct {
	out io.Writer
	how string
}

func (f fake) run() {
	if f.how == "exits" {
		fmt.Fprintln(os.Stderr, "cannot find its library")
		os.Exit(3)
	}
	in := bufio.NewReader(os.Stdin)
	for {
		body, err := readFrame(in)
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				TextDocument struct {
					URI     string
					Version int
					Text    string
				}
				ContentChanges []struct{ Text string }
			}
		}
		if json.Unmarshal(body, &m) != nil {
			continue
		}
		switch m.Method {
		case "initialize":
			f.initialize(m.ID)
		case "shutdown":
			f.send(`{"jsonrpc":"2.0","id":%s,"result":null}`, m.ID)
		case "exit":
			return
		case "textDocument/didOpen":
			f.push(m.Params.TextDocument.URI, m.Params.TextDocument.Version, m.Params.TextDocument.Text)
		case "textDocument/didChange":
			f.push(m.Params.TextDocument.URI, m.Params.TextDocument.Version, m.Params.ContentChanges[0].Text)
		case "textDocument/hover":
			f.hover(m.ID)
		}
	}
}

func (f fake) initialize(id json.RawMessage) {
	switch f.how {
	case "never answers":
		return
	case "garbage":
		fmt.Fprint(f.out, "Starting up…\nContent-Length: 5\r\n\r\n{{{{{Content-Length: x\r\n\r\n", strings.Repeat("noise\n", 1000))
	case "huge":
		fmt.Fprintf(f.out, "Content-Length: %d\r\n\r\n", maxMessage+1)
	case "floods":
		line := fmt.Sprintf(`{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":4,"message":"%s"}}`, strings.Repeat("x", 1<<16))
		for {
			f.send("%s", line)
		}
	}
	f.send(`{"jsonrpc":"2.0","id":%s,"result":{"capabilities":{"hoverProvider":{},"textDocumentSync":1}}}`, id)
}

func (f fake) push(uri string, version int, text string) {
	switch f.how {
	case "crashes":
		fmt.Fprintln(os.Stderr, "panic: it could not cope")
		os.Exit(2)
	case "silent":
		return
	case "late":
		f.publish(uri, version-1, "an answer to an earlier version") // then the right one
	case "many":
		f.send(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"%s","version":%d,"diagnostics":[%s]}}`, uri, version,
			strings.TrimSuffix(strings.Repeat(`{"range":{"start":{"line":4000000000,"character":4000000000},"end":{"line":0,"character":0}},"severity":77,"message":"`+strings.Repeat("m", 5000)+`"},`, 2000), ","))
		return
	case "unversioned":
		f.send(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"%s","diagnostics":[]}}`, uri)
		return
	}
	f.publish(uri, version, fmt.Sprintf("%d bytes", len(text)))
}

func (f fake) publish(uri string, version int, message string) {
	f.send(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"%s","version":%d,"diagnostics":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"message":"%s"}]}}`, uri, version, message)
}

func (f fake) hover(id json.RawMessage) {
	switch f.how {
	case "silent":
	case "refuses":
		f.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no such thing"}}`, id)
	case "wrong type":
		f.send(`{"jsonrpc":"2.0","id":%s,"result":{"contents":{"value":7}}}`, id)
	default:
		f.send(`{"jsonrpc":"2.0","id":%s,"result":{"contents":[{"language":"c","value":"int x"},"words",""]}}`, id)
	}
}

func (f fake) send(format string, args ...any) {
	body := fmt.Sprintf(format, args...)
	if _, err := fmt.Fprintf(f.out, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		os.Exit(1)
	}
}

func readFrame(in *bufio.Reader) ([]byte, error) {
	n := 0
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			_, _ = fmt.Sscan(v, &n)
		}
	}
	body := make([]byte, n)
	_, err := io.ReadFull(in, body)
	return body, err
}

func cProject(t *testing.T) *project { return newProject(t, map[string]string{"a.c": "int x;\n"}) }

// A server that tells problems by itself is waited for, up to the version that
// it was shown.
func TestPushed(t *testing.T) {
	for _, how := range []string{"well", "late"} {
		t.Run(how, func(t *testing.T) {
			p, w := fakePool(t, how, nil), cProject(t)
			if got := diagnose(t, p, w, "a.c"); got != "a.c:1:1 error 7 bytes" {
				t.Error(got)
			}
			if got := diagnose(t, p, w, "a.c"); got != "a.c:1:1 error 7 bytes" {
				t.Errorf("again: %s", got)
			}
			w.propose("a.c", "int xy;\n")
			w.propose("b.c", "int z;")
			if got := diagnose(t, p, w, "a.c"); got != "a.c:1:1 error 8 bytes" {
				t.Errorf("changed: %s", got)
			}
			if got := diagnose(t, p, w, "b.c"); got != "b.c:1:1 error 6 bytes" {
				t.Errorf("a new one: %s", got)
			}
			w.remove("a.c")
			if r := p.Diagnose(within(t, time.Minute), w, "a.c")[0]; !errors.Is(r.Err, os.ErrNotExist) {
				t.Errorf("a deleted one: %v", r.Err)
			}
		})
	}
	t.Run("unversioned", func(t *testing.T) {
		if got := diagnose(t, fakePool(t, "unversioned", nil), cProject(t), "a.c"); got != "" {
			t.Error(got)
		}
	})
	t.Run("many", func(t *testing.T) {
		r := fakePool(t, "many", nil).Diagnose(within(t, time.Minute), cProject(t), "a.c")[0]
		if r.Err != nil || len(r.Problems) != 1 || len(r.Problems[0].Message) > maxWords+3 || r.Problems[0].Severity != Error {
			t.Errorf("%d problems, %v", len(r.Problems), r.Err) // all alike, so one is left
		}
	})
}

// Whatever a server does, a question has an end, and a reason.
func TestBadServers(t *testing.T) {
	for _, c := range []struct{ how, say string }{
		{"never answers", "still starting"},
		{"silent", "did not answer in time"},
		{"exits", "it crashed or exited; it said: cannot find its library"},
		{"crashes", "ended"},
		{"floods", errFlood.Error()},
	} {
		t.Run(c.how, func(t *testing.T) {
			still := time.Now() // a flood is one on a slow machine, too
			p, w := fakePool(t, c.how, func(o *Options) { o.Now = func() time.Time { return still } }), cProject(t)
			limit := 5 * time.Minute
			if c.how == "silent" {
				running(t, p, w)
			}
			if strings.Contains(c.say, "start") || c.how == "silent" {
				limit = 500 * time.Millisecond
			}
			r := p.Diagnose(within(t, limit), w, "a.c")[0]
			var why *UnavailableError
			if !errors.As(r.Err, &why) || !strings.Contains(r.Err.Error(), c.say) || !strings.HasPrefix(r.Err.Error(), "clangd: ") {
				t.Errorf("%v", r.Err)
			}
		})
	}
	// What is no message, or too long for one, is passed over.
	for _, how := range []string{"garbage", "huge"} {
		if got := diagnose(t, fakePool(t, how, nil), cProject(t), "a.c"); got != "a.c:1:1 error 7 bytes" {
			t.Errorf("%s: %s", how, got)
		}
	}
}

func TestHoverForms(t *testing.T) {
	for _, c := range []struct{ how, want, err string }{
		{"well", "```c\nint x\n```\n\nwords", ""},
		{"refuses", "", "clangd: no such thing"},
		{"wrong type", "", "clangd: bad result"},
	} {
		got, err := fakePool(t, c.how, nil).Hover(within(t, time.Minute), cProject(t), Position{Name: "a.c", Line: 1, Symbol: "x"})
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v", c.how, got, err)
		}
	}
}

// A server that crashes is started again, later each time, and at last not any
// more. Other settings give it another chance.
func TestRestart(t *testing.T) {
	var now atomic.Int64
	var starts atomic.Int32
	how := atomic.Value{}
	how.Store("crashes")
	w := cProject(t)
	p := New(Options{
		Settings: func() Settings {
			return Settings{Servers: map[string]Server{"clangd": {Command: []string{os.Args[0], fakeArg, how.Load().(string)}}}}
		},
		Now: func() time.Time { return time.Unix(1000+now.Load(), 0) },
		Start: func(ctx context.Context, prog Program) (*Process, error) {
			starts.Add(1)
			return plainly(ctx, prog)
		},
	})
	defer p.Close()
	ask := func() error { return p.Diagnose(within(t, time.Minute), w, "a.c")[0].Err }
	ended := func() {
		t.Helper()
		if s := only(p); s != nil {
			<-s.gone
		}
	}
	for i := range maxFailures {
		if err := ask(); err == nil || !strings.Contains(err.Error(), "ended") {
			t.Fatalf("crash %d: %v", i, err)
		}
		ended()
		if err := ask(); err == nil || !strings.Contains(err.Error(), "started again in") && i < maxFailures-1 {
			t.Fatalf("right after crash %d: %v", i, err)
		}
		now.Add(100)
	}
	if err := ask(); err == nil || !strings.Contains(err.Error(), "not started again (it crashed or exited; it said: panic: it could not cope)") {
		t.Errorf("at last: %v", err)
	}
	if n := starts.Load(); n != maxFailures {
		t.Errorf("%d starts, want %d", n, maxFailures)
	}
	how.Store("well")
	if err := ask(); err != nil {
		t.Errorf("other settings: %v", err)
	}
}

// only is the server that runs, nil if none does.
func only(p *Pool) *server {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, sl := range p.slots {
		if sl.server != nil {
			return sl.server
		}
	}
	return nil
}

// running waits until the server of a.c can be asked.
func running(t *testing.T, p *Pool, w *project) {
	t.Helper()
	at, err := locate(w, "a.c")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.get(within(t, time.Minute), w, at, true); err != nil {
		t.Fatal(err)
	}
}

// late is a context whose time is over when the channel is closed.
type late struct {
	context.Context
	over chan struct{}
}

func (l late) Done() <-chan struct{} { return l.over }

func (l late) Err() error {
	select {
	case <-l.over:
		return context.DeadlineExceeded
	default:
		return l.Context.Err()
	}
}

// wire tells when a question about a hover was sent.
type wire struct {
	io.WriteCloser
	asked chan<- struct{}
}

func (w wire) Write(data []byte) (int, error) {
	n, err := w.WriteCloser.Write(data)
	if bytes.Contains(data, []byte("textDocument/hover")) {
		w.asked <- struct{}{}
	}
	return n, err
}

// A server that never says a word is ended after some questions.
func TestStuck(t *testing.T) {
	var now atomic.Int64
	asked := make(chan struct{}, 1)
	p := fakePool(t, "silent", func(o *Options) {
		o.Now = func() time.Time { return time.Unix(1000+now.Load(), 0) }
		o.Start = func(ctx context.Context, program Program) (*Process, error) {
			process, err := plainly(ctx, program)
			if err == nil {
				process.In = wire{process.In, asked}
			}
			return process, err
		}
	})
	w := cProject(t)
	running(t, p, w)
	inVain := func() {
		t.Helper()
		over, end := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := p.Hover(late{t.Context(), over}, w, Position{Name: "a.c", Line: 1, Symbol: "x"})
			end <- err
		}()
		<-asked
		close(over)
		if <-end == nil {
			t.Fatal("it answered")
		}
	}
	for range stuckAnswers {
		inVain()
		select {
		case why := <-p.running(w, "a.c").quit:
			t.Fatalf("too soon: %v", why)
		default:
		}
		now.Add(int64(stuckTime/time.Second)/stuckAnswers - 1)
	}
	now.Add(int64(stuckTime / time.Second))
	inVain()
	if s := only(p); s != nil {
		<-s.gone
	}
	_, err := p.Hover(within(t, time.Minute), w, Position{Name: "a.c", Line: 1, Symbol: "x"})
	if err == nil || !strings.Contains(err.Error(), errStuck.Error()) {
		t.Errorf("%v", err)
	}
}

func TestRefused(t *testing.T) {
	w := newProject(t, map[string]string{"a.c": "int x;\n", "a.py": "x = 1\n"})
	for _, c := range []struct {
		name string
		set  Settings
		file string
		want string
	}{
		{"not trusted", Settings{Refused: "the workspace is not trusted"}, "a.c", "clangd: the workspace is not trusted"},
		{"off", Settings{Servers: map[string]Server{"clangd": {Off: true}}}, "a.c", "clangd: it is switched off by sidecar.languageServers"},
		{"not installed", Settings{Servers: map[string]Server{"clangd": {Command: []string{"no-such-program-here"}}}}, "a.c", "clangd: no-such-program-here is not installed (not on PATH); install it, or name its command in sidecar.languageServers"},
		{"none of several", Settings{Servers: map[string]Server{"pyright": {}}}, "a.py", "pyright: basedpyright-langserver or pyright-langserver is not installed (not on PATH); install it, or name its command in sidecar.languageServers"},
		{"another language", Settings{}, "a.txt", "no language server for files like a.txt"},
	} {
		p := New(Options{Start: plainly, Settings: func() Settings { return c.set }, Look: func(string) (string, error) { return "", errors.New("none") }})
		if r := p.Diagnose(t.Context(), w, c.file)[0]; r.Err == nil || r.Err.Error() != c.want {
			t.Errorf("%s: %v", c.name, r.Err)
		}
		p.Close()
	}
}

// Close ends the servers, and what is asked after it fails.
func TestClose(t *testing.T) {
	p, w := fakePool(t, "well", nil), cProject(t)
	diagnose(t, p, w, "a.c")
	if len(p.Running()) != 1 {
		t.Fatal("it does not run")
	}
	p.Close()
	if left := p.Running(); len(left) != 0 {
		t.Errorf("still there: %v", left)
	}
	if r := p.Diagnose(t.Context(), w, "a.c")[0]; r.Err == nil || !strings.Contains(r.Err.Error(), "closing") {
		t.Errorf("%v", r.Err)
	}
}

// An unused server is ended; the next question starts another one.
func TestIdle(t *testing.T) {
	p, w := fakePool(t, "well", nil), cProject(t)
	diagnose(t, p, w, "a.c")
	s := p.running(w, "a.c")
	done := s.use()
	s.tired()
	select {
	case <-s.quit:
		t.Fatal("it is ended while it is asked")
	default:
	}
	done()
	s.tired()
	<-s.gone
	if got := diagnose(t, p, w, "a.c"); got != "a.c:1:1 error 7 bytes" {
		t.Error(got)
	}
}

// No more servers run than there may.
func TestRoom(t *testing.T) {
	files := map[string]string{}
	for i := range maxServers + 1 {
		files[fmt.Sprintf("p%d/Cargo.toml", i)], files[fmt.Sprintf("p%d/a.rs", i)] = "", "fn main() {}"
	}
	w := newProject(t, files)
	p := newPool(t, map[string][]string{"rust-analyzer": {os.Args[0], fakeArg, "well"}}, nil)
	for i := range maxServers + 1 {
		diagnose(t, p, w, fmt.Sprintf("p%d/a.rs", i))
	}
	if n := len(p.Running()); n > maxServers {
		t.Errorf("%d run", n)
	}
}

func TestRoots(t *testing.T) {
	have := map[string]bool{"go.work": true, "a/go.mod": true, "b/c/go.mod": true}
	for _, c := range []struct{ kind, folder, name, want string }{
		{"gopls", ".", "a/x/y.go", "."},
		{"rust-analyzer", ".", "a/x/y.rs", "."},
		{"gopls", "b", "b/c/d/x.go", "b/c"},
		{"gopls", "b", "b/x.go", "b"},
	} {
		for _, k := range kinds {
			if k.name != c.kind {
				continue
			}
			if got := k.root(c.folder, c.name, func(name string) bool { return have[name] }); got != c.want {
				t.Errorf("%s %s: %s, want %s", c.kind, c.name, got, c.want)
			}
		}
	}
}

func TestSection(t *testing.T) {
	s := &server{at: location{kind: &kind{name: "gopls"}}, options: json.RawMessage(`{"a":{"b":{"c":1}}}`)}
	got, err := s.configuration(json.RawMessage(`{"items":[{"section":"a.b"},{"section":"gopls"},{"section":"x.y"},{}]}`))
	want := `[{"c":1} {"a":{"b":{"c":1}}} null {"a":{"b":{"c":1}}}]`
	var text []string
	for _, raw := range got.([]json.RawMessage) {
		text = append(text, string(raw))
	}
	if err != nil || "["+strings.Join(text, " ")+"]" != want {
		t.Errorf("%v, %v", text, err)
	}
	_, err = s.Request(t.Context(), "nope", nil)
	var refused *lsp.Error
	if !errors.As(err, &refused) || refused.Code != lsp.MethodNotFound {
		t.Error(err)
	}
}
