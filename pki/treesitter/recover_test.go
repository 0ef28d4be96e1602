//go:build cgo

package treesitter

import (
	"slices"
	"strings"
	"testing"
)

// What the parser can't make sense of hides no declaration whose first line is
// as it should be, and makes none up.
func TestRecover(t *testing.T) {
	for _, c := range []struct{ lang, src, want string }{
		{"c", "int a(void) { return ((; }\n\nBROKEN(x) {{{\nstruct point {\n\tint x;\n};\n/*\nint no(int a) {\n*/\nstatic int b(int x,\n\tint y)\n{\n\treturn 1;\n}\nint c(int a);\nSYSCALL(x) {\n", "a point b c"},
		{"cpp", "class API_EXPORT Door final : public Base {\npublic:\n\tvoid open() LOCKS(mu) { }\n\toperator bool() const;\n};\nvoid Door::close( {{\nint after(int a) {\n}\n", "Door open after"},
		{"typescript", "const x = <<<<;\nexport type Pair<const T> = [T, T];\nexport abstract class Shop {\nexport interface Named {\n// export class No {\n", "Pair Shop Named"},
		{"kotlin", "class A { fun (((\n    private suspend fun load(a: Int) {\n    companion object {\n", "A load"},
		{"bash", "a() {\n:\n}\nif [[ ; then\nfor x in ((\nb()\n{\n:\n}\ncat <<END\nno() {\nEND\n", "a b"},
		{"python", "def a(:\n  pass\nclass B(\n\ndef c(x):\n  pass\n", "a B c"},
	} {
		symbols, err := Extract(c.lang, []byte(c.src))
		if err != nil {
			t.Errorf("%s: %v", c.lang, err)
		}
		checkInvariants(t, []byte(c.src), symbols)
		var names []string
		for _, s := range symbols {
			names = append(names, s.Name)
		}
		for want := range strings.SplitSeq(c.want, " ") {
			if !slices.Contains(names, want) {
				t.Errorf("%s: no %s in %q", c.lang, want, names)
			}
		}
		if slices.Contains(names, "no") || slices.Contains(names, "No") {
			t.Errorf("%s: %q has what is none", c.lang, names)
		}
	}
}
