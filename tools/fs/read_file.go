package fs

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed read_file.md
var readFileDoc string

// ReadFileArgs are the arguments of read_file.
type ReadFileArgs struct {
	Path   string `json:"path" jsonschema:"file, relative to the workspace"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line, counted from 1" minimum:"0"`
	Limit  int    `json:"limit,omitempty" jsonschema:"most lines" minimum:"1"`
	Tail   int    `json:"tail,omitempty" jsonschema:"only the last lines, so many of them" minimum:"1"`
	Mode   string `json:"mode,omitempty" jsonschema:"full text, or the symbols with their lines" enum:"full,outline" default:"full"`
}

// Effects names what is read, for whoever asks why a call would be refused.
func (a ReadFileArgs) Effects() tools.Effects { return tools.Effects{Paths: []string{a.Path}} }

// FileInfo is the structured result of read_file.
type FileInfo struct {
	Path       string `json:"path" jsonschema:"file"`
	Hash       digest `json:"hash" jsonschema:"SHA-256 of the whole file, for expect_hash"`
	Lines      int    `json:"lines" jsonschema:"in the result"`
	TotalLines int    `json:"totalLines" jsonschema:"in the file"`
	Offset     int    `json:"offset" jsonschema:"first line of the result, from one"`
	Encoding   string `json:"encoding" jsonschema:"of the file; bytes: another one" enum:"utf-8,utf-8-bom,utf-16le,utf-16be,bytes"`
	EOL        string `json:"eol" jsonschema:"its line ends" enum:"none,lf,crlf,cr,mixed"`
}

// digest returns the SHA-256 of a file, in hexadecimal.
type digest func() string

// startDigest begins with the digest of data. That of a large file is computed
// beside what else is done with its text, which takes as long.
func startDigest(data []byte) digest {
	const large = 64 << 10
	if len(data) < large {
		sum := hash(data)
		return func() string { return sum }
	}
	d := sync.OnceValue(func() string { return hash(data) })
	go d()
	return d
}

// MarshalText waits for the digest.
func (d digest) MarshalText() ([]byte, error) { return []byte(d()), nil }

func newReadFile(d Deps) *tools.Tool {
	return tools.NewRead(tools.Def{
		Name:        "read_file",
		Example:     `{"path": "main.go", "offset": 1, "limit": 80}`,
		Description: readFileDoc,
		Category:    category,
		Core:        true,
		Tags:        []string{"view", "image", "picture", "open"},
		Names:       []string{"pdf_read"},
		Output:      FileInfo{},
	}, func(ctx context.Context, c *tools.Call, in ReadFileArgs) (tools.Result, error) {
		return readFile(ctx, c, d, in)
	})
}

func readFile(ctx context.Context, c *tools.Call, d Deps, in ReadFileArgs) (tools.Result, error) {
	if in.Tail > 0 && (in.Offset > 0 || in.Limit > 0) {
		return tools.Result{}, tools.Errorf(tools.InvalidArguments, "tail: the last lines are asked for, and offset or limit, too; leave one of them out")
	}
	name, data, err := open(ctx, c, in.Path)
	if err != nil {
		if real, rerr := c.Files.RealName(name); c.Known != nil && name != "" && rerr == nil && tools.AsError(err).Code == tools.NotFound {
			c.Known.Gone(real)
		}
		return tools.Result{}, err
	}
	sum := startDigest(data)
	if kind := kindOf(data); strings.HasSuffix(kind, " image") {
		return readImage(name, data, kind, in, sum)
	}
	text, err := decode(name, data)
	if err != nil {
		return tools.Result{}, err
	}
	f := file{name, data, text}
	total := diff.CountLines(f.text.Body)
	info := FileInfo{
		Path: f.name, Hash: sum, Lines: total, TotalLines: total, Offset: 1,
		Encoding: string(f.text.Encoding), EOL: string(f.text.EOL),
	}
	if in.Mode == "outline" {
		saw(c, name, data, false)
		return outline(d, f, info)
	}
	if f.text.Body == "" {
		saw(c, name, data, true)
		return tools.Result{Text: "(empty file)", Structured: info}, nil
	}
	body := f.text.Body
	if in.Offset > total {
		return tools.Result{}, tools.Errorf(tools.InvalidArguments, "offset %d is past the end: %s has %s", in.Offset, f.name, tools.Count(total, "line"))
	}
	if in.Tail > 0 {
		in.Offset = total - in.Tail + 1
	}
	if in.Offset > 1 || in.Limit > 0 && in.Limit < total {
		info.Offset = max(1, in.Offset)
		body, info.Lines = part(body, info.Offset, in.Limit)
	}
	saw(c, name, data, len(body) == len(f.text.Body))
	return tools.Result{Text: body, Structured: info}, nil
}

// readImage is a picture as a result: those who see none read what it is.
func readImage(name string, data []byte, kind string, in ReadFileArgs, sum digest) (tools.Result, error) {
	if in.Mode == "outline" || in.Offset > 0 || in.Limit > 0 || in.Tail > 0 {
		return tools.Result{}, tools.Errorf(tools.BinaryFile, "%s is %s, which has no lines; read it without mode, offset, limit and tail", name, kind)
	}
	image, err := tools.NewImage(data)
	if err != nil {
		return tools.Result{}, tools.Errorf(tools.BinaryFile, "%s is not text (%d bytes, %s), and can't be shown as an image: %v", name, len(data), kind, err)
	}
	return tools.Result{
		Text:       fmt.Sprintf("%s is %s, %d×%d pixels, %d bytes", name, kind, image.Width, image.Height, len(data)),
		Structured: FileInfo{Path: name, Hash: sum, Offset: 1, Encoding: "bytes", EOL: "none"},
		Images:     []tools.Image{image},
	}, nil
}

// part returns limit lines of body (0: all) from line offset on, and how many
// they are.
func part(body string, offset, limit int) (string, int) {
	lines := diff.SplitLines(body)[offset-1:]
	if limit > 0 {
		lines = lines[:min(limit, len(lines))]
	}
	return strings.Join(lines, ""), len(lines)
}

func outline(d Deps, f file, info FileInfo) (tools.Result, error) {
	if d.Outline == nil {
		return tools.Result{}, tools.Errorf(tools.Unavailable, "outlines are not available here; read the file with mode full, or grep for declarations")
	}
	symbols, err := d.Outline(f.name, []byte(f.text.Body))
	if err != nil {
		return tools.Result{}, tools.Errorf(tools.Unavailable, "no outline of %s: %v; read it with mode full", f.name, err)
	}
	var b strings.Builder
	for _, s := range symbols {
		shown := s.Signature
		if shown == "" {
			shown = strings.TrimSpace(s.Kind + " " + s.Name)
		}
		fmt.Fprintf(&b, "%s%d-%d %s\n", strings.Repeat("  ", s.Depth), s.Line, max(s.Line, s.EndLine), shown)
	}
	if len(symbols) == 0 {
		fmt.Fprintf(&b, "no symbols found in %s (%s); read it with mode full\n", f.name, tools.Count(info.TotalLines, "line"))
	}
	info.Lines = len(symbols)
	return tools.Result{Text: b.String(), Structured: info}, nil
}
