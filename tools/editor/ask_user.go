package editor

import (
	"context"
	_ "embed"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// People answer questions.
type People interface {
	// Ask waits for an answer. ok is false when the person closed the question
	// without one. An error means that nobody could be asked.
	Ask(ctx context.Context, q Question) (answer string, ok bool, err error)
}

// Question is what a person is asked.
type Question struct {
	CallID      string
	Session     string
	Text        string
	Options     []string
	AllowCustom bool // an answer besides the options is possible
}

// Shown is the question as a person sees it, made harmless by show.
func (q Question) Shown(show func(string) string) (text string, options []string) {
	options = make([]string, len(q.Options))
	for i, o := range q.Options {
		options[i] = show(o)
	}
	return show(q.Text), options
}

//go:embed ask_user.md
var askUserText string

type askUserIn struct {
	Question    string   `json:"question" jsonschema:"the question, complete in itself" minLength:"1" maxLength:"4000"`
	Options     []string `json:"options,omitempty" jsonschema:"answers to choose from" maxItems:"5"`
	AllowCustom bool     `json:"allow_custom,omitempty" jsonschema:"whether the user may answer in own words" default:"true"`
}

// answered is the structured result of ask_user.
type answered struct {
	Answer    string `json:"answer,omitempty" jsonschema:"in the user's words, or the option"`
	Dismissed bool   `json:"dismissed,omitempty" jsonschema:"there is no answer"`
}

func askUser(people People) *tools.Tool {
	d := tools.Def{Name: "ask_user", Title: "Ask the user", Example: `{"question": "Which database shall the tests use?", "options": ["SQLite", "PostgreSQL"]}`, Description: askUserText, Category: "people", Core: true, Interactive: true, Output: answered{}}
	return tools.NewRead(d, func(ctx context.Context, c *tools.Call, in askUserIn) (tools.Result, error) {
		options, err := cleanOptions(in)
		if err != nil {
			return tools.Result{}, err
		}
		const alone = "go on by your best judgement and say in your answer what you assumed"
		if people == nil {
			return tools.Result{}, tools.Errorf(tools.Unavailable, "nobody can be asked here; %s", alone)
		}
		answer, ok, err := people.Ask(ctx, Question{CallID: c.ID, Session: c.Session, Text: strings.TrimSpace(in.Question), Options: options, AllowCustom: in.AllowCustom})
		switch {
		case ctx.Err() != nil:
			return tools.Result{}, ctx.Err()
		case err != nil:
			return tools.Result{}, tools.Errorf(tools.Unavailable, "the user could not be asked (%v); %s", err, alone)
		case !ok || strings.TrimSpace(answer) == "":
			return tools.Result{
				Text:       "The user dismissed the question without an answer. Don't ask it again; " + alone + ".",
				Structured: answered{Dismissed: true},
			}, nil
		}
		return tools.Result{Text: answer, Structured: answered{Answer: answer}}, nil
	})
}

// cleanOptions leaves out what is empty or there twice.
func cleanOptions(in askUserIn) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, o := range in.Options {
		if o = strings.TrimSpace(o); o != "" && !seen[o] {
			seen[o] = true
			out = append(out, o)
		}
	}
	if len(out) == 0 && !in.AllowCustom {
		return nil, tools.Errorf(tools.InvalidArguments, "allow_custom: false needs options; give some or leave it out")
	}
	if strings.TrimSpace(in.Question) == "" {
		return nil, tools.Errorf(tools.InvalidArguments, "question: is empty; write what you want to know")
	}
	return out, nil
}
