package acp

import "encoding/json"

// Implementation names a program.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// Initialized is what an agent says of itself.
type Initialized struct {
	Agent        *Implementation `json:"agentInfo"`
	Capabilities Capabilities    `json:"agentCapabilities"`
	AuthMethods  []AuthMethod    `json:"authMethods"`
	Raw          json.RawMessage `json:"-"`
}

// Capabilities are what an agent offers.
type Capabilities struct {
	LoadSession bool               `json:"loadSession"`
	Prompt      PromptCapabilities `json:"promptCapabilities"`
	MCP         struct {
		HTTP bool `json:"http"`
		SSE  bool `json:"sse"`
	} `json:"mcpCapabilities"`
	Session struct {
		List                  *struct{} `json:"list"`
		Delete                *struct{} `json:"delete"`
		Resume                *struct{} `json:"resume"`
		Fork                  *struct{} `json:"fork"`
		Close                 *struct{} `json:"close"`
		AdditionalDirectories *struct{} `json:"additionalDirectories"`
	} `json:"sessionCapabilities"`
	Auth struct {
		Logout *struct{} `json:"logout"`
	} `json:"auth"`
}

// PromptCapabilities are the kinds of content in a prompt that an agent takes
// beside text and links, which all take.
type PromptCapabilities struct {
	Image           bool `json:"image"`
	Audio           bool `json:"audio"`
	EmbeddedContext bool `json:"embeddedContext"`
}

// AuthMethod is a way to sign in. The type "terminal" means that a person runs
// the agent's program in a terminal with Args and Env; all others are for
// Authenticate.
type AuthMethod struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Type        string            `json:"type"`
	Description string            `json:"description"`
	Args        []string          `json:"args"`
	Env         map[string]string `json:"env"`
}

// MCPServer is a server of tools that the agent is to use. Type is "" for a
// program with Command and Args, else "http" or "sse" with a URL.
type MCPServer struct {
	Type    string
	Name    string
	Command string
	Args    []string
	Env     []Variable
	URL     string
	Headers []Variable
}

// Variable is a variable of an environment, or a header.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// MarshalJSON writes the members of the type, and lists that are empty as lists.
func (s MCPServer) MarshalJSON() ([]byte, error) {
	if s.Type == "" {
		return json.Marshal(struct {
			Name    string     `json:"name"`
			Command string     `json:"command"`
			Args    []string   `json:"args"`
			Env     []Variable `json:"env"`
		}{s.Name, s.Command, list(s.Args), list(s.Env)})
	}
	return json.Marshal(struct {
		Type    string     `json:"type"`
		Name    string     `json:"name"`
		URL     string     `json:"url"`
		Headers []Variable `json:"headers"`
	}{s.Type, s.Name, s.URL, list(s.Headers)})
}

// list makes an empty list of none, for members that must be lists.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// SessionParams are what a session begins with.
type SessionParams struct {
	Dir         string // absolute
	Directories []string
	MCPServers  []MCPServer
}

// Modes are the modes of a session. Agents of late have config options instead.
type Modes struct {
	Current   string `json:"currentModeId"`
	Available []Mode `json:"availableModes"`
}

// Mode is one of them.
type Mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// ConfigOption is a setting of a session: a choice ("select") or a switch
// ("boolean").
type ConfigOption struct {
	ID          string
	Name        string
	Description string
	Category    string // mode, model, thought_level, …
	Type        string
	Value       string // of a choice
	On          bool   // of a switch
	Choices     []Choice
	Raw         json.RawMessage
}

// Choice is a value that a ConfigOption can have.
type Choice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Group       string `json:"-"`
}

// UnmarshalJSON reads both types and lists of choices with and without groups.
// What can't be read is in Raw.
func (o *ConfigOption) UnmarshalJSON(p []byte) error {
	var wire struct {
		ID, Name, Description, Category, Type string
		CurrentValue                          json.RawMessage
		Options                               json.RawMessage
	}
	if err := json.Unmarshal(p, &wire); err != nil {
		return err
	}
	*o = ConfigOption{ID: wire.ID, Name: wire.Name, Description: wire.Description, Category: wire.Category, Type: wire.Type,
		Raw: append(json.RawMessage(nil), p...)}
	if json.Unmarshal(wire.CurrentValue, &o.Value) != nil {
		_ = json.Unmarshal(wire.CurrentValue, &o.On)
	}
	var entries []struct {
		Choice
		Group   string
		Options []Choice
	}
	_ = json.Unmarshal(wire.Options, &entries)
	for _, e := range entries {
		for i := range e.Options {
			e.Options[i].Group = e.Name
		}
		if e.Options == nil {
			e.Options = []Choice{e.Choice}
		}
		o.Choices = append(o.Choices, e.Options...)
	}
	return nil
}

// SessionInfo is a session of an agent's own list.
type SessionInfo struct {
	ID          string   `json:"sessionId"`
	Dir         string   `json:"cwd"`
	Directories []string `json:"additionalDirectories"`
	Title       string   `json:"title"`
	UpdatedAt   string   `json:"updatedAt"`
}

// Reasons why a turn ended.
const (
	StopEndTurn         = "end_turn"
	StopMaxTokens       = "max_tokens"
	StopMaxTurnRequests = "max_turn_requests"
	StopRefusal         = "refusal"
	StopCancelled       = "cancelled"
)

// Stopped is how a turn ended.
type Stopped struct {
	Reason string          `json:"stopReason"`
	Raw    json.RawMessage `json:"-"`
}
