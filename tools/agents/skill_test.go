package agents

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// has are the tools of every session.
type has []string

func (h has) Search(string, string) (found []tools.Found, err error) {
	for _, name := range h {
		found = append(found, tools.Found{Tool: &tools.Tool{Def: tools.Def{Name: name}}})
	}
	return found, nil
}

type trusted bool

func (t trusted) Trusted() bool            { return bool(t) }
func (t trusted) Known() func(string) bool { return func(string) bool { return bool(t) } }

// TestSkill: a skill is given once, with its files; a kit becomes the list of todos.
func TestSkill(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	write := func(name, text string) {
		t.Helper()
		if err := ownfile.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := ownfile.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	user := filepath.Join(home, ".agents/skills")
	write(filepath.Join(user, "release/SKILL.md"), "---\nname: release\ndescription: How we release.\ncompatibility: needs git\n---\nTag it.\n")
	write(filepath.Join(user, "release/references/tags.md"), "v1.2.3\n")
	write(filepath.Join(user, "kit/SKILL.md"), "---\nname: kit\ndescription: A kit.\nmetadata:\n  requires: read_file\n---\n## Steps\n1. Look\n2. Act\n")
	write(filepath.Join(user, "far/SKILL.md"), "---\nname: far\ndescription: Needs more.\nmetadata:\n  requires: fly\n---\nbody\n")
	write(filepath.Join(dir, ".agents/skills/local/SKILL.md"), "---\nname: local\ndescription: Of the project.\n---\nDo as we do.\n")
	disk, err := workspace.OpenDisk([]workspace.Folder{{Name: "x", Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()

	store := session.NewStore(session.Options{})
	call := func(trust bool, args string) (string, tools.Result) {
		t.Helper()
		lib := skills.New(skills.Options{Settings: trusted(trust), Clean: redact.New()})
		tool := skill(Skills{Library: lib, Has: has{"read_file"}, Given: store}, store)
		b, err := tool.Bind(json.RawMessage(args))
		var r tools.Result
		if err == nil {
			r, _, err = b.Run(context.Background(), &tools.Call{ID: "c", Session: session.Default, Files: disk})
		}
		if err != nil {
			e := tools.AsError(err)
			return string(e.Code) + ": " + e.Message, r
		}
		return r.Text, r
	}
	for _, one := range []struct {
		args, want string
	}{
		{`{}`, "invalid_arguments"},
		{`{"name":""}`, "invalid_arguments"},
		{`{"name":"relaese"}`, `not_found: there is no skill "relaese"; did you mean release?`},
		{`{"name":"zzz"}`, `not_found: there is no skill "zzz"; there are `},
		{`{"name":"far"}`, "unavailable: the skill far can't be used: it needs the tool fly, which this session does not have"},
		{`{"name":"local"}`, "unavailable: the skill local can't be used: the workspace is not trusted"},
		{`{"name":"local","file":"SKILL.md"}`, "unavailable: the skill local can't be used: the workspace is not trusted"},
		{`{"name":"release","file":"references/tags.md"}`, "v1.2.3\n"},
		{`{"name":"release","file":"../kit/SKILL.md"}`, "invalid_arguments: file: it is no name of a file"},
		{`{"name":"release","file":"nothing"}`, "not_found: file: nothing can't be read; the skill has references/tags.md"},
		{`{"name":"release"}`, "# The skill release (user)\nIt is made for: needs git\n\nTag it.\n\nIts files, which skill reads with file: references/tags.md"},
		{`{"name":"Release"}`, "You were given the skill release in this session, and it has not changed."},
		{`{"name":"release","again":true}`, "# The skill release (user)"},
	} {
		if got, _ := call(false, one.args); !strings.HasPrefix(got, one.want) {
			t.Errorf("%s: %q, want %q", one.args, got, one.want)
		}
	}
	write(filepath.Join(user, "release/SKILL.md"), "---\nname: release\ndescription: How we release.\n---\nTag it, and push.\n")
	if got, _ := call(false, `{"name":"release"}`); !strings.Contains(got, "Tag it, and push.") {
		t.Errorf("a skill that has changed is not given: %q", got)
	}
	if got, r := call(true, `{"name":"local"}`); !strings.Contains(got, "Do as we do.") || !r.Untrusted {
		t.Errorf("a skill of the project: %q, %v", got, r.Untrusted)
	}
	if _, r := call(true, `{"name":"release","again":true}`); r.Untrusted {
		t.Error("a skill of the user's is from outside")
	}

	work, err := store.Work(session.Default)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := work.Change(func(s *steps.State) error {
		return s.WriteTodos([]steps.Todo{{Text: "before", State: steps.Completed}, {Text: "later"}})
	}); err != nil {
		t.Fatal(err)
	}
	got, r := call(false, `{"name":"kit"}`)
	if !strings.HasSuffix(got, "1. [ ] Look\n2. [ ] Act\n3. [ ] later") {
		t.Errorf("the kit says %q", got)
	}
	if out := r.Structured.(skillOut); !out.Kit || !slices.Equal(out.Steps, []string{"Look", "Act"}) {
		t.Errorf("the kit is %+v", out)
	}
	if _, err := work.Change(func(s *steps.State) error { return s.CompleteTodo(1) }); err != nil {
		t.Fatal(err)
	}
	if got, _ := call(false, `{"name":"kit"}`); !strings.HasPrefix(got, "You were given") || work.Now().Todos[0].State != steps.Completed {
		t.Errorf("a kit that is known begins again: %q", got)
	}
}
