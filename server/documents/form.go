package documents

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

const bom = "\uFEFF"

// Form is how a document's text is written on disk. An editor takes a file
// apart into text and properties of its own (byte order mark, encoding, line
// ends); what it sends is only the text. The core works on bytes as they are
// on disk, so a buffer is shown to it in its file's form. The zero form is
// that of a file that is what the text says.
type Form struct {
	text workspace.Text
	bom  bool // the file begins with a byte order mark
	crlf bool // every line of the file ends with \r\n
	set  bool
}

// FormOf returns the form of a file's bytes; what is not text has the zero form.
func FormOf(data []byte) Form {
	t, err := workspace.DecodeText(data)
	if err != nil {
		return Form{}
	}
	mark, err := t.Encode("")
	if err != nil {
		return Form{}
	}
	n := strings.Count(t.Body, "\n")
	return Form{
		text: t, bom: len(mark) > 0, set: true,
		crlf: n > 0 && strings.Count(t.Body, "\r\n") == n && strings.Count(t.Body, "\r") == n,
	}
}

// Unknown reports whether the file is in an encoding that nobody knows.
func (f Form) Unknown() bool { return f.set && f.text.Encoding == workspace.Bytes }

// converted reports whether the editor keeps buffer with other line ends than
// the file has.
func (f Form) converted(buffer string) bool { return f.crlf && !strings.Contains(buffer, "\r") }

// Bytes is buffer as it would be saved.
func (f Form) Bytes(buffer string) []byte {
	if !f.set {
		return []byte(buffer)
	}
	body := buffer
	if f.converted(buffer) {
		body = strings.ReplaceAll(body, "\n", "\r\n")
	}
	if f.bom {
		body = strings.TrimPrefix(body, bom)
	}
	data, err := f.text.Encode(body)
	if err != nil {
		return []byte(buffer) // not in the file's encoding: the editor will have to choose another
	}
	return data
}

// buffer is what the editor's buffer, which holds old, has to become for its
// file to hold data.
func (f Form) buffer(old string, data []byte) (string, error) {
	t, err := workspace.DecodeText(data)
	if err != nil {
		return "", err
	}
	body := t.Body
	if f.converted(old) {
		body = strings.ReplaceAll(body, "\r\n", "\n")
	}
	if strings.HasPrefix(old, bom) && f.bom {
		body = bom + body
	}
	return body, nil
}

// sameText reports whether two buffers differ in nothing but line ends, which
// editors make uniform and add to a last line on their own.
func sameText(a, b string) bool {
	if a == b {
		return true
	}
	plain := func(s string) string {
		return strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	}
	return plain(a) == plain(b)
}
