package tools

import (
	"context"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	var list []*Tool
	for _, d := range []Def{
		{Name: "git_push", Description: "Sends commits to a remote.", Category: "git", Tags: []string{"upload"}},
		{Name: "git_stash", Description: "Puts changes of files aside.", Category: "git"},
		{Name: "git_branch", Description: "Lists, makes and deletes branches.", Category: "git"},
		{Name: "web_fetch", Description: "Reads a page of the internet.", Category: "web"},
		{Name: "read_file", Description: "Reads a file.", Category: "files"},
	} {
		list = append(list, NewRead(d, func(context.Context, *Call, struct {
			Remote string `json:"remote,omitempty" jsonschema:"x"`
		}) (Result, error) {
			return Result{}, nil
		}))
	}
	for question, want := range map[string]string{
		"git_push":                  "git_push",
		" functions.git_push ":      "git_push git_branch git_stash",
		"push":                      "git_push",
		"upload my commits":         "git_push",
		"delete a branch":           "git_branch",
		"deleting branches":         "git_branch",
		"read a page from the web":  "web_fetch read_file",
		"GIT":                       "git_branch git_push git_stash",
		"":                          "",
		"the of a":                  "",
		"qqq":                       "",
		"\x00\xff" + "🙂":            "",
		strings.Repeat("push ", 90): "git_push",
	} {
		var names []string
		for _, tool := range Find(list, question) {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != want && (want != "git_push" || !strings.HasPrefix(got, want)) {
			t.Errorf("%q finds %q, want %q", question, got, want)
		}
	}
}
