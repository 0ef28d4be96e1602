package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/mcp/endpoint"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// errNoTerminal is why the person who runs a command can't be asked.
var errNoTerminal = errors.New("there is no terminal here")

// openTerminal opens the terminal of the person who runs the command, whatever
// its streams are.
func openTerminal() (io.ReadWriteCloser, error) {
	tty, err := ownTerminal()
	if err != nil {
		return nil, errNoTerminal
	}
	return tty, nil
}

// canAsk reports whether the command has a terminal.
func canAsk() bool {
	tty, err := openTerminal()
	return err == nil && tty.Close() == nil
}

// terminal asks the person who runs the command, if there is a terminal.
type terminal struct{}

// wayOut is what helps where nobody can be asked: nothing, for what asks in
// every mode.
func wayOut(a dispatch.Ask) string {
	if !a.Rememberable {
		return ""
	}
	return "; choose another --mode, or allow the tool in the setting toolPermissions"
}

func (terminal) Approve(ctx context.Context, a dispatch.Ask) (dispatch.Answer, error) {
	tty, err := openTerminal()
	if err != nil {
		return dispatch.Answer{}, fmt.Errorf("%w: %w%s", dispatch.ErrNobody, err, wayOut(a))
	}
	prompt := "Allow? [y/N] "
	if a.Irrecoverable {
		prompt = typeYes
	}
	text, err := readFrom(ctx, tty, fmt.Sprintf("%s\n%s\n%s", a.Title, a.Detail, prompt))
	if a.Irrecoverable {
		if text == "yes" {
			text = confirmed
		}
		return dispatch.Answer{Allow: text == confirmed, Typed: text, Scope: dispatch.Once}, err
	}
	yes := text == "y" || text == "Y" || text == "yes"
	return dispatch.Answer{Allow: yes, Typed: text, Scope: dispatch.Once}, err
}

// confirmed is what a person types to allow what can't be undone. In a terminal the whole word
// yes does, too.
const (
	confirmed = "CONFIRM"
	typeYes   = "It can't be undone. Type " + confirmed + " to allow it: "
)

// terminalPeople puts a tool's question to the person who runs the command.
type terminalPeople struct{ hide *redact.Redactor }

// Ask asks. An option is chosen by its number; a line without anything
// dismisses the question.
func (p terminalPeople) Ask(ctx context.Context, q editor.Question) (string, bool, error) {
	tty, err := openTerminal()
	if err != nil {
		return "", false, err
	}
	text, options := q.Shown(p.hide.Shown)
	field := "Answer"
	switch {
	case len(options) > 0 && q.AllowCustom:
		field = "Number, or your own words"
	case len(options) > 0:
		field = "Number"
	}
	answer, err := readFrom(ctx, tty, listed(text, options)+field+": ")
	if i, ok := numbered(answer, len(options)); ok {
		return q.Options[i], true, err
	}
	if len(options) > 0 && !q.AllowCustom {
		return "", false, err // no number is no answer
	}
	return answer, answer != "" && err == nil, err
}

// askHere puts a question that comes from the other end to the person at the
// terminal. Options are answered by their number.
func askHere(ctx context.Context, q endpoint.Question) (answer string, ok bool, err error) {
	tty, err := openTerminal()
	if err != nil {
		return "", false, err
	}
	prompt := listed(q.Text, q.Options)
	if q.Note != "" {
		prompt += q.Note + "\n"
	}
	text, err := readFrom(ctx, tty, prompt+q.Field+": ")
	if q.Options == nil || err != nil {
		return text, err == nil, err
	}
	i, ok := numbered(text, len(q.Options))
	if !ok {
		return "", false, nil
	}
	return q.Options[i], true, nil
}

// listed is a question with its options, numbered.
func listed(text string, options []string) string {
	var b strings.Builder
	b.WriteString(text + "\n")
	for i, o := range options {
		fmt.Fprintf(&b, "  %d  %s\n", i+1, o)
	}
	return b.String()
}

// numbered is the index of the option that a number stands for.
func numbered(text string, options int) (i int, ok bool) {
	n, err := strconv.Atoi(text)
	return n - 1, err == nil && 1 <= n && n <= options
}

// readFrom asks at a terminal, and closes it.
func readFrom(ctx context.Context, tty io.ReadWriteCloser, prompt string) (string, error) {
	line, err := readLine(ctx, tty, prompt)
	return strings.TrimSpace(line), err
}

// readLine is readFrom with the end of the line, if it had one.
func readLine(ctx context.Context, tty io.ReadWriteCloser, prompt string) (string, error) {
	fmt.Fprint(tty, prompt)
	line := make(chan string, 1)
	go func() {
		text, err := bufio.NewReader(tty).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			text = ""
		}
		line <- text
	}()
	defer tty.Close() // ends the read when nobody answers
	select {
	case text := <-line:
		return text, nil
	case <-ctx.Done():
		fmt.Fprintln(tty)
		return "", unansweredError{ctx.Err()}
	}
}

// unansweredError says that a question was broken off, as with Ctrl-C.
type unansweredError struct{ error }

func (unansweredError) Error() string { return "there was no answer, so nothing was done" }

func (e unansweredError) Unwrap() error { return e.error }
