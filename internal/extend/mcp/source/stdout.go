package source

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// stdout is what a server writes to standard output: a message a line. Other
// lines, such as a banner or a log, are skipped and counted.
type stdout struct {
	io.Closer
	lines *bufio.Reader
	most  int // bytes of a line
	clean func(string) (text string, signs []string)
	rest  []byte // of a message that is being read

	mu      sync.Mutex
	first   string // of the lines that are skipped
	skipped int
}

// maxShown bounds what is shown of a line that is skipped, in bytes.
const maxShown = 200

func newStdout(out io.ReadCloser, most int, clean func(string) (text string, signs []string)) *stdout {
	return &stdout{Closer: out, lines: bufio.NewReaderSize(out, 64<<10), most: most, clean: clean}
}

// Read reads what the lines that are messages have.
func (o *stdout) Read(p []byte) (int, error) {
	for len(o.rest) == 0 {
		line, err := o.line()
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
		switch {
		case message(line):
			o.rest = line
		case len(bytes.TrimSpace(line)) > 0:
			o.skip(line)
		}
		if err != nil && len(o.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, o.rest)
	o.rest = o.rest[n:]
	return n, nil
}

// line reads one line, with its end.
func (o *stdout) line() (line []byte, err error) {
	for {
		part, err := o.lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > o.most:
			return nil, fmt.Errorf("it wrote a line of more than %d bytes", o.most)
		case err != bufio.ErrBufferFull: //nolint:errorlint // it is never wrapped
			return line, err
		}
	}
}

// message reports whether a line is one message, or several as a list.
func message(line []byte) bool {
	line = bytes.TrimSpace(line)
	if !bytes.HasPrefix(line, []byte("[")) {
		_, err := jsonrpc.DecodeMessage(line)
		return err == nil
	}
	var list []json.RawMessage
	if json.Unmarshal(line, &list) != nil || len(list) == 0 {
		return false
	}
	for _, one := range list {
		if _, err := jsonrpc.DecodeMessage(one); err != nil {
			return false
		}
	}
	return true
}

func (o *stdout) skip(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.skipped++; o.skipped == 1 {
		o.first = oneLine(strings.ToValidUTF8(string(line[:min(len(line), 4*maxShown)]), "�"), maxShown)
	}
}

// odd says which lines were skipped, or "".
func (o *stdout) odd() string {
	if o == nil {
		return ""
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.skipped == 0 {
		return ""
	}
	first, signs := o.clean(o.first)
	if first = strconv.Quote(first); len(signs) > 0 {
		first = "(held back, because it seems to instruct the model)"
	}
	more := ""
	if o.skipped > 1 {
		more = fmt.Sprintf(", and %d lines more", o.skipped-1)
	}
	return "it wrote a line to standard output that is no message and is skipped: " + first + more + "; what it logs belongs to standard error"
}
