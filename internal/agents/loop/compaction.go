package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// How full a window gets, in tokens or parts of it.
const (
	usualWindow = 128_000 // of a model of which nothing is known
	fullAt      = 0.8     // of the window: time to compact
	keepRecent  = 0.3     // of the window: results that are never pruned
	worthIt     = 0.15    // of the window: what pruning has to win
	keepPrompts = 20_000  // tokens of the user's prompts that are kept as they are
	keepTail    = 0.2     // of the window: the latest steps that a summary leaves as they are
)

// tokens is about how many a text has.
func tokens(bytes int) int64 { return int64(bytes+3) / 4 }

func sizeOf(blocks []model.Block) (bytes int) {
	for _, b := range blocks {
		bytes += len(b.Text) + len(b.Args) + len(b.Name) + 16
		if b.Kind == model.Image {
			bytes += 6000 // about 1,500 tokens, whatever its bytes
		}
		bytes += sizeOf(b.Images)
		if b.Raw != nil && b.Kind != model.Text && b.Kind != model.Call {
			bytes += len(b.Raw.Data)
		}
	}
	return bytes
}

// size is about how many tokens the next request has: what the provider counted of the
// latest one, and what came since.
func (t *transcript) size() int64 {
	for k := len(t.live) - 1; k >= 0; k-- {
		i := &t.live[k]
		if i.Kind == Compacted || i.Kind == Pruned {
			break
		}
		if i.Kind == Answered && i.Answer.Usage != (model.Usage{}) {
			u := i.Answer.Usage
			return u.Input + u.CacheRead + u.CacheWrite + u.Output + t.since(i.Answer.After)
		}
	}
	bytes := 0
	if t.frame != nil { // it comes with the first step
		bytes = len(t.frame.System) + len(t.frame.ToolText)
		for _, tool := range t.frame.Tools {
			bytes += len(tool.Description) + len(tool.Schema) + len(tool.Name)
		}
	}
	for _, m := range t.messages() {
		bytes += sizeOf(m.Blocks)
	}
	return tokens(bytes)
}

// since is about how many tokens came after an item, answers aside.
func (t *transcript) since(n int) (size int64) {
	for k := len(t.live) - 1; k >= 0 && t.live[k].N > n; k-- {
		switch i := &t.live[k]; i.Kind {
		case Prompted:
			size += tokens(sizeOf(blocksOf(i.Prompt)))
		case Resulted:
			size += tokens(len(i.Result.Text))
		}
	}
	return size
}

// part is a part of the model's window, in tokens.
func (b Backend) part(of float64) int64 {
	window := usualWindow
	if b.Window > 0 {
		window = b.Window
	}
	return int64(of * float64(window))
}

// compactIfFull shrinks the conversation when it fills most of the window.
func (a *Agent) compactIfFull(ctx context.Context, b Backend) error {
	full := b.part(fullAt)
	a.mu.Lock()
	size := a.transcript.size()
	a.mu.Unlock()
	if size < full || size < a.noSummaryAt+b.part(worthIt) {
		return nil
	}
	pruned, err := a.prune(b, b.part(worthIt))
	if err != nil {
		return err
	}
	if size-pruned < full {
		return nil
	}
	err = a.shorten(ctx, b, "", true)
	switch {
	case errors.Is(err, errNoSummary):
		a.noSummaryAt = size // which it is asked for again later
		a.emit(conversation.Event{Kind: conversation.Note, Reason: "compaction", Text: "The model wrote no summary, so the conversation stays as it is."})
		return nil
	case errors.As(err, new(*heldError)):
		return nil // the provider says whether it is too long
	}
	return other(err)
}

// other drops errChanged: another summary was made meanwhile, so there is room.
func other(err error) error {
	if errors.Is(err, errChanged) {
		return nil
	}
	return err
}

// shrink shortens the conversation after a model refused it as too long. Its window is smaller
// than what it was sent, whatever is known of it.
func (a *Agent) shrink(ctx context.Context, b Backend) error {
	if won, err := a.prune(b, b.part(worthIt)); err != nil || won > 0 {
		return err
	}
	a.mu.Lock()
	size := int(a.transcript.size())
	a.mu.Unlock()
	if b.Window == 0 || b.Window > size {
		b.Window = size
	}
	return other(a.shorten(ctx, b, "", true))
}

// errNothing says that there is nothing to make shorter.
var errNothing = errors.New("the conversation is longer than the model takes, and there is nothing left to take out of it: begin a new run")

// errChanged says that a summary is one of what does not hold any more.
var errChanged = errors.New("the conversation was rewound, or shortened, while a summary was written, which is thrown away: shorten it again")

// Compact puts a summary in the place of all but the latest steps. text
// "" has the model write it.
func (a *Agent) Compact(ctx context.Context, text string) error {
	b, err := a.host.Backend(a.profileNow())
	if err != nil {
		return err
	}
	return a.shorten(ctx, b, text, false)
}

// heldError says why the conversation is not made shorter.
type heldError struct{ error }

// shorten calls the host's Shortening, then compacts.
func (a *Agent) shorten(ctx context.Context, b Backend, text string, itself bool) error {
	if err := a.host.Shortening(ctx, itself); err != nil {
		return &heldError{err}
	}
	return a.compact(ctx, b, text)
}

func (a *Agent) compact(ctx context.Context, b Backend, summary string) (err error) {
	a.mu.Lock()
	through := a.transcript.cutAt(b)
	before := a.transcript.size()
	rewinds, old := len(a.transcript.void), a.transcript.summary
	a.mu.Unlock()
	if through == 0 {
		return errNothing
	}
	if summary == "" {
		if summary, err = a.summarize(ctx, b, through); err != nil {
			return err
		}
	}
	text := a.summaryText(through, summary)
	a.mu.Lock()
	if len(a.transcript.void) != rewinds || a.transcript.summary != old {
		err = errChanged
	} else {
		err = a.kept([]*Item{{Kind: Compacted, Summary: &Summary{Through: through, Text: text, Before: before}}})
	}
	at, after := a.transcript.last, a.transcript.size()
	a.mu.Unlock()
	if err != nil {
		return err
	}
	a.summaryIs(at, fmt.Sprintf("The conversation was shortened from about %d to %d tokens.", before, after), text)
	return nil
}

// cutAt is the last item that a summary stands for; 0: there is nothing. The latest steps
// stay as they are, if they are short.
func (t *transcript) cutAt(b Backend) int {
	begin := 0
	if t.summary != nil {
		begin = t.summary.N
	}
	room, through := b.part(keepTail), t.last
	for k := len(t.live) - 1; k >= 0 && t.live[k].N > begin; k-- {
		i := &t.live[k]
		switch i.Kind {
		case Prompted:
			room -= tokens(sizeOf(blocksOf(i.Prompt)))
		case Resulted:
			room -= tokens(len(i.Result.Text))
		case Answered:
			room -= tokens(sizeOf(i.Answer.Blocks))
		}
		if room < 0 {
			break
		}
		if i.Kind == Answered && t.anything(begin, i.N-1) {
			through = i.N - 1
		}
	}
	if !t.anything(begin, through) {
		return 0
	}
	return through
}

// anything reports whether there is an answer between two items: prompts alone are no
// shorter as a summary.
func (t *transcript) anything(after, through int) bool {
	for _, i := range t.live {
		if i.N > after && i.N <= through && i.Kind == Answered {
			return true
		}
	}
	return false
}

// errNoSummary says that a model wrote no summary.
var errNoSummary = errors.New("the model wrote no summary, so the conversation stays as it is; shorten it with another model, or begin a new run")

// summarize has the model write a summary. It is asked a second time when it has written
// nothing. When even that is too long for it, it reads
// the later part alone; what it then does not know, the user's prompts still say.
func (a *Agent) summarize(ctx context.Context, b Backend, through int) (string, error) {
	a.mu.Lock()
	before := *a.transcript
	a.mu.Unlock()
	before.forget()
	before.live = slices.DeleteFunc(slices.Clone(before.live), func(i Item) bool { return i.N > through })
	before.last = through
	all, asked := before.messages(), 0
	for {
		q := model.Request{System: before.frame.System, Tools: before.frame.Tools, ToolText: before.frame.ToolText, NoCalls: true, Messages: withLast(all), MaxTokens: expected(b)}
		hold := Usage{Tokens: before.size()}
		if err := a.pool.reserve(hold); err != nil {
			hold = Usage{} // it is made all the same: without it the run could not go on
		}
		got, err := b.Ask(ctx, q, nil)
		used := b.used(got.Usage.Plus(got.Lost))
		a.pool.settle(hold, used)
		if kept := a.keep(Item{Kind: Spent, Usage: &used}); kept != nil {
			return "", errors.Join(err, kept)
		}
		if err == nil {
			if text := textOf(got.Blocks); text != "" {
				return text, nil
			}
			if asked++; asked == 2 {
				return "", errNoSummary
			}
			continue
		}
		f := model.FailureOf(err)
		if f == nil || f.Cause != model.TooLong {
			return "", err
		}
		if len(all) < 3 {
			return "", nil // without a summary: the user's prompts and the facts stay
		}
		all = fromUser(all[len(all)/2:])
	}
}

// withLast adds the question for a summary.
func withLast(all []model.Message) []model.Message {
	m := messages(slices.Clone(all))
	if n := len(m); n > 0 {
		m[n-1].Blocks = slices.Clone(m[n-1].Blocks)
	}
	m.user(model.Block{Kind: model.Text, Text: note(compactPrompt)})
	return m
}

// fromUser leaves out what can't come first: an answer, and results of calls that are
// gone.
func fromUser(all []model.Message) []model.Message {
	for len(all) > 0 {
		first := all[0]
		if first.Role == model.User && !slices.ContainsFunc(first.Blocks, func(b model.Block) bool { return b.Kind == model.Result }) {
			return all
		}
		if first.Role == model.User {
			rest := slices.DeleteFunc(slices.Clone(first.Blocks), func(b model.Block) bool { return b.Kind == model.Result })
			if rest = append(rest, model.Block{Kind: model.Text, Text: note("What was before this is left out.")}); len(rest) > 0 {
				return append([]model.Message{{Role: model.User, Blocks: rest}}, all[1:]...)
			}
		}
		all = all[1:]
	}
	return all
}

func textOf(blocks []model.Block) string {
	var text []string
	for _, b := range blocks {
		if b.Kind == model.Text {
			text = append(text, b.Text)
		}
	}
	return strings.TrimSpace(strings.Join(text, "\n"))
}

// summaryText is the message that replaces the messages before: the user's prompts as they
// were, the facts that the server knows, and the summary.
func (a *Agent) summaryText(through int, summary string) string {
	files := a.host.Pending()
	a.mu.Lock()
	defer a.mu.Unlock()
	var b strings.Builder
	b.WriteString("<note>\nThe conversation was shortened. This stands for what was before.\n</note>\n\n# What the user said, word for word\n")
	for _, w := range a.transcript.promptsUntil(through) {
		fmt.Fprintf(&b, "\n<said>\n%s\n</said>\n", w)
	}
	if work := a.transcript.workText(); work != "" {
		fmt.Fprintf(&b, "\n# What is to do\n%s\n", work)
	}
	if names := a.transcript.skillsThrough(through); len(names) > 0 {
		fmt.Fprintf(&b, "\n# Skills that you worked by\n%s: get what you still need with skill and again: true\n", strings.Join(names, ", "))
	}
	if len(files) > 0 {
		fmt.Fprintf(&b, "\n# Files with changes that wait for review\n%s\n", strings.Join(files, "\n"))
	}
	if summary != "" {
		fmt.Fprintf(&b, "\n# Summary\n%s\n", summary)
	}
	b.WriteString("\n<note>\nGo on with the task from here.\n</note>")
	return b.String()
}

// promptsUntil are the user's prompts up to an item, with answers to questions and plans, in
// order: the newest as far as there is room. Those of an earlier summary stay.
func (t *transcript) promptsUntil(through int) (prompts []string) {
	room := int64(keepPrompts)
	var all []string
	for _, i := range t.live {
		switch {
		case i.N > through:
		case i.Kind == Prompted && i.Prompt.By == byPerson && i.Prompt.Text != "":
			all = append(all, i.Prompt.Text)
		case i.Kind == Resulted && !i.Result.Failed:
			if text := t.answered(i.Result); text != "" {
				all = append(all, text)
			}
		}
	}
	for k := len(all) - 1; k >= 0; k-- {
		size := tokens(len(all[k]))
		if size > room && len(prompts) > 0 {
			prompts = append(prompts, fmt.Sprintf("(%d earlier messages are left out)", k+1))
			break
		}
		if size > room {
			all[k] = strings.ToValidUTF8(all[k][:room*4], "") + " (cut)"
		}
		room -= size
		prompts = append(prompts, all[k])
	}
	slices.Reverse(prompts)
	return prompts
}

// answered is the user's answer to a call that asked them, with the question; ""
// if it did not.
func (t *transcript) answered(r *Result) string {
	c, _ := t.call(r.Call)
	var args map[string]any
	if name := askedWith(c.Name); name != "" && json.Unmarshal([]byte(c.Args), &args) == nil {
		return fmt.Sprintf("(you asked with %s: %v)\n%s", c.Name, args[name], r.Text)
	}
	return ""
}

// EditSummary replaces the text of a summary, which is Ref of its event;
// RestoreBefore takes it away, so that the model reads again what was before.
func (a *Agent) EditSummary(at int, text string) error {
	s, err := a.summaryAt(at)
	if err != nil {
		return err
	}
	a.mu.Lock()
	err = a.kept([]*Item{{Kind: Restored, To: at}, {Kind: Compacted, Summary: &Summary{Through: s.Through, Text: text, Before: s.Before}}})
	at = a.transcript.last
	a.mu.Unlock()
	if err == nil {
		a.summaryIs(at, "The summary was changed.", text)
	}
	return err
}

// summaryIs tells what the model goes on from.
func (a *Agent) summaryIs(at int, how, text string) {
	a.emit(conversation.Event{Kind: conversation.Compaction, Reason: "summary", Ref: fmt.Sprint(at), Text: how + " The model goes on from this:\n\n" + text})
}

// RestoreBefore undoes a summary.
func (a *Agent) RestoreBefore(at int) error {
	if _, err := a.summaryAt(at); err != nil {
		return err
	}
	if err := a.keep(Item{Kind: Restored, To: at}); err != nil {
		return err
	}
	a.emit(conversation.Event{Kind: conversation.Compaction, Reason: "restored", Text: "The summary was taken away: the model knows again what was said before it."})
	return nil
}

func (a *Agent) summaryAt(at int) (*Summary, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.transcript.summary; s != nil && s.N == at {
		return s.Summary, nil
	}
	return nil, fmt.Errorf("%d is not the latest summary of the conversation", at)
}

// Past is the whole text of a result that was pruned, by its cursor.
func (a *Agent) Past(cursor string) (text string, ok bool) {
	key, ok := strings.CutPrefix(cursor, pastPrefix)
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.transcript.results[key]
	if !ok || r == nil {
		return "", false
	}
	return r.Text, true
}
