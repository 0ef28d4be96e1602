package redact

import (
	"math"
	"strings"
)

// traits counts what a text is made of.
type traits struct {
	lower, upper, digits, others int
	words                        int // runs of lower case letters
	changes                      int // neighbours of different classes
}

func traitsOf(s string) traits {
	var t traits
	last := -1
	for i := range len(s) {
		class := 3
		switch c := s[i]; {
		case 'a' <= c && c <= 'z':
			class = 0
			t.lower++
		case 'A' <= c && c <= 'Z':
			class = 1
			t.upper++
		case digit(c):
			class = 2
			t.digits++
		default:
			t.others++
		}
		if class == 0 && last != 0 {
			t.words++
		}
		if last >= 0 && class != last {
			t.changes++
		}
		last = class
	}
	return t
}

// mixed reports whether s has digits and letters, as a token has and a word
// has not.
func mixed(s string) bool {
	t := traitsOf(s)
	return t.digits >= 2 && t.lower+t.upper >= 2
}

// realCredential is for what stands in an Authorization header.
func realCredential(s string) bool { return (mixed(s) || mixedCase(s)) && !standIn(s) }

func mixedCase(s string) bool {
	t := traitsOf(s)
	return t.lower >= 4 && t.upper >= 4
}

// stand-ins that documentation and examples use for a secret.
var standIns = []string{
	"example", "placeholder", "changeme", "change_me", "change-me", "your", "xxxx", "****", "....", "dummy", "sample", "insert", "redacted", "test", "fake", "todo",
	"1234567", "abcdef", "password", "secret", "foobar", "env.", "process.", "none", "null", "undefined",
}

// blankWords are what documentation puts in the place of a token's random part.
var blankWords = []string{"your", "example", "placeholder", "changeme", "change-me", "change_me", "xxxx", "goes-here", "goes_here", "-here", "_here", "insert", "dummy"}

// filledIn reports whether what has the prefix of a token is one, and no blank of
// a form: xoxb-your-token. A random text has a digit.
func filledIn(token string) bool {
	if strings.ContainsAny(token, "23456789") {
		return true
	}
	l := strings.ToLower(token)
	for _, w := range blankWords {
		if strings.Contains(l, w) {
			return false
		}
	}
	return true
}

// realPassword is for the place of a password in a URL: all that is no
// stand-in and no format verb or variable.
func realPassword(s string) bool {
	if strings.ContainsAny(s, "${}<>*%\\") && !strings.ContainsAny(s, "0123456789") || strings.ContainsAny(s, "{}<>") || strings.HasPrefix(s, "$") {
		return false
	}
	l := strings.ToLower(s)
	for _, w := range [...]string{"password", "passwd", "pass", "pwd", "secret", "token", "xxx", "pw", "port"} {
		if l == w {
			return false
		}
	}
	return traitsOf(s).digits < len(s) || len(s) > 6 // host:port@ is none
}

// random is the filter of the rule that has only a name to go by: the value
// must look as if nobody had made it up to be read.
func random(s string) bool {
	if strings.ContainsAny(s, " \t<>(){}[]") || strings.HasPrefix(s, "$") || strings.HasPrefix(s, "%") || strings.Contains(s, "://") {
		return false
	}
	return !standIn(s) && unnamed(s)
}

// unnamed is random where a stand-in may be part of the prefix.
func unnamed(s string) bool {
	t := traitsOf(s)
	letters := t.lower + t.upper
	switch {
	case strings.HasPrefix(s, "0x") && hexOnly(s[2:]):
		return len(s) == 66 // else a number
	case letters == 0:
		return false
	case hexOnly(s):
		return len(s) >= 24 && t.digits >= 4 && entropy(s) >= 2.8
	}
	// A random text changes class at half of its places, a name at the joints
	// of its words; and a name's words are longer than two letters.
	change := t.changes * 100 / len(s)
	short := t.words >= 2 && t.lower*10 <= t.words*26 && t.upper >= 3 && t.others == 0
	switch h := entropy(s); {
	case t.digits >= 4 && len(s) >= 24 && t.others <= 2 && change >= 20 && h >= 3.4:
		return true
	case t.digits >= 2:
		return change >= 30 && h >= 2.9
	case short && len(s) >= 12 && (t.digits > 0 || t.words >= 3 || len(s) >= 16):
		return h >= 3.0
	case t.digits == 1 && t.upper >= 2 && t.lower >= 2:
		return change >= 40 && h >= 2.9
	default:
		return t.others >= 2 && t.digits >= 1 && t.upper >= 1 && change >= 40
	}
}

// plainlyRandom is the filter for what follows a name with no more than a
// blank between them, as words do in prose.
func plainlyRandom(s string) bool {
	t := traitsOf(s)
	return random(s) && t.digits >= 1 && t.others <= len(s)/8
}

// standIn reports whether s has a word that stands for a secret in examples.
// In a long text short words are there by chance.
func standIn(s string) bool {
	l := strings.ToLower(s)
	for _, w := range standIns {
		if (len(s) < 32 || len(w) >= 6) && strings.Contains(l, w) {
			return true
		}
	}
	return false
}

func hexOnly(s string) bool {
	for i := range len(s) {
		if !hexDigit(lower(s[i])) {
			return false
		}
	}
	return true
}

// entropy is Shannon's, in bits per byte.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	var h float64
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}
