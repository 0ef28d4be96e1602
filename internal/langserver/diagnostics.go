package langserver

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// Report is what is known of one file.
type Report struct {
	Name     string
	Server   string
	Problems []Problem
	Err      error // nothing is known, and why
}

// asker asks a server for the problems of an open document. It sends the
// question and returns how to wait for the answer.
type asker func(ctx context.Context, s *server, uri string) (func(context.Context) ([]lsp.Diagnostic, error), error)

// Diagnose asks the servers of the files what is wrong with them. It returns a
// report for each name, in their order.
func (p *Pool) Diagnose(ctx context.Context, files workspace.Files, names ...string) []Report {
	defer p.foreground()()
	return p.diagnose(ctx, files, names, true)
}

// diagnose starts servers that don't run, and waits for them if wait is set.
func (p *Pool) diagnose(ctx context.Context, files workspace.Files, names []string, wait bool) []Report {
	reports := make([]Report, len(names))
	groups := map[slotKey][]int{}
	places := map[slotKey]location{}
	for i, name := range names {
		reports[i].Name = name
		at, err := locate(files, name)
		if err != nil {
			reports[i].Err = err
			continue
		}
		key := slotKey{at.kind.name, at.dir}
		places[key] = at
		groups[key] = append(groups[key], i)
	}
	var all sync.WaitGroup
	for key, group := range groups {
		all.Go(func() {
			mine := make([]*Report, len(group))
			for j, i := range group {
				mine[j] = &reports[i]
				mine[j].Server = key.kind
			}
			s, err := p.get(ctx, files, places[key], wait)
			if err == nil {
				err = s.diagnose(ctx, files, mine)
			}
			for _, r := range mine {
				if err != nil && r.Err == nil {
					r.Err, r.Problems = err, nil
				}
			}
		})
	}
	all.Wait()
	return reports
}

// diagnose fills in reports.
func (s *server) diagnose(ctx context.Context, files workspace.Files, reports []*Report) error {
	defer s.use()()
	if err := s.enter(ctx); err != nil {
		return err
	}
	waits, err := s.askAll(ctx, files, reports)
	s.leave()
	if err != nil {
		return err
	}
	for i, r := range reports {
		if waits[i] == nil {
			continue // its Err says why
		}
		list, text, err := waits[i](ctx)
		if err != nil {
			r.Err = err
			continue
		}
		r.Problems = problems(s.at.kind.name, r.Name, text, s.enc, list)
	}
	return nil
}

type awaited func(context.Context) ([]lsp.Diagnostic, *lsp.Document, error)

// askAll shows the server the files and asks about each; the turn is held.
func (s *server) askAll(ctx context.Context, files workspace.Files, reports []*Report) ([]awaited, error) {
	var about []string
	if !s.at.kind.closed {
		for _, r := range reports {
			about = append(about, r.Name)
		}
	}
	if err := s.show(ctx, files, about...); err != nil {
		return nil, err
	}
	waits := make([]awaited, len(reports))
	for i, r := range reports {
		uri, text, err := s.subject(files, r.Name)
		if err != nil {
			r.Err = err
			continue
		}
		if waits[i], err = s.askOne(ctx, r.Name, uri, text); err != nil {
			return nil, err
		}
	}
	return waits, nil
}

// askOne asks about one file.
func (s *server) askOne(ctx context.Context, name, uri string, text *lsp.Document) (awaited, error) {
	ask := s.asker()
	if ask == nil {
		return s.untilPushed(ctx, s.docs.open[name])
	}
	wait, err := ask(ctx, s, uri)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) ([]lsp.Diagnostic, *lsp.Document, error) {
		list, err := wait(ctx)
		return list, text, err
	}, nil
}

// subject is the URI of a file and its text as the server has it.
func (s *server) subject(files workspace.Files, name string) (uri string, text *lsp.Document, err error) {
	body, err := readText(files, name)
	if err != nil {
		return "", nil, err
	}
	if d := s.docs.open[name]; d != nil {
		return d.uri, d.index, nil
	}
	if !s.at.kind.closed {
		return "", nil, errHidden
	}
	return workspace.FileURI(files.Abs(name)), lsp.NewDocument(body), nil
}

var errHidden = errors.New("the file can't be shown to a language server")

// asker is how this server is asked; nil when it can't be.
func (s *server) asker() asker {
	switch {
	case s.at.kind.ask != nil:
		return s.at.kind.ask
	case bool(s.caps.DiagnosticProvider):
		return pull
	}
	return nil
}

// pull asks by textDocument/diagnostic.
func pull(ctx context.Context, s *server, uri string) (func(context.Context) ([]lsp.Diagnostic, error), error) {
	q, err := s.ask(ctx, "textDocument/diagnostic", lsp.DocumentDiagnosticParams{TextDocument: lsp.TextDocumentIdentifier{URI: uri}})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) ([]lsp.Diagnostic, error) {
		var report lsp.DocumentDiagnosticReport
		err := q.answer(ctx, &report)
		return report.Items, err
	}, nil
}

// pushes are the problems that a server told by itself.
type pushes struct {
	mu   sync.Mutex
	seq  int             // of them all
	last map[string]push // by URI
	more chan struct{}   // closed, and made again, when one comes
}

type push struct {
	seq     int
	version *int32
	list    []lsp.Diagnostic
}

const maxPushed = 5000 // documents whose problems are kept

func newPushes() *pushes { return &pushes{last: map[string]push{}, more: make(chan struct{})} }

// count is how many have come.
func (p *pushes) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seq
}

// of is the latest for a document, and what is closed when another one comes.
func (p *pushes) of(uri string) (push, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last[uri], p.more
}

// receive keeps what textDocument/publishDiagnostics tells.
func (p *pushes) receive(params json.RawMessage) {
	var m lsp.PublishDiagnosticsParams
	if err := lsp.Params(params, &m); err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.last[m.URI]; !known && len(p.last) >= maxPushed {
		return
	}
	p.seq++
	p.last[m.URI] = push{p.seq, m.Version, m.Diagnostics[:min(len(m.Diagnostics), maxProblems)]}
	close(p.more)
	p.more = make(chan struct{})
}

// untilPushed waits until the server has told the problems of d as it is now.
// A server that names no version is believed to speak of what it was shown
// last. What d depends on may have changed since d was shown: then it is shown
// again, or nothing would say when the server has looked at it.
func (s *server) untilPushed(ctx context.Context, d *document) (awaited, error) {
	if d.epoch != s.docs.epoch {
		if err := s.again(ctx, d, d.text); err != nil {
			return nil, err
		}
	}
	uri, version, seq, text := d.uri, d.version, d.seq, d.index
	return func(ctx context.Context) ([]lsp.Diagnostic, *lsp.Document, error) {
		for {
			got, more := s.pushed.of(uri)
			switch {
			case got.seq > seq && got.version == nil, got.version != nil && *got.version == version:
				return got.list, text, nil
			case got.version != nil && *got.version > version:
				return nil, nil, notYet(s.at.kind.name, "the file was changed meanwhile; ask again")
			}
			select {
			case <-more:
			case <-s.gone:
				return nil, nil, notYet(s.at.kind.name, "it ended before it answered")
			case <-ctx.Done():
				return nil, nil, explain(ctx, s.at, ctx.Err())
			}
		}
	}, nil
}
