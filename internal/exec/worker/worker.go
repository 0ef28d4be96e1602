// Package worker runs this program again, as processes that do what may go wrong:
//
//	server ── outline-worker   parses sources, one after the other (a pool of them)
//	       └─ pdf-worker       reads one document
//
// Grammars are C code and PDFs are hostile: what one of them brings to hang, to
// crash or to take all memory is a process with limits, and not the server.
package worker

import (
	"io"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
)

// maxMemory bounds a worker, in bytes.
const maxMemory = 2 << 30

// limits are those of a worker from outside; Linux has it limit itself.
var limits = proctree.Limits{Memory: maxMemory}

// Run does the work of a worker, if name is the sub-command of one: requests on
// in, replies on out.
func Run(name string, in io.Reader, out io.Writer) (is bool, err error) {
	switch name {
	case parserCommand:
		return true, parse(in, out)
	case pdfCommand:
		return true, readPDFs(in, out)
	}
	return false, nil
}
