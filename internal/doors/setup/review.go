package setup

import (
	"fmt"
	"slices"
)

// reviewed is the mode in which edits wait for review.
const reviewed = "review"

func (e Env) mode(project bool) Mode {
	if e.Reviewed == nil {
		return Mode{}
	}
	return e.Reviewed(project)
}

// reviewFile is what our own settings have to say for edits to wait: nothing, where they
// do so in the mode that holds. A mode is never loosened.
func (e Env) reviewFile(o Options) ([]file, error) {
	m := e.mode(o.Project)
	switch {
	case m.Holds:
		return nil, nil
	case !m.Tightens:
		return nil, fmt.Errorf("your mode is %s, which setup does not replace: review would ask you less in something. To choose review all the same: sidecar-ls mode review", m.Name)
	}
	f := file{path: m.File, family: ours, project: o.Project}
	c, err := e.open(f)
	if err != nil {
		return nil, err
	}
	d, err := open(ours, c.before)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.File, err)
	}
	f.items = []item{{value, spelt(d.tree(), "mode"), reviewed}}
	return []file{f}, nil
}

// spelt is where a setting of ours stands: with its prefix, below it, or without.
func spelt(tree map[string]any, key string) []string {
	for _, path := range [][]string{{"sidecar." + key}, {"sidecar", key}} {
		if _, there := at(tree, path); there {
			return path
		}
	}
	return []string{key}
}

// CanReview reports whether setup can make all edits of a client wait for review, and
// whether they do so already.
func (e Env) CanReview(name string, o Options) (can, does bool) {
	row, err := rowOf(name)
	if err != nil {
		return false, false
	}
	integrations, err := chosen(row, o)
	if err != nil {
		return false, false
	}
	for _, r := range integrations {
		if r.files != nil && (r.name == "hook" || e.turnsOff(r, o)) {
			return true, e.isReviewed(row, o)
		}
	}
	return false, false
}

// ToolsOff reports whether setup has turned off an agent's own tools, the user's or in this
// project, and the command that takes that back.
func ToolsOff(e Env, name string) (undo string, off bool) {
	row, err := rowOf(name)
	if err != nil {
		return "", false
	}
	for _, project := range []bool{true, false} {
		o := Options{Project: project, OnlyOurs: true}
		mcp := row.integration("mcp")
		if mcp.files == nil || project && !mcp.project || !e.turnsOff(mcp, o) {
			continue
		}
		if state, _ := e.written(mcp.files(e, o)); state == On {
			undo = "sidecar-ls setup " + name + " --undo"
			if project {
				undo += " --project"
			}
			return undo, true
		}
	}
	return "", false
}

// isReviewed reports whether all edits of an agent wait for review: its own tools are off
// or lead to ours, and the mode holds what ours write.
func (e Env) isReviewed(row client, o Options) bool {
	if !e.mode(o.Project).Holds {
		return false
	}
	o.Review, o.OnlyOurs = false, true
	for _, project := range []bool{false, o.Project} {
		o.Project = project
		if mcp := row.integration("mcp"); e.turnsOff(mcp, o) {
			if state, _ := e.written(mcp.files(e, o)); state == On {
				return true
			}
		}
		if hook := row.integration("hook"); hook.files != nil {
			if state, _ := e.written(hook.files(e, o)); state == On {
				return true
			}
		}
	}
	return false
}

func (c client) integration(name string) integration {
	if i := slices.IndexFunc(c.integrations, func(r integration) bool { return r.name == name }); i >= 0 {
		return c.integrations[i]
	}
	return integration{}
}

// truth is what a person has to know of the edits once an integration is set up.
func (e Env) truth(row client, written string, o Options) []string {
	if written != "mcp" && written != "hook" {
		return nil
	}
	var notes []string
	if written == "hook" && e.look(row, row.integration("mcp")).State != On {
		notes = append(notes, row.title+" needs our tools, too: sidecar-ls setup "+row.name)
	}
	mode := e.mode(o.Project)
	can := e.turnsOff(row.integration("mcp"), o)
	_, already := ToolsOff(e, row.name)
	off := o.OnlyOurs || written == "hook" || already
	run := ""
	if state, _, command := row.world(e); state == Available {
		run = command
	}
	switch {
	case o.Review, off && mode.Holds, e.isReviewed(row, o):
		return append(notes, "All edits of "+row.title+" wait for your review, in your editor or in: sidecar-ls review")
	case off:
		return append(notes, fmt.Sprintf("Edits that %s makes with our tools don't wait for review: your mode is %s. To have them wait: sidecar-ls mode review", row.title, mode.Name))
	}
	text := "Edits that " + row.title + " makes with its own tools are not reviewed."
	if can {
		text += " To review all: sidecar-ls setup " + row.name + " --review"
		if o.Project {
			text += " --project"
		}
	}
	if run != "" {
		more := " To review all: "
		if can {
			more = ", or start it with: "
		}
		text += more + run
	}
	return append(notes, text)
}

// world is the state of the integration on which the whole program runs in a world.
func (c client) world(e Env) (state, why, command string) {
	if r := c.integration("world"); r.state != nil {
		return stateOf(e, c, r)
	}
	return Unavailable, "", ""
}

// alsoReviewed are the titles of the other clients whose edits were made to wait for review
// with the same settings.
func (e Env) alsoReviewed(client, project string) (titles []string, err error) {
	for _, row := range table() {
		if row.name == client {
			continue
		}
		all, err := e.records(row.name, project)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(r *record) bool { return r.Review }) {
			titles = append(titles, row.title)
		}
	}
	return titles, nil
}
