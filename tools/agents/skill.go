package agents

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/steps"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Skills are what a session knows how to do.
type Skills struct {
	Library *skills.Library
	Has     interface { // the tools of a session: *dispatch.Dispatcher
		Search(session, question string) ([]tools.Found, error)
	}
	Given interface { // what its agent was given before: *session.Store
		Give(session, key, version string) (before string, err error)
	}
}

// Of finds the skills of the session of a call.
func (s Skills) Of(ctx context.Context, c *tools.Call) (skills.Found, error) {
	if s.Library == nil {
		return skills.Found{}, tools.Errorf(tools.Unavailable, "there are no skills here; do the task with what you know")
	}
	all, err := s.Has.Search(c.Session, "")
	if err != nil {
		return skills.Found{}, err
	}
	return s.Library.List(ctx, c.Files, func(tool string) bool {
		return slices.ContainsFunc(all, func(f tools.Found) bool { return f.Name == tool })
	}), nil
}

//go:embed skill.md
var skillText string

type skillIn struct {
	Name  string `json:"name" jsonschema:"of the skill" minLength:"1" maxLength:"100"`
	File  string `json:"file,omitempty" jsonschema:"one of its files, to be read instead" maxLength:"500"`
	Again bool   `json:"again,omitempty" jsonschema:"you were given the skill before and don't have it any more"`
}

// skillOut is the structured result of skill.
type skillOut struct {
	Name     string   `json:"name" jsonschema:"of the skill"`
	Origin   string   `json:"origin" jsonschema:"whose it is: project, user, shipped, or a plugin's name"`
	Kit      bool     `json:"kit,omitempty" jsonschema:"it has steps, which are the list of todos now"`
	Steps    []string `json:"steps,omitempty" jsonschema:"of a kit, in order"`
	Files    []string `json:"files" jsonschema:"that it has beside its text"`
	More     bool     `json:"more,omitempty" jsonschema:"there are other files"`
	Known    bool     `json:"known,omitempty" jsonschema:"the agent has it already, and is not given it again"`
	Warnings []string `json:"warnings,omitempty" jsonschema:"what is wrong with it"`
}

func skill(s Skills, w Works) *tools.Tool {
	d := tools.Def{
		Name: "skill", Title: "Get a skill", Description: skillText, Category: Planning, InOrder: true,
		Example: `{"name": "code-quality"}`, Tags: []string{"kit", "workflow", "how to", "know-how", "instructions"}, Names: []string{"complete_todo"}, Output: skillOut{},
	}
	return tools.NewRead(d, func(ctx context.Context, c *tools.Call, in skillIn) (tools.Result, error) {
		all, err := s.Of(ctx, c)
		if err != nil {
			return tools.Result{}, err
		}
		one, ok := all.Find(in.Name)
		switch {
		case !ok:
			return tools.Result{}, noSkill(in.Name, all)
		case one.Missing != "":
			return tools.Result{}, tools.Errorf(tools.Unavailable, "the skill %s can't be used: %s", one.Name, one.Missing)
		case in.File != "":
			return skillFile(one, in.File)
		}
		out := skillOut{Name: one.Name, Origin: one.Origin, Kit: one.Kit(), Steps: one.Steps, Warnings: one.Warnings}
		if !out.Kit {
			out.Steps = nil
		}
		out.Files, out.More = one.Files()
		out.Files = append([]string{}, out.Files...)
		body, cut := one.Body()
		if s.Given != nil {
			sum := sha256.Sum256([]byte(body))
			version := hex.EncodeToString(sum[:8])
			before, err := s.Given.Give(c.Session, "skill "+one.Name, version)
			if err != nil {
				return tools.Result{}, tools.Errorf(tools.Unavailable, "%v", err)
			}
			if out.Known = before == version && !in.Again; out.Known {
				return tools.Result{Text: fmt.Sprintf("You were given the skill %s in this session, and it has not changed. If you don't have it any more, call again with again: true.", one.Name), Structured: out}, nil
			}
		}
		var b strings.Builder
		fmt.Fprintf(&b, "# The skill %s (%s)\n", one.Name, one.Origin)
		if one.Compatibility != "" {
			fmt.Fprintf(&b, "It is made for: %s\n", one.Compatibility)
		}
		fmt.Fprintf(&b, "\n%s\n", body)
		if cut {
			b.WriteString("\n(The rest of it is left out: it is too long.)\n")
		}
		if len(out.Files) > 0 {
			fmt.Fprintf(&b, "\nIts files, which skill reads with file: %s", strings.Join(out.Files, ", "))
			if out.More {
				b.WriteString(", and others")
			}
			b.WriteString("\n")
		}
		if out.Kit && w != nil {
			now, err := planned(w, c, one.Steps)
			if err != nil {
				return tools.Result{}, err
			}
			fmt.Fprintf(&b, "\nThe list of todos is now its steps; tick each with complete_todo as soon as it is done:\n%s\n", steps.State{Todos: now.Todos}.Words())
		}
		return tools.Result{Text: strings.TrimSuffix(b.String(), "\n"), Structured: out, Truncated: cut, Untrusted: one.Project}, nil
	})
}

// planned puts the steps of a kit before what is left of the list of todos.
func planned(w Works, c *tools.Call, list []string) (steps.State, error) {
	return changed(w, c, func(s *steps.State) error {
		var next []steps.Todo
		for _, text := range list {
			next = append(next, steps.Todo{Text: text, State: steps.Pending})
		}
		for _, t := range s.Todos {
			if t.State != steps.Completed && len(next) < steps.MaxTodos && !slices.Contains(list, t.Text) {
				next = append(next, t)
			}
		}
		return s.WriteTodos(next)
	})
}

// noSkill says what there is instead.
func noSkill(name string, all skills.Found) error {
	var usable []string
	for _, s := range all.Skills {
		if s.Missing == "" {
			usable = append(usable, s.Name)
		}
	}
	const most = 20
	switch near := tools.Near(name, usable, 3); {
	case len(near) > 0:
		return tools.Errorf(tools.NotFound, "there is no skill %q; did you mean %s?", tools.Clip(name), strings.Join(near, ", "))
	case len(usable) == 0:
		return tools.Errorf(tools.NotFound, "there is no skill %q, and no other; do the task with what you know", tools.Clip(name))
	case len(usable) > most:
		usable = append(usable[:most], "…")
	}
	return tools.Errorf(tools.NotFound, "there is no skill %q; there are %s", tools.Clip(name), strings.Join(usable, ", "))
}

// skillFile reads a file of a skill.
func skillFile(s *skills.Skill, name string) (tools.Result, error) {
	text, more, err := s.Read(name)
	switch {
	case errors.Is(err, skills.ErrName):
		return tools.Result{}, tools.Errorf(tools.InvalidArguments, "file: %v", err)
	case err != nil:
		names, _ := s.Files()
		e := tools.AsError(err)
		if e.Code == tools.Internal || e.Code == tools.NotFound {
			has := "the skill has " + strings.Join(names, ", ")
			if len(names) == 0 {
				has = "the skill has no files besides its text"
			}
			e = tools.Errorf(tools.NotFound, "file: %s can't be read; %s", tools.Clip(name), has)
		}
		return tools.Result{}, e
	}
	if more {
		text += "\n(The rest is left out: the file is too long.)"
	}
	return tools.Result{Text: text, Structured: skillOut{Name: s.Name, Origin: s.Origin, Files: []string{name}}, Truncated: more, Untrusted: s.Project}, nil
}
