package pendingedits

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// A record is written as fields one after the other: numbers as varints, bytes
// with their length plus one in front, so that no file (0) is not an empty one.

type encoder struct{ b []byte }

func (w *encoder) number(n int64) { w.b = binary.AppendVarint(w.b, n) }

func (w *encoder) text(s string) {
	w.number(int64(len(s)))
	w.b = append(w.b, s...)
}

func (w *encoder) file(data []byte) {
	if data == nil {
		w.number(0)
		return
	}
	w.number(int64(len(data)) + 1)
	w.b = append(w.b, data...)
}

func (w *encoder) flag(f bool) {
	n := int64(0)
	if f {
		n = 1
	}
	w.number(n)
}

// flags writes a flag, and further ones that older records don't have.
func (w *encoder) flags(list ...bool) {
	n := int64(0)
	for i, f := range list {
		if f {
			n |= 1 << i
		}
	}
	w.number(n)
}

func encode(r record) []byte {
	size := int64(64)
	for _, e := range r.puts {
		size += e.size()
	}
	for _, u := range r.undo {
		size += u.size()
	}
	for _, q := range r.commits {
		size += q.size()
	}
	w := &encoder{make([]byte, 0, size)}
	w.number(r.revision)
	w.number(r.nextID)
	w.flag(r.intent)
	w.flag(r.ends)
	w.number(int64(len(r.drops)))
	for _, name := range r.drops {
		w.text(name)
	}
	w.number(int64(len(r.puts)))
	for _, e := range r.puts {
		w.entry(e)
	}
	w.number(int64(r.undone))
	w.number(int64(len(r.undo)))
	for _, u := range r.undo {
		w.undo(u)
	}
	if len(r.commits)+len(r.unqueued)+len(r.committed)+len(r.gone) > 0 { // left out else, as it was before there were any
		w.commits(r)
	}
	if len(r.gone) > 0 {
		w.number(int64(len(r.gone)))
		for _, id := range r.gone {
			w.number(id)
		}
	}
	return w.b
}

func (w *encoder) commits(r record) {
	w.number(int64(len(r.commits)))
	for _, q := range r.commits {
		w.text(q.id)
		w.text(q.session)
		w.text(q.message)
		w.number(int64(len(q.models)))
		for _, m := range q.models {
			w.text(m)
		}
		w.number(q.revision)
		w.flags(q.begun, q.loose)
		if q.loose {
			w.text(q.origin)
		}
		w.text(q.head)
		w.text(q.failed)
		w.number(int64(len(q.parts)))
		for _, p := range q.parts {
			w.text(p.name)
			w.text(p.source)
			w.file(p.base)
			w.file(p.data)
			w.number(int64(p.mode))
			w.number(int64(p.landed))
			w.file(p.final)
			w.file(p.content)
		}
	}
	w.number(int64(len(r.unqueued)))
	for _, id := range r.unqueued {
		w.text(id)
	}
	w.number(int64(len(r.committed)))
	for _, c := range r.committed {
		w.commitDone(c)
	}
}

func (w *encoder) commitDone(c commitDone) {
	w.text(c.id)
	w.text(c.session)
	w.text(c.message)
	w.text(c.made)
}

func (w *encoder) entry(e *entry) {
	w.text(e.name)
	w.text(e.from)
	w.file(e.base)
	shared := !includes([]string{e.session}, e.owners())
	w.flags(e.whole, e.batch, e.modeID != "", e.baseLink, e.afterLink, shared, e.command != "")
	w.file(e.after)
	w.number(int64(e.mode))
	if e.modeID != "" {
		w.text(e.modeID)
	}
	w.text(e.session)
	w.text(e.tool)
	if e.command != "" {
		w.text(e.command)
	}
	w.number(e.updated.UnixNano())
	w.number(e.revision)
	w.number(int64(len(e.hunks)))
	for _, h := range e.hunks {
		w.text(h.id)
		w.number(int64(h.start))
		w.number(int64(len(h.old)))
		w.file(join(h.new))
	}
	if shared {
		for _, h := range e.parts() {
			w.sessions(h.by)
		}
	}
}

func (w *encoder) sessions(by []string) {
	w.number(int64(len(by)))
	for _, s := range by {
		w.text(s)
	}
}

func (w *encoder) time(t time.Time) {
	if t.IsZero() {
		w.number(0)
		return
	}
	w.number(t.UnixNano())
}

func (w *encoder) undo(u undoItem) {
	links := slices.ContainsFunc(u.changes, func(d decided) bool { return d.Link() })
	shared := slices.ContainsFunc(u.changes, func(d decided) bool { return d.owners != nil })
	w.flags(u.undone, u.batch, links, shared, u.id != 0, u.applied, u.redone)
	if u.id != 0 {
		w.number(u.id)
		w.number(u.turn)
		w.time(u.at)
	}
	if u.batch {
		w.number(int64(len(u.commits)))
		for _, c := range u.commits {
			w.commitDone(c)
		}
	}
	w.number(int64(len(u.changes)))
	for _, d := range u.changes {
		w.text(d.Path)
		w.text(d.From)
		w.file(d.Before)
		w.file(d.After)
		w.number(int64(d.Mode))
		w.text(d.session)
		w.text(d.tool)
		if links {
			w.flags(d.BeforeLink, d.AfterLink)
		}
		if shared {
			w.number(int64(len(d.owners)))
			for _, o := range d.owners {
				w.number(int64(o.start))
				w.number(int64(o.end))
				w.sessions(o.by)
			}
		}
	}
}

// size is about what an entry takes in the log.
func (e *entry) size() int64 {
	n := 64 + len(e.name) + len(e.from) + len(e.base) + len(e.after) + len(e.session) + len(e.tool) + len(e.command)
	for _, h := range e.hunks {
		n += 24
		for _, line := range h.new {
			n += len(line)
		}
	}
	return int64(n)
}

var errMalformed = errors.New("malformed record")

// decoder reads what an encoder wrote; after the first wrong field it is bad.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) number() int64 {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.bad = true
		return 0
	}
	d.b = d.b[size:]
	return n
}

// count is the number of things that follow, each of which takes a byte.
func (d *decoder) count() int {
	n := d.number()
	if n < 0 || n > int64(len(d.b)) {
		d.bad = true
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.count()
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) file() []byte {
	n := d.number()
	if n == 0 {
		return nil
	}
	if n < 0 || n-1 > int64(len(d.b)) {
		d.bad = true
		return nil
	}
	data := append([]byte{}, d.b[:n-1]...)
	d.b = d.b[n-1:]
	return data
}

func decode(payload []byte) (record, error) {
	d := &decoder{b: payload}
	r := record{revision: d.number(), nextID: d.number(), intent: d.number() == 1, ends: d.number() == 1}
	for range d.count() {
		r.drops = append(r.drops, d.text())
	}
	for range d.count() {
		r.puts = append(r.puts, d.entry())
	}
	r.undone = int(d.number())
	for range d.count() {
		r.undo = append(r.undo, d.undo())
	}
	if len(d.b) > 0 {
		d.commits(&r)
	}
	if len(d.b) > 0 {
		for range d.count() {
			r.gone = append(r.gone, d.number())
		}
	}
	if d.bad || len(d.b) > 0 {
		return record{}, errMalformed
	}
	return r, nil
}

// flags reads what encoder.flags wrote, or fewer flags of an older record.
func (d *decoder) flags(list ...*bool) {
	n := d.number()
	for i, f := range list {
		*f = n&(1<<i) != 0
	}
	d.bad = d.bad || n>>len(list) != 0
}

func (d *decoder) commits(r *record) {
	for range d.count() {
		q := &queued{id: d.text(), session: d.text(), message: d.text()}
		for range d.count() {
			q.models = append(q.models, d.text())
		}
		q.revision = d.number()
		d.flags(&q.begun, &q.loose)
		if q.loose {
			q.origin = d.text()
		}
		q.head, q.failed = d.text(), d.text()
		for range d.count() {
			p := part{name: d.text(), source: d.text(), base: d.file(), data: d.file(), mode: fs.FileMode(d.number())}
			p.landed, p.final, p.content = int(d.number()), d.file(), d.file()
			d.bad = d.bad || !fs.ValidPath(p.name) || !fs.ValidPath(p.source)
			q.parts = append(q.parts, p)
		}
		r.commits = append(r.commits, q)
	}
	for range d.count() {
		r.unqueued = append(r.unqueued, d.text())
	}
	for range d.count() {
		r.committed = append(r.committed, d.commitDone())
	}
}

func (d *decoder) commitDone() commitDone {
	return commitDone{d.text(), d.text(), d.text(), d.text()}
}

func (d *decoder) entry() *entry {
	e := &entry{name: d.text(), from: d.text(), base: d.file()}
	mode, shared, command := false, false, false
	d.flags(&e.whole, &e.batch, &mode, &e.baseLink, &e.afterLink, &shared, &command)
	e.after, e.mode = d.file(), fs.FileMode(d.number())
	if mode {
		e.modeID = d.text()
	}
	e.session, e.tool = d.text(), d.text()
	if command {
		e.command = d.text()
	}
	alone := []string{e.session}
	e.updated, e.revision = time.Unix(0, d.number()).UTC(), d.number()
	var lines []string
	if !e.whole {
		lines = diff.SplitLines(string(e.base))
	}
	end := 0
	for range d.count() {
		h := hunk{id: d.text(), start: int(d.number())}
		n := int(d.number())
		h.new = diff.SplitLines(string(d.file()))
		if !e.whole {
			if h.start < end || n < 0 || n > len(lines) || h.start > len(lines)-n {
				d.bad = true
				return e
			}
			end = h.start + n
			h.old = lines[h.start:end:end]
		}
		e.hunks = append(e.hunks, h)
	}
	by := func() []string { return alone }
	if shared {
		by = d.sessions
	}
	if mode {
		e.modeBy = by()
	}
	for i := range e.hunks {
		e.hunks[i].by = by()
	}
	d.bad = d.bad || len(e.parts()) == 0 || !fs.ValidPath(e.name)
	return e
}

func (d *decoder) sessions() (by []string) {
	for range d.count() {
		by = append(by, d.text())
	}
	d.bad = d.bad || len(by) == 0 || !slices.IsSorted(by)
	return by
}

func (d *decoder) undo() undoItem {
	u := undoItem{}
	links, shared, numbered := false, false, false
	d.flags(&u.undone, &u.batch, &links, &shared, &numbered, &u.applied, &u.redone)
	if numbered {
		u.id, u.turn = d.number(), d.number()
		if at := d.number(); at != 0 {
			u.at = time.Unix(0, at).UTC()
		}
	}
	if u.batch {
		for range d.count() {
			u.commits = append(u.commits, d.commitDone())
		}
	}
	for range d.count() {
		c := workspace.Change{Path: d.text(), From: d.text(), Before: d.file(), After: d.file(), Mode: fs.FileMode(d.number())}
		u.changes = append(u.changes, decided{Change: c, session: d.text(), tool: d.text()})
		if links {
			last := &u.changes[len(u.changes)-1]
			d.flags(&last.BeforeLink, &last.AfterLink)
		}
		if shared {
			last := &u.changes[len(u.changes)-1]
			for range d.count() {
				last.owners = append(last.owners, owned{int(d.number()), int(d.number()), d.sessions()})
			}
		}
	}
	return u
}
