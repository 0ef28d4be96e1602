package shadowsetup

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestOffers: what other programs' files say, each in its form.
func TestOffers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("the rows are those of other systems")
		return
	}
	for name, c := range map[string]struct {
		file, text string
		want       string   // name: lines
		left       []string // of what is not taken
	}{
		"cursor":               {cursorFile, `{"setup-worktree": ["npm ci", "", "# note", "npm run build"]}`, "cursor: npm ci|npm run build", nil},
		"its own system":       {cursorFile, `{"setup-worktree": ["a"], "setup-worktree-unix": ["b"], "setup-worktree-windows": ["c"]}`, "cursor: b", nil},
		"another system alone": {cursorFile, `{"setup-worktree-windows": ["c"]}`, "", nil},
		"a script":             {cursorFile, `{"setup-worktree": "setup it.sh"}`, "cursor: sh './.cursor/setup it.sh'", nil},
		"the main tree":        {cursorFile, `{"setup-worktree": ["cp $ROOT_WORKTREE_PATH/.env .env", "a"]}`, "cursor: a", []string{"ROOT_WORKTREE_PATH"}},
		"no setup":             {cursorFile, `{"setup-worktree": []}`, "", nil},
		"not a list":           {cursorFile, `{"setup-worktree": {"a": 1}}`, "", nil},
		"broken":               {cursorFile, `{"setup`, "", nil},
		"codex":                {codexDir + "/environment.toml", "version = 1\nname = 'x'\n[setup]\nscript = '''\nnpm ci\nnpm run build\n'''\n[cleanup]\nscript = 'no'\n[[actions]]\nname = 'Run'\ncommand = 'no'\n", "codex: npm ci\nnpm run build", nil},
		"another of it":        {codexDir + "/web.toml", "[setup]\nscript = 'a'\n", "codex/web: a", nil},
		"its system":           {codexDir + "/environment.toml", "[setup]\nscript = 'a'\n[setup." + runtime.GOOS + "]\nscript = 'b'\n[setup.win32]\nscript = 'c'\n", "codex: b", nil},
		"its tree":             {codexDir + "/environment.toml", "[setup]\nscript = 'cd \"$CODEX_WORKTREE_PATH\"'\n", "codex: export CODEX_WORKTREE_PATH=\"$PWD\"\ncd \"$CODEX_WORKTREE_PATH\"", nil},
		"its source":           {codexDir + "/environment.toml", "[setup]\nscript = 'cp $CODEX_SOURCE_TREE_PATH/.env .'\n", "codex: ", []string{"CODEX_SOURCE_TREE_PATH"}},
		"nothing to do":        {codexDir + "/environment.toml", "[setup]\nscript = ''\n", "", nil},
		"not TOML":             {codexDir + "/environment.toml", "[setup", "", nil},
		"claude":               {claudeFile, `{"hooks": {"WorktreeCreate": [{"hooks": [{"type": "command", "command": "x"}]}]}}`, "claude: ", []string{"makes the working tree itself"}},
		"another hook":         {claudeFile, `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}`, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, filepath.FromSlash(c.file))
			if err := ownfile.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := ownfile.WriteFile(file, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			got := ""
			var left []string
			for _, o := range Offers(dir) {
				got += o.Name + ": " + strings.Join(o.Lines, "|")
				left = append(left, o.Left...)
			}
			if got != c.want || len(left) != len(c.left) {
				t.Fatalf("%q, left %q", got, left)
			}
			for i, part := range c.left {
				if !strings.Contains(left[i], part) {
					t.Errorf("left %q, want %q", left[i], part)
				}
			}
		})
	}
}

// TestOffersLinks: a file that leads out of the project offers nothing.
func TestOffersLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("links need a right there")
		return
	}
	dir, outside := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, outside} {
		if err := ownfile.MkdirAll(filepath.Join(d, ".cursor"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text := []byte(`{"setup-worktree": ["a"]}`)
	if err := ownfile.WriteFile(filepath.Join(outside, cursorFile), text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Symlink(filepath.Join(outside, cursorFile), filepath.Join(dir, cursorFile)); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Symlink(outside, filepath.Join(dir, ".codex")); err != nil {
		t.Fatal(err)
	}
	if got := Offers(dir); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	if got := fmt.Sprint(Offers(outside)[0].Lines); got != "[a]" { // control
		t.Error(got)
	}
}
