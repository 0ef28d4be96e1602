package acpdriver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/acp"
)

// field is a property of a form.
type field struct {
	Type        string
	Title       string
	Description string
	Enum        []string
	OneOf       []choice
	Items       struct {
		Enum  []string
		AnyOf []choice
	}
}

type choice struct{ Const, Title string }

const (
	skip    = "_skip"
	decline = "_decline"
	maxForm = 20 // fields
)

// Elicit asks people for the fields of a form, one question each, or whether
// they have visited a page.
func (b *Bridge) Elicit(ctx context.Context, r acp.ElicitRequest) (acp.Elicited, error) {
	if r.Mode == "url" {
		answer, _, err := b.question(ctx, conversation.Question{Text: r.Message + "\n" + r.URL,
			Options: []conversation.Option{{ID: "accept", Label: "Done"}, {ID: "decline", Label: "Decline"}}})
		return b.elicited(answer, nil, err)
	}
	var form struct {
		Properties map[string]field
		Required   []string
	}
	if err := json.Unmarshal(r.Schema, &form); err != nil {
		return acp.Elicited{}, acp.Errorf(acp.CodeInvalidParams, "the form can't be read: %s", err)
	}
	if len(form.Properties) > maxForm {
		return acp.Elicited{}, acp.Errorf(acp.CodeInvalidParams, "the form has %d fields and may have %d: ask for less", len(form.Properties), maxForm)
	}
	content := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(form.Properties)) {
		required := slices.Contains(form.Required, name)
		value, action, err := b.field(ctx, r.Message, name, form.Properties[name], required)
		if err != nil || action != "" {
			return b.elicited(action, nil, err)
		}
		if value != nil {
			content[name] = value
		}
	}
	return b.elicited("accept", content, nil)
}

// elicited is the answer to the agent. A question that nobody has answered is a
// form that was cancelled.
func (b *Bridge) elicited(action string, content map[string]any, err error) (acp.Elicited, error) {
	if errors.Is(err, conversation.ErrUnanswered) || errors.Is(err, conversation.ErrClosed) {
		return acp.Elicited{Action: "cancel"}, nil
	}
	return acp.Elicited{Action: action, Content: content}, err
}

// field asks for one value, again when it is none of the field's type.
func (b *Bridge) field(ctx context.Context, message, name string, f field, required bool) (value any, action string, err error) {
	lines := []string{message, name}
	if f.Title != "" {
		lines[1] = f.Title
	}
	if f.Description != "" {
		lines = append(lines, f.Description)
	}
	q := conversation.Question{Options: f.options()}
	if len(q.Options) > 0 {
		if !required {
			q.Options = append(q.Options, conversation.Option{ID: skip, Label: "Leave out"})
		}
		q.Options = append(q.Options, conversation.Option{ID: decline, Label: "Decline"})
	}
	for {
		q.Text = strings.Join(lines, "\n")
		answer, _, err := b.question(ctx, q)
		switch {
		case err != nil:
			return nil, "", err
		case answer == decline:
			return nil, "decline", nil
		case answer == skip || answer == "" && !required:
			return nil, "", nil
		}
		value, err := f.parse(answer)
		if err == nil {
			return value, "", nil
		}
		lines = append(lines[:min(len(lines), 3)], err.Error())
	}
}

func (f field) options() []conversation.Option {
	if f.Type == "boolean" {
		return []conversation.Option{{ID: "true", Label: "Yes"}, {ID: "false", Label: "No"}}
	}
	var options []conversation.Option
	for _, v := range append(slices.Clone(f.Enum), f.Items.Enum...) {
		options = append(options, conversation.Option{ID: v, Label: v})
	}
	for _, c := range append(slices.Clone(f.OneOf), f.Items.AnyOf...) {
		options = append(options, conversation.Option{ID: c.Const, Label: c.Title})
	}
	return options
}

// parse reads a value of the field's type. Of a list one value is asked for.
func (f field) parse(answer string) (any, error) {
	switch f.Type {
	case "boolean":
		return answer == "true", nil
	case "integer":
		n, err := strconv.ParseInt(answer, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no whole number", answer)
		}
		return n, nil
	case "number":
		n, err := strconv.ParseFloat(answer, 64)
		if err != nil || n != n || n > 1e300 || n < -1e300 {
			return nil, fmt.Errorf("%q is no number", answer)
		}
		return n, nil
	case "array":
		return []string{answer}, nil
	}
	return answer, nil
}
