package confine

import (
	"bytes"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// A path is found in the code pages, too, in which many programs write.
func TestRenamingCodePages(t *testing.T) {
	const from, to = `C:\Jörg\upper`, `C:\Müller\work`
	all := encodings(from)
	if len(all) < 2 {
		needs.Skip(t, needs.Windows, "the code pages here are UTF-8") // as users may choose
	}
	for _, old := range append(all, []byte(`C:/Jörg/upper`)) {
		var out bytes.Buffer
		r := shell.Run{Stdout: &out}
		finish := rename(&r, from, to)
		if _, err := r.Stdout.Write(append(bytes.Clone(old), `\a.txt`...)); err != nil {
			t.Fatal(err)
		}
		finish()
		if got := out.String(); got != to+`\a.txt` && got != `C:/Müller/work\a.txt` {
			t.Errorf("%q became %q", old, got)
		}
	}
	if got := encodings(`C:\plain`); len(got) != 1 {
		t.Errorf("control: %q", got)
	}
}
