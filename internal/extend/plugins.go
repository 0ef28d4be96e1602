package extend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/mcp/source"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/plugin"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// UserPlugins is the directory of the user's own plugins.
func UserPlugins() string { return dataDir("plugins") }

// dataDir is a directory of the user's data.
func dataDir(name string) string {
	dir, err := userdirs.Here().Dir(userdirs.Data)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, name)
}

// store is where copies are of what is loaded.
func store() string {
	dir, err := userdirs.Here().Dir(userdirs.Cache)
	if err != nil {
		dir = filepath.Join(os.TempDir(), "sidecar-ls")
	}
	return filepath.Join(dir, "plugins")
}

// places are where plugins are looked for.
func (x *Extensions) places() (list []plugin.Place) {
	for _, dir := range x.o.Settings.Now().Strings("plugins.dirs") {
		if filepath.IsAbs(dir) { // others are said where the settings are followed
			list = append(list, plugin.Place{Dir: filepath.Clean(dir), Origin: "sidecar.plugins.dirs", Files: true})
		}
	}
	if dir := UserPlugins(); dir != "" {
		list = append(list, plugin.Place{Dir: dir, Origin: "user", Files: true})
	}
	for _, dir := range x.folders() {
		list = append(list,
			plugin.Place{Dir: filepath.Join(dir, ".agents/plugins"), Origin: ".agents/plugins", Project: true, Files: true},
			plugin.Place{Dir: filepath.Join(dir, ".sidecar/tools"), Origin: ".sidecar/tools", Project: true, Files: true})
	}
	return list
}

// Plugins are the plugins of the workspace, as a person decides on them.
func (x *Extensions) Plugins() *plugin.Manager { return x.plugins }

// Load implements plugin.Host: its tools take the place of those of an earlier version in
// one step.
func (x *Extensions) Load(c *plugin.Content) error {
	src := tools.Source{Kind: tools.SourcePlugin, Path: c.Path}
	var list []*tools.Tool
	var errs []error
	for _, t := range c.Tools {
		allowed := slices.Contains(c.Override, t.Name)
		command := make([]string, len(t.Command))
		for i, arg := range t.Command {
			command[i] = inPlugin(c, "").Replace(arg)
		}
		made, err := shell.NewCustom(x.o.Shell, shell.Custom{
			Name: t.Name, Description: t.Description, Command: command, Input: t.Input, Read: t.Access == "read", AlwaysAsk: t.Destructive && !c.Mine,
			Override: t.Override && allowed, Timeout: time.Duration(t.Timeout) * time.Second, Dir: c.Root, Source: src,
			Env: x.environment(config.CustomTool{Name: t.Name, Env: t.Env}),
		})
		if below, _, ok := x.o.Registry.Lookup(t.Name); err == nil && t.Override && !allowed && ok && below.Source.Kind == tools.SourceBuiltin {
			err = fmt.Errorf("it would stand in for the built-in tool %s, which takes your word: trust it with override [%q] (`sidecar-ls plugin trust --override %s ID`)", t.Name, t.Name, t.Name)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, made)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return x.o.Registry.Replace(layer(c), func(t *tools.Tool) bool { return t.Source == src }, list...)
}

func layer(c *plugin.Content) tools.Layer {
	if c.Project {
		return tools.Project
	}
	return tools.User
}

// Unload implements plugin.Host: what its tools covered is there again.
func (x *Extensions) Unload(path string) {
	for _, l := range []tools.Layer{tools.User, tools.Project} {
		// Taking away can't fail.
		_ = x.o.Registry.Replace(l, func(t *tools.Tool) bool { return t.Source.Kind == tools.SourcePlugin && t.Source.Path == path })
	}
}

// Changed implements plugin.Host.
func (x *Extensions) Changed() {
	x.hooks.Reload()
	if x.o.Servers != nil {
		x.o.Servers()
	}
}

// Bounds of a program that says what tool it is.
const (
	describeTime = 5 * time.Second
	maxDescribed = 64 << 10
)

// Describe implements plugin.Host: the program is run in the sandbox, and can't write.
func (x *Extensions) Describe(program string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), describeTime)
	defer cancel()
	root := x.o.Folders[0]
	out, said := &bounded{most: maxDescribed}, &bounded{most: 1 << 10}
	p, err := x.o.Shell.Host.Start(ctx, shell.Run{Root: root, Dir: root, Argv: []string{program, "--describe"}, Own: true, LookOnly: true, Stdout: out, Stderr: said})
	if err != nil {
		return nil, err
	}
	err = p.Wait()
	_, _ = p.End(false)
	name := filepath.Base(program)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s --describe was ended after %v", name, describeTime)
	case err != nil:
		return nil, fmt.Errorf("%s --describe failed (%w): %s", name, err, strings.TrimSpace(said.String()))
	case out.cut:
		return nil, fmt.Errorf("%s --describe prints more than %d bytes", name, maxDescribed)
	}
	return out.Bytes(), nil
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	bytes.Buffer
	most int
	cut  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.most - b.Len(); room < len(p) {
		b.cut = true
		b.Buffer.Write(p[:room])
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// Skills are the directories of skills that plugins bring.
func (x *Extensions) Skills() (list []skills.Place) {
	if x == nil {
		return nil
	}
	for _, c := range x.plugins.Loaded() {
		if c.Skills != "" {
			list = append(list, skills.Place{Dir: c.Skills, Origin: "plugin " + c.ID, Project: c.Project})
		}
	}
	return list
}

// MCPServers are the servers that plugins bring. They read their plugin, and write to a
// directory of their own. Nil brings none.
func (x *Extensions) MCPServers() (list []source.Server) {
	if x == nil {
		return nil
	}
	for _, c := range x.plugins.Loaded() {
		if len(c.Servers) == 0 {
			continue
		}
		data, err := json.Marshal(map[string]any{"mcpServers": c.Servers})
		if err != nil {
			continue // it was JSON when it was read
		}
		all, err := config.MCPFiles[0].Read(data)
		if err != nil {
			x.o.Log.Warn("plugin", "plugin", c.ID, "problem", err)
			continue
		}
		kept := filepath.Join(dataDir("plugin-data"), c.ID)
		if err := os.MkdirAll(kept, 0o700); err != nil {
			x.o.Log.Warn("plugin", "plugin", c.ID, "problem", err)
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			list = append(list, server(c, name, all[name], x.o.Folders[0], kept))
		}
	}
	return list
}

// inPlugin fills in where a plugin lies, and where it may write.
func inPlugin(c *plugin.Content, kept string) *strings.Replacer {
	return strings.NewReplacer("${PLUGIN_ROOT}", c.Root, "${CLAUDE_PLUGIN_ROOT}", c.Root, "${PLUGIN_DATA}", kept)
}

// server is a server of a plugin.
func server(c *plugin.Content, name string, e config.MCPServer, root, kept string) source.Server {
	fill := inPlugin(c, kept).Replace
	if e.Dir == "" {
		e.Dir = c.Root
	}
	full := c.ID
	if name != c.ID {
		full += "-" + name
	}
	s := source.Server{
		Name: full, Origin: "plugin " + c.ID, Root: root, URL: e.URL, SSE: e.SSE, Headers: e.Headers, Literal: true, Off: e.Off, Without: e.Without, Limits: e.MCPLimits,
		Broken: e.Broken, Readable: []string{c.Root}, Writable: []string{kept}, Env: map[string]string{"PLUGIN_ROOT": c.Root, "CLAUDE_PLUGIN_ROOT": c.Root, "PLUGIN_DATA": kept},
	}
	if e.Command != "" {
		command := e.Command
		if strings.Contains(command, "/") && !filepath.IsAbs(command) {
			command = filepath.Join(c.Root, command)
		}
		s.Command = []string{command}
		for _, arg := range e.Args {
			s.Command = append(s.Command, fill(arg))
		}
	}
	if s.Dir = fill(e.Dir); !filepath.IsAbs(s.Dir) {
		s.Dir = filepath.Join(c.Root, s.Dir)
	}
	for k, v := range e.Env {
		s.Env[k] = fill(v)
	}
	return s
}
