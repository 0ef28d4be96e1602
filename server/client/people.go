package client

import (
	"context"
	"errors"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// ErrNobody means that the editor can't show a question.
var ErrNobody = errors.New("the editor can't show questions")

// People are the way to the user.
type People struct {
	Base   context.Context // as long as the server
	Client *Client
}

// Warn puts a text before the user; it never waits for an answer.
func (p *People) Warn(text string) { p.Client.Warn(p.Base, text) }

// Ask shows a question with the options to choose from; allowCustom lets the
// user type another answer, where the editor has a way to. ok is false when the
// user closed the question without an answer. It fails with ErrNobody.
func (p *People) Ask(ctx context.Context, question string, options []string, allowCustom bool) (answer string, ok bool, err error) {
	if p.Client.Can.Sidecar.Ask {
		var r *askResult
		err = p.Client.Call(ctx, "sidecar/ask", askParams{question, options, allowCustom}, &r)
		if r != nil {
			answer, ok = r.Answer, allowCustom || slices.Contains(options, r.Answer)
		}
	} else {
		answer, err = p.Choose(ctx, question, options)
		ok = slices.Contains(options, answer)
	}
	switch {
	case Unsupported(err):
		return "", false, ErrNobody
	case err != nil || !ok:
		return "", false, err
	}
	return answer, true, nil
}

// Choose shows the options as the buttons of a message, and returns "" when
// none was pressed.
func (p *People) Choose(ctx context.Context, question string, options []string) (string, error) {
	if len(options) == 0 {
		return "", ErrNobody // a message has no place to type
	}
	params := lsp.ShowMessageRequestParams{Type: lsp.MessageInfo, Message: question}
	for _, o := range options {
		params.Actions = append(params.Actions, lsp.MessageActionItem{Title: o})
	}
	var chosen *lsp.MessageActionItem
	if err := p.Client.Call(ctx, "window/showMessageRequest", params, &chosen); err != nil || chosen == nil {
		return "", err
	}
	return chosen.Title, nil
}

type askParams struct {
	Question    string   `json:"question"`
	Options     []string `json:"options"`
	AllowCustom bool     `json:"allowCustom"`
}

type askResult struct {
	Answer string `json:"answer"`
}
