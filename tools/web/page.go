package web

import (
	"slices"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Bounds of what is parsed: a tree takes many times the memory of its text.
const (
	maxHTML  = 2 << 20 // bytes
	maxNodes = 200_000
	maxDepth = 500
)

// page is an HTML page without what is not read: scripts, forms, navigation.
type page struct {
	title string
	body  *html.Node
	cut   bool // only the beginning was parsed
}

func parsePage(text string) (page, error) {
	var p page
	if len(text) > maxHTML {
		text, p.cut = strings.ToValidUTF8(text[:maxHTML], ""), true
	}
	if strings.Count(text, "<") > maxNodes {
		return p, tools.Errorf(tools.TooLarge, "the page has too many elements to make it readable; ask for the format html, or look for a smaller page")
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return p, tools.Errorf(tools.CommandFailed, "the page can't be read as HTML (%v); ask for the format html", err)
	}
	if t := find(root, 0, atom.Title); t != nil {
		p.title = strings.Join(strings.Fields(plainText(t)), " ")
	}
	p.body = root
	for _, a := range []atom.Atom{atom.Main, atom.Article, atom.Body} {
		if n := find(root, 0, a); n != nil && (a == atom.Body || holdsMost(n, root)) {
			p.body = n
			break
		}
	}
	strip(p.body, 0)
	return p, nil
}

// holdsMost reports whether n has enough of a page's text to stand for it.
func holdsMost(n, root *html.Node) bool {
	return len(plainText(n))*4 > len(plainText(root))
}

func find(n *html.Node, depth int, a atom.Atom) *html.Node {
	if n.Type == html.ElementNode && n.DataAtom == a {
		return n
	}
	for c := n.FirstChild; c != nil && depth < maxDepth; c = c.NextSibling {
		if f := find(c, depth+1, a); f != nil {
			return f
		}
	}
	return nil
}

// strip takes out what is not for reading, and what is nested too deep to be
// meant for it.
func strip(n *html.Node, depth int) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if depth >= maxDepth || c.Type == html.CommentNode || c.Type == html.ElementNode && unread(c) {
			n.RemoveChild(c)
		} else {
			c.Attr = slices.DeleteFunc(c.Attr, spans)
			strip(c, depth+1)
		}
		c = next
	}
}

// spans reports whether a makes a cell several columns or rows wide. Tables
// are filled up with that many cells, which a page can ask for without end.
func spans(a html.Attribute) bool { return a.Key == "colspan" || a.Key == "rowspan" }

func unread(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Svg, atom.Canvas, atom.Object, atom.Embed,
		atom.Nav, atom.Footer, atom.Button, atom.Input, atom.Select, atom.Textarea, atom.Dialog, atom.Head, atom.Link, atom.Meta:
		return true
	}
	for _, a := range n.Attr {
		// What people don't see must not be what a model reads.
		if a.Key == "hidden" || a.Key == "aria-hidden" && a.Val == "true" || a.Key == "style" && strings.Contains(strings.ReplaceAll(a.Val, " ", ""), "display:none") {
			return true
		}
	}
	return false
}

// markdown is the page as Markdown, with links in full, as seen from there.
func (p page) markdown(from string) (string, error) {
	// Nothing is escaped: a model reads the text, no program does, and the
	// library's escaping takes quadratic time.
	conv := converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	out, err := conv.ConvertNode(p.body, converter.WithDomain(from))
	if err != nil {
		return "", tools.Errorf(tools.CommandFailed, "the page can't be made Markdown (%v); ask for the format text", err)
	}
	return string(out), nil
}

// text is the page's words, a block a line.
func (p page) text() string {
	var lines []string
	for line := range strings.Lines(plainText(p.body)) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// plainText is the text below n, with a line break around each block.
func plainText(n *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		switch {
		case depth > maxDepth || n.Type == html.ElementNode && (n.DataAtom == atom.Script || n.DataAtom == atom.Style):
			return
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
			return
		}
		block := n.Type == html.ElementNode && !inline(n.DataAtom)
		if block {
			b.WriteByte('\n')
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, depth+1)
		}
		if block {
			b.WriteByte('\n')
		}
	}
	walk(n, 0)
	return b.String()
}

func inline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.B, atom.Cite, atom.Code, atom.Em, atom.Font, atom.I, atom.Img, atom.Kbd, atom.Label, atom.Mark, atom.Q, atom.S, atom.Samp,
		atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}
