package tools

import (
	"context"
	"slices"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// TestFailures: people read which errors a tool may return, each with its meaning.
func TestFailures(t *testing.T) {
	for _, c := range Codes {
		if c.Meaning() == "" {
			t.Errorf("%s has no meaning", c)
		}
	}
	if len(meanings) != len(Codes) {
		t.Errorf("%d meanings for %d codes", len(meanings), len(Codes))
	}
	if Code("no_such").Meaning() != "" {
		t.Error("control: a code that does not exist has a meaning")
	}

	type file struct {
		Path string `json:"path"`
	}
	type nothing struct{}
	edit := NewEdit(Def{Name: "edits", Description: "Edits.", Output: NoOutput{}, Also: []Form{{When: "of no_match", Of: file{}}, {When: "of a try", Of: file{}}}},
		func(context.Context, *Call, file) (Result, []workspace.Change, error) { return Result{}, nil, nil })
	read := NewRead(Def{Name: "reads", Description: "Reads.", Interactive: true}, func(context.Context, *Call, nothing) (Result, error) { return Result{}, nil })
	exec := NewExec(Def{Name: "runs", Description: "Runs.", Tests: true}, func(context.Context, *Call, nothing) (Result, error) { return Result{}, nil })
	for _, c := range []struct {
		tool      *Tool
		code      Code
		may       bool
		otherwise string
	}{
		{edit, NoMatch, true, "a declared form of failure"}, {edit, ProtectedPath, true, "it edits"}, {edit, NotFound, true, "it takes a path"}, {edit, CommandFailed, false, "it runs nothing"}, {edit, AmbiguousMatch, false, "not declared"},
		{read, Timeout, false, "it waits for a person"}, {read, NotFound, false, "it takes no path"}, {read, Denied, true, "every call"},
		{exec, CommandFailed, true, "it runs"}, {exec, Timeout, true, "it waits for nobody"}, {exec, Internal, false, "a defect"}, {exec, TestsFailed, true, "it tests"}, {edit, TestsFailed, false, "it does not test"},
	} {
		if may := slices.ContainsFunc(c.tool.Manual().Errors, func(f Failure) bool { return f.Code == c.code }); may != c.may {
			t.Errorf("%s: %s is %v (%s)", c.tool.Name, c.code, may, c.otherwise)
		}
	}
}
