// Package framecorpus runs a corpus of hostile frames and messages against a
// language server, any server: it knows only its byte streams.
package framecorpus

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

//go:embed testdata/lsp-frames.json
var builtin []byte

// Case is one hostile input.
type Case struct {
	ID           string            `json:"id"`
	Category     string            `json:"category"`
	Name         string            `json:"name"`
	Phase        string            `json:"phase"` // pre-init or running
	Then         string            `json:"then"`  // eof, stop-reading, …
	Expect       string            `json:"expect"`
	RawText      string            `json:"raw_text"`
	RawBase64    []byte            `json:"raw_b64"`
	RawGzip      string            `json:"raw_gz_b64"`
	Messages     []json.RawMessage `json:"messages"`
	MessagesGzip string            `json:"messages_gz_b64"`
}

// Builtin returns the cases that come with the package.
func Builtin() ([]Case, error) { return Parse(builtin) }

// Parse reads a corpus file.
func Parse(data []byte) ([]Case, error) {
	var file struct {
		Cases []Case `json:"cases"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if len(file.Cases) == 0 {
		return nil, fmt.Errorf("no cases")
	}
	return file.Cases, nil
}

// bytes returns what is sent, with root in place of file:///WS in messages.
func (c *Case) bytes(root string) ([]byte, error) {
	messages := c.Messages
	switch {
	case c.RawText != "":
		return []byte(c.RawText), nil
	case c.RawBase64 != nil:
		return c.RawBase64, nil
	case c.RawGzip != "":
		return gunzip(c.RawGzip)
	case c.MessagesGzip != "":
		data, err := gunzip(c.MessagesGzip)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &messages); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	for _, m := range messages {
		body := strings.ReplaceAll(string(m), "file:///WS", root)
		fmt.Fprintf(&out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	return out.Bytes(), nil
}

func gunzip(text string) ([]byte, error) {
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
