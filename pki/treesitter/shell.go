package treesitter

import (
	"regexp"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

var shellFunction = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t]*(?:function[ \t]+([^\s(){}<>&|;"'$]+)|([^\s(){}<>&|;"'$=]+)[ \t]*\(\))[ \t]*(?:\(\))?[ \t]*(?:[{(#].*)?$`)
})

// shellFunctions finds functions by their first lines, for the scripts, mostly
// generated ones, that are not given to the parser.
func shellFunctions(src []byte) []pki.Symbol {
	lines := lineStarts(src)
	var out []pki.Symbol
	for i, start := range lines {
		end := len(src)
		if i+1 < len(lines) {
			end = lines[i+1]
		}
		line := src[start:end]
		line = line[:min(len(line), 2*maxName)]
		text := strings.TrimRight(string(line), "\r\n")
		m := shellFunction().FindStringSubmatch(text)
		if m == nil {
			continue
		}
		qualifier, name := splitName(m[1] + m[2])
		if len(out) == maxSymbols {
			break
		}
		s := pki.Symbol{
			Name: name, Container: qualifier, Qualified: join(qualifier, name), Kind: pki.Function,
			Signature: cut(strings.TrimSpace(strings.TrimRight(fold(text), "{( ")), maxSignature),
			BodyByte:  start + len(text),
			StartLine: i + 1, EndLine: i + 1, StartByte: start, NameByte: start + strings.Index(text, m[1]+m[2]), EndByte: start + len(text),
		}
		s.Doc, s.DocStart, s.DocEnd = commentAbove(src, start, "#")
		out = append(out, s)
	}
	return out
}
