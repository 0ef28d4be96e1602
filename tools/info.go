package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// Info is the ToolInfo of docs/protocol.md.
type Info struct {
	Name                  string          `json:"name"`
	Title                 string          `json:"title"`
	Description           string          `json:"description"`
	InputSchema           json.RawMessage `json:"inputSchema"`
	Access                Access          `json:"access"`
	Source                SourceKind      `json:"source"`
	MCPServer             string          `json:"mcpServer,omitempty"`
	RequiresApproval      bool            `json:"requiresApproval"` // by nature; the mode and the settings decide
	AlwaysRequireApproval bool            `json:"alwaysRequireApproval"`
	ApprovalScope         ApprovalScope   `json:"approvalScope"`
	Destructive           bool            `json:"destructive"` // it may change what is there
	Category              string          `json:"category"`
	Tags                  []string        `json:"tags,omitempty"`
}

// Info describes t for clients.
func (t *Tool) Info() Info {
	return Info{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema(),
		Access: t.Access, Source: t.Source.Kind, MCPServer: t.Source.Server,
		RequiresApproval: t.Access != Read || t.AlwaysAsk, AlwaysRequireApproval: t.AlwaysAsk,
		ApprovalScope: t.approvalScope(), Destructive: t.Hints().Destructive,
		Category: t.Category, Tags: t.Tags,
	}
}

// ApprovalScope says what a person who allows a tool allows.
type ApprovalScope string

// The scopes.
const (
	NoApproval       ApprovalScope = "none"
	FileSystemWrite  ApprovalScope = "fileSystemWrite"
	ShellExecution   ApprovalScope = "shellExecution"
	NetworkAccess    ApprovalScope = "networkAccess"
	SessionOperation ApprovalScope = "sessionOperation" // on settings and the model
	ToolExecution    ApprovalScope = "toolExecution"    // anything else
)

func (t *Tool) approvalScope() ApprovalScope {
	switch {
	case t.Source.Kind != SourceBuiltin:
		return ToolExecution
	case t.Access == Edit:
		return FileSystemWrite
	case t.Network:
		return NetworkAccess // of a host that is new to the session
	case t.Access == Read && !t.AlwaysAsk:
		return NoApproval
	case t.Category == "shell":
		return ShellExecution
	case t.Category == "system":
		return SessionOperation
	}
	return ToolExecution
}

// Format is a form in which tools are listed.
type Format string

// The formats.
const (
	FormatInfo      Format = "info"
	FormatMCP       Format = "mcp"
	FormatOpenAI    Format = "openai"
	FormatAnthropic Format = "anthropic"
	FormatText      Format = "text" // for models without native calling: see Text
)

// ForModels reports whether the format is one that models are sent; the other
// is for people.
func (f Format) ForModels() bool { return f != "" && f != FormatInfo }

// HasStrict reports whether schemas in the format have a strict form.
func (f Format) HasStrict() bool {
	return f == FormatOpenAI || f == FormatAnthropic || f == FormatMCP
}

type mcpTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations Hints           `json:"annotations"`
}

// Hints are what MCP lets a tool say of itself.
type Hints struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// Hints are what agents are told of t.
func (t *Tool) Hints() Hints {
	return Hints{ReadOnly: t.Access == Read, Destructive: t.Access != Read, Idempotent: t.Access == Read || t.Idempotent, OpenWorld: t.Untrusted || t.Source.Kind == SourceMCP}
}

type openAITool struct {
	Type     string         `json:"type"`
	Function openAIFunction `json:"function"`
}

type openAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict,omitempty"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// Encode is what sidecar.tools.list answers: {"tools": […]}, or {"text": …}
// for FormatText. strict concerns the formats that models are given schemas in:
// FormatOpenAI, FormatAnthropic and FormatMCP. A tool whose schema can't be made
// strict is listed without it.
func Encode(list []*Tool, format Format, strict bool) (map[string]any, error) {
	entries := make([]any, 0, len(list))
	for _, t := range list {
		switch format {
		case FormatInfo, "":
			entries = append(entries, t.Info())
		case FormatMCP:
			entries = append(entries, mcpTool{t.Name, t.Title, t.Description, t.SchemaForMCP(strict), t.Hints()})
		case FormatOpenAI:
			schema, isStrict := t.schemaForModels(strict)
			entries = append(entries, openAITool{"function", openAIFunction{t.Name, t.Description, schema, isStrict}})
		case FormatAnthropic:
			entries = append(entries, anthropicTool{t.Name, t.Description, t.SchemaForModels(strict)})
		case FormatText:
			return map[string]any{"text": Text(list)}, nil
		default:
			return nil, Errorf(InvalidArguments, "format: got %q, expected one of info, mcp, openai, anthropic, text", string(format))
		}
	}
	return map[string]any{"tools": entries}, nil
}

// SchemaForModels is the schema of the arguments, in its strict form if that is
// wanted and there is one.
func (t *Tool) SchemaForModels(strict bool) json.RawMessage {
	schema, _ := t.schemaForModels(strict)
	return schema
}

// SchemaForMCP is SchemaForModels for MCP clients. Gemini CLI prints a warning for each list of
// types in a schema, so those of our tools say anyOf; what others wrote is left alone.
func (t *Tool) SchemaForMCP(strict bool) json.RawMessage {
	schema, isStrict := t.schemaForModels(strict)
	if isStrict || t.Source.Kind != SourceBuiltin || !slices.ContainsFunc(within(t.schema), func(s *jsonschema.Schema) bool { return len(s.Types) > 1 }) {
		return schema
	}
	c := t.schema.CloneSchemas()
	for _, s := range within(c) {
		for _, one := range s.Types {
			s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Type: one})
		}
		s.Types = nil
	}
	data, err := json.Marshal(c)
	if err != nil {
		return schema
	}
	return data
}

// within is a schema of ours with those of its members and items.
func within(s *jsonschema.Schema) (all []*jsonschema.Schema) {
	all = append(all, s)
	for _, name := range sortedKeys(s.Properties) {
		all = append(all, within(s.Properties[name])...)
	}
	if s.Items != nil {
		all = append(all, within(s.Items)...)
	}
	return all
}

func (t *Tool) schemaForModels(strict bool) (schema json.RawMessage, isStrict bool) {
	if strict {
		if schema, ok := strictSchema(t.schema); ok {
			return schema, true
		}
	}
	return t.InputSchema(), false
}

// Cost is about how many tokens list takes in a model's context, every turn.
func Cost(list []*Tool) int {
	n := 0
	for _, t := range list {
		n += len(t.Name) + len(t.Description) + len(t.InputSchema()) + len(`{"name":"","description":"","input_schema":},`)
	}
	return n / 4
}

// strictSchema turns s into what OpenAI's strict mode takes: objects are
// closed and need all their members, what was optional may be null (which Bind
// takes as absent), and bounds go into the text. It reports false for a schema
// that has no such form.
func strictSchema(s *jsonschema.Schema) (json.RawMessage, bool) {
	c := s.CloneSchemas()
	if !makeStrict(c) {
		return nil, false
	}
	data, err := json.Marshal(c)
	return data, err == nil
}

func makeStrict(s *jsonschema.Schema) bool {
	if s.AllOf != nil || s.OneOf != nil || s.Not != nil || s.If != nil || s.PatternProperties != nil || s.PrefixItems != nil ||
		s.ItemsArray != nil || s.DependentRequired != nil || s.DependentSchemas != nil || s.UnevaluatedProperties != nil || s.PropertyNames != nil {
		return false
	}
	if s.Type == "" && s.Types == nil && s.Enum == nil && s.AnyOf == nil && s.Ref == "" {
		return false // anything at all
	}
	limits(s)
	s.Schema, s.ID = "", ""
	subs := append([]*jsonschema.Schema{}, s.AnyOf...)
	for _, name := range sortedKeys(s.Defs) {
		subs = append(subs, s.Defs[name])
	}
	for _, name := range sortedKeys(s.Definitions) {
		subs = append(subs, s.Definitions[name])
	}
	if s.Items != nil {
		subs = append(subs, s.Items)
	}
	if s.Type == "object" {
		if a := s.AdditionalProperties; a != nil && !isFalse(a) || a == nil && len(s.Properties) == 0 && s.PropertyOrder == nil {
			return false // free members
		}
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		n, _ := compile(s)
		s.Required = n.names()
		for _, p := range n.props {
			sub := s.Properties[p.name]
			if sub == nil || !makeStrict(sub) {
				return false
			}
			if !p.required {
				s.Properties[p.name] = orNull(sub)
			}
		}
	}
	for _, sub := range subs {
		if !makeStrict(sub) {
			return false
		}
	}
	return true
}

// limits moves the keywords that strict mode refuses into the description.
func limits(s *jsonschema.Schema) {
	n, _ := compile(s)
	var note string
	if n.min != nil || n.max != nil || n.minLen != nil || n.maxLen != nil || n.minItems != nil || n.maxItems != nil {
		note = n.expected
	}
	if s.Default != nil {
		note = joinNonEmpty("; ", note, "default "+string(bytes.TrimSpace(s.Default)))
	}
	if note != "" {
		s.Description = joinNonEmpty(" ", s.Description, fmt.Sprintf("(%s)", note))
	}
	s.Default, s.Examples, s.Format, s.Pattern = nil, nil, "", ""
	s.Minimum, s.Maximum, s.ExclusiveMinimum, s.ExclusiveMaximum, s.MultipleOf = nil, nil, nil, nil, nil
	s.MinLength, s.MaxLength, s.MinItems, s.MaxItems, s.UniqueItems = nil, nil, nil, nil, false
	s.MinProperties, s.MaxProperties = nil, nil
}

func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case s.Type != "" && s.Type != "null":
		s.Types, s.Type = []string{s.Type, "null"}, ""
	case s.Types != nil:
		for _, t := range s.Types {
			if t == "null" {
				return s
			}
		}
		s.Types = append(append([]string{}, s.Types...), "null")
	default:
		return &jsonschema.Schema{Description: s.Description, AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
	}
	if s.Enum != nil {
		s.Enum = append(append([]any{}, s.Enum...), nil)
	}
	return s
}

func joinNonEmpty(sep string, parts ...string) string {
	out := ""
	for _, p := range parts {
		if p == "" {
			continue
		}
		if out != "" {
			out += sep
		}
		out += p
	}
	return out
}
