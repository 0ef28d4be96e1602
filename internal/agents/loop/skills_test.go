package loop

import (
	"fmt"
	"strings"
	"testing"
)

// TestSkillLines: the instructions tell of all skills, shorter where there is less room,
// and the same skills always make the same text.
func TestSkillLines(t *testing.T) {
	some := func(n int, does string) (f Facts) {
		for i := range n {
			f.Skills = append(f.Skills, Skill{fmt.Sprintf("skill-%03d", i), does})
		}
		return f
	}
	for _, one := range []struct {
		name string
		in   Facts
		want []string
	}{
		{"none", Facts{}, nil},
		{"one", some(1, "It does. And more."), []string{"- skill-000: It does. And more.\n"}},
		{"no description", some(1, ""), []string{"- skill-000\n"}},
		{"first sentences", some(20, "It does this. "+strings.Repeat("And more. ", 20)), []string{"- skill-000: It does this\n", "- skill-019: It does this\n"}},
		{"names", some(40, strings.Repeat("long ", 100)), []string{"- skill-000: long long", "- others, without room for what they do: skill-00", "skill-039\n"}},
		{"not even names", some(1000, strings.Repeat("long ", 100)), []string{"more\n", " and "}},
	} {
		got := one.in.SkillLines()
		if len(got) > maxSkills || got != one.in.SkillLines() {
			t.Errorf("%s has %d bytes", one.name, len(got))
		}
		for _, want := range one.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %s", one.name, want, got)
			}
		}
	}
	if text := Instructions(Facts{Skills: some(1, "It does.").Skills, Tools: []Tool{{Name: "skill"}}}); !strings.Contains(text, "\n\n# Skills\nWhen a task fits one of these, get it with the tool skill") {
		t.Errorf("the instructions are %s", text)
	}
	if text := Instructions(Facts{}); strings.Contains(text, "# Skills") {
		t.Error("without skills the instructions speak of them")
	}
}
