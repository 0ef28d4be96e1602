package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// maxShrinks is how often the conversation is made shorter for a request: results are
// pruned, and if that is not enough, a summary is made.
const maxShrinks = 2

// maxCut is how often in a row an answer may be cut off at its longest, before the agent
// stops.
const maxCut = 3

// turn asks the model and does what it says, until it is done.
func (a *Agent) turn(ctx context.Context) (End, error) {
	if err := a.resume(ctx); err != nil {
		return End{}, err
	}
	held := 0
	for cut := 0; ; {
		if a.isPaused() {
			return End{Reason: Paused}, nil
		}
		if err := a.frameNow(); err != nil {
			return End{}, err
		}
		answer, last, err := a.step(ctx)
		if err != nil {
			return a.failed(err)
		}
		calls := answer.Answer.calls()
		if last {
			return End{Reason: conversation.Budget, Text: "The budget is used up. Raise it to go on."}, a.notRun(answer, "Not run: the budget is used up.")
		}
		if len(calls) > 0 {
			cut = 0
			times, err := a.doCalls(ctx, answer, calls)
			if err != nil {
				return End{}, err
			}
			if err := a.notify(); err != nil {
				return End{}, err
			}
			if end, err := a.repeated(times); err != nil || end.Reason != "" {
				return end, err
			}
			continue
		}
		switch {
		case answer.Answer.Stop != model.Refused && a.hasNewPrompts():
		case answer.Answer.Stop == model.Refused:
			return End{Reason: conversation.Refused, Text: "The model, or a filter of its provider, refuses to answer."}, nil
		case answer.Answer.Stop == model.Length && cut == maxCut:
			return End{}, fmt.Errorf("the model's answer was cut off %d times in a row: raise maxTokens of the profile, or ask for smaller steps", maxCut+1)
		case answer.Answer.Stop == model.Length:
			cut++
			if err := a.nudge("Your answer was cut off at its greatest length. Go on where it ends, in smaller steps."); err != nil {
				return End{}, err
			}
		case answer.Answer.empty() && cut < maxCut:
			cut++
			if err := a.nudge("Your answer was empty. Go on with the task, or say that it is done."); err != nil {
				return End{}, err
			}
		case answer.Answer.empty():
			return End{}, errors.New("the model answers nothing: prompt it again, or switch to another model")
		default:
			more := ""
			if held < maxHeld {
				more = a.host.Stopping(ctx, answerText(answer), held > 0)
			}
			if more != "" {
				held++
				if err := a.nudge(more); err != nil {
					return End{}, err
				}
			} else if a.done() {
				return End{Reason: conversation.Done}, nil
			}
		}
	}
}

// maxHeld is how often the end of a turn may be held up.
const maxHeld = 3

// answerText are the text of an answer.
func answerText(answer *Item) string {
	var b strings.Builder
	for _, block := range answer.Answer.Blocks {
		if block.Kind == model.Text {
			b.WriteString(block.Text)
		}
	}
	return b.String()
}

func (a *Agent) isPaused() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.paused
}

// done ends the turn, unless there are new prompts: a steer is taken now, or refused.
func (a *Agent) done() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acceptsSteer = a.transcript.hasNewPrompts()
	return !a.acceptsSteer
}

func (a *Agent) hasNewPrompts() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.transcript.hasNewPrompts()
}

// hasNewPrompts reports whether there is a prompt that the latest answer does not know.
func (t *transcript) hasNewPrompts() bool {
	after := 0
	for k := len(t.live) - 1; k >= 0; k-- {
		switch i := &t.live[k]; {
		case i.Kind == Answered && after == 0:
			after = i.Answer.After
		case i.Kind == Prompted && i.N > after && len(blocksOf(i.Prompt)) > 0:
			return true
		}
		if after > 0 && t.live[k].N <= after {
			break
		}
	}
	return false
}

// failed is the end of a turn whose model does not answer.
func (a *Agent) failed(err error) (End, error) {
	if f := model.FailureOf(err); f != nil && (f.Cause == model.Limit || f.Cause == model.Busy) && f.After > 0 {
		again := a.o.Now().Add(f.After)
		return End{Reason: Waiting, Again: &again, Text: fmt.Sprintf("%v; it takes more after %s. Resume the run then.", err, again.Local().Format(time.TimeOnly))}, nil
	}
	var over *errBudget
	if errors.As(err, &over) {
		return End{Reason: conversation.Budget, Text: over.Error() + ". Raise it to go on."}, nil
	}
	return End{}, err
}

// repeated says what follows from calls that were made so often in a row.
func (a *Agent) repeated(times int) (End, error) {
	switch {
	case times >= giveUpAt:
		return End{Reason: conversation.Loop, Text: fmt.Sprintf("The same was done %d times in a row, with the same result. Say how to go on.", times)}, nil
	case times >= nudgeAt:
		return End{}, a.nudge("You have done the same several times in a row, with the same result. Do something else, or say what is in the way.")
	}
	return End{}, nil
}

// lastStepText have the model bring its work to an end.
const lastStepText = "The budget is used up: in this answer no tool can be called. Say what is done, and what is left to do."

// step asks the model once. last says that it could call no tool, because nothing of the
// budget is left afterwards.
func (a *Agent) step(ctx context.Context) (answer *Item, last bool, err error) {
	b, err := a.host.Backend(a.profileNow())
	if err != nil {
		return nil, false, err
	}
	a.clock()
	if near := a.pool.full(); near != "" {
		if err := a.nudge("Most of the budget is used (" + near + "). Bring what matters to an end."); err != nil {
			return nil, false, err
		}
		a.emit(conversation.Event{Kind: conversation.Note, Reason: "budget", Text: "Most of the budget is used: " + near})
	}
	if err := a.compactIfFull(ctx, b); err != nil {
		return nil, false, err
	}
	for tries := 0; ; tries++ {
		q, after, size := a.buildRequest(b)
		hold := a.expects(b, size)
		if over := a.pool.reserve(hold); over != nil {
			if a.pool.reserve(Usage{}) != nil && a.endedBy(conversation.Budget) {
				return nil, false, over // the last step was made already
			}
			if !last {
				if err := a.nudge(lastStepText); err != nil {
					return nil, false, err
				}
				q, after, _ = a.buildRequest(b)
			}
			hold, last, q.NoCalls = Usage{}, true, true
		}
		answer, err = a.callModel(ctx, b, q, after, hold)
		if f := model.FailureOf(err); f == nil || f.Cause != model.TooLong || tries == maxShrinks {
			return answer, last, err
		}
		if err := a.shrink(ctx, b); err != nil {
			return nil, false, err
		}
	}
}

// expects is what a request of so many tokens is expected to use: as much as the latest
// one costs, because much of it is cached now as then.
func (a *Agent) expects(b Backend, size int64) Usage {
	u := Usage{Tokens: size + int64(expected(b)), Steps: 1}
	a.mu.Lock()
	defer a.mu.Unlock()
	if u.Cost = a.transcript.lastCost(); u.Cost == 0 {
		u.Cost = b.used(model.Usage{Input: size, Output: int64(expected(b))}).Cost
	}
	return u
}

// lastCost is what the latest answer costs.
func (t *transcript) lastCost() float64 {
	for k := len(t.live) - 1; k >= 0; k-- {
		if i := &t.live[k]; i.Kind == Answered && i.Answer.Cost > 0 {
			return i.Answer.Cost
		}
	}
	return 0
}

// expected is how many tokens an answer is expected to have at most.
func expected(b Backend) int {
	const usual = 4096
	if b.Longest > 0 {
		return min(b.Longest, usual)
	}
	return usual
}

// endedBy reports whether the latest turn ended so.
func (a *Agent) endedBy(reason string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for k := len(a.transcript.live) - 1; k >= 0; k-- {
		if i := a.transcript.live[k]; i.Kind == Ended {
			return i.End.Reason == reason
		}
	}
	return false
}

// buildRequest is the request now, the last item in it, and about how many tokens it has.
func (a *Agent) buildRequest(b Backend) (q model.Request, after int, size int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q = a.transcript.request()
	q.Effort, q.MaxTokens = b.Effort, b.Longest
	return q, a.transcript.last, a.transcript.size()
}

// callModel asks the model, and keeps what it says.
func (a *Agent) callModel(ctx context.Context, b Backend, q model.Request, after int, hold Usage) (*Item, error) {
	reply := stream{a: a, message: fmt.Sprintf("answer-%d", after+1)}
	got, err := b.Ask(ctx, q, reply.piece)
	used, lost := b.used(got.Usage), b.used(got.Lost)
	i := Item{Kind: Answered, Answer: &Answer{After: after, Blocks: got.Blocks, Stop: got.Stop, Usage: got.Usage, Cost: used.Cost, Model: got.Model}}
	i.Answer.tidy()
	used.Calls, used.Steps = int64(len(i.Answer.calls())), 1
	cut := ctx.Err()
	if err == nil && cut == nil {
		lost.Steps = 0
	} else { // what it took is used, although there is no answer
		lost.add(used)
		lost.Steps, used = 1, Usage{}
	}
	both := used
	both.add(lost)
	a.callsLeft = a.pool.settle(hold, both)
	var items []Item
	if part := reply.part(); cut != nil && len(part) > 0 {
		lost.Steps = 0 // the part of an answer is one
		items = append(items, Item{Kind: Answered, Answer: &Answer{After: after, Blocks: part, Stop: interrupted}})
	}
	if lost != (Usage{}) {
		items = append(items, Item{Kind: Spent, Usage: &lost})
	}
	switch {
	case cut != nil:
		return nil, errors.Join(cut, err, a.keep(items...))
	case err != nil:
		if reply.any {
			reply.withdraw(model.FailureOf(err))
		}
		return nil, cmp.Or(a.keep(items...), err)
	}
	if err := a.keep(append(items, i)...); err != nil {
		return nil, err
	}
	a.mu.Lock()
	kept := a.transcript.live[len(a.transcript.live)-1]
	for k := len(a.transcript.live) - 1; k >= 0; k-- { // a steer may have come behind it
		if a.transcript.live[k].Kind == Answered {
			kept = a.transcript.live[k]
			break
		}
	}
	usage := a.usage(b, kept.Answer)
	a.mu.Unlock()
	reply.settle(kept.Answer.Blocks)
	a.emit(conversation.Event{Kind: conversation.UsageNow, Usage: usage})
	return &kept, nil
}

// usage is what views show. mu is held.
func (a *Agent) usage(b Backend, last *Answer) *conversation.Usage {
	u := last.Usage
	shown := &conversation.Usage{Used: u.Input + u.Output + u.CacheRead + u.CacheWrite, Size: int64(b.Window)}
	if b.Price != nil {
		shown.Cost, shown.Currency = a.transcript.used.Cost, "USD"
	}
	return shown
}

func (a *Agent) profileNow() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.profile
}

// stream tells of an answer while it comes.
type stream struct {
	a       *Agent
	message string
	text    strings.Builder
	any     bool
}

func (h *stream) id(kind model.Kind) string {
	if kind == model.Reasoning {
		return h.message + "-thought"
	}
	return h.message
}

func (h *stream) piece(p model.Piece) {
	if p.Again != nil {
		h.withdraw(p.Again)
		return
	}
	switch p.Kind {
	case model.Text:
		h.text.WriteString(p.Text)
		h.tell(conversation.Text, p)
	case model.Reasoning:
		h.tell(conversation.Thought, p)
	}
}

func (h *stream) tell(kind string, p model.Piece) {
	if p.Text == "" {
		return
	}
	h.any = true
	h.a.emit(conversation.Event{Kind: kind, Role: "assistant", Message: h.id(p.Kind), Delta: p.Text})
}

// withdraw says that what was shown does not hold.
func (h *stream) withdraw(f *model.Failure) {
	h.text.Reset()
	e := conversation.Event{Kind: conversation.Note, Reason: conversation.Withdrawn, Message: h.message}
	if f != nil {
		at := h.a.o.Now().Add(f.After)
		e.Text = f.Error()
		if f.Again {
			e.RetryAt = &at
		}
	}
	h.any = false
	h.a.emit(e)
}

// part is what is kept of an answer that was interrupted.
func (h *stream) part() []model.Block {
	if h.text.Len() == 0 {
		return nil
	}
	return []model.Block{{Kind: model.Text, Text: h.text.String()}}
}

// settle tells the text of an answer whole, if it is not what was shown of it: that of a
// model that writes its calls as text has them in it.
func (h *stream) settle(blocks []model.Block) {
	var text strings.Builder
	for _, b := range blocks {
		if b.Kind == model.Text {
			text.WriteString(b.Text)
		}
	}
	if text.Len() > 0 && text.String() != h.text.String() {
		h.a.emit(conversation.Event{Kind: conversation.Text, Role: "assistant", Message: h.message, Text: text.String()})
	}
}
