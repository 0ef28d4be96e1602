package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// NewRead makes a tool that changes nothing. In is the struct of its
// arguments and the only description of them:
//
//	type grepIn struct {
//		Pattern string `json:"pattern" jsonschema:"RE2 regular expression" minLength:"1"`
//		Limit   int    `json:"limit,omitempty" jsonschema:"most lines to return" default:"200" minimum:"1" maximum:"1000"`
//		Mode    string `json:"mode,omitempty" jsonschema:"what to return" enum:"lines,files,count" default:"lines"`
//	}
//
// A field is optional when it has omitempty or omitzero or a default, or is a
// pointer. Defaults are filled in before f runs. See schema.go for the tags.
// A definition that can't work is a programming error and panics.
func NewRead[In any](d Def, f func(context.Context, *Call, In) (Result, error)) *Tool {
	return newTool(d, Read, withoutChanges(f))
}

// NewEdit makes a tool that returns changes of files as data. See NewRead for
// the arguments.
func NewEdit[In any](d Def, f func(context.Context, *Call, In) (Result, []workspace.Change, error)) *Tool {
	return newTool(d, Edit, f)
}

// NewExec makes a tool that changes anything but files of the view. See
// NewRead for the arguments.
func NewExec[In any](d Def, f func(context.Context, *Call, In) (Result, error)) *Tool {
	return newTool(d, Exec, withoutChanges(f))
}

// NewExecEdit makes a tool that runs a program, as NewExec does, and returns
// what it makes of that as changes of files: the run is decided on first, and
// the changes afterwards, as those of an editing tool.
func NewExecEdit[In any](d Def, f func(context.Context, *Call, In) (Result, []workspace.Change, error)) *Tool {
	return newTool(d, Exec, f)
}

// NewReadEdit makes a tool that changes nothing by itself, as NewRead does, and
// returns what a program that another call started changed of files.
func NewReadEdit[In any](d Def, f func(context.Context, *Call, In) (Result, []workspace.Change, error)) *Tool {
	return newTool(d, Read, f)
}

// Raw makes a tool whose arguments are described by a JSON schema from
// outside (an MCP server, a plugin). It fails, never panics, when the
// definition or the schema can't be used.
func Raw(d Def, src Source, access Access, schema json.RawMessage, f func(context.Context, *Call, json.RawMessage) (Result, error)) (*Tool, error) {
	return RawProgram(d, src, access, schema, nil, func(ctx context.Context, c *Call, args json.RawMessage) (Result, []workspace.Change, error) {
		r, err := f(ctx, c, args)
		return r, nil, err
	})
}

// RawProgram is Raw for a tool that is a program: effects says what a call would
// run, or that it can't; nil is for none. What the program writes are changes, as
// those of NewExecEdit.
func RawProgram(d Def, src Source, access Access, schema json.RawMessage, effects func(args json.RawMessage) (Effects, error), f func(context.Context, *Call, json.RawMessage) (Result, []workspace.Change, error)) (*Tool, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	switch access {
	case Read, Exec: // an Edit tool does nothing but return changes
	default:
		return nil, fmt.Errorf("tool %s: access %q is not possible for a tool from outside", d.Name, access)
	}
	s, encoded, err := rawSchema(schema)
	if err != nil {
		return nil, fmt.Errorf("tool %s: schema: %w", d.Name, err)
	}
	resolved, err := loosened(s).Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("tool %s: schema: %w", d.Name, err)
	}
	n, complete := compile(s)
	t := &Tool{Def: d.withTitle(), Access: access, Source: src, schema: s, json: func() json.RawMessage { return encoded }}
	t.bind = func(args json.RawMessage) (*Bound, error) {
		args, repairs, err := check(d.Name, n, args)
		if err != nil {
			return nil, err
		}
		if !complete {
			var v any
			if err := json.Unmarshal(args, &v); err != nil {
				return nil, invalid(d.Name, err.Error())
			}
			if err := resolved.Validate(v); err != nil {
				return nil, invalid(d.Name, validationText(err))
			}
		}
		b := &Bound{Args: args, Repairs: repairs, run: func(ctx context.Context, c *Call) (Result, []workspace.Change, error) {
			return f(ctx, c, args)
		}}
		if effects != nil {
			if b.Effects, err = effects(args); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	return t, nil
}

func withoutChanges[In any](f func(context.Context, *Call, In) (Result, error)) func(context.Context, *Call, In) (Result, []workspace.Change, error) {
	return func(ctx context.Context, c *Call, in In) (Result, []workspace.Change, error) {
		r, err := f(ctx, c, in)
		return r, nil, err
	}
}

// checker is what an argument struct implements that knows more than its schema
// can say. What it refuses is refused before anybody is asked.
type checker interface{ Check() error }

// effecter is what an argument struct implements whose calls have effects
// that depend on the arguments.
type effecter interface{ Effects() Effects }

func newTool[In any](d Def, access Access, f func(context.Context, *Call, In) (Result, []workspace.Change, error)) *Tool {
	must := func(err error) {
		if err != nil {
			panic(fmt.Sprintf("tool %q: %v", d.Name, err))
		}
	}
	must(d.check())
	s, err := structSchema(reflect.TypeFor[In]())
	must(err)
	encoded := sync.OnceValue(func() json.RawMessage {
		data, err := json.Marshal(s)
		must(err)
		return data
	})
	n, _ := compile(s)
	defaults, err := defaultsOf(s)
	must(err)
	var proto In // holds the defaults; no field of it refers to shared memory
	must(jsonv2.Unmarshal(defaults, &proto))

	forms, err := d.forms()
	must(err)

	t := &Tool{Def: d.withTitle(), Access: access, Source: Source{Kind: SourceBuiltin}, schema: s, forms: forms, json: encoded}
	t.bind = func(args json.RawMessage) (*Bound, error) {
		args, repairs, err := check(d.Name, n, args)
		if err != nil {
			return nil, err
		}
		in := proto
		if err := jsonv2.Unmarshal(args, &in); err != nil {
			return nil, invalid(d.Name, decodeText(err))
		}
		if c, ok := any(&in).(checker); ok {
			if err := c.Check(); err != nil {
				return nil, err
			}
		}
		b := &Bound{Args: in, Repairs: repairs}
		b.run = func(ctx context.Context, c *Call) (Result, []workspace.Change, error) {
			if b.plan != nil {
				return Result{}, nil, fmt.Errorf("%s was not planned", d.Name)
			}
			return f(ctx, c, b.Args.(In))
		}
		if e, ok := any(&in).(effecter); ok {
			b.Effects = e.Effects()
		}
		return b, nil
	}
	return t
}

var validName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

func (d *Def) check() error {
	switch {
	case !validName.MatchString(d.Name):
		return fmt.Errorf("tool name %q is not lower snake case of at most 64 bytes", d.Name)
	case strings.TrimSpace(d.Description) == "":
		return fmt.Errorf("tool %s has no description", d.Name)
	case d.Timeout < 0:
		return fmt.Errorf("tool %s has a negative timeout", d.Name)
	}
	return nil
}

// withTitle trims the description, which usually comes from a file that ends
// with a newline, and makes a title from the name where there is none.
func (d Def) withTitle() Def {
	d.Description = strings.TrimSpace(d.Description)
	if d.Title == "" {
		d.Title = strings.ToUpper(d.Name[:1]) + strings.ReplaceAll(d.Name[1:], "_", " ")
	}
	return d
}

// rawSchema decodes a schema from outside and completes it to one of an
// object, which is what every client wants.
func rawSchema(data json.RawMessage) (*jsonschema.Schema, json.RawMessage, error) {
	var s jsonschema.Schema
	if len(data) > 0 && string(data) != "null" {
		if err := checkReferences(data); err != nil {
			return nil, nil, err
		}
		if err := json.Unmarshal(data, &s); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case s.Type == "" && s.Types == nil:
		s.Type = "object"
	case s.Type != "object":
		return nil, nil, fmt.Errorf("the arguments must be an object, not %s%s", s.Type, strings.Join(s.Types, " or "))
	}
	encoded, err := json.Marshal(&s)
	return &s, encoded, err
}
