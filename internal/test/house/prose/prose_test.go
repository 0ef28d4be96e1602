package prose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCheck: each phrase is found where it is wrong, and nothing is where a
// sentence only looks like it.
func TestCheck(t *testing.T) {
	long := strings.Repeat("word ", MostWords) + "end."
	for sentence, found := range map[string]int{
		"The agent is told the reason.":                    1,
		"Prompts were heard.":                              1,
		"No test is said to have failed.":                  1,
		"Let prompts be heard again.":                      1,
		"Trust a plugin no longer":                         1,
		"Calls to tools that there are not fail.":          1,
		"Certificates are not valid yet, or not any more.": 1,
		"That which was written stays.":                    1,
		"A hook hears of a call.":                          1,
		"It writes without a word.":                        1,
		"What is pending is listed.":                       1,
		"What of yours it sees is asked about once.":       1,
		long:                                                 1,
		"What was said, is told here.":                       2,
		"The agent reads the reason.":                        0,
		"Each road has a state.":                             1,
		"The roadmap names integrations.":                    0,
		"What is a session?":                                 0,
		"The plugin is no longer trusted.":                   0,
		"He told nobody, and heard nothing; that was said.":  1,
		"Somebody told the agent what is pending.":           0,
		"The list shows files that are not there.":           0,
		"A heard prompt, a told reason, a said thing.":       0,
		strings.Repeat("word ", MostWords-1) + "end.":        0,
		strings.Repeat("word – ", MostWords-2) + "and CODE.": 0,
	} {
		if got := Check(sentence); len(got) != found {
			t.Errorf("%s: want %d findings, got %v", sentence, found, got)
		}
	}
}

// TestParagraphs: code, tables and headings are no prose.
func TestParagraphs(t *testing.T) {
	const page = "---\nname: what is told\n---\n# What is here\n\nOne [link](https://a.example/b.c), `is told`. Two\ngoes *on*, e.g. here. Three?\n\n<!-- is told -->\n" +
		"| is | told |\n|---|---|\n\n```sh\nis told\n```\n\n- First item\n  goes on.\n- Second\n\n    is told\n\n1. Third\n> quoted\n"
	var got []string
	for _, p := range Paragraphs(page) {
		got = append(got, Sentences(p)...)
	}
	want := []string{"One link, CODE.", "Two goes on, e.g. here.", "Three?", "First item goes on.", "Second", "Third quoted"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if len(Markdown(page)) != 0 {
		t.Errorf("found in code: %v", Markdown(page))
	}
	if len(Markdown(page+"\nIt is\ntold.\n")) != 1 {
		t.Error("control: a phrase over two lines is not found")
	}
	if len(Text("Show what `is told`. It is told.")) != 1 {
		t.Error("control: a phrase in a title is not found, or one in code is")
	}
}
