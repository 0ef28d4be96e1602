package source

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// Models has the user's language model: backend.Backends.
type Models interface {
	// Model is that of a profile, "" for the one in use. The error says what the user must do.
	Model(profile string) (*model.Client, model.Facts, error)
}

// Bounds of what a server may have asked.
const (
	maxSampled       = 2_000   // tokens of an answer
	maxSampledBudget = 50_000  // tokens read and written, as long as the server is connected
	maxSampledBytes  = 8 << 10 // all of which the user is shown
	maxSampledTurns  = 20
)

// sample has the user's model asked for a server, each time with the user's word for it:
// the server's text goes to the model's provider, and the user pays.
func (s *server) sample(c *conn) func(context.Context, *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) { //nolint:staticcheck // servers of the field ask
	refuse := func(code int64, format string, args ...any) error {
		return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
	}
	return func(ctx context.Context, req *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) { //nolint:staticcheck // likewise
		p := req.Params
		said, err := spoken(p)
		if err != nil {
			return nil, err
		}
		by, _, err := s.m.o.Models.Model("")
		if err != nil {
			return nil, refuse(jsonrpc.CodeInvalidRequest, "the user has no language model in use") // what to do is not the server's business
		}
		most := int(min(max(p.MaxTokens, 1), maxSampled))
		if left := maxSampledBudget - c.sampled.Load(); left < int64(most+maxSampledBytes/4) {
			return nil, refuse(jsonrpc.CodeInvalidRequest, "what this server may have the user's language model asked is used up: %d tokens until it is connected again", maxSampledBudget)
		}
		asked, call, end, err := c.forUser(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
		text := fmt.Sprintf(" your language model %s (%s) this, for an answer of at most %d tokens. It goes to the model's provider, and the answer to the server.\n\n%s", by.Profile.Name, by.Profile.Model, most, shownPrompt(p.SystemPrompt, said))
		answer, ok, err := s.ask(asked, call, text, []string{"Allow", "Deny"}, false)
		switch {
		case err != nil:
			return nil, err
		case !ok || answer != "Allow":
			return nil, refuse(-1, "the user did not allow it") // the code of the protocol for that
		}
		got, err := by.Ask(asked, model.Request{System: p.SystemPrompt, Messages: said, MaxTokens: most}, nil)
		used := got.Usage.Plus(got.Lost)
		c.sampled.Add(used.Input + used.Output + used.CacheRead + used.CacheWrite)
		if err != nil {
			s.m.o.Warn(fmt.Sprintf("The MCP server %s got no answer of your language model: %v", s.cfg.Name, err))
			return nil, refuse(jsonrpc.CodeInternalError, "the language model was not reached") // why is the user's business
		}
		out := &sdk.CreateMessageResult{Role: "assistant", Model: got.Model, StopReason: "endTurn", Content: &sdk.TextContent{Text: words(got)}} //nolint:staticcheck // likewise
		if got.Stop == model.Length {
			out.StopReason = "maxTokens"
		}
		return out, nil
	}
}

// words are those of an answer.
func words(a model.Answer) (text string) {
	for _, b := range a.Blocks {
		if b.Kind == model.Text {
			text += b.Text
		}
	}
	return text
}

// spoken are the messages of a request, which must be text.
func spoken(p *sdk.CreateMessageParams) (said []model.Message, err error) { //nolint:staticcheck // likewise
	bad := func(why string) error { return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: why} }
	if len(p.Messages) == 0 || len(p.Messages) > maxSampledTurns {
		return nil, bad(fmt.Sprintf("there must be 1 to %d messages", maxSampledTurns))
	}
	size := 0
	for _, m := range p.Messages {
		text, ok := m.Content.(*sdk.TextContent)
		if !ok || text.Text == "" {
			return nil, bad("only text is taken")
		}
		role := model.User
		if m.Role == "assistant" {
			role = model.Assistant
		}
		size += len(text.Text)
		said = append(said, model.Message{Role: role, Blocks: []model.Block{{Kind: model.Text, Text: text.Text}}})
	}
	if n := size + len(p.SystemPrompt); n > maxSampledBytes {
		return nil, bad(fmt.Sprintf("the messages have %d bytes; %d are taken", n, maxSampledBytes))
	}
	return said, nil
}

// shownPrompt is what a model would be asked, for a person.
func shownPrompt(system string, said []model.Message) string {
	var b strings.Builder
	if system != "" {
		b.WriteString("(instructions) " + system + "\n")
	}
	for _, m := range said {
		if m.Role == model.Assistant {
			b.WriteString("(model) ")
		}
		b.WriteString(m.Blocks[0].Text + "\n")
	}
	return strings.TrimSpace(b.String())
}
