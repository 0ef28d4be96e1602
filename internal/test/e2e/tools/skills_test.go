package tools_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/server"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// skillFiles are a project with a skill and a kit.
var skillFiles = map[string]string{
	".agents/skills/house/SKILL.md": "---\nname: house\ndescription: How we write here.\nallowed-tools: Bash(rm:*)\n---\nAs on disk. The key is AKIAIOSFODNN7EXAMPLQ.\n",
	".agents/skills/round/SKILL.md": "---\nname: round\ndescription: A round.\nmetadata:\n  requires: read_file edit_file\n---\n## Steps\n1. Read a.txt\n2. Change it\n",
	".claude/skills/bad/SKILL.md":   "---\nname: bad\n---\nnothing\n",
	"a.txt":                         "one\n",
}

// TestSkillsOfAProject: they wait for trust, are read as the session sees the files, pass
// for nothing else, and allow nothing.
func TestSkillsOfAProject(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, skillFiles)
	r := e2e.Connect(t, dir, fakeeditor.Options{})
	list, problems := r.SkillsOf("")
	if len(list) != 2 || !strings.Contains(list["house"].Missing, "not trusted") || len(problems) != 1 || !strings.Contains(problems[0], "bad is left out: it has no description") {
		t.Fatalf("without trust: %+v, %q", list, problems)
	}
	if res := r.Tool("skill", e2e.Object{"name": "house"}); res.OK || res.Error.Code != tools.Unavailable || strings.Contains(res.Content, "As on disk") {
		t.Errorf("without trust: %+v", res)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.skills.list", e2e.Object{"session": "nobody"}, nil); err == nil || !strings.Contains(err.Error(), "unknown session") {
		t.Errorf("the skills of no session: %v", err)
	}

	r = e2e.Connect(t, dir, fakeeditor.Options{InitializationOptions: e2e.Object{"sidecar": e2e.Object{"workspace.trust": "trusted"}}})
	list, _ = r.SkillsOf("")
	if house := list["house"]; house.Missing != "" || !slices.Equal(house.AllowedTools, []string{"Bash(rm:*)"}) || !strings.Contains(strings.Join(house.Warnings, ""), "allows nothing") {
		t.Errorf("with trust: %+v", house)
	}
	if round := list["round"]; !round.Kit || !slices.Equal(round.Steps, []string{"Read a.txt", "Change it"}) || !slices.Equal(round.Tools, []string{"read_file", "edit_file"}) {
		t.Errorf("the kit: %+v", round)
	}
	res := r.Tool("skill", e2e.Object{"name": "house"})
	if !res.OK || !strings.HasPrefix(res.Content, `<untrusted_output tool="skill">`) || !strings.Contains(res.Content, "As on disk") || strings.Contains(res.Content, "AKIAIOSFODNN7EXAMPLQ") {
		t.Errorf("with trust: %+v", res)
	}
	if err := r.Open(t.Context(), fakeeditor.FileURI(filepath.Join(dir, ".agents/skills/house/SKILL.md")), "markdown", "---\nname: house\ndescription: How we write here.\n---\nNot saved.\n"); err != nil {
		t.Fatal(err)
	}
	if res := r.Tool("skill", e2e.Object{"name": "house"}); res.OK || !strings.Contains(res.Content, "not as it was") {
		t.Errorf("what is not saved is given: %+v", res)
	}

	e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "other", "mode": "review"})
	if res := r.In("other", "write_file", e2e.Object{"path": ".agents/skills/fresh/SKILL.md", "content": "---\nname: fresh\ndescription: Not accepted.\n---\nStill pending.\n"}); !res.OK {
		t.Fatalf("%+v", res)
	}
	if list, _ := r.SkillsOf("other"); list["fresh"].Description != "Not accepted." {
		t.Errorf("what is pending is not listed: %+v", list)
	}
	if res := r.In("other", "skill", e2e.Object{"name": "fresh"}); res.OK || !strings.Contains(res.Content, "not as it was") {
		t.Errorf("what is pending is given: %+v", res)
	}
	if list, _ := r.SkillsOf(""); list["fresh"].Name != "" {
		t.Errorf("what is pending is listed where it is not seen: %+v", list)
	}
	// What is on the disk counts once the user has taken it.
	e2e.Write(t, filepath.Join(dir, ".agents/skills/later/SKILL.md"), "---\nname: later\ndescription: Comes later.\n---\nTaken.\n")
	if res := r.In("other", "skill", e2e.Object{"name": "later"}); res.OK || !strings.Contains(res.Content, "not as it was") {
		t.Errorf("before it is taken: %+v", res)
	}
	if out, stderr, code := e2e.RunCLI(t, "", "trust", "yes", "--root", dir); code != 0 || !strings.Contains(out, "+Taken.") {
		t.Fatalf("%d: %s%s", code, out, stderr)
	}
	if res := r.In("other", "skill", e2e.Object{"name": "later"}); !strings.Contains(res.Content, "Taken.") {
		t.Errorf("once it is taken: %+v", res)
	}
	if res := r.In("other", "skill", e2e.Object{"name": "round"}); !strings.Contains(res.Content, "1. [ ] Read a.txt\n2. [ ] Change it") {
		t.Errorf("the kit: %+v", res)
	}
	if res := r.In("other", "complete_todo", e2e.Object{"index": 1}); !strings.Contains(res.Content, "1. [x] Read a.txt") {
		t.Errorf("a step is not ticked: %+v", res)
	}
	if res := r.In("other", "skill", e2e.Object{"name": "tdd_workflow"}); !res.OK || strings.Contains(res.Content, "untrusted_output") || !strings.Contains(res.Content, "3. [ ] Run that test") {
		t.Errorf("a kit that ships: %+v", res)
	}
}

// TestKitSelector: an allow-list with a kit has its tools and no other, as the kit was
// when the session was opened.
func TestKitSelector(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, skillFiles)
	r := e2e.Connect(t, dir, fakeeditor.Options{InitializationOptions: e2e.Object{"sidecar": e2e.Object{"workspace.trust": "trusted"}}})
	want := []string{"complete_todo", "edit_file", "read_file", "skill", "write_todos"}
	if got := r.Listed(e2e.Object{"allow": []string{"kit:round"}}); !slices.Equal(got, want) {
		t.Errorf("kit:round lists %q", got)
	}
	if got := r.Listed(e2e.Object{"allow": []string{"kit:code_quality", "!kit:round"}}); slices.Contains(got, "read_file") || !slices.Contains(got, "run_lint") {
		t.Errorf("one kit without the other lists %q", got)
	}
	e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "round", "allow": []string{"kit:round"}})
	e2e.Write(t, filepath.Join(dir, ".agents/skills/round/SKILL.md"), strings.Replace(skillFiles[".agents/skills/round/SKILL.md"], "edit_file", "run_command", 1))
	if got := r.Listed(e2e.Object{"session": "round"}); !slices.Equal(got, want) {
		t.Errorf("a kit that was changed later lists %q", got)
	}
	if res := r.In("round", "run_command", e2e.Object{"command": "true"}); res.OK || res.Error.Code != tools.Denied {
		t.Errorf("a kit that was changed later allows %+v", res)
	}
	list, _ := r.SkillsOf("round")
	if !strings.Contains(list["round"].Missing, "not as it was") || list["house"].Missing != "" {
		t.Errorf("the session has %+v", list)
	}
	if res := r.In("round", "skill", e2e.Object{"name": "code-quality"}); res.OK || !strings.Contains(res.Content, "it needs the tools grep, run_lint, run_tests, git_diff") {
		t.Errorf("a kit without its tools: %+v", res)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.session.open", e2e.Object{"allow": []string{"kit:nothing"}}, nil); err == nil || !strings.Contains(err.Error(), "nothing in it fits a tool") {
		t.Errorf("a kit that is not there: %v", err)
	}
}

// TestSkillCommand: the command line lists and shows skills, alone and beside an editor.
func TestSkillCommand(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, skillFiles)
	for _, one := range []struct {
		code int
		args []string
		want string
	}{
		{2, []string{}, "skill takes list, or show"},
		{2, []string{"do"}, `skill takes list or show, not "do"`},
		{2, []string{"list", "x"}, "skill list takes nothing"},
		{2, []string{"show"}, "skill show takes the name"},
		{1, []string{"show", "hause"}, `there is no skill "hause"; did you mean house?`},
		{1, []string{"show", "house"}, "the skill house is not shown: the workspace is not trusted"},
		{0, []string{"list"}, "round can't be used: the workspace is not trusted"},
		{0, []string{"list"}, "bad is left out: it has no description"},
		{0, []string{"show", "debug_cycle"}, "## Steps\n1. Reproduce"},
	} {
		out, stderr, code := e2e.RunCLI(t, "", append([]string{"skill", "--root", dir}, one.args...)...)
		if code != one.code || !strings.Contains(out+stderr, one.want) {
			t.Errorf("skill %q: %d\n%s%s", one.args, code, out, stderr)
		}
	}
	e2e.Connect(t, dir, fakeeditor.Options{InitializationOptions: e2e.Object{"sidecar": e2e.Object{"workspace.trust": "trusted"}}})
	out, stderr, code := e2e.RunCLI(t, "", "skill", "--root", dir, "--json", "show", "round")
	var shown struct {
		server.Skill
		Body string
	}
	if err := json.Unmarshal([]byte(out), &shown); code != 0 || err != nil || !shown.Kit || !strings.HasPrefix(shown.Body, "## Steps") {
		t.Errorf("beside an editor: %d %v\n%s%s", code, err, out, stderr)
	}
}

// TestShippedSkills: what they tell of tools is so, and the calls that they show can be
// made.
func TestShippedSkills(t *testing.T) {
	e2e.Home(t)
	w, err := app.Open(t.Context(), []workspace.Folder{{Name: "x", Dir: e2e.Project(t, nil)}}, app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	found := w.Skills.List(t.Context(), w.Live, func(name string) bool { _, _, ok := w.Registry.Lookup(name); return ok })
	word, call := regexp.MustCompile("`([a-z]+_[a-z_]+)`"), regexp.MustCompile(`(?m)^([a-z_]+) ({.*})$`)
	shipped, calls := 0, 0
	for _, s := range found.Skills {
		if s.Origin != skills.Shipped {
			continue
		}
		shipped++
		if s.Missing != "" {
			t.Errorf("%s: %s", s.Name, s.Missing)
		}
		body, _ := s.Body()
		for _, m := range word.FindAllStringSubmatch(body, -1) {
			if _, _, ok := w.Registry.Lookup(m[1]); !ok && !slices.Contains(skillArguments, m[1]) {
				t.Errorf("%s speaks of %s, which is no tool", s.Name, m[1])
			}
		}
		for _, m := range call.FindAllStringSubmatch(body, -1) {
			calls++
			tool, _, ok := w.Registry.Lookup(m[1])
			if !ok {
				t.Errorf("%s calls %s, which is no tool", s.Name, m[1])
				continue
			}
			b, err := tool.Bind(json.RawMessage(m[2]))
			if err != nil || len(b.Repairs) > 0 {
				t.Errorf("%s: %s: %v %q", s.Name, m[0], err, b.Repairs)
			}
		}
	}
	if shipped != 12 || calls < 20 {
		t.Errorf("%d skills ship, with %d calls", shipped, calls)
	}
}

// skillArguments are those of tools that skills speak of.
var skillArguments = []string{"timeout_s", "expect_hash", "line_hint"}

// TestSkillsPage: the example of docs/skills.md is a kit, and works as the page says.
func TestSkillsPage(t *testing.T) {
	e2e.Home(t)
	page, err := os.ReadFile("../../../../docs/skills.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```markdown\n(.*?)```").FindSubmatch(page)
	if example == nil {
		t.Fatal("docs/skills.md has no example")
	}
	dir := e2e.Project(t, map[string]string{".agents/skills/release/SKILL.md": string(example[1]), ".agents/skills/release/references/tags.md": "v1.2.3\n"})
	if out, stderr, code := e2e.RunCLI(t, "", "trust", "--root", dir, "yes"); code != 0 {
		t.Fatalf("%d\n%s%s", code, out, stderr)
	}
	if out, stderr, code := e2e.RunCLI(t, "", "skill", "--root", dir, "list"); code != 0 || !regexp.MustCompile(`release +kit +project`).MatchString(out) || strings.Contains(out, "release:") {
		t.Errorf("%d\n%s%s", code, out, stderr)
	}
	if out, stderr, code := e2e.RunCLI(t, "", "skill", "--root", dir, "show", "release"); code != 0 || !strings.Contains(out, "Files: references/tags.md") || !strings.Contains(out, "4. Tag the version") {
		t.Errorf("%d\n%s%s", code, out, stderr)
	}
	r := e2e.Connect(t, dir, fakeeditor.Options{})
	if res := r.Tool("skill", e2e.Object{"name": "release"}); !res.OK || !strings.Contains(res.Content, "3. [ ] Run `make test`, and stop if it fails") {
		t.Errorf("%+v", res)
	}
	if res := r.Tool("skill", e2e.Object{"name": "release", "file": "references/tags.md"}); !strings.Contains(res.Content, "v1.2.3") {
		t.Errorf("%+v", res)
	}
}
