package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

// A question begins with what would be done, whoever made its text.
func TestAsked(t *testing.T) {
	options := []conversation.Option{{ID: "allow_once", Label: "Allow", Kind: "allow_once"}, {ID: "reject_once", Label: "Deny", Kind: "reject_once"}}
	for name, test := range map[string]struct {
		q    conversation.Event
		want string
	}{
		"our own":       {conversation.Event{Text: "Run `rm -rf a`?\nwhy", Call: &conversation.Call{Title: "rm -rf a"}, Options: options}, "Run `rm -rf a`?\nwhy\n  1  Allow\n  2  Deny\n"},
		"reason alone":  {conversation.Event{Text: "why", Call: &conversation.Call{Title: "rm -rf a"}, Options: options}, "rm -rf a\nwhy\n  1  Allow\n  2  Deny\n"},
		"a file":        {conversation.Event{Text: "Write", Call: &conversation.Call{Title: "Write", Diff: []conversation.FileDiff{{Path: "a.go"}}}, Options: options}, "Write\n  a.go\n  1  Allow\n  2  Deny\n"},
		"not a call":    {conversation.Event{Text: "Which?", Options: options[:1]}, "Which?\n  1  Allow\n"},
		"irrecoverable": {conversation.Event{Text: "why", Call: &conversation.Call{Title: "rm"}, Options: options, Irrecoverable: true}, "rm\nwhy\n"},
	} {
		if got := asked(test.q); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Yes and no are answers to a permission; what can't be undone takes the whole word.
func TestAnswerTo(t *testing.T) {
	permission := []conversation.Option{
		{ID: "o1", Label: "Allow", Kind: "allow_once"}, {ID: "o2", Label: "Always", Kind: "allow_always"}, {ID: "o3", Label: "Deny", Kind: "reject_once"},
	}
	lost := []conversation.Option{{ID: "CONFIRM", Label: "Allow", Kind: "allow_once"}, {ID: "o3", Label: "Deny", Kind: "reject_once"}}
	words := []conversation.Option{{ID: "1", Label: "Yes"}, {ID: "2", Label: "Postgres"}}
	for _, test := range []struct {
		options []conversation.Option
		lost    bool
		answers string // TEXT=ID, TEXT= for none
	}{
		{permission, false, "1=o1 2=o2 3=o3 4= y=o1 Y=o1 yes=o1 n=o3 no=o3 No=o3 o2=o2 maybe= allow="},
		{lost, true, "1= 2=o3 y= Y= yes=CONFIRM YES=CONFIRM CONFIRM=CONFIRM n=o3 no=o3 allow= confirm="},
		{words, false, "1=1 2=2 yes=1 postgres=2 y= n= no="},
		{nil, false, "y=y any=any"},
	} {
		for _, pair := range strings.Fields(test.answers) {
			text, want, _ := strings.Cut(pair, "=")
			got, ok := answerTo(conversation.Event{Options: test.options, Irrecoverable: test.lost}, text)
			if ok != (want != "") || ok && got != want {
				t.Errorf("%v: %q is %q, %v", test.options, text, got, ok)
			}
		}
	}
}

// typing is a terminal at which nobody types.
type typing struct {
	io.Reader
	io.WriteCloser
	shown strings.Builder
}

func (t *typing) Write(b []byte) (int, error) { return t.shown.Write(b) }

// TestBrokenOff: Ctrl-C at a question says so in words, and is a cancellation for who
// asks. Control: an answer.
func TestBrokenOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	tty := &typing{Reader: r, WriteCloser: w}
	cancel()
	_, err := readFrom(ctx, tty, "Allow that? ")
	if !errors.Is(err, context.Canceled) || err.Error() != "there was no answer, so nothing was done" || tty.shown.String() != "Allow that? \n" {
		t.Errorf("%v, %q", err, tty.shown.String())
	}
	_, w = io.Pipe()
	if text, err := readFrom(t.Context(), &typing{Reader: strings.NewReader(" y \n"), WriteCloser: w}, ""); text != "y" || err != nil {
		t.Errorf("control: %q, %v", text, err)
	}
}
