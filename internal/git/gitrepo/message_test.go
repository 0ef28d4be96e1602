package gitrepo

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTrailers compares with git interpret-trailers.
func TestTrailers(t *testing.T) {
	newWorld(t, Options{})
	for _, message := range []string{
		"subject",
		"subject\n\nbody",
		"subject\n\nbody\nmore: not a trailer block because of this line\n",
		"subject\n\nSigned-off-by: A <a@b.test>",
		"subject\n\nbody\n\nSigned-off-by: A <a@b.test>\nReviewed-by: B <b@b.test>\n",
		"subject\n\nX-AI-Model: one\n",
		"subject\n\nx-ai-model : One\nFixes: #3",
		"subject\n\nX-AI-Model: three\n\nnot at the end",
		"subject\n\nFixes: #3\n and a line that goes on\n",
		"subject\n\nplain\nplain\nplain\nSigned-off-by: A <a@b.test>",
		"subject\n\nplain\nplain\nplain\nplain\nSigned-off-by: A <a@b.test>",
		"subject\n\nplain\n(cherry picked from commit 123)\n",
		"Fixes: only a title that looks like a trailer",
		"Fixes: a\nFixes: b",
		"subject\n\n# a comment\nFixes: #3",
		"subject\n\nFixes: #3\n# a comment",
		"subject\n\nhttp://example.test/ is no trailer",
		"subject\n\nKey with space: value",
		"subject\n\n  indented: value",
		"subject\n\nbody\n---\nbelow: the line",
		"subject\n\n\n\nTwo: blank lines",
	} {
		for _, models := range [][]string{{"one"}, {"one", "two/b-3"}, {"one", "one"}} {
			args := []string{"--if-exists", "addIfDifferent"}
			for _, m := range models {
				args = append(args, "--trailer", ModelTrailer+": "+m)
			}
			got := withModels(message, models)
			want := interpretTrailers(t, strings.TrimRight(message, "\n")+"\n", args...)
			// git writes the trailers that are there again, and takes comments out.
			if g, w := interpretTrailers(t, got, "--parse"), interpretTrailers(t, want, "--parse"); g != w {
				t.Errorf("%q with %q\n got %q\nwant %q", message, models, g, w)
			}
			if !strings.ContainsAny(message, "#") && !strings.Contains(message, "http:") && !strings.Contains(message, " :") && got != want {
				t.Errorf("%q with %q\n got %q\nwant %q", message, models, got, want)
			}
		}
	}
	for _, model := range []string{"", "  ", strings.Repeat("x", maxModel+1)} {
		if got := withModels("s", []string{model}); got != "s\n" {
			t.Errorf("model %.20q: %q", model, got)
		}
	}
	if got := withModels("s", []string{"a\nFake: b\x1b[31m"}); got != "s\n\nX-AI-Model: a Fake: b\n" {
		t.Errorf("line break in a model: %q", got)
	}
}

func interpretTrailers(t *testing.T, message string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"interpret-trailers", "--no-divider"}, args...)...)
	cmd.Stdin = strings.NewReader(message)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestCheckMessage(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "\n a\r\n\r\nb \n\n": "a\n\nb", "": "", " \n\t": "", "a\x00b": "", "a\xff": ""} {
		got, err := CheckMessage(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
}
