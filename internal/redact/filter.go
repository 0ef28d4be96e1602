package redact

import (
	"math"
	"strings"
)

// traits counts what a text is made of.
type traits struct {
	lower, upper, digits, others int
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

func mixedCase(s string) bool {
	t := traitsOf(s)
	return t.lower >= 4 && t.upper >= 4
}

// stand-ins that documentation and examples use for a secret.
var standIns = []string{
	"example", "placeholder", "changeme", "change_me", "change-me", "your", "xxxx", "****", "....", "dummy", "sample", "insert", "redacted", "test", "fake", "todo",
	"1234567", "abcdef", "password", "secret", "foobar", "env.", "process.", "none", "null", "undefined",
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
	l := strings.ToLower(s)
	for _, w := range standIns {
		if strings.Contains(l, w) {
			return false
		}
	}
	t := traitsOf(s)
	letters := t.lower + t.upper
	switch {
	case letters == 0 || t.digits == 0:
		return false
	case strings.HasPrefix(s, "0x"):
		return false // a number
	case hexOnly(s):
		return len(s) >= 24 && t.digits >= 4 && entropy(s) >= 2.8
	}
	// A random text changes class at half of its places, a name at the joints
	// of its words.
	return t.digits >= 2 && t.changes*10 >= len(s)*3 && entropy(s) >= 2.9 || t.others >= 2 && t.digits >= 1 && t.upper >= 1 && t.changes*10 >= len(s)*4
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
