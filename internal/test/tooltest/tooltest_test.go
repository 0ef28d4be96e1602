package tooltest

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

type pathIn struct {
	Path string `json:"path" jsonschema:"the file" minLength:"1"`
}

type counted struct {
	Bytes int `json:"bytes" jsonschema:"of the file"`
}

// sample is a small family: one tool that reads, one that changes files.
func sample() []*tools.Tool {
	return []*tools.Tool{
		tools.NewRead(tools.Def{Name: "count_bytes", Category: "files", Description: "Count the bytes of a file.", Output: counted{}},
			func(_ context.Context, c *tools.Call, in pathIn) (tools.Result, error) {
				data, err := fs.ReadFile(c.Files, in.Path)
				if err != nil {
					return tools.Result{}, err
				}
				return tools.Result{Text: strings.Repeat("x", len(data)), Structured: counted{len(data)}}, nil
			}),
		tools.NewEdit(tools.Def{Name: "double_file", Category: "files", Description: "Write a file's text twice into <path>.2 and remove it.", Output: tools.NoOutput{}},
			func(_ context.Context, c *tools.Call, in pathIn) (tools.Result, []workspace.Change, error) {
				data, err := fs.ReadFile(c.Files, in.Path)
				if err != nil {
					return tools.Result{}, nil, err
				}
				twice := append(append([]byte{}, data...), data...)
				return tools.Result{Text: "doubled"}, []workspace.Change{{Path: in.Path + ".2", After: twice}, {Path: in.Path, Before: data}}, nil
			}),
	}
}

func TestRun(t *testing.T)         { Run(t, "testdata", sample()) }
func TestDefinitions(t *testing.T) { Definitions(t, "testdata/definitions", sample()) }
func TestRules(t *testing.T)       { Rules(t, sample()) }

func TestReplayShowsWhatDiffers(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"an unknown tool":   {"-- call --\nnone {}\n", "error unknown_tool: there is no tool \"none\"\n"},
		"a wrong argument":  {"-- call --\ncount_bytes {}\n", "error invalid_arguments:"},
		"another result":    {"-- a --\n12\n-- call --\ncount_bytes {\"path\":\"a\"}\n-- want --\nx\n", "-- want --\nxxx\n"},
		"a file not wanted": {"-- a --\n12\n-- call --\ndouble_file {\"path\":\"a\"}\n", "-- after/a.2 --\n12\n12\n-- removed --\na\n"},
	} {
		got, err := Replay(t.Context(), t.TempDir(), []byte(c.in), sample())
		if err != nil || !strings.Contains(string(got), c.want) {
			t.Errorf("%s: error %v, got\n%s", name, err, got)
		}
	}
}

func TestBreaches(t *testing.T) {
	type in struct {
		BadName string         `json:"badName"`
		Free    map[string]any `json:"free" jsonschema:"text"`
		Any     any            `json:"any" jsonschema:"text"`
	}
	long := tools.NewRead(tools.Def{Name: "long", Description: strings.Repeat("x", MaxDescription+1)},
		func(context.Context, *tools.Call, in) (tools.Result, error) {
			return tools.Result{}, errors.New("none")
		})
	want := []string{
		"long: has no category",
		"long: description has 701 bytes, more than 700",
		"long: any: has no type",
		"long: badName: has no description",
		"long: badName: name is not lower snake case",
		"long: has no output; tools.NoOutput{} says that its results have no structured part",
		"bare: output parts[].text: has no description",
	}
	bare := tools.NewRead(tools.Def{Name: "bare", Description: "x", Category: "x", Output: struct {
		Parts []struct {
			Text string `json:"text"`
		} `json:"parts" jsonschema:"text"`
	}{}}, func(context.Context, *tools.Call, struct{}) (tools.Result, error) { return tools.Result{}, nil })
	if d := cmp.Diff(want, Breaches([]*tools.Tool{long, bare})); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
