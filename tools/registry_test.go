package tools

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func tool(name string, change ...func(*Tool)) *Tool {
	t := NewExec(Def{Name: name, Description: name}, func(context.Context, *Call, struct{}) (Result, error) { return Result{}, nil })
	for _, f := range change {
		f(t)
	}
	return t
}

func mcp(server, name string) *Tool {
	t, err := Raw(Def{Name: MCPName(server, name, nil), Description: name}, Source{Kind: SourceMCP, Server: server, Tool: name}, Exec, nil,
		func(context.Context, *Call, json.RawMessage) (Result, error) { return Result{}, nil })
	if err != nil {
		panic(err)
	}
	return t
}

func override(t *Tool)  { t.Override, t.Source = true, Source{Kind: SourcePlugin, Path: "p"} }
func alwaysAsk(t *Tool) { t.AlwaysAsk = true }
func reads(t *Tool)     { t.Access = Read }

func sampleRegistry(t *testing.T) *Registry {
	t.Helper()
	r := NewRegistry(RegistryOptions{Aliases: map[string]string{"find_files": "search_files"}})
	if err := r.Register(Builtin, tool("read_file"), tool("search_files"), tool("step_2"), tool("file_info")); err != nil {
		t.Fatal(err)
	}
	if err := r.Register(User, mcp("git-hub", "List.Issues"), mcp("fs", "file_get")); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLookup(t *testing.T) {
	r := sampleRegistry(t)
	for _, c := range []struct {
		name, want string
		repaired   bool
	}{
		{"read_file", "read_file", false},
		{" read_file\n", "read_file", true},
		{`"read_file"`, "read_file", true},
		{"functions.read_file", "read_file", true},
		{"functions_read_file", "read_file", true},
		{"read_file_12", "read_file", true},
		{"functions.read_file_0", "read_file", true},
		{"Read_File", "read_file", true},
		{"read-file", "read_file", true},
		{"ReadFile", "read_file", true},
		{"step_2", "step_2", false},
		{"step_2_1", "step_2", true},
		{"find_files", "search_files", true},
		{"mcp:git-hub/List.Issues", "mcp_git_hub_list_issues", false},
		{"mcp__git-hub__List.Issues", "mcp_git_hub_list_issues", false},
		{"mcp_git_hub_list_issues", "mcp_git_hub_list_issues", false},
		{"read", "", false},
		{"", "", false},
		{"functions.", "", false},
		{"_1", "", false},
		{"mcp:git-hub", "", false},
		{"mcp:fs/List.Issues", "", false},
	} {
		got, repaired, ok := r.Lookup(c.name)
		if ok != (c.want != "") || ok && got.Name != c.want || (repaired != "") != c.repaired {
			t.Errorf("Lookup(%q) = %v, %q, %v; want %q", c.name, got, repaired, ok, c.want)
		}
	}
}

func TestUnknownNamesTheNearest(t *testing.T) {
	r := sampleRegistry(t)
	for name, want := range map[string]string{
		"raed_file":    "did you mean read_file",
		"search_flies": "did you mean search_files",
		"qqqq":         "use one of the tools",
	} {
		e := r.Unknown(name)
		if e.Code != UnknownTool || !strings.Contains(e.Message, strings.TrimSuffix(want, "?")) {
			t.Errorf("%s: %s: %s; want %s", name, e.Code, e.Message, want)
		}
	}
}

func TestFilter(t *testing.T) {
	r := sampleRegistry(t)
	all := []string{"file_info", "mcp_fs_file_get", "mcp_git_hub_list_issues", "read_file", "search_files", "step_2"}
	for _, c := range []struct {
		name      string
		filter    Filter
		want      []string
		unmatched []string
	}{
		{"all", Filter{}, all, nil},
		{"none", Filter{Allow: []string{}}, nil, nil},
		{"an empty selector selects nothing", Filter{Allow: []string{""}}, nil, []string{""}},
		{"a bare prefix is no glob", Filter{Allow: []string{"file"}}, nil, []string{"file"}},
		{"a part of a name is no selector", Filter{Allow: []string{"fs", "get", "file_get"}}, nil, []string{"fs", "get", "file_get"}},
		{"a name", Filter{Allow: []string{"read_file"}}, []string{"read_file"}, nil},
		{"an old name", Filter{Allow: []string{"find_files"}}, []string{"search_files"}, nil},
		{"a glob", Filter{Allow: []string{"file*"}}, []string{"file_info"}, nil},
		{"everything", Filter{Allow: []string{"*"}}, all, nil},
		{"a server", Filter{Allow: []string{"mcp:fs"}}, []string{"mcp_fs_file_get"}, nil},
		{"a server's prefix", Filter{Allow: []string{"mcp:git"}}, nil, []string{"mcp:git"}},
		{"a server's tool", Filter{Allow: []string{"mcp:fs/file_get", "mcp:fs/other"}}, []string{"mcp_fs_file_get"}, []string{"mcp:fs/other"}},
		{"a source", Filter{Source: SourceMCP}, []string{"mcp_fs_file_get", "mcp_git_hub_list_issues"}, nil},
		{"a server by name", Filter{Server: "fs"}, []string{"mcp_fs_file_get"}, nil},
		{"a selector that the other conditions leave nothing of is no mistake", Filter{Source: SourceMCP, Allow: []string{"read_file"}}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, unmatched := r.List(c.filter)
			var names []string
			if list != nil {
				names = Names(list)
			}
			if d := cmp.Diff([][]string{c.want, c.unmatched}, [][]string{names, unmatched}); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestLayers(t *testing.T) {
	var warned, changed []string
	r := NewRegistry(RegistryOptions{
		Warn:    func(s string) { warned = append(warned, s) },
		Changed: func(names []string) { changed = append(changed, strings.Join(names, " ")) },
	})
	builtin, guarded := tool("grep"), tool("set", alwaysAsk)
	if err := r.Register(Builtin, builtin, guarded); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]*Tool{
		"covers without saying so": {tool("fine"), tool("grep")},
		"twice at once":            {tool("a"), tool("a")},
		"asks less":                {tool("set", override)},
		"claims to read only":      {tool("grep", override, reads)},
	} {
		if err := r.Register(User, bad...); err == nil {
			t.Errorf("%s: no error", name)
		}
		if r.Len() != 2 {
			t.Errorf("%s: a part was registered", name)
		}
	}
	mine, theirs := tool("grep", override), tool("grep", override)
	for _, step := range []struct {
		name string
		do   func() error
		want *Tool
	}{
		{"the user's covers", func() error { return r.Register(User, mine) }, mine},
		{"the project's covers that", func() error { return r.Register(Project, theirs) }, theirs},
		{"gone: the user's is back", func() error { r.Remove(Project, "grep"); return nil }, mine},
		{"gone: the built-in is back", func() error { r.Remove(User, "grep"); return nil }, builtin},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got, _, _ := r.Lookup("grep"); got != step.want {
			t.Errorf("%s: got another", step.name)
		}
	}
	if len(warned) != 2 || !strings.Contains(warned[0], "tool grep of the user layer (plugin p) takes the place of the built-in one") {
		t.Errorf("warnings %q", warned)
	}
	if d := cmp.Diff([]string{"grep set", "grep", "grep", "grep", "grep"}, changed); d != "" {
		t.Errorf("changes -want +got:\n%s", d)
	}
	// A reload that fails keeps what is there.
	if err := r.Register(User, tool("own")); err != nil {
		t.Fatal(err)
	}
	if err := r.Replace(User, func(*Tool) bool { return true }, tool("next"), tool("grep")); err == nil {
		t.Error("no error")
	}
	if _, _, ok := r.Lookup("own"); !ok {
		t.Error("the old version is gone")
	}
	if err := r.Replace(User, func(*Tool) bool { return true }, tool("own"), tool("next")); err != nil || r.Len() != 4 {
		t.Errorf("reload: %v, %d tools", err, r.Len())
	}
}

func TestReadersSeeWholeChanges(t *testing.T) {
	r := NewRegistry(RegistryOptions{})
	a, b := tool("a"), tool("b")
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 200 {
			_ = r.Register(User, a, b)
			r.Remove(User, "a", "b")
		}
	})
	for range 2000 {
		if list, _ := r.List(Filter{}); len(list) == 1 {
			t.Error("half a change")
		}
	}
	wg.Wait()
}

func TestMCPName(t *testing.T) {
	if got := MCPName("a-b", "C.d", nil); got != "mcp_a_b_c_d" {
		t.Error(got)
	}
	one := MCPName("a_b", "c", nil)
	two := MCPName("a", "b_c", func(name string) bool { return name == one })
	long := MCPName(strings.Repeat("s", 90), "t", nil)
	if one == two || len(long) > maxName || !validName.MatchString(two) || !validName.MatchString(long) {
		t.Error(one, two, long)
	}
}

func BenchmarkLookup(b *testing.B) {
	r := NewRegistry(RegistryOptions{})
	if err := r.Register(Builtin, tool("read_file"), tool("grep")); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Lookup("read_file")
	}
}

// TestKits: a kit is its tools and those that kits are worked with; what is there no
// more fits nothing.
func TestKits(t *testing.T) {
	kits := map[string][]string{"round": {"read_file", "edit_file"}}
	r := NewRegistry(RegistryOptions{Kits: func(name string) []string { return kits[name] }})
	for _, one := range []struct{ in, want []string }{
		{nil, nil},
		{[]string{"grep"}, []string{"grep"}},
		{[]string{"kit:round", "grep"}, []string{"read_file", "edit_file", "skill", "write_todos", "complete_todo", "grep"}},
		{[]string{"*", "!kit:round"}, []string{"*", "!read_file", "!edit_file"}},
		{[]string{"kit:none"}, []string{"kit:none"}},
	} {
		if got := r.WithoutKits(one.in); !slices.Equal(got, one.want) {
			t.Errorf("%q is %q, want %q", one.in, got, one.want)
		}
	}
	if got := NewRegistry(RegistryOptions{}).WithoutKits([]string{"kit:round"}); !slices.Equal(got, []string{"kit:round"}) {
		t.Errorf("without kits: %q", got)
	}
}
