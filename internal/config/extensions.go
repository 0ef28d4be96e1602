package config

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// What users extend the server with: hooks and tools of their own.

// Bounds of what a source may name.
const (
	maxHooksBytes  = 256 << 10
	maxCustomTools = 200
	maxSchemaBytes = 64 << 10
	maxToolTime    = 60 * 60 // seconds
)

// noHooks is the value of a source that wants no hooks to run.
var noHooks = [][]byte{nil}

// hooks takes the object of events as it is: whoever runs hooks knows their format.
func (p *parser) hooks(v jsontext.Value) (any, bool) {
	switch {
	case v.Kind() == 'f':
		return noHooks, true
	case v.Kind() != '{':
		p.wrong("must be an object of events, such as {\"PreToolUse\": [...]}, or false, not %s", shown(v))
		return nil, false
	case len(v) > maxHooksBytes:
		p.wrong("must have at most %d bytes, not %d", maxHooksBytes, len(v))
		return nil, false
	case len(members(v)) == 0:
		return [][]byte(nil), true
	}
	return [][]byte{bytes.Clone(v)}, true
}

func addHooks(have, want any) any { return slices.Concat(have.([][]byte), want.([][]byte)) }

// Hooks returns the setting hooks, an object of events for each source that has one.
// Nobody may change what is in it.
func (s *Settings) Hooks() [][]byte {
	return slices.DeleteFunc(slices.Clone(get[[][]byte](s, "hooks")), func(events []byte) bool { return events == nil })
}

// HooksRun reports whether hooks run at all: no source has said false.
func (s *Settings) HooksRun() bool {
	return !slices.ContainsFunc(get[[][]byte](s, "hooks"), func(events []byte) bool { return events == nil })
}

// CustomTool is a tool that is a program of the user's.
type CustomTool struct {
	Name        string // without the prefix custom_
	Description string
	Command     []string // program and arguments; {field} stands for an argument of the call
	Input       []byte   // JSON schema of the arguments; nil: there are none
	Access      string   // read or exec
	Timeout     int      // seconds; 0: as for other tools
	Env         []string // names of variables of the server's environment that it gets
}

var customName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,55}$`)

// customTools drops the entries that are wrong and keeps the others.
func (p *parser) customTools(v jsontext.Value) (any, bool) {
	if v.Kind() != '[' {
		p.wrong("must be a list of tools, not %s", shown(v))
		return nil, false
	}
	all := elements(v)
	if len(all) > maxCustomTools {
		p.wrong("must be at most %d tools, not %d", maxCustomTools, len(all))
		return nil, false
	}
	var got []CustomTool
	for i, v := range all {
		where := fmt.Sprintf("[%d]: ", i)
		t := CustomTool{Access: "exec"}
		if !p.fields(where, v, map[string]func(string, jsontext.Value) bool{
			"name": p.into(&t.Name), "description": p.into(&t.Description), "command": p.intoList(&t.Command),
			"access": p.oneOf(&t.Access, "read", "exec"), "env": p.intoList(&t.Env), "timeout": p.seconds(&t.Timeout),
			"input": func(where string, v jsontext.Value) bool {
				if v.Kind() != '{' || len(v) > maxSchemaBytes {
					p.wrong("%s must be a JSON schema, an object of at most %d bytes", where, maxSchemaBytes)
					return false
				}
				t.Input = bytes.Clone(v)
				return true
			},
		}) {
			continue
		}
		if why := t.check(); why != "" {
			p.wrong("%s%s", where, why)
			continue
		}
		if slices.ContainsFunc(got, func(o CustomTool) bool { return o.Name == t.Name }) {
			p.wrong("%sthe name %s is there twice", where, t.Name)
			continue
		}
		got = append(got, t)
	}
	return got, true
}

// seconds reads a whole number of seconds.
func (p *parser) seconds(to *int) func(string, jsontext.Value) bool {
	return func(where string, v jsontext.Value) bool {
		n, ok := 0, v.Kind() == '0'
		if ok {
			_, err := fmt.Sscanf(string(v), "%d", &n)
			ok = err == nil && fmt.Sprint(n) == string(v) && n >= 1 && n <= maxToolTime
		}
		if !ok {
			p.wrong("%s must be a whole number of seconds from 1 to %d, not %s", where, maxToolTime, shown(v))
			return false
		}
		*to = n
		return true
	}
}

// check says what is wrong with a tool, or "".
func (t *CustomTool) check() string {
	switch {
	case !customName.MatchString(t.Name):
		return fmt.Sprintf("the name %q must be lower snake case of at most 56 bytes; the tool is called custom_<name>", cut(t.Name))
	case strings.TrimSpace(t.Description) == "":
		return t.Name + " needs a description: models choose tools by it"
	case len(t.Command) == 0 || t.Command[0] == "":
		return t.Name + " needs a command: a list of the program and its arguments"
	case strings.HasPrefix(t.Command[0], "{"):
		return t.Name + ": the program can't be an argument of the call"
	}
	for _, name := range t.Env {
		if name == "" || strings.ContainsAny(name, "= ") {
			return fmt.Sprintf("%s: env lists names of variables, and %q is none", t.Name, cut(name))
		}
	}
	return ""
}

// addCustomTools lets a later source replace a tool of the same name.
func addCustomTools(have, want any) any {
	got := slices.Clone(have.([]CustomTool))
	for _, t := range want.([]CustomTool) {
		if i := slices.IndexFunc(got, func(o CustomTool) bool { return o.Name == t.Name }); i >= 0 {
			got[i] = t
		} else {
			got = append(got, t)
		}
	}
	return got
}

// CustomTools returns the setting tools.custom. Nobody may change what is in it.
func (s *Settings) CustomTools() []CustomTool { return get[[]CustomTool](s, "tools.custom") }
