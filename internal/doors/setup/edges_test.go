package setup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestUndoBesideChanges: what the user changes after setup stays; what setup put
// there goes, however the file is written by then.
func TestUndoBesideChanges(t *testing.T) {
	for name, c := range map[string]struct {
		client, file, before string
		only                 bool
		change               func(text string) string
		want                 string
		left                 string
	}{
		"a key behind ours, JSON": {"cursor", "home/.cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n", false,
			func(s string) string {
				return strings.Replace(s, "\n  }\n}", ",\n    \"b\": {\"command\": \"b\"}\n  }\n}", 1)
			},
			"{\n  \"mcpServers\": {\n    \"a\": {},\n    \"b\": {\"command\": \"b\"}\n  }\n}\n", ""},
		"written anew, JSON": {"claude", "home/.claude.json", "", false,
			func(s string) string {
				var v map[string]any
				_ = json.Unmarshal([]byte(s), &v)
				v["numStartups"] = 3
				out, _ := json.MarshalIndent(v, "", "\t")
				return string(out)
			},
			"{\n\t\"numStartups\": 3\n}", ""},
		"comments around ours": {"opencode", "home/.config/opencode/opencode.json", "{\n  // First.\n  \"a\": 1\n}\n", false,
			func(s string) string {
				return strings.Replace(s, "\"enabled\": true\n    }\n  }\n", "\"enabled\": true\n    },\n  },\n  // Mine.\n  \"z\": [],\n", 1)
			},
			"{\n  // First.\n  \"a\": 1,\n  // Mine.\n  \"z\": [],\n}\n", ""},
		"an option of our entry": {"opencode", "home/.config/opencode/opencode.json", "{}\n", false,
			func(s string) string { return strings.Replace(s, "true", "false", 1) },
			"{}\n", ""},
		"our entry starts something else": {"cursor", "home/.cursor/mcp.json", "{}\n", false,
			func(s string) string { return strings.Replace(s, `"sidecar-ls"`, `"mine"`, 1) },
			"", "changed mcpServers.sidecar since"},
		"a value of ours was changed": {"opencode", "home/.config/opencode/opencode.json", "{}\n", true,
			func(s string) string { return strings.Replace(s, `"bash": false`, `"bash": true`, 1) },
			"{\n  \"tools\": {\n    \"bash\": true\n  }\n}\n", "changed tools.bash since"},
		"a value that was replaced": {"opencode", "home/.config/opencode/opencode.json", "{\n  \"tools\": { \"bash\": true }\n}\n", true,
			func(s string) string { return "// New.\n" + s },
			"// New.\n{\n  \"tools\": { \"bash\": true }\n}\n", ""},
		"lists": {"claude", "home/.claude/settings.json", "{\n  \"permissions\": {\n    \"allow\": [\n      \"A\"\n    ]\n  }\n}\n", true,
			func(s string) string {
				return strings.Replace(s, "\"mcp__sidecar\"", "\"mcp__sidecar\",\n      \"B\"", 1)
			},
			"{\n  \"permissions\": {\n    \"allow\": [\n      \"A\",\n      \"B\"\n    ]\n  }\n}\n", ""},
		"tables and keys, TOML": {"codex", "home/.codex/config.toml", "model = \"m\" # large\n\n[features]\nshell_tool = true # mine\n", true,
			func(s string) string { return s + "\n[projects.\"/x\"] # new\ntrust_level = \"trusted\"\n" },
			"model = \"m\" # large\n\n[features]\nshell_tool = true # mine\n\n[projects.\"/x\"] # new\ntrust_level = \"trusted\"\n", ""},
		"tables below ours, TOML": {"codex", "home/.codex/config.toml", "", true,
			func(s string) string {
				return "a = 1\n" + s + "[mcp_servers.sidecar.tools.x]\napproval_mode = \"prompt\"\n"
			},
			"a = 1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.before != "" {
				w.write(c.file, c.before)
			}
			w.apply(c.client, Options{OnlyOurs: c.only})
			changed := c.change(w.files()[c.file])
			if changed == w.files()[c.file] {
				t.Fatalf("the change of the test changes nothing:\n%s", changed)
			}
			w.write(c.file, changed)
			p := w.undo(c.client, Options{})
			want := c.want
			if want == "" {
				want = changed
			}
			if got := w.files()[c.file]; got != want {
				t.Errorf("undo makes\n%s\nof\n%s\nwant\n%s", got, changed, want)
			}
			if left := strings.Join(p.Left, "\n"); c.left == "" && left != "" || !strings.Contains(left, c.left) {
				t.Errorf("undo leaves %q, want %q", left, c.left)
			}
		})
	}
}

// TestForeignEntry: an entry of our name that is somebody else's is told, and
// comes back.
func TestForeignEntry(t *testing.T) {
	for _, c := range []struct{ client, file, before string }{
		{"cursor", "home/.cursor/mcp.json", "{\"mcpServers\": {\"sidecar\": { \"command\": \"docker\", \"args\": [] }}}\n"},
		{"codex", "home/.codex/config.toml", "[mcp_servers.sidecar]\ncommand = \"docker\" # theirs\n[mcp_servers.sidecar.env]\nA = \"b\"\n"},
		{"codex", "home/.codex/config.toml", "[mcp_servers]\nsidecar = { command = \"docker\" }\n"},
	} {
		w := newWorld(t)
		w.write(c.file, c.before)
		before := w.files()
		p := w.plan(c.client, Options{})
		if len(p.Foreign) != 1 || !strings.Contains(p.Foreign[0], "starts something else") {
			t.Errorf("%s: %q", c.client, p.Foreign)
		}
		if r := w.state(c.client, "mcp"); r.State != Off || !strings.Contains(r.Why, "starts something else") {
			t.Errorf("%s: %+v", c.client, r)
		}
		if err := p.Apply(); err != nil {
			t.Fatal(err)
		}
		if text := w.files()[c.file]; strings.Contains(text, "docker") || !strings.Contains(text, "sidecar-ls") {
			t.Errorf("%s: it was not replaced:\n%s", c.client, text)
		}
		after := w.files()[c.file]
		w.undo(c.client, Options{})
		w.want(before, c.client+", after undo")

		w.apply(c.client, Options{})
		w.write(c.file, strings.Replace(after, "\n", "\n\n", 1))
		w.undo(c.client, Options{})
		if text := w.files()[c.file]; !strings.Contains(text, "docker") || strings.Contains(text, "sidecar-ls") {
			t.Errorf("%s: after a change and undo:\n%s", c.client, text)
		}
	}
}

// TestBadFiles: what can't be changed safely is left alone, with the place and
// what to do. Each has a control.
func TestBadFiles(t *testing.T) {
	for name, c := range map[string]struct{ client, file, bad, good, says string }{
		"JSON that breaks off":  {"gemini", "home/.gemini/settings.json", "{\n  \"a\": 1,\n  \"b\":\n}\n", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "line 4"},
		"TOML that breaks off":  {"codex", "home/.codex/config.toml", "a = 1\nb =\n", "a = 1\nb = 2\n", "line 2"},
		"TOML, a key twice":     {"codex", "home/.codex/config.toml", "a = 1\na = 2\n", "a = 1\n", "line 2"},
		"a comment":             {"claude", "home/.claude.json", "{\n  // one\n}\n", "{\n}\n", "line 2: there is a comment"},
		"a comment at the end":  {"claude", "home/.claude.json", "{}\n// one\n", "{}\n", "line 1: there is a comment"},
		"a comma at the end":    {"claude", "home/.claude.json", "{\n  \"a\": 1,\n}\n", "{\n  \"a\": 1\n}\n", "a comma too many"},
		"no object":             {"opencode", "home/.config/opencode/opencode.json", "[]\n", "{}\n", "does not hold an object"},
		"a name twice":          {"cursor", "home/.cursor/mcp.json", `{"mcpServers": {"a": {}, "a": {}}}`, `{"mcpServers": {"a": {}}}`, "mcpServers.a is there twice"},
		"a list of servers":     {"cursor", "home/.cursor/mcp.json", `{"mcpServers": []}`, `{"mcpServers": {}}`, "mcpServers is not an object"},
		"null":                  {"cursor", "home/.cursor/mcp.json", `{"mcpServers": null}`, `{}`, "mcpServers is not an object"},
		"a text for a list":     {"claude", "home/.claude/settings.json", `{"permissions": {"allow": "x"}}`, `{"permissions": {"allow": ["x"]}}`, "permissions.allow is not a list"},
		"servers in one line":   {"codex", "home/.codex/config.toml", "mcp_servers = { a = { command = \"a\" } }\n", "mcp_servers.a = { command = \"a\" }\n", "line"},
		"TOML, other encodings": {"codex", "home/.codex/config.toml", "a = \"\xff\"\n", "a = \"ä\"\n", "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(c.file, c.bad)
			before := w.files()
			_, err := w.env.Plan(c.client, Options{})
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), filepath.Base(c.file)) {
				t.Errorf("%v, want %q", err, c.says)
			}
			if r := w.state(c.client, "mcp"); r.State != Off || r.Why == "" && c.client != "claude" {
				t.Errorf("%+v", r)
			}
			w.want(before, "after it was refused")
			w.write(c.file, c.good)
			w.apply(c.client, Options{})
		})
	}
}

// TestGone: an entry of ours that names a file which is not there any more gets
// the one that is; one that is there stays.
func TestGone(t *testing.T) {
	for _, c := range []struct{ client, file, before string }{
		{"cursor", "home/.cursor/mcp.json", "{\"mcpServers\": {\"sidecar\": {\"type\": \"stdio\", \"command\": \"BIN/sidecar-ls\", \"args\": [\"mcp\", \"--mode\", \"review\"]}}}\n"},
		{"opencode", "home/.config/opencode/opencode.json", "{\"mcp\": {\"sidecar\": {\"type\": \"local\", \"command\": [\"BIN/sidecar-ls\", \"mcp\"], \"enabled\": true}}}\n"},
	} {
		w := newWorld(t)
		w.write("bin/sidecar-ls", "")
		w.write(c.file, strings.ReplaceAll(c.before, "BIN", w.name("bin")))
		before := w.files()
		if p := w.plan(c.client, Options{}); !p.Done {
			t.Errorf("%s, the control: %s", c.client, p.Changes[0].Diff)
		}
		if err := ownfile.Remove(w.name("bin/sidecar-ls")); err != nil {
			t.Fatal(err)
		}
		delete(before, "bin/sidecar-ls")
		before["bin/"] = ""
		if r := w.state(c.client, "mcp"); r.State != Incomplete {
			t.Errorf("%s: %+v", c.client, r)
		}
		w.apply(c.client, Options{})
		if text := w.files()[c.file]; strings.Contains(text, w.name("bin")) || strings.Contains(c.before, "review") != strings.Contains(text, "review") {
			t.Errorf("%s:\n%s", c.client, text)
		}
		w.undo(c.client, Options{})
		w.want(before, c.client+", after undo")
	}
}

// TestPlaces: links are followed and told, and what is not a file of the user's
// own is refused.
func TestPlaces(t *testing.T) {
	const file = "home/.codex/config.toml"
	t.Run("a link", func(t *testing.T) {
		w := newWorld(t)
		w.write("dotfiles/codex.toml", "a = 1\n")
		w.write("home/.codex/x", "")
		if err := errors.Join(ownfile.Symlink("../../dotfiles/codex.toml", w.name(file)), ownfile.Chmod(w.name("dotfiles/codex.toml"), 0o640)); err != nil {
			t.Fatal(err)
		}
		before := w.files()
		p := w.apply("codex", Options{})
		if target := p.Changes[0].Target; target != w.name("dotfiles/codex.toml") {
			t.Errorf("it says that it writes to %q", target)
		}
		if to, err := os.Readlink(w.name(file)); err != nil || to == "" {
			t.Errorf("the link is gone: %v", err)
		}
		if info, err := os.Stat(w.name("dotfiles/codex.toml")); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("the mode is %v, %v", info.Mode(), err)
		}
		w.undo("codex", Options{})
		w.want(before, "after undo")
		if info, err := os.Lstat(w.name(file)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Error("undo made a file of the link")
		}
	})
	for name, c := range map[string]struct {
		says string
		make func(w *world) error
	}{
		"a link to nothing": {"is a link to nowhere", func(w *world) error { return ownfile.Symlink("nowhere", w.name(file)) }},
		"read-only": {"is read-only", func(w *world) error {
			w.write(file, "a = 1\n")
			return ownfile.Chmod(w.name(file), 0o444)
		}},
		"a directory": {"is not a file", func(w *world) error { return ownfile.Mkdir(w.name(file), 0o755) }},
		"a file for a directory": {"is not a directory", func(w *world) error {
			return errors.Join(ownfile.Remove(w.name("home/.codex")), ownfile.WriteFile(w.name("home/.codex"), nil, 0o644))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if err := errors.Join(ownfile.Mkdir(w.name("home/.codex"), 0o755), c.make(w)); err != nil {
				t.Fatal(err)
			}
			if _, err := w.env.Plan("codex", Options{}); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
	t.Run("a link out of the project", func(t *testing.T) {
		w := newWorld(t)
		w.write("home/.claude.json", "{}\n")
		if err := ownfile.Symlink("../home/.claude.json", w.name("project/.mcp.json")); err != nil {
			t.Fatal(err)
		}
		if _, err := w.env.Plan("claude", Options{Project: true}); err == nil || !strings.Contains(err.Error(), "leads out of the project") {
			t.Error(err)
		}
		if err := ownfile.Remove(w.name("project/.mcp.json")); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.Symlink("../home", w.name("project/.claude")); err != nil {
			t.Fatal(err)
		}
		if _, err := w.env.Plan("claude", Options{Project: true}); err == nil || !strings.Contains(err.Error(), "leads out of the project") {
			t.Error(err)
		}
		if err := errors.Join(ownfile.Remove(w.name("project/.claude")), ownfile.Mkdir(w.name("project/inner"), 0o755), ownfile.Symlink("inner", w.name("project/.claude"))); err != nil {
			t.Fatal(err)
		}
		w.apply("claude", Options{Project: true}) // the control: it stays in the project
	})
}

// TestAllOrNothing: a file that has changed meanwhile stops the run, and when the
// second file can't be written the first has what it had.
func TestAllOrNothing(t *testing.T) {
	w := newWorld(t)
	w.write("home/.claude.json", "{}\n")
	p := w.plan("claude", Options{})
	w.write("home/.claude.json", "{\"n\": 1}\n")
	if err := p.Apply(); err == nil || !strings.Contains(err.Error(), "has changed since") {
		t.Error(err)
	}
	want := map[string]string{"home/.claude.json": "{\"n\": 1}\n"}
	w.want(want, "after it was refused")
	p = w.plan("claude", Options{})
	all, err := stage(p.Changes)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	if err := ownfile.Mkdir(w.name("home/.claude/settings.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := commit(all); err == nil {
		t.Error("a directory was replaced")
	}
	if err := ownfile.RemoveAll(w.name("home/.claude")); err != nil {
		t.Fatal(err)
	}
	w.want(want, "after it failed")
	w.apply("claude", Options{}) // the control
}

// TestTwice: runs are undone together, and those of a project apart.
func TestTwice(t *testing.T) {
	w := newWorld(t)
	w.write("home/.codex/config.toml", "a = 1\n")
	before := w.files()
	w.apply("codex", Options{})
	w.apply("codex", Options{OnlyOurs: true})
	w.apply("codex", Options{Project: true})
	if p := w.undo("codex", Options{}); len(p.Changes) != 1 {
		t.Errorf("%d changes", len(p.Changes))
	}
	if r := w.state("codex", "mcp"); r.State != On || r.Why != "in this project" {
		t.Errorf("%+v", r)
	}
	w.undo("codex", Options{Project: true})
	w.want(before, "after undo")
	if p := w.undo("codex", Options{}); len(p.Changes)+len(p.Left) != 0 {
		t.Errorf("there was more to undo: %+v", p)
	}
}

// TestUndoOfWhatBroke: a file that does not parse any more is left, with what to
// take out, until it does.
func TestUndoOfWhatBroke(t *testing.T) {
	w := newWorld(t)
	w.apply("codex", Options{})
	const file = "home/.codex/config.toml"
	good := w.files()[file] + "# more\n"
	w.write(file, good+"=\n")
	p := w.undo("codex", Options{})
	if len(p.Left) != 1 || !strings.Contains(p.Left[0], "line 7") || !strings.Contains(p.Left[0], "mcp_servers.sidecar") {
		t.Errorf("%q", p.Left)
	}
	w.write(file, good)
	if p := w.undo("codex", Options{}); len(p.Left) != 0 || strings.Contains(w.files()[file], "sidecar") {
		t.Errorf("%q\n%s", p.Left, w.files()[file])
	}
	w.apply("codex", Options{})
	if err := ownfile.Remove(w.name(file)); err != nil {
		t.Fatal(err)
	}
	if p := w.undo("codex", Options{}); len(p.Left)+len(p.Changes) != 0 {
		t.Errorf("undo of a file that is gone: %+v", p)
	}
}

// A directory of a project that became a link to elsewhere is not written through, nor
// is what lies there taken away.
func TestSwappedDirectory(t *testing.T) {
	root, decoy := t.TempDir(), t.TempDir()
	file := filepath.Join(root, ".vscode", "settings.json")
	for _, remove := range []bool{false, true} {
		if err := errors.Join(ownfile.MkdirAll(filepath.Dir(file), 0o755), ownfile.WriteFile(file, []byte("{}"), 0o644), ownfile.WriteFile(filepath.Join(decoy, "settings.json"), []byte("{}"), 0o644)); err != nil {
			t.Fatal(err)
		}
		plan := func() *Change {
			c, err := locate(file, root)
			if err != nil {
				t.Fatal(err)
			}
			c.after, c.Remove = []byte(`{"a":1}`), remove
			return c
		}
		c := plan()
		if err := errors.Join(ownfile.Rename(filepath.Dir(file), filepath.Join(root, "away")), ownfile.Symlink(decoy, filepath.Dir(file))); err != nil {
			needs.Skip(t, needs.Links, "there are no links here: ", err)
		}
		if all, err := stage([]*Change{c}); err == nil {
			t.Errorf("it was staged: %v", commit(all))
		}
		if data, err := os.ReadFile(filepath.Join(decoy, "settings.json")); string(data) != "{}" {
			t.Errorf("elsewhere is %q, %v", data, err)
		}
		if err := errors.Join(ownfile.Remove(filepath.Dir(file)), ownfile.Rename(filepath.Join(root, "away"), filepath.Dir(file))); err != nil {
			t.Fatal(err)
		}
		all, err := stage([]*Change{plan()}) // the control
		if err == nil {
			err = commit(all)
		}
		if _, there := os.Lstat(file); err != nil || (there == nil) == remove {
			t.Errorf("remove %v: %v, %v", remove, err, there)
		}
	}
}

// TestFamilies: the families of tools that are wanted are in the entry. An entry that says
// something else already is left alone, and undo takes it out whatever it says.
func TestFamilies(t *testing.T) {
	for client, file := range map[string]string{"cursor": "home/.cursor/mcp.json", "opencode": "home/.config/opencode/opencode.json", "codex": "home/.codex/config.toml"} {
		w := newWorld(t)
		before := w.files()
		w.apply(client, Options{Tools: []string{"core", "git"}})
		flat := strings.Join(strings.Fields(w.files()[file]), " ")
		if !strings.Contains(flat, `"--tools", "core,git"`) {
			t.Errorf("%s: %s", client, flat)
		}
		for _, o := range []Options{{}, {Tools: []string{"core", "git"}}} {
			if p := w.plan(client, o); !p.Done {
				t.Errorf("%s, the control %v: %+v", client, o, p.Changes)
			}
		}
		if _, err := w.env.Plan(client, Options{Tools: []string{"all"}}); err == nil || !strings.Contains(err.Error(), "--undo") {
			t.Errorf("%s: other families: %v", client, err)
		}
		w.undo(client, Options{})
		w.want(before, client+", after undo")
	}
}
