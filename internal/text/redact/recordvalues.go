package redact

import (
	"cmp"
	"slices"
	"strings"
)

// values hides what a text gives to a name: NAME=value, name: value, "name": "value", <name>value, and what files of
// several kinds have between them.
func (h *hider) values(n int) {
	s := h.texts[n]
	calms := h.calm[n]
	slices.SortFunc(calms, func(a, b calm) int { return cmp.Compare(a.from, b.from) })
	next, how := 0, open
	h.until, h.behind = 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if i < h.behind || c != ':' && c != '=' && c != '>' && c != '\'' && c != '"' {
			continue
		}
		for ; next < len(calms) && calms[next].from <= i; next++ {
			if calms[next].to > h.until || calms[next].how == quiet {
				h.until, how = calms[next].to, calms[next].how
			}
		}
		now := open
		if i < h.until {
			now = how
		}
		switch {
		case now == quiet:
		case c == '\'' || c == '"':
			h.statement(n, i, now)
		case c == '>':
			h.element(n, i)
		case c == ':' && strings.HasPrefix(s[i:], "://"):
			h.address(n, i)
			i += 2
		default:
			i = h.operator(n, i, now)
		}
	}
}

// near bounds how far behind an operator is looked, for what is more than a value.
const near = 400

// operator hides the value behind the = or : at i, and returns the last byte of the operator.
func (h *hider) operator(n, i int, how manner) int {
	s := h.texts[n]
	c, end := s[i], i+1
	if i > 0 && strings.IndexByte("!<>~=", s[i-1]) >= 0 {
		return i
	}
	compared := false
	switch rest := s[i+1:]; {
	case rest == "":
		return i
	case c == ':' && (rest[0] == '=' || rest[0] == '-'):
		end++
		if rest[0] == '-' && !inBraces(s, i) {
			end--
		}
	case c == ':' && strings.HasPrefix(rest, ":"):
		return i + 1
	case c == '=' && rest[0] == '>':
		end++
	case c == '=' && rest[0] == '~':
		return i + 1
	case c == '=' && rest[0] == '=':
		compared = true
		for end < len(s) && s[end] == '=' {
			end++
		}
	}
	for _, name := range namesBefore(s, i) {
		if h.named(n, name, i, end, how, compared) {
			break
		}
	}
	return end - 1
}

// namedAt is a name before an operator.
type namedAt struct {
	text    string
	from    int
	quoted  bool
	spaced  bool // blanks are between it and the operator
	dollars bool // it is a variable, as $name or ${name
}

func nameByte(c byte) bool { return wordByte(c) || c == '-' || c == '.' }

// inBraces reports whether the name before i is in ${name.
func inBraces(s string, i int) bool {
	k := i
	for k > 0 && i-k < longestName && wordByte(s[k-1]) {
		k--
	}
	return k >= 2 && s[k-1] == '{' && s[k-2] == '$'
}

// namesBefore are the names that may stand before the operator at i: of name[index] both, the index first.
func namesBefore(s string, i int) []namedAt {
	k := i
	for k > 0 && i-k < 4 && (s[k-1] == ' ' || s[k-1] == '\t') {
		k--
	}
	spaced := k < i
	if k > 0 && s[i] == '=' && (s[k-1] == '+' || s[k-1] == '?') {
		k--
	}
	var names []namedAt
	index := false
	for range 2 {
		quoted := false
		if k >= 3 && s[k-3:k] == "%5D" {
			k, index = k-3, true
		} else if k > 0 && s[k-1] == ']' {
			k, index = k-1, true
		}
		for k > 0 && i-k < 2*longestName && (s[k-1] == '"' || s[k-1] == '\'' || s[k-1] == '\\') {
			k, quoted = k-1, true
		}
		end := k
		for k > 0 && end-k <= longestName && nameByte(s[k-1]) {
			k--
		}
		if k >= 2 && s[k-1] == '%' && strings.HasPrefix(s[k:], "5B") { // user%5Bname
			names = append(names, namedAt{text: s[k+2 : end], from: k + 2, spaced: spaced})
			break
		}
		if end > k {
			dollars := k > 0 && s[k-1] == '$' || k > 1 && s[k-1] == '{' && s[k-2] == '$'
			names = append(names, namedAt{text: s[k:end], from: k, quoted: quoted, spaced: spaced, dollars: dollars})
		}
		if !index {
			break
		}
		for k > 0 && i-k < 2*longestName && (s[k-1] == '"' || s[k-1] == '\'' || s[k-1] == '\\' || s[k-1] == '[') {
			k--
		}
		index = false
	}
	return names
}

// named hides the value at end of a name, when it is a secret's. It reports whether the name is one.
func (h *hider) named(n int, name namedAt, i, end int, how manner, compared bool) bool {
	s := h.texts[n]
	blank := end
	for blank < len(s) && blank-end < 8 && (s[blank] == ' ' || s[blank] == '\t') {
		blank++
	}
	spaced := blank > end || name.spaced
	if kind := header(name.text); kind != noHeader && (s[i] == ':' || name.quoted || kind == authScheme) {
		h.headerValue(n, name, end, blank, how)
		return true
	}
	switch strings.ToLower(name.text) {
	case "name", "key": // {"name": "DB_PASSWORD", "value": "…"}
		h.nameAndValue(n, blank)
		if name.text != "key" {
			return false
		}
	case "default": // variable "db_password" { default = "…" }
		if of := variableBefore(s, name.from); secretName(of) {
			h.given(n, of, blank, true, false, how)
			return true
		}
	}
	if !secretName(name.text) {
		return false
	}
	switch {
	case name.dollars && name.quoted, name.dollars && s[i] == ':' && !inBraces(s, i):
		return true // "$token" = "x", $token: x
	case name.dollars && !inBraces(s, i) && (blank >= len(s) || s[blank] != '"' && s[blank] != '\''):
		return true
	case s[i] == ':' && end == i+1 && !spaced && !name.quoted && inPath(s, name.from):
		return true // //auth/token:all
	case compared && (blank >= len(s) || s[blank] != '"' && s[blank] != '\'' && s[blank] != '\\'):
		return true
	case blank < len(s) && s[blank] == '`' && !spaced && end == i+1:
		return true // what a command prints
	}
	h.given(n, name.text, blank, spaced, s[i] == ':' && end == i+1, how)
	return true
}

// inPath reports whether the word at i is the end of a path.
func inPath(s string, i int) bool {
	return i > 0 && s[i-1] == '/' && (i < 2 || s[i-2] != ' ')
}

// given hides the value of a name, which begins at v.
func (h *hider) given(n int, name string, v int, spaced, colon bool, how manner) {
	s := h.texts[n]
	if v >= len(s) {
		return
	}
	if letter(s[v]) && v+1 < len(s) && (s[v+1] == '"' || s[v+1] == '\'') { // r"…", b'…'
		v++
	}
	from, to, quoted := valueAt(s, v)
	switch {
	case quoted:
		if how == prose && (from >= h.until || colon && plainWords(s[from:to])) { // or it is the quote that ends the sentence
			return
		}
		h.hide(n, from, to, name, s[from-1] == '\'' && s[max(v, 1)-1] == '=')
		return
	case s[v] == '[' || s[v] == '{':
		if how != prose {
			h.quotedIn(n, name, v)
		}
		return
	case s[v] == '\n' || s[v] == '\r' || (s[v] == '|' || s[v] == '>') && colon && lineEnd(s, v, min(len(s), v+5)) <= v+4:
		if colon && how != prose {
			h.block(n, name, v)
		}
		return
	}
	if colon && spaced && strings.HasPrefix(s[to:], " = ") && noSecrets[strings.ToLower(s[from:to])] { // name: type = value
		h.given(n, name, to+len(" = "), true, false, how)
		return
	}
	text := s[from:to]
	if how == prose && colon && spaced && plainWords(text) || spaced && (code(s, from, to) || ofNames(text)) {
		return
	}
	if to == from+10*near { // only what is hidden is looked at to its end
		if !secretValue(name, text, false) {
			return
		}
		for to < len(s) && strings.IndexByte(valueEnds, s[to]) < 0 {
			to++
		}
	}
	h.hide(n, from, to, name, false)
}

// valueEnds end a value without quotes.
const valueEnds = " \t\r\n\"'\\&;|,(){}<>`"

// valueAt is the value that begins at v, without its quotes; of one without quotes the first 10*near bytes. One in quotes that do not end goes to the end of the line.
func valueAt(s string, v int) (from, to int, quoted bool) {
	q := v
	for q < len(s) && s[q] == '\\' {
		q++
	}
	if q >= len(s) || s[q] != '"' && s[q] != '\'' && s[q] != '`' {
		to = v
		for to < len(s) && to < v+10*near && strings.IndexByte(valueEnds, s[to]) < 0 {
			to++
		}
		return v, to, false
	}
	quote, escapes := s[q], q-v
	if escapes == 0 && q+2 < len(s) && s[q+1] == quote && s[q+2] == quote {
		if at := strings.Index(s[q+3:], s[q:q+3]); at >= 0 {
			return q + 3, q + 3 + at, true
		}
	}
	back := 0
	for k := q + 1; k < len(s); k++ {
		switch {
		case s[k] == '\\':
			back++
			continue
		case s[k] == quote && (back == escapes || quote == '\'' && escapes == 0 || back < escapes):
			return q + 1, k - min(back, escapes), true
		case s[k] == '\n' && quote != '`':
			return q + 1, k, true
		}
		back = 0
	}
	return q + 1, len(s), true
}

// plainWords reports whether a text has no digit: in a sentence it is none that is kept secret.
func plainWords(text string) bool { return !strings.ContainsAny(text, "0123456789") }

// code reports whether a value is the call of a function, or the variable of a template.
func code(s string, from, to int) bool {
	if to >= len(s) || s[to] != '(' || to == from {
		return to == from
	}
	for k := from; k < to; k++ {
		if !nameByte(s[k]) {
			return false
		}
	}
	return true
}

// ofNames reports whether a value is a path of names whose last is a secret's: user.password.
func ofNames(text string) bool {
	dot := strings.LastIndexByte(text, '.')
	return dot > 0 && plainWords(text) && secretName(text[dot+1:])
}

// headerValue hides what a header says: to the quote that ends it, or the line.
func (h *hider) headerValue(n int, name namedAt, end, v int, how manner) {
	s := h.texts[n]
	if v >= len(s) {
		return
	}
	from, to, quoted := valueAt(s, v)
	if !quoted {
		to = v
		k := name.from
		stop := "\"'\\\n"
		switch {
		case k > 0 && (s[k-1] == '"' || s[k-1] == '\'') && !name.quoted:
			if stop = s[k-1:k] + "\n"; k > 1 && s[k-2] == '\\' {
				stop = "\\\n"
			}
		case v == end:
			stop += " \t"
		}
		for to < len(s) && to < v+10*near && strings.IndexByte(stop, s[to]) < 0 {
			to++
		}
	}
	from = credentialAt(name.text, s, from, to)
	if how == prose && plainWords(s[from:to]) {
		return
	}
	h.hide(n, from, to, name.text, false)
}
