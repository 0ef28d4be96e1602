// Package agenthook answers the hooks of other agents: it puts the policy of the
// workspace behind their own tools. It decides nothing itself and knows no workspace.
package agenthook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Wish is what an agent would do with a tool of its own.
type Wish struct {
	Session   string          `json:"session"` // for the gate, by the agent's own
	Agent     string          `json:"agent"`   // for people
	Tool      string          `json:"tool"`    // as the agent calls it
	Arguments json.RawMessage `json:"arguments"`

	// As is the tool of ours that does the same, and With its arguments; "": there is none.
	As   string          `json:"as,omitempty"`
	With json.RawMessage `json:"with,omitempty"`

	Path string `json:"path,omitempty"` // that it reads, absolute
}

// The decisions of a gate.
const (
	Allow = "allow"
	Ask   = "ask" // nobody could be asked here
	Deny  = "deny"
)

// Verdict is what is decided about a wish.
type Verdict struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
	Pending  bool   `json:"pending,omitempty"` // the file that it reads has edits that wait for review
}

// Gate decides. Its error means that nothing may be done.
type Gate func(context.Context, Wish) (Verdict, error)

// Options are what an answer depends on.
type Options struct {
	Roots  []string // folders of the workspace, absolute
	Home   string   // the user's
	Getenv func(string) string
	Self   string   // the program that runs commands in worlds; "": there are no worlds here
	Secret []string // directories of ours with keys, which agents don't read
	Gate   Gate
}

// within reports whether a path is in one of the folders.
func (o Options) within(path string) bool {
	return slices.ContainsFunc(o.Roots, func(root string) bool { return within(path, root) })
}

// Call is what an agent tells its hook.
type Call struct {
	Session   string          `json:"session_id"`
	Event     string          `json:"hook_event_name"`
	Dir       string          `json:"cwd"`
	Tool      string          `json:"tool_name"`
	Arguments json.RawMessage `json:"tool_input"`
	ID        string          `json:"tool_use_id"`

	agent agent
}

// Read reads what an agent with that name tells its hook.
func Read(name string, in []byte) (*Call, error) {
	a, ok := agentOf(name)
	if !ok {
		return nil, fmt.Errorf("hooks of %q are not answered; those of %s are", name, strings.Join(Names(), ", "))
	}
	c := &Call{agent: a}
	if err := json.Unmarshal(in, c); err != nil {
		return nil, fmt.Errorf("what %s tells its hook is not the JSON that it should be: %w", a.title, err)
	}
	if c.Event == "" || c.Tool == "" && c.Event == a.event {
		return nil, fmt.Errorf("what %s tells its hook names no event or no tool", a.title)
	}
	return c, nil
}

// Matters reports whether the call is one that is decided on. All others are the agent's
// own business.
func (c *Call) Matters() bool {
	t, ok := c.agent.tools[c.Tool]
	return ok && t.does != other && c.Event == c.agent.event
}

// Answer is what the agent is told, a line of JSON; nil is nothing, which leaves it to
// the agent's own rules.
func (c *Call) Answer(ctx context.Context, o Options) ([]byte, error) {
	if !c.Matters() {
		return nil, nil
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return nil, fmt.Errorf("the arguments of %s are no object: %w", c.Tool, err)
	}
	t := c.agent.tools[c.Tool]
	switch t.does {
	case runs:
		return c.run(ctx, o, t, args)
	case reads:
		return c.read(ctx, o, t, args)
	case searches:
		return c.search(o, t, args)
	}
	return c.write(o, t, args)
}

// write leads to our tools: what an agent writes itself is past the review.
func (c *Call) write(o Options, t tool, args map[string]json.RawMessage) ([]byte, error) {
	if path := c.path(t, args); path != "" && !o.within(path) {
		for _, notes := range c.agent.notes {
			if dir := filepath.Join(c.agent.dir(o), notes); within(path, dir) && strings.EqualFold(filepath.Ext(path), ".md") {
				return nil, nil
			}
		}
		return c.deny(fmt.Sprintf("%s is not in the workspace %s, and nothing outside of it may be written", path, strings.Join(o.Roots, ", ")))
	}
	return c.instead(t, "files of this workspace are edited with our tools, so that the user can review the edit")
}

// search leads to our tools: what an agent searches itself is the disk, with the secrets
// on it and without what is pending.
func (c *Call) search(o Options, t tool, args map[string]json.RawMessage) ([]byte, error) {
	if path := c.path(t, args); path != "" && !o.within(path) {
		return c.outside(o, path)
	}
	return c.instead(t, "this workspace is searched with our tools, which see pending edits and hide secrets")
}

// instead refuses a call and names the tool of ours to use.
func (c *Call) instead(t tool, why string) ([]byte, error) {
	return c.deny(fmt.Sprintf("%s: call %s instead of %s. If you don't have that tool, tell the user to run `sidecar-ls setup %s`", why, c.agent.ours+t.instead, c.Tool, c.agent.name))
}

// read has reads decided on, and keeps an agent from reading a text that is not what its
// session works on.
func (c *Call) read(ctx context.Context, o Options, t tool, args map[string]json.RawMessage) ([]byte, error) {
	path := c.path(t, args)
	if path == "" {
		return nil, nil
	}
	if !o.within(path) {
		return c.outside(o, path)
	}
	w := c.wish(t, args)
	w.Path = path
	v, err := o.Gate(ctx, w)
	switch {
	case err != nil:
		return nil, err
	case v.Decision != Allow:
		return c.say(v, nil)
	case v.Pending:
		return c.deny(fmt.Sprintf("%s has edits that wait for the user's review, which are not on the disk. Read it with the tool %s", path, c.agent.ours+t.instead))
	}
	return nil, nil
}

// outside leaves what is not in the workspace to the agent's own rules, but for what may
// hold secrets.
func (c *Call) outside(o Options, path string) ([]byte, error) {
	real := path
	if at, err := filepath.EvalSymlinks(path); err == nil {
		real = at
	}
	secret := slices.ContainsFunc(o.Secret, func(dir string) bool { return within(path, dir) })
	for _, name := range []string{path, real} {
		secret = secret || workspace.Sensitive(filepath.ToSlash(strings.TrimPrefix(name, filepath.VolumeName(name))))
	}
	if secret {
		return c.deny(path + " may hold secrets; ask the user for what you need from it")
	}
	return nil, nil
}

// run has a command decided on, and run in the session's world.
func (c *Call) run(ctx context.Context, o Options, t tool, args map[string]json.RawMessage) ([]byte, error) {
	line, err := text(args[t.member])
	if err != nil {
		return nil, fmt.Errorf("%s has no command line: %w", c.Tool, err)
	}
	v, err := o.Gate(ctx, c.wish(t, args))
	if err != nil {
		return nil, err
	}
	if v.Decision == Deny || v.Decision == Ask && !c.agent.asks {
		return c.say(v, nil)
	}
	if o.Self == "" {
		return c.say(v, nil)
	}
	argv := []string{o.Self, "run"}
	for _, root := range o.Roots {
		argv = append(argv, "--root", root)
	}
	line = Line(append(argv, "--session", c.session()+"-"+tail(c.ID), "--", "bash", "-c", line)...)
	if args[t.member], err = json.Marshal(line); err != nil {
		return nil, err
	}
	return c.say(v, args)
}

// wish is the call as the gate is asked about it.
func (c *Call) wish(t tool, args map[string]json.RawMessage) Wish {
	w := Wish{Session: c.session(), Agent: c.agent.title, Tool: c.Tool, Arguments: c.Arguments}
	w.As, w.With = t.ours(args)
	return w
}

// path is the path that a call is about, absolute; "" is none.
func (c *Call) path(t tool, args map[string]json.RawMessage) string {
	path, err := text(args[t.member])
	switch {
	case err != nil || path == "":
		return ""
	case !filepath.IsAbs(path):
		path = filepath.Join(c.Dir, path)
	}
	return filepath.Clean(path)
}

// within reports whether a path is in a directory, over links.
func within(path, dir string) bool {
	for d := path; ; d = filepath.Dir(d) { // the file may not be there yet
		if real, err := filepath.EvalSymlinks(d); err == nil {
			path = filepath.Join(real, strings.TrimPrefix(path, d))
			break
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// session is the name of the agent's session with us.
func (c *Call) session() string { return c.agent.name + "-" + tail(c.Session) }

// tail is the end of an id, as a part of a session's name.
func tail(id string) string {
	const most = 12
	id = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, id)
	if id == "" {
		return "0"
	}
	return id[max(0, len(id)-most):]
}

func text(v json.RawMessage) (s string, err error) {
	if v == nil {
		return "", errors.New("it is missing")
	}
	err = json.Unmarshal(v, &s)
	return s, err
}

// plainWord is a word that means itself to a shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// Line is a program and its arguments as a line for a shell.
func Line(argv ...string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		if words[i] = word; !plainWord.MatchString(word) {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func (c *Call) deny(reason string) ([]byte, error) {
	return c.say(Verdict{Decision: Deny, Reason: reason}, nil)
}

// say writes an answer in the agent's own format. args are the changed arguments, all of
// them; nil leaves them.
func (c *Call) say(v Verdict, args map[string]json.RawMessage) ([]byte, error) {
	if v.Decision == Ask && !c.agent.asks {
		v.Decision = Deny
	}
	if v.Reason != "" {
		v.Reason = "sidecar-ls: " + v.Reason
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(c.agent.format(c.Event, v, args))
	return b.Bytes(), err
}
