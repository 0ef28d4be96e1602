package langserver

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

const (
	maxText   = 4 << 20 // bytes of a document that a server is shown
	maxRecent = 16      // documents that stay open after a question
	maxEvents = 5000    // changes on disk that are told one by one
)

// documents are what a server is shown instead of what is on the disk.
type documents struct {
	open   map[string]*document // by name
	recent []string             // that were asked about, the last one at the end
	epoch  int                  // grows with every text that is shown
}

// document is an open one.
type document struct {
	name    string
	uri     string
	version int32
	epoch   int // when it was shown last
	seq     int // pushes that had come by then
	text    string
	index   *lsp.Document // of text
}

// enter waits for the turn to show texts.
func (s *server) enter(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-s.gone:
		return notYet(s.at.kind.name, "it ended")
	case <-ctx.Done():
		return explain(ctx, s.at, ctx.Err())
	}
}

func (s *server) leave() { <-s.turn }

// show makes the server see the files: what the disk has otherwise than files
// is opened, and so are the names that a question is about. The turn is held.
func (s *server) show(ctx context.Context, files workspace.Files, about ...string) error {
	if err := s.notifyChanges(ctx, files); err != nil {
		return err
	}
	disk, over := files.Base()
	want := map[string]bool{}
	for _, name := range over {
		if s.serves(name) {
			want[name] = true
		}
	}
	s.docs.remember(about)
	for _, name := range s.docs.recent {
		want[name] = true
	}
	// Sorted, so that servers see the same order each time.
	names := make([]string, 0, len(want)+len(s.docs.open))
	for name := range want {
		names = append(names, name)
	}
	for name := range s.docs.open {
		if !want[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		text, ok := "", false
		if want[name] {
			text, ok = seen(s.at, disk, files, name)
		}
		if err := s.sync(ctx, files, name, text, ok); err != nil {
			return err
		}
	}
	return nil
}

// serves reports whether the server is shown a file.
func (s *server) serves(name string) bool {
	inside := s.at.root == "." || strings.HasPrefix(name, s.at.root+"/")
	return inside && s.at.kind.languageID(name) != ""
}

// remember keeps the latest names of about.
func (d *documents) remember(about []string) {
	for _, name := range about {
		if i := slices.Index(d.recent, name); i >= 0 {
			d.recent = slices.Delete(d.recent, i, i+1)
		}
		d.recent = append(d.recent, name)
	}
	if most := max(maxRecent, len(about)); len(d.recent) > most {
		d.recent = slices.Clone(d.recent[len(d.recent)-most:])
	}
}

// seen is the text that a server is to see for name; !ok leaves it the disk's.
func seen(at location, disk *workspace.Disk, files workspace.Files, name string) (text string, ok bool) {
	text, err := readText(files, name)
	if err == nil {
		return text, true
	}
	if !errors.Is(err, fs.ErrNotExist) || disk == nil {
		return "", false
	}
	old, err := readText(disk, name)
	if err != nil {
		return "", false // gone from the disk too
	}
	if at.kind.vanish != nil {
		return at.kind.vanish(old), true
	}
	return "", true
}

// readText reads a text as servers see it: in UTF-8, without a byte order mark.
func readText(files reader, name string) (string, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return "", err
	}
	if len(data) > maxText {
		return "", &fs.PathError{Op: "read", Path: name, Err: workspace.ErrTooLarge}
	}
	t, err := workspace.DecodeText(data)
	if err != nil {
		return "", &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return t.Body, nil
}

// sync opens, changes or closes one document.
func (s *server) sync(ctx context.Context, files workspace.Paths, name, text string, ok bool) error {
	d := s.docs.open[name]
	switch {
	case !ok && d == nil:
		return nil
	case !ok:
		delete(s.docs.open, name)
		s.docs.epoch++
		return s.notify(ctx, "textDocument/didClose", lsp.DidCloseTextDocumentParams{TextDocument: lsp.TextDocumentIdentifier{URI: d.uri}})
	case d == nil:
		d = &document{name: name, uri: workspace.FileURI(files.Abs(name)), version: 1}
		s.shown(d, text)
		s.docs.open[name] = d
		return s.notify(ctx, "textDocument/didOpen", lsp.DidOpenTextDocumentParams{TextDocument: lsp.TextDocumentItem{
			URI: d.uri, LanguageID: s.at.kind.languageID(name), Version: d.version, Text: text,
		}})
	case d.text == text:
		return nil
	}
	return s.again(ctx, d, text)
}

// again shows an open document with another text, or with the same one.
func (s *server) again(ctx context.Context, d *document, text string) error {
	d.version++
	s.shown(d, text)
	return s.notify(ctx, "textDocument/didChange", lsp.DidChangeTextDocumentParams{
		TextDocument:   lsp.VersionedTextDocumentIdentifier{URI: d.uri, Version: d.version},
		ContentChanges: []lsp.ContentChange{{Text: text}},
	})
}

func (s *server) shown(d *document, text string) {
	s.docs.epoch++
	d.text, d.index, d.epoch = text, lsp.NewDocument(text), s.docs.epoch
	d.seq = s.pushed.count()
}

func (s *server) notify(ctx context.Context, method string, params any) error {
	return explain(ctx, s.at, s.conn.Notify(ctx, method, params))
}

// notifyChanges tells what has changed on the disk.
func (s *server) notifyChanges(ctx context.Context, files workspace.Files) error {
	if s.changes == nil {
		return nil
	}
	disk, _ := files.Base()
	names, lost := s.changes.Next(ctx)
	if disk == nil {
		return nil
	}
	if lost || len(names) > maxEvents {
		names = s.everything(ctx, files)
	}
	var events []lsp.FileEvent
	for _, name := range names {
		what := lsp.FileChanged
		if info, err := disk.Stat(name); err != nil {
			what = lsp.FileDeleted
		} else if info.IsDir() {
			continue
		}
		events = append(events, lsp.FileEvent{URI: workspace.FileURI(files.Abs(name)), Type: what})
		if what == lsp.FileChanged {
			// Whether it is new is not known: a server that has it already takes
			// this for a change.
			events = append(events, lsp.FileEvent{URI: workspace.FileURI(files.Abs(name)), Type: lsp.FileCreated})
		}
	}
	if len(events) == 0 {
		return nil
	}
	s.docs.epoch++
	s.told.Add(1)
	return s.notify(ctx, "workspace/didChangeWatchedFiles", lsp.DidChangeWatchedFilesParams{Changes: events})
}

// everything lists the files of the server's language.
func (s *server) everything(ctx context.Context, files workspace.Files) []string {
	return walk(ctx, files, s.at.root, s.serves, maxEvents)
}

// firstSegment is the folder of a name in a view of several.
func firstSegment(name string) string {
	first, _, _ := strings.Cut(path.Clean(name), "/")
	return first
}
