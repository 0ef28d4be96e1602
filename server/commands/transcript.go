package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/documents"
	"github.com/sidecar-ls/sidecar-ls/server/review"
)

func showRun(ctx context.Context, d *Deps, a review.ShowRunArgs) (client.Shown, error) {
	r, err := runIn(d, a.Run)
	if err != nil {
		return client.Shown{}, err
	}
	path, line, err := writeTranscript(d.StateDir, r, a.At)
	if err != nil {
		return client.Shown{}, err
	}
	d.Transcripts.mu.Lock()
	d.Transcripts.shown[r.ID()] = true
	d.Transcripts.mu.Unlock()
	var at *lsp.Range
	if a.At > 0 {
		at = &lsp.Range{Start: documents.Position(line, 0), End: documents.Position(line, 0)}
	}
	return d.Client.ShowFile(ctx, path, at)
}

// settles are the events after which a document of a conversation is written anew.
var settles = map[string]bool{conversation.Text: true, conversation.Asked: true, conversation.Answered: true, conversation.CallFinished: true, conversation.Plan: true, conversation.RunEnd: true}

// followTranscript writes the document of a run anew, if it is shown.
func followTranscript(d *Deps, e conversation.Event) {
	d.Transcripts.mu.Lock()
	shown := d.Transcripts.shown[e.Run]
	d.Transcripts.mu.Unlock()
	if !shown || !settles[e.Kind] || e.Delta != "" {
		return
	}
	r, err := runIn(d, e.Run)
	if err == nil {
		_, _, err = writeTranscript(d.StateDir, r, 0)
	}
	if err != nil {
		d.Client.Log.Warn("a conversation's document is not up to date", "run", e.Run, "error", err)
	}
}

// writeTranscript writes the document, and finds the line of the event at.
func writeTranscript(dir string, r *conversation.Run, at int64) (path string, line int, err error) {
	events, _, err := r.History(0, 0, 0)
	if err != nil {
		return "", 0, err
	}
	text, line := transcript(events, at)
	path, err = putShown(dir, r.ID()+".md", text)
	return path, line, err
}

// transcript is a conversation as Markdown. line is where the event at is, from 0.
func transcript(events []conversation.Event, at int64) (text string, line int) {
	var b strings.Builder
	lines := 0
	speaker := ""
	put := func(format string, args ...any) {
		s := fmt.Sprintf(format, args...)
		lines += strings.Count(s, "\n")
		b.WriteString(s)
	}
	says := func(who, text string) {
		if who != speaker {
			put("## %s\n\n", who)
			speaker = who
		}
		put("%s\n\n", strings.TrimSpace(client.Visible(strings.ReplaceAll(text, "\t", "    "))))
	}
	agent := "Agent"
	for _, e := range events {
		if at > 0 && e.Seq <= at {
			line = lines
		}
		switch e.Kind {
		case conversation.RunStart:
			agent = e.Agent
			put("# %s\n\n", e.Title)
		case conversation.Text:
			who := agent
			if e.Role == "user" {
				who = "You"
			}
			says(who, e.Text+e.Delta)
		case conversation.Steered:
			says("You", e.Text)
		case conversation.CallFinished:
			says(agent, fmt.Sprintf("- `%s` (%s)", oneLine(e.Call.Title), e.Call.Outcome))
		case conversation.Plan:
			var steps []string
			for _, p := range e.Plan {
				mark := " "
				if p.Status == "completed" {
					mark = "x"
				}
				steps = append(steps, fmt.Sprintf("- [%s] %s", mark, oneLine(p.Text)))
			}
			says(agent, strings.Join(steps, "\n"))
		case conversation.Asked:
			says(agent, "**Question:** "+e.Text)
		case conversation.Answered:
			says("You", "Answer: "+e.Answer+e.Reason)
		case conversation.RunEnd:
			if e.Reason != conversation.Done {
				put("*%s*: %s\n\n", e.Reason, oneLine(e.Text))
			}
		}
	}
	return b.String(), line
}

// oneLine is text without line ends and without what would end a span of code.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "`", "'").Replace(text)
}
