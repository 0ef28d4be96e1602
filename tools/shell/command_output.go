package shell

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Bounds of a wait, in seconds.
const (
	maxWait     = 600
	patternWait = 30 // with a pattern and no wait_s
)

//go:embed command_output.md
var outputDoc string

type outputIn struct {
	ID     string `json:"id" jsonschema:"from run_command"`
	Cursor string `json:"cursor,omitempty" jsonschema:"from an earlier answer: only what came after it"`

	WaitS   int    `json:"wait_s,omitempty" jsonschema:"seconds to wait" minimum:"1" maximum:"600"`
	Pattern string `json:"pattern,omitempty" jsonschema:"RE2 expression of a line"`
}

// Check refuses a pattern that is none.
func (in outputIn) Check() error {
	_, err := compilePattern(in.Pattern)
	return err
}

// The ways in which a wait ends well; the others are those of a follower.
const (
	printed ending = "output"
	matched ending = "pattern"
)

// waited says how a wait ended, where the output does not.
var waited = map[ending]string{
	printed: "",
	matched: "a line matches",
	exited:  "it ended while this waited",
	timeout: "nothing came in the time of wait_s",
	flooded: "it prints faster than lines can be looked at, so some were not; narrow what it prints",
}

// Printed is the structured result of command_output.
type Printed struct {
	ID       string `json:"id" jsonschema:"of the command"`
	Running  bool   `json:"running" jsonschema:"it has not ended"`
	ExitCode *int   `json:"exitCode,omitempty" jsonschema:"once it has ended"`
	Cursor   string `json:"cursor" jsonschema:"reads on from here"`
	Ended    string `json:"ended,omitempty" jsonschema:"why the wait ended: output, pattern, exited, timeout or flooded"`
}

func newCommandOutput(s *sessions) *tools.Tool {
	return tools.NewReadEdit(tools.Def{
		Name: "command_output", Title: "Command output", Example: `{"id": "bg1"}`, Description: outputDoc,
		Category: category, Tags: []string{"background"}, Names: []string{"command_kill", "command_list", "command_watch"}, Untrusted: true, Timeout: (maxWait + 30) * time.Second,
		Output: Printed{}, Wrote: "run_command",
	}, func(ctx context.Context, c *tools.Call, in outputIn) (tools.Result, []workspace.Change, error) {
		sh := s.get(c)
		j, err := sh.job(in.ID)
		if err != nil {
			return tools.Result{}, nil, err
		}
		offset := int64(0)
		if in.Cursor != "" {
			if offset, err = strconv.ParseInt(in.Cursor, 36, 64); err != nil || offset < 0 || offset > j.out.bytes() {
				return tools.Result{}, nil, tools.Errorf(tools.ExpiredCursor, "cursor: %q is not one of %s; leave it out to read from the beginning", in.Cursor, j.id)
			}
		}
		end, err := sh.await(ctx, j, in, offset)
		if err != nil {
			return tools.Result{}, nil, err
		}
		running := j.running() // before the output, so that none is missed
		text, total := j.out.from(offset)
		p := Printed{ID: j.id, Running: running, ExitCode: j.code(), Cursor: strconv.FormatInt(total, 36), Ended: string(end)}
		if running {
			p.ExitCode = nil // it has ended since
		}
		if text == "" {
			text = "(nothing new)\n"
		}
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if !running {
			text += j.remarks()
		} else {
			text += sh.listening()
		}
		said, changes := j.changed(c)
		if why := waited[end]; why != "" {
			said += "[" + why + "]\n"
		}
		return tools.Result{Text: text + said + fmt.Sprintf("[%s: %s; cursor %s]", j.id, j.stateAs(running), p.Cursor), Structured: p}, changes, nil
	})
}

// await waits for what a call waits for, and says what came; "" without a wait.
func (sh *shell) await(ctx context.Context, j *job, in outputIn, offset int64) (ending, error) {
	if in.WaitS == 0 && in.Pattern == "" {
		return "", nil
	}
	if sh.d.Calls == nil && in.Pattern != "" {
		return "", tools.Errorf(tools.Unavailable, "pattern: lines can't be looked at here; leave it out")
	}
	seconds := in.WaitS
	if seconds == 0 {
		seconds = patternWait
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	end, err := sh.come(limited, j, in.Pattern, offset)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return end, err
}

// come waits until there is output after offset, or a line of it that matches.
func (sh *shell) come(ctx context.Context, j *job, pattern string, offset int64) (ending, error) {
	re, err := compilePattern(pattern)
	if err != nil {
		return "", err
	}
	if re == nil {
		return j.output(ctx, offset), nil
	}
	f, found := sh.follow(j, re, offset)
	defer f.close()
	for end := ending(""); ; found, end = f.next(ctx, watchGather) {
		if len(found) > 0 {
			return matched, nil
		}
		if end != "" {
			return end, nil
		}
	}
}

// output waits until there is output after offset.
func (j *job) output(ctx context.Context, offset int64) ending {
	t, before := j.out.tap(offset)
	defer j.out.untap(t)
	if before != "" {
		return printed
	}
	select {
	case <-t.more:
		select { // more of it may come at once
		case <-time.After(watchGather):
		case <-j.done:
		case <-ctx.Done():
		}
		return printed
	case <-j.done:
		if j.out.bytes() > offset {
			return printed
		}
		return exited
	case <-ctx.Done():
		return endOf(ctx)
	}
}
