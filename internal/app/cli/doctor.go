package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/statedir"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// finding is the outcome of one check.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // what was found; when not OK, what to do
}

// doctor tries what the server needs and says what it found.
func doctor(ctx context.Context, c *cli) error {
	if len(c.args) > 0 {
		return usagef("doctor takes no arguments, but got %q", c.args[0])
	}
	folders, err := c.folders()
	if err != nil {
		return err
	}
	findings := []finding{
		{"version", true, fmt.Sprintf("%s, %s, %s/%s", build(), runtime.Version(), runtime.GOOS, runtime.GOARCH)},
	}
	if !treesitter.Parsers {
		findings = append(findings, finding{"parsers", true, "none: outlines and references of all but Go, Markdown, YAML and TOML are read from lines and braces, and miss some; a build with CGO_ENABLED=1 and a C compiler has them"})
	}
	findings = append(findings, finding{"workspace", true, strings.Join(workspace.Dirs(folders), ", ")}, checkWritable(folders))
	queue := app.QueueNever
	if hasState(statedir.Dir(folders[0].Dir)) {
		queue = app.QueueAlways
	}
	w, err := c.open(ctx, queue)
	if err != nil {
		findings = append(findings, finding{"start", false, err.Error()})
	} else {
		defer func() { _ = w.Close() }()
		findings = append(findings, checkSettings(w), checkQueue(w), checkTools(w), checkGit(ctx, c.Programs), checkPrograms(c.Programs), checkSandbox(ctx, c.Self, c.Programs, folders[0].Dir, w.Client.Settings.Now()), checkShell(w), checkCommands(w), checkBorder(ctx, w), checkSecrets(ctx, w), checkLanguages(w), checkAgents(ctx, folders), checkSources(w))
	}
	findings = append(findings, checkClients(ctx, c)...)
	if c.json {
		if err := c.print(findings); err != nil {
			return err
		}
	}
	bad := false
	for _, r := range findings {
		mark := "ok  "
		if !r.OK {
			mark, bad = "FAIL", true
		}
		if !c.json {
			fmt.Fprintf(c.Out, "%s  %-10s  %s\n", mark, r.Check, r.Detail)
		}
	}
	if bad {
		return errReported
	}
	return nil
}

// checkWritable makes a file in each folder and takes it away again.
func checkWritable(folders []workspace.Folder) finding {
	for _, folder := range folders {
		f, err := os.CreateTemp(folder.Dir, ".sidecar-doctor-*")
		if err != nil {
			return finding{"writing", false, fmt.Sprintf("files can't be made here (%v): edits can be proposed, not accepted", err)}
		}
		err = errors.Join(f.Sync(), f.Close(), os.Remove(f.Name()))
		if err != nil {
			return finding{"writing", false, err.Error()}
		}
	}
	return finding{"writing", true, "files can be written and removed"}
}

func checkSettings(w *app.Workspace) finding {
	names := []string{}
	if list, _, err := w.Dispatch.List(dispatch.ListRequest{}); err == nil {
		for _, t := range list {
			names = append(names, t.Name)
		}
	}
	if problems := slices.Concat(w.Problems.Show(), w.Client.Settings.Now().Misnamed(names)); len(problems) > 0 {
		return finding{"settings", false, strings.Join(problems, "; ")}
	}
	if changed := w.Client.Settings.Changed(); len(changed) > 0 { // else it were a problem
		return finding{"settings", true, fmt.Sprintf("the mode is %s; you said no to a change of %s, so the stricter value of each setting applies (sidecar-ls trust)", w.Client.Settings.Now().String("mode"), strings.Join(changed[0].Changed(), ", "))}
	}
	read := []string{}
	if floor := w.Client.Settings.Now().FloorWords(); floor != "" {
		read = append(read, floor)
	}
	files := []string{config.UserFile()}
	for _, f := range w.Disk.Folders() {
		files = append(files, filepath.Join(f.Dir, config.ProjectFile))
	}
	for _, name := range files {
		if _, err := os.Stat(name); err == nil {
			read = append(read, name)
		}
	}
	if len(read) == 0 {
		return finding{"settings", true, "no settings files; the mode is " + w.Client.Settings.Now().String("mode")}
	}
	return finding{"settings", true, fmt.Sprintf("the mode is %s; read %s", w.Client.Settings.Now().String("mode"), strings.Join(read, ", "))}
}

// hasState reports whether the server ever kept anything there: looking must not
// make a review queue.
func hasState(home statedir.Dir) bool {
	_, err := os.Stat(home.State())
	return err == nil
}

func checkQueue(w *app.Workspace) finding {
	if !hasState(w.Home.Dir) {
		return finding{"review", true, "nothing waits for review"}
	}
	switch err := w.Home.LockedOut(); {
	case errors.Is(err, pendingedits.ErrLocked):
		return finding{"review", true, err.Error()}
	case err != nil:
		return finding{"review", false, err.Error()}
	}
	return finding{"review", true, tools.Count(len(w.Home.Queue.List("").Edits), "pending edit")}
}

func checkTools(w *app.Workspace) finding {
	list, _, err := w.Dispatch.List(dispatch.ListRequest{})
	if err != nil {
		return finding{"tools", false, err.Error()}
	}
	first, _, err := w.Dispatch.List(dispatch.ListRequest{Model: true})
	if err != nil {
		return finding{"tools", false, err.Error()}
	}
	return finding{"tools", true, fmt.Sprintf("%d tools; a model is shown %d at first, about %d tokens", len(list), len(first), tools.Cost(first))}
}

// checkGit looks for the git command, without which more works than not.
func checkGit(ctx context.Context, programs *lookup.Finder) finding {
	path, err := gitcmd.Command(ctx, programs)
	switch {
	case errors.Is(err, gitcmd.ErrNoGit):
		return finding{"git", true, err.Error() + ": history, status and diffs are read without it; to stage, commit, push and stash, install git"}
	case err != nil:
		return finding{"git", false, err.Error()}
	}
	return finding{"git", true, path}
}

// checkPrograms says what of PATH is skipped for what runs outside of the sandbox.
func checkPrograms(programs *lookup.Finder) finding {
	for _, name := range []string{"git", "bwrap", "ssh", "gpg", "secret-tool", "nvidia-smi", "rocm-smi"} {
		_, _ = programs.Find(name) // skipped directories are reported below
	}
	_ = programs.SearchPath()
	detail := "those that run outside of the sandbox (git, ssh, the keyring's program) are found in all directories of PATH"
	if passed := programs.Passed(); passed != "" {
		detail = "those that run outside of the sandbox (git, ssh, the keyring's program) are not taken from directories into which others could put them. Skipped: " + passed
	}
	return finding{"programs", true, detail}
}

// checkLanguages says which language servers would be run.
func checkLanguages(w *app.Workspace) finding {
	var found, missing []string
	for _, one := range w.Servers.Installed() {
		if one.Why != "" {
			missing = append(missing, one.Server)
			continue
		}
		found = append(found, one.Server+" ("+one.Program+")")
	}
	detail := "language servers found: none"
	if len(found) > 0 {
		detail = "language servers found: " + strings.Join(found, ", ")
	}
	if len(missing) > 0 {
		detail += "; not on PATH or off: " + strings.Join(missing, ", ")
	}
	if !w.Client.Settings.Trusted() {
		detail += "; none runs before the workspace is trusted (sidecar.workspace.trust, or sidecar-ls trust yes)"
	}
	return finding{"languages", true, detail}
}
