package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// shortestEncoded is the length in bytes from which a run of letters and
// digits is tried as base64 and hexadecimal.
const shortestEncoded = 24

// encodedBytes are those of base64 in both alphabets, and so of hexadecimal.
var encodedBytes = func() (set [256]bool) {
	for c := range set {
		set[c] = wordByte(byte(c)) || c == '+' || c == '/' || c == '-'
	}
	return set
}()

// encoded hides the runs of base64 and hexadecimal whose plain text has a
// secret.
func (r *Redactor) encoded(s string) string {
	if r.short(s) {
		found, _ := r.runs(s, 0, len(s), 0)
		return mask(s, found)
	}
	return mask(s, r.inParts(s, 0, func(from, to, last int) ([]span, int) { return r.runs(s, from, to, last) }))
}

// runs finds runs with a secret, as inParts wants it.
func (r *Redactor) runs(s string, from, to, last int) (found []span, end int) {
	i := max(from, last)
	for i < to && i+shortestEncoded <= len(s) {
		// A run has no other byte: look from its far end.
		j := i + shortestEncoded - 1
		for j >= i && encodedBytes[s[j]] {
			j--
		}
		if j >= i {
			i = j + 1
			continue
		}
		last = runEnd(s, i)
		if f, ok := r.inRun(s, i, last); ok {
			found = append(found, f)
		}
		i = last
	}
	return found, last
}

// inRun is the secret in the run s[i:end], which may have a path before it.
func (r *Redactor) inRun(s string, i, end int) (span, bool) {
	if typ := r.inEncoded(s[i:end]); typ != "" {
		return span{i, end, typ}, true
	}
	if slash := strings.LastIndexByte(s[i:min(end, i+200)], '/'); slash >= 0 && end-i-slash > shortestEncoded {
		if typ := r.inEncoded(s[i+slash+1 : end]); typ != "" {
			return span{i + slash + 1, end, typ}, true
		}
	}
	return span{}, false
}

// runEnd is where the run ends that begins at i. What encodes writes lines of
// 60 or more bytes; such a run goes on in the next line.
func runEnd(s string, i int) int {
	for line := i; ; {
		for i < len(s) && encodedBytes[s[i]] {
			i++
		}
		if i-line < 60 || (i-line)%4 != 0 || i+1 >= len(s) || s[i] != '\n' || !encodedBytes[s[i+1]] {
			break
		}
		i++
		line = i
	}
	for n := 0; n < 2 && i < len(s) && s[i] == '='; n++ {
		i++
	}
	return i
}

// inEncoded is the type of a secret in the plain text of a run, or "".
func (r *Redactor) inEncoded(run string) string {
	first := run[:shortestEncoded]
	isHex := hexOnly(first) && readable(first, true)
	if !isHex && !readable(first, false) {
		return "" // nearly every run ends here
	}
	run = strings.ReplaceAll(strings.TrimRight(run, "="), "\n", "")
	var plain []byte
	if isHex {
		plain = make([]byte, len(run)/2)
		n, _ := hex.Decode(plain, []byte(run[:len(run)/2*2]))
		plain = plain[:n]
	} else {
		run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
		if len(run)%4 == 1 {
			run = run[:len(run)-1]
		}
		plain, _ = base64.RawStdEncoding.DecodeString(run)
	}
	text := string(plain)
	if found := r.spans(text); len(found) > 0 {
		return found[0].typ
	}
	return ""
}

// readable reports whether a beginning of a run stands for text.
func readable(run string, isHex bool) bool {
	var buf [shortestEncoded]byte
	var n int
	if isHex {
		n, _ = hex.Decode(buf[:], []byte(run))
	} else {
		for i := range len(run) {
			buf[i] = run[i]
			switch buf[i] {
			case '-':
				buf[i] = '+'
			case '_':
				buf[i] = '/'
			}
		}
		n, _ = base64.RawStdEncoding.Decode(buf[:], buf[:len(run)])
	}
	for i := 0; i < n; i++ {
		if c := buf[i]; c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != 0x1b || c == 0x7f {
			return false
		} else if c >= 0x80 {
			return utf8.Valid(buf[:n-utf8.UTFMax]) // the last may be cut
		}
	}
	return true
}
