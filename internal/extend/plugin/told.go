package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// tell fills in what is said of a plugin that brings c.
func (e *entry) tell(c *Content) {
	e.ID, e.Name = c.ID, c.Name
	e.Version, e.Description = c.Version, c.Description
	e.Tools, e.Hooks, e.Skills, e.Servers, e.Commands, e.Overrides = len(c.Tools), 0, 0, 0, nil, nil
	for _, t := range c.Tools {
		e.Commands = append(e.Commands, "tool "+t.Name+": "+strings.Join(t.Command, " "))
		if t.Override {
			e.Overrides = append(e.Overrides, t.Name)
		}
	}
	var groups map[string][]struct {
		Hooks []struct {
			Command string `json:"command"`
		} `json:"hooks"`
	}
	if json.Unmarshal(c.Hooks, &groups) == nil {
		for _, event := range sorted(groups) {
			for _, g := range groups[event] {
				for _, h := range g.Hooks {
					e.Hooks++
					e.Commands = append(e.Commands, "hook "+event+": "+h.Command)
				}
			}
		}
	}
	e.Servers = len(c.Servers)
	for _, name := range sorted(c.Servers) {
		var s struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
			URL     string   `json:"url"`
		}
		_ = json.Unmarshal(c.Servers[name], &s) // what is wrong with it is said elsewhere
		e.Commands = append(e.Commands, strings.TrimSpace("server "+name+": "+s.URL+strings.Join(append([]string{s.Command}, s.Args...), " ")))
	}
	if c.Skills != "" {
		if list, err := filepath.Glob(filepath.Join(escaped(c.Skills), "*", "SKILL.md")); err == nil {
			e.Skills = len(list)
		}
	}
}

// escaped is a path in which nothing is a pattern.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// headerOf reads what a program says of itself in its first comment; nil is nothing.
func headerOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, maxHeader)
	n, _ := f.Read(data) // an empty file says nothing
	text, _ := header(data[:n])
	return text, nil
}
