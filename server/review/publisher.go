package review

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/documents"
)

// Publisher keeps what the editor shows of the review queue up to date:
// diagnostics, lenses, and sidecar/pendingEdits. It works in a goroutine of its
// own and takes any number of changes in one go.
type Publisher struct {
	client *client.Client
	now    func() *Queue                   // as it is now
	start  func(func(ctx context.Context)) // in a goroutine of its own
	wake   chan struct{}                   // has room for one

	mu    sync.Mutex
	names []string // whose live text changed

	shown    map[string]shown // by URI; used by Run alone
	revision int64            // of the last sidecar/pendingEdits
	looked   int64            // Introduced.Generation then
}

// shown is what the client was last told of a document.
type shown struct {
	version int32 // -1: not open
	text    string
}

// NewPublisher returns one that has told the client nothing yet.
func NewPublisher(c *client.Client, now func() *Queue, start func(func(ctx context.Context))) *Publisher {
	return &Publisher{client: c, now: now, start: start, wake: make(chan struct{}, 1), shown: map[string]shown{}, revision: -1}
}

// Changed says that the review queue changed. It never waits.
func (p *Publisher) Changed() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// TextChanged says that the live text of a file changed; "" is no file.
func (p *Publisher) TextChanged(name string) {
	if name == "" {
		return
	}
	p.mu.Lock()
	if !slices.Contains(p.names, name) {
		p.names = append(p.names, name)
	}
	p.mu.Unlock()
	p.Changed()
}

// Run publishes until ctx ends.
func (p *Publisher) Run(ctx context.Context) {
	for {
		p.mu.Lock()
		names := p.names
		p.names = nil
		p.mu.Unlock()
		q := p.now() // no older than the names
		if q.Store != nil {
			if len(names) > 0 {
				q.Store.BaseChanged(names...)
			}
			p.publish(ctx, q)
		}
		select {
		case <-p.wake:
		case <-ctx.Done():
			return
		}
	}
}

// publish tells the client what differs from what it was told last.
func (p *Publisher) publish(ctx context.Context, q *Queue) {
	list := q.Store.List("")
	present := make(map[string]bool, len(list.Edits))
	lenses := false
	for _, e := range list.Edits {
		params, ok := q.Diagnostics(e)
		if !ok {
			continue
		}
		present[params.URI] = true
		now := shown{version: -1, text: fmt.Sprint(params.Diagnostics)}
		if params.Version != nil {
			now.version = *params.Version
		}
		old, was := p.shown[params.URI]
		if was && old == now {
			continue
		}
		lenses = lenses || old.text != now.text
		p.shown[params.URI] = now
		p.client.Notify(ctx, "textDocument/publishDiagnostics", params)
	}
	for uri := range p.shown {
		if !present[uri] {
			lenses = true
			delete(p.shown, uri)
			p.client.Notify(ctx, "textDocument/publishDiagnostics", lsp.PublishDiagnosticsParams{URI: uri})
		}
	}
	looked := int64(0)
	if from := q.Introduced; from != nil {
		looked = from.Generation()
	}
	if (list.Revision != p.revision || looked != p.looked) && p.client.Can.Sidecar.PendingEdits {
		p.client.Notify(ctx, "sidecar/pendingEdits", q.reviewList(list, ""))
	}
	p.revision, p.looked = list.Revision, looked
	if lenses && p.client.Can.LensRefresh {
		p.start(func(ctx context.Context) {
			if err := p.client.Call(ctx, "workspace/codeLens/refresh", nil, nil); err != nil && ctx.Err() == nil {
				p.client.Log.Debug("lenses not refreshed", "error", err)
			}
		})
	}
}

// Diagnostics makes one diagnostic for each hunk of an edit. A file that is not
// there yet has no document to show them on.
func (q *Queue) Diagnostics(e pendingedits.Edit) (lsp.PublishDiagnosticsParams, bool) {
	name := liveName(e)
	if e.Kind == "create" || q.Live == nil {
		return lsp.PublishDiagnosticsParams{}, false
	}
	params := lsp.PublishDiagnosticsParams{URI: q.Live.URI(name), Diagnostics: make([]lsp.Diagnostic, 0, len(shownHunks(e)))}
	doc := q.Live.Document(name)
	if doc != nil {
		params.Version = &doc.Version
	}
	problems, _ := q.introduced(e)
	brought := byHunk(e, problems)
	for i, h := range shownHunks(e) {
		params.Diagnostics = append(params.Diagnostics, lsp.Diagnostic{
			Range: q.hunkRange(doc, e, h), Severity: lsp.SeverityInformation,
			Source: documents.Source, Code: "pending", Message: hunkMessage(e, h) + problemWords(brought[i]),
		})
	}
	return params, true
}

// MaxShownHunks bounds the hunks of a file that have a diagnostic and lenses of
// their own: nobody looks at more, and editors take a message of bounded size.
// The lenses and actions of the whole file, and the list, have all of them.
const MaxShownHunks = 2000

func shownHunks(e pendingedits.Edit) []pendingedits.Hunk {
	return e.Hunks[:min(len(e.Hunks), MaxShownHunks)]
}

// hunkRange is where a hunk stands in the live text: the lines that it
// replaces, or the place where it inserts. Deleted and moved files are shown at
// their first line.
func (q *Queue) hunkRange(doc *documents.Document, e pendingedits.Edit, h pendingedits.Hunk) lsp.Range {
	start, n := h.OldStart-1, h.OldLines
	if n == 0 {
		start++ // an insertion is counted by the line before it
	}
	if e.Kind != "modify" {
		start, n = 0, 0
	}
	start = max(start, 0)
	if doc == nil {
		return lsp.Range{Start: documents.Position(start, 0), End: documents.Position(start+n, 0)}
	}
	return documents.LineRange(doc.Text, start, n, q.Docs.Enc)
}

// hunkMessage says in one line what a hunk would do and who wants it.
func hunkMessage(e pendingedits.Edit, h pendingedits.Hunk) string {
	what := fmt.Sprintf("replace %s by %d", lineCount(h.OldLines), h.NewLines)
	switch {
	case e.Kind == "delete":
		what = "delete this file"
	case e.Kind == "rename":
		what = "rename this file to " + e.Name
	case h.Says != "":
		what = h.Says
	case h.OldLines == 0:
		what = "insert " + lineCount(h.NewLines)
	case h.NewLines == 0:
		what = "delete " + lineCount(h.OldLines)
	}
	text := "pending: " + what
	if e.Tool != "" {
		text += " (" + madeBy(e) + ")"
	}
	if e.Batch {
		text += ", part of a batch"
	}
	if h.State == pendingedits.Conflict {
		text += "; in conflict with your changes"
	}
	if h.Again {
		text += "; you rejected the same before"
	}
	if line := firstAdded(h.Text); line != "" && e.Kind == "modify" && h.Says == "" {
		text += ": " + line
	}
	return text
}

// madeBy is the tool that proposed an edit, with the command line of one whose
// programs did.
func madeBy(e pendingedits.Edit) string {
	if e.Command == "" {
		return e.Tool
	}
	return e.Tool + ": " + e.Command
}

func lineCount(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// firstAdded is the first line that a hunk adds, shortened.
func firstAdded(text string) string {
	const limit = 60
	for line := range strings.Lines(text) {
		if added, ok := strings.CutPrefix(line, "+"); ok {
			runes := []rune(strings.TrimSpace(added))
			if len(runes) > limit {
				runes = append(runes[:limit], '…')
			}
			return string(runes)
		}
	}
	return ""
}

// pendingEdits are edits as the client is told of them.
func (q *Queue) pendingEdits(edits []pendingedits.Edit) []pendingEdit {
	out := make([]pendingEdit, 0, len(edits))
	for _, e := range edits {
		p := pendingEdit{
			URI: q.Live.URI(e.Name), Path: e.Name, From: e.From, Kind: e.Kind, Revision: e.Revision, Added: e.Added, Removed: e.Removed,
			State: string(e.State), Session: e.Session, Tool: e.Tool, Command: e.Command, Batch: e.Batch, UpdatedAt: e.UpdatedAt, Hunks: make([]pendingHunk, 0, len(e.Hunks)),
		}
		_, p.Problems = q.introduced(e)
		for _, h := range e.Hunks {
			p.Hunks = append(p.Hunks, pendingHunk{h.ID, h.Sessions, h.OldStart, h.OldLines, h.NewStart, h.NewLines, string(h.State), h.Text, h.Again, h.TakenStart, q.messageOf(h)})
		}
		out = append(out, p)
	}
	return out
}
