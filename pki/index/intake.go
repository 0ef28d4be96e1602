package index

import (
	"bytes"
	"context"
	"path"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/imports"
	"github.com/sidecar-ls/sidecar-ls/pki/scan"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

const (
	// MaxSource bounds the source files whose text is read, in bytes. Of longer
	// ones the path alone is known.
	MaxSource = 1 << 20
	// maxText bounds what is read of a file in no language that is known.
	maxText = 48 << 10
)

// Intake turns files into what a segment takes. It is not safe for concurrent
// use.
type Intake struct {
	language func(name string, src []byte) string
	hide     func(text string) string
	units    []scan.Unit
	imports  []segment.Import
}

// NewIntake makes an intake. language names the language of a file, "" for
// none that is known; hide takes secrets out of what is kept as text; nil takes
// none.
func NewIntake(language func(name string, src []byte) string, hide func(text string) string) *Intake {
	if hide == nil {
		hide = func(text string) string { return text }
	}
	return &Intake{language: language, hide: hide}
}

// Add adds a file of that size to the segment that b builds. A file without a text to read
// is known by its path.
func (in *Intake) Add(b *segment.Builder, name string, data []byte, size int64) {
	f, lang, src := in.file(name, data, size)
	in.units = in.units[:0]
	if lang != "" {
		in.units = scan.Units(lang, src, in.units)
	}
	src = in.hideNames(src)
	b.Add(f, src, in.units, in.importsOf(name, lang, src))
}

// AddParsed is Add with the units that a parser finds. Text that the parser
// does not take is read by its lines after all. It fails, and adds nothing,
// when the context has ended.
func (in *Intake) AddParsed(ctx context.Context, b *segment.Builder, name string, data []byte, size int64, parse func(context.Context, string, []byte) ([]pki.Symbol, error)) error {
	f, lang, src := in.file(name, data, size)
	in.units = in.units[:0]
	if lang != "" {
		symbols, err := parse(ctx, lang, src)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			f.Flags |= segment.Unparsed
			in.units = scan.Units(lang, src, in.units)
		default:
			f.Flags |= segment.Refined
			in.units = scan.Parsed(src, symbols, in.units)
		}
		if len(in.units) == 0 && f.Flags&segment.Refined != 0 {
			// A file that is broken at its beginning may be nothing to a parser.
			if in.units = scan.Units(lang, src, in.units); len(in.units) > 0 {
				f.Flags = f.Flags&^segment.Refined | segment.Unparsed
			}
		}
	}
	src = in.hideNames(src)
	b.Add(f, src, in.units, in.importsOf(name, lang, src))
	return nil
}

// leastSecret is the length in bytes of a name from which a secret may be in it.
const leastSecret = 12

// hideNames takes secrets out of the names of the units, which are kept as they
// are: a heading may be any text. Of all other text only hashes of words are
// kept. src is copied before it is changed, and stays as long as it is.
func (in *Intake) hideNames(src []byte) []byte {
	copied := false
	for i := range in.units {
		u := &in.units[i]
		if len(u.Called) >= leastSecret || len(u.In) >= leastSecret {
			u.Called, u.In = in.hide(u.Called), in.hide(u.In)
		}
		for _, r := range [...]Range{u.Name, u.Owner} {
			if r.Len() < leastSecret {
				continue
			}
			text := r.Of(src)
			clean := in.hide(text)
			if clean == text {
				continue
			}
			if !copied {
				src, copied = bytes.Clone(src), true
			}
			n := copy(src[r.Start:r.End], clean)
			copy(src[r.Start+n:r.End], bytes.Repeat([]byte{' '}, r.Len()-n))
		}
	}
	return src
}

// Range is a part of a source.
type Range = scan.Range

// importsOf returns what a file imports.
func (in *Intake) importsOf(name, lang string, src []byte) []segment.Import {
	in.imports = in.imports[:0]
	scan.Imports(lang, src, func(path []byte) {
		i := segment.Import{Path: in.hide(string(path))}
		i.Word = terms.Module(imports.Word(lang, name, i.Path))
		in.imports = append(in.imports, i)
	})
	return in.imports
}

// file returns what is known of a file without its units, its language, "" for
// none, and its text, nil if only the path is to be known.
func (in *Intake) file(name string, data []byte, size int64) (f segment.File, lang string, src []byte) {
	f = segment.File{Path: name, Hash: segment.Hash(data), Flags: flagsOf(name)}
	src, flags := readable(data)
	if f.Flags |= flags; size > MaxSource {
		f.Flags |= segment.Skipped
	}
	if f.Flags&segment.Skipped != 0 {
		return f, "", nil
	}
	if lang = in.language(name, src); lang == "" {
		f.Flags |= segment.Prose | segment.Unparsed
		return f, "", src[:min(len(src), maxText)]
	}
	if f.Flags&segment.Prose == 0 && generated(src) {
		f.Flags |= segment.Generated
	}
	return f, lang, src
}

// readable returns the text of a file as UTF-8, or why it has none.
func readable(data []byte) ([]byte, segment.FileFlag) {
	switch {
	case len(data) > MaxSource:
		return nil, segment.Skipped
	case len(data) >= 2 && (data[0] == 0xff && data[1] == 0xfe || data[0] == 0xfe && data[1] == 0xff):
		t, err := workspace.DecodeText(data)
		if err != nil {
			return nil, segment.Skipped
		}
		data = []byte(t.Body)
	case bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0:
		return nil, segment.Skipped
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > 8<<10 && len(data)/(bytes.Count(data, []byte{'\n'})+1) > 400 {
		return nil, segment.Skipped // minified
	}
	return data, 0
}

// generated reports whether the head of a file says that a program wrote it.
func generated(src []byte) bool {
	head := src[:min(len(src), 2<<10)]
	for _, sign := range []string{"Code generated", "@generated", "DO NOT EDIT", "Autogenerated by", "Generated by the protocol buffer compiler"} {
		if bytes.Contains(head, []byte(sign)) {
			return true
		}
	}
	return false
}

// byExtension says what a file is by the end of its name.
var byExtension = map[string]segment.FileFlag{
	".md": segment.Prose, ".mdx": segment.Prose, ".markdown": segment.Prose, ".rst": segment.Prose, ".txt": segment.Prose, ".adoc": segment.Prose,
	".html": segment.Prose, ".htm": segment.Prose, ".css": segment.Prose, ".scss": segment.Prose, ".less": segment.Prose,
	".yaml": segment.Prose, ".yml": segment.Prose, ".toml": segment.Prose, ".json": segment.Prose, ".xml": segment.Prose, ".ini": segment.Prose, ".cfg": segment.Prose,
	".po": segment.Skipped, ".pot": segment.Skipped, ".map": segment.Skipped, ".snap": segment.Skipped, ".svg": segment.Skipped, ".csv": segment.Skipped,
	".tsv": segment.Skipped, ".lock": segment.Skipped, ".sum": segment.Skipped, ".pem": segment.Skipped, ".crt": segment.Skipped, ".golden": segment.Skipped,
	".out": segment.Skipped, ".log": segment.Skipped, ".geojson": segment.Skipped, ".ipynb": segment.Skipped, ".patch": segment.Skipped, ".diff": segment.Skipped,
}

// flagsOf says what a file is by its path.
func flagsOf(name string) segment.FileFlag {
	dir, base := path.Split(name)
	lower := strings.ToLower(base)
	flags := byExtension[path.Ext(lower)]
	switch lower {
	case "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "npm-shrinkwrap.json":
		flags |= segment.Skipped
	}
	if strings.HasSuffix(lower, ".min.js") || strings.HasSuffix(lower, ".min.css") {
		flags |= segment.Skipped
	}
	if testName(base, lower) {
		flags |= segment.Test
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		part = strings.ToLower(part)
		if strings.HasSuffix(part, "-tests") || strings.HasSuffix(part, "_tests") || strings.HasSuffix(part, "-test") {
			flags |= segment.Test
		}
		switch part {
		case "test", "tests", "__tests__", "spec", "specs", "testdata", "fixtures", "__fixtures__", "e2e", "__mocks__", "unittests", "unit_tests":
			flags |= segment.Test
		case "testfixtures", "testutil", "testutils", "test_utils", "test-utils":
			flags |= segment.Test
		case "example", "examples", "playground", "playgrounds", "sample", "samples", "demo", "demos", "bench", "benches", "benchmark", "benchmarks",
			"vendor", "third_party", "third-party", "thirdparty", "node_modules", "external", "deps", "fuzz":
			flags |= segment.Aside
		}
	}
	return flags
}

// testName tells a file of tests by its name.
func testName(base, lower string) bool {
	stem, rest, _ := strings.Cut(lower, ".")
	switch {
	case strings.HasSuffix(stem, "_test"), strings.HasSuffix(stem, "_tests"), strings.HasPrefix(stem, "test_"), stem == "conftest", stem == "test", stem == "tests",
		strings.HasSuffix(stem, "_spec"), strings.HasPrefix(rest, "test."), strings.HasPrefix(rest, "spec."):
		return true
	}
	stem, _, _ = strings.Cut(base, ".")
	return strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests") || strings.HasSuffix(stem, "TestCase") || strings.HasSuffix(stem, "Spec")
}
