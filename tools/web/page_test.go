package web

import (
	"strings"
	"testing"
)

const sample = `<!doctype html><html><head><title> A  page </title><style>p{color:red}</style></head><body>
<nav><a href="/">Home</a></nav>
<main><h1>Heading</h1><p>Some <b>bold</b> text with a <a href="../x?q=1">link</a>.</p>
<pre><code class="language-go">func main() {}
</code></pre>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<script>alert("script")</script><p style="display: none">unseen</p><div hidden>unseen</div><!-- unseen -->
<ul><li>one</li><li>two</li></ul></main><footer>Imprint</footer></body></html>`

func TestPages(t *testing.T) {
	p, err := parsePage(sample)
	if err != nil {
		t.Fatal(err)
	}
	md, err := p.markdown("https://example.com/a/b")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Heading", "**bold**", "(https://example.com/x?q=1)", "```go\nfunc main() {}", "| 1 | 2 |", "- one"} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in\n%s", want, md)
		}
	}
	text := p.text()
	for _, want := range []string{"Heading", "Some bold text with a link.", "one"} {
		if !strings.Contains("\n"+text+"\n", "\n"+want+"\n") {
			t.Errorf("no line %q in\n%s", want, text)
		}
	}
	for _, out := range []string{md, text} {
		for _, no := range []string{"alert", "unseen", "Home", "Imprint", "color"} {
			if strings.Contains(out, no) {
				t.Errorf("%q in\n%s", no, out)
			}
		}
	}
	if p.title != "A page" {
		t.Errorf("title %q", p.title)
	}
}

// The part that is meant for reading stands for a page only if it has most of
// it.
func TestSmallMain(t *testing.T) {
	p, err := parsePage("<body><main>x</main><p>" + strings.Repeat("words ", 50) + "</body>")
	if err != nil || !strings.Contains(p.text(), "words") {
		t.Errorf("%q, %v", p.text(), err)
	}
}

// Pages that are built to be hard come out, or are refused.
func TestHostilePages(t *testing.T) {
	n := 30_000
	for name, text := range map[string]string{
		"nested":     strings.Repeat("<div>", n) + "deep",
		"formatting": strings.Repeat("<b><i><p>", n/3) + "deep",
		"lists":      strings.Repeat("<ul><li>", n/2) + "deep",
		"quotes":     strings.Repeat("<blockquote>", n) + "deep",
		"tables":     strings.Repeat("<table><tr><td>", n/3) + "deep",
		"attributes": "<p " + strings.Repeat("a=b ", n) + ">text",
		"entities":   strings.Repeat("&amp;", n*4),
		"unclosed":   "<!--" + strings.Repeat("x", n),
		"cells":      "<table><tr>" + strings.Repeat("<td>x", n/10) + "</table>",
		"spans":      `<table><tr><td colspan="99999999" rowspan="99999999">x</td></tr></table>`,
		"many spans": "<table>" + strings.Repeat("<tr>"+strings.Repeat(`<td colspan="50" rowspan="50">x`, 20), 20) + "</table>",
		"starts":     strings.Repeat("<", 100_000),
		"markup":     strings.Repeat("*_`[", n),
		"long":       "<p>" + strings.Repeat("word ", 600_000),
	} {
		p, err := parsePage(text)
		if err != nil {
			t.Logf("%s: refused: %v", name, err)
			continue
		}
		if _, err := p.markdown("https://example.com/"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_ = p.text()
		if p.cut != (len(text) > maxHTML) {
			t.Errorf("%s: cut %v", name, p.cut)
		}
	}
	if _, err := parsePage(strings.Repeat("<b>", maxNodes+1)); err == nil {
		t.Error("too many elements are parsed")
	}
}
