package shadowsetup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/shadow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Offer is a setup that a project has for another program. It never runs before a person has
// taken it into their settings.
type Offer struct {
	Name  string             `json:"name"` // cursor, codex, codex/NAME or claude
	File  string             `json:"file"` // relative to the folder
	Steps []config.SetupStep `json:"-"`
	Lines []string           `json:"steps"`          // what they run
	Left  []string           `json:"left,omitempty"` // what is not taken, and why
}

// Files in which other programs look for a setup.
const (
	cursorFile = ".cursor/worktrees.json"
	codexDir   = ".codex/environments"
	claudeFile = ".claude/settings.json"
)

// maxOffers bounds the files of Codex that are read.
const maxOffers = 20

// Offers are the setups that the project in dir has for other programs.
func Offers(dir string) (all []Offer) {
	when := lockFiles(dir)
	add := func(o Offer) {
		for i := range o.Steps {
			o.Steps[i].When = slices.Clone(when)
			o.Lines = append(o.Lines, o.Steps[i].Run)
		}
		if len(o.Steps)+len(o.Left) > 0 {
			all = append(all, o)
		}
	}
	if data, err := config.ReadProjectFile(dir, cursorFile); err == nil {
		add(fromCursor(dir, data))
	}
	for _, name := range codexFiles(dir) {
		if data, err := config.ReadProjectFile(dir, name); err == nil {
			add(fromCodex(name, data))
		}
	}
	if data, err := config.ReadProjectFile(dir, claudeFile); err == nil {
		add(fromClaude(data))
	}
	return all
}

// fromCursor reads .cursor/worktrees.json: for each kind of system a list of command lines, or
// the name of a script beside the file.
func fromCursor(dir string, data []byte) Offer {
	o := Offer{Name: "cursor", File: cursorFile}
	var all map[string]json.RawMessage
	if json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &all) != nil {
		return o
	}
	own := "setup-worktree-unix"
	if runtime.GOOS == "windows" {
		own = "setup-worktree-windows"
	}
	value, ok := all[own]
	if !ok {
		value = all["setup-worktree"]
	}
	var lines []string
	var script string
	switch {
	case json.Unmarshal(value, &script) == nil && script != "":
		lines = []string{runScript(dir, path.Join(path.Dir(cursorFile), script))}
	case json.Unmarshal(value, &lines) != nil:
		return o
	}
	for _, line := range lines {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			o.take(text)
		}
	}
	return o
}

// runScript is the line that runs a script of the project.
func runScript(dir, name string) string {
	word := tools.ShellWord("./" + name)
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	switch {
	case strings.HasSuffix(name, ".ps1"):
		return "powershell -ExecutionPolicy Bypass -File " + word
	case err == nil && info.Mode()&0o111 != 0:
		return word
	}
	return "sh " + word
}

// codexFiles are the files of Codex's local environments.
func codexFiles(dir string) (names []string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	list, err := fs.ReadDir(root.FS(), codexDir)
	if err != nil {
		return nil
	}
	for _, e := range list {
		if strings.HasSuffix(e.Name(), ".toml") && len(names) < maxOffers {
			names = append(names, path.Join(codexDir, e.Name()))
		}
	}
	return names
}

// codexTree begins a script of Codex, which finds its working tree by that.
const codexTree = "CODEX_WORKTREE_PATH"

// fromCodex reads a local environment: the script of setup, or that of its table for this
// system.
func fromCodex(name string, data []byte) Offer {
	o := Offer{Name: "codex", File: name}
	if base := strings.TrimSuffix(path.Base(name), ".toml"); base != "environment" {
		o.Name += "/" + base
	}
	type script struct {
		Script string `toml:"script"`
	}
	var file struct {
		Setup struct {
			Script  string  `toml:"script"`
			Darwin  *script `toml:"darwin"`
			Linux   *script `toml:"linux"`
			Windows *script `toml:"win32"`
		} `toml:"setup"`
	}
	if toml.Unmarshal(data, &file) != nil {
		return o
	}
	text := file.Setup.Script
	if own := map[string]*script{"darwin": file.Setup.Darwin, "linux": file.Setup.Linux, "windows": file.Setup.Windows}[runtime.GOOS]; own != nil {
		text = own.Script
	}
	if text = strings.TrimSpace(text); text == "" {
		return o
	}
	if strings.Contains(text, codexTree) && runtime.GOOS != "windows" {
		text = "export " + codexTree + "=\"$PWD\"\n" + text
	}
	o.take(text)
	return o
}

// fromClaude reads the settings of Claude Code. Its hook makes the working tree itself, and
// prints where: it is no setup for one that is there.
func fromClaude(data []byte) Offer {
	o := Offer{Name: "claude", File: claudeFile}
	var file struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string `json:"command"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if json.Unmarshal(data, &file) != nil {
		return o
	}
	for _, group := range file.Hooks["WorktreeCreate"] {
		for _, h := range group.Hooks {
			if h.Command != "" {
				o.Left = append(o.Left, shown(h.Command)+": this hook makes the working tree itself; set sidecar.shadow.setup to what it does in one")
			}
		}
	}
	return o
}

// mainTrees are the variables by which other programs' setups find the main tree.
var mainTrees = []string{"ROOT_WORKTREE_PATH", "CODEX_SOURCE_TREE_PATH"}

// take adds a step, unless it can't work in a shadow workspace.
func (o *Offer) take(line string) {
	for _, name := range mainTrees {
		if strings.Contains(line, name) {
			o.Left = append(o.Left, shown(line)+": it reads the main tree ("+name+"), which commands of a shadow workspace can't; name the files in "+shadow.IncludeFile)
			return
		}
	}
	if runtime.GOOS == "windows" && strings.Contains(line, codexTree) {
		o.Left = append(o.Left, shown(line)+": "+codexTree+" is not set; write the step by hand")
		return
	}
	o.Steps = append(o.Steps, config.SetupStep{Run: line})
}

// shown is a line of a project as a person reads it.
func shown(line string) string {
	const most = 200
	line = strings.Join(strings.Fields(line), " ")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return fmt.Sprintf("%q", line)
}

// locks are files that say which packages a project has.
var locks = []string{
	"Cargo.lock", "Gemfile.lock", "Pipfile.lock", "bun.lock", "bun.lockb", "composer.lock", "go.sum", "mix.lock", "npm-shrinkwrap.json",
	"package-lock.json", "pdm.lock", "pnpm-lock.yaml", "poetry.lock", "requirements.txt", "uv.lock", "yarn.lock",
}

// lockFiles are those in a directory.
func lockFiles(dir string) (names []string) {
	for _, name := range locks {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	return names
}

// offered is said of a new shadow workspace without a setup where there are offers; else nil.
func offered(dir string) *shadow.Setup {
	all := Offers(dir)
	if len(all) == 0 {
		return nil
	}
	var files []string
	var names []string
	for _, o := range all {
		files = append(files, o.File)
		if len(o.Steps) > 0 {
			names = append(names, o.Name)
		}
	}
	take := "set sidecar.shadow.setup to what it does"
	if len(names) > 0 {
		take = "`sidecar-ls shadow setup --take " + names[0] + "` shows it and takes it into your settings"
	}
	return &shadow.Setup{State: shadow.SetupOffered, Why: "the project has a setup of another program (" + strings.Join(files, ", ") + "), which is not run unasked", Next: take, Offers: names}
}

// Plan is an offer as a person decides on it.
type Plan struct {
	Offer Offer  `json:"offer"`
	File  string `json:"file"` // the settings that it is written into
	Body  string `json:"body"` // what is added there
}

// Plan says what taking an offer changes.
func (s Shadows) Plan(name string) (Plan, error) {
	all := Offers(s.Settings.Dir)
	i := slices.IndexFunc(all, func(o Offer) bool { return o.Name == name })
	if i < 0 {
		var names []string
		for _, o := range all {
			names = append(names, o.Name)
		}
		if len(names) == 0 {
			return Plan{}, tools.Errorf(tools.NotFound, "the project has no setup of another program (%s, %s)", cursorFile, codexDir)
		}
		return Plan{}, tools.Errorf(tools.NotFound, "there is no setup %.60q; there is %s", name, strings.Join(names, ", "))
	}
	p := Plan{Offer: all[i], File: config.UserFile()}
	if len(p.Offer.Steps) == 0 {
		return p, tools.Errorf(tools.Unavailable, "nothing of %s can be taken: %s", p.Offer.File, strings.Join(p.Offer.Left, "; "))
	}
	for k := range p.Offer.Steps {
		p.Offer.Steps[k].In = s.Settings.Dir
	}
	if err := checkSteps(s.Settings.Now(), p.Offer.Steps); err != nil {
		return p, fmt.Errorf("%s: %w", p.Offer.File, err)
	}
	value, err := config.SetupValue(p.Offer.Steps)
	if err != nil {
		return p, err
	}
	p.Body = fmt.Sprintf("Sets sidecar.shadow.setup for this workspace in %s:\n  %s", p.File, value)
	if len(p.Offer.Left) > 0 {
		p.Body += "\n\nNot taken:\n  " + strings.Join(p.Offer.Left, "\n  ")
	}
	return p, nil
}

// Take writes a plan into the user's settings, if the offer is still what was shown.
func (s Shadows) Take(p Plan) error {
	now, err := s.Plan(p.Offer.Name)
	if err != nil {
		return err
	}
	if now.Body != p.Body {
		return tools.Errorf(tools.Conflict, "%s has changed since it was shown; look at it again", p.Offer.File)
	}
	if err := config.PutUserSetup(s.Settings.Dir, now.Offer.Steps); err != nil {
		return err
	}
	s.Settings.Reload()
	return nil
}
