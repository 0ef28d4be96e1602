package setup

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// seeds are the files before and after of the golden files.
func seeds(f *testing.F, ext string) {
	names, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if strings.HasPrefix(filepath.Ext(file.Name), ext) {
				f.Add(file.Data)
				f.Add([]byte(strings.ReplaceAll(string(file.Data), "\n", "\r\n")))
			}
		}
	}
}

// editing checks an edit of any text, and that taking it out leaves what was
// said before.
func editing(t *testing.T, fam family, text []byte, items []item) {
	before, err := open(fam, text)
	if err != nil {
		return
	}
	out, err := edit(fam, text, items)
	if err != nil {
		if strings.Contains(err.Error(), "something else than it should") && !strings.Contains(string(text), "nan") {
			t.Fatalf("%v\n%q", err, text)
		}
		return
	}
	if again, err := edit(fam, out.text, items); err != nil || len(again.did) > 0 {
		t.Fatalf("a second edit: %v, %v\n%q", err, again.did, out.text)
	}
	back, left, err := takeOut(fam, out.text, out.did)
	if err != nil || len(left) > 0 {
		t.Fatalf("%v, left %q\n%q\n%q", err, left, text, out.text)
	}
	after, err := open(fam, back)
	if err != nil || !reflect.DeepEqual(before.tree(), after.tree()) {
		t.Fatalf("%v\n%q\n%q\n%q", err, text, out.text, back)
	}
}

func FuzzJSON(f *testing.F) {
	seeds(f, ".json")
	for _, text := range []string{
		"", " ", "\ufeff{}", "{}", "{ }", "{/*a*/}", "{\n}", "{\n// a\n}", "{\"a\":1}", "{\"a\":1,}", "{\"a\":1 /*b*/,/*c*/}", "{\"a\":1, // b\n}", "{\"mcp\":{}}", "{\"mcp\":{\n}\n}",
		"{\"mcp\": {\"sidecar\": {\"command\": [\"sidecar-ls\"]}}}", "{\"mcpServers\": {\n\"sidecar\": {\"command\": \"x\"} // a\n}}", "{\"permissions\":{\"allow\":[]}}", "{\"permissions\":{\"allow\":[\n],\"deny\":[\"a\",]}}",
		"{\"tools\": {\"core\": [ \"a\" /*b*/ , /*c*/ ], \"bash\": 1.50e3}, \"mcp\": {\"allowed\": [1, null]}}", "{\"a\": 1\n, \"b\": 2\n}", "\t{\r\n\t\"a\":1}\r\n",
	} {
		f.Add([]byte(text))
	}
	e := Env{Home: "/h", Dir: "/p", Command: "sidecar-ls", Getenv: func(string) string { return "" }}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, o := range []Options{{}, {OnlyOurs: true}} {
			for _, files := range [][]file{claude(e, o), gemini(e, o), opencode(e, o)} {
				for _, file := range files {
					editing(t, jsonc, text, file.items)
				}
			}
		}
	})
}

func FuzzTOML(f *testing.F) {
	seeds(f, ".toml")
	for _, text := range []string{
		"a = 1", "mcp_servers.sidecar=\"\"", "features.x = true\n", "features = { x = true }\n", "[features]", "[[features]]\nx = 1\n", "features = 1\n", "[features.inner]\nx = 1\n",
		"[mcp_servers]\n", "mcp_servers.a.command = \"a\"\n", "mcp_servers = { a = { command = \"a\" } }\n", "[mcp_servers.\"sidecar\"]\ncommand = 'sidecar-ls'",
		"mcp_servers.sidecar.command = \"sidecar-ls\"\n", "[mcp_servers]\nsidecar = { command = \"sidecar-ls\" } # x\n", "[ mcp_servers . sidecar ] # x\n'command' = \"x\"\n",
		"a = \"\"\"\n[features]\nshell_tool = 1\n\"\"\"\n[b]\nc = [ # x\n 1, # y\n]\n", "sandbox_mode = 'danger-full-access' # x\n# y\n", "[a]\n\n\n# x", "\ufeffa = 1\n",
		"[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 1979-05-27T07:32:00Z\n", "[features]\n  [features.a]\n  b = 1\n[mcp_servers.b]\n[mcp_servers.sidecar.env]\nA = \"b\"\n",
	} {
		f.Add([]byte(text))
	}
	e := Env{Home: "/h", Dir: "/p", Command: "sidecar-ls", Getenv: func(string) string { return "" }}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, o := range []Options{{}, {OnlyOurs: true}} {
			editing(t, tomlText, text, codex(e, o)[0].items)
		}
	})
}
