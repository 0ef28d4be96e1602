package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// runPrinter prints the events of a run.
type runPrinter struct {
	c     *cli
	ctx   context.Context
	say   func(agentAsk)
	typed bool // lines are read from standard input

	run     string
	message string // that is being printed
	printed bool   // something of it was
	whole   bool   // and ended a line
	reason  string // of the latest end
	why     string
	noted   string // the latest note that was printed

	outputs callOutputs

	files []string // that wait for review

	mu   sync.Mutex
	open *conversation.Event // that the next line answers
}

func (p *runPrinter) told(t agentTold) {
	if t.Run != nil {
		p.run = t.Run.Run
		if !p.c.json {
			fmt.Fprintf(p.c.Err, "run %s with %s, as session %s\n", t.Run.Run, t.Run.Agent, t.Run.Session)
		}
	}
	p.files = append(p.files, t.Files...)
	if t.Event == nil {
		return
	}
	if p.c.json {
		if line, err := encode(t.Event); err == nil {
			_, _ = p.c.Out.Write(line)
		}
	}
	p.event(t.Event)
}

func (p *runPrinter) event(e *conversation.Event) {
	quiet := p.c.json
	switch e.Kind {
	case conversation.Text:
		if e.Role == "user" || quiet {
			return
		}
		if e.Message != p.message {
			p.newline()
			p.message, p.printed = e.Message, false
		}
		switch {
		case e.Delta != "":
			fmt.Fprint(p.c.Out, e.Delta)
			p.printed, p.whole = true, strings.HasSuffix(e.Delta, "\n")
		case !p.printed:
			fmt.Fprintln(p.c.Out, strings.TrimRight(e.Text, "\n"))
			p.message = ""
		default:
			p.newline()
		}
	case conversation.CallOutput:
		p.outputs.add(e)
	case conversation.CallFinished:
		why := p.outputs[e.Call.ID]
		delete(p.outputs, e.Call.ID)
		if !quiet {
			p.newline()
			fmt.Fprintf(p.c.Err, "· %s (%s)\n", e.Call.Title, e.Call.Outcome)
			if e.Call.Outcome == "failed" {
				for _, line := range lastLines(why) {
					fmt.Fprintln(p.c.Err, "    "+line)
				}
			}
		}
	case conversation.Note:
		if e.Text != "" && !quiet && e.Reason != "cache" { // which a tool that the agent has found costs, too
			p.newline()
			text := e.Text
			if text == p.noted {
				text = "the same again"
			}
			p.noted = e.Text
			fmt.Fprintln(p.c.Err, "·", text)
		}
	case conversation.Asked:
		p.newline()
		p.ask(*e)
	case conversation.Answered:
		p.mu.Lock()
		p.open = nil
		p.mu.Unlock()
	case conversation.RunEnd:
		p.newline()
		p.reason, p.why = e.Reason, e.Text
	}
}

// maxReason bounds what is kept of an output, in bytes: a call that fails says why at its end.
const maxReason = 2 << 10

// callOutputs are the ends of the outputs of calls that have not ended, by the calls' ids.
type callOutputs map[string]string

// add takes an output. A text takes the place of the deltas before it.
func (o *callOutputs) add(e *conversation.Event) {
	if e.Call == nil || e.Text+e.Delta == "" {
		return
	}
	if *o == nil {
		*o = callOutputs{}
	}
	text := e.Text
	if e.Delta != "" {
		text = (*o)[e.Call.ID] + e.Delta
	}
	(*o)[e.Call.ID] = text[max(0, len(text)-maxReason):]
}

// lastLines are the last lines of an output that say something, for a terminal.
func lastLines(text string) []string {
	const most, width = 3, 200
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, redact.Visible(strings.ToValidUTF8(line[:min(len(line), width)], "")))
		}
	}
	return lines[max(0, len(lines)-most):]
}

// newline ends the message that is being printed.
func (p *runPrinter) newline() {
	if p.printed && !p.whole && !p.c.json {
		fmt.Fprintln(p.c.Out)
	}
	p.message, p.printed = "", false
}

// asked is a question as a person reads it: first the call that it is about, then why it
// is asked, and what can be answered.
func asked(q conversation.Event) string {
	text := q.Text
	if c := q.Call; c != nil && !strings.Contains(text, c.Title) {
		text = c.Title + "\n" + text
	}
	if c := q.Call; c != nil {
		for _, d := range c.Diff {
			if !strings.Contains(text, d.Path) {
				text += "\n  " + d.Path
			}
		}
	}
	if q.Irrecoverable {
		return text + "\n"
	}
	var labels []string
	for _, o := range q.Options {
		labels = append(labels, o.Label)
	}
	return listed(text, labels)
}

// prompt asks for the answer to a question.
func prompt(q conversation.Event) string {
	if q.Irrecoverable {
		return typeYes
	}
	return "Answer: "
}

// ask puts an agent's question to the person, if there is a terminal.
func (p *runPrinter) ask(q conversation.Event) {
	if p.typed {
		p.mu.Lock()
		p.open = &q
		p.mu.Unlock()
		if tty, err := openTerminal(); err == nil {
			ring(tty, asked(q))
			_ = tty.Close()
		}
		fmt.Fprint(p.c.Err, asked(q))
		if q.Irrecoverable {
			fmt.Fprintln(p.c.Err, typeYes)
		}
		return
	}
	tty, err := openTerminal()
	if err != nil {
		var ids []string
		for _, o := range q.Options {
			ids = append(ids, o.ID)
		}
		fmt.Fprintf(p.c.Err, "%sIt waits for: sidecar-ls agent answer %s %s %s\n", asked(q), p.run, q.Question, strings.Join(ids, "|"))
		return
	}
	ring(tty, asked(q))
	go func() {
		for {
			text, err := readFrom(p.ctx, tty, asked(q)+prompt(q))
			if err != nil {
				return
			}
			if answer, ok := answerTo(q, text); ok {
				p.say(agentAsk{Verb: "answer", Question: q.Question, Answer: answer})
				return
			}
			fmt.Fprintln(p.c.Err, howTo(q))
			if tty, err = openTerminal(); err != nil {
				return
			}
		}
	}()
}

// line is one that was typed: an answer, or a prompt.
func (p *runPrinter) line(text string) {
	p.mu.Lock()
	q := p.open
	p.mu.Unlock()
	if q == nil {
		p.say(agentAsk{Verb: "prompt", Prompt: text})
		return
	}
	answer, ok := answerTo(*q, text)
	if !ok {
		fmt.Fprintln(p.c.Err, howTo(*q))
		return
	}
	p.say(agentAsk{Verb: "answer", Question: q.Question, Answer: answer})
}

// howTo says how a question is answered.
func howTo(q conversation.Event) string {
	if q.Irrecoverable {
		return "type " + confirmed + " or no"
	}
	return "type the number of an answer"
}

// kindsOf are the kinds of options that a word stands for.
var kindsOf = map[string]string{"y": "allow_once", "yes": "allow_once", "n": "reject_once", "no": "reject_once"}

// answerTo is the answer that a text is to a question: the number, the id or the label of
// an option, yes or no to a permission, or any text where there are no options. What can't
// be undone takes the whole word yes.
func answerTo(q conversation.Event, text string) (string, bool) {
	if len(q.Options) == 0 {
		return text, text != ""
	}
	word := strings.ToLower(text)
	allows := func(o conversation.Option) bool { return strings.HasPrefix(o.Kind, "allow") }
	if i, ok := numbered(text, len(q.Options)); ok && (!q.Irrecoverable || !allows(q.Options[i])) {
		return q.Options[i].ID, true
	}
	if i := slices.IndexFunc(q.Options, func(o conversation.Option) bool { return o.ID == text }); i >= 0 {
		return text, true
	}
	if q.Irrecoverable && word == "y" {
		return "", false
	}
	if i := slices.IndexFunc(q.Options, func(o conversation.Option) bool { return o.Kind == "" && strings.ToLower(o.Label) == word }); i >= 0 {
		return q.Options[i].ID, true
	}
	kind := kindsOf[word]
	i := slices.IndexFunc(q.Options, func(o conversation.Option) bool { return kind != "" && o.Kind == kind })
	if i < 0 {
		return "", false
	}
	return q.Options[i].ID, true
}

// end says how the run has ended.
func (p *runPrinter) end() error {
	p.newline()
	if len(p.files) > 0 && !p.c.json {
		fmt.Fprintln(p.c.Err, firstNames(p.files)+": "+heldWords)
	}
	switch p.reason {
	case "", conversation.Done:
		return nil
	case conversation.Interrupted:
		if p.why == "" {
			p.why = "it was stopped; sidecar-ls agent resume " + p.run + " goes on"
		}
	}
	if p.why == "" {
		return fmt.Errorf("the agent stopped: %s", p.reason)
	}
	if p.why == p.noted {
		return fmt.Errorf("the agent stopped: %s, as above", p.reason)
	}
	return fmt.Errorf("the agent stopped: %s: %s", p.reason, p.why)
}
