package git

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed git_log.md
var logDoc string

type logArgs struct {
	Count int    `json:"count,omitempty" jsonschema:"most commits" default:"10" minimum:"1" maximum:"50"`
	Path  string `json:"path,omitempty" jsonschema:"only commits that change this file or directory"`
}

// Effects names what is read.
func (a logArgs) Effects() tools.Effects {
	if a.Path == "" {
		return tools.Effects{}
	}
	return tools.Effects{Paths: []string{a.Path}}
}

// LogInfo is the structured result of git_log.
type LogInfo struct {
	Commits []LogCommit `json:"commits" jsonschema:"the newest first"`
}

// LogCommit is one commit.
type LogCommit struct {
	Hash    string   `json:"hash" jsonschema:"of the commit"`
	Parents []string `json:"parents" jsonschema:"hashes"`
	Author  string   `json:"author" jsonschema:"name"`
	Date    string   `json:"date" jsonschema:"RFC 3339, of the author"`
	Subject string   `json:"subject" jsonschema:"first line of the message"`
	Refs    []string `json:"refs,omitempty" jsonschema:"branches and tags that point to it"`
}

func newLog(d Deps) *tools.Tool {
	return tools.NewRead(tools.Def{
		Name: "git_log", Title: "Git log", Example: `{"count": 5, "path": "main.go"}`, Description: logDoc,
		Category: category, Tags: []string{"history", "commits", "blame"}, Untrusted: true,
		Output: LogInfo{},
	}, func(ctx context.Context, c *tools.Call, in logArgs) (tools.Result, error) {
		p, path, err := d.repository(ctx, c.Files, in.Path)
		if err != nil {
			return tools.Result{}, err
		}
		if path == "." {
			path = "" // every commit, those that change no file too
		}
		commits, err := p.repo.Log(ctx, gitrepo.LogOptions{Count: in.Count, Path: path})
		if err != nil {
			return tools.Result{}, asError(err)
		}
		return logResult(commits, in.Path), nil
	})
}

func logResult(commits []gitrepo.Commit, path string) tools.Result {
	info := LogInfo{Commits: []LogCommit{}}
	var b strings.Builder
	for _, c := range commits {
		one := LogCommit{
			Hash: c.Hash.String(), Parents: []string{}, Author: oneLine(c.Author.Name),
			Date: c.Author.When.Format(time.RFC3339), Subject: oneLine(c.Subject),
		}
		for _, p := range c.Parents {
			one.Parents = append(one.Parents, p.String())
		}
		refs := ""
		for _, name := range c.Refs {
			one.Refs = append(one.Refs, oneLine(name))
		}
		if len(one.Refs) > 0 {
			refs = " [" + strings.Join(one.Refs, ", ") + "]"
		}
		fmt.Fprintf(&b, "%s %s (%s, %s)%s\n", gitrepo.Short(c.Hash), one.Subject, one.Author, c.Author.When.Format("2006-01-02 15:04 -0700"), refs)
		info.Commits = append(info.Commits, one)
	}
	if len(commits) == 0 {
		fmt.Fprintf(&b, "no commit changes %s\n", shown(path))
	}
	return tools.Result{Text: b.String(), Structured: info}
}

// oneLine makes a text of somebody else fit into a line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}
