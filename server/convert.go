package server

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/diff"
	"github.com/sidecar-ls/sidecar-ls/internal/lsp"
)

// filePath returns the operating system's path that a file URI names, cleaned.
// A URI of another scheme, of another host or that can't be read is not ours.
func filePath(uri string) (string, bool) {
	rest, ok := cutPrefixFold(uri, "file:")
	if !ok || strings.ContainsAny(rest, "?#\x00") {
		return "", false
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, p, _ := strings.Cut(after, "/")
		if host != "" && !strings.EqualFold(host, "localhost") {
			return "", false
		}
		rest = "/" + p
	}
	p, err := url.PathUnescape(rest)
	if err != nil || !strings.HasPrefix(p, "/") || strings.ContainsRune(p, 0) {
		return "", false
	}
	if hasDrive(p[1:]) {
		p = strings.ToUpper(p[1:2]) + p[2:]
	}
	return filepath.FromSlash(path.Clean(p)), true
}

// hasDrive reports whether p begins with a drive letter, as in c:/x.
func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z') && (len(p) == 2 || p[2] == '/')
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// fileURI is the file URI of an absolute path of the operating system.
func fileURI(abs string) string {
	p := filepath.ToSlash(abs)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // c:/x
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// documentKey is what two spellings of one URI have in common.
func documentKey(uri string) string {
	if p, ok := filePath(uri); ok {
		return "file://" + p
	}
	return uri
}

// position makes a wire position.
func position(line, character int) lsp.Position {
	return lsp.Position{Line: uint32(line), Character: uint32(character)}
}

// textEdits turns old into new with one edit for each run of changed lines, so
// that what is not changed keeps its marks, folds and cursors.
func textEdits(old, new string, enc lsp.Encoding) []lsp.TextEdit {
	lines := diff.SplitLines(old)
	var edits []lsp.TextEdit
	for _, h := range diff.Lines(lines, diff.SplitLines(new)) {
		edits = append(edits, lsp.TextEdit{
			Range:   lsp.Range{Start: lineStart(lines, h.OldStart, enc), End: lineStart(lines, h.OldStart+h.OldLines, enc)},
			NewText: strings.Join(h.New, ""),
		})
	}
	return edits
}

// lineRange is the range of n lines of doc from start, counted from zero. It
// ends where the next line begins, or where the text ends.
func lineRange(doc *lsp.Document, start, n int, enc lsp.Encoding) lsp.Range {
	at := func(line int) lsp.Position {
		if line < doc.Lines() {
			return position(line, 0)
		}
		return doc.Position(len(doc.Text()), enc)
	}
	start = max(start, 0)
	return lsp.Range{Start: at(start), End: at(start + max(n, 0))}
}

// lineStart is the position of line i. A last line without a line end has no
// line after it: its end is the end of the text.
func lineStart(lines []string, i int, enc lsp.Encoding) lsp.Position {
	if i == 0 || i < len(lines) {
		return position(i, 0)
	}
	last := lines[len(lines)-1]
	if c := last[len(last)-1]; c == '\n' || c == '\r' {
		return position(len(lines), 0)
	}
	p := lsp.PositionAt(last, len(last), enc)
	return position(len(lines)-1, int(p.Character))
}
