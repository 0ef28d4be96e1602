package model

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
)

// shortest is how long a key is at least whose other forms are looked for: those of a
// few letters are words.
const shortest = 8

// withoutKey is a text of a provider without the key, in whatever form it quotes it.
func withoutKey(text, key string) string {
	for _, form := range keyForms(key) {
		for {
			i := strings.Index(text, form)
			if i < 0 {
				i = strings.Index(strings.ToLower(text), strings.ToLower(form))
				if i < 0 || len(strings.ToLower(text)) != len(text) || !caseless(form) {
					break
				}
			}
			text = text[:i] + "[the key]" + text[i+len(form):]
		}
	}
	return text
}

// caseless reports whether a form says the same in either case.
func caseless(form string) bool {
	_, err := hex.DecodeString(form)
	return err == nil || strings.ContainsRune(form, '%')
}

// keyForms are the ways in which a key is written, the longest first.
func keyForms(key string) []string {
	forms := []string{key}
	if len(key) >= shortest {
		var every strings.Builder // percent and two digits for each byte
		for _, b := range []byte(key) {
			every.WriteString("%" + hex.EncodeToString([]byte{b}))
		}
		back := []byte(key)
		slices.Reverse(back)
		for _, one := range []string{key, string(back)} {
			forms = append(forms, one, url.QueryEscape(one), url.PathEscape(one), hex.EncodeToString([]byte(one)))
			// Where it stands in a text that is encoded as a whole, its first and last
			// letters are mixed with others.
			for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				for before := range 3 {
					whole := e.EncodeToString(append(make([]byte, before), one...))
					if (before+len(one))%3 != 0 {
						whole = whole[:len(whole)-1]
					}
					forms = append(forms, whole[[]int{0, 2, 3}[before]:])
				}
			}
		}
		forms = append(forms, every.String())
		encoded := base64.StdEncoding.EncodeToString([]byte(key))
		back = []byte(encoded)
		slices.Reverse(back)
		forms = append(forms, string(back))
	}
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(forms)
}
