package confine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/mcp/source"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// endTime is how long a server that was killed may take to end.
const endTime = time.Second

// MCPServer starts an MCP server in its workspace folder, with the environment of
// commands and what its entry gives it.
func (c *Confiner) MCPServer(ctx context.Context, s source.Server) (*source.Process, error) {
	root := s.Root
	spec, err := c.Spec(ctx, root)
	if err != nil {
		return nil, err
	}
	allowed := c.o.Settings.Now().Strings("mcp.network")
	spec.Network = spec.Network || slices.Contains(allowed, s.Name) || slices.Contains(allowed, "*")
	if !spec.Network {
		spec.Env = append(spec.Env, shell.WithoutRetries...) // npx and uvx fail at once, and say why
	}
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		spec.Env = append(spec.Env, k+"="+s.Env[k])
	}
	dir := root
	if s.Dir != "" {
		if dir = s.Dir; !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
	}
	program := s.Command[0]
	if strings.Contains(program, "/") {
		if !filepath.IsAbs(program) {
			program = filepath.Join(dir, program)
		}
	} else if program, err = c.Look(program); err != nil {
		return nil, err
	}
	program, readable := installation(program)
	spec.ReadOnly = append(append(spec.ReadOnly, readable...), s.Readable...)
	var seen *seen
	around := spec.Spec // of what is outside of the workspace
	switch s.Access {
	case config.MCPDisk:
	case config.MCPRead:
		spec.look()
	default:
		if seen, err = c.see(&spec, view{session: "MCP server " + s.Name, root: root, files: c.o.Files()}); err != nil {
			return nil, err
		}
	}
	spec.Writable = append(spec.Writable, s.Writable...)
	p, err := c.Start(ctx, spec, dir, append([]string{program}, s.Command[1:]...))
	if err != nil {
		seen.Close()
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.Wait() // how it ends does not matter, only that it is not left
		seen.end()
	}()
	kill := func() {
		p.Kill()
		select {
		case <-ended: // all that it wrote is known
		case <-time.After(endTime):
		}
	}
	return &source.Process{In: p.In, Out: p.Out, Kill: kill, Said: p.Said, World: seen.forCalls(), Hidden: func(ctx context.Context) []string {
		return unseen(ctx, c.box, around, outside(s, dir, root))
	}, Advice: func() string {
		level, err := c.box.LevelFor(spec.Mode)
		if err != nil || level == box.None || spec.Network || !shell.WantsNetwork(p.Said()) {
			return ""
		}
		return networkAdvice(s.Name, allowed)
	}}, nil
}

// networkAdvice says which setting gives a server the network, beside those that
// have it.
func networkAdvice(name string, allowed []string) string {
	list, err := json.Marshal(append(slices.Clone(allowed), name))
	if err != nil {
		return ""
	}
	return fmt.Sprintf("it has no network in the sandbox, so that npx and uvx can't download anything: the setting sidecar.mcp.network (in the user's settings file or the editor's settings) lets it use the network, as %s", list)
}

// outside are the files and directories outside of the workspace that a server's
// entry names, and that are there. A project's entry is not answered by showing
// what it names.
func outside(s source.Server, dir, root string) (paths []string) {
	if s.Project {
		return nil
	}
	add := func(text string) {
		if _, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(text, "-") {
			text = value
		}
		if rest, ok := strings.CutPrefix(text, "~/"); ok {
			if user, err := os.UserHomeDir(); err == nil {
				text = filepath.Join(user, rest)
			}
		}
		if !filepath.IsAbs(text) {
			if !strings.HasPrefix(text, "../") {
				return
			}
			text = filepath.Join(dir, text)
		}
		text = filepath.Clean(text)
		if rel, err := filepath.Rel(root, text); err == nil && filepath.IsLocal(rel) {
			return
		}
		if _, err := os.Stat(text); err == nil && !slices.Contains(paths, text) {
			paths = append(paths, text)
		}
	}
	for _, arg := range s.Command {
		add(arg)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		add(s.Env[name])
	}
	return paths
}

// unseen are those of paths that can't be read with that confinement: it is
// asked there, because nobody else knows what it hides.
func unseen(ctx context.Context, from *sandbox.Sandbox, spec box.Spec, paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	argv := append([]string{"sh", "-c", `for path; do [ -r "$path" ] || printf '%s\0' "$path"; done`, "sh"}, paths...)
	cmd, err := from.Command(ctx, spec, spec.Root, argv...)
	if err != nil {
		return nil
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil
	}
	return strings.FieldsFunc(out.String(), func(r rune) bool { return r == 0 })
}
