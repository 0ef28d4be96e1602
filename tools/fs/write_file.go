package fs

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed write_file.md
var writeFileDoc string

// WriteFileArgs are the arguments of write_file.
type WriteFileArgs struct {
	Path       string `json:"path" jsonschema:"file, relative to the workspace"`
	Content    string `json:"content" jsonschema:"the whole new text"`
	ExpectHash string `json:"expect_hash,omitempty" jsonschema:"hash in the structured result of read_file; leave it out if you see none: a change since you read it is refused anyway"`
}

// Written is the structured result of write_file.
type Written struct {
	Path    string `json:"path" jsonschema:"file"`
	Hash    string `json:"hash" jsonschema:"SHA-256 of the new text"`
	Created bool   `json:"created" jsonschema:"there was no file"`
	Changed bool   `json:"changed" jsonschema:"false: it had this content already"`
	Lines   int    `json:"lines" jsonschema:"in the file"`
}

func newWriteFile() *tools.Tool {
	return tools.NewEdit(tools.Def{
		Name:        "write_file",
		Example:     `{"path": "src/limit.go", "content": "package src\n\nconst Limit = 20\n"}`,
		Description: writeFileDoc,
		Category:    category,
		Core:        true,
		Output:      Written{},
	}, writeFile)
}

func writeFile(ctx context.Context, c *tools.Call, in WriteFileArgs) (tools.Result, []workspace.Change, error) {
	name, data, err := open(ctx, c, in.Path)
	switch {
	case name == "":
		return tools.Result{}, nil, err
	case err == nil:
		return overwrite(c, name, data, in)
	case tools.AsError(err).Code != tools.NotFound && !vacated(c.Files, name, nil): // an empty directory gives way
		return tools.Result{}, nil, err
	}
	if err := errors.Join(namesFile(in.Path), unchangedSince(name, in.ExpectHash, nil), creatable(c, name), writable("content", in.Content, workspace.Text{})); err != nil {
		return tools.Result{}, nil, first(err)
	}
	after := []byte(in.Content)
	lines := diff.CountLines(in.Content)
	return tools.Result{
		Text:       fmt.Sprintf("created %s (%s)", name, tools.Count(lines, "line")),
		Structured: Written{name, hash(after), true, true, lines},
	}, []workspace.Change{{Path: name, After: after}}, nil
}

// overwrite keeps the encoding, the byte order mark and, when the content does
// not say otherwise, the line ends of the file that is there.
func overwrite(c *tools.Call, name string, data []byte, in WriteFileArgs) (tools.Result, []workspace.Change, error) {
	text, err := decode(name, data)
	if err != nil {
		return tools.Result{}, nil, tools.Errorf(tools.BinaryFile, "%s is a binary file and is not overwritten with text; delete it first if that is meant", name)
	}
	if err := errors.Join(unchangedSince(name, in.ExpectHash, data), writable("content", in.Content, text)); err != nil {
		return tools.Result{}, nil, first(err)
	}
	content, note := in.Content, ""
	if text.EOL == workspace.CRLF && strings.Contains(content, "\n") && !strings.Contains(content, "\r") {
		content, note = strings.ReplaceAll(content, "\n", "\r\n"), "; line ends kept as CRLF"
	}
	after, err := encode(name, text, content)
	if err != nil {
		return tools.Result{}, nil, err
	}
	if in.ExpectHash == "" && string(after) != string(data) {
		if err := asRead(c, name, data); err != nil {
			return tools.Result{}, nil, err
		}
	}
	c.AtEnd(func() { wrote(c, name, after) })
	out := Written{name, hash(after), false, string(after) != string(data), diff.CountLines(content)}
	if !out.Changed {
		return tools.Result{Text: name + " already has this content; nothing changed", Structured: out}, nil, nil
	}
	added, removed := 0, 0
	for _, h := range diff.Hunks(text.Body, content) {
		added, removed = added+h.NewLines, removed+h.OldLines
	}
	return tools.Result{
		Text:       fmt.Sprintf("wrote %s (%s, +%d -%d%s)", name, tools.Count(out.Lines, "line"), added, removed, note),
		Structured: out,
	}, []workspace.Change{{Path: name, Before: data, After: after}}, nil
}

// wrote notes that the caller knows the file, if it has the text now that was to be written.
func wrote(c *tools.Call, name string, after []byte) {
	if now, err := c.Files.ReadFile(name); err == nil && string(now) == string(after) {
		saw(c, name, now, true)
	}
}

// writable judges what is to be put into a file with the text t.
func writable(field, added string, t workspace.Text) error {
	if strings.IndexByte(added, 0) >= 0 {
		return tools.Errorf(tools.InvalidArguments, "%s holds a NUL character, which would make the file binary; leave it out", field)
	}
	if t.Encoding == workspace.Bytes && strings.ContainsFunc(added, func(r rune) bool { return r >= 0x80 }) {
		return tools.Errorf(tools.InvalidArguments, "%s: the file is not in UTF-8 and its encoding is not known, so only ASCII can be added; leave the other characters out", field)
	}
	return unredacted(field, added, t.Body)
}

// encode gives body the encoding of the file that it comes from. The result is
// never nil.
func encode(name string, text workspace.Text, body string) ([]byte, error) {
	data, err := text.Encode(body)
	if err != nil {
		return nil, tools.Errorf(tools.InvalidArguments, "%s: %v; use characters that the encoding of the file (%v) has", name, err, text.Encoding)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// first returns the first error of a join.
func first(err error) error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()[0]
	}
	return err
}
