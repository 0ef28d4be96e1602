package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

// Command is one row of the command table: what workspace/executeCommand can
// be asked for.
type Command struct {
	Name  string
	Title string
	args  []argument
	run   func(ctx context.Context, d *Deps, token lsp.ProgressToken, args json.RawMessage) (any, error)
}

// Members are those of the command's argument object, as docs/protocol.md writes them.
func (c Command) Members() (names []string) {
	for _, a := range c.args {
		names = append(names, a.String())
	}
	return names
}

// none is the argument of commands that take nothing, and the result of those
// that have nothing to say.
type none struct{}

// argument is one member of a command's argument object.
type argument struct {
	name     string
	optional bool
}

// String is the member as docs/protocol.md writes it.
func (a argument) String() string {
	if a.optional {
		return a.name + "?"
	}
	return a.name
}

// row makes a row of the table. needs takes from the server what the command works on,
// or says why that isn't there. A is the struct of the command's argument and the only
// description of it: a member with omitempty is optional.
func row[D, A, R any](name, title string, needs func(*Deps) (D, error), f func(context.Context, D, A) (R, error)) Command {
	return progressRow(name, title, needs, func(ctx context.Context, d D, _ lsp.ProgressToken, a A) (R, error) { return f(ctx, d, a) })
}

// progressRow is row for a command that reports progress.
func progressRow[D, A, R any](name, title string, needs func(*Deps) (D, error), f func(context.Context, D, lsp.ProgressToken, A) (R, error)) Command {
	args := members(reflect.TypeFor[A]())
	return Command{Name: name, Title: title, args: args, run: func(ctx context.Context, all *Deps, token lsp.ProgressToken, raw json.RawMessage) (any, error) {
		var a A
		if err := decode(raw, args, &a); err != nil {
			return nil, err
		}
		d, err := needs(all)
		if err != nil {
			return nil, err
		}
		return f(ctx, d, token, a)
	}}
}

// members lists the members of an argument struct.
func members(t reflect.Type) []argument {
	var out []argument
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out = append(out, argument{name, strings.Contains(opts, "omit")})
	}
	return out
}

// decode reads a command's argument object into v. Member names are matched
// exactly; an unknown, doubled or missing one is an error that names it.
func decode(raw json.RawMessage, args []argument, v any) error {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		raw = json.RawMessage("{}")
	}
	if isEmptyArray(raw) {
		raw = json.RawMessage("{}")
	}
	options := jsonv2.JoinOptions(jsonv2.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true))
	if jsonv2.Unmarshal(raw, v, options) == nil && complete(args, v) {
		return nil
	}
	// Something is wrong or may be missing: find out what.
	var present map[string]jsontext.Value
	if err := jsonv2.Unmarshal(raw, &present, jsontext.AllowInvalidUTF8(true)); err != nil {
		if jsontext.Value(raw).Kind() != '{' {
			return client.InvalidParams("arguments[0]: an object is expected")
		}
		return client.InvalidParams("arguments[0]: %v", reason(err))
	}
	for name := range present {
		if !slices.ContainsFunc(args, func(a argument) bool { return a.name == name }) {
			return client.InvalidParams("%s: unknown member; %s", name, expected(args))
		}
	}
	for _, a := range args {
		if _, ok := present[a.name]; !ok && !a.optional {
			return client.InvalidParams("%s: missing; %s", a.name, expected(args))
		}
	}
	err := jsonv2.Unmarshal(raw, v, options)
	if err == nil || jsonv2.Unmarshal(raw, v, options, lsp.EmptyObjects()) == nil {
		return nil
	}
	var se *jsonv2.SemanticError
	if errors.As(err, &se) {
		field := strings.ReplaceAll(strings.TrimPrefix(string(se.JSONPointer), "/"), "/", ".")
		if errors.Is(err, jsonv2.ErrUnknownName) {
			return client.InvalidParams("%s: unknown member", field)
		}
		return client.InvalidParams("%s: %s is expected", field, typeName(se.GoType))
	}
	return client.InvalidParams("arguments[0]: %v", reason(err))
}

// isEmptyArray reports whether raw is [], with which Lua writes an empty table: an object
// without members, too.
func isEmptyArray(raw json.RawMessage) bool {
	inside, opens := strings.CutPrefix(strings.TrimSpace(string(raw)), "[")
	inside, closes := strings.CutSuffix(inside, "]")
	return opens && closes && strings.TrimSpace(inside) == ""
}

// complete reports whether every member of v that must be there has a value.
func complete(args []argument, v any) bool {
	fields := reflect.ValueOf(v).Elem()
	for i, a := range args {
		if !a.optional && fields.Field(i).IsZero() {
			return false
		}
	}
	return true
}

// expected says what a command takes, for an error message.
func expected(args []argument) string {
	if len(args) == 0 {
		return "this command takes none"
	}
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = a.String()
	}
	return "expected: " + strings.Join(names, ", ")
}

// typeName is a Go type in JSON's words.
func typeName(t reflect.Type) string {
	if t == nil {
		return "another type"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return typeName(t.Elem())
	}
	return "a number"
}

// reason is err without the library's name.
func reason(err error) string {
	text := err.Error()
	for _, prefix := range [...]string{"jsontext: ", "json: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// Execute looks a command up in the table and runs it.
func Execute(ctx context.Context, table []Command, d *Deps, params json.RawMessage) (any, error) {
	var p lsp.ExecuteCommandParams
	if err := client.Decode(params, &p); err != nil {
		return nil, err
	}
	i, ok := slices.BinarySearchFunc(table, p.Command, func(c Command, name string) int { return strings.Compare(c.Name, name) })
	if !ok {
		return nil, client.InvalidParams("command: %.100q is unknown", p.Command)
	}
	if len(p.Arguments) > 1 {
		return nil, client.InvalidParams("arguments: one object is expected, not %d values", len(p.Arguments))
	}
	var raw json.RawMessage
	if len(p.Arguments) == 1 {
		raw = p.Arguments[0]
	}
	return table[i].run(ctx, d, p.WorkDoneToken, raw)
}

// sorted sorts a command table; a name that is there twice is a programming error.
func sorted(table []Command) []Command {
	slices.SortFunc(table, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(table); i++ {
		if table[i].Name == table[i-1].Name {
			panic("commands: " + table[i].Name + " is there twice")
		}
	}
	return table
}
