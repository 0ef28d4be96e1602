package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxSourceBytes bounds a source.
const MaxSourceBytes = 1 << 20

// maxProblems bounds what is reported about one source.
const maxProblems = 50

// prefix stands before every key and may be left out.
const prefix = "sidecar"

// entry is the value of a key as a source has it.
type entry struct {
	value  jsontext.Value
	line   int
	end    int64   // of the value, in the source without a byte order mark
	former *former // the old name that it stands under
}

// document is a source, read but not yet understood.
type document struct {
	source   *Source
	entries  map[string]entry
	formerly map[string][]entry // by the setting of now: what is set by old names
	was      *document          // what the source said when it was trusted; nil: the same
	problems []Problem
	more     int // problems beyond maxProblems
	renamed  int // of the problems, those of old names that still work
}

// read finds the settings in a source, and in what it was when it was trusted.
func read(src *Source) *document {
	d := readText(src, src.Data)
	if src.Held {
		d.was = readText(src, src.Was)
	}
	return d
}

// readText finds the settings in a text: keys may be dotted or nested or both,
// with the prefix or without.
func readText(src *Source, text []byte) *document {
	d := &document{source: src, entries: map[string]entry{}, formerly: map[string][]entry{}}
	data := bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if len(data) > MaxSourceBytes {
		d.report("", 0, "is longer than %d bytes", MaxSourceBytes)
		return d
	}
	if data = PlainJSON(data); len(bytes.TrimSpace(data)) == 0 {
		return d
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	switch dec.PeekKind() {
	case 'n': // what an editor sends for a section that is not set
	case '{':
		r := reader{document: d, dec: dec, data: data, line: 1}
		if err := r.object(prefix); err != nil {
			return d.broken(data, err)
		}
	default:
		if _, err := dec.ReadValue(); err != nil {
			return d.broken(data, err)
		}
		d.report("", 1, "must be an object of settings")
		return d
	}
	if dec.PeekKind() == 'n' {
		if _, err := dec.ReadToken(); err != nil {
			return d.broken(data, err)
		}
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return d.broken(data, errors.New("text after the end"))
	}
	return d
}

// reader walks through a document once.
type reader struct {
	*document
	dec  *jsontext.Decoder
	data []byte

	line   int   // at offset
	offset int64 // up to which lines are counted
}

// object reads the members of a group of settings.
func (r *reader) object(group string) error {
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for r.dec.PeekKind() == '"' {
		name, err := r.dec.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		if group != prefix || key != prefix && !strings.HasPrefix(key, prefix+".") {
			key = group + "." + key
		}
		at := r.dec.InputOffset()
		r.line += bytes.Count(r.data[r.offset:at], []byte("\n"))
		r.offset = at
		if isGroup(key) && r.dec.PeekKind() == '{' {
			if err := r.object(key); err != nil {
				return err
			}
			continue
		}
		value, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		r.set(key, entry{value: value.Clone(), line: r.line, end: r.dec.InputOffset()})
	}
	_, err := r.dec.ReadToken()
	return err
}

// set keeps the value of a key that has its prefix.
func (d *document) set(full string, e entry) {
	key := strings.TrimPrefix(full, prefix+".")
	old := formerly(key)
	switch first, twice := d.entries[key]; {
	case e.value.Kind() == 'n': // not set
	case old != nil:
		old.set(d, e)
	case isGroup(full):
		d.report(key, e.line, "must be an object of settings, not %s", shown(e.value))
	case len(d.problems) >= maxProblems && lookup(key) == nil:
		d.more++
	case lookup(key) == nil:
		d.report(cut(key), e.line, "is no setting%s", near(key))
	case twice:
		d.report(key, e.line, "is set twice; line %d holds", first.line)
	default:
		d.entries[key] = e
	}
}

// rename reports an old name that still works.
func (d *document) rename(f *former, line int) {
	d.report(f.key, line, "%s", f.message())
	if d.renamed++; d.more == 0 {
		d.problems[len(d.problems)-1].renamed = true
	}
}

func (d *document) report(key string, line int, format string, args ...any) {
	if len(d.problems) >= maxProblems {
		d.more++
		return
	}
	d.problems = append(d.problems, Problem{Source: d.source.String(), Key: key, Line: line, Message: fmt.Sprintf(format, args...)})
}

// told are the problems in the order of the lines.
func (d *document) told() []Problem {
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	if d.more > 0 {
		d.problems = append(d.problems, Problem{Source: d.source.String(), Message: fmt.Sprintf("has %d more problems", d.more)})
	}
	return d.problems
}

// broken is a document of which nothing holds.
func (d *document) broken(data []byte, err error) *document {
	line := 0
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		line = lineOf(data, syntax.ByteOffset)
		err = syntax.Err
	}
	d.entries, d.formerly, d.problems, d.more = nil, nil, nil, 0
	d.report("", line, "is not valid JSON, so nothing of it holds: %v", err)
	return d
}

func lineOf(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
}

// isGroup reports whether settings, of now or of earlier versions, are below a key
// that has its prefix.
func isGroup(full string) bool {
	below, ok := strings.CutPrefix(full+".", prefix+".")
	return ok && (slices.ContainsFunc(table, func(s Setting) bool { return strings.HasPrefix(s.Key, below) }) ||
		slices.ContainsFunc(formers, func(f former) bool { return strings.HasPrefix(f.key, below) }))
}

// near suggests what a key that is no setting was meant to be, or says why it is none
// any more.
func near(key string) string {
	if f := formerly(key); f != nil && f.now == "" {
		return " any more: " + f.say
	}
	var names []string
	for _, s := range table {
		names = append(names, s.Key)
	}
	if meant := nearest(key, names, func(int, string) bool { return true }); meant != "" {
		return meant
	}
	group := key[:strings.LastIndex(key, ".")+1]
	names = slices.DeleteFunc(names, func(s string) bool {
		name, ok := strings.CutPrefix(s, group)
		return group == "" || !ok || strings.Contains(name, ".")
	})
	if len(names) == 0 {
		return ""
	}
	return "; there are " + strings.Join(names, ", ")
}

// meant suggests which of a few short names another one was meant to be.
func meant(name string, names []string) string {
	return nearest(name, names, func(n int, s string) bool {
		return len(name) > 2 && (n < 2 || len(s) > 3 && strings.HasPrefix(strings.ToLower(name), s[:1]))
	})
}

// nearest suggests the name that is like another one, if that is likely enough.
func nearest(name string, names []string, likely func(n int, s string) bool) string {
	best, least := "", 3 // more differences are no likeness
	for _, s := range names {
		if n := distance(strings.ToLower(cut(name)), strings.ToLower(s)); n < least && likely(n, s) {
			best, least = s, n
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// distance is how many bytes to insert, delete or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}

type member struct {
	name  string
	value jsontext.Value
}

// members are those of an object that has been read, in its order.
func members(v jsontext.Value) []member {
	dec := jsontext.NewDecoder(bytes.NewReader(v))
	var all []member
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return all
		}
		text := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return all
		}
		all = append(all, member{text, value.Clone()})
	}
	return all
}

// elements are those of an array that has been read.
func elements(v jsontext.Value) []jsontext.Value {
	dec := jsontext.NewDecoder(bytes.NewReader(v))
	var all []jsontext.Value
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	for k := dec.PeekKind(); k != ']' && k != 0; k = dec.PeekKind() {
		value, err := dec.ReadValue()
		if err != nil {
			return all
		}
		all = append(all, value.Clone())
	}
	return all
}
