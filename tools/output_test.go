package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

type place struct {
	Path string `json:"path" jsonschema:"file | directory"`
	Line int    `json:"line,omitempty" jsonschema:"from one"`
}

type places struct {
	List []place         `json:"list" jsonschema:"in order"`
	At   time.Time       `json:"at" jsonschema:"when"`
	Any  json.RawMessage `json:"any" jsonschema:"as it is"`
}

type refusal struct {
	Why string `json:"why" jsonschema:"the reason"`
}

// gives is a tool whose only call gives a structured part, or fails with it.
func gives(v any, fails bool) *Tool {
	d := Def{Name: "gives", Description: "Gives.", Output: places{}, Also: []Form{{When: "of a refusal", Of: refusal{}}}}
	return NewRead(d, func(context.Context, *Call, struct{}) (Result, error) {
		if fails {
			return Result{}, &Error{Code: Denied, Structured: v}
		}
		return Result{Structured: v}, nil
	})
}

// TestOnlyDeclaredOutputs: a structured part that the documentation is not made
// from does not fit.
func TestOnlyDeclaredOutputs(t *testing.T) {
	for name, c := range map[string]struct {
		v     any
		fails bool
		want  bool
	}{
		"none":                         {nil, false, true},
		"the output":                   {places{List: []place{}}, false, true},
		"another form":                 {refusal{}, false, true},
		"another form of a failure":    {refusal{}, true, true},
		"no structured failure":        {nil, true, true},
		"a map":                        {map[string]any{"list": nil}, false, false},
		"a pointer to the output":      {&places{}, false, false},
		"a struct that is not named":   {place{}, false, false},
		"the same of a failure":        {place{}, true, false},
		"what stands for no output":    {NoOutput{}, false, false},
		"a string, which is no struct": {"x", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			tool := gives(c.v, c.fails)
			b, err := tool.Bind(json.RawMessage(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			r, _, err := b.Run(t.Context(), &Call{})
			v := r.Structured
			if err != nil {
				v = AsError(err).Structured
			}
			if err := tool.Fits(v); (err == nil) != c.want {
				t.Error(err)
			}
		})
	}
}

func TestDefinitionsWithWrongOutputsPanic(t *testing.T) {
	for name, d := range map[string]Def{
		"no struct":       {Output: "x"},
		"a pointer":       {Output: &places{}},
		"no first one":    {Also: []Form{{Of: places{}}}},
		"another is none": {Output: places{}, Also: []Form{{When: "x"}}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: taken", name)
				}
			}()
			d.Name, d.Description = "x", "x"
			NewRead(d, func(context.Context, *Call, struct{}) (Result, error) { return Result{}, nil })
		}()
	}
}

func TestFits(t *testing.T) {
	whole := places{List: []place{{Path: "a"}}, Any: json.RawMessage(`{}`)}
	for name, c := range map[string]struct {
		v    any
		want string // part of the error, "" for none
	}{
		"none":         {nil, ""},
		"all":          {whole, ""},
		"another form": {refusal{}, ""},
		"null":         {places{Any: whole.Any}, "null"},
		"a map":        {map[string]any{}, "not among"},
	} {
		err := gives(nil, false).Fits(c.v)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
