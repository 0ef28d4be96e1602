package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxProblems bounds the list of what is wrong with one call's arguments.
const maxProblems = 10

// check validates args and puts the usual slips of models right. It returns
// the arguments without members that are null and absent by that, and with
// what was put right. All problems are reported at once.
func check(tool string, n *node, args json.RawMessage) (json.RawMessage, []string, error) {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	if !jsontext.Value(args).IsValid() {
		return nil, nil, invalid(tool, syntaxText(args))
	}
	var repairs []string
	if args[0] == '"' {
		if inner := bytes.TrimSpace(unquote(args)); len(inner) > 0 && inner[0] == '{' {
			if !jsontext.Value(inner).IsValid() {
				return nil, nil, invalid(tool, "the arguments are a string whose text is not valid JSON: "+syntaxText(inner))
			}
			args, repairs = inner, append(repairs, "arguments: taken from a JSON string; give a JSON object")
		} else if len(inner) == 0 {
			args = json.RawMessage("{}")
		}
	}
	if args[0] != '{' {
		return nil, nil, invalid(tool, fmt.Sprintf("got %s, expected a JSON object with %s", show(args), fieldList(n)))
	}
	w := walker{tool: tool, src: args, repairs: repairs}
	w.object(n, 0, nil)
	if len(w.problems) > 0 {
		return nil, nil, invalid(tool, w.text(n))
	}
	return w.result(), w.repairs, nil
}

func invalid(tool, text string) *Error {
	return Errorf(InvalidArguments, "%s: %s", tool, text)
}

func fieldList(n *node) string {
	if len(n.props) == 0 {
		return "no fields"
	}
	if len(n.props) == 1 {
		return "the field " + n.names()[0]
	}
	return "the fields " + strings.Join(n.names(), ", ")
}

// walker goes once over valid JSON. What it changes it notes as splices, so
// that the usual call, which needs none, is not copied.
type walker struct {
	tool     string
	src      []byte
	splices  []splice
	problems []string
	repairs  []string
	unknown  bool // some problem is an unknown field
}

type splice struct {
	start, end int
	text       string
}

// step is one part of the place of a value: a member's name or, when that is
// empty, an element's index.
type step struct {
	parent *step
	name   string
	index  int
}

func (s *step) String() string {
	switch {
	case s == nil:
		return ""
	case s.name == "":
		return s.parent.String() + "[" + strconv.Itoa(s.index) + "]"
	case s.parent == nil:
		return s.name
	}
	return s.parent.String() + "." + s.name
}

func (w *walker) problem(at *step, text string) {
	if p := at.String(); p != "" {
		text = p + ": " + text
	}
	w.problems = append(w.problems, text)
}

func (w *walker) text(n *node) string {
	list := w.problems
	more := ""
	if len(list) > maxProblems {
		more = fmt.Sprintf("; and %d more", len(list)-maxProblems)
		list = list[:maxProblems]
	}
	text := strings.Join(list, "; ") + more
	if w.unknown {
		are := " are known"
		if len(n.names()) == 1 {
			are = " is known"
		}
		text += ". " + strings.ToUpper(fieldList(n)[:1]) + fieldList(n)[1:] + are
	}
	return text
}

func (w *walker) result() json.RawMessage {
	if w.splices == nil {
		return w.src
	}
	out := make([]byte, 0, len(w.src)+16)
	last := 0
	for _, s := range w.splices {
		out = append(append(out, w.src[last:s.start]...), s.text...)
		last = s.end
	}
	return append(out, w.src[last:]...)
}

func (w *walker) replace(start, end int, text string) {
	w.splices = append(w.splices, splice{start, end, text})
}

// repair replaces a value and says so.
func (w *walker) repair(at *step, start, end int, text, how string) {
	w.replace(start, end, text)
	p := at.String()
	if p == "" {
		p = "arguments"
	}
	w.repairs = append(w.repairs, p+": "+how)
}

// value checks the value at i and returns where it ends.
func (w *walker) value(n *node, i int, at *step) int {
	c := w.src[i]
	switch {
	case c == '{' && n.allows(kindObject):
		return w.object(n, i, at)
	case c == '[' && n.allows(kindArray):
		return w.array(n, i, at)
	}
	end := w.skip(i)
	switch {
	case c == '"' && n.allows(kindString):
		w.str(n, w.src[i:end], at)
	case c == '"' && w.unwrap(n, i, end, at):
	case c == 'n' && n.allows(kindNull), (c == 't' || c == 'f') && n.allows(kindBool):
		w.inEnum(n, w.src[i:end], at)
	case (c == '-' || '0' <= c && c <= '9') && n.allows(kindInteger|kindNumber):
		w.number(n, i, end, at)
	default:
		w.mismatch(n, w.src[i:end], at)
	}
	return end
}

func (n *node) allows(k kinds) bool { return n.kinds == 0 || n.kinds&k != 0 }

func (w *walker) mismatch(n *node, got []byte, at *step) {
	w.problem(at, fmt.Sprintf("got %s, expected %s", show(got), n.expected))
}

func (w *walker) object(n *node, i int, at *step) int {
	var few [24]bool
	seen := few[:]
	if len(n.props) > len(few) {
		seen = make([]bool, len(n.props))
	}
	kept, first, dropped := i+1, true, false // kept: where the last member that stays ends
	var others []int                         // members that came under names of other agents
	for i = w.space(i + 1); w.src[i] != '}'; {
		if w.src[i] == ',' {
			i = w.space(i + 1)
		}
		start := i
		end := w.skip(i)
		name := w.src[i+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			name = unquote(w.src[i:end])
		}
		i = w.space(w.space(end) + 1)
		k := n.find(name)
		if k >= 0 && seen[k] && slices.Contains(others, k) {
			w.problem(&step{parent: at, name: n.props[k].name}, "given twice, under two names")
		}
		var o other
		if k < 0 && n.closed {
			if o = otherArgs(w.tool, string(name)); o.ours != "" {
				_, known := o.values[string(w.src[i:w.skip(i)])]
				if k = n.find([]byte(o.ours)); k >= 0 && (seen[k] || o.values != nil && !known) {
					k = -1
				}
			}
		}
		if k >= 0 && o.ours != "" {
			others = append(others, k)
			w.repairs = append(w.repairs, fmt.Sprintf("%s: read as %s", Clip(string(name)), o.ours))
			if text, known := o.values[string(w.src[i:w.skip(i)])]; known && text == "" {
				dropped = true
				i = w.space(w.skip(i))
				continue
			}
		}
		if k >= 0 && w.src[i] == 'n' && !n.props[k].required && n.props[k].node.kinds&kindNull == 0 {
			dropped = true // null for what is optional: absent
			i = w.space(w.skip(i))
			continue
		}
		if dropped {
			sep := ","
			if first {
				sep = ""
			}
			w.replace(kept, start, sep)
			dropped = false
		}
		first = false
		if k >= 0 && o.ours != "" {
			w.replace(start, end, strconv.Quote(o.ours))
		}
		switch {
		case k >= 0 && o.values[string(w.src[i:w.skip(i)])] != "":
			seen[k] = true
			end := w.skip(i)
			w.replace(i, end, o.values[string(w.src[i:end])])
			i = end
		case k >= 0:
			seen[k] = true
			i = w.value(n.props[k].node, i, &step{parent: at, name: n.props[k].name})
		case n.closed && o.ours != "" && o.values == nil:
			w.problem(&step{parent: at, name: Clip(string(name))}, "is "+o.ours+" here, which is given already; write both into it")
			i = w.skip(i)
		case n.closed:
			w.unknownField(n, string(name), at)
			i = w.skip(i)
		case n.others != nil:
			i = w.value(n.others, i, &step{parent: at, name: string(name)})
		default:
			i = w.skip(i)
		}
		kept = i
		i = w.space(i)
	}
	if dropped {
		w.replace(kept, i, "")
	}
	for k := range n.props {
		if p := &n.props[k]; p.required && !seen[k] {
			text := "required"
			if p.node.expected != "" {
				text += " (" + p.node.expected + ")"
			}
			w.problem(&step{parent: at, name: p.name}, text)
		}
	}
	return i + 1
}

func (w *walker) unknownField(n *node, name string, at *step) {
	text := "unknown field"
	if near := Near(name, n.names(), 1); len(near) > 0 {
		text += fmt.Sprintf(" (did you mean %s?)", near[0])
	} else if at != nil {
		text += fmt.Sprintf(" (known here: %s)", strings.Join(n.names(), ", "))
	}
	w.problem(&step{parent: at, name: Clip(name)}, text)
	w.unknown = w.unknown || at == nil
}

func (w *walker) array(n *node, i int, at *step) int {
	start, count := i, 0
	for i = w.space(i + 1); w.src[i] != ']'; count++ {
		if w.src[i] == ',' {
			i = w.space(i + 1)
		}
		if n.items != nil {
			i = w.value(n.items, i, &step{parent: at, index: count})
		} else {
			i = w.skip(i)
		}
		i = w.space(i)
	}
	if n.minItems != nil && count < *n.minItems || n.maxItems != nil && count > *n.maxItems {
		w.problem(at, fmt.Sprintf("got %d items, expected %s", count, n.expected))
	}
	if n.enum != nil {
		w.inEnum(n, w.src[start:i+1], at)
	}
	return i + 1
}

func (w *walker) str(n *node, quoted []byte, at *step) {
	if n.minLen != nil || n.maxLen != nil {
		size := utf8.RuneCount(unquote(quoted))
		if n.minLen != nil && size < *n.minLen || n.maxLen != nil && size > *n.maxLen {
			w.mismatch(n, quoted, at)
			return
		}
	}
	w.inEnum(n, quoted, at)
}

func (w *walker) inEnum(n *node, got []byte, at *step) {
	if n.enum == nil || slices.Contains(n.enum, string(got)) {
		return
	}
	// The same value can be written in several ways.
	if v := jsontext.Value(slices.Clone(got)); v.Canonicalize() == nil && slices.ContainsFunc(n.enum, func(e string) bool {
		want := jsontext.Value(e)
		return want.Canonicalize() == nil && string(want) == string(v)
	}) {
		return
	}
	w.mismatch(n, got, at)
}

// maxExact is the greatest integer up to which a float64 holds all of them.
const maxExact = 1 << 53

func (w *walker) number(n *node, i, end int, at *step) {
	text := w.src[i:end]
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		w.mismatch(n, text, at)
		return
	}
	if n.kinds&kindInteger != 0 && n.kinds&kindNumber == 0 {
		if bytes.ContainsAny(text, ".eE") { // 30.0 is an integer, which Go's decoding of one refuses
			if f != math.Trunc(f) || math.Abs(f) > maxExact {
				w.mismatch(n, text, at)
				return
			}
			w.replace(i, end, strconv.FormatFloat(f, 'f', 0, 64))
		} else if _, err := strconv.ParseInt(string(text), 10, 64); err != nil {
			w.mismatch(n, text, at)
			return
		}
	}
	if n.min != nil && f < *n.min || n.max != nil && f > *n.max {
		w.mismatch(n, text, at)
		return
	}
	w.inEnum(n, text, at)
}

// unwrap repairs a string where something else is expected: a number, a truth
// value, an array or an object written as a string, or the only element of an
// array without its brackets.
func (w *walker) unwrap(n *node, i, end int, at *step) bool {
	inner := bytes.TrimSpace(unquote(w.src[i:end]))
	if len(inner) > 0 && jsontext.Value(inner).IsValid() {
		if k := kindOf(inner); n.kinds&k != 0 {
			v := walker{src: inner}
			v.value(n, 0, at)
			w.problems = append(w.problems, v.problems...)
			if len(v.problems) == 0 {
				w.repair(at, i, end, string(v.result()), fmt.Sprintf("%s read as %s", show(w.src[i:end]), kindName(k)))
				w.repairs = append(w.repairs, v.repairs...)
			}
			return true
		}
	}
	if lower := strings.ToLower(string(inner)); n.kinds&kindBool != 0 && (lower == "true" || lower == "false") {
		w.repair(at, i, end, lower, fmt.Sprintf("%s read as boolean", show(w.src[i:end])))
		return true
	}
	if n.kinds&kindArray != 0 && n.items != nil && n.items.kinds&kindString != 0 && (n.minItems == nil || *n.minItems < 2) {
		before := len(w.problems)
		w.str(n.items, w.src[i:end], at)
		if len(w.problems) == before {
			w.repair(at, i, end, "["+string(w.src[i:end])+"]", "a single string read as an array of one")
		}
		return true
	}
	return false
}

// kindOf is the kinds that the JSON value could be taken for.
func kindOf(value []byte) kinds {
	switch value[0] {
	case '{':
		return kindObject
	case '[':
		return kindArray
	case '"':
		return kindString
	case 't', 'f':
		return kindBool
	case 'n':
		return kindNull
	}
	return kindInteger | kindNumber
}

func kindName(k kinds) string {
	if k == kindInteger|kindNumber {
		return "number"
	}
	for _, n := range kindNames {
		if n.kind == k {
			return n.name
		}
	}
	return "value"
}

// space returns the index of the first byte at or after i that is not white
// space.
func (w *walker) space(i int) int {
	for i < len(w.src) {
		switch w.src[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// skip returns where the value at i ends.
func (w *walker) skip(i int) int {
	depth := 0
	for {
		switch w.src[i] {
		case '"':
			for i++; w.src[i] != '"'; i++ {
				if w.src[i] == '\\' {
					i++
				}
			}
			i++
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
			continue
		default: // a number or a word
			for i < len(w.src) && !strings.ContainsRune(",:]} \t\n\r", rune(w.src[i])) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
}

// unquote is the text of a valid JSON string.
func unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return nil
	}
	return text
}
