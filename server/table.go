package server

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
)

// command is one row of the command table: what workspace/executeCommand can
// be asked for.
type command struct {
	name  string
	title string
	args  []argument
	run   func(s *Server, ctx context.Context, token lsp.ProgressToken, args json.RawMessage) (any, error)
}

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

// row makes a row of the table. A is the struct of the command's argument and
// the only description of it: a member with omitempty is optional.
func row[A, R any](name, title string, f func(*Server, context.Context, A) (R, error)) command {
	return progressRow(name, title, func(s *Server, ctx context.Context, _ lsp.ProgressToken, a A) (R, error) { return f(s, ctx, a) })
}

// progressRow is row for a command that reports progress.
func progressRow[A, R any](name, title string, f func(*Server, context.Context, lsp.ProgressToken, A) (R, error)) command {
	args := members(reflect.TypeFor[A]())
	return command{name: name, title: title, args: args, run: func(s *Server, ctx context.Context, token lsp.ProgressToken, raw json.RawMessage) (any, error) {
		var a A
		if err := decode(raw, args, &a); err != nil {
			return nil, err
		}
		return f(s, ctx, token, a)
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
	if jsonv2.Unmarshal(raw, v, jsonv2.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true)) == nil && complete(args, v) {
		return nil
	}
	// Something is wrong or may be missing: find out what.
	var present map[string]jsontext.Value
	if err := jsonv2.Unmarshal(raw, &present, jsontext.AllowInvalidUTF8(true)); err != nil {
		if jsontext.Value(raw).Kind() != '{' {
			return invalidParams("arguments[0]: an object is expected")
		}
		return invalidParams("arguments[0]: %v", reason(err))
	}
	for name := range present {
		if !slices.ContainsFunc(args, func(a argument) bool { return a.name == name }) {
			return invalidParams("%s: unknown member; %s", name, expected(args))
		}
	}
	for _, a := range args {
		if _, ok := present[a.name]; !ok && !a.optional {
			return invalidParams("%s: missing; %s", a.name, expected(args))
		}
	}
	err := jsonv2.Unmarshal(raw, v, jsonv2.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true))
	if err == nil {
		return nil
	}
	var se *jsonv2.SemanticError
	if errors.As(err, &se) {
		field := strings.ReplaceAll(strings.TrimPrefix(string(se.JSONPointer), "/"), "/", ".")
		if errors.Is(err, jsonv2.ErrUnknownName) {
			return invalidParams("%s: unknown member", field)
		}
		return invalidParams("%s: %s is expected", field, typeName(se.GoType))
	}
	return invalidParams("arguments[0]: %v", reason(err))
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

func invalidParams(format string, args ...any) error {
	return lsp.Errorf(lsp.InvalidParams, format, args...)
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

// executeCommand looks a command up in the table and runs it.
func (s *Server) executeCommand(ctx context.Context, params json.RawMessage) (any, error) {
	var p lsp.ExecuteCommandParams
	if err := unmarshal(params, &p); err != nil {
		return nil, err
	}
	i, ok := slices.BinarySearchFunc(s.table, p.Command, func(c command, name string) int { return strings.Compare(c.name, name) })
	if !ok {
		return nil, invalidParams("command: %.100q is unknown", p.Command)
	}
	if len(p.Arguments) > 1 {
		return nil, invalidParams("arguments: one object is expected, not %d values", len(p.Arguments))
	}
	var raw json.RawMessage
	if len(p.Arguments) == 1 {
		raw = p.Arguments[0]
	}
	return s.table[i].run(s, ctx, p.WorkDoneToken, raw)
}

// unmarshal decodes a request's params.
func unmarshal(params json.RawMessage, v any) error {
	if len(params) == 0 {
		return invalidParams("params: missing")
	}
	if err := lsp.Unmarshal(params, v); err != nil {
		return invalidParams("params: %v", err)
	}
	return nil
}

// names lists the commands of the table.
func names(table []command) []string {
	out := make([]string, len(table))
	for i, c := range table {
		out[i] = c.name
	}
	return out
}
