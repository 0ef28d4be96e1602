package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// newSandbox is what runs commands; self is this program.
func newSandbox(self string) *sandbox.Sandbox {
	var o sandbox.Options
	if dir, err := os.UserCacheDir(); err == nil {
		o.CacheDir = filepath.Join(dir, "sidecar-ls")
	}
	return sandbox.Open(self, o)
}

// sandboxSpec is what the settings say about every command in root.
func sandboxSpec(set *config.Settings, root string) sandbox.Spec {
	return sandbox.Spec{
		Root:     root,
		ReadOnly: set.Strings("sandbox.readOnly"),
		Writable: set.Strings("sandbox.writable"),
		Network:  set.Bool("sandbox.network"),
		Env:      sandbox.Environ(os.Environ()),
		Mode:     sandbox.Mode(set.String("sandbox.mode")),
	}
}

// checkSandbox tries to escape from the sandbox, in all ways that are known,
// and without it, to show that each way is one.
func checkSandbox(ctx context.Context, self, root string, set *config.Settings) finding {
	const name = "sandbox"
	if self == "" {
		return finding{name, false, "this program does not know its own path, without which no command is run"}
	}
	if err := runTrue(ctx, self, root, set); err != nil {
		return finding{name, false, "commands can't be run in this workspace: " + err.Error()}
	}
	if mode := set.String("sandbox.mode"); mode == string(sandbox.Off) {
		return finding{name, true, "off, by the setting sidecar.sandbox.mode: commands run with all your rights"}
	}
	s := sandbox.Open(self, sandbox.Options{}) // nothing remembered: this is the check
	defer s.Close()
	st := s.Status()
	switch {
	case st.Broken != "":
		return finding{name, false, "does not hold, so no command is run: " + st.Broken}
	case st.Level == sandbox.None:
		return finding{name, true, "none (" + st.Why + "): every command runs with all your rights"}
	}
	trials, err := s.Prove(ctx)
	if err != nil {
		return finding{name, false, err.Error()}
	}
	var shown, open int
	var escaped, byDesign []string
	for _, t := range trials {
		switch {
		case t.Must && !t.Held:
			escaped = append(escaped, t.Name)
		case !t.Held:
			byDesign = append(byDesign, t.Name)
			open++
		case t.Control:
			shown++
		}
	}
	if len(escaped) > 0 {
		return finding{name, false, fmt.Sprintf("%s does not hold: a command could %s", st.Level, strings.Join(escaped, ", "))}
	}
	detail := fmt.Sprintf("%s: %d ways to escape were tried and %d held, %d of them work here without the sandbox", st.Level, len(trials), len(trials)-open, shown)
	if st.Why != "" {
		detail += fmt.Sprintf("; no higher level: %s (all of it needs bubblewrap, which Linux distributions have as a package); a command can %s", st.Why, strings.Join(byDesign, ", "))
	}
	return finding{name, true, detail}
}

// runTrue runs a command that does nothing in the workspace, as tools do.
func runTrue(ctx context.Context, self, root string, set *config.Settings) error {
	s := newSandbox(self)
	defer s.Close()
	c, err := s.Command(ctx, sandboxSpec(set, root), root, "true")
	if err != nil {
		return err
	}
	return c.Run()
}

// checkSecrets says what is hidden from commands, and what git shows of it.
func checkSecrets(ctx context.Context, k *core) finding {
	const name = "secrets"
	spec := sandboxSpec(k.settings.Now(), k.disk.Folders()[0].Dir)
	secrets, err := k.surroundings(ctx, &spec)
	if err != nil {
		return finding{name, false, "what is to be hidden from commands is not known, so none is run: " + err.Error()}
	}
	n := len(secrets)
	var tracked []string
	if r, err := k.repos.Open(ctx, spec.Root); err == nil {
		tracked, secrets = k.tracked.split(r, secrets)
	}
	if err := hide(&spec, tracked, secrets); err != nil {
		return finding{name, false, "no command is run: " + err.Error()}
	}
	detail := tools.Count(n, "file") + " with the name of a secret, hidden from commands"
	if len(tracked) > 0 {
		detail += "; " + trackedWords(spec.Root, tracked)
	}
	return finding{name, true, detail}
}
