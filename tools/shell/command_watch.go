package shell

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed command_watch.md
var watchDoc string

// Bounds of a watch.
const (
	watchGather = 200 * time.Millisecond // lines that come together are one note
	maxGather   = 30 * time.Second       // as notes wait unread, more lines come together
	watchPrime  = 64 << 10               // bytes of the output before it that are looked at for secrets
	watchLines  = 30                     // of a note
	watchBytes  = 2 << 10                // likewise
	watchLine   = 400                    // bytes of a line
	floodLines  = 1000                   // that come together
	floodNotes  = 16                     // that wait unread, of all watches of a session
)

type watchIn struct {
	ID       string `json:"id" jsonschema:"from run_command"`
	Pattern  string `json:"pattern,omitempty" jsonschema:"RE2 expression for lines"`
	TimeoutS int    `json:"timeout_s,omitempty" jsonschema:"seconds" minimum:"1" maximum:"3600"`
}

// Check refuses a pattern that is none.
func (in watchIn) Check() error {
	_, err := compilePattern(in.Pattern)
	return err
}

// Watched is the structured result of command_watch.
type Watched struct {
	ID       string `json:"id" jsonschema:"of the command"`
	Watching bool   `json:"watching" jsonschema:"false: it has ended"`
	Replaced bool   `json:"replaced,omitempty" jsonschema:"an earlier watch of it has ended"`
	ExitCode *int   `json:"exitCode,omitempty" jsonschema:"once it has ended"`
	Cursor   string `json:"cursor" jsonschema:"for command_output: what came since"`
}

func newCommandWatch(s *sessions) *tools.Tool {
	return tools.NewRead(tools.Def{
		Name: "command_watch", Title: "Watch a command", Example: `{"id": "bg1", "pattern": "(?i)error|ready"}`, Description: watchDoc,
		Category: category, Tags: []string{"background", "monitor", "follow", "tail", "notify"}, Names: []string{"command_kill", "command_output"}, InOrder: true,
		Output: Watched{},
	}, func(_ context.Context, c *tools.Call, in watchIn) (tools.Result, error) {
		sh := s.get(c)
		j, err := sh.job(in.ID)
		if err != nil {
			return tools.Result{}, err
		}
		if sh.d.Calls == nil {
			return tools.Result{}, tools.Errorf(tools.Unavailable, "nobody takes notes here; use command_output with wait_s")
		}
		w := Watched{ID: j.id, Cursor: strconv.FormatInt(j.out.bytes(), 36)}
		if !j.running() {
			w.ExitCode = j.code()
			return tools.Result{Text: fmt.Sprintf("%s runs no more (%s). command_output shows all that it printed.", j.id, j.state()), Structured: w}, nil
		}
		w.Watching = true
		if w.Replaced, err = sh.watch(j, in); err != nil {
			return tools.Result{}, err
		}
		which := "Its lines"
		if in.Pattern != "" {
			which = "Its lines that match"
		}
		until := "and a note says when it ends"
		if in.TimeoutS > 0 {
			until = fmt.Sprintf("until it ends, at the latest for %d s", in.TimeoutS)
		}
		text := fmt.Sprintf("%s is watched. %s come as notes with your next steps, %s. Go on with other work.", j.id, which, until)
		if w.Replaced {
			text += " The earlier watch of it has ended."
		}
		return tools.Result{Text: text, Structured: w}, nil
	})
}

// watch is a command that is watched.
type watch struct {
	*follower
	sh      *shell
	pattern string
	stop    context.CancelFunc
	over    chan struct{} // closed at its end
}

// watch watches a command from now on. There is one watch of a command, so there are no more
// watches than commands.
func (sh *shell) watch(j *job, in watchIn) (replaced bool, err error) {
	re, err := compilePattern(in.Pattern)
	if err != nil {
		return false, err
	}
	ctx, stop := context.WithCancel(context.Background())
	if in.TimeoutS > 0 {
		ctx, stop = context.WithTimeout(context.Background(), time.Duration(in.TimeoutS)*time.Second)
	}
	w := &watch{sh: sh, pattern: in.Pattern, stop: stop, over: make(chan struct{})}
	w.follower, _ = sh.follow(j, re, j.out.primed(watchPrime)) // what came before is no news
	w.lines.Pause()
	sh.mu.Lock()
	old := j.watch
	j.watch = w
	sh.mu.Unlock()
	if old != nil {
		old.end()
	}
	go w.run(ctx)
	return old != nil, nil
}

// end ends a watch without a note.
func (w *watch) end() {
	w.stop()
	<-w.over
}

// run notes lines until the end of the watch.
func (w *watch) run(ctx context.Context) {
	defer func() {
		w.close()
		w.stop()
		w.sh.mu.Lock()
		if w.j.watch == w {
			w.j.watch = nil
		}
		w.sh.mu.Unlock()
		close(w.over)
	}()
	gather := watchGather
	for {
		found, end := w.next(ctx, gather)
		if end == given {
			return
		}
		if len(found) > floodLines && end == "" {
			end = flooded
		}
		if len(found) == 0 && end == "" {
			continue
		}
		unread := w.note(found, end)
		if end != "" {
			return
		}
		if unread >= floodNotes {
			w.note(nil, flooded)
			return
		}
		gather = min(watchGather<<min(max(unread-1, 0), 10), maxGather)
	}
}

// note tells the session's agent of lines, and of the end of the watch.
func (w *watch) note(found []string, end ending) (unread int) {
	n := Note{}
	var more int
	if n.Printed, more = noted(found); n.Printed != "" {
		n.Head = w.j.id + " printed:"
		if w.pattern != "" {
			n.Head = fmt.Sprintf("%s printed, for the pattern %s:", w.j.id, shortened(w.pattern, 100))
		}
	}
	var tail []string
	switch {
	case w.lost:
		tail = append(tail, "More came with them than was looked at; command_output shows what was kept.")
	case more > 0:
		tail = append(tail, fmt.Sprintf("%s more came with them; command_output shows all.", tools.Count(more, "line")))
	}
	switch end {
	case exited:
		tail = append(tail, fmt.Sprintf("%s %s. command_output shows all that it printed.", w.j.id, w.j.state()))
	case timeout:
		tail = append(tail, fmt.Sprintf("The watch of %s has ended by its timeout_s; the command runs on.", w.j.id))
	case flooded:
		tail = append(tail, fmt.Sprintf("The watch of %s has ended, because the command prints too much for notes; the command runs on. Watch it again with a pattern that matches less, or read command_output.", w.j.id))
	}
	n.Tail = strings.Join(tail, " ")
	if n.Head == "" {
		n.Head, n.Tail = n.Tail, ""
	}
	return w.sh.d.Calls.Note(w.sh.session, n)
}

// noted is what a note shows of lines, and how many it leaves out.
func noted(found []string) (text string, more int) {
	var b strings.Builder
	for i, line := range found {
		line = shortened(line, watchLine)
		if i == watchLines || b.Len()+len(line) >= watchBytes {
			return b.String(), len(found) - i
		}
		b.WriteString(line + "\n")
	}
	return b.String(), 0
}

// shortened is a text of at most so many bytes, and a mark where it was cut.
func shortened(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
