package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/verify"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// What is asked about the output that sessions hold.
var (
	outputList   = query[outputWords, outputReply]{name: "review output list", queue: app.QueueNever, answer: heldOutput}
	outputAccept = query[outputWords, outputReply]{name: "review output accept", queue: app.QueueNever, decides: true, answer: acceptOutput}
	outputDrop   = query[outputWords, outputReply]{name: "review output drop", queue: app.QueueNever, decides: true, answer: dropOutput}
	outputBuild  = query[outputWords, outputReply]{name: "review output build", queue: app.QueueAlways, decides: true, answer: buildOutput}
)

// outputWords choose the output of a session; "" is all.
type outputWords struct {
	Session string `json:"session,omitempty"`
	Build   string `json:"build,omitempty"` // the command line that builds it again
}

type outputReply struct {
	Entries  []workspace.Held `json:"entries"`
	Accepted int              `json:"accepted,omitempty"`
	Left     []string         `json:"left,omitempty"`
	Built    *verify.Built    `json:"built,omitempty"`
}

func heldOutput(_ context.Context, w *app.Workspace, a outputWords) (r outputReply, err error) {
	r.Entries, err = w.Confiner.HeldOutput(a.Session)
	return r, err
}

func acceptOutput(ctx context.Context, w *app.Workspace, a outputWords) (outputReply, error) {
	files, left, err := w.Confiner.AcceptOutput(a.Session)
	if err != nil {
		return outputReply{}, err
	}
	r, err := heldOutput(ctx, w, outputWords{})
	r.Accepted, r.Left = files, left
	return r, err
}

func dropOutput(ctx context.Context, w *app.Workspace, a outputWords) (outputReply, error) {
	if err := w.Confiner.DropOutput(a.Session); err != nil {
		return outputReply{}, err
	}
	return heldOutput(ctx, w, outputWords{})
}

// buildOutput builds it again, and takes that in its place.
func buildOutput(ctx context.Context, w *app.Workspace, a outputWords) (outputReply, error) {
	b := verify.Builder{Files: w.Live, Sessions: w.Client.Sessions, Dispatch: w.Dispatch, Output: w.Confiner}
	built, err := b.Build(ctx, verify.BuildRequest{Session: a.Session, Command: a.Build})
	if err != nil {
		return outputReply{}, err
	}
	r, err := heldOutput(ctx, w, outputWords{})
	r.Accepted, r.Left, r.Built = built.Files, built.Left, &built
	return r, err
}

// reviewOutput is `review output [list|accept|drop] [SESSION]`, and with --build the same for
// what a command builds in its place.
func reviewOutput(ctx context.Context, c *cli, w reviewWords) error {
	verb, words := "list", w.Chosen
	if c.build != "" {
		verb = "build"
	} else if len(words) > 0 {
		verb, words = words[0], words[1:]
	}
	if len(words) > 1 {
		return usagef("one session is expected at most; without one, all output is meant")
	}
	a := outputWords{strings.Join(words, ""), c.build}
	if a.Session != "" {
		if err := knownOutput(ctx, c, a); err != nil {
			return err
		}
	}
	var r outputReply
	var err error
	switch verb {
	case "list":
		r, err = ask(ctx, c, outputList, a)
	case "accept":
		r, err = ask(ctx, c, outputAccept, a)
	case "drop":
		if err := mayDrop(ctx, c, a); err != nil {
			return err
		}
		r, err = ask(ctx, c, outputDrop, a)
	case "build":
		r, err = ask(ctx, c, outputBuild, a)
	default:
		return usagef("review output has no verb %q; it has list, accept and drop", verb)
	}
	if err != nil {
		return err
	}
	if c.json {
		return c.print(r)
	}
	if b := r.Built; b != nil {
		fmt.Fprintln(c.Out, strings.TrimSuffix(b.Output, "\n"))
		if !b.OK {
			fmt.Fprintln(c.Err, "sidecar-ls: the build failed; nothing was taken, and the output is held as before")
			return errReported
		}
	}
	switch verb {
	case "accept", "build":
		fmt.Fprintf(c.Out, "Moved to the workspace: %s.\n", tools.Count(r.Accepted, "file"))
		for _, why := range r.Left {
			fmt.Fprintln(c.Out, why)
		}
		if len(r.Left) > 0 {
			return errReported
		}
		return nil
	case "drop":
		fmt.Fprintln(c.Out, "Dropped.")
		return nil
	}
	return showOutput(c, r.Entries)
}

// mayDrop asks before the output of every session goes: it can't be had back.
func mayDrop(ctx context.Context, c *cli, a outputWords) error {
	if a.Session != "" || c.all {
		return nil
	}
	r, err := ask(ctx, c, outputList, a)
	if err != nil || len(r.Entries) == 0 {
		return err
	}
	files := 0
	for _, e := range r.Entries {
		files += e.Files
	}
	what := tools.Count(files, "file") + " of " + tools.Count(len(r.Entries), "session")
	yes, err := c.agreed(ctx, "Drop all output, "+what+"? It can't be undone.")
	switch {
	case errors.Is(err, errNoTerminal):
		return usagef("review output drop without a session is about all output, %s: name one, or say --all", what)
	case err != nil:
		return err
	case !yes:
		fmt.Fprintln(c.Err, "sidecar-ls: nothing was dropped")
		return errReported
	}
	return nil
}

// knownOutput fails for a session that holds nothing.
func knownOutput(ctx context.Context, c *cli, a outputWords) error {
	r, err := ask(ctx, c, outputList, outputWords{})
	if err != nil {
		return err
	}
	for _, e := range r.Entries {
		if e.Session == a.Session {
			return nil
		}
	}
	return usagef("no session %q holds output; `sidecar-ls review output` lists them", a.Session)
}

func showOutput(c *cli, entries []workspace.Held) error {
	if len(entries) == 0 {
		fmt.Fprintln(c.Out, "No output is held.")
		return nil
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", oneLine(e.Session), tools.Count(e.Files, "file"), size(e.Bytes), e.At.Local().Format(time.DateTime), shorten(e.Names))
		for _, list := range []struct {
			of    string
			names []string
		}{{"programs", e.Programs}, {"obeyed by programs, secret, or leading out", e.Protected}, {"deleted", e.Deleted}} {
			if len(list.names) > 0 {
				fmt.Fprintf(t, "  %s: %s\n", list.of, shorten(list.names))
			}
		}
	}
	return t.Flush()
}

// oneLine is a name that a command chose, with each of its characters in sight.
func oneLine(name string) string {
	return strings.ReplaceAll(redact.Visible(name), "\n", `\n`)
}

// shorten are at most ten names of a list.
func shorten(names []string) string {
	names = slices.Clone(names)
	for i, name := range names {
		names[i] = oneLine(name)
	}
	const shown = 10
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// outputCandidates offers a verb, and the sessions that hold output where a server knows them.
func outputCandidates(ctx context.Context, c *cli, done []string, begun string) []candidate {
	if len(done) == 0 {
		return verbs("list", "accept", "drop")(ctx, c, done, begun)
	}
	var r outputReply
	if there, err := c.askThere(ctx, outputList.name, outputWords{}, &r); !there || err != nil || len(done) > 1 {
		return nil
	}
	var out []candidate
	for _, e := range r.Entries {
		out = append(out, candidate{e.Session, tools.Count(e.Files, "file") + ", " + size(e.Bytes)})
	}
	return out
}
