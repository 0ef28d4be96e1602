package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// settings of one day.
type settings struct {
	dir      string // for the project; it is made
	program  string // the server's
	programs *lookup.Finder
}

// tally counts the decisions of one day in one mode.
type tally struct {
	allowed, asked, denied int

	needed  int            // of those asked, the ones that a person must be asked about
	marked  int            // calls that a person must be asked about where they leave the session
	inside  int            // of them those that stay in it
	holes   []string       // of them those that nobody would be asked about
	wrongly []string       // calls that are denied without need
	rules   map[string]int // who asked
	said    []string       // each call that was not simply allowed

	confined string // what commands are confined by here
}

// person answers every question with yes, for the session where that is offered.
type person struct{ asked int }

// Approve implements dispatch.Approver.
func (p *person) Approve(_ context.Context, a dispatch.Ask) (dispatch.Answer, error) {
	p.asked++
	answer := dispatch.Answer{Allow: true, Scope: dispatch.Once}
	if a.Rememberable {
		answer.Scope = dispatch.ForSession
	}
	if a.Irrecoverable {
		answer.Typed = "CONFIRM"
	}
	return answer, nil
}

// player plays the calls of a day.
type player struct {
	w      *app.Workspace
	day    *Day
	mode   string
	dir    string
	id     string // of the session
	person *person
}

// play makes the project and plays the day in one mode.
func play(ctx context.Context, d *Day, mode string, set settings) (t *tally, err error) {
	if err := project(ctx, d, set.dir); err != nil {
		return nil, err
	}
	p := &player{day: d, mode: mode, dir: set.dir, person: &person{}}
	p.w, err = app.Open(ctx, []workspace.Folder{{Name: d.Name, Dir: set.dir}}, app.Options{
		Log: slog.New(slog.DiscardHandler), Queue: app.QueueAlways, Program: set.program, Programs: set.programs, User: app.User{Approver: p.person},
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.w.Close()) }()
	s, err := p.w.Client.Sessions.Open(session.OpenRequest{Mode: mode})
	if err != nil {
		return nil, err
	}
	p.id = s.ID
	world, _ := p.w.Confiner.WorldStatus()
	t = &tally{rules: map[string]int{}, confined: p.w.Confiner.Words() + "; world: " + world}
	for n, c := range d.Calls {
		if err := p.call(ctx, c, t); err != nil {
			return nil, fmt.Errorf("call %d, %s %s: %w", n+1, c.Tool, c.Arguments, err)
		}
	}
	return t, nil
}

// call plays one call and counts what it comes to.
func (p *player) call(ctx context.Context, c Call, t *tally) error {
	args := c.in(p.dir)
	if c.must(p.mode) {
		t.marked++
		fresh, err := p.fresh(ctx, dispatch.Request{Name: c.Tool, Arguments: args})
		if err != nil {
			return err
		}
		switch {
		case fresh.Decision == policy.Allow && fresh.Rule == policy.WorldComplete && len(fresh.Crosses) == 0:
			t.inside++
		case fresh.Decision == policy.Allow:
			t.holes = append(t.holes, p.words(c, fresh.Rule))
		}
		if loose := p.loose(fresh.Crosses); loose != "" {
			t.holes = append(t.holes, p.words(c, loose))
		}
	}
	outcome, rule, err := p.decided(ctx, dispatch.Request{Name: c.Tool, Arguments: args, Session: p.id})
	if err != nil {
		return err
	}
	switch outcome {
	case policy.Allow:
		t.allowed++
		return nil
	case policy.Ask:
		t.asked++
		t.rules[rule]++
		if c.must(p.mode) {
			t.needed++
		}
	case policy.Deny:
		t.denied++
		if !c.mayDeny() {
			t.wrongly = append(t.wrongly, p.words(c, rule))
		}
	}
	t.said = append(t.said, string(outcome)+" "+p.words(c, rule))
	return nil
}

// loose is an effect that is free although the table of effects says that it is asked about.
func (p *player) loose(crosses []effects.Effect) string {
	mode, _ := policy.Lookup(p.mode)
	for _, e := range crosses {
		if e.Decision == effects.Free && effects.Rule(mode, e.Kind, false) == effects.Asked {
			return string(e.Kind) + ": " + e.What
		}
	}
	return ""
}

// words are a call in a line.
func (p *player) words(c Call, rule string) string {
	return fmt.Sprintf("%s, %s: %s %s (%s)", p.day.Name, p.mode, c.Tool, tools.Clip(string(c.Arguments)), rule)
}

// fresh explains a call in a new session, without earlier answers.
func (p *player) fresh(ctx context.Context, r dispatch.Request) (dispatch.Explanation, error) {
	s, err := p.w.Client.Sessions.Open(session.OpenRequest{Mode: p.mode})
	if err != nil {
		return dispatch.Explanation{}, err
	}
	defer func() { _ = p.w.Client.Sessions.Close(s.ID) }()
	r.Session = s.ID
	return p.w.Dispatch.Explain(ctx, r)
}

// decided plays a call: an edit is made, anything else is only decided on, and answered by
// the person.
func (p *player) decided(ctx context.Context, r dispatch.Request) (policy.Outcome, string, error) {
	before := p.person.asked
	tool, _, known := p.w.Registry.Lookup(r.Name)
	if !known {
		return "", "", errors.New("there is no such tool")
	}
	if tool.Access == tools.Edit {
		res, err := p.w.Dispatch.Call(ctx, r)
		switch {
		case err != nil:
			return "", "", err
		case !res.OK && refusals[string(res.Error.Code)]:
			return policy.Deny, res.Decision.Rule, nil
		case !res.OK:
			return "", "", fmt.Errorf("the script is wrong: %s", res.Content)
		case p.person.asked > before:
			return policy.Ask, res.Decision.Rule, nil
		}
		return policy.Allow, res.Decision.Rule, nil
	}
	e, err := p.w.Dispatch.Explain(ctx, r)
	if err != nil {
		return "", "", err
	}
	if e.Decision == policy.Deny && slices.Contains(tools.Codes[:], tools.Code(e.Rule)) && !refusals[e.Rule] {
		return "", "", fmt.Errorf("the script is wrong: %s: %s", e.Rule, e.Reason)
	}
	if e.Decision != policy.Ask {
		return e.Decision, e.Rule, nil
	}
	// Permit asks the person and remembers the answer, and runs nothing.
	if _, err := p.w.Dispatch.Permit(ctx, dispatch.Own{Session: r.Session, Agent: p.day.Agent, Tool: r.Name, Arguments: r.Arguments, As: r.Name, With: r.Arguments}); err != nil {
		return "", "", err
	}
	if p.person.asked != before+1 {
		return "", "", fmt.Errorf("%s asks, and %d questions came", e.Rule, p.person.asked-before)
	}
	return policy.Ask, e.Rule, nil
}

// refusals are the codes of errors that say that something may not be done.
var refusals = map[string]bool{
	string(tools.Denied): true, string(tools.ProtectedPath): true, string(tools.SensitivePath): true, string(tools.OutsideWorkspace): true,
}

// project makes the repository that a day begins with.
func project(ctx context.Context, d *Day, dir string) error {
	write := func(files map[string]string) error {
		for name, text := range files {
			at := filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := write(d.Files); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "begin"},
		{"remote", "add", "origin", "https://git.example.com/team/project.git"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w: %s", args, err, out)
		}
	}
	return write(d.Loose)
}
