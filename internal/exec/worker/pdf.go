package worker

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/ledongthuc/pdf"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
	"github.com/sidecar-ls/sidecar-ls/tools/web"
)

const (
	// pdfCommand is the sub-command of the process that reads a PDF. It is not in
	// the help.
	pdfCommand = "pdf-worker"
	// pdfTimeout bounds one call from outside.
	pdfTimeout = 20 * time.Second
	// maxPDFText is how much text of a document is read, in bytes.
	maxPDFText = 4 << 20
)

// pdfRequest and pdfReply are what goes to the process and comes back.
type pdfRequest struct {
	Data  []byte
	Pages []int
}

type pdfReply struct {
	Doc   web.PDF
	Error string
}

// PDF returns a reader of documents. It starts program, this program's path, for
// each; without one it reads here.
func PDF(program string) func(context.Context, []byte, []int) (web.PDF, error) {
	return pdfWithin(program, pdfTimeout)
}

// pdfWithin is PDF; a process that takes longer than limit is killed.
func pdfWithin(program string, limit time.Duration) func(context.Context, []byte, []int) (web.PDF, error) {
	return func(ctx context.Context, data []byte, pages []int) (web.PDF, error) {
		if program == "" {
			return pdfText(data, pages)
		}
		var in bytes.Buffer
		if err := gob.NewEncoder(&in).Encode(pdfRequest{data, pages}); err != nil {
			return web.PDF{}, err
		}
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		cmd := exec.CommandContext(ctx, program, pdfCommand)
		cmd.Env = []string{"GOMAXPROCS=1", "GOMEMLIMIT=512MiB"}
		cmd.SysProcAttr = dieWithParent()
		cmd.WaitDelay = time.Second
		cmd.Stdin = &in
		out, err := cmd.StdoutPipe()
		if err != nil {
			return web.PDF{}, err
		}
		tree, err := proctree.Start(cmd, limits)
		if err != nil {
			return web.PDF{}, err
		}
		var r pdfReply
		err = gob.NewDecoder(io.LimitReader(out, 2*maxPDFText)).Decode(&r)
		if err != nil {
			tree.Kill()
		}
		waited := tree.Wait()
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return web.PDF{}, fmt.Errorf("%w: it takes longer than %v", web.ErrPDF, limit)
		case ctx.Err() != nil:
			return web.PDF{}, ctx.Err()
		case err != nil:
			return web.PDF{}, fmt.Errorf("%w: its reader gave up (%w)", web.ErrPDF, errors.Join(waited, err))
		case r.Error != "":
			return web.PDF{}, fmt.Errorf("%w: %s", web.ErrPDF, r.Error)
		}
		return r.Doc, nil
	}
}

// readPDFs is the work of that process: one request, one reply.
func readPDFs(in io.Reader, out io.Writer) error {
	limitMyself()
	var r pdfRequest
	if err := gob.NewDecoder(io.LimitReader(in, workspace.MaxFileSize+1<<20)).Decode(&r); err != nil {
		return err
	}
	doc, err := pdfText(r.Data, r.Pages)
	reply := pdfReply{Doc: doc}
	if err != nil {
		reply.Error = err.Error()
	}
	return gob.NewEncoder(out).Encode(reply)
}

// pdfText reads the text of pages. What the library makes of a broken document
// is often a panic.
func pdfText(data []byte, pages []int) (doc web.PDF, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = web.PDF{}, fmt.Errorf("it is broken (%v)", r)
		}
	}()
	r, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return web.PDF{}, err
	}
	doc.Total = r.NumPage()
	left := maxPDFText
	for _, n := range pages {
		if n > doc.Total || left <= 0 {
			break
		}
		p := pageText(r, n)
		p.Text = p.Text[:min(len(p.Text), left)]
		left -= len(p.Text)
		doc.Pages = append(doc.Pages, p)
	}
	return doc, nil
}

// pageText is the text of a page; one that is broken leaves the others.
func pageText(r *pdf.Reader, n int) (p web.PDFPage) {
	p.Number = n
	defer func() {
		if r := recover(); r != nil {
			p.Error = fmt.Sprintf("it is broken (%v)", r)
		}
	}()
	page := findPage(r.Trailer().Key("Root").Key("Pages"), n)
	if page.V.IsNull() {
		p.Error = "it is missing"
		return p
	}
	text, err := page.GetPlainText(nil)
	if err != nil {
		p.Error = err.Error()
	}
	p.Text = text
	return p
}

// maxPageDepth bounds a tree of pages. Real ones have a few levels.
const maxPageDepth = 64

// findPage finds a page, counted from 1, in a tree of pages. The library's own search
// never ends where a tree has itself in it.
func findPage(tree pdf.Value, n int) pdf.Page {
	for range maxPageDepth {
		kids, below := tree.Key("Kids"), pdf.Value{}
		for i := 0; i < kids.Len(); i++ {
			kid := kids.Index(i)
			pages := 1
			if kid.Key("Type").Name() == "Pages" {
				pages = int(kid.Key("Count").Int64())
			}
			if n <= pages {
				below = kid
				break
			}
			n -= pages
		}
		switch below.Key("Type").Name() {
		case "Page":
			return pdf.Page{V: below}
		case "Pages":
			tree = below
		default:
			return pdf.Page{}
		}
	}
	return pdf.Page{}
}
