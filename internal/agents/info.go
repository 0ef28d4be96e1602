package agents

import (
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/profile"
)

// Info is an agent as people choose it. Version, modes, models, abilities and ways to
// sign in are known once the agent was started.
type Info struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Kind      string   `json:"kind"` // builtin, acp, or program, which can't be driven
	Available bool     `json:"available"`
	Version   string   `json:"version,omitempty"`
	Why       string   `json:"why,omitempty"`     // it is not available, or not driven
	Install   string   `json:"install,omitempty"` // what is installed before it starts; "" is nothing
	Modes     []Choice `json:"modes,omitempty"`
	Models    []Choice `json:"models,omitempty"`
	Can       []string `json:"can"`
	Sees      []string `json:"sees"`            // of the user's
	Shown     []string `json:"shown,omitempty"` // of that, what is there now, in few lines
	Consented bool     `json:"consented"`
	SignIn    []SignIn `json:"signIn,omitempty"`
}

// Choice is a mode or a model of an agent's own.
type Choice struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
}

// SignIn is a way to sign in to an agent's service.
type SignIn struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// describe adds to what an agent says of itself what its profile says. why is empty if
// the agent can be started.
func (i Info) describe(p profile.Profile, allowed bool, why string) Info {
	i.Name, i.Title, i.Kind, i.Sees, i.Shown, i.Consented = p.Name, p.Title, "acp", p.Sees(), p.Shown(), allowed
	i.Available, i.Why, i.Install = why == "", why, p.Install
	switch {
	case p.Name == Builtin:
		i.Kind = Builtin
	case p.ACP == nil:
		i.Kind = "program"
	}
	if i.Can == nil {
		i.Can = []string{}
	}
	return i
}

// Earlier is a conversation that an agent had in the workspace, whoever began it.
type Earlier struct {
	ID        string     `json:"id"`
	Title     string     `json:"title,omitempty"`
	UpdatedAt *time.Time `json:"updatedAt,omitempty"` // nil: the agent does not say
	Run       string     `json:"run,omitempty"`       // that has it, if one is open
}

// time is the zero time for what the agent gives none.
func (e Earlier) time() time.Time {
	if e.UpdatedAt == nil {
		return time.Time{}
	}
	return *e.UpdatedAt
}

// EarlierPage is a part of an agent's list. Next is the cursor of the next part; "" is
// the end.
type EarlierPage struct {
	Sessions []Earlier `json:"sessions"`
	Next     string    `json:"next,omitempty"`
}
