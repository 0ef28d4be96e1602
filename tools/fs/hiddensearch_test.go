package fs

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// A search text with the mark of a hidden secret can't be found, and the error says why: to
// copy it again would lead to the same. A file that has the mark itself is edited.
func TestSearchForHidden(t *testing.T) {
	c := project(t, map[string]string{"tok.txt": "key=abc\nother\n", "doc.txt": "key=[REDACTED:known]\n"})
	for _, edit := range []string{
		`{"path":"tok.txt","search":"key=[REDACTED:known]","replace":"key=x"}`,
		`{"path":"tok.txt","edits":[{"search":"key=[REDACTED:known]\\nother","replace":"x"}]}`,
	} {
		_, _, err := run(t, c, "edit_file", edit)
		e := tools.AsError(err)
		if err == nil || e.Code != tools.NoMatch || !strings.Contains(e.Message, "[REDACTED:known] stands for a secret that was hidden from you") || strings.Contains(e.Message, "copy the text") {
			t.Errorf("%s: %v", edit, err)
		}
	}
	if _, changes, err := run(t, c, "edit_file", `{"path":"doc.txt","search":"key=[REDACTED:known]","replace":"key=none"}`); err != nil || len(changes) != 1 {
		t.Errorf("%v, %v", changes, err)
	}
	if _, _, err := run(t, c, "edit_file", `{"path":"tok.txt","search":"nowhere","replace":"x"}`); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("control: %v", err)
	}
}
