package conversation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/linelog"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// eventLog is the events of a run, in memory and in its journal, and what follows from
// them. The lock of the run guards it.
type eventLog struct {
	run  string // its id
	most int64  // bytes of the journal
	now  func() time.Time
	log  *slog.Logger

	journal *linelog.Log
	behind  bool      // the journal lacks events and must be rewritten
	retry   time.Time // of that
	events  []entry   // ordered by Seq
	bytes   int       // of events
	seq     int64
	heardAt time.Time     // of the latest event
	changed chan struct{} // closed at the next event
	tail    *tail
	parts   map[string]int // how often a message went on after its end

	about   Info               // as far as events say it
	asked   map[string]bool    // the questions that are open
	request Request            // the latest that the agent got
	made    map[string]Request // after which one, by the ids of pending changes
}

// entry is an event with its size in the journal.
type entry struct {
	Event
	size int
}

// tail is the message that is still growing.
type tail struct {
	kind, message, role, parent string

	name  string // the message in events: its id, or that with a number
	first int64  // seq of its first delta
	text  strings.Builder
}

func (s *Store) newEventLog(run string) *eventLog {
	return &eventLog{run: run, most: s.opts.MaxBytes, now: s.opts.Now, log: s.log, changed: make(chan struct{}), parts: map[string]int{}, asked: map[string]bool{}, made: map[string]Request{}}
}

// ended reads the log of a run that has ended.
func (s *Store) ended(run string) (*eventLog, error) {
	events, _, _, err := readJournal(s.path(run, true))
	if err != nil {
		return nil, fmt.Errorf("the journal of the run: %w", err)
	}
	l := s.newEventLog(run)
	for _, e := range events {
		l.replay(e)
	}
	return l, nil
}

// add appends an event. The next event of the conversation ends a message; a note about
// the conversation doesn't.
func (l *eventLog) add(e Event) error {
	switch {
	case e.Kind == Text || e.Kind == Thought:
		return l.addText(e)
	case e.Kind == Note && e.Reason == Withdrawn && l.tail != nil && l.tail.message == e.Message:
		l.parts[e.Message]-- // what comes in its place has its name
		l.dropTail()
	case endsMessage[e.Kind] || e.Kind == Note && (e.Reason == Resumed || e.Reason == ImageShown):
		if err := l.endMessage(); err != nil {
			return err
		}
	}
	if e.Kind == StepStart {
		clear(l.parts)
	}
	return l.append(e)
}

// endsMessage are the kinds of events that end the message before them.
var endsMessage = map[string]bool{CallProposed: true, CallStarted: true, CallOutput: true, CallFinished: true, Asked: true, StepStart: true, RunEnd: true}

func (l *eventLog) addText(e Event) error {
	t := l.tail
	if t != nil && (t.kind != e.Kind || t.message != e.Message || t.role != e.Role || t.parent != e.Parent || t.text.Len()+len(e.Delta) > maxText) {
		if err := l.endMessage(); err != nil {
			return err
		}
		t = nil
	}
	if e.Delta == "" {
		if e.Text == "" {
			return nil
		}
		if t != nil { // the whole takes the place of its parts
			l.dropTail()
			e.Message = t.name
		} else {
			e.Message = partName(l.parts, e.Message)
		}
		return l.append(e)
	}
	e.Text = ""
	if t == nil {
		t = &tail{kind: e.Kind, message: e.Message, role: e.Role, parent: e.Parent, name: partName(l.parts, e.Message), first: l.seq + 1}
	}
	e.Message = t.name
	if err := l.append(e); err != nil {
		return err
	}
	l.tail = t
	t.text.WriteString(l.events[len(l.events)-1].Delta)
	return nil
}

// partName gives a message that goes on after its end another id: the whole text of the
// first part is an event already.
func partName(parts map[string]int, message string) string {
	parts[message]++
	if n := parts[message]; n > 1 {
		return fmt.Sprintf("%s#%d", message, n)
	}
	return message
}

// endMessage ends the growing message: one event with its text replaces its parts.
func (l *eventLog) endMessage() error {
	t := l.tail
	if t == nil {
		return nil
	}
	l.dropTail()
	return l.append(Event{Kind: t.kind, Message: t.name, Role: t.role, Parent: t.parent, Text: t.text.String()})
}

func (l *eventLog) dropTail() {
	from := l.find(l.tail.first - 1)
	kept := l.events[:from]
	for _, e := range l.events[from:] {
		if e.isDelta() {
			l.bytes -= e.size
		} else {
			kept = append(kept, e)
		}
	}
	clear(l.events[len(kept):])
	l.events, l.tail = kept, nil
}

// find returns the index of the first event after seq.
func (l *eventLog) find(seq int64) int { return after(l.events, seq) }

func after(all []entry, seq int64) int {
	return sort.Search(len(all), func(i int) bool { return all[i].Seq > seq })
}

// append numbers an event, writes it and wakes its readers. If the journal can't be written,
// readers get the event at once, and the journal gets it with a later one.
func (l *eventLog) append(e Event) error {
	e = bounded(e)
	e.Run, e.Seq, e.Time = l.run, l.seq+1, l.now()
	line, err := encode(e)
	if err == nil && len(line) > maxSize {
		e = stripped(e, len(line))
		line, err = encode(e)
	}
	if err != nil {
		return err
	}
	l.seq++
	l.heardAt = e.Time
	l.take(e)
	l.events = append(l.events, entry{e, len(line)})
	l.bytes += len(line)
	if !l.behind {
		if err := l.journal.Append(line); err != nil {
			l.behind = true
			l.log.Error("the journal of a run can't be written", "run", l.run, "error", err)
		}
	}
	if l.behind && !e.Time.Before(l.retry) || l.journal.Size() > l.most {
		l.shrink()
	}
	l.wake()
	return nil
}

// retryTime is how long a journal that can't be written is left alone.
const retryTime = time.Second

// durable are the events that are brought to the disk soon, and not when the
// system likes: what people decided, and where a run stands.
var durable = map[string]bool{RunStart: true, Asked: true, Answered: true, QueueNow: true, StateNow: true, RunEnd: true, CallFinished: true}

// shrink rewrites the journal. Above its limit it cuts the oldest outputs, then the oldest
// events.
func (l *eventLog) shrink() {
	l.renew()
	limit := int(l.most / 2)
	for i := range l.events {
		if l.bytes <= limit {
			break
		}
		e := &l.events[i]
		if e.Kind == CallOutput && len(e.Text)+len(e.Delta)+len(e.Raw) > 0 {
			e.Cut += len(e.Text) + len(e.Delta) + len(e.Raw)
			e.Text, e.Delta, e.Raw = "", "", nil
			l.measure(e)
		}
	}
	if l.bytes > limit {
		l.dropOldest(limit)
	}
	var err error
	l.journal, err = rewrite(l.journal, l.events)
	if l.behind = err != nil; l.behind {
		l.retry = l.now().Add(retryTime)
		l.log.Error("the journal of a run can't be rewritten", "run", l.run, "error", err)
	}
}

// renew has the first event say what notes have said of the run: they may go.
func (l *eventLog) renew() {
	if len(l.events) > 0 && l.events[0].Kind == RunStart {
		first := &l.events[0]
		first.Title, first.Ref, first.Mode = l.about.Title, l.about.Ref, l.about.Mode
		l.measure(first)
	}
}

func (l *eventLog) measure(e *entry) {
	line, err := encode(e.Event)
	if err == nil {
		l.bytes += len(line) - e.size
		e.size = len(line)
	}
}

// dropOldest takes out the oldest events and puts a note in their place. The
// first one stays, which says what the run is, and what says where it stands.
func (l *eventLog) dropOldest(limit int) {
	latest := map[string]int{}
	for i, e := range l.events {
		latest[e.Kind] = i
	}
	var kept []entry
	note := entry{Event: Event{Run: l.run, Kind: Note, Reason: "cut", Text: "Older events were cut to bound the journal."}}
	for i, e := range l.events {
		stays := i == 0 || e.isDelta() || e.Kind == Asked && l.asked[e.Question] || standing[e.Kind] && latest[e.Kind] == i
		if l.bytes <= limit || stays || i == len(l.events)-1 {
			kept = append(kept, e)
			continue
		}
		l.bytes -= e.size
		note.Cut += e.size
		if e.Kind == Note && e.Reason == "cut" {
			note.Cut += e.Cut
		}
		note.Seq, note.Time = e.Seq, e.Time
	}
	if note.Seq == 0 {
		return
	}
	l.measure(&note)
	at := sort.Search(len(kept), func(i int) bool { return kept[i].Seq > note.Seq })
	l.events = slices.Insert(kept, at, note)
}

// standing are the events of which the latest says where a run stands.
var standing = map[string]bool{StepStart: true, RunEnd: true, StateNow: true, QueueNow: true, UsageNow: true, Plan: true}

// replay keeps an event of the journal, and of messages the whole in the place of the parts.
func (l *eventLog) replay(e Event) {
	l.seq = e.Seq
	l.take(e)
	line, _ := encode(e)
	if e.Kind != Text && e.Kind != Thought {
		l.events = append(l.events, entry{e, len(line)})
		l.bytes += len(line)
		return
	}
	if l.tail != nil && (e.Delta == "" || e.Message != l.tail.name) {
		l.dropTail()
	}
	if e.Delta != "" {
		if l.tail == nil {
			l.tail = &tail{kind: e.Kind, message: e.Message, role: e.Role, parent: e.Parent, name: e.Message, first: e.Seq}
		}
		l.tail.text.WriteString(e.Delta)
	}
	l.events = append(l.events, entry{e, len(line)})
	l.bytes += len(line)
}

// take follows what events say: of the run, of open questions, of requests and of what was
// made after them.
func (l *eventLog) take(e Event) {
	switch e.Kind {
	case RunStart:
		l.about.start(l.run, e)
	case Note:
		l.about.note(e)
	case Asked:
		l.asked[e.Question] = true
	case Answered:
		delete(l.asked, e.Question)
	}
	if e.Kind == Text && e.Role == "user" && e.Delta == "" || e.Kind == Steered {
		text := e.Text
		if len(text) > requestLength {
			text = strings.ToValidUTF8(text[:requestLength], "")
		}
		l.request = Request{e.Seq, l.request.Number + 1, text}
	}
	for _, h := range e.Hunks {
		l.made[h] = l.request
	}
}

// wake wakes those who wait for the next event.
func (l *eventLog) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// finish writes the journal of a run that has ended, small and under its name of ended
// runs, with the title as it is now.
func (l *eventLog) finish(from, to string) error {
	l.renew()
	var err error
	l.journal, err = rewrite(l.journal, l.events)
	_ = l.journal.Close()
	if err == nil {
		err = osfile.Rename(context.Background(), from, to)
	}
	if err != nil {
		return fmt.Errorf("the journal of the run: %w", err)
	}
	l.events, l.bytes = nil, 0
	return nil
}

// close brings the journal to the disk and ends it.
func (l *eventLog) close() error {
	var err error
	if l.behind {
		l.journal, err = rewrite(l.journal, l.events)
	}
	return errors.Join(err, l.journal.Sync(), l.journal.Close())
}
