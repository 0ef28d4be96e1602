// Package redact keeps secrets and invisible characters out of what goes to a
// model, a log, an event or a person. It is for what is shown: bytes that are
// written or run are never changed by it.
package redact

import (
	"strings"
	"sync"
	"sync/atomic"
)

// Marker begins what stands in the place of a secret: [REDACTED:<type>].
const Marker = "[REDACTED:"

// Redactor replaces secrets: values that it was told, and what looks like a
// token, key or password. It is safe for concurrent use.
type Redactor struct {
	rules []rule
	find  matcher // literals of the rules
	part  int     // bytes of a long text that are gone over by themselves

	mu     sync.Mutex              // of Know
	values map[string][]string     // by source
	known  atomic.Pointer[matcher] // nil while no value is known

	signsOnce, viewOnce sync.Once
	signs               []sign
	viewing             viewing
}

// New returns a Redactor that also hides the known values.
func New(known ...string) *Redactor {
	r := &Redactor{values: map[string][]string{}, rules: rules(), part: partBytes}
	for i := range r.rules {
		for _, l := range r.rules[i].literals {
			r.find.add(l, r.rules[i].fold, i)
		}
	}
	r.Know("", known)
	return r
}

// rounds bounds how often a text is gone over. What is hidden may show that
// its neighbour is a secret too, hardly ever more than once.
const rounds = 4

// Text returns s with every secret replaced by [REDACTED:<type>], also those
// that are cut by colours or the ends of lines, and those in base64,
// hexadecimal or percent encoding. Doing it again changes nothing. Text without
// secrets is returned as it is.
func (r *Redactor) Text(s string) string {
	for range rounds {
		before := s
		s = mask(s, r.knownSpans(s))
		s = mask(s, r.knownAcross(s))
		s = r.seenThrough(s) // before the rules see half of a secret
		s = mask(s, r.ruleSpans(s))
		s = r.across(s)
		s = r.encoded(s)
		if len(s) == len(before) && s == before {
			break
		}
	}
	return s
}

// span is a secret: s[start:end].
type span struct {
	start, end int
	typ        string
}

// spans are the secrets in a piece of text, known ones before others.
func (r *Redactor) spans(s string) []span {
	if found := r.knownSpans(s); len(found) > 0 {
		return found
	}
	return r.ruleSpans(s)
}

// knownSpans are the places of known values.
func (r *Redactor) knownSpans(s string) []span {
	m := r.known.Load()
	if m == nil {
		return nil
	}
	if r.short(s) {
		found, _ := m.known(s, 0, len(s), 0)
		return found
	}
	return r.inParts(s, 0, func(from, to, last int) ([]span, int) { return m.known(s, from, to, last) })
}

// known finds known values, as inParts wants it.
func (m *matcher) known(s string, from, to, last int) (found []span, end int) {
	i := m.next(s, max(from, last), to)
	for i >= 0 {
		next := i + 1
		for _, e := range m.at(s, i) {
			if e.matches(s, i) {
				next = i + len(e.literal)
				last = next
				found = append(found, span{i, next, "known"})
				break
			}
		}
		i = m.next(s, next, to)
	}
	return found, last
}

// ruleSpans are the places of what looks like a secret.
func (r *Redactor) ruleSpans(s string) []span {
	if r.short(s) {
		found, _ := r.byRules(s, 0, len(s), 0)
		return found
	}
	return r.inParts(s, lookBehind, func(from, to, last int) ([]span, int) { return r.byRules(s, from, to, last) })
}

// byRules finds what looks like a secret, as inParts wants it.
func (r *Redactor) byRules(s string, from, to, last int) (found []span, end int) {
	i := r.find.next(s, max(from, last), to)
	for i >= 0 {
		next := i + 1
		if f, ok := r.secretAt(s, i, last, true); ok {
			f.end = continued(s, f)
			found = append(found, f)
			last, next = f.end, max(next, f.end)
		}
		i = r.find.next(s, next, to)
	}
	return found, last
}

// mask puts markers in the place of the spans, which are in order.
func mask(s string, found []span) string {
	if len(found) == 0 {
		return s
	}
	out := make([]byte, 0, len(s)+len(found)*32)
	last := 0
	for _, f := range found {
		out = append(out, s[last:f.start]...)
		out = append(out, Marker...)
		out = append(out, f.typ...)
		out = append(out, ']')
		last = f.end
	}
	return string(append(out, s[last:]...))
}

// secretAt reports the secret to which the literal at i leads. Nothing before
// from may be used: it is replaced already. assigned allows rules for
// assignments; their value, when a rule knows its form, gets that type.
func (r *Redactor) secretAt(s string, i, from int, assigned bool) (span, bool) {
	entries := r.find.at(s, i)
	for k := range entries {
		if !entries[k].matches(s, i) || inMarker(s, i) {
			continue
		}
		rule := &r.rules[entries[k].rule]
		if rule.assign && !assigned {
			continue
		}
		found, ok := rule.match(s, i, len(entries[k].literal), from)
		if !ok || found.end <= found.start || strings.Contains(s[found.start:found.end], Marker) {
			continue
		}
		if rule.assign {
			if better, ok := r.secretAt(s, found.start, found.start, false); ok && better.start == found.start && better.end+2 >= found.end { // but for a full stop or the like
				return better, true
			}
		}
		return found, true
	}
	return span{}, false
}

// inMarker reports whether i lies in the type of a marker: the word secret
// there is no name that a value is assigned to.
func inMarker(s string, i int) bool {
	const longest = 40 // of a type
	before := s[max(0, i-len(Marker)-longest):i]
	at := strings.LastIndex(before, Marker)
	return at >= 0 && strings.IndexByte(before[at:], ']') < 0
}
