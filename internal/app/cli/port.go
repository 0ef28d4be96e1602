package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/exec/ports"
)

// What is asked about ports of sessions.
var (
	portList = query[portWords, portReply]{name: "port list", queue: app.QueueNever, answer: func(_ context.Context, w *app.Workspace, a portWords) (portReply, error) {
		return portReply{Ports: w.Confiner.Ports().List(a.Session)}, nil
	}}
	portMay = query[portWords, portReply]{name: "port may", queue: app.QueueNever, answer: func(_ context.Context, w *app.Workspace, a portWords) (portReply, error) {
		return portReply{}, w.Confiner.Ports().May(a.Session, a.Port)
	}}
	portOpen = query[portWords, portReply]{name: "port open", queue: app.QueueNever, decides: true, answer: func(_ context.Context, w *app.Workspace, a portWords) (r portReply, err error) {
		r.URL, err = w.Confiner.Ports().Open(a.Session, a.Port)
		return r, err
	}}
	portClose = query[portWords, portReply]{name: "port close", queue: app.QueueNever, decides: true, answer: func(_ context.Context, w *app.Workspace, a portWords) (r portReply, err error) {
		r.URL, err = w.Confiner.Ports().Close(a.Session, a.Port)
		return r, err
	}}
)

type portWords struct {
	Session string `json:"session,omitempty"`
	Port    int    `json:"port,omitempty"`
}

type portReply struct {
	Ports []ports.Port `json:"ports,omitempty"`
	URL   string       `json:"url,omitempty"`
}

// portCommand is `port list [SESSION] | open SESSION PORT | close SESSION PORT`.
func portCommand(ctx context.Context, c *cli) error {
	if len(c.args) == 0 {
		return usagef("port takes list, open or close")
	}
	verb, rest := c.args[0], c.args[1:]
	switch verb {
	case "list":
		if len(rest) > 1 {
			return usagef("port list takes one session at most")
		}
		return listPorts(ctx, c, strings.Join(rest, ""))
	case "open", "close":
	default:
		return usagef("port takes list, open or close, not %q", verb)
	}
	if len(rest) != 2 {
		return usagef("port %s takes a session and a port; sidecar-ls port list has them", verb)
	}
	port, err := strconv.Atoi(rest[1])
	if err != nil {
		return usagef("%q is no port", rest[1])
	}
	a := portWords{rest[0], port}
	var r portReply
	if verb == "open" {
		if err := agreePort(ctx, c, a); err != nil {
			return err
		}
		r, err = ask(ctx, c, portOpen, a)
	} else {
		r, err = ask(ctx, c, portClose, a)
	}
	switch {
	case err != nil:
		return err
	case c.json:
		return c.print(r)
	case verb == "open":
		fmt.Fprintln(c.Out, r.URL)
	default:
		fmt.Fprintln(c.Out, "Closed.")
	}
	return nil
}

// agreePort asks before a port is opened.
func agreePort(ctx context.Context, c *cli, a portWords) error {
	if _, err := ask(ctx, c, portMay, a); err != nil || c.yes {
		return err
	}
	yes, err := c.agreed(ctx, fmt.Sprintf("%s\nOpen port %d of the session %s?", ports.Warning, a.Port, oneLine(a.Session)))
	switch {
	case errors.Is(err, errNoTerminal):
		return usagef("port open asks on a terminal, and there is none; --yes opens it")
	case err != nil:
		return err
	case !yes:
		fmt.Fprintln(c.Err, "sidecar-ls: nothing was opened")
		return errReported
	}
	return nil
}

func listPorts(ctx context.Context, c *cli, session string) error {
	r, err := ask(ctx, c, portList, portWords{Session: session})
	if err != nil {
		return err
	}
	if c.json {
		if r.Ports == nil {
			r.Ports = []ports.Port{}
		}
		return c.print(struct {
			Ports []ports.Port `json:"ports"`
		}{r.Ports})
	}
	if len(r.Ports) == 0 {
		fmt.Fprintln(c.Out, "No program of a session listens on a port.")
		return nil
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, p := range r.Ports {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\n", oneLine(p.Session), p.Port, p.Program, p.Opened)
	}
	return t.Flush()
}

// portCandidates offers a verb, and the sessions and ports that a server knows.
func portCandidates(ctx context.Context, c *cli, done []string, begun string) []candidate {
	if len(done) == 0 {
		return verbs("list", "open", "close")(ctx, c, done, begun)
	}
	var r portReply
	if there, err := c.askThere(ctx, portList.name, portWords{}, &r); !there || err != nil || len(done) > 2 {
		return nil
	}
	var out []candidate
	for _, p := range r.Ports {
		switch {
		case len(done) == 1:
			out = append(out, candidate{p.Session, ""})
		case p.Session == done[1]:
			out = append(out, candidate{strconv.Itoa(p.Port), p.Program})
		}
	}
	return out
}
