package shell

import (
	"strings"
	"testing"
)

func TestMoved(t *testing.T) {
	in := func(path string) string {
		if path == "/w" || strings.HasPrefix(path, "/w/") {
			return "/copy of" + path
		}
		return path
	}
	for line, want := range map[string]string{
		"cd /w && make":                       "cd '/copy of/w' && make",
		`cd "/w/a b"; ls`:                     `cd '/copy of/w/a b'; ls`,
		"cd -P -- '/w/x' || exit 1":           "cd -P -- '/copy of/w/x' || exit 1",
		"(cd /w/a; make) && (cd /w/b; make)":  "(cd '/copy of/w/a'; make) && (cd '/copy of/w/b'; make)",
		"x=$(cd /w/é && pwd); echo ü; cd /w":  "x=$(cd '/copy of/w/é' && pwd); echo ü; cd '/copy of/w'",
		"pushd /w/sub\npopd":                  "pushd '/copy of/w/sub'\npopd",
		"cd /elsewhere; cd sub; cd; cd $HOME": "cd /elsewhere; cd sub; cd; cd $HOME",
		"cd /w/$x; cd /w/*":                   "cd /w/$x; cd /w/*",
		// What is no directory to change to may be text.
		"echo cd /w; cat /w/a > /w/b; grep -r /w .": "echo cd /w; cat /w/a > /w/b; grep -r /w .",
		"cat <<E\ncd /w\nE":                         "cat <<E\ncd /w\nE",
		"cd /w &&":                                  "cd /w &&",
		"":                                          "",
	} {
		if got := Moved(line, in); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
	same := func(path string) string { return path }
	if got := Moved("cd /w && make", same); got != "cd /w && make" {
		t.Errorf("where nothing is elsewhere, the line is %q", got)
	}
}
