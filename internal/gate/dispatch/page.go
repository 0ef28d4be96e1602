package dispatch

import (
	"container/list"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Bounds of what is kept for cursors.
const (
	maxSnapshots     = 64
	maxSnapshotBytes = 64 << 20
	snapshotLife     = 30 * time.Minute
)

// headShare is how much of a cut result is its beginning; the rest is its end.
const headShare = 0.6

// markerRoom is more than the lines with a cursor need.
const markerRoom = 240

// pages keeps the whole text of results that were cut. A cursor is a
// snapshot's name and an offset, so that pages never overlap or skip.
type pages struct {
	mu    sync.Mutex
	now   func() time.Time
	byID  map[string]*list.Element
	order *list.List // of *snapshot, oldest first
	bytes int
}

type snapshot struct {
	id   string
	of   *session.Session // whose budget pays for its pages; nil: nobody's
	text string
	made time.Time
}

func newPages(now func() time.Time) *pages {
	return &pages{now: now, byID: map[string]*list.Element{}, order: list.New()}
}

// store stores text and returns the cursor for what follows offset.
func (p *pages) store(of *session.Session, text string, offset int) string {
	var b [9]byte
	rand.Read(b[:])
	s := &snapshot{id: hex.EncodeToString(b[:]), of: of, text: text, made: p.now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.order.Back(); last != nil && last.Value.(*snapshot).text == text {
		s.text = last.Value.(*snapshot).text // the same once more is in memory once
	}
	p.byID[s.id] = p.order.PushBack(s)
	p.bytes += len(text)
	for p.order.Len() > 1 && (p.order.Len() > maxSnapshots || p.bytes > maxSnapshotBytes) {
		p.drop(p.order.Front())
	}
	return cursor(s.id, offset)
}

func (p *pages) drop(e *list.Element) {
	s := e.Value.(*snapshot)
	p.order.Remove(e)
	delete(p.byID, s.id)
	p.bytes -= len(s.text)
}

func cursor(id string, offset int) string { return fmt.Sprintf("%s.%d", id, offset) }

// at returns the snapshot that cur points into, and where.
func (p *pages) at(cur string) (*snapshot, int, error) {
	id, off, ok := strings.Cut(cur, ".")
	offset, err := strconv.Atoi(off)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.byID[id]
	if e != nil && p.now().Sub(e.Value.(*snapshot).made) > snapshotLife {
		p.drop(e)
		e = nil
	}
	if !ok || err != nil || e == nil {
		return nil, 0, tools.Errorf(tools.ExpiredCursor, "the cursor is unknown or has expired; call the tool again")
	}
	return e.Value.(*snapshot), offset, nil
}

// page returns at most limit bytes that follow cur.
func (p *pages) page(cur string, limit int) (Page, error) {
	s, offset, err := p.at(cur)
	if err != nil {
		return Page{}, err
	}
	id, text := s.id, s.text
	if offset < 0 || offset > len(text) || (offset < len(text) && !utf8.RuneStart(text[offset])) {
		return Page{}, tools.Errorf(tools.ExpiredCursor, "the cursor points outside its result; call the tool again")
	}
	end := headEnd(text[offset:], limit) + offset
	pg := Page{Success: true, Content: text[offset:end], TotalBytes: len(text), HasMore: end < len(text), Truncated: end < len(text), LeftBytes: len(text) - end}
	if pg.HasMore {
		pg.NextCursor = cursor(id, end)
	}
	return pg, nil
}

// markerSpace is how much of limit bytes is left free for the lines with a
// cursor.
func markerSpace(limit int) int { return min(markerRoom, limit/2) }

// cut shortens text to at most limit bytes: its beginning, a marker, its end,
// and the cursor once more, because some agents' programs cut the middle out of
// what they get. The pages that follow are paid for by the budget of session of.
func (p *pages) cut(of *session.Session, text string, limit int) (string, *Truncated) {
	if len(text) <= limit {
		return text, nil
	}
	room := limit - markerSpace(limit)
	head := headEnd(text, int(float64(room)*headShare))
	tail := tailStart(text, max(room-head, 0))
	tail = max(tail, head)
	cur := p.store(of, text, head)
	shown := head + len(text) - tail
	if markerSpace(limit) < markerRoom { // no agent's program cuts so little
		marker := fmt.Sprintf("\n[… read_result with cursor %q reads on …]\n", cur)
		return text[:head] + marker + text[tail:], &Truncated{ShownBytes: shown, TotalBytes: len(text), Cursor: cur}
	}
	marker := fmt.Sprintf("\n[… %d of %d bytes left out; read_result with cursor %q continues here …]\n", len(text)-shown, len(text), cur)
	again := fmt.Sprintf("\n[cut in the middle; read_result with cursor %q reads on there]", cur)
	return text[:head] + marker + text[tail:] + again, &Truncated{ShownBytes: shown, TotalBytes: len(text), Cursor: cur}
}

// headEnd is the end of the longest beginning of text that has at most n bytes
// and ends with a line, or with a rune where a line is longer than half of n.
func headEnd(text string, n int) int {
	if len(text) <= n {
		return len(text)
	}
	n = max(n, utf8.UTFMax)
	if i := strings.LastIndexByte(text[:n], '\n'); i+1 > n/2 {
		return i + 1
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// tailStart is the counterpart of headEnd for the end of text.
func tailStart(text string, n int) int {
	start := len(text) - n
	if start <= 0 {
		return 0
	}
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 && i+1 < n/2 {
		return start + i + 1
	}
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	return start
}
