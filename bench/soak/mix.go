package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
)

// workers is how many calls are under way at a time.
const workers = 4

// calls makes the calls from one number to another. The next one begins when
// one of them has been answered.
func (c *client) calls(ctx context.Context, from, to int) error {
	var next atomic.Int64
	next.Store(int64(from))
	var all sync.WaitGroup
	errs := make(chan error, workers)
	for range workers {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= to || len(errs) > 0 {
					return
				}
				if err := c.one(ctx, i); err != nil {
					errs <- fmt.Errorf("call %d: %w", i, err)
					return
				}
			}
		})
	}
	all.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return ctx.Err()
	}
}

// one makes call number i. Of a thousand, most look, some change, some run,
// some fail, and some are given up.
func (c *client) one(ctx context.Context, i int) error {
	file := fmt.Sprintf("pkg%02d/file%03d.go", i%20, i%200)
	own := fmt.Sprintf("made/f%d.txt", i%50)
	tool := func(name string, args object) error {
		_, err := c.tool(ctx, "", name, args)
		return err
	}
	switch k := i * 7 % 1000; {
	case k < 350:
		return tool("read_file", object{"path": file})
	case k < 430:
		return tool("grep", object{"pattern": fmt.Sprintf("Func%03d", i%200)})
	case k < 510:
		return tool("list_directory", object{"path": fmt.Sprintf("pkg%02d", i%20)})
	case k < 560:
		return tool("search_files", object{"pattern": "**/file0*.go"})
	case k < 600:
		return tool("no_such_tool_"+fmt.Sprint(i), object{"x": i})
	case k < 640:
		return tool("read_file", object{"path": fmt.Sprintf("none/%d", i)})
	case k < 660:
		return tool("git_status", object{})
	case k < 670:
		return tool("git_diff", object{})
	case k < 680:
		return tool("git_log", object{"count": 3})
	case k < 700:
		return tool("find_references", object{"symbol": fmt.Sprintf("Func%03d", i%200)})
	case k < 720:
		return tool("project_knowledge_search", object{"query": fmt.Sprintf("what does Func%03d", i%200)})
	case k < 740:
		return tool("read_file", object{"path": file, "mode": "outline"})
	case k < 770:
		return c.session(ctx, i, own)
	case k < 790:
		return c.review(ctx, i, own)
	case k < 880:
		_, err := c.command(ctx, "sidecar.policy.explain", object{"name": "run_command", "arguments": object{"command": fmt.Sprintf("make %d && ls | grep %d", i, i)}})
		return err
	case k < 920:
		_, err := c.command(ctx, "sidecar.tools.list", object{})
		return err
	case k < 960:
		return c.givenUp(i)
	case k < 970:
		return tool("ask_user", object{"question": fmt.Sprint("is it ", i, "?")})
	case k < 975:
		return tool("run_command", object{"command": fmt.Sprintf("echo %d; echo x >&2; exit %d", i, i%3)})
	case k < 977:
		return tool("run_command", object{"command": "sleep 100 & (setsid sleep 100 &) ; kill -STOP $!; echo left"})
	case k < 978:
		return c.background(ctx, i)
	case k < 980 && i%10 == 0:
		_, err := c.command(ctx, "sidecar.audit.verify", object{})
		return err
	}
	_, err := c.command(ctx, "sidecar.tools.metrics", object{})
	return err
}

func (c *client) open(ctx context.Context, mode string) (string, error) {
	data, err := c.command(ctx, "sidecar.session.open", object{"mode": mode})
	if err != nil {
		return "", err
	}
	var s struct{ Session string }
	return s.Session, json.Unmarshal(data, &s)
}

// session writes, edits and deletes a file in a session of its own.
func (c *client) session(ctx context.Context, i int, name string) error {
	s, err := c.open(ctx, "autonomous")
	if err != nil {
		return err
	}
	for _, step := range []struct {
		tool string
		args object
	}{
		{"write_file", object{"path": name, "content": fmt.Sprintf("number %d\nsecond line\n", i)}},
		{"edit_file", object{"path": name, "search": "second", "replace": "2nd"}},
		{"delete_file", object{"path": name}},
	} {
		if _, err := c.tool(ctx, s, step.tool, step.args); err != nil {
			return err
		}
	}
	_, err = c.command(ctx, "sidecar.session.close", object{"session": s})
	return err
}

// review proposes a change and accepts, rejects or takes it back.
func (c *client) review(ctx context.Context, i int, name string) error {
	s, err := c.open(ctx, "review")
	if err != nil {
		return err
	}
	name = "reviewed-" + name[5:]
	if _, err := c.tool(ctx, s, "write_file", object{"path": name, "content": fmt.Sprintf("number %d\n", i)}); err != nil {
		return err
	}
	uris := object{"uris": []string{"file://" + c.dir + "/" + name}}
	what := []string{"accept", "reject"}[i%2]
	c.decide(ctx, "sidecar.review."+what, uris)
	if i%5 == 0 {
		c.decide(ctx, "sidecar.review.undo", object{})
		c.decide(ctx, "sidecar.review.reject", object{})
	}
	_, err = c.command(ctx, "sidecar.session.close", object{"session": s})
	return err
}

// decide is a decision that another one may have come before.
func (c *client) decide(ctx context.Context, command string, arg any) {
	if _, err := c.command(ctx, command, arg); err != nil {
		c.failed.Add(1)
	}
}

// givenUp begins a call and cancels it.
func (c *client) givenUp(i int) error {
	params := object{"command": "sidecar.tools.call", "arguments": []any{object{"name": "grep", "arguments": object{"pattern": fmt.Sprintf("x.*%d", i)}}}}
	id, answer, err := c.begin("workspace/executeCommand", params)
	if err != nil {
		return err
	}
	if err := c.send(object{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": object{"id": id}}); err != nil {
		return err
	}
	<-answer
	return nil
}

// background starts a command that goes on, reads it and ends it.
func (c *client) background(ctx context.Context, _ int) error {
	s, err := c.open(ctx, "autonomous")
	if err != nil {
		return err
	}
	data, err := c.tool(ctx, s, "run_command", object{"command": "while :; do echo x; sleep 1; done", "background": true})
	if err != nil {
		return err
	}
	var ran struct{ ID string }
	if json.Unmarshal([]byte(data), &ran) == nil && ran.ID != "" {
		for _, name := range []string{"command_output", "command_list", "command_kill"} {
			args := object{"id": ran.ID}
			if name == "command_list" {
				args = object{}
			}
			if _, err := c.tool(ctx, s, name, args); err != nil {
				return err
			}
		}
	}
	_, err = c.command(ctx, "sidecar.session.close", object{"session": s})
	return err
}
