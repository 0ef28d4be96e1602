package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Bounds of what a plugin may say.
const (
	maxManifest = 1 << 20 // bytes of a file that is read as JSON
	maxHeader   = 16 << 10
	maxTools    = 256
	maxSchema   = 64 << 10
	maxText     = 2 << 10
)

// manifest is what a plugin says of itself.
type manifest struct {
	Name, Version, Description string

	version string // of the format
}

// validName is that of the format; validTool is ours, of tools.
var (
	validName = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$`)
	validTool = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
)

// The manifests that are read; of the second only skills and servers count.
const (
	ours    = "plugin.json"
	claudes = ".claude-plugin/plugin.json"
)

// dirOfOurs is where a plugin has what only we know.
const dirOfOurs = "io.sidecar-ls"

// read reads a file of a plugin; one that is not there is nil.
func read(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", name)
	case info.Size() > maxManifest:
		return nil, fmt.Errorf("%s has %d bytes, more than %d", name, info.Size(), maxManifest)
	}
	return root.ReadFile(name)
}

// readManifest reads what the plugin in root says of itself, and whether it has the
// layout of Claude Code.
func readManifest(root *os.Root) (m manifest, claude bool, warnings []string, err error) {
	name := ours
	data, err := read(root, name)
	if data == nil && err == nil {
		name, claude = claudes, true
		data, err = read(root, name)
	}
	if err != nil {
		return m, claude, nil, err
	}
	if data == nil {
		return m, claude, nil, fmt.Errorf("there is no %s in it", ours)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil || all == nil {
		return m, claude, nil, fmt.Errorf("%s is not a JSON object: %w", name, err)
	}
	if !claude {
		if warnings, err = checkManifest(all); err != nil {
			return m, claude, warnings, fmt.Errorf("%s: %w", name, err)
		}
		m.version, _ = formatOf(all["$schema"], "plugin")
	}
	for member, to := range map[string]*string{"name": &m.Name, "version": &m.Version, "description": &m.Description} {
		if v, ok := all[member]; ok {
			if err := json.Unmarshal(v, to); err != nil {
				return m, claude, nil, fmt.Errorf("%s: %s must be a string", name, member)
			}
		}
	}
	if !validName.MatchString(m.Name) || strings.Contains(m.Name, "--") || strings.Contains(m.Name, "..") {
		return m, claude, nil, fmt.Errorf("%s: the name %q must be small letters, digits, single points and hyphens, at most 64", name, clip(m.Name))
	}
	m.Version, m.Description = cut(m.Version, 64), cut(m.Description, maxText)
	return m, claude, warnings, nil
}

// schema is what names the version of the format that a file is of.
var schema = regexp.MustCompile(`^https://[a-z0-9.-]+/(?:[a-z0-9.-]+/)*(1\.[01]\.0)/(plugin|mcp)(?:\.schema)?\.json$`)

// formatOf is the version of the format that a member $schema names; nothing is fetched.
func formatOf(v json.RawMessage, of string) (string, error) {
	var text string
	_ = json.Unmarshal(v, &text) // what is no string names none
	m := schema.FindStringSubmatch(text)
	if m == nil || m[2] != of {
		return "", fmt.Errorf("$schema must be that of a version of the format that is known here, such as https://agent-plugins.org/schemas/1.0.0/%s.schema.json, not %q", of, clip(text))
	}
	return m[1], nil
}

// checkManifest checks a manifest by the rules of the format: what it does not name is
// said and ignored, anything else that is wrong rejects the plugin.
func checkManifest(all map[string]json.RawMessage) (warnings []string, err error) {
	if _, err := formatOf(all["$schema"], "plugin"); err != nil {
		return nil, err
	}
	for _, member := range sorted(all) {
		var to any
		switch v := all[member]; member {
		case "$schema", "name", "version", "description", "homepage", "repository", "license":
			to = new(string)
		case "keywords":
			to = new([]string)
		case "author":
			author := map[string]string{}
			if err := json.Unmarshal(v, &author); err != nil {
				return nil, fmt.Errorf("author must be an object of strings: %w", err)
			}
			for _, name := range sorted(author) {
				if !slices.Contains([]string{"name", "email", "url"}, name) {
					return nil, fmt.Errorf("author has the member %s; it can have name, email and url", clip(name))
				}
			}
			continue
		case "extensions":
			if json.Unmarshal(v, new(map[string]json.RawMessage)) != nil {
				warnings = append(warnings, "plugin.json: extensions is no object, and ignored")
			}
			continue
		default:
			warnings = append(warnings, fmt.Sprintf("plugin.json: the member %s is not of the format, and ignored", clip(member)))
			continue
		}
		if string(all[member]) == "null" || json.Unmarshal(all[member], to) != nil {
			return nil, fmt.Errorf("%s has the wrong type", member)
		}
	}
	return warnings, nil
}

// readContent reads what the plugin in dir brings. A part that is wrong falls alone, and
// is said; the error is about the plugin as a whole.
func readContent(dir string) (c *Content, warnings []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	m, claude, warnings, err := readManifest(root)
	if err != nil {
		return nil, nil, err
	}
	c = &Content{ID: m.Name, Name: m.Name, Version: m.Version, Description: m.Description, Root: dir}
	part := func(name string, to any) {
		data, err := read(root, name)
		if err == nil && data != nil {
			err = json.Unmarshal(data, to)
		}
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("%s is left out: %v", name, err))
		}
	}
	if claude {
		var file struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		}
		part(".mcp.json", &file)
		c.Servers = file.Servers
	} else {
		servers := map[string]json.RawMessage{}
		part("mcp.json", &servers)
		var said []string
		c.Servers, said = checkServers(servers, m.version)
		warnings = append(warnings, said...)
		var file struct {
			Hooks json.RawMessage `json:"hooks"`
			Tools []Tool          `json:"tools"`
		}
		part(dirOfOurs+"/hooks.json", &file)
		part(dirOfOurs+"/tools.json", &file)
		c.Hooks = file.Hooks
		for i, t := range file.Tools {
			if len(c.Tools) == maxTools {
				warnings = append(warnings, fmt.Sprintf("it has more than %d tools; the others are left out", maxTools))
				break
			}
			if why := t.check(); why != "" {
				warnings = append(warnings, fmt.Sprintf("tool %d of %s/tools.json is left out: %s", i+1, dirOfOurs, why))
				continue
			}
			c.Tools = append(c.Tools, t)
		}
	}
	if info, err := root.Stat("skills"); err == nil && info.IsDir() {
		c.Skills = filepath.Join(dir, "skills")
	}
	return c, warnings, nil
}

// check says what is wrong with a tool, or "".
func (t *Tool) check() string {
	switch {
	case !validTool.MatchString(t.Name):
		return fmt.Sprintf("the name %q must be lower snake case of at most 64 bytes", clip(t.Name))
	case strings.TrimSpace(t.Description) == "":
		return t.Name + " needs a description: models choose tools by it"
	case len(t.Command) == 0 || t.Command[0] == "":
		return t.Name + " needs a command"
	case t.Access != "" && t.Access != "read" && t.Access != "exec":
		return fmt.Sprintf("%s: the access is %q; it can be read or exec", t.Name, clip(t.Access))
	case t.Timeout < 0 || t.Timeout > 3600:
		return t.Name + ": the timeout must be from 0 to 3600 seconds"
	case len(t.Input) > maxSchema:
		return fmt.Sprintf("%s: its input has %d bytes, more than %d", t.Name, len(t.Input), maxSchema)
	}
	t.Description = cut(t.Description, maxText)
	return ""
}

// marker begins what a file says of itself in its first comment.
const marker = "sidecar-tool:"

// header reads what an executable file says of itself in a comment: after the marker an
// object, whose further lines may begin as the first one does (#, //, --, ;). ok is false
// when there is none.
func header(data []byte) (text []byte, ok bool) {
	data = data[:min(len(data), maxHeader)]
	before, after, ok := bytes.Cut(data, []byte(marker))
	if !ok || bytes.IndexByte(data, 0) >= 0 && bytes.IndexByte(data, 0) < len(before) {
		return nil, false
	}
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	prefix := strings.TrimSpace(string(line))
	if strings.ContainsFunc(prefix, func(r rune) bool { return !strings.ContainsRune("#/-;*%!", r) }) {
		return nil, false
	}
	var b bytes.Buffer
	for line := range bytes.Lines(after) {
		b.Write(bytes.TrimPrefix(bytes.TrimLeft(line, " \t"), []byte(prefix)))
		if json.Valid(bytes.TrimSpace(b.Bytes())) {
			return bytes.TrimSpace(b.Bytes()), true
		}
	}
	return bytes.TrimSpace(after), true // no JSON: whoever reads it says so
}

// describe reads what a file that is a tool says of itself.
func describe(text []byte, file string) (Tool, error) {
	var t Tool
	if err := json.Unmarshal(text, &t); err != nil {
		return t, fmt.Errorf("what %s says of itself is not the JSON of a tool: %w", file, err)
	}
	t.Command = append([]string{"./" + file}, t.Command...)
	if why := t.check(); why != "" {
		return t, errors.New(why)
	}
	return t, nil
}

func clip(s string) string { return cut(s, 64) }

func cut(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
