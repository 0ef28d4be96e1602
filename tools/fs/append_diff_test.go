package fs

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

func asJSON(t *testing.T, args any) string {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAppendFile(t *testing.T) {
	c := project(t, map[string]string{
		"a.txt": "one\n", "open.txt": "one", "crlf.txt": "one\r\n", "empty.txt": "", "bom.txt": "\uFEFFone\n", "bin": "a\x00b", "dir/": "",
	})
	for name, tc := range map[string]struct{ path, content, want, text string }{
		"after the last line":     {"a.txt", "two\n", "one\ntwo\n", "added 1 line to a.txt, which has 2 now"},
		"a line without its end":  {"open.txt", "two", "one\ntwo", "which has 2 now; its last line had no end, and has one now"},
		"other line ends":         {"crlf.txt", "two\nthree\n", "one\r\ntwo\r\nthree\r\n", "added 2 lines"},
		"an empty file":           {"empty.txt", "one\n", "one\n", "which has 1 now"},
		"a byte order mark":       {"bom.txt", "two\n", "\uFEFFone\ntwo\n", "added 1 line"},
		"a file that isn't there": {"new/b.txt", "one\n", "one\n", "created new/b.txt (1 line)"},
	} {
		t.Run(name, func(t *testing.T) {
			res, changes, err := run(t, c, "append_file", asJSON(t, AppendFileArgs{tc.path, tc.content}))
			if err != nil || len(changes) != 1 || string(changes[0].After) != tc.want || !strings.Contains(res.Text, tc.text) {
				t.Errorf("%v %+v %s", err, changes, res.Text)
			}
		})
	}
	for args, code := range map[string]tools.Code{
		`{"path":"bin","content":"x"}`:               tools.BinaryFile,
		`{"path":"dir","content":"x"}`:               tools.InvalidArguments,
		`{"path":"a.txt","content":""}`:              tools.InvalidArguments,
		`{"path":"a.txt","content":"\u0000"}`:        tools.InvalidArguments,
		`{"path":"../a.txt","content":"x"}`:          tools.OutsideWorkspace,
		`{"path":"a.txt","content":"[REDACTED:pw]"}`: tools.InvalidArguments,
	} {
		if _, changes, err := run(t, c, "append_file", args); err == nil || tools.AsError(err).Code != code || len(changes) > 0 {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestDiffText(t *testing.T) {
	c := project(t, map[string]string{"a.txt": "one\ntwo\n", "b.txt": "one\nthree\n", "same.txt": "one\ntwo\n", "bom.txt": "\uFEFFone\ntwo\n", "bin": "a\x00b"})
	for args, want := range map[string]string{
		`{"paths":["a.txt","b.txt"]}`:          "--- a.txt\n+++ b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n",
		`{"a":"one\n","b":"one\ntwo\n"}`:       "--- a\n+++ b\n@@ -1 +1,2 @@\n one\n+two\n",
		`{"a":"","b":""}`:                      "the texts are equal\n",
		`{"paths":["a.txt","same.txt"]}`:       "the texts are equal\n",
		`{"paths":["a.txt","bom.txt"]}`:        "the texts are equal; a.txt is in",
		`{"a":"one","b":"one\n"}`:              "\\ No newline at end of file",
		`{"paths":["./a.txt","sub/../b.txt"]}`: "--- a.txt\n+++ b.txt\n",
	} {
		if res, _, err := run(t, c, "diff_text", args); err != nil || !strings.Contains(res.Text, want) {
			t.Errorf("%s: %v\n%s", args, err, res.Text)
		}
	}
	for args, code := range map[string]tools.Code{
		`{}`:                  tools.InvalidArguments,
		`{"a":"x"}`:           tools.InvalidArguments,
		`{"paths":["a.txt"]}`: tools.InvalidArguments,
		`{"a":"x","b":"y","paths":["a.txt","b.txt"]}`: tools.InvalidArguments,
		`{"paths":["a.txt","bin"]}`:                   tools.BinaryFile,
		`{"paths":["a.txt","none"]}`:                  tools.NotFound,
		`{"paths":["a.txt","../none"]}`:               tools.OutsideWorkspace,
	} {
		if _, _, err := run(t, c, "diff_text", args); err == nil || tools.AsError(err).Code != code {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestReadTail(t *testing.T) {
	c := project(t, map[string]string{"a.txt": "1\n2\n3\n4", "empty": ""})
	for args, want := range map[string]string{
		`{"path":"a.txt","tail":2}`:  "3\n4",
		`{"path":"a.txt","tail":4}`:  "1\n2\n3\n4",
		`{"path":"a.txt","tail":99}`: "1\n2\n3\n4",
		`{"path":"empty","tail":1}`:  "(empty file)",
	} {
		if res, _, err := run(t, c, "read_file", args); err != nil || res.Text != want {
			t.Errorf("%s: %v %q", args, err, res.Text)
		}
	}
	if res, _, _ := run(t, c, "read_file", `{"path":"a.txt","tail":2}`); res.Structured.(FileInfo).Offset != 3 || res.Structured.(FileInfo).Lines != 2 {
		t.Errorf("%+v", res.Structured)
	}
	for _, args := range []string{`{"path":"a.txt","tail":0}`, `{"path":"a.txt","tail":-1}`, `{"path":"a.txt","tail":1,"offset":1}`, `{"path":"a.txt","tail":1,"limit":1}`} {
		if _, _, err := run(t, c, "read_file", args); err == nil || tools.AsError(err).Code != tools.InvalidArguments {
			t.Errorf("%s: %v", args, err)
		}
	}
}
