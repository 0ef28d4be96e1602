package redact

import "strings"

// across hides the secrets over whose middle a line ends: broken at a width,
// with the indent of the next line in between.
func (r *Redactor) across(s string) string {
	var found []span
	last := 0
	for nl := indexFrom(s, 0, '\n'); nl < len(s); nl = indexFrom(s, nl+1, '\n') {
		if f, ok := r.acrossAt(s, nl, last); ok {
			found, last = append(found, f), f.end
		}
	}
	return mask(s, found)
}

// How far to both sides of the end of a line a secret is looked for, in bytes.
const (
	acrossBefore = 300
	acrossAfter  = 600
)

// acrossAt is the secret over the end of the line at nl, which begins at or
// after from.
func (r *Redactor) acrossAt(s string, nl, from int) (span, bool) {
	end := nl
	if end > 0 && s[end-1] == '\r' {
		end--
	}
	next, ok := nextLine(s, end)
	if !ok || end == 0 || s[end-1] <= ' ' {
		return span{}, false
	}
	start := max(from, end-acrossBefore, strings.LastIndexByte(s[:end], '\n')+1)
	if start >= end || !goesOn(s, next) {
		return span{}, false
	}
	join := end - start
	text := s[start:end] + s[next:min(len(s), next+acrossAfter, indexFrom(s, next, '\n'))]
	for i := r.find.next(text, 0, join+lookBehind); i >= 0; i = r.find.next(text, i+1, join+lookBehind) {
		f, ok := r.secretAt(text, i, 0, true)
		if !ok || f.start >= join || f.end <= join {
			continue
		}
		if first, second := text[f.start:join], text[join:f.end]; byName[f.typ] && (len(first) < 4 || len(second) < 4 || ordinary(first) || ordinary(second)) {
			continue // a name says less of two words than of one
		}
		f.start, f.end = start+f.start, next+f.end-join
		f.end = continued(s, f)
		return f, true
	}
	return span{}, false
}

// goesOn reports whether the rest of a secret can stand at i, where the text of
// a line begins.
func goesOn(s string, i int) bool {
	stop := tokenEnd(s, i)
	inURL := stop < len(s) && s[stop] == '@' // the rest of a password
	return stop > i && (inURL || !ordinary(s[i:stop]) && !assigned(s, stop))
}

// leastAcross is the length in bytes from which a known value is found with the
// end of a line in it: a shorter one is made of what two words have.
const leastAcross = 8

// knownAcross are the known values with the end of a line, or more, in them.
func (r *Redactor) knownAcross(s string) []span {
	m := r.known.Load()
	if m == nil || strings.IndexByte(s, '\n') < 0 {
		return nil
	}
	joined := view{}
	text := make([]byte, 0, len(s))
	at := 0
	for nl := indexFrom(s, 0, '\n'); nl < len(s); nl = indexFrom(s, max(nl+1, at), '\n') {
		end := nl
		if end > at && s[end-1] == '\r' {
			end--
		}
		next, ok := nextLine(s, end)
		if !ok || end <= at {
			continue
		}
		joined.pieces = append(joined.pieces, piece{len(text), at})
		text = append(text, s[at:end]...)
		at = next
	}
	joined.pieces = append(joined.pieces, piece{len(text), at})
	joined.text = string(append(text, s[at:]...))
	all, _ := m.known(joined.text, 0, len(joined.text), 0)
	var found []span
	for _, f := range all {
		long := f.end-f.start >= leastAcross
		f.start, f.end = joined.source(f.start), joined.source(f.end-1)+1
		if long && strings.IndexByte(s[f.start:f.end], '\n') >= 0 {
			found = append(found, f)
		}
	}
	return found
}

// byName are the types of what is known by its name alone.
var byName = map[string]bool{"secret": true, "password": true, "authorization": true, "aws-secret-key": true, "private-jwk": true}

// broken finds what the end of a line cuts before it is long enough to be
// known.
func (r *rule) broken(s string, i, from int) (span, bool) {
	const reach = 512 // bytes from the literal to the end of the line
	nl := strings.IndexByte(s[i:min(len(s), i+reach)], '\n')
	if nl < 0 {
		return span{}, false
	}
	end := i + nl
	if s[end-1] == '\r' {
		end--
	}
	cut := end
	for cut > i && tokenByte(s[cut-1]) {
		cut--
	}
	next, ok := nextLine(s, end)
	if !ok {
		return span{}, false
	}
	stop := tokenEnd(s, next)
	if end-cut < 4 || stop-next < 4 || stop-next > 2048 || ordinary(s[cut:end]) || ordinary(s[next:stop]) || r.assign && assigned(s, stop) {
		return span{}, false
	}
	tail := s[stop:min(len(s), stop+40)]
	found, ok := r.matchAt(s[i:end]+s[next:stop]+tail, s[max(0, i-lookBehind):i])
	switch join := end - i; {
	case !ok || found.start > join-4 || found.end < join+4 || found.end > join+stop-next+len(tail):
		return span{}, false
	default:
		found.start, found.end = i+found.start, next+found.end-join
		if found.start < from || !mixed(s[found.start:found.end]) && !mixedCase(s[found.start:found.end]) {
			return span{}, false
		}
		return found, true
	}
}

// ordinary reports whether a piece of text is a word, not a piece of a token.
func ordinary(s string) bool {
	t := traitsOf(s)
	return t.digits == 0 && (t.upper == 0 || t.lower == 0 || t.changes < 4)
}

// continued is where a secret ends that may go on in the next line.
func continued(s string, f span) int {
	const most = 64 // lines
	end := f.end
	for range most {
		next, ok := nextLine(s, end)
		if !ok {
			return end
		}
		stop := tokenEnd(s, next)
		if stop-next < 6 || !mixed(s[next:stop]) && !mixedCase(s[next:stop]) || assigned(s, stop) || stop < len(s) && s[stop] == '[' {
			return end
		}
		if t := traitsOf(s[next:stop]); t.changes*4 < stop-next || t.others*8 > stop-next {
			return end
		}
		end = stop
	}
	return end
}

// assigned reports whether what stands before i is a name or a word, not the
// rest of a token.
func assigned(s string, i int) bool {
	return i < len(s) && strings.IndexByte("\r\n\"' ,;&<@)}`\\\x1b", s[i]) < 0 || i+1 < len(s) && s[i] == ' ' && strings.IndexByte("=:|", s[i+1]) >= 0
}

func tokenEnd(s string, i int) int {
	for i < len(s) && (tokenByte(s[i]) && s[i] != '=' || s[i] == '=' && (i+1 == len(s) || !wordByte(s[i+1]))) {
		i++
	}
	return i
}

// nextLine is where the text of the line begins behind the one that ends at i,
// without its indent and the sign of a diff.
func nextLine(s string, i int) (int, bool) {
	if i < len(s) && s[i] == '\r' {
		i++
	}
	if i >= len(s) || s[i] != '\n' {
		return 0, false
	}
	i++
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i, i < len(s)
}
