package endpoint

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/offered"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
)

// KnowHow is what a workspace tells agents of how to work in it: skills as prompts, and
// the project's instructions as resources and as a prompt.
type KnowHow interface {
	Prompts(context.Context) ([]*sdk.Prompt, error)
	Prompt(ctx context.Context, name string, args map[string]string) (*sdk.GetPromptResult, error)
	Resources(context.Context) ([]*sdk.Resource, error)
	Resource(ctx context.Context, uri string) (*sdk.ReadResourceResult, error)

	// KnowsMore has a token after the lists have changed.
	KnowsMore() <-chan struct{}
}

const (
	instructionsPrompt = "instructions"
	instructionsURI    = "sidecar://instructions"
	promptArgument     = "arguments"
)

// uriOf is the address of the instructions of a folder.
func uriOf(folder string) string {
	if folder == "." {
		return instructionsURI
	}
	return instructionsURI + "/" + folder
}

// Prompts implements KnowHow.
func (l *local) Prompts(ctx context.Context) ([]*sdk.Prompt, error) {
	list, err := l.prompts(ctx)
	l.listed()
	return list, err
}

func (l *local) prompts(ctx context.Context) ([]*sdk.Prompt, error) {
	list := []*sdk.Prompt{}
	said, err := l.instructions(ctx)
	if err != nil {
		return nil, err
	}
	if len(said) > 0 {
		list = append(list, &sdk.Prompt{Name: instructionsPrompt, Title: "Instructions of the project", Description: "How to work in this project, from " + names(said) + "."})
	}
	found, err := l.skills(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range found.Skills {
		if s.Missing != "" || s.Name == instructionsPrompt {
			continue
		}
		p := &sdk.Prompt{Name: s.Name, Description: s.Description, Arguments: []*sdk.PromptArgument{{Name: promptArgument, Description: "what to do by it, in words"}}}
		if len(s.Flags) > 0 { // it seems to instruct the model
			p.Description = ""
		}
		list = append(list, p)
	}
	return list, nil
}

func names(said []offered.Instruction) string {
	var all []string
	for _, s := range said {
		all = append(all, s.Name)
	}
	return strings.Join(all, ", ")
}

func (l *local) skills(ctx context.Context) (skills.Found, error) {
	if l.t.Library == nil {
		return skills.Found{}, nil
	}
	return offered.Skills(ctx, l.t.Dispatch(), l.t.Library, l.session.ID)
}

func (l *local) instructions(ctx context.Context) ([]offered.Instruction, error) {
	if l.t.Library == nil {
		return nil, nil
	}
	return offered.Instructions(ctx, l.t.Dispatch(), l.session.ID)
}

// invalidRequest is an error about what an agent asks for.
func invalidRequest(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// maxPromptWords bounds the argument of a prompt, in bytes.
const maxPromptWords = 64 << 10

// Prompt implements KnowHow. A skill is got by the tool, as an agent would: the steps of a
// kit become its list of todos.
func (l *local) Prompt(ctx context.Context, name string, args map[string]string) (*sdk.GetPromptResult, error) {
	for arg := range args {
		if arg != promptArgument {
			return nil, invalidRequest("there is no argument %.40q; the one of a prompt is %q", arg, promptArgument)
		}
	}
	words := strings.TrimSpace(args[promptArgument])
	if len(words) > maxPromptWords {
		return nil, invalidRequest("%s: it has %d bytes, and may have %d", promptArgument, len(words), maxPromptWords)
	}
	if name == instructionsPrompt {
		said, err := l.instructions(ctx)
		if err != nil {
			return nil, err
		}
		if len(said) == 0 {
			return nil, invalidRequest("the project has no instructions (%s)", strings.Join(skills.Instructions(), ", "))
		}
		var text strings.Builder
		for _, s := range said {
			fmt.Fprintf(&text, "# Instructions of the project, from %s\n%s\n\n", s.Name, s.Text)
		}
		return prompted("Instructions of the project", text.String()+words), nil
	}
	found, err := l.skills(ctx)
	if err != nil {
		return nil, err
	}
	s, ok := found.Find(name)
	if !ok {
		return nil, invalidRequest("there is no prompt %.80q; prompts/list has those that there are", name)
	}
	in, err := json.Marshal(map[string]any{"name": s.Name, "again": true})
	if err != nil {
		return nil, err
	}
	res, err := l.t.Dispatch().Call(ctx, dispatch.Request{Mode: l.mode(), Name: "skill", Arguments: in, Session: l.session.ID, Whole: true})
	switch {
	case err != nil:
		return nil, err
	case !res.OK:
		return nil, invalidRequest("%s", res.Content)
	}
	text := res.Content
	if words != "" {
		text += "\n\n" + words
	}
	return prompted(s.Description, text), nil
}

func prompted(description, text string) *sdk.GetPromptResult {
	return &sdk.GetPromptResult{Description: description, Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: strings.TrimSpace(text)}}}}
}

// Resources implements KnowHow.
func (l *local) Resources(ctx context.Context) ([]*sdk.Resource, error) {
	list, err := l.resources(ctx)
	l.listed()
	return list, err
}

func (l *local) resources(ctx context.Context) ([]*sdk.Resource, error) {
	said, err := l.instructions(ctx)
	if err != nil {
		return nil, err
	}
	list := []*sdk.Resource{}
	for _, s := range said {
		list = append(list, &sdk.Resource{URI: uriOf(s.Folder), Name: s.Name, Title: "Instructions of the project", Description: "How to work in this project.", MIMEType: "text/markdown", Size: int64(len(s.Text))})
	}
	return list, nil
}

// Resource implements KnowHow.
func (l *local) Resource(ctx context.Context, uri string) (*sdk.ReadResourceResult, error) {
	said, err := l.instructions(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range said {
		if uriOf(s.Folder) == uri {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "text/markdown", Text: s.Text}}}, nil
		}
	}
	return nil, sdk.ResourceNotFoundError(uri)
}

// KnowsMore implements KnowHow.
func (l *local) KnowsMore() <-chan struct{} { return l.knowsMore }

// listed begins to follow changes, once an agent has listed what it would be told of.
func (l *local) listed() {
	l.following.Do(func() {
		if l.t.Library == nil {
			return
		}
		l.work.Go(func() { l.t.Library.Follow(l.base, l.mayKnowMore) })
		l.work.Go(l.compare)
	})
}

// mayKnowMore says that the lists may have changed. It never waits.
func (l *local) mayKnowMore() {
	select {
	case l.stirred <- struct{}{}:
	default:
	}
}

// heardOf looks at an event for what may change the lists.
func (l *local) heardOf(e events.Event) {
	if e.Type != events.ToolCompleted || e.Completed == nil {
		return
	}
	for _, c := range e.Changes {
		if skills.Concerns(c.Path) {
			l.mayKnowMore()
			return
		}
	}
}

// compare tells the agent when the lists are others than before.
func (l *local) compare() {
	before, _ := l.fingerprint()
	for {
		select {
		case <-l.stirred:
		case <-l.base.Done():
			return
		}
		now, err := l.fingerprint()
		if err != nil || now == before {
			continue
		}
		before = now
		select {
		case l.knowsMore <- struct{}{}:
		default:
		}
	}
}

// fingerprint stands for what the lists have, and what instructions say.
func (l *local) fingerprint() (string, error) {
	prompts, err := l.prompts(l.base)
	said, err2 := l.instructions(l.base)
	if err := cmp.Or(err, err2); err != nil {
		return "", err
	}
	data, err := json.Marshal([]any{prompts, said})
	sum := sha256.Sum256(data)
	return string(sum[:]), err
}

// anyURI is the one resource that the SDK knows, as callAny is the one tool and prompt.
const anyURI = "sidecar://any"

// knowHow answers what is about prompts and resources; ok is false for all else. Single
// ones pass through the SDK, which completes them for the version of the protocol.
func (e *endpoint) knowHow(ctx context.Context, next sdk.MethodHandler, method string, req sdk.Request) (res sdk.Result, ok bool, err error) {
	private := sdk.Cacheable{CacheScope: "private"} // whose session it is decides on the list
	switch req := req.(type) {
	case *sdk.ListPromptsRequest:
		var list []*sdk.Prompt
		b, err := e.connect(agentOf(req))
		if err == nil {
			list, err = b.Prompts(ctx)
		}
		if err != nil {
			return nil, true, unavailable(err)
		}
		return &sdk.ListPromptsResult{Prompts: list, Cacheable: private}, true, nil
	case *sdk.ListResourcesRequest:
		var list []*sdk.Resource
		b, err := e.connect(agentOf(req))
		if err == nil {
			list, err = b.Resources(ctx)
		}
		if err != nil {
			return nil, true, unavailable(err)
		}
		return &sdk.ListResourcesResult{Resources: list, Cacheable: private}, true, nil
	case *sdk.GetPromptRequest:
		ctx = context.WithValue(ctx, nameKey{}, req.Params.Name)
		req.Params.Name = callAny
	case *sdk.ReadResourceRequest:
		ctx = context.WithValue(ctx, nameKey{}, req.Params.URI)
		req.Params.URI = anyURI
	default:
		return nil, false, nil
	}
	res, err = next(ctx, method, req)
	return res, true, err
}

// prompt is the handler of every prompts/get.
func (e *endpoint) prompt(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	b, err := e.connect(agentOf(req))
	if err != nil {
		return nil, unavailable(err)
	}
	name, _ := ctx.Value(nameKey{}).(string)
	return b.Prompt(ctx, name, req.Params.Arguments)
}

// resource is the handler of every resources/read.
func (e *endpoint) resource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	b, err := e.connect(agentOf(req))
	if err != nil {
		return nil, unavailable(err)
	}
	uri, _ := ctx.Value(nameKey{}).(string)
	res, err := b.Resource(ctx, uri)
	if err == nil {
		res.CacheScope = "private"
	}
	return res, err
}

// knowsMore tells the agent to list prompts and resources again, as changed does for tools.
func (e *endpoint) knowsMore() {
	e.server.AddPrompt(&sdk.Prompt{Name: callAny}, e.prompt)
	e.server.AddResource(&sdk.Resource{Name: callAny, URI: anyURI}, e.resource)
}
