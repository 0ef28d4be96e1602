package pendingedits

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/pendingedits/internal/hunk"
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
	for _, j := range r.rejected {
		size += sizeOfRejection(j)
	}
	w := &encoder{make([]byte, 0, size)}
	w.number(r.revision)
	w.number(r.nextID)
	w.flag(r.intent)
	w.flag(r.ends)
	list(w, r.drops, w.text)
	list(w, r.puts, w.entry)
	w.number(int64(r.undone))
	list(w, r.undo, w.undo)
	rejections := len(r.rejected)+len(r.unrejected) > 0
	if rejections || len(r.commits)+len(r.unqueued)+len(r.committed)+len(r.gone) > 0 { // left out else, as it was before there were any
		list(w, r.commits, w.commit)
		list(w, r.unqueued, w.text)
		list(w, r.committed, w.commitDone)
	}
	if rejections || len(r.gone) > 0 {
		list(w, r.gone, w.number)
	}
	if rejections {
		list(w, r.rejected, w.rejection)
		list(w, r.unrejected, w.number)
	}
	return w.b
}

// list writes how many there are, and each.
func list[T any](w *encoder, all []T, write func(T)) {
	w.number(int64(len(all)))
	for _, one := range all {
		write(one)
	}
}

func (w *encoder) commit(q *queued) {
	w.text(q.id)
	w.text(q.session)
	w.text(q.message)
	list(w, q.models, w.text)
	w.number(q.revision)
	w.flags(q.begun, q.loose, q.branch != "", q.forward, q.merges != nil, q.ref.Kind != "")
	if q.loose {
		w.text(q.origin)
	}
	if q.branch != "" {
		w.text(q.branch)
	}
	if q.merges != nil {
		list(w, q.merges, w.text)
	}
	if q.ref.Kind != "" {
		w.flags(q.ref.New, q.due)
		w.text(string(q.ref.Kind))
		w.text(q.ref.Dir)
		w.text(q.ref.Name)
		w.text(q.ref.Commit)
		w.text(q.ref.Message)
	}
	w.text(q.head)
	w.text(q.failed)
	list(w, q.parts, w.part)
}

func (w *encoder) part(p part) {
	w.text(p.name)
	w.text(p.source)
	w.file(p.base)
	w.file(p.data)
	w.number(int64(p.mode))
	w.number(int64(p.landed))
	w.file(p.final)
	w.file(p.content)
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
	shared := !hunk.Includes([]string{e.session}, e.owners())
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
		w.text(h.ID)
		w.number(int64(h.Start))
		w.number(int64(len(h.Old)))
		w.file(hunk.Join(h.New))
	}
	if shared {
		for _, h := range e.parts() {
			list(w, h.By, w.text)
		}
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
		list(w, u.commits, w.commitDone)
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
			list(w, d.owners, func(o hunk.Owned) {
				w.number(int64(o.Start))
				w.number(int64(o.End))
				list(w, o.By, w.text)
			})
		}
	}
}

func (w *encoder) rejection(j rejection) {
	w.number(j.id)
	w.time(j.at)
	list(w, j.entries, w.entry)
	list(w, j.commits, w.commit)
	list(w, j.left, w.commit)
}

// size is about what an entry takes in the log.
func (e *entry) size() int64 {
	n := 64 + len(e.name) + len(e.from) + len(e.base) + len(e.after) + len(e.session) + len(e.tool) + len(e.command)
	for _, h := range e.hunks {
		n += 24
		for _, line := range h.New {
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
	r.drops, r.puts = readList(d, d.text), readList(d, d.entry)
	r.undone = int(d.number())
	r.undo = readList(d, d.undo)
	if len(d.b) > 0 {
		r.commits, r.unqueued, r.committed = readList(d, d.commit), readList(d, d.text), readList(d, d.commitDone)
	}
	if len(d.b) > 0 {
		r.gone = readList(d, d.number)
	}
	if len(d.b) > 0 {
		r.rejected, r.unrejected = readList(d, d.rejection), readList(d, d.number)
	}
	if d.bad || len(d.b) > 0 {
		return record{}, errMalformed
	}
	return r, nil
}

// readList reads what list wrote.
func readList[T any](d *decoder, read func() T) (all []T) {
	for range d.count() {
		all = append(all, read())
	}
	return all
}

// flags reads what encoder.flags wrote, or fewer flags of an older record.
func (d *decoder) flags(list ...*bool) {
	n := d.number()
	for i, f := range list {
		*f = n&(1<<i) != 0
	}
	d.bad = d.bad || n>>len(list) != 0
}

func (d *decoder) commit() *queued {
	q := &queued{id: d.text(), session: d.text(), message: d.text(), models: readList(d, d.text), revision: d.number()}
	branch, merges, ref := false, false, false
	d.flags(&q.begun, &q.loose, &branch, &q.forward, &merges, &ref)
	if q.loose {
		q.origin = d.text()
	}
	if branch {
		q.branch = d.text()
	}
	if merges {
		q.merges = readList(d, d.text)
	}
	if ref {
		d.flags(&q.ref.New, &q.due)
		q.ref.Kind, q.ref.Dir, q.ref.Name, q.ref.Commit, q.ref.Message = workspace.RefKind(d.text()), d.text(), d.text(), d.text(), d.text()
	}
	q.head, q.failed, q.parts = d.text(), d.text(), readList(d, d.part)
	return q
}

func (d *decoder) part() part {
	p := part{name: d.text(), source: d.text(), base: d.file(), data: d.file(), mode: fs.FileMode(d.number())}
	p.landed, p.final, p.content = int(d.number()), d.file(), d.file()
	d.bad = d.bad || !fs.ValidPath(p.name) || !fs.ValidPath(p.source)
	return p
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
		h := hunk.Hunk{ID: d.text(), Start: int(d.number())}
		n := int(d.number())
		h.New = diff.SplitLines(string(d.file()))
		if !e.whole {
			if h.Start < end || n < 0 || n > len(lines) || h.Start > len(lines)-n {
				d.bad = true
				return e
			}
			end = h.Start + n
			h.Old = lines[h.Start:end:end]
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
		e.hunks[i].By = by()
	}
	d.bad = d.bad || len(e.parts()) == 0 || !fs.ValidPath(e.name)
	return e
}

func (d *decoder) sessions() (by []string) {
	by = readList(d, d.text)
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
		u.commits = readList(d, d.commitDone)
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
			last.owners = readList(d, func() hunk.Owned {
				return hunk.Owned{Start: int(d.number()), End: int(d.number()), By: d.sessions()}
			})
		}
	}
	return u
}

func (d *decoder) rejection() rejection {
	j := rejection{id: d.number()}
	if at := d.number(); at != 0 {
		j.at = time.Unix(0, at).UTC()
	}
	j.entries, j.commits, j.left = readList(d, d.entry), readList(d, d.commit), readList(d, d.commit)
	return j
}
