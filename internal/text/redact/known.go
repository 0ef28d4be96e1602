package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Bounds of known values: shorter ones would be found everywhere, and looking
// for many takes time.
const (
	minKnown  = 4
	maxKnown  = 64 << 10
	maxValues = 500
)

// Know hides values from now on, in place of those that source named before:
// as they are and in base64, hexadecimal, URL and JSON form. Of more than 500
// values altogether, the shortest are left out. A word that stands for a secret, such as
// "none" or "ollama", is none.
func (r *Redactor) Know(source string, values []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Equal(r.values[source], values) {
		return
	}
	r.values[source] = slices.Clone(values)
	var all []string
	for _, list := range r.values {
		for _, v := range list {
			if len(v) >= minKnown && len(v) <= maxKnown && !standsForNone(v) && !strings.Contains(Marker, v) {
				all = append(all, v)
			}
		}
	}
	slices.SortFunc(all, byLength)
	all = slices.Compact(all)
	var forms []string
	for _, v := range all[:min(len(all), maxValues)] {
		forms = append(forms, encodings(v)...)
	}
	if len(forms) == 0 {
		r.known.Store(nil)
		return
	}
	slices.SortFunc(forms, byLength) // the longest match is tried first
	m := &matcher{}
	for _, f := range slices.Compact(forms) {
		m.add(f, false, 0)
	}
	r.known.Store(m)
}

// byLength orders texts by their length, the longest first, those of the same length by their
// bytes.
func byLength(a, b string) int {
	if len(a) != len(b) {
		return len(b) - len(a)
	}
	return strings.Compare(a, b)
}

// encodings are the forms in which v can appear. In base64 it may stand at any
// of three places within a longer text; its characters that then depend on the
// neighbours are left out.
func encodings(v string) []string {
	query, path := url.QueryEscape(v), url.PathEscape(v)
	forms := []string{v, hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v))), query, path, lowerPercent(query), lowerPercent(path)}
	for _, html := range []bool{true, false} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if enc.Encode(v) == nil {
			quoted := strings.TrimSuffix(b.String(), "\n")
			quoted = quoted[1 : len(quoted)-1]
			forms = append(forms, quoted, strings.ReplaceAll(quoted, "/", `\/`))
		}
	}
	for _, enc := range [...]*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			text := enc.EncodeToString([]byte(strings.Repeat("\x00", shift) + v))
			start := (shift*8 + 5) / 6
			end := (shift + len(v)) * 8 / 6
			if end-start >= minKnown {
				forms = append(forms, text[start:end])
			}
		}
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// lowerPercent writes %2F as %2f.
func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			b[i+1], b[i+2] = lower(b[i+1]), lower(b[i+2])
		}
	}
	return string(b)
}
