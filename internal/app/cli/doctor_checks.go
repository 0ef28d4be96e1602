package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/confine"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/mcp/source"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// checkSandbox tries to escape from the sandbox, in all ways that are known,
// and without it, to show that each way is one.
func checkSandbox(ctx context.Context, self string, programs *lookup.Finder, root string, set *config.Settings) finding {
	const name = "sandbox"
	if self == "" {
		return finding{name, false, "this program does not know its own path, without which no command is run"}
	}
	if err := confine.Try(ctx, self, programs, root, set); errors.Is(err, shells.ErrNone) {
		return finding{name, true, "none, and no command is run: " + err.Error()}
	} else if err != nil {
		return finding{name, false, "commands can't be run in this workspace: " + err.Error()}
	}
	if mode := set.String("sandbox.mode"); mode == string(spec.Off) {
		return finding{name, true, "off, by the setting sidecar.sandbox.mode: commands run with all your rights"}
	}
	s := sandbox.Open(self, sandbox.Options{Programs: programs}) // nothing remembered: this is the check
	defer s.Close()
	st := s.Status()
	switch {
	case st.Broken != "":
		return finding{name, false, "does not hold, so no command is run: " + st.Broken}
	case st.Level == spec.None:
		return finding{name, true, "none (" + st.Why + "): every command runs with all your rights"}
	}
	trials, err := s.Prove(ctx)
	if err != nil {
		return finding{name, false, err.Error()}
	}
	var open int
	var escaped, byDesign []string
	for _, t := range trials {
		switch {
		case t.Must && !t.Held:
			escaped = append(escaped, t.Name)
		case !t.Held:
			byDesign = append(byDesign, t.Name)
			open++
		}
	}
	if len(escaped) > 0 {
		return finding{name, false, fmt.Sprintf("%s does not hold: a command could %s", st.Level, strings.Join(escaped, ", "))}
	}
	detail := fmt.Sprintf("%s: %d of %d escape tests blocked", st.Level, len(trials)-open, len(trials))
	if st.Why != "" {
		detail = fmt.Sprintf("weak, %s. %s. A command can %s", detail, stronger(st.Why), strings.Join(byDesign, ", "))
	}
	return finding{name, true, detail}
}

// stronger says what to do for a sandbox that keeps commands from more.
func stronger(why string) string {
	switch why = upperFirst(why); {
	case strings.Contains(why, "ubblewrap is not installed"):
		return why + ": install the package bubblewrap"
	case strings.Contains(why, "ubblewrap does not work"):
		return "Bubblewrap is installed, but can't make namespaces here (" + why + "): allow unprivileged user namespaces (on Ubuntu sysctl kernel.apparmor_restrict_unprivileged_userns=0, in a container --security-opt seccomp=unconfined)"
	}
	return why + ": it takes a newer kernel"
}

// checkShell says what runs command lines, and why it does.
func checkShell(w *app.Workspace) finding {
	const name = "shell"
	shell, err := w.Confiner.Shell()
	switch {
	case errors.Is(err, shells.ErrNone):
		return finding{name, true, err.Error()}
	case err != nil:
		return finding{name, false, err.Error()}
	}
	detail := shell.Name + ", because " + shell.Why
	if shell.Drives != "" {
		detail += "; what a command starts there may go on after it, and no limits hold"
	}
	return finding{name, true, detail}
}

// checkCommands says what commands see and change.
func checkCommands(w *app.Workspace) finding {
	const name = "commands"
	const blind = ": they see neither pending nor unsaved text, and their changes are not reviewed"
	set := w.Client.Settings.Now().String("commands.world")
	if set == "disk" {
		return finding{name, true, "run on the disk, by the setting sidecar.commands.world" + blind}
	}
	const helps = ". An overlay takes Linux 5.11 with bubblewrap and, in a container, a volume for private files (XDG_CACHE_HOME names it); docs/world.md says more"
	const sees = ": they see pending and unsaved text, and their changes are reviewed"
	of := map[string]string{"overlay": "an overlay", "copy": "a copy of the workspace"}
	switch what, why := w.Confiner.WorldStatus(); {
	case what == "disk" && set == "auto":
		return finding{name, true, "run on the disk" + blind + ". That is because " + why + helps}
	case what == "disk":
		return finding{name, false, "can't run: the setting sidecar.commands.world asks for " + of[set] + ", and " + why + " (`auto` takes what there is)" + helps}
	case why != "":
		where := ""
		if w.Confiner.Elsewhere() != nil {
			where = " at another path"
		}
		return finding{name, true, "run in a copy of the workspace" + where + sees + ". A copy takes time and room, and an overlay can't be had: " + why + helps}
	default:
		return finding{name, true, "run in " + of[what] + sees}
	}
}

// checkBorder says whether commands run unasked in review and audit, and what is missing for
// that.
func checkBorder(ctx context.Context, w *app.Workspace) finding {
	const name = "unasked"
	if w.Client.Settings.Now().String("commands.ask") == "always" {
		return finding{name, true, "you are asked about each command, by the setting sidecar.commands.ask"}
	}
	list := w.Confiner.Complete(ctx, effects.Use{})
	var text strings.Builder
	text.WriteString("in review and audit a command runs without a question, because nothing leaves its session without a decision")
	if lacks := effects.Lacks(list); lacks != "" {
		text.Reset()
		text.WriteString("in every mode but autonomous you are asked about each command, because something could leave its session")
	}
	text.WriteByte('\n')
	conditions(&text, list)
	return finding{name, true, strings.TrimSuffix(text.String(), "\n")}
}

// checkSecrets says what is hidden from commands, and what git shows of it.
func checkSecrets(ctx context.Context, w *app.Workspace) finding {
	const name = "secrets"
	hidden, shown := 0, ""
	for _, f := range w.Disk.Folders() {
		all, tracked, err := w.Confiner.Secrets(ctx, f.Dir)
		if err != nil {
			return finding{name, false, err.Error()}
		}
		if hidden += len(all); len(tracked) > 0 {
			shown += "; " + confine.TrackedWords(f.Dir, tracked)
		}
	}
	detail := "no file is named like a secret"
	if hidden > 0 {
		detail = tools.Count(hidden, "file") + " named like a secret, which commands can't see"
	}
	detail += shown
	return finding{name, true, detail}
}

// checkAgents says who serves the agents of the folders.
func checkAgents(ctx context.Context, folders []workspace.Folder) finding {
	const name = "mcp"
	self := "`sidecar-ls mcp"
	for _, f := range folders {
		self += " --root " + f.Dir
	}
	self += "`"
	switch g, err := attach.Find(ctx, folders[0].Dir); {
	case errors.Is(err, attach.ErrNone):
		return finding{name, true, "no editor's server is running here; " + self + " works without one"}
	case err != nil:
		return finding{name, false, err.Error()}
	case g.Kind == attach.Editor:
		return finding{name, true, fmt.Sprintf("%s uses the editor's server, process %d: that editor asks you and shows the edits", self, g.PID)}
	case g.Kind == attach.Left:
		return finding{name, true, fmt.Sprintf("%s uses a server whose editor was closed, process %d: agents still work there, and the next editor uses it, too", self, g.PID)}
	default:
		return finding{name, true, fmt.Sprintf("%s uses another agent's server, process %d, until an editor starts one", self, g.PID)}
	}
}

// checkSources says which MCP servers are configured; none is started.
func checkSources(w *app.Workspace) finding {
	const name = "mcp tools"
	list, problems := source.FromSettings{Settings: w.Client.Settings, Folders: w.Disk.Folders()}.Servers()
	known := source.NewUserMemory()
	var words []string
	for _, s := range list {
		word := s.Name
		seen, err := known.Load(s.Root, s.Name)
		switch {
		case err != nil:
			problems = append(problems, err.Error())
		case s.Shadowed != "":
			word += fmt.Sprintf(" (of %s; the one of %s is used)", s.Origin, s.Shadowed)
		case s.Broken != "":
			problems = append(problems, s.Name+": "+s.Broken)
		case s.Off:
			word += " (off)"
		case s.Project && seen.Trusted != s.Identity():
			word += " (not trusted)"
		}
		words = append(words, word)
	}
	switch {
	case len(problems) > 0:
		return finding{name, false, strings.Join(problems, "; ")}
	case len(words) == 0:
		return finding{name, true, "no MCP servers are configured"}
	}
	return finding{name, true, "servers: " + strings.Join(words, ", ")}
}
