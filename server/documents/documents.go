// Package documents has the texts that are open in the editor, as a layer over the
// files on disk: the live view. What is applied to it goes to the editor and the disk.
package documents

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// Document is one state of an open document. It is never changed: an edit
// makes a new one.
type Document struct {
	URI     string // as the client writes it
	Name    string // in the view; "" when it is not a file of the workspace
	Version int32
	Text    *lsp.Document // as in the editor's buffer
	changed time.Time

	form  func() Form   // of the file; read when first needed
	bytes func() []byte // text in the file's form
}

// same reports whether a later state has the same text in the same version: it
// may have been saved since.
func (d *Document) same(now *Document) bool {
	return now != nil && now.Version == d.Version && now.Text == d.Text
}

// Documents are the open documents. It is the layer of buffers over the disk.
type Documents struct {
	Enc    lsp.Encoding
	naming atomic.Pointer[naming]
	log    *slog.Logger

	layer atomic.Pointer[layer] // replaced, never changed

	mu      sync.Mutex
	byKey   map[string]*Document // by documentKey
	last    time.Time            // of the latest change: times only grow
	waiters map[*waiter]bool

	looks looks
}

var errNoFolder = errors.New("no folder is open in the editor")

// naming says what files are called, and reads them.
type naming struct {
	resolve func(path string) (name string, err error) // links resolved
	read    func(name string) ([]byte, error)
}

// layer is the open documents that are files of the workspace. It is read for
// every file of every walk, so reading takes no lock.
type layer struct {
	byName map[string]*Document
	names  []string // sorted
}

// waiter waits for a document to hold a text.
type waiter struct {
	key, want string
	changes   int // of the document since the waiter was made
	reached   chan struct{}
}

// New returns a store without documents.
func New(log *slog.Logger) *Documents {
	d := &Documents{
		Enc: lsp.UTF16, log: log,
		byKey: map[string]*Document{}, waiters: map[*waiter]bool{},
	}
	d.layer.Store(&layer{})
	d.naming.Store(&naming{
		resolve: func(string) (string, error) { return "", errNoFolder },
		read:    func(string) ([]byte, error) { return nil, errNoFolder },
	})
	return d
}

// Open handles textDocument/didOpen and returns the view name, "" for a
// document that is not ours. A document that is open already is replaced.
func (d *Documents) Open(params json.RawMessage) string {
	var p lsp.DidOpenTextDocumentParams
	if !d.decode("textDocument/didOpen", params, &p) {
		return ""
	}
	doc := Document{URI: p.TextDocument.URI, Version: p.TextDocument.Version, Text: lsp.NewDocument(p.TextDocument.Text)}
	doc.Name = d.NameOf(doc.URI)
	doc.form = d.formReader(doc.Name)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.store(doc)
	d.wake(doc.URI, doc.Text.Text())
	return doc.Name
}

// Change handles textDocument/didChange.
func (d *Documents) Change(params json.RawMessage) string {
	var p lsp.DidChangeTextDocumentParams
	if !d.decode("textDocument/didChange", params, &p) {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	old := d.byKey[documentKey(p.TextDocument.URI)]
	if old == nil {
		d.log.Warn("change of a document that is not open", "uri", p.TextDocument.URI)
		return ""
	}
	next := *old
	if next.Version = p.TextDocument.Version; next.Version <= old.Version {
		// The text of a change is what counts: clients that number wrongly
		// still send every change once and in order.
		d.log.Warn("document version does not grow", "uri", old.URI, "from", old.Version, "to", next.Version)
	}
	next.Text = next.Text.ChangeAll(p.ContentChanges, d.Enc, func(doc *lsp.Document) { d.wake(old.URI, doc.Text()) })
	d.store(next)
	for w := range d.waiters {
		if w.key == documentKey(old.URI) {
			w.changes++
		}
	}
	return next.Name
}

// Save handles textDocument/didSave: the file may have another form now.
func (d *Documents) Save(params json.RawMessage) string {
	var p lsp.DidSaveTextDocumentParams
	if !d.decode("textDocument/didSave", params, &p) {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	old := d.byKey[documentKey(p.TextDocument.URI)]
	if old == nil {
		return ""
	}
	next := *old
	next.form = d.formReader(next.Name)
	d.store(next)
	return next.Name
}

// Close handles textDocument/didClose.
func (d *Documents) Close(params json.RawMessage) string {
	var p lsp.DidCloseTextDocumentParams
	if !d.decode("textDocument/didClose", params, &p) {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := documentKey(p.TextDocument.URI)
	doc := d.byKey[key]
	if doc == nil {
		d.log.Warn("close of a document that is not open", "uri", p.TextDocument.URI)
		return ""
	}
	delete(d.byKey, key)
	if d.named(doc.Name) == doc {
		d.show(doc.Name, d.other(doc.Name))
	}
	return doc.Name
}

// other returns an open document of that file under another name or spelling, nil if
// there is none; d.mu is held.
func (d *Documents) other(name string) (other *Document) {
	for _, doc := range d.byKey {
		if name != "" && doc.Name == name && (other == nil || doc.changed.After(other.changed)) {
			other = doc
		}
	}
	return other
}

// Lose forgets the document of parameters of which only the beginning is known,
// all documents where that does not say which. It returns their names.
func (d *Documents) Lose(params string) (names []string) {
	key := ""
	if _, after, ok := strings.Cut(params, `"uri":`); ok {
		var uri string
		if json.NewDecoder(strings.NewReader(after)).Decode(&uri) == nil {
			key = documentKey(uri)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for k, doc := range d.byKey {
		if key != "" && k != key {
			continue
		}
		delete(d.byKey, k)
		if d.named(doc.Name) == doc {
			d.show(doc.Name, nil)
		}
		names = append(names, doc.Name)
	}
	return names
}

func (d *Documents) decode(method string, params json.RawMessage, v any) bool {
	if err := lsp.Unmarshal(params, v); err != nil {
		d.log.Warn("notification ignored", "method", method, "error", err)
		return false
	}
	return true
}

// store stores a state; d.mu is held.
func (d *Documents) store(doc Document) {
	doc.changed = time.Now()
	if !doc.changed.After(d.last) {
		doc.changed = d.last.Add(time.Nanosecond)
	}
	d.last = doc.changed
	text, form := doc.Text.Text(), doc.form
	doc.bytes = sync.OnceValue(func() []byte { return form().Bytes(text) })
	d.byKey[documentKey(doc.URI)] = &doc
	if doc.Name != "" {
		d.show(doc.Name, &doc)
	}
}

// show puts a document into the layer, or takes it out; d.mu is held.
func (d *Documents) show(name string, doc *Document) {
	old := d.layer.Load()
	now := &layer{byName: maps.Clone(old.byName), names: old.names}
	if now.byName == nil {
		now.byName = map[string]*Document{}
	}
	_, known := old.byName[name]
	if doc == nil {
		delete(now.byName, name)
	} else {
		now.byName[name] = doc
	}
	if known != (doc != nil) {
		now.names = slices.Sorted(maps.Keys(now.byName))
	}
	d.layer.Store(now)
}

// NameOf is the name in the view of a file URI, "" when it is not a file of the workspace.
func (d *Documents) NameOf(uri string) string {
	if p, ok := workspace.FilePath(uri); ok {
		if name, err := d.naming.Load().resolve(p); err == nil {
			return name
		}
	}
	return ""
}

func (d *Documents) formReader(name string) func() Form {
	return sync.OnceValue(func() Form {
		if name == "" {
			return Form{}
		}
		data, err := d.naming.Load().read(name)
		if err != nil {
			return Form{}
		}
		return FormOf(data)
	})
}

// rename calls the documents what they are called from now on, and returns
// their names.
func (d *Documents) rename(n *naming) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.naming.Store(n)
	now := &layer{byName: map[string]*Document{}}
	for key, old := range d.byKey {
		doc := *old
		if doc.Name = d.NameOf(doc.URI); doc.Name != old.Name {
			doc.form = d.formReader(doc.Name)
			text, form := doc.Text.Text(), doc.form
			doc.bytes = sync.OnceValue(func() []byte { return form().Bytes(text) })
		}
		d.byKey[key] = &doc
		if doc.Name != "" {
			now.byName[doc.Name] = &doc
		}
	}
	now.names = slices.Sorted(maps.Keys(now.byName))
	d.layer.Store(now)
	return now.names
}

// nameAgain gives the documents of that name the one that they have now.
func (d *Documents) nameAgain(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.show(name, nil)
	for key, old := range d.byKey {
		if old.Name != name {
			continue
		}
		doc := *old
		doc.Name = d.NameOf(doc.URI)
		d.byKey[key] = &doc
		if doc.Name != "" {
			d.show(doc.Name, &doc)
		}
	}
}

// named returns the open document of a view name, or nil.
func (d *Documents) named(name string) *Document {
	return d.layer.Load().byName[name]
}

// At returns the open document of a URI, or nil.
func (d *Documents) At(uri string) *Document {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.byKey[documentKey(uri)]
}

// detach takes a document out of the view: its file was deleted or moved on
// disk and the buffer is a leftover. A change or a save brings it back.
func (d *Documents) detach(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.show(name, nil)
}

// Names lists the names of the open documents that are files of the workspace.
func (d *Documents) Names() []string { return d.layer.Load().names }

// uriOf returns the URI of the document of that name, or "".
func (d *Documents) uriOf(name string) string {
	if doc := d.named(name); doc != nil {
		return doc.URI
	}
	return ""
}

// expect makes a waiter for the moment when a document holds want. It has to
// be made before the edit is sent, and released.
func (d *Documents) expect(uri, want string) *waiter {
	w := &waiter{key: documentKey(uri), want: want, reached: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiters[w] = true
	if doc := d.byKey[w.key]; doc != nil && doc.Text.Text() == want {
		w.reach()
	}
	return w
}

func (d *Documents) release(w *waiter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiters, w)
}

// wake tells those who wait for this text; d.mu is held.
func (d *Documents) wake(uri, text string) {
	for w := range d.waiters {
		if w.key == documentKey(uri) && sameText(text, w.want) {
			w.reach()
		}
	}
}

func (w *waiter) reach() {
	select {
	case <-w.reached:
	default:
		close(w.reached)
	}
}

// wait reports whether the document held the text, and how many changes of it
// came, before ctx ended.
func (d *Documents) wait(ctx context.Context, w *waiter) (reached bool, changes int) {
	select {
	case <-w.reached:
		return true, 0
	case <-ctx.Done():
		d.mu.Lock()
		defer d.mu.Unlock()
		return false, w.changes
	}
}
