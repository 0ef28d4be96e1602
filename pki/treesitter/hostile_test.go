package treesitter

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// What a file may hold to harm a parser: depth, open ends, what fills the
// state of scanners. Each ends, with symbols or an error that says why not; a
// crash of the C side would end this test.
func TestHostile(t *testing.T) {
	slow.Test(t)
	long := strings.Repeat("A", 5000)
	inputs := []struct{ name, text string }{
		{"brackets", strings.Repeat("(", 200_000)},
		{"braces", strings.Repeat("{\n", 100_000)},
		{"classes in classes", strings.Repeat("class A {\n", 20_000)},
		{"blocks", strings.Repeat("if (a) {\n", 20_000)},
		{"functions in functions", strings.Repeat("function f() {\n", 20_000)},
		{"calls", strings.Repeat("a(b(\n", 50_000)},
		{"minus signs", strings.Repeat("-\n", 200_000)},
		{"commas", "x = [" + strings.Repeat("1,\n", 200_000)},
		{"type arguments", strings.Repeat("a<\n", 50_000)},
		{"string in string", strings.Repeat("\"${\"#{$\"{\n", 890)},
		{"format strings", strings.Repeat("f'{f\"{\n", 2_000)},
		{"templates", strings.Repeat("`${\n", 20_000)},
		{"percent literals", strings.Repeat("%w(%q[%{#{\n", 2_000)},
		{"raw strings", strings.Repeat("r"+strings.Repeat("#", 300)+"\"\n", 500)},
		{"raw string's delimiter", "R\"" + long + "(x)" + long + "\""},
		{"many quotes", strings.Repeat("\"\"\"\n", 20_000)},
		{"here-documents inside", strings.Repeat("cat <<A $(\n", 60) + strings.Repeat("A\n", 60)},
		{"here-documents in a row", strings.Repeat("x <<~A, <<~'B', <<-\"C\"\n", 2_000)},
		{"here-document with a long word", "x = <<" + long + "\n" + long + "\n"},
		{"indentation", indented(3_000)},
		{"dedentation", indented(900) + "x\n"},
		{"comment without end", "/*" + strings.Repeat("/*\n", 50_000)},
		{"long brackets", strings.Repeat("["+strings.Repeat("=", 300)+"[\n", 300)},
		{"zero bytes", strings.Repeat("\x00\n", 50_000)},
		{"no UTF-8", strings.Repeat("\xff\xfe\x80\n", 50_000)},
		{"directives", strings.Repeat("#if A\n", 20_000)},
		{"tags", strings.Repeat("<a><b c={\n", 10_000)},
		{"statements", strings.Repeat("var a = 1;\n", 60_000)},
	}
	const most = 8 << 10 // what grows with the square of the length still ends soon
	for i := range grammars {
		lang := grammars[i].lang
		t.Run(lang, func(t *testing.T) {
			for _, in := range inputs {
				for _, prefix := range []string{"", "<?php\n"} {
					if (lang == "php") != (prefix != "") {
						continue
					}
					src := []byte(prefix + in.text[:min(len(in.text), most)])
					f, err := Analyze(lang, src)
					if err == nil {
						checkReferences(t, src, f)
					}
					t.Logf("%s: %d symbols, %d references, %v", in.name, len(f.Symbols), len(f.References), err)
					checkReferences(t, src, Names(lang, src, nil))
				}
			}
		})
	}
}

func indented(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", min(i, 300)) + "if a:\n")
	}
	return b.String()
}
