package setup

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Options say what is to be set up.
type Options struct {
	Roads    []string // none: all that setup writes where none is named
	Project  bool     // in the project's files, not in the user's
	OnlyOurs bool     // turn off what the agent has of its own for files and commands
	Tools    []string // families of tools that the client is listed at first; none: as the settings say
	Review   bool     // that, and what it takes besides for all edits to wait for review
}

// Plan is what would be changed. Apply changes it.
type Plan struct {
	Client  string
	Title   string
	Changes []*Change
	Done    bool     // all that setup writes is there already
	Foreign []string // what is somebody else's and would be replaced, in sentences
	Notes   []string // what a person should know or do besides
	Left    []string // what undo leaves, with what to do by hand
	Kept    string   // where copies of what was there are, once it is applied

	apply func(*Plan) error
}

// Apply changes the files: all of them or none.
func (p *Plan) Apply() error {
	if p.apply == nil {
		return nil
	}
	return p.apply(p)
}

// scope is how the records of this run are found again.
func (e Env) scope(o Options) (string, error) {
	switch {
	case !o.Project:
		return "", nil
	case e.Dir == "":
		return "", errors.New("there is no project: no folder is open")
	}
	return filepath.EvalSymlinks(e.Dir)
}

// chosen are the integrations of a client that options ask for.
func chosen(row client, o Options) ([]integration, error) {
	var out []integration
	for _, name := range o.Roads {
		i := slices.IndexFunc(row.integrations, func(r integration) bool { return r.name == name })
		if i < 0 {
			var names []string
			for _, r := range row.integrations {
				names = append(names, r.name)
			}
			return nil, fmt.Errorf("%s has no integration %q; it has %s", row.title, name, strings.Join(names, ", "))
		}
		out = append(out, row.integrations[i])
	}
	if len(o.Roads) == 0 {
		for _, r := range row.integrations {
			if (r.files != nil || r.manual != nil) && !r.named {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// Plan says what would be changed. It fails where nothing can be done safely.
func (e Env) Plan(name string, o Options) (*Plan, error) {
	row, err := rowOf(name)
	if err != nil {
		return nil, err
	}
	integrations, err := chosen(row, o)
	if err != nil {
		return nil, err
	}
	project, err := e.scope(o)
	if err != nil {
		return nil, err
	}
	p := &Plan{Client: row.name, Title: row.title}
	written := ""
	for _, r := range integrations {
		if r.files == nil {
			note, err := e.note(row, r)
			if err != nil {
				return nil, err
			}
			p.Notes = append(p.Notes, note)
			continue
		}
		if o.Project && !r.project {
			return nil, fmt.Errorf("setup knows no file of a project for %s; leave out --project", row.title)
		}
		if written != "" {
			return nil, fmt.Errorf("setup writes one integration at a time; run it for %s and for %s", written, r.name)
		}
		files, err := e.filesOf(row, r, o)
		if err != nil {
			return nil, err
		}
		written = r.name
		before := len(p.Changes)
		for _, f := range files {
			c, err := e.change(f)
			if err != nil {
				return nil, err
			}
			if c.Diff != "" {
				p.Changes = append(p.Changes, c)
				p.Foreign = append(p.Foreign, c.foreign...)
			}
		}
		if len(p.Changes) == before {
			continue
		}
		p.Notes = append(p.Notes, r.notes...)
		if row.tried == "" {
			p.Notes = append(p.Notes, "The entry follows the documentation of "+row.title+"; it was not tried with it.")
		}
		if _, found := e.find(row); !found {
			p.Notes = append(p.Notes, row.title+" was not found here; the files wait for it.")
		}
		if !o.Project && e.Command != "sidecar-ls" {
			p.Notes = append(p.Notes, "sidecar-ls is not in your PATH, so the files name this program: "+e.Command)
		}
		if o.Project {
			if _, err := e.Look("sidecar-ls"); err != nil {
				p.Notes = append(p.Notes, "sidecar-ls is not in your PATH, and the project's files name it without a directory; put it there")
			}
		}
	}
	p.Done = written != "" && len(p.Changes) == 0
	p.Notes = append(p.Notes, e.truth(row, written, o)...)
	if len(p.Changes) > 0 {
		p.apply = func(p *Plan) error {
			return e.write(p, &record{Client: row.name, Road: written, Project: project, Review: o.Review})
		}
	}
	return p, nil
}

// filesOf are the files of an integration, with what the options ask for.
func (e Env) filesOf(row client, r integration, o Options) ([]file, error) {
	if o.Review && r.name == "mcp" {
		o.OnlyOurs = true
	}
	if o.OnlyOurs && !e.turnsOff(r, o) {
		flag := "--only-ours"
		if o.Review {
			flag = "--review"
		}
		return nil, fmt.Errorf("setup knows no way to turn off the own tools of %s; leave out %s", row.title, flag)
	}
	files := r.files(e, o)
	if !o.Review {
		return files, nil
	}
	f, err := e.reviewFile(o)
	if err != nil {
		return nil, err
	}
	return append(files, f...), nil
}

// turnsOff reports whether an integration can turn off the agent's own tools.
func (e Env) turnsOff(r integration, o Options) bool {
	with, without := o, o
	with.OnlyOurs, without.OnlyOurs = true, false
	return r.files != nil && !reflect.DeepEqual(r.files(e, with), r.files(e, without))
}

// note is what a person does for an integration that is not written.
func (e Env) note(row client, r integration) (string, error) {
	if r.manual != nil {
		return strings.Join(r.manual(e), "\n"), nil
	}
	state, why, command := stateOf(e, row, r)
	switch state {
	case Available:
		return fmt.Sprintf("%s: run `%s`; there is nothing to set up.", r.name, command), nil
	case Unavailable:
		return "", fmt.Errorf("the integration %s is not there for %s: %s", r.name, row.title, why)
	}
	return fmt.Sprintf("%s: %s.", r.name, why), nil
}

// write stages, keeps copies, and writes.
func (e Env) write(p *Plan, r *record) error {
	all, err := stage(p.Changes)
	if err != nil {
		return fmt.Errorf("%w; nothing was written", err)
	}
	if err := e.keep(r, all); err != nil {
		discard(all)
		return fmt.Errorf("what is there can't be kept, so nothing was written: %w", err)
	}
	if err := commit(all); err != nil {
		_ = r.forget()
		return fmt.Errorf("nothing was written: %w", err)
	}
	p.Kept = r.dir
	return nil
}
