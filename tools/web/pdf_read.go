package web

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed pdf_read.md
var pdfReadText string

// maxPages bounds the pages that one call reads.
const maxPages = 50

// PDF is what was read of a document.
type PDF struct {
	Pages []PDFPage
	Total int // pages of the document
}

// PDFPage is the text of a page.
type PDFPage struct {
	Number int    `json:"number" jsonschema:"from one"`
	Text   string `json:"-"`
	Bytes  int    `json:"bytes" jsonschema:"of its text"`
	Error  string `json:"error,omitempty" jsonschema:"why it has no text"`
}

// readPages is the structured result of pdf_read.
type readPages struct {
	Pages []PDFPage `json:"pages" jsonschema:"that were read"`
	Path  string    `json:"path" jsonschema:"file"`
	Total int       `json:"total" jsonschema:"pages of the document"`
}

// ErrPDF comes with the reason why a document can't be read.
var ErrPDF = errors.New("this PDF can't be read")

type pdfReadIn struct {
	Path  string `json:"path" jsonschema:"the PDF file" minLength:"1"`
	Pages string `json:"pages,omitempty" jsonschema:"such as 1-3,7; the first 50 if left out" maxLength:"200"`
}

func (in pdfReadIn) Effects() tools.Effects { return tools.Effects{Paths: []string{in.Path}} }

func newPDFRead(d Deps) *tools.Tool {
	def := tools.Def{Name: "pdf_read", Title: "Read a PDF", Example: `{"path": "docs/paper.pdf", "pages": "1-3"}`, Description: pdfReadText, Category: category, Tags: []string{"document", "paper"}, Untrusted: true, Output: readPages{}}
	return tools.NewRead(def, func(ctx context.Context, c *tools.Call, in pdfReadIn) (tools.Result, error) {
		pages, err := pageNumbers(in.Pages)
		if err != nil {
			return tools.Result{}, tools.Errorf(tools.InvalidArguments, "pages: %v", err)
		}
		name, err := c.Files.Resolve(in.Path)
		if err != nil {
			return tools.Result{}, err
		}
		data, err := c.Files.ReadFile(name)
		if err != nil {
			return tools.Result{}, err
		}
		if !strings.Contains(string(data[:min(len(data), 1024)]), "%PDF-") {
			return tools.Result{}, tools.Errorf(tools.BinaryFile, "%s is no PDF; read_file reads text", name)
		}
		doc, err := d.PDF(ctx, data, pages)
		if errors.Is(err, ErrPDF) {
			return tools.Result{}, tools.Errorf(tools.BinaryFile, "%s: %v", name, err)
		} else if err != nil {
			return tools.Result{}, err
		}
		return doc.result(name, in.Pages == "")
	})
}

func (doc PDF) result(name string, all bool) (tools.Result, error) {
	if len(doc.Pages) == 0 {
		return tools.Result{}, tools.Errorf(tools.NotFound, "pages: %s has %d pages, and none of these", name, doc.Total)
	}
	var b strings.Builder
	for i, p := range doc.Pages {
		doc.Pages[i].Bytes = len(p.Text)
		fmt.Fprintf(&b, "[page %d of %d]\n", p.Number, doc.Total)
		switch {
		case p.Error != "":
			fmt.Fprintf(&b, "(not readable: %s)\n", p.Error)
		case strings.TrimSpace(p.Text) == "":
			b.WriteString("(no text)\n")
		default:
			b.WriteString(strings.TrimSpace(p.Text) + "\n")
		}
	}
	last := doc.Pages[len(doc.Pages)-1].Number
	more := all && last < doc.Total
	if more {
		fmt.Fprintf(&b, "[%d more pages; pages %d-%d reads on]\n", doc.Total-last, last+1, min(doc.Total, last+maxPages))
	}
	return tools.Result{Text: b.String(), Structured: readPages{Path: name, Total: doc.Total, Pages: doc.Pages}, Truncated: more}, nil
}

// pageNumbers reads "1-3,7". For "" it is the first pages.
func pageNumbers(text string) ([]int, error) {
	if strings.TrimSpace(text) == "" {
		text = "1-" + strconv.Itoa(maxPages)
	}
	var pages []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.Atoi(strings.TrimSpace(from))
		last := first
		if err == nil && ranged {
			last, err = strconv.Atoi(strings.TrimSpace(to))
		}
		if err != nil || first < 1 || last < first {
			return nil, fmt.Errorf("%q is not a page or a range, such as 3 or 2-5", strings.TrimSpace(part))
		}
		if last-first >= maxPages || len(pages)+last-first+1 > maxPages {
			return nil, fmt.Errorf("at most %d pages can be read at once", maxPages)
		}
		for n := first; n <= last; n++ {
			pages = append(pages, n)
		}
	}
	return pages, nil
}
