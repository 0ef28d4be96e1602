package dispatch

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

func TestPagesGiveBackTheWholeText(t *testing.T) {
	for name, text := range map[string]string{
		"lines":         strings.Repeat("a line of text\n", 500),
		"one long line": strings.Repeat("é€😀", 2000),
		"no newline":    strings.Repeat("x", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPages(time.Now)
			shown, cut := p.cut(nil, text, 1000)
			if cut == nil || cut.TotalBytes != len(text) {
				t.Fatalf("cut = %+v, want a cut of %d bytes", cut, len(text))
			}
			if len(shown) > 1000 || !utf8.ValidString(shown) {
				t.Fatalf("shown has %d bytes, valid %v", len(shown), utf8.ValidString(shown))
			}
			if end := shown[len(shown)-100:]; !strings.Contains(end, cut.Cursor) || strings.Count(shown, cut.Cursor) != 2 {
				t.Fatalf("the cursor is not at the end too: %q", end)
			}
			head, _, _ := strings.Cut(shown, "\n[…")
			got, cur := head, cut.Cursor
			for n := 0; cur != ""; n++ {
				pg, err := p.page(cur, 700)
				if err != nil || n > 200 {
					t.Fatalf("page %d: %v", n, err)
				}
				if !utf8.ValidString(pg.Content) {
					t.Fatalf("page %d splits a rune", n)
				}
				got, cur = got+pg.Content, pg.NextCursor
			}
			if strings.TrimSpace(got) != strings.TrimSpace(text) && len(got) != len(text) {
				t.Fatalf("pages give %d bytes, want %d", len(got), len(text))
			}
		})
	}
}

func TestShortTextIsNotCut(t *testing.T) {
	p := newPages(time.Now)
	if got, cut := p.cut(nil, "short", 1000); got != "short" || cut != nil {
		t.Fatalf("got %q, %v", got, cut)
	}
}

func TestCursorsExpire(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPages(func() time.Time { return now })
	_, cut := p.cut(nil, strings.Repeat("y\n", 4000), 1000)
	if _, err := p.page(cut.Cursor, 100); err != nil {
		t.Fatalf("fresh cursor: %v", err)
	}
	for name, cur := range map[string]string{
		"garbage":       "nonsense",
		"empty":         "",
		"other offset":  cut.Cursor + "9999999",
		"negative":      cut.Cursor[:strings.Index(cut.Cursor, ".")] + ".-5",
		"other handle":  "x" + cut.Cursor,
		"no offset":     cut.Cursor[:strings.Index(cut.Cursor, ".")],
		"empty offset":  cut.Cursor[:strings.Index(cut.Cursor, ".")+1],
		"float offset":  cut.Cursor + ".5",
		"spaced offset": cut.Cursor + " ",
	} {
		if _, err := p.page(cur, 100); err == nil || tools.AsError(err).Code != tools.ExpiredCursor {
			t.Errorf("%s: error %v, want expired_cursor", name, err)
		}
	}
	now = now.Add(snapshotLife + time.Second)
	if _, err := p.page(cut.Cursor, 100); err == nil || tools.AsError(err).Code != tools.ExpiredCursor {
		t.Errorf("old cursor: error %v, want expired_cursor", err)
	}
}

func TestSnapshotsAreBounded(t *testing.T) {
	p := newPages(time.Now)
	var first string
	for i := range maxSnapshots + 5 {
		_, cut := p.cut(nil, strings.Repeat("z\n", 1000), 500)
		if i == 0 {
			first = cut.Cursor
		}
	}
	if p.order.Len() != maxSnapshots || len(p.byID) != maxSnapshots {
		t.Fatalf("%d snapshots kept, want %d", p.order.Len(), maxSnapshots)
	}
	if _, err := p.page(first, 100); err == nil {
		t.Fatal("the oldest snapshot is still there")
	}
}

// The same long text again costs no more memory, and has its own cursor.
func TestSameTextIsKeptOnce(t *testing.T) {
	p := newPages(time.Now)
	line := strings.Repeat("z\n", 1000)
	_, first := p.cut(nil, line+"", 500)
	_, second := p.cut(nil, strings.Clone(line), 500)
	_, other := p.cut(nil, strings.Repeat("y\n", 1000), 500)
	text := func(c *Truncated) string {
		id, _, _ := strings.Cut(c.Cursor, ".")
		return p.byID[id].Value.(*snapshot).text
	}
	if first.Cursor == second.Cursor || unsafe.StringData(text(first)) != unsafe.StringData(text(second)) {
		t.Errorf("%q and %q: not kept once", first.Cursor, second.Cursor)
	}
	if text(other) == text(first) {
		t.Error("another text is not kept")
	}
}
