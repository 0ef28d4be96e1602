// Package plugin finds plugins, and keeps what their user says of them. A plugin is a
// directory in the Agent Plugins format (plugin.json, skills, mcp.json, and our
// additions in io.sidecar-ls), one of Claude Code's layout, or one executable file that
// is a tool.
//
//	find.go      the places, and what is in them     tree.go     all of a plugin as a hash, and its copy
//	manifest.go  what a plugin says of itself        memory.go   what the user said of it
//	manager.go   its life: found, trusted, loaded, changed, gone
//
// Nothing of a plugin runs before its user has trusted exactly what is there. What runs
// is a copy of that: a change is another version, which takes the place of the old one
// once it is whole, and once it is trusted, too, unless the plugin is the user's own work.
package plugin

import (
	"encoding/json"
	"time"
)

// State is where a plugin is in its life.
type State string

// The states.
const (
	Discovered State = "discovered" // found, and not loaded: its user has not trusted it as it is
	Enabled    State = "enabled"
	Disabled   State = "disabled" // by its user
	Faulted    State = "faulted"  // Error says why; an earlier version may still be loaded
)

// Trust is what its user said of a plugin.
type Trust string

// The tiers.
const (
	Unknown Trust = "unknown"
	Trusted Trust = "trusted" // exactly as it is
	Mine    Trust = "mine"    // the user's own work: it is loaded again when it changes
)

// Status describes a plugin for people and editors.
type Status struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Description string   `json:"description,omitempty"`
	Origin      string   `json:"origin"` // the place where it was found
	Path        string   `json:"path"`
	State       State    `json:"state"`
	Trust       Trust    `json:"trust"`
	Hash        string   `json:"hash"` // of all that is in it; trusting may name it
	Tools       int      `json:"tools"`
	Hooks       int      `json:"hooks"`
	Skills      int      `json:"skills"`
	Servers     int      `json:"servers"`
	Commands    []string `json:"commands,omitempty"`  // what it would run, as it says
	Overrides   []string `json:"overrides,omitempty"` // built-in tools that it stands in for, or would
	Error       string   `json:"error,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`
	Changed     []string `json:"changed,omitempty"` // since it was trusted, or since what is loaded
}

// Place is a directory in which plugins lie, or that is one.
type Place struct {
	Dir     string
	Origin  string // whose it is, for people
	Project bool   // it comes with the project, whose trust is needed besides
	Files   bool   // an executable in it is a tool
}

// Content is what a version of a plugin brings. It lies in Root, where nobody changes it.
type Content struct {
	ID, Name, Version, Description string

	Path    string // of the plugin; Root is that of its copy
	Root    string
	Mine    bool
	Project bool // it comes with the project
	Tools   []Tool
	Hooks   json.RawMessage            // an object of events; nil: none
	Skills  string                     // a directory of skills; "": none
	Servers map[string]json.RawMessage // MCP servers, by name

	Override []string // built-in tools that it may stand in for, by its user's word
}

// Tool is a tool that is a program.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Command     []string        `json:"command"`
	Input       json.RawMessage `json:"input"`
	Access      string          `json:"access"` // read or exec; "": exec
	Timeout     int             `json:"timeout"`
	Env         []string        `json:"env"`
	Destructive bool            `json:"destructive"` // asked about in every mode, unless the plugin is the user's own
	Override    bool            `json:"override"`    // it stands in for a built-in tool of that name
}

// Host has what plugins bring. Load takes a version in the place of the one before, in
// one step, or fails and leaves that as it is.
type Host interface {
	Load(c *Content) error
	Unload(path string)
	// Changed is called when what is loaded has changed.
	Changed()
	// Describe runs a program of a plugin that says what tool it is.
	Describe(program string) ([]byte, error)
}

// Quiet is how long nothing must have changed in a place before it is looked at.
const Quiet = 300 * time.Millisecond
