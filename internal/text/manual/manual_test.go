package manual

import (
	"os/exec"
	"strings"
	"testing"
)

const page = "# A page\n\nFor **you**, with [a link](b.md#c), [one more](https://h.test/x) and `code * |`.\nThe same paragraph.\n\n![a picture](x.png)\n\n<!-- not\nshown -->\n\n## Part: two\n\n- first\n  goes on\n- second\n\n1. one\n\n```sh\n.run \\it\n\n'twice\n```\n\n| a | b |\n|---|---|\n| `x` | y \\| z |\n\n" +
	"| name | does | when |\n|---|---|---|\n| `:Long` | a long sentence that takes more room than a column of a terminal has for it | – |\n"

func TestPlain(t *testing.T) {
	got := Plain(page, func(target string) string {
		if target == "b.md#c" {
			return "b#c"
		}
		return ""
	})
	want := `A PAGE

For you, with a link (help b#c), one more <https://h.test/x> and ` + "`code * |`" + `. The
same paragraph.

Part: two
─────────

  • first goes on
  • second
  1. one

    .run \it

    'twice

  a    b
  ───  ─────
  ` + "`x`" + `  y | z

  ` + "`:Long`" + `
      does: a long sentence that takes more room than a column of a terminal has
      for it
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMan: what begins a line is no request of roff's, and man reads the page if it is here.
func TestMan(t *testing.T) {
	got := Man(page, "a-page", "one line", 7)
	for _, want := range []string{".TH A-PAGE 7 ", "a-page \\- one line", ".SH \"PART: TWO\"", "\\&.run \\eit", "\\&'twice", "For \\fByou\\fR, with a link", "\\fBcode * |\\fR", ".IP \"\\(bu\" 4"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if groff, err := exec.LookPath("groff"); err == nil {
		cmd := exec.CommandContext(t.Context(), groff, "-man", "-Tutf8", "-ww", "-K", "utf8", "-P-c", "-P-b", "-P-u")
		cmd.Stdin = strings.NewReader(got)
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "warning") || !strings.Contains(string(out), "first goes on") {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func TestVimdoc(t *testing.T) {
	help, tags := Vimdoc("a.txt", "what it is", []Chapter{{"a", page}, {"a", "# Twice\n"}})
	for _, want := range []string{"*a.txt*  what it is\n", "A page", "*a*\n", "*a-part-two*\n", "*:Long*\n  `:Long`\n", "\n vim:tw=78"} {
		if !strings.Contains(help, want) {
			t.Errorf("%q is missing in\n%s", want, help)
		}
	}
	if want := ":Long\ta.txt\t/*:Long*\na\ta.txt\t/*a*\na-part-two\ta.txt\t/*a-part-two*\na.txt\ta.txt\t/*a.txt*\n"; tags != want {
		t.Errorf("tags are\n%s", tags)
	}
}

func TestSlug(t *testing.T) {
	for heading, want := range map[string]string{"The hook road": "the-hook-road", "`sidecar.mode`": "sidecarmode", "Why [x](y)?": "why-x", "A_b – c": "a_b--c"} {
		if got := Slug(heading); got != want {
			t.Errorf("%s: %s", heading, got)
		}
	}
}
