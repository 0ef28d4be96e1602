//go:build cgo

package treesitter

import (
	"regexp"
	"slices"
	"sync"
)

// Macros of C that stand where the grammar expects none, and so turn whole
// declarations into errors: those alone on a line that open and close a part
// of a header, the attributes that libraries put behind parameters, and the words that
// export a class.
var strayMacros = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*((?:[A-Z_][A-Z0-9_]*_)?(?:BEGIN|END)_[A-Z0-9_]+|Q_OBJECT|Q_GADGET)[ \t]*\r?$` +
		`|\)((?:\s+(?:__|_[A-Z])\w*(?:\s*\(+[^();{}]*\)+)?)+)`)
})

// Those of C++: class API_EXPORT Name {, and void unlock() UNLOCKS(mu) {.
var classMacros = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:class|struct|union)[ \t]+([A-Z][A-Z0-9_]+)(?:\([^()]*\))?[ \t]+[A-Za-z_]\w*[ \t]*(?:final[ \t]*)?[:{\n]` +
		`|\)[ \t]*(?:const[ \t]+)?([A-Z][A-Z0-9_]{3,}(?:\([^(){};]*\))?)[ \t]*[{;]`)
})

// withoutMacros returns src with stray macros as white space: every other byte
// stays where it is.
func withoutMacros(lang string, src []byte) []byte {
	places := strayMacros().FindAllSubmatchIndex(src, -1)
	if lang == "cpp" {
		places = append(places, classMacros().FindAllSubmatchIndex(src, -1)...)
	}
	if len(places) == 0 {
		return src
	}
	src = slices.Clone(src)
	for _, p := range places {
		from, to := 0, 0
		for i := 2; i < len(p); i += 2 {
			if p[i] >= 0 {
				from, to = p[i], p[i+1]
			}
		}
		for i := from; i < to; i++ {
			if src[i] != '\n' && src[i] != '\r' {
				src[i] = ' '
			}
		}
	}
	return src
}
