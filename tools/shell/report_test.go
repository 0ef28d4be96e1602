package shell

import (
	"strings"
	"testing"
	"time"
)

// A command's result is its output and little else; how it was confined is said where that
// is not as usual.
func TestReportIsShort(t *testing.T) {
	const most = 60 - len("<untrusted_output>\n\n</untrusted_output>")
	for words, said := range map[string]bool{
		"sandbox: bubblewrap, Landlock, seccomp; no network":                false,
		"sandbox: Seatbelt; no network":                                     false,
		"sandbox: none; the command ran with all rights of the user":        true,
		"sandbox: Landlock, seccomp; no network":                            true,
		"sandbox: bubblewrap, Landlock, seccomp; network allowed":           true,
		"sandbox: bubblewrap, Landlock, seccomp; no network; sees the disk": true,
	} {
		text := report("hi\n", "", outcome{words: words, took: 100 * time.Millisecond})
		if strings.Contains(text, words) != said || !strings.HasPrefix(text, "hi\n[exit code 0, 0.1 s") {
			t.Errorf("%s: %q", words, text)
		}
		if n := len(strings.TrimSuffix(text, "\n")) - len("hi\n"); !said && n > most {
			t.Errorf("%q has %d bytes beside the output, want at most %d", text, n, most)
		}
	}
}
