package auditlog

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// Recent reads the newest files, no further back than it is asked, and passes over what is
// damaged, forged or endless.
func TestRecent(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	l := New(dir, Options{MaxBytes: 1000, Now: func() time.Time { return now }})
	for i := range 40 {
		if err := l.Append(Record{Session: "s", Tool: fmt.Sprintf("t%d", i), Outcome: "allow", By: "user"}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Hour)
	}
	all := func(Record) bool { return true }
	list, whole, err := l.Recent(now.Add(-10*time.Hour-time.Minute), all)
	if err != nil || !whole || len(list) != 10 || list[0].Tool != "t30" || list[9].Tool != "t39" {
		t.Errorf("%d, %v, %v", len(list), whole, err)
	}
	if list, _, _ = l.Recent(time.Time{}, func(r Record) bool { return r.Tool == "t3" }); len(list) != 1 {
		t.Errorf("kept: %+v", list)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := files(dir)
	if err != nil || len(names) < 3 {
		t.Fatalf("%v, %v", names, err)
	}
	name := filepath.Join(dir, names[len(names)-1])
	forged := `{"seq":99,"time":"2026-12-02T03:00:00Z","prev":"","session":"s","callId":"","tool":"forged","outcome":"allow","by":"user","ok":true,"durationMs":0}`
	if err := ownfile.WriteFile(name, []byte(forged+"\n"+forged[:40]+"\n"+strings.Repeat("x", 3<<20)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, _, err = Recent(dir, time.Time{}, all)
	if err != nil || len(list) == 0 || len(list) >= 40 {
		t.Errorf("damaged: %d, %v", len(list), err)
	}
	for _, r := range list {
		if r.Tool == "forged" {
			t.Error("a line without its hash counts")
		}
	}
	if list, whole, err := Recent(t.TempDir(), time.Time{}, all); err != nil || !whole || len(list) != 0 {
		t.Errorf("no log: %d, %v, %v", len(list), whole, err)
	}
}
