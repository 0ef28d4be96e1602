package terms

import (
	"slices"
	"strings"
	"testing"
)

func TestParts(t *testing.T) {
	for ident, want := range map[string]string{
		"parseHTTPRequest": "parse HTTP Request", "snake_case_name": "snake case name", "HTTPServer": "HTTP Server", "URLs": "URLs",
		"sha256Sum": "sha 256 Sum", "x86": "x86", "MAX_SIZE": "MAX SIZE", "__init__": "init", "v2": "v2", "utf8": "utf 8", "A": "A", "": "",
		"größeÄndern": "größeÄndern",
	} {
		var got []string
		Parts(ident, func(w string) { got = append(got, w) })
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %s", ident, got, want)
		}
	}
}

// TestStem: what is one word to a reader is one term, and what isn't is not.
func TestStem(t *testing.T) {
	for _, same := range [][]string{
		{"parse", "parses", "parsed", "parsing", "Parsing"}, {"retry", "retries", "retried", "retrying"}, {"stop", "stopped", "stopping"},
		{"class", "classes"}, {"file", "files"}, {"call", "called", "calling"}, {"index", "indexing"},
	} {
		for _, w := range same[1:] {
			if Word(w) != Word(same[0]) {
				t.Errorf("%s and %s differ", w, same[0])
			}
		}
	}
	for _, pair := range [][2]string{{"parse", "parser"}, {"string", "str"}, {"bus", "bu"}, {"status", "statu"}, {"need", "ne"}, {"thing", "th"}} {
		if Word(pair[0]) == Word(pair[1]) {
			t.Errorf("%s and %s are one", pair[0], pair[1])
		}
	}
}

func TestOf(t *testing.T) {
	ids, sole := Of("readFile", nil)
	if want := []ID{Word("read"), Word("file"), Whole("readFile")}; sole || !slices.Equal(ids, want) {
		t.Errorf("got %v %v, want %v", ids, sole, want)
	}
	if ids, sole := Of("Reader", nil); !sole || !slices.Equal(ids, []ID{Word("reader")}) {
		t.Errorf("one word: got %v %v", ids, sole)
	}
	for _, spelling := range []string{"readfile", "ReadFile", "read_file", "READ_FILES", "_read_file_"} {
		if Whole(spelling) != Whole("readFile") {
			t.Errorf("%s and readFile differ as a whole", spelling)
		}
	}
	if Whole("fileRead") == Whole("readFile") {
		t.Error("the order of words means nothing to a whole identifier")
	}
	if Whole("Readers") != Word("reader") {
		t.Error("an identifier of one word is not the word")
	}
	for _, nothing := range []string{"", "_", "a", "1", "0x", strings.Repeat("a", 100)} {
		if ids, _ := Of(nothing, nil); len(ids) > 1 {
			t.Errorf("%q has %v", nothing, ids)
		}
	}
}

func TestAbbreviations(t *testing.T) {
	a := Abbreviations()
	if !slices.Contains(a[Word("cfg")], Word("config")) || !slices.Contains(a[Word("configuration")], Word("cfg")) {
		t.Error("cfg and configuration know nothing of each other")
	}
}
