package loop

import "log/slog"

// Opening is how the first request of a conversation begins, and how much that is.
type Opening struct {
	Frame
	NoModel string `json:"noModel,omitempty"` // why there is no model to ask
	Parts   []Part `json:"parts"`
}

// Part is a part of an Opening: the instructions, those of the project's, or the tools.
type Part struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	Tokens int64  `json:"tokens"` // about
}

// Draft is an agent without a run. It can be asked how it would begin, and nothing else.
func Draft(h Host, profile string) *Agent {
	return &Agent{o: Options{Host: h, Log: slog.New(slog.DiscardHandler)}, host: h, profile: profile}
}

// Opening is how a conversation would begin here. Without a profile, a model is not
// needed. It fails when the profile has no model to ask.
func (a *Agent) Opening() (Opening, error) {
	var o Opening
	b, err := a.host.Backend(a.profile)
	switch {
	case err != nil && a.profile != "":
		return o, err
	case err != nil:
		o.NoModel = err.Error()
	}
	list, err := a.host.Tools()
	if err != nil {
		return o, err
	}
	facts := a.host.Facts()
	o.Frame = frame(b, list, nil, func() Facts { return facts })
	facts.Files, facts.Tools = nil, list
	ours := len(Instructions(facts))
	o.Parts = []Part{part("instructions", ours), part("the project's instructions", len(o.System)-ours), part("tools", o.toolBytes())}
	return o, nil
}

func part(name string, bytes int) Part { return Part{name, bytes, tokens(bytes)} }

// toolBytes is the size of the tools as they are offered.
func (f *Frame) toolBytes() (bytes int) {
	if f.ToolText != "" {
		return len(f.ToolText)
	}
	for _, t := range f.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return bytes
}
