package ide_test

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// TestClaudesModeIsSaid: the first time that Claude Code finds the editor, the person is told
// in which permission mode its edits are reviewed; Gemini CLI's connection says nothing.
func TestClaudesModeIsSaid(t *testing.T) {
	d := deskIn(t, "review", map[string]string{"a.txt": "one\n"})
	count := func(rec *fakeeditor.Record) (n int) {
		for _, m := range rec.Notifications {
			if m.Method == "window/showMessage" && strings.Contains(string(m.Params), "permission mode default") {
				n++
			}
		}
		return n
	}
	said := func() int {
		rec := d.Record()
		return count(&rec)
	}
	d.gemini().call("closeDiff", e2e.Object{"filePath": "a.txt"})
	if n := said(); n != 0 {
		t.Errorf("the control: it is said %d times", n)
	}
	for range 2 {
		c := d.claude()
		c.says(c.start("closeAllDiffTabs", e2e.Object{}), "CLOSED_0_DIFF_TABS")
	}
	err := d.Await(t.Context(), "what is said of the mode", func(rec *fakeeditor.Record) bool { return count(rec) > 0 })
	if n := said(); err != nil || n != 1 {
		t.Errorf("it is said %d times, %v", n, err)
	}
}
