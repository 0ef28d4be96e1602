package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// bound are the ways in which a hook's line names hooks/g.sh, or hooks/my guard.sh.
func bound(dir string) []string {
	return []string{
		`hooks/g.sh`, `./hooks/g.sh x`, `sh hooks/g.sh`, `sh -x ./hooks/../hooks/g.sh`, `sh < hooks/g.sh`, `cat hooks/g.sh | sh`, `. hooks/g.sh`,
		`"$CLAUDE_PROJECT_DIR"/hooks/g.sh`, `"${CLAUDE_PROJECT_DIR}"/hooks/g.sh`, `${CLAUDE_PROJECT_DIR:-.}/hooks/g.sh`, `"${CLAUDE_PROJECT_DIR%/}/hooks/g.sh"`,
		`${CLAUDE_PROJECT_DIR:?}/hooks/g.sh`, `${CLAUDE_PROJECT_DIR+hooks/g.sh}`, `${NOTHING:-hooks}/g.sh`,
		`$PWD/hooks/g.sh`, `"$(pwd)/hooks/g.sh"`, `$(git rev-parse --show-toplevel)/hooks/g.sh`,
		`sh './hooks/'g.sh`, `sh hoo"k"s/g\.sh`, `sh $'hooks\x2fg.sh'`, `sh "hooks/my guard.sh"`, `sh hooks/my\ guard.sh`,
		`sh hooks/g.s?`, `sh hooks/[a-g].sh`, `sh ho*/g.sh`, `for f in hooks/*; do sh "$f"; done`, `sh hooks/{x,g}.sh`,
		`cd hooks && ./g.sh`, `cd "$CLAUDE_PROJECT_DIR/hooks"; sh g.sh`, `(cd ./hooks && exec ./g.sh)`, `f() { ./g.sh; }; cd hooks; f`, `pushd hooks; sh g.sh`,
		`G=hooks/g.sh; sh "$G"`, `D=$CLAUDE_PROJECT_DIR/hooks sh -c '$D/g.sh'`, `f() { sh $G; }; G=hooks/g.sh; f`,
		`sh -c "cd hooks && ./g.sh"`, `eval 'sh hooks/g.sh'`, "sh <<X\nhooks/g.sh\nX\n", `env -C hooks ./hooks/g.sh`, `timeout 5 hooks/g.sh`, `X=$(hooks/g.sh)`,
		`PATH=hooks:$PATH g.sh`, `export PATH="$PWD/hooks:$PATH"; g.sh`, `env PATH=hooks:/bin g.sh`,
		`node --require=./hooks/g.sh x`, `BASH_ENV=hooks/g.sh bash -c true`, `if true; then hooks/g.sh; fi`, `hooks/g.sh || (`,
		"sh ../" + filepath.Base(dir) + "/hooks/g.sh", "cd .. && sh " + filepath.Base(dir) + "/hooks/g.sh", "sh '" + dir + "/hooks/g.sh'", "sh " + dir + "/./hooks/g.sh",
	}
}

// TestLine: however a line names a program, it is compared. The control is one that the
// line doesn't name.
func TestLine(t *testing.T) {
	f := newFolder(t)
	f.dir = realPath(f.dir)
	guards := []string{"hooks/g.sh", "hooks/my guard.sh"}
	put := func(text string) {
		for _, name := range guards {
			f.write(name, text)
		}
	}
	f.write("x/y.sh", "exit 2\n")
	for _, text := range bound(f.dir) {
		put("exit 2\n")
		f.write(".sidecar/hooks.json", fmt.Sprintf(`{"hooks": {"PreToolUse": [{"hooks": [{"command": %q}]}]}}`, text))
		if strings.Contains(text, `\x`) || strings.Contains(text, `\.`) || strings.Contains(text, `\ `) { // %q is not JSON there
			f.write(".sidecar/hooks.json", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)+`"}]}]}}`)
		}
		if err := f.Forget(f.dir); err != nil {
			t.Fatal(err)
		}
		s := f.look()
		f.write("x/y.sh", "exit 0\n")
		if got := s.ProgramChanged(f.dir, text); got != "" {
			t.Errorf("control: %s: %s", text, got)
		}
		put("exit 0\n")
		if got := s.ProgramChanged(f.dir, text); !slices.Contains(guards, got) {
			t.Errorf("%s: another program: %q", text, got)
		}
		if got := f.look().Changed(); len(got) == 0 {
			t.Errorf("%s: nothing is asked about", text)
		}
		for _, name := range guards {
			f.remove(name)
		}
		if got := s.ProgramChanged(f.dir, text); !slices.Contains(guards, got) {
			t.Errorf("%s: none: %q", text, got)
		}
	}
}

// TestLoose: a word of which nobody knows which file it names is said. The controls are
// words that are known, or that nothing runs.
func TestLoose(t *testing.T) {
	f := newFolder(t)
	for text, want := range map[string]string{
		`sh "$GUARD"`: `"$GUARD"`, `sh $(cat name)`: `$(cat name)`, `"$(dirname "$0")"/g.sh`: `"$(dirname "$0")"/g.sh`, `cd "$X" && ./g.sh`: `cd "$X"`,
		`curl x | sh`: `sh`, `eval "$X"`: `"$X"`, `sh -c 'sh "$X"'`: `"$X"`, `~/g.sh`: `~/g.sh`, `hooks/g.sh || (`: `hooks/g.sh || (`,
		`sh hooks/g.sh`: "", `echo "$X"; printf %s "$(date)" | jq .x`: "", `"$CLAUDE_PROJECT_DIR"/g.sh "${PWD}"`: "", `cd hooks && ./g.sh`: "",
	} {
		f.write(".sidecar/hooks.json", `{"hooks": {"Stop": [{"hooks": [{"command": "`+strings.ReplaceAll(text, `"`, `\"`)+`"}]}]}}`)
		got := f.look().Loose()
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}

// TestWronglyTyped: what is wrong with one hook hides no program of another.
func TestWronglyTyped(t *testing.T) {
	for _, wrong := range []string{`"Stop": 7`, `"Stop": [7]`, `"Stop": [{"hooks": [{"command": 7}]}]`, `"Stop": [{"hooks": 7}]`, `"None": {}`} {
		f := newFolder(t)
		f.write(".sidecar/hooks.json", `{"hooks": {`+wrong+`, "PreToolUse": [7, {"hooks": [7, {"command": "./guard.sh"}]}]}}`)
		s := f.look()
		if _, ok := s.Now["guard.sh"]; !ok || s.ProgramChanged(f.dir, "./guard.sh") != "" {
			t.Errorf("%s: the program is not among %q", wrong, s.Names())
		}
		f.write("guard.sh", "exit 0\n")
		if s = f.look(); s.ProgramChanged(f.dir, "./guard.sh") == "" {
			t.Errorf("%s: another program runs", wrong)
		}
		if err := f.Take(s); err != nil || f.look().ProgramChanged(f.dir, "./guard.sh") != "" {
			t.Errorf("%s: it can't be taken (%v)", wrong, err)
		}
	}
}

// TestExecutable: whether a program can be run is a part of it, and shown.
func TestExecutable(t *testing.T) {
	if runtime.GOOS == "windows" {
		needs.Skip(t, needs.FileModes, "files have no such bit")
	}
	f := newFolder(t)
	name := filepath.Join(f.dir, "guard.sh")
	mode := func(m os.FileMode) {
		if err := ownfile.Chmod(name, m); err != nil {
			t.Fatal(err)
		}
	}
	mode(0o755)
	s := f.look()
	for _, same := range []os.FileMode{0o700, 0o775} {
		if mode(same); s.ProgramChanged(f.dir, "./guard.sh") != "" || len(f.look().Changed()) > 0 {
			t.Errorf("control: %v", same)
		}
	}
	mode(0o644)
	if got := s.ProgramChanged(f.dir, "./guard.sh"); got != "guard.sh" {
		t.Errorf("%q", got)
	}
	if s := f.look(); !slices.Equal(s.Changed(), []string{"guard.sh"}) || !strings.Contains(s.Diff(), "old mode 100755\nnew mode 100644\n") || s.Hash() == s.Then.hash() {
		t.Errorf("%q\n%s", s.Changed(), s.Diff())
	}
}

// TestUnshown: what the diff doesn't show is named, so that nobody is offered a yes to it.
func TestUnshown(t *testing.T) {
	for what, text := range map[string]string{"long": strings.Repeat("x\n", maxShown), "not UTF-8": "\xff\n", "with a zero": "a\x00b\n"} {
		f := newFolder(t)
		f.look()
		f.write("guard.sh", text)
		s := f.look()
		if !slices.Equal(s.Unshown(), []string{"guard.sh"}) || !strings.Contains(s.Diff(), "is not shown") {
			t.Errorf("%s: %q\n%s", what, s.Unshown(), s.Diff())
		}
		if err := f.Take(s); err != nil {
			t.Fatal(err)
		}
		f.write("guard.sh", "exit 0\n")
		if s := f.look(); len(s.Unshown()) > 0 || !strings.Contains(s.Diff(), "+exit 0") {
			t.Errorf("control: %s: %q\n%s", what, s.Unshown(), s.Diff())
		}
		f.write("guard.sh", "")
		if s := f.look(); len(s.Unshown()) > 0 {
			t.Errorf("control: nothing instead of %s: %q", what, s.Unshown())
		}
	}
}

// TestOwnFiles: settings that a line names are what counts of them, and hide nothing.
func TestOwnFiles(t *testing.T) {
	f := newFolder(t)
	const text = `jq . .claude/settings.json .sidecar/settings.json .agents/skills/s/SKILL.md`
	f.write(".sidecar/hooks.json", `{"hooks": {"Stop": [{"hooks": [{"command": "`+text+`"}]}]}}`)
	f.write(".claude/settings.json", `{"model": "`+strings.Repeat("m", maxShown)+`", "hooks": {"Stop": [{"hooks": [{"command": "./guard.sh"}]}]}}`)
	s := f.look()
	if _, ok := s.Now["guard.sh"]; !ok || s.Now[claudeFile].Text == "" || s.ProgramChanged(f.dir, text) != "" {
		t.Errorf("%q", s.Names())
	}
	f.write(".sidecar/settings.json", `{"mode": "plan"}`)
	if got := s.ProgramChanged(f.dir, text); got != ".sidecar/settings.json" {
		t.Errorf("%q", got)
	}
}

// TestLinkOnTheWay: a name that goes through a link is that of the file to which it leads.
func TestLinkOnTheWay(t *testing.T) {
	f := newFolder(t)
	f.write("a/b/x", "x\n")
	f.write("a/g.sh", "exit 2\n")
	symlink(t, filepath.Join(f.dir, "a", "b"), filepath.Join(f.dir, "l"))
	const text = `sh l/../g.sh`
	f.write(".sidecar/hooks.json", `{"hooks": {"Stop": [{"hooks": [{"command": "`+text+`"}]}]}}`)
	s := f.look()
	if got := s.ProgramChanged(f.dir, text); got != "" {
		t.Errorf("control: %q", got)
	}
	f.write("a/g.sh", "exit 0\n")
	if got := s.ProgramChanged(f.dir, text); got != "a/g.sh" {
		t.Errorf("%q", got)
	}
}
