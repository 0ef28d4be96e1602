// Package setup puts sidecar-ls into the agents and editors that people have: it
// changes their settings files, after a person has seen the changes, and takes
// out again what it put there. It knows files and no server.
package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
)

// Env is where programs and files are looked for.
type Env struct {
	Home    string
	Dir     string // the project; "" is none
	Command string // how clients start this program
	Getenv  func(string) string
	Look    func(program string) (path string, err error) // in PATH

	// Programs says which of what Look finds may be asked for its version, outside of
	// the sandbox.
	Programs *lookup.Finder

	// Has reports whether this program has a sub-command: integrations that need one
	// are not there without it.
	Has func(verb string) bool

	// Reviewed says what the settings make of edits: those of the user alone, or as they
	// hold in the project.
	Reviewed func(project bool) Mode
}

// Mode is the mode that settings ask for.
type Mode struct {
	File     string // where another is written
	Name     string
	Holds    bool // edits wait in it, or are not made
	Tightens bool // the mode review is no looser
}

// Here is the Env of whoever runs this process. self is the path of this
// program.
func Here(dir, self string, programs *lookup.Finder, has func(string) bool) (Env, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Env{}, fmt.Errorf("settings are in your home directory, which is not known: %w", err)
	}
	programs.Forbid(dir)
	e := Env{Home: home, Dir: dir, Command: "sidecar-ls", Getenv: os.Getenv, Look: lookup.Confined, Programs: programs, Has: has}
	if _, err := e.Look(e.Command); err != nil && self != "" {
		e.Command = self
	}
	return e, nil
}

// xdg is a directory of the user's that a variable can name, or one below the
// home directory.
func (e Env) xdg(variable, fallback string) string {
	if dir := e.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return e.home(fallback)
}

func (e Env) home(name string) string { return filepath.Join(e.Home, filepath.FromSlash(name)) }

func (e Env) project(name string) string { return filepath.Join(e.Dir, filepath.FromSlash(name)) }

// The states of an integration.
const (
	On          = "on"
	Off         = "off"
	Incomplete  = "incomplete"
	Available   = "available"   // a command to use; there is nothing to set up
	Unavailable = "unavailable" // this version does not have it
)

// Client is an agent or editor, as it was found.
type Client struct {
	Name    string        `json:"name"`
	Title   string        `json:"title"`
	Found   bool          `json:"found"`
	Program string        `json:"program,omitempty"`
	Version string        `json:"version,omitempty"`
	Trouble string        `json:"trouble,omitempty"` // why what was found does not work
	Tried   string        `json:"tried,omitempty"`   // the version that the configuration was tried with; "" follows its documentation
	Roads   []Integration `json:"roads"`
}

// Integration is a way of a client to the workspace.
type Integration struct {
	Road    string `json:"road"`
	State   string `json:"state"`
	What    string `json:"what"`              // what it gives, in a sentence
	Why     string `json:"why,omitempty"`     // why the state is what it is
	Command string `json:"command,omitempty"` // what to run for it
}

// Names are the clients that there are rows for.
func Names() []string {
	var out []string
	for _, c := range table() {
		out = append(out, c.name)
	}
	return out
}

// Integrations are the names of those that a client can have.
func Integrations() []string { return []string{"mcp", "world", "hook", "ide", "acp"} }

// List looks at all clients. With versions each program that is found is asked
// for its own, within a few seconds.
func (e Env) List(ctx context.Context, versions bool) []Client {
	var out []Client
	for _, row := range table() {
		c := Client{Name: row.name, Title: row.title, Tried: row.tried}
		c.Program, c.Found = e.find(row)
		if c.Program == "" {
			c.Trouble = noProgram(e, row, c.Found)
		}
		for _, r := range row.integrations {
			c.Roads = append(c.Roads, e.look(row, r))
		}
		out = append(out, c)
	}
	if versions {
		var asked sync.WaitGroup
		for i := range out {
			if out[i].Program != "" && !e.brought(out[i].Program) {
				asked.Go(func() { out[i].Version, out[i].Trouble = e.version(ctx, out[i].Program) })
			}
		}
		asked.Wait()
	}
	return out
}

// brought reports whether a program is one of the project's files, which PATH may
// lead to: listing clients must not run what a project brings along.
func (e Env) brought(program string) bool {
	if e.Dir == "" {
		return false
	}
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return true
	}
	return inside(program, real, e.Dir) == nil || inside(program, program, e.Dir) == nil
}

// find looks for a client's program, and for its settings.
func (e Env) find(row client) (program string, found bool) {
	for _, name := range row.programs {
		if path, err := e.Look(name); err == nil {
			return path, true
		}
	}
	for _, dir := range row.dirs(e) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			found = true
		}
	}
	return "", found
}

// noProgram says why a client of which something is here has no program: a file of its name
// on PATH is none, or there is none. "" is nothing of it.
func noProgram(e Env, row client, settings bool) string {
	for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
		for _, name := range row.programs {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && filepath.IsAbs(dir) {
				return path + " can't be run: it is not executable"
			}
		}
	}
	if settings && len(row.programs) > 0 {
		return "its settings are here, and no " + strings.Join(row.programs, " or ") + " on PATH"
	}
	return ""
}

// look says how an integration is.
func (e Env) look(row client, r integration) Integration {
	out := Integration{Road: r.name, What: r.what}
	if r.files == nil {
		out.State, out.Why, out.Command = stateOf(e, row, r)
		return out
	}
	if _, off := ToolsOff(e, row.name); off && r.what == ownOff {
		out.What = ownIsOff
	}
	out.Command = "sidecar-ls setup " + row.name
	if r.named {
		out.Command += " --via " + r.name
	}
	out.State, out.Why = e.written(r.files(e, Options{}))
	if !r.project || e.Dir == "" {
		return out
	}
	switch state, _ := e.written(r.files(e, Options{Project: true})); {
	case state == On && out.State != On:
		out.State, out.Why = On, "in this project"
	case state == Incomplete && out.State == Off:
		out.State, out.Why = Incomplete, "in this project"
	}
	return out
}

// stateOf is the state of an integration that is not written into files. In a run an agent
// has only its own tools, so there is none where setup turned these off.
func stateOf(e Env, row client, r integration) (state, why, command string) {
	state, why, command = r.state(e)
	if r.name == "world" && state == Available {
		if undo, off := ToolsOff(e, row.name); off {
			return Unavailable, "its own tools are off; to turn them on: " + undo, ""
		}
	}
	return state, why, command
}

// written says how much of what is to be in files is there.
func (e Env) written(files []file) (state, why string) {
	state = On
	there := false
	for _, f := range files {
		c, err := e.change(f)
		there = there || err == nil && (len(c.did) < len(f.items) || slices.ContainsFunc(c.did, func(d done) bool { return d.Had != "" }))
		switch {
		case err != nil:
			return Off, err.Error()
		case len(c.foreign) > 0:
			return Off, c.foreign[0]
		case c.Diff == "":
			continue
		case !c.existed && f.family == wholeFile, slices.ContainsFunc(c.did, func(d done) bool { return d.Kind == entry }):
			return Off, "" // the rest is nothing without it
		}
		if state, why = Incomplete, "part of what it takes is missing"; f.family == wholeFile {
			why = "it is of another version"
		}
	}
	if state == Incomplete && !there && files[0].family != wholeFile {
		return Off, ""
	}
	return state, why
}

// patience bounds how long a program may take to say its version.
const patience = 3 * time.Second

var versionNumber = regexp.MustCompile(`\d+\.\d+[\w.+-]*`)

// version asks a program for its version; "" is none that it said in time. trouble is how it
// failed.
func (e Env) version(ctx context.Context, program string) (v, trouble string) {
	program, err := e.Programs.Find(program)
	if err != nil {
		return "", ""
	}
	if v := packaged(program); v != "" {
		return v, ""
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Env = e.Programs.Environ()
	cmd.WaitDelay = 100 * time.Millisecond // what it started may hold its output
	var out bytes.Buffer
	cmd.Stdout = &out
	tree, err := proctree.Start(cmd, proctree.Limits{})
	if err != nil {
		return "", program + " can't be run: " + err.Error()
	}
	err = cmd.Wait()
	tree.Leave() // it may have begun to update itself
	if err != nil && ctx.Err() == nil && !errors.Is(err, exec.ErrWaitDelay) {
		trouble = program + " --version fails: " + err.Error()
	}
	if err != nil && out.Len() == 0 {
		return "", trouble
	}
	return versionNumber.FindString(strings.ToValidUTF8(string(out.Next(4096)), "")), trouble
}

// rowOf is the row of a client.
func rowOf(name string) (client, error) {
	all := table()
	i := slices.IndexFunc(all, func(c client) bool { return c.name == name })
	if i < 0 {
		return client{}, fmt.Errorf("setup does not know %q; it knows %s", name, strings.Join(Names(), ", "))
	}
	return all[i], nil
}
