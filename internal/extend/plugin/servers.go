package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// serverEntry is a server as the format has it: closed, in variants.
type serverEntry struct {
	Type    string            `json:"type"`
	Command *string           `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	Dir     string            `json:"cwd"`
	URL     *string           `json:"url"`
	Headers map[string]string `json:"headers"`
}

// checkServers are the servers of an mcp.json that can be used, and what is wrong with
// the others. version is that of the manifest.
func checkServers(file map[string]json.RawMessage, version string) (servers map[string]json.RawMessage, warnings []string) {
	if len(file) == 0 {
		return nil, nil
	}
	out := func(format string, args ...any) []string {
		return []string{"mcp.json is left out: " + fmt.Sprintf(format, args...)}
	}
	for _, name := range sorted(file) {
		if name != "$schema" && name != "mcpServers" {
			return nil, out("the member %s is not of the format", clip(name))
		}
	}
	switch got, err := formatOf(file["$schema"], "mcp"); {
	case err != nil:
		return nil, out("%v", err)
	case got != version:
		return nil, out("it is of version %s of the format, and plugin.json of %s", got, version)
	}
	if err := json.Unmarshal(file["mcpServers"], &servers); err != nil || servers == nil {
		return nil, out("mcpServers must be an object of servers")
	}
	for _, name := range sorted(servers) {
		if why := checkServer(servers[name]); why != "" {
			warnings = append(warnings, fmt.Sprintf("the server %s is left out: %s", clip(name), why))
			delete(servers, name)
		}
	}
	return servers, warnings
}

// checkServer says what is wrong with a server, or "".
func checkServer(raw json.RawMessage) string {
	var e serverEntry
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	stdio := e.Command != nil || e.Args != nil || e.Env != nil || e.Dir != ""
	remote := e.URL != nil || e.Headers != nil
	switch e.Type {
	case "stdio":
		switch {
		case remote || e.Command == nil || *e.Command == "":
			return "a server of the type stdio has a command, and may have args, env and cwd"
		case strings.ContainsAny(*e.Command, "/\\") && !inside(*e.Command, "./"):
			return "its command must be the name of a program, or a path in the plugin that begins with ./"
		case e.Dir != "" && !inside(e.Dir, "./") && !rooted(e.Dir, "${PLUGIN_ROOT}") && !rooted(e.Dir, "${PLUGIN_DATA}"):
			return "its cwd must begin with ./, ${PLUGIN_ROOT} or ${PLUGIN_DATA}, and stay there"
		}
		for _, name := range []string{"PLUGIN_ROOT", "PLUGIN_DATA"} {
			if _, ok := e.Env[name]; ok {
				return "its env must not set " + name
			}
		}
		return ""
	case "streamable-http", "sse":
		if stdio || e.URL == nil || *e.URL == "" {
			return "a server of the type " + e.Type + " has a url, and may have headers"
		}
		return ""
	}
	return fmt.Sprintf("the type is %q; it can be stdio, streamable-http or sse", clip(e.Type))
}

// inside reports whether a path begins as it must and leads nowhere else.
func inside(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && local(rest)
}

// rooted reports whether a path is a place, or lies in it.
func rooted(path, place string) bool {
	rest, ok := strings.CutPrefix(path, place)
	return ok && (rest == "" || rest[0] == '/' && local(rest[1:]))
}

func local(path string) bool {
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == ".." {
			return false
		}
	}
	return !strings.HasPrefix(path, "/")
}
