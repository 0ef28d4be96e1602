package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Reach is what a command of a session wants: a host, or to send more to it.
type Reach struct {
	Session string
	Host    string // with its port, where that is no usual one
	Program string // that wants it; "" is not known
	Line    string // the command that it runs for; "" is not known
	Sent    int64  // bytes that went to it; not 0: it wants to send more
}

// Reached is a person's answer.
type Reached struct {
	Allow   bool
	Session bool   // for all of the session
	Person  bool   // a person answered
	Why     string // it is not allowed
}

// reachIn is what a person is asked about a host.
type reachIn struct {
	Host    string `json:"host"`
	Program string `json:"program,omitempty"`
	Line    string `json:"command,omitempty"`
	Sent    int64  `json:"sent,omitempty"`
}

const reachTool = "reach_host"

func (in reachIn) Effects() tools.Effects {
	who := in.Program
	if who == "" {
		who = "A program"
	}
	e := tools.Effects{Hosts: []string{in.Host}, Title: fmt.Sprintf("%s wants %s", who, in.Host)}
	if in.Line != "" {
		e.Title += fmt.Sprintf(" for `%s`", in.Line)
	}
	e.Warns = "It could send there all that this session sees, and that the host answers is not checked."
	if in.Sent > 0 {
		e.Hosts = []string{in.Host + " (uploads)"}
		e.Title = fmt.Sprintf("%s has sent %d KiB to %s, and wants to send more", who, in.Sent>>10, in.Host)
	}
	e.Change = e.Title // which is all of it
	return e
}

// hostForGood is the host that a person may allow for good; "": more is to be sent there.
func hostForGood(c *call) string {
	var in reachIn
	if json.Unmarshal(c.req.Arguments, &in) != nil || in.Sent > 0 {
		return ""
	}
	return in.Host
}

// MayReach asks a person whether a command may reach a host. Once is for the command.
func (l Later) MayReach(ctx context.Context, r Reach) Reached {
	t := tools.NewRead(tools.Def{
		Name: reachTool, Title: "Reach a host", Description: "Asks whether a host may be reached.", Example: `{"host": "packages.example.org"}`,
		Category: "shell", Interactive: true, Network: true, Output: tools.NoOutput{},
	}, func(context.Context, *tools.Call, reachIn) (tools.Result, error) {
		return tools.Result{Text: "It may."}, nil
	})
	in := reachIn{r.Host, r.Program, r.Line, r.Sent}
	args, err := json.Marshal(in)
	if err != nil {
		return Reached{Why: err.Error()}
	}
	d := l()
	res, err := d.Call(ctx, Request{Name: t.Name, Session: r.Session, Arguments: args, tool: t})
	a := Reached{Allow: err == nil && res.OK, Person: res.Decision.By == policy.ByUser}
	switch {
	case err != nil:
		a.Why = err.Error()
	case !res.OK && strings.Contains(res.Content, Dismissed):
		a.Person, a.Why = false, Dismissed // they may answer the next one
	case !res.OK && !a.Person:
		a.Why = "nobody could be asked, or answered in time"
	case !res.OK:
		a.Why = "the user did not allow it"
	}
	if s, err := d.o.Sessions.Get(r.Session); err == nil && a.Allow {
		a.Session = s.Remembered(hostKey(reachTool, in.Effects().Hosts[0]))
	}
	return a
}
