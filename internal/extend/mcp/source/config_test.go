package source

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

type settings struct{ s *config.Settings }

func (s settings) Now() *config.Settings { return s.s }

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := ownfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// folders is the Config of folders a, b, …, with the user's settings.
func folders(t *testing.T, user string, names ...string) FromSettings {
	t.Helper()
	now, problems := config.Load(config.Source{Origin: config.User, Name: "user", Data: []byte(user)})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c := FromSettings{Settings: settings{now}, Hide: redact.New()}
	top := t.TempDir()
	for _, name := range names {
		dir := filepath.Join(top, name)
		if err := ownfile.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		c.Folders = append(c.Folders, workspace.Folder{Name: name, Dir: dir})
	}
	return c
}

// TestFolders: the files of all folders name servers, each for its folder; a name
// that is taken is said to be, and what can't be read spoils nothing else.
func TestFolders(t *testing.T) {
	c := folders(t, `{"mcp.servers": {"mine": {"command": "m"}, "taken": {"command": "m"}}}`, "a", "b", "c")
	a, b := c.Folders[0].Dir, c.Folders[1].Dir
	put(t, a+"/.mcp.json", `{"mcpServers": {"one": {"command": "x", "args": ["${workspaceFolder}"], "cwd": "sub"}, "twice": {"command": "x"}, "taken": {"command": "x"}}}`)
	put(t, a+"/.vscode/mcp.json", `{"servers": {"twice": {"command": "x"}, "other": {"command": "x"}}}`)
	put(t, b+"/.mcp.json", `{"mcpServers": {"one": {"command": "x", "args": ["${workspaceFolder}"], "cwd": "sub"}, "two": {"command": "x", "args": ["${workspaceFolder}"]}}}`)
	put(t, c.Folders[2].Dir+"/.mcp.json", `{"mcpServers": 7}`)
	list, problems := c.Servers()
	var got []string
	for _, s := range list {
		got = append(got, s.Name+" "+s.Origin+" "+filepath.Base(s.Root)+" "+s.Shadowed)
	}
	want := []string{
		"mine sidecar.mcp.servers a ", "taken sidecar.mcp.servers a ", "one a/.mcp.json a ", "taken a/.mcp.json a sidecar.mcp.servers",
		"twice a/.mcp.json a ", "other a/.vscode/mcp.json a ", "one b/.mcp.json b a/.mcp.json", "two b/.mcp.json b ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if len(problems) != 1 || !strings.Contains(problems[0], "in c: .mcp.json") {
		t.Errorf("%q", problems)
	}
	full, err := c.Expand(list[7])
	if err != nil || full.Command[1] != b {
		t.Errorf("%q, %v", full.Command, err)
	}

	list = slices.DeleteFunc(list, func(s Server) bool { return !s.Project })
	bench := newBench(t, list...)
	bench.Reload()
	all := bench.List()
	i := slices.IndexFunc(all, func(s Status) bool { return s.Shadowed && s.Name == "one" })
	if i < 1 || all[i].State != Disabled || !all[i].Trusted || !strings.Contains(all[i].Error, "a/.mcp.json has this name") || all[i-1].Name != "one" || all[i-1].State != Untrusted {
		t.Errorf("%+v", all)
	}
}

// TestMemoryByFolder: trust in a folder's server is none in another's.
func TestMemoryByFolder(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	m := NewUserMemory()
	if err := m.Save("/a", "x", Known{Trusted: "t"}); err != nil {
		t.Fatal(err)
	}
	for root, want := range map[string]string{"/a": "t", "/b": ""} {
		if k, err := NewUserMemory().Load(root, "x"); err != nil || k.Trusted != want {
			t.Errorf("%s: %+v, %v", root, k, err)
		}
	}
}

func TestParseEnv(t *testing.T) {
	text := "\ufeff# of ours\r\n\r\nexport A=1\r\nB = two words # and a comment\nC='$NOT ${filled} \\n'\nD=\"a\\nb\\\"\\\\\" # x\nE=\nF=\"-----BEGIN\nxyz\n-----END\"\nG=a#b=c\nA=2\nexported=1\nH=`x`\n"
	want := map[string]string{"A": "2", "B": "two words", "C": `$NOT ${filled} \n`, "D": "a\nb\"\\", "E": "", "F": "-----BEGIN\nxyz\n-----END", "G": "a#b=c", "exported": "1", "H": "x"}
	got, err := parseEnv(text)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%q, %v", got, err)
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: %q", k, got[k])
		}
	}
	for text, line := range map[string]string{
		"A=1\nhush-hush": "line 2 ", "1A=hush-hush": "line 1 ", "A B=hush-hush": "line 1 ", "=hush-hush": "line 1 ", "\n\nA=\"hush-hush\nB=2": "line 3 ",
		"A='hush-hush' more": "line 1 ", "A=hush-hush\x00": "line 1 ", "{\"json\": \"hush-hush\"}": "line 1 ",
	} {
		if _, err := parseEnv(text); err == nil || !strings.Contains(err.Error(), line) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := parseEnv(strings.Repeat("A", maxEnvVariables+1) + "=1"); err != nil {
		t.Errorf("control: %v", err)
	}
	var many strings.Builder
	for i := range maxEnvVariables + 1 {
		many.WriteString(strings.Repeat("A", i+1) + "=1\n")
	}
	if _, err := parseEnv(many.String()); err == nil {
		t.Error("too many")
	}
}

// TestEnvFile: a server gets the variables of its file, once its user trusts the
// path and the names; the values are secrets.
func TestEnvFile(t *testing.T) {
	t.Setenv("WHERE", "conf")
	c := folders(t, `{"mcp.servers": {"mine": {"command": "x", "envFile": "${workspaceFolder}/${WHERE}/.env", "env": {"OWN": "of the entry", "URL": "y"}}}}`, "a")
	dir := c.Folders[0].Dir
	put(t, dir+"/conf/.env", "TOKEN=hush-hush-4711\nOWN=of the file\n")
	away := filepath.Join(t.TempDir(), "away.env")
	put(t, away, "TOKEN=hush-hush-4712\n")
	link := func(name, to string) {
		if err := ownfile.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("in.env", "conf/.env")
	link("out.env", away)
	put(t, dir+"/wrong.env", "hush-hush\n")
	put(t, dir+"/large.env", "A="+strings.Repeat("x", maxEnvFile))
	if err := ownfile.Mkdir(dir+"/dir.env", 0o700); err != nil {
		t.Fatal(err)
	}
	entries := map[string]any{}
	files := map[string]string{ // with the error
		"conf/.env": "", "in.env": "", away: "", "${workspaceFolder}/conf/.env": "",
		"none.env": "is not there", "out.env": "can't be read", "dir.env": "no regular file", "../a/conf/.env": "outside of the workspace folder",
		"wrong.env": "line 1 is not NAME=value", "large.env": "more than", "${NOT_SET}/.env": "NOT_SET of the environment is not set",
	}
	for name := range files {
		entries[strings.NewReplacer("/", "_", "$", "", "{", "", "}", "").Replace(name)] = map[string]string{"command": "x", "envFile": name}
	}
	data, _ := json.Marshal(map[string]any{"mcpServers": entries})
	put(t, dir+"/.mcp.json", string(data))
	list, problems := c.Servers()
	if len(problems) > 0 || len(list) != len(files)+1 {
		t.Fatalf("%q, %d servers", problems, len(list))
	}
	mine, err := c.Expand(list[0])
	if err != nil || mine.Env["TOKEN"] != "hush-hush-4711" || mine.Env["OWN"] != "of the entry" || mine.Env["URL"] != "y" {
		t.Errorf("%q, %v", mine.Env, err)
	}
	if line := list[0].Line(); !strings.Contains(line, `${WHERE}/.env" (OWN, TOKEN)`) || strings.Contains(line, "hush") {
		t.Errorf("%s", line)
	}
	if got := c.Hide.Text("it is hush-hush-4711"); strings.Contains(got, "4711") {
		t.Errorf("%s", got)
	}
	for _, s := range list[1:] {
		full, err := c.Expand(s)
		why := files[s.EnvFile]
		if (err == nil) != (why == "") || err != nil && (!strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%s: %v", s.EnvFile, err)
		}
		if why == "" && !strings.HasPrefix(full.Env["TOKEN"], "hush-hush-47") {
			t.Errorf("%s: %q", s.EnvFile, full.Env)
		}
	}

	// Trust covers path and names: other values are the user's business, another
	// name is not.
	find := func(file string) Server {
		list, _ := c.Servers()
		i := slices.IndexFunc(list, func(s Server) bool { return s.Project && s.EnvFile == file })
		return list[i]
	}
	before := find("conf/.env")
	put(t, dir+"/conf/.env", "TOKEN=another\nOWN=x\n")
	if now := find("conf/.env"); now.Identity() != before.Identity() {
		t.Error("another value asks again")
	}
	put(t, dir+"/conf/.env", "TOKEN=another\nOWN=x\nLD_PRELOAD=x.so\n")
	if now := find("conf/.env"); now.Identity() == before.Identity() || !strings.Contains(now.Line(), "LD_PRELOAD") {
		t.Errorf("another name does not ask again: %s", now.Line())
	}
	if _, err := c.Expand(before); err == nil || !strings.Contains(err.Error(), "other variables than when it was looked at") {
		t.Errorf("what was trusted has changed meanwhile: %v", err)
	}
	if in, conf := find("in.env"), find("conf/.env"); in.Identity() == conf.Identity() {
		t.Error("another path is the same")
	}
}

// TestProjectLimits: a project's entry lowers limits, and raises none.
func TestProjectLimits(t *testing.T) {
	c := folders(t, `{"mcp.servers": {"mine": {"command": "x", "timeoutSeconds": 3600, "maxTools": 1024}}}`, "a")
	put(t, c.Folders[0].Dir+"/.mcp.json", `{"mcpServers": {"less": {"command": "x", "timeoutSeconds": 5, "maxTools": 3, "maxResultBytes": 10}, "more": {"command": "x", "timeoutSeconds": 3600, "maxTools": 9},
		"wrong": {"command": "x", "maxTools": 0}, "text": {"command": "x", "maxTools": "many"}, "sse": {"type": "sse", "command": "x"}, "file": {"url": "https://mcp.example.org", "envFile": ".env"}}}`)
	list, _ := c.Servers()
	by := map[string]Server{}
	for _, s := range list {
		by[s.Name] = s
	}
	if l := by["mine"].Limits; l.TimeoutSeconds != 3600 || l.MaxTools != 1024 {
		t.Errorf("%+v", l)
	}
	if s := by["less"]; s.Limits != (config.MCPLimits{TimeoutSeconds: 5, MaxTools: 3, MaxResultBytes: 10}) || len(s.Notes) > 0 {
		t.Errorf("%+v", s)
	}
	if s := by["more"]; s.Limits != (config.MCPLimits{MaxTools: 9}) || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "timeoutSeconds of 3600") {
		t.Errorf("%+v", s)
	}
	for name, why := range map[string]string{"wrong": "at least 1", "text": "can't be read", "sse": "another type", "file": "envFile, which is for a command"} {
		if s := by[name]; !strings.Contains(s.Broken, why) {
			t.Errorf("%s: %q", name, s.Broken)
		}
	}
	for _, text := range []string{`{"timeoutSeconds": 3601}`, `{"maxTools": 0}`, `{"maxResultBytes": 1e9}`, `{"envFile": 7}`} {
		_, problems := config.Load(config.Source{Origin: config.User, Name: "user", Data: []byte(`{"mcp.servers": {"x": ` + strings.Replace(text, "{", `{"command": "x", `, 1) + `}}`)})
		if len(problems) != 1 {
			t.Errorf("%s: %q", text, problems)
		}
	}
}
