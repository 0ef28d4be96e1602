package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// siblings are files of 10,000 lines whose parts differ in numbers only.
var siblings = []struct {
	name string
	part func(n int) string
}{
	{"C functions", func(n int) string {
		return fmt.Sprintf("static int fn_%d(struct ctx *c, int arg)\n{\n\tint value_%[1]d = c->field_%[2]d;\n\n\tif (value_%[1]d > %[3]d) {\n\t\tlog_message(\"value %[1]d too large\", value_%[1]d);\n\t\treturn -1;\n\t}\n\tc->count += %[1]d;\n\treturn value_%[1]d + arg;\n}\n\n", n, n%7, 3*n)
	}},
	{"lines of a table", func(n int) string { return fmt.Sprintf("\tresult_%d = process(item_%d, %d)\n", n, n, n*7%1000) }},
	{"Go functions", func(n int) string {
		return fmt.Sprintf("func handler%d(w Writer, r *Request) error {\n\tname := r.Param(\"p%[1]d\")\n\tif name == \"\" {\n\t\treturn errors.New(\"missing p%[1]d\")\n\t}\n\tfor i := 0; i < %[1]d; i++ {\n\t\tw.Write(name, i)\n\t}\n\treturn nil\n}\n\n", n)
	}},
}

// TestSiblings tells parts that are nearly equal apart, and does not take one
// for another that is not there.
func TestSiblings(t *testing.T) {
	for _, s := range siblings {
		t.Run(s.name, func(t *testing.T) {
			var b strings.Builder
			for n := 0; strings.Count(b.String(), "\n") < 10_000; n += 50 {
				for i := range 50 {
					b.WriteString(s.part(n + i))
				}
			}
			text := New(b.String())
			r := rand.New(rand.NewPCG(1, 9))
			total, right, taken := 0, 0, 0
			for range 60 {
				first := r.IntN(len(text.Lines) - 20)
				block := Texts(text.Lines[first : first+20])
				if trim(block[0]) == "" || trim(block[19]) == "" {
					continue
				}
				total++
				changed := spaces(r, letters(r, dropped(r, append([]string(nil), block...)), 3))
				if p, err := Find(t.Context(), text, changed, Options{}); err == nil {
					if p.First != first || p.Last != first+20 {
						t.Errorf("wrong place %d–%d for %d–%d", p.First, p.Last, first, first+20)
					}
					right++
				}
				without, err := text.With([]Change{{First: first, Last: first + 20}})
				if err != nil {
					t.Fatal(err)
				}
				if p, err := Find(t.Context(), New(without), block, Options{}); err == nil {
					taken++
					t.Errorf("taken for lines %d–%d:\n%s", p.First, p.Last, strings.Join(block, "\n"))
				}
			}
			t.Logf("%d blocks, %d right, %d taken when absent", total, right, taken)
			if right*100 < total*95 {
				t.Errorf("only %d of %d found", right, total)
			}
		})
	}
}
