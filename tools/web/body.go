package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// readBody reads at most maxBody bytes, whatever the headers promise, as they
// are after decompression.
func readBody(resp *http.Response) ([]byte, error) {
	r := io.Reader(resp.Body)
	switch coding := strings.ToLower(strings.TrimSpace(strings.Join(resp.Header.Values("Content-Encoding"), ","))); coding {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, tools.Errorf(tools.CommandFailed, "the answer says that it is gzip and is not; try another source")
		}
		r = z
	default:
		return nil, tools.Errorf(tools.CommandFailed, "the answer is encoded as %.60q, which was not asked for; try another source", coding)
	}
	var b bytes.Buffer // grows with what arrives, not with what is announced
	n, err := b.ReadFrom(io.LimitReader(r, maxBody+1))
	switch {
	case n > maxBody:
		return nil, tools.Errorf(tools.TooLarge, "the answer is larger than %d MB; look for a smaller page", maxBody>>20)
	case err != nil:
		return nil, err
	}
	return b.Bytes(), nil
}

// text is the answer as UTF-8. It fails with tools.BinaryFile for what is no
// text.
func (a *answer) text() (string, error) {
	refuse := func() (string, error) {
		kind := a.kind
		if kind == "" {
			kind = http.DetectContentType(a.body)
		}
		return "", tools.Errorf(tools.BinaryFile, "%s is %.60s, not text; look for the same as a page", a.from.url.Redacted(), kind)
	}
	if !textual(a.kind) && !strings.HasPrefix(http.DetectContentType(a.body), "text/") {
		return refuse()
	}
	if a.kind != "" && a.kind != "application/octet-stream" && !textual(a.kind) {
		return refuse()
	}
	body := a.body
	if enc, name, certain := charset.DetermineEncoding(body, a.raw); name != "utf-8" && (certain || !utf8.Valid(body)) {
		decoded, err := enc.NewDecoder().Bytes(body)
		if err != nil {
			return refuse()
		}
		body = decoded
	}
	if bytes.IndexByte(body, 0) >= 0 {
		return refuse()
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(body), "\ufeff"), "\ufffd"), nil
}

// textual reports whether a media type is one of texts.
func textual(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml") {
		return true
	}
	switch strings.TrimPrefix(kind, "application/") {
	case "json", "xml", "javascript", "x-javascript", "ecmascript", "yaml", "x-yaml", "toml", "x-sh", "sql", "graphql", "x-ndjson", "ld+json":
		return true
	}
	return false
}

func (a *answer) isHTML() bool { return a.kind == "text/html" || a.kind == "application/xhtml+xml" }
