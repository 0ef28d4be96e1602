package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/statedir"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

// openQuestion is one that waits for a person: of a run, or of another session, which the
// editor is asked.
type openQuestion struct {
	ID string `json:"id"` // RUN/QUESTION, or an approval's
	By string `json:"by"` // the agent, or the session

	Folder string `json:"folder,omitempty"` // of its server
	conversation.Event
}

// whatWaits lists the questions that are open, those of runs first.
func whatWaits(a *serve.Agents, m *agents.Manager) []openQuestion {
	list := []openQuestion{}
	for _, i := range m.Runs(false) {
		r, err := m.Get(i.Run)
		if err != nil {
			continue // it has ended just now
		}
		for _, q := range r.Open() {
			list = append(list, openQuestion{i.Run + "/" + q.Question, i.Agent, serve.FolderOf(a), q})
		}
	}
	if open := a.Approvals(); open != nil {
		for _, q := range open.List() {
			list = append(list, openQuestion{q.ID, q.Session, serve.FolderOf(a), asEvent(q.Ask)})
		}
	}
	return list
}

// asEvent is an approval as a question of a run.
func asEvent(q dispatch.Ask) conversation.Event {
	e := conversation.Event{Kind: conversation.Asked, Question: q.ID, Text: strings.TrimSuffix(q.Title+"\n"+q.Detail, "\n"), Irrecoverable: q.Irrecoverable}
	if !q.Expires.IsZero() {
		e.ExpiresAt = &q.Expires
	}
	yes := conversation.Option{ID: string(dispatch.Once), Label: "Allow", Kind: "allow_once"}
	if q.Irrecoverable {
		yes.ID = confirmed
	}
	e.Options = append(e.Options, yes)
	if q.Rememberable && !q.Irrecoverable {
		e.Options = append(e.Options, conversation.Option{ID: string(dispatch.ForSession), Label: "Allow for session", Kind: "allow_always"})
	}
	if q.Pattern != "" && !q.Irrecoverable {
		e.Options = append(e.Options, conversation.Option{ID: string(dispatch.Pattern), Label: "Allow `" + q.Pattern + "` for this session", Kind: "allow_always"})
	}
	e.Options = append(e.Options, conversation.Option{ID: "deny", Label: "Deny", Kind: "reject_once"})
	return e
}

// answerApproval answers what the editor is asked.
func answerApproval(a *serve.Agents, ask agentAsk) error {
	args := client.AnswerArgs{ID: ask.Question, Outcome: "allow", Reason: ask.Reason}
	switch ask.Answer {
	case "deny":
		args.Outcome = "deny"
	case confirmed:
		args.Typed = confirmed
	case "":
		return errors.New("there is no answer")
	default:
		args.Scope = dispatch.Scope(ask.Answer)
	}
	open := a.Approvals()
	if open == nil || ask.Question == "" { // "" would be the oldest one
		return fmt.Errorf("no question %q is open: it was answered or has expired", ask.Question)
	}
	return open.Answer(args)
}

// answerRunning answers a question of a run. The reason of a no is the agent's next prompt.
func answerRunning(r *conversation.Run, ask agentAsk) error {
	if err := r.Answer(ask.Question, ask.Answer, byTerminal); err != nil || ask.Reason == "" {
		return err
	}
	_, err := r.Prompt(conversation.Item{Text: ask.Reason}, conversation.Queue)
	return err
}

// answerRun lists the questions that wait, and answers one: at a terminal the person is asked.
func answerRun(ctx context.Context, c *cli) error {
	if len(c.args) != 3 {
		if err := c.takes("answer", "nothing, or a question and the answer", 0, 2); err != nil {
			return err
		}
	}
	list, err := allWaiting(ctx, c)
	if err != nil {
		return err
	}
	if len(c.args) == 3 { // the run and the question apart
		ask := agentAsk{Verb: "answer", Run: c.args[0], Question: c.args[1], Answer: c.args[2], Reason: c.reason}
		if i := slices.IndexFunc(list, func(w openQuestion) bool { return w.ID == ask.Run+"/"+ask.Question }); i >= 0 {
			return agentsOf(ctx, c, list[i].Folder, ask)
		}
		return agentsOf(ctx, c, "", ask)
	}
	if len(c.args) > 0 {
		i := slices.IndexFunc(list, func(w openQuestion) bool { return w.ID == c.args[0] })
		if i < 0 {
			return fmt.Errorf("no question %q is open: it was answered or has expired", c.args[0])
		}
		if len(c.args) == 2 {
			return answerTyped(ctx, c, list[i], c.args[1], c.reason)
		}
		list = list[i : i+1]
	}
	switch {
	case c.json:
		return c.print(list)
	case len(list) == 0:
		fmt.Fprintln(c.Out, "Nobody waits for an answer.")
		return nil
	}
	in, isFile := c.In.(*os.File)
	if !isFile || !term.IsTerminal(int(in.Fd())) || !canAsk() {
		for _, w := range list {
			fmt.Fprintf(c.Out, "%s, by %s\n%sAnswer it with: sidecar-ls agent answer %s %s\n\n", w.ID, asker(c, w), asked(w.Event), w.ID, cmp.Or(strings.Join(optionIDs(w.Event), "|"), "TEXT"))
		}
		return nil
	}
	for i, w := range list {
		if len(list) > 1 {
			fmt.Fprintf(c.Out, "%d of %d, ", i+1, len(list))
		}
		fmt.Fprintf(c.Out, "by %s:\n", asker(c, w))
		if err := answerAtTerminal(ctx, c, w); err != nil {
			return err
		}
	}
	return nil
}

// allWaiting are the questions that are open: those of this folder first, then, unless it was
// named, those of this user's other servers.
func allWaiting(ctx context.Context, c *cli) (list []openQuestion, err error) {
	list = []openQuestion{}
	add := func(t agentTold) { list = append(list, t.Waiting...) }
	here, err := c.folder()
	if err != nil && (len(c.roots) > 0 || !errors.Is(err, errNoProject)) {
		return nil, err
	}
	if err == nil {
		if _, err := os.Lstat(statedir.Dir(here.Dir).State()); err == nil || len(c.roots) > 0 { // else nobody has worked here
			if err := c.agents(ctx, agentAsk{Verb: "waiting"}, nil, add); err != nil {
				return nil, err
			}
		}
	}
	if len(c.roots) > 0 {
		return list, nil
	}
	known := len(list)
	attach.EachPerson(ctx, func(conn net.Conn, _ attach.Greeting) {
		defer func() { _ = conn.Close() }()
		ctx, cancel := context.WithTimeout(ctx, answersWithin)
		defer cancel()
		_ = c.agentsThere(ctx, conn, agentAsk{Verb: "waiting"}, nil, func(t agentTold) { // one that does not say has none to answer
			for _, w := range t.Waiting {
				if w.Folder != "" && !slices.ContainsFunc(list[:known], func(o openQuestion) bool { return o.ID == w.ID }) {
					list = append(list, w)
				}
			}
		})
	})
	return list, nil
}

// answersWithin bounds how long another server may take.
const answersWithin = 5 * time.Second

// agentsOf is agents for the server of a folder; "" is that of this one.
func agentsOf(ctx context.Context, c *cli, folder string, ask agentAsk) error {
	if folder == "" {
		return c.agents(ctx, ask, nil, func(agentTold) {})
	}
	conn, _, err := attach.DialPerson(ctx, folder)
	if errors.Is(err, attach.ErrNone) { // it is of this process
		return c.agents(ctx, ask, nil, func(agentTold) {})
	}
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return c.agentsThere(ctx, conn, ask, nil, func(agentTold) {})
}

// asker says who asks, and where that is elsewhere.
func asker(c *cli, w openQuestion) string {
	if here, err := c.folder(); w.Folder == "" || err == nil && sameDir(here.Dir, w.Folder) {
		return w.By
	}
	return w.By + " in " + w.Folder
}

func optionIDs(q conversation.Event) (ids []string) {
	for _, o := range q.Options {
		ids = append(ids, o.ID)
	}
	return ids
}

// answerAtTerminal asks the person; a line without anything leaves the question open.
func answerAtTerminal(ctx context.Context, c *cli, w openQuestion) error {
	for {
		text, err := typedAt(ctx, asked(w.Event)+prompt(w.Event))
		if err != nil || text == "" {
			return err
		}
		answer, ok := answerTo(w.Event, text)
		if !ok {
			fmt.Fprintln(c.Err, howTo(w.Event)+", or Enter to leave it open")
			continue
		}
		reason := ""
		if i := slices.IndexFunc(w.Options, func(o conversation.Option) bool { return o.ID == answer }); i >= 0 && strings.HasPrefix(w.Options[i].Kind, "reject") {
			if reason, err = typedAt(ctx, "Reason for the agent, or Enter for none: "); err != nil {
				return err
			}
		}
		return answerWaiting(ctx, c, w, answer, reason)
	}
}

// typedAt reads a line from the person's terminal.
func typedAt(ctx context.Context, prompt string) (string, error) {
	tty, err := openTerminal()
	if err != nil {
		return "", err
	}
	return readFrom(ctx, tty, redact.Visible(prompt))
}

// answerTyped answers with a word of the command line.
func answerTyped(ctx context.Context, c *cli, w openQuestion, text, reason string) error {
	answer, ok := answerTo(w.Event, text)
	if !ok {
		return usagef("%q is no answer to it; there are: %s", text, strings.Join(optionIDs(w.Event), ", "))
	}
	return answerWaiting(ctx, c, w, answer, reason)
}

func answerWaiting(ctx context.Context, c *cli, w openQuestion, answer, reason string) error {
	ask := agentAsk{Verb: "answer", Question: w.ID, Answer: answer, Reason: reason}
	if run, question, is := strings.Cut(w.ID, "/"); is {
		ask.Run, ask.Question = run, question
	}
	return agentsOf(ctx, c, w.Folder, ask)
}
