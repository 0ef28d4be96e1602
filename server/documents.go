package server

import (
	"context"
	"encoding/json"
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

// document is one state of an open document. It is never changed: an edit
// makes a new one.
type document struct {
	uri     string // as the client writes it
	name    string // in the view; "" when it is not a file of the workspace
	version int32
	text    *lsp.Document // as in the editor's buffer
	changed time.Time

	form  func() form   // of the file; read when first needed
	bytes func() []byte // text in the file's form
}

// same reports whether a later state has the same text in the same version: it
// may have been saved since.
func (d *document) same(now *document) bool {
	return now != nil && now.version == d.version && now.text == d.text
}

// documents are the open documents. It is the layer of buffers over the disk.
type documents struct {
	enc    lsp.Encoding
	naming atomic.Pointer[naming]
	log    *slog.Logger

	layer atomic.Pointer[layer] // replaced, never changed

	mu      sync.Mutex
	byKey   map[string]*document // by documentKey
	last    time.Time            // of the latest change: times only grow
	waiters map[*waiter]bool
}

// naming says what files are called, and reads them.
type naming struct {
	resolve func(path string) (name string, err error) // links resolved
	read    func(name string) ([]byte, error)
}

// layer is the open documents that are files of the workspace. It is read for
// every file of every walk, so reading takes no lock.
type layer struct {
	byName map[string]*document
	names  []string // sorted
}

// waiter waits for a document to hold a text.
type waiter struct {
	key, want string
	changes   int // of the document since the waiter was made
	reached   chan struct{}
}

func newDocuments(log *slog.Logger) *documents {
	d := &documents{
		enc: lsp.UTF16, log: log,
		byKey: map[string]*document{}, waiters: map[*waiter]bool{},
	}
	d.layer.Store(&layer{})
	d.naming.Store(&naming{
		resolve: func(string) (string, error) { return "", errNoFolder },
		read:    func(string) ([]byte, error) { return nil, errNoFolder },
	})
	return d
}

// open handles textDocument/didOpen and returns the view name, "" for a
// document that is not ours. A document that is open already is replaced.
func (d *documents) open(params json.RawMessage) string {
	var p lsp.DidOpenTextDocumentParams
	if !d.decode("textDocument/didOpen", params, &p) {
		return ""
	}
	doc := document{uri: p.TextDocument.URI, version: p.TextDocument.Version, text: lsp.NewDocument(p.TextDocument.Text)}
	doc.name = d.nameOf(doc.uri)
	doc.form = d.formReader(doc.name)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.store(doc)
	d.wake(doc.uri, doc.text.Text())
	return doc.name
}

// change handles textDocument/didChange.
func (d *documents) change(params json.RawMessage) string {
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
	if next.version = p.TextDocument.Version; next.version <= old.version {
		// The text of a change is what counts: clients that number wrongly
		// still send every change once and in order.
		d.log.Warn("document version does not grow", "uri", old.uri, "from", old.version, "to", next.version)
	}
	next.text = next.text.ChangeAll(p.ContentChanges, d.enc, func(doc *lsp.Document) { d.wake(old.uri, doc.Text()) })
	d.store(next)
	for w := range d.waiters {
		if w.key == documentKey(old.uri) {
			w.changes++
		}
	}
	return next.name
}

// save handles textDocument/didSave: the file may have another form now.
func (d *documents) save(params json.RawMessage) string {
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
	next.form = d.formReader(next.name)
	d.store(next)
	return next.name
}

// close handles textDocument/didClose.
func (d *documents) close(params json.RawMessage) string {
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
	if d.named(doc.name) == doc {
		d.show(doc.name, d.other(doc.name))
	}
	return doc.name
}

// other returns an open document of that file under another name or spelling, nil if
// there is none; d.mu is held.
func (d *documents) other(name string) (other *document) {
	for _, doc := range d.byKey {
		if name != "" && doc.name == name && (other == nil || doc.changed.After(other.changed)) {
			other = doc
		}
	}
	return other
}

// lose forgets the document of parameters of which only the beginning is known,
// all documents where that does not say which. It returns their names.
func (d *documents) lose(params string) (names []string) {
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
		if d.named(doc.name) == doc {
			d.show(doc.name, nil)
		}
		names = append(names, doc.name)
	}
	return names
}

func (d *documents) decode(method string, params json.RawMessage, v any) bool {
	if err := lsp.Unmarshal(params, v); err != nil {
		d.log.Warn("notification ignored", "method", method, "error", err)
		return false
	}
	return true
}

// store stores a state; d.mu is held.
func (d *documents) store(doc document) {
	doc.changed = time.Now()
	if !doc.changed.After(d.last) {
		doc.changed = d.last.Add(time.Nanosecond)
	}
	d.last = doc.changed
	text, form := doc.text.Text(), doc.form
	doc.bytes = sync.OnceValue(func() []byte { return form().bytes(text) })
	d.byKey[documentKey(doc.uri)] = &doc
	if doc.name != "" {
		d.show(doc.name, &doc)
	}
}

// show puts a document into the layer, or takes it out; d.mu is held.
func (d *documents) show(name string, doc *document) {
	old := d.layer.Load()
	now := &layer{byName: maps.Clone(old.byName), names: old.names}
	if now.byName == nil {
		now.byName = map[string]*document{}
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

func (d *documents) nameOf(uri string) string {
	if p, ok := workspace.FilePath(uri); ok {
		if name, err := d.naming.Load().resolve(p); err == nil {
			return name
		}
	}
	return ""
}

func (d *documents) formReader(name string) func() form {
	return sync.OnceValue(func() form {
		if name == "" {
			return form{}
		}
		data, err := d.naming.Load().read(name)
		if err != nil {
			return form{}
		}
		return formOf(data)
	})
}

// rename calls the documents what they are called from now on, and returns
// their names.
func (d *documents) rename(n *naming) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.naming.Store(n)
	now := &layer{byName: map[string]*document{}}
	for key, old := range d.byKey {
		doc := *old
		if doc.name = d.nameOf(doc.uri); doc.name != old.name {
			doc.form = d.formReader(doc.name)
			text, form := doc.text.Text(), doc.form
			doc.bytes = sync.OnceValue(func() []byte { return form().bytes(text) })
		}
		d.byKey[key] = &doc
		if doc.name != "" {
			now.byName[doc.name] = &doc
		}
	}
	now.names = slices.Sorted(maps.Keys(now.byName))
	d.layer.Store(now)
	return now.names
}

// nameAgain gives the documents of that name the one that they have now.
func (d *documents) nameAgain(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.show(name, nil)
	for key, old := range d.byKey {
		if old.name != name {
			continue
		}
		doc := *old
		doc.name = d.nameOf(doc.uri)
		d.byKey[key] = &doc
		if doc.name != "" {
			d.show(doc.name, &doc)
		}
	}
}

// named returns the open document of a view name, or nil.
func (d *documents) named(name string) *document {
	return d.layer.Load().byName[name]
}

// at returns the open document of a URI, or nil.
func (d *documents) at(uri string) *document {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.byKey[documentKey(uri)]
}

// detach takes a document out of the view: its file was deleted or moved on
// disk and the buffer is a leftover. A change or a save brings it back.
func (d *documents) detach(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.show(name, nil)
}

// Names lists the names of the open documents that are files of the workspace.
func (d *documents) Names() []string { return d.layer.Load().names }

// uriOf returns the URI of the document of that name, or "".
func (d *documents) uriOf(name string) string {
	if doc := d.named(name); doc != nil {
		return doc.uri
	}
	return ""
}

// expect makes a waiter for the moment when a document holds want. It has to
// be made before the edit is sent, and released.
func (d *documents) expect(uri, want string) *waiter {
	w := &waiter{key: documentKey(uri), want: want, reached: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiters[w] = true
	if doc := d.byKey[w.key]; doc != nil && doc.text.Text() == want {
		w.reach()
	}
	return w
}

func (d *documents) release(w *waiter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiters, w)
}

// wake tells those who wait for this text; d.mu is held.
func (d *documents) wake(uri, text string) {
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
func (d *documents) wait(ctx context.Context, w *waiter) (reached bool, changes int) {
	select {
	case <-w.reached:
		return true, 0
	case <-ctx.Done():
		d.mu.Lock()
		defer d.mu.Unlock()
		return false, w.changes
	}
}
