package redact

import "strings"

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
