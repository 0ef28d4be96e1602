package treesitter

import (
	"regexp"
	"slices"
	"sync"
)

// Macros of C that stand where the grammar expects none, and so turn whole
// declarations into errors: those alone on a line that open and close a part
// of a header, and the attributes that libraries put behind parameters.
var strayMacros = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*((?:[A-Z_][A-Z0-9_]*_)?(?:BEGIN|END)_[A-Z0-9_]+|Q_OBJECT|Q_GADGET)[ \t]*\r?$` +
		`|\)((?:\s+(?:__|_[A-Z])\w*(?:\s*\(+[^();{}]*\)+)?)+)`)
})

// withoutMacros returns src with stray macros as white space: every other byte
// stays where it is.
func withoutMacros(src []byte) []byte {
	places := strayMacros().FindAllSubmatchIndex(src, -1)
	if len(places) == 0 {
		return src
	}
	src = slices.Clone(src)
	for _, p := range places {
		from, to := p[2], p[3]
		if from < 0 {
			from, to = p[4], p[5]
		}
		for i := from; i < to; i++ {
			if src[i] != '\n' && src[i] != '\r' {
				src[i] = ' '
			}
		}
	}
	return src
}
