package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Custom is a tool that is a program of the user's.
type Custom struct {
	Name        string // of the tool
	Description string
	Command     []string        // program and arguments; {field} stands for an argument of the call
	Input       json.RawMessage // JSON schema of the arguments; nil: there are none
	Read        bool            // it can't write, and counts as a tool that reads
	AlwaysAsk   bool
	Override    bool          // it stands in for a built-in tool of the same name
	Timeout     time.Duration // 0: tools.DefaultTimeout
	Env         []string      // NAME=value
	Dir         string        // a directory that it may read, from where its program is looked for first; "": none
	Source      tools.Source
}

// noArguments is the schema of a tool that takes none.
const noArguments = `{"type": "object", "properties": {}, "additionalProperties": false}`

// field is an argument of a command that stands for one of the call.
var field = regexp.MustCompile(`^\{([A-Za-z_][A-Za-z0-9_.-]*)\}$`)

// NewCustom makes the tool. Its arguments are on the program's standard input as
// JSON, and in its command where that names them; no shell reads them.
func NewCustom(d Deps, t Custom) (*tools.Tool, error) {
	if len(t.Command) == 0 {
		return nil, fmt.Errorf("tool %s has no command", t.Name)
	}
	schema, err := t.schema()
	if err != nil {
		return nil, err
	}
	access := tools.Exec
	if t.Read {
		access = tools.Read
	}
	def := tools.Def{
		Name: t.Name, Description: t.Description, Category: "custom", AlwaysAsk: t.AlwaysAsk, Override: t.Override, Untrusted: true,
		Timeout: t.Timeout, Output: tools.NoOutput{},
	}
	if !t.Read {
		def.Wrote = t.Name
	}
	return tools.RawProgram(def, t.Source, access, schema, func(args json.RawMessage) (tools.Effects, error) {
		argv, err := t.argv(args)
		if err != nil {
			return tools.Effects{}, err
		}
		return tools.Effects{Command: shownArgv(argv), Confined: !t.Read}, nil
	}, func(ctx context.Context, c *tools.Call, args json.RawMessage) (tools.Result, []workspace.Change, error) {
		return t.run(ctx, d, c, args)
	})
}

// schema is that of the arguments: what it does not name is refused, unless it says
// that more is welcome. It fails when the command names an argument that there is not.
func (t *Custom) schema() (json.RawMessage, error) {
	if len(t.Input) == 0 {
		return json.RawMessage(noArguments), nil
	}
	var s map[string]json.RawMessage
	var properties map[string]json.RawMessage
	err := json.Unmarshal(t.Input, &s)
	if p := s["properties"]; err == nil && p != nil {
		err = json.Unmarshal(p, &properties)
	}
	if err != nil {
		return nil, fmt.Errorf("tool %s: schema: %w", t.Name, err)
	}
	for _, arg := range t.Command[1:] {
		if m := field.FindStringSubmatch(arg); m != nil && properties[m[1]] == nil {
			return nil, fmt.Errorf("tool %s: its command names {%s}, which is no property of its input", t.Name, m[1])
		}
	}
	if s["additionalProperties"] == nil {
		s["additionalProperties"] = json.RawMessage("false")
	}
	return json.Marshal(s)
}

// argv is the command of a call.
func (t *Custom) argv(args json.RawMessage) ([]string, error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(args, &given); err != nil {
		return nil, tools.Errorf(tools.InvalidArguments, "%s: the arguments must be an object", t.Name)
	}
	argv := t.Command[:1:1]
	plain := false // after -- nothing is an option
	for _, arg := range t.Command[1:] {
		m := field.FindStringSubmatch(arg)
		if m == nil {
			plain = plain || arg == "--"
			argv = append(argv, arg)
			continue
		}
		values := words(given[m[1]])
		for _, v := range values {
			if strings.HasPrefix(v, "-") && !plain {
				return nil, tools.Errorf(tools.InvalidArguments, "%s: %s: a value that begins with - would be an option of the program; give one that does not", t.Name, m[1])
			}
			if strings.ContainsRune(v, 0) {
				return nil, tools.Errorf(tools.InvalidArguments, "%s: %s: a zero byte can't be handed over", t.Name, m[1])
			}
		}
		argv = append(argv, values...)
	}
	return argv, nil
}

// words are a value as arguments of a program: a text as it is, each element of a
// list, and JSON of anything else. A value that is not there has none.
func words(v json.RawMessage) (all []string) {
	if len(v) == 0 || string(v) == "null" {
		return nil
	}
	var text string
	if json.Unmarshal(v, &text) == nil {
		return []string{text}
	}
	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		return []string{string(v)}
	}
	for _, e := range list {
		if json.Unmarshal(e, &text) != nil {
			text = string(e)
		}
		all = append(all, text)
	}
	return all
}

// shownArgv is a command as people read it.
func shownArgv(argv []string) string {
	shown := make([]string, len(argv))
	for i, arg := range argv {
		shown[i] = arg
		if arg == "" || strings.ContainsFunc(arg, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'\\$`;&|<>()*?[]{}~#!", r) }) {
			shown[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(shown, " ")
}

// program is where the program of a command is, seen from root.
func (t *Custom) program(root string, look func(string) (string, error)) (string, error) {
	name := t.Command[0]
	switch {
	case filepath.IsAbs(name):
		return name, nil
	case strings.Contains(name, "/") && t.Dir != "":
		return filepath.Join(t.Dir, name), nil
	case strings.Contains(name, "/"):
		return filepath.Join(root, name), nil
	}
	if look == nil {
		look = lookup.Confined
	}
	return look(name)
}

func (t *Custom) run(ctx context.Context, d Deps, c *tools.Call, args json.RawMessage) (tools.Result, []workspace.Change, error) {
	argv, err := t.argv(args)
	if err != nil {
		return tools.Result{}, nil, err
	}
	root := c.Files.Abs(".")
	if argv[0], err = t.program(root, d.Host.Look); err != nil {
		return tools.Result{}, nil, tools.Errorf(tools.Unavailable, "%s: its program is not here: %v; tell the user", t.Name, err)
	}
	var readable []string
	if t.Dir != "" {
		readable = []string{t.Dir}
	}
	stdout, stderr := &output{emit: c.Emit}, &output{emit: c.Emit}
	started := time.Now()
	p, err := d.Host.Start(ctx, Run{
		Session: c.Session, Root: root, Files: c.Files, Held: c.Held, Drop: c.Drop, Dir: root, Argv: argv, Env: t.Env, Readable: readable, Own: true, LookOnly: t.Read,
		Stdin: strings.NewReader(string(args)), Stdout: stdout, Stderr: stderr,
	})
	if err != nil {
		return tools.Result{}, nil, notStarted(err)
	}
	o, err := wait(ctx, p, started)
	o.end(c, p, !t.Read)
	if err != nil {
		return tools.Result{}, nil, err
	}
	changes := o.changed.Changes
	switch {
	case o.timedOut:
		return tools.Result{}, changes, &tools.Error{Code: tools.Timeout, Message: fmt.Sprintf("%s was ended after %v; what it had printed follows", t.Name, o.took.Round(time.Second)), Detail: report(stdout.text(), stderr.text(), o)}
	case o.code != 0:
		return tools.Result{}, changes, &tools.Error{Code: tools.CommandFailed, Message: fmt.Sprintf("%s failed with exit code %d", t.Name, o.code), Detail: report(stdout.text(), stderr.text(), o)}
	}
	var b strings.Builder
	b.WriteString(stdout.text())
	newline(&b)
	o.remarks(&b)
	return tools.Result{Text: b.String()}, changes, nil
}
