package run_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// agentHome gives the test a user with a home of their own, and a directory on PATH.
func agentHome(t *testing.T) (user, bin string) {
	t.Helper()
	program.ServerAnywhere(t)
	user, bin = t.TempDir(), t.TempDir()
	t.Setenv("HOME", user)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return user, bin
}

func ownProgram(t *testing.T, at, text string) {
	t.Helper()
	e2e.Write(t, at, "#!/bin/sh\n"+text+"\n")
	if err := ownfile.Chmod(at, 0o755); err != nil {
		t.Fatal(err)
	}
}

// files are all below a directory, with their texts.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var data []byte
			data, err = os.ReadFile(path)
			all[strings.TrimPrefix(path, dir+"/")] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAgentsState: each agent of the table tries to change what it has of its user's, and
// to plant what is not there. What it obeys stays as it is; its conversations and what it
// refreshes of its keys are the user's own.
func TestAgentsState(t *testing.T) {
	user, bin := agentHome(t)
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "a\n"}, nil)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	folder := regexp.MustCompile("[^a-zA-Z0-9]").ReplaceAllString(real, "-")
	set, _ := config.Load()
	isFile := regexp.MustCompile(`\.[a-z]+$|_id$`)
	held, controls := 0, 0
	for _, p := range profile.All(set) {
		at := func(rel string) string {
			return filepath.Join(user, strings.NewReplacer("{folder}", folder, "{gemini}", "ours").Replace(rel))
		}
		e2e.Write(t, at(".gemini/projects.json"), fmt.Sprintf(`{"projects":{%q:"ours"}}`, real))
		obeyed := []string{}
		for _, rel := range slices.Concat(p.Reads, p.Settings, p.Copied) {
			name := at(rel)
			if slices.Contains(p.Reads, rel) || !isFile.MatchString(rel) {
				name = filepath.Join(name, "inner.md")
			}
			if rel != ".gemini/projects.json" {
				e2e.Write(t, name, "the user's\n")
			}
			obeyed = append(obeyed, name)
		}
		for _, rel := range p.Keys {
			e2e.Write(t, at(rel), `{"access":"old","url":"u"}`)
			if err := ownfile.Chtimes(at(rel), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}
		before := files(t, user)
		var lines strings.Builder
		for _, name := range obeyed {
			fmt.Fprintf(&lines, "grep -q . '%s' || echo 'lacks %s'\n", name, name)
		}
		for _, name := range obeyed {
			fmt.Fprintf(&lines, "echo evil > '%s'\nrm -f '%s'\nmkdir -p '%s.d' && echo evil > '%s.d/planted'\necho evil > '%s'\n", name, name, name, name, name)
		}
		// What is on no list, and what leads from the program's own home to the user's.
		for _, name := range []string{".claude/new.json", ".claude/shell-snapshots/x.sh", ".codex/new.toml", ".gemini/tmp/bin/rg", ".gemini/history/x/.git/config", ".local/share/opencode/bin/x", ".bashrc"} {
			fmt.Fprintf(&lines, "mkdir -p '%s' && echo evil > '%s'\n", filepath.Dir(at(name)), at(name))
		}
		for _, rel := range p.Keys {
			fmt.Fprintf(&lines, "echo '{\"access\":\"new\",\"url\":\"u\"}' > '%s'\n", at(rel))
		}
		for _, rel := range p.State {
			fmt.Fprintf(&lines, "echo said > '%s/conversation.jsonl'\n", at(rel))
		}
		ownProgram(t, filepath.Join(bin, p.Program), lines.String()+"exit 0")
		r := e2e.Runs(t, dir, "--yes", "--", p.Program)
		_ = r.In.Close()
		r.Ends(0)
		after := files(t, user)
		for name := range after {
			if strings.HasPrefix(name, ".local/state/sidecar-ls/") || strings.HasPrefix(name, ".cache/") {
				delete(after, name)
			}
		}
		want := maps.Clone(before)
		maps.DeleteFunc(want, func(name, _ string) bool {
			return strings.HasPrefix(name, ".local/state/sidecar-ls/") || strings.HasPrefix(name, ".cache/")
		})
		for _, rel := range p.Keys {
			want[strings.TrimPrefix(at(rel), user+"/")] = "{\"access\":\"new\",\"url\":\"u\"}\n"
			controls++
		}
		for _, rel := range p.State {
			want[strings.TrimPrefix(at(rel), user+"/")+"/conversation.jsonl"] = "said\n"
			controls++
		}
		for name := range maps.Keys(want) {
			if after[name] != want[name] {
				t.Errorf("%s: ~/%s is %q, not %q", p.Name, name, after[name], want[name])
			}
			held++
		}
		for name, text := range after {
			if _, ok := want[name]; !ok {
				t.Errorf("%s planted ~/%s: %q", p.Name, name, text)
			}
		}
		if said := r.Said.String(); strings.Contains(said, "lacks") {
			t.Errorf("%s does not see what it obeys: %s", p.Name, said)
		}
		_ = ownfile.Remove(filepath.Join(bin, p.Program))
		if err := errors.Join(ownfile.RemoveAll(filepath.Join(user, ".claude")), ownfile.RemoveAll(filepath.Join(user, ".codex")), ownfile.RemoveAll(filepath.Join(user, ".gemini"))); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d unchanged, %d controls", held, held, controls)
}

// TestAgentsHomeLinks: links that a program leaves in its own home lead the next start
// nowhere: neither what is copied into it nor what is given back.
func TestAgentsHomeLinks(t *testing.T) {
	user, bin := agentHome(t)
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "a\n"}, nil)
	e2e.Write(t, filepath.Join(user, ".claude.json"), `{"the":"user's"}`)
	e2e.Write(t, filepath.Join(user, ".claude/settings.json"), `{"the":"user's"}`)
	e2e.Write(t, filepath.Join(user, ".claude/.credentials.json"), `{"key":"old"}`)
	e2e.Write(t, filepath.Join(user, "victim"), `{"a":"secret"}`)
	ownProgram(t, filepath.Join(bin, "claude"), "for f in .claude.json .claude/settings.json .claude/.credentials.json .claude/CLAUDE.md; do rm -f ~/$f; ln -s "+filepath.Join(user, "victim")+" ~/$f; done; exit 0")
	for range 2 {
		r := e2e.Runs(t, dir, "--yes", "--", "claude")
		_ = r.In.Close()
		r.Ends(0)
	}
	for name, want := range map[string]string{"victim": `{"a":"secret"}`, ".claude/.credentials.json": `{"key":"old"}`, ".claude/settings.json": `{"the":"user's"}`} {
		if data, err := os.ReadFile(filepath.Join(user, name)); err != nil || string(data) != want {
			t.Errorf("~/%s is %q, %v", name, data, err)
		}
	}
}

// TestAgentsProgram: a profile is for the program that the person saw. What a repository
// calls by an agent's name has none of it.
func TestAgentsProgram(t *testing.T) {
	user, bin := agentHome(t)
	t.Setenv("ANTHROPIC_API_KEY", "the-key-of-the-user")
	e2e.Write(t, filepath.Join(user, ".claude/settings.json"), "the user's settings")
	const says = "echo key=$ANTHROPIC_API_KEY; cat ~/.claude/settings.json 2>/dev/null; echo; exit 0"
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "a\n"}, nil)
	ownProgram(t, filepath.Join(bin, "claude"), says)
	ownProgram(t, filepath.Join(dir, "claude"), says)
	ownProgram(t, filepath.Join(dir, "node_modules/.bin/claude"), says)
	prints := func(want string, args ...string) string {
		t.Helper()
		r := e2e.Runs(t, dir, args...)
		_ = r.In.Close()
		if got := r.Next(); got != want {
			t.Errorf("%v printed %q, not %q", args, got, want)
		}
		for r.Out.Scan() {
		}
		_ = r.Wait()
		return r.Said.String()
	}
	const has, hasNot = "key=the-key-of-the-user", "key="
	prints(has, "--yes", "--", "claude")
	prints(has, "--", "claude") // the control: it was allowed
	prints(hasNot, "--", "./claude")
	prints(hasNot, "--", filepath.Join(dir, "claude"))
	prints(hasNot, "--", "node_modules/.bin/claude")
	for _, path := range []string{"./claude", "node_modules/.bin/claude"} {
		r := e2e.Runs(t, dir, "--profile", "claude", "--", path)
		_ = r.In.Close()
		r.Ends(1, "Its program: "+filepath.Join(dir, filepath.Clean(path)), "no terminal to ask at")
	}
	r := e2e.Runs(t, dir, "--profile", "claude", "--", "sh", "-c", "echo ran")
	_ = r.In.Close()
	r.Ends(1, "/sh\n", "no terminal to ask at")
	// What was allowed is that text of it.
	prints(has, "--yes", "--profile", "claude", "--", "./claude")
	prints(has, "--profile", "claude", "--", "./claude")
	ownProgram(t, filepath.Join(dir, "claude"), "echo another; "+says)
	r = e2e.Runs(t, dir, "--profile", "claude", "--", "./claude")
	_ = r.In.Close()
	r.Ends(1, "no terminal to ask at")
	// PATH leads into the workspace first.
	t.Setenv("PATH", filepath.Join(dir, "node_modules/.bin")+":"+os.Getenv("PATH"))
	ownProgram(t, filepath.Join(dir, "node_modules/.bin/claude"), "echo planted")
	prints(has, "--", "claude")
	if err := ownfile.Remove(filepath.Join(bin, "claude")); err != nil {
		t.Fatal(err)
	}
	if said := prints("planted", "--", "claude"); !strings.Contains(said, "runs without the profile claude") {
		t.Errorf("it says %q", said)
	}
}

// TestAgentsSeeNoEditor: a program in a world finds no editor's token, whatever of the
// user's it is given.
func TestAgentsSeeNoEditor(t *testing.T) {
	user, bin := agentHome(t)
	e2e.Write(t, filepath.Join(user, ".claude/ide/1234.lock"), "the-token\n")
	e2e.Write(t, filepath.Join(user, ".claude/other/file"), "control\n")
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "a\n"}, e2e.Object{"agents": e2e.Object{"wide": e2e.Object{"state": []string{".claude"}}}})
	for name, control := range map[string]string{"claude": "", "wide": "control"} {
		ownProgram(t, filepath.Join(bin, name), "cat ~/.claude/other/file ~/.claude/ide/* "+user+"/.claude/ide/* 2>/dev/null; echo; exit 0")
		r := e2e.Runs(t, dir, "--yes", "--", name)
		_ = r.In.Close()
		if got := r.Next(); got != control {
			t.Errorf("%s sees %q, not %q", name, got, control)
		}
		for r.Out.Scan() {
			if r.Out.Text() != "" {
				t.Errorf("%s sees %q", name, r.Out.Text())
			}
		}
		_ = r.Wait()
	}
}
