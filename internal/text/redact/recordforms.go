package redact

import (
	"slices"
	"strings"
)

// What files of several kinds have between a name and its value.

// nameAndValue hides the value beside the name that begins at v.
func (h *hider) nameAndValue(n, v int) {
	s := h.texts[n]
	if v >= len(s) {
		return
	}
	from, to, _ := valueAt(s, v)
	name := s[from:to]
	if !secretName(name) && header(name) == noHeader {
		return
	}
	rest := s[to:min(len(s), to+near)]
	at := strings.Index(rest, "alue")
	if at < 1 || strings.IndexFunc(rest[:at-1], func(c rune) bool { return !strings.ContainsRune("\"'\\, \t\r\n-", c) }) >= 0 {
		return
	}
	k := to + at + len("alue")
	op := k
	for op < len(s) && strings.IndexByte("\"'\\ \t:=", s[op]) >= 0 && op-k < 12 && (op == k || s[op-1] != ':' && s[op-1] != '=') {
		op++
	}
	if op == k || s[op-1] != ':' && s[op-1] != '=' {
		return
	}
	for op < len(s) && (s[op] == ' ' || s[op] == '\t') {
		op++
	}
	if op >= len(s) {
		return
	}
	begin, end, _ := valueAt(s, op)
	h.hide(n, credentialAt(name, s, begin, end), end, name, false)
}

// variableBefore is the name of the block in which the name at i is the first line, or so.
func variableBefore(s string, i int) string {
	before := s[max(0, i-near):i]
	at := strings.LastIndex(before, `variable "`)
	if at < 0 || strings.Contains(before[at:], "}") {
		return ""
	}
	name, _, _ := strings.Cut(before[at+len(`variable "`):], `"`)
	return name
}

// quotedIn hides the quoted values in the list or the object that begins at v.
func (h *hider) quotedIn(n int, name string, v int) {
	s := h.texts[n]
	closing := byte(']')
	if s[v] == '{' {
		closing = '}'
	}
	for k := v + 1; k < len(s) && k < v+near && s[k] != closing && s[k] != '\n'; k++ {
		if s[k] != '"' && s[k] != '\'' {
			continue
		}
		back := k
		for back > v && s[back-1] == '\\' {
			back--
		}
		from, to, _ := valueAt(s, back)
		after := strings.TrimLeft(s[min(len(s), to+1+k-back):], " \\\"'")
		if closing == ']' || !strings.HasPrefix(after, ":") {
			h.hide(n, from, to, name, false)
		}
		k = to + k - back
	}
}

// block hides the lines below a name that are further in: a block, or a list of YAML.
func (h *hider) block(n int, name string, v int) {
	s := h.texts[n]
	begin := strings.LastIndexByte(s[:v], '\n') + 1
	depth := indent(s[begin:])
	header := s[v] == '|' || s[v] == '>'
	for i := lineEnd(s, v, len(s)); i < len(s); i = lineEnd(s, i, len(s)) {
		end := lineEnd(s, i, len(s))
		l := strings.TrimRight(s[i:end], "\r\n")
		text := strings.TrimLeft(l, " \t")
		if text == "" {
			continue
		}
		item := strings.HasPrefix(text, "- ")
		if in := indent(l); in < depth || in == depth && !item {
			return
		}
		if !header {
			if item {
				text = strings.TrimLeft(text[2:], " ")
			}
			if strings.Contains(text, ": ") || strings.HasSuffix(text, ":") {
				return
			}
		}
		from := i + len(l) - len(text)
		to := from + len(text)
		if len(text) >= 2 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0] {
			from, to = from+1, to-1
		}
		h.hide(n, from, to, name, header)
		if !header && !item {
			return
		}
	}
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// element hides the text of the element whose tag ends at i.
func (h *hider) element(n, i int) {
	s := h.texts[n]
	begin := strings.LastIndexByte(s[max(0, i-2*longestName):i], '<')
	if begin < 0 {
		return
	}
	tag, _, _ := strings.Cut(s[max(0, i-2*longestName)+begin+1:i], " ")
	end := strings.IndexByte(s[i+1:min(len(s), i+1+10*near)], '<')
	if end < 0 || tag == "" || tag[0] == '/' || !strings.HasPrefix(s[i+1+end:], "</") || !secretName(tag[strings.LastIndexByte(tag, ':')+1:]) {
		return
	}
	from, to := i+1, i+1+end
	h.hide(n, from+indent(s[from:to]), to, tag, true)
}

// statement hides the quoted text at i of a statement in SQL: IDENTIFIED BY '…', PASSWORD '…'.
func (h *hider) statement(n, i int, how manner) {
	s := h.texts[n]
	if i == 0 || s[i-1] != ' ' && s[i-1] != '(' && s[i-1] != '\\' {
		return
	}
	before := s[max(0, i-60):i]
	trimmed := strings.TrimRight(strings.TrimRight(before, `\`), " ")
	if how == open && strings.HasSuffix(before, "(") && settles(before[:len(before)-1]) {
		from, to, _ := valueAt(s, i)
		h.hide(n, from, to, "password", true)
		return
	}
	if how == prose || len(trimmed) == len(before) && !strings.HasSuffix(before, `\`) {
		return
	}
	upper := strings.HasSuffix(trimmed, " PASSWORD") || trimmed == "PASSWORD"
	if !upper {
		switch fields := strings.Fields(strings.ToLower(tail(trimmed, 40))); {
		case len(fields) < 2:
			return
		case fields[len(fields)-1] == "by" && slices.Contains(fields, "identified"):
		case fields[len(fields)-1] == "password" && (fields[len(fields)-2] == "with" || fields[len(fields)-2] == "set" || fields[len(fields)-2] == "encrypted"):
		default:
			return
		}
	}
	v := i
	for v > 0 && s[v-1] == '\\' {
		v--
	}
	from, to, _ := valueAt(s, v)
	h.hide(n, from, to, "password", true)
}

// settles reports whether a text ends with the name of a function that gets a secret: password, setPassword, with_token.
func settles(before string) bool {
	k := len(before)
	for k > 0 && wordByte(before[k-1]) {
		k--
	}
	name := strings.ToLower(before[k:])
	for _, verb := range [...]string{"set", "with", "add"} {
		name = strings.TrimPrefix(strings.TrimPrefix(name, verb), "_")
	}
	return name == "password" || name == "passwd" || name == "token" || name == "secret" || name == "apikey"
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// address hides the password of the address whose :// is at i, and what stands in the place of its user alone.
func (h *hider) address(n, i int) {
	s := h.texts[n]
	from := i + len("://")
	end := from
	for end < len(s) && end-from < near && strings.IndexByte(" \t\r\n/?#\"'<>`\\", s[end]) < 0 {
		end++
	}
	at := strings.LastIndexByte(s[from:end], '@')
	if at < 0 {
		return
	}
	userinfo := s[from : from+at]
	user, _, ok := strings.Cut(userinfo, ":")
	switch {
	case ok:
		h.hide(n, from+len(user)+1, from+at, "password", false)
	case strings.HasSuffix(s[:i], "http") || strings.HasSuffix(s[:i], "https"):
		if user != "git" {
			h.hide(n, from, from+at, "password", false)
		}
	}
}
