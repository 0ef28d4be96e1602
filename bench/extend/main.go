// Extend measures what it costs to extend the server:
//
//	go run ./bench/extend -server bin/sidecar-ls [-n rounds]
//
// A hook that says nothing: read_file with one at PreToolUse and without, and its line in
// a shell of its own, in one run, interleaved. A plugin of the user's own: from its last write until its tool says
// something else. A hundred plugins with ten tools each: the list of plugins, the list of
// tools, and a start with them and without. Shown are medians in milliseconds.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

func main() {
	log.SetFlags(0)
	server := flag.String("server", "bin/sidecar-ls", "the server's program")
	rounds := flag.Int("n", 15, "rounds that count")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *server, *rounds)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

type object = map[string]any

// place is a machine of its own, as far as the server can tell.
type place struct{ dir, server string }

func newPlace(server string, settings object) (*place, error) {
	dir, err := os.MkdirTemp("", "sidecar-bench-")
	if err != nil {
		return nil, err
	}
	p := &place{dir, server}
	data, err := json.Marshal(settings)
	return p, errors.Join(err, p.write("config/sidecar/settings.json", string(data)), p.write("work/a.txt", "text\n"))
}

func (p *place) write(name, text string) error {
	at := filepath.Join(p.dir, name)
	mode := os.FileMode(0o600)
	if strings.HasPrefix(text, "#!") {
		mode = 0o700
	}
	return errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), mode))
}

// start starts a server, and returns how long that took.
func (p *place) start(ctx context.Context) (*fakeeditor.Editor, time.Duration, error) {
	cmd := exec.CommandContext(ctx, p.server, "serve", "--log-level", "error")
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+filepath.Join(p.dir, "config"), "XDG_DATA_HOME="+filepath.Join(p.dir, "data"))
	begun := time.Now()
	e, err := fakeeditor.StartProcess(cmd, fakeeditor.Options{Root: filepath.Join(p.dir, "work"), InitializationOptions: object{"sidecar": object{"mode": "autonomous"}}})
	if err != nil {
		return nil, 0, err
	}
	_, err = e.Initialize(ctx)
	return e, time.Since(begun), err
}

func (p *place) remove() { _ = os.RemoveAll(p.dir) }

// call calls a tool and returns what it says.
func call(ctx context.Context, e *fakeeditor.Editor, tool string, args object) (string, error) {
	var res struct {
		OK      bool   `json:"ok"`
		Content string `json:"content"`
	}
	err := e.ExecuteCommand(ctx, "sidecar.tools.call", object{"name": tool, "arguments": args}, &res)
	if err == nil && !res.OK {
		err = fmt.Errorf("%s: %s", tool, res.Content)
	}
	return res.Content, err
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}

func run(ctx context.Context, server string, rounds int) error {
	return errors.Join(hook(ctx, server, rounds), change(ctx, server, rounds), many(ctx, server, rounds))
}

// hook measures what a hook costs that says nothing.
func hook(ctx context.Context, server string, rounds int) error {
	silent := object{"PreToolUse": []object{{"hooks": []object{{"type": "command", "command": "cat > /dev/null"}}}}}
	var took [2][]time.Duration
	var bare []time.Duration
	var editors [2]*fakeeditor.Editor
	for k, settings := range []object{{}, {"hooks": silent}} {
		p, err := newPlace(server, settings)
		if err != nil {
			return err
		}
		defer p.remove()
		if editors[k], _, err = p.start(ctx); err != nil {
			return err
		}
	}
	for i := range rounds + 3 {
		for k, e := range editors {
			begun := time.Now()
			if _, err := call(ctx, e, "read_file", object{"path": "a.txt"}); err != nil {
				return err
			}
			if i >= 3 { // the first ones find out what the machine can do
				took[k] = append(took[k], time.Since(begun))
			}
			time.Sleep(150 * time.Millisecond) // an agent thinks between its calls
		}
		begun := time.Now()
		if err := exec.CommandContext(ctx, "sh", "-c", "cat > /dev/null").Run(); err != nil {
			return err
		}
		bare = append(bare, time.Since(begun))
	}
	plain, heard := median(took[0]), median(took[1])
	alone := median(bare)
	fmt.Printf("read_file %.2f ms, with a hook that says nothing %.2f ms: %.2f ms more, %.1f times the same line in a shell that nothing confines (%.2f ms)\n", plain, heard, heard-plain, (heard-plain)/alone, alone)
	return errors.Join(editors[0].Shutdown(ctx), editors[1].Shutdown(ctx))
}

const manifest = `{"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "p%d"}`

// change measures how long a change of a plugin takes until it is live.
func change(ctx context.Context, server string, rounds int) error {
	p, err := newPlace(server, object{})
	if err != nil {
		return err
	}
	defer p.remove()
	at := "data/sidecar/plugins/p0/"
	says := func(n int) error { return p.write(at+"says.sh", fmt.Sprintf("#!/bin/sh\necho version %d\n", n)) }
	err = errors.Join(p.write(at+"plugin.json", fmt.Sprintf(manifest, 0)), says(0),
		p.write(at+"io.sidecar-ls/tools.json", `{"tools": [{"name": "says", "description": "Says it.", "command": ["./says.sh"], "access": "read"}]}`))
	if err != nil {
		return err
	}
	e, _, err := p.start(ctx)
	if err != nil {
		return err
	}
	if err := e.ExecuteCommand(ctx, "sidecar.plugins.set", object{"id": "p0", "trusted": true, "mine": true}, &struct{}{}); err != nil {
		return err
	}
	var took []time.Duration
	for n := 1; n <= rounds; n++ {
		if err := says(n); err != nil {
			return err
		}
		begun := time.Now()
		for {
			asked := time.Now()
			text, err := call(ctx, e, "says", object{})
			if err != nil {
				return err
			}
			if strings.Contains(text, fmt.Sprintf("version %d\n", n)) {
				took = append(took, asked.Sub(begun))
				break
			}
		}
	}
	fmt.Printf("a changed plugin is live %.0f ms after the last write\n", median(took))
	return e.Shutdown(ctx)
}

// many measures a hundred plugins with a thousand tools.
func many(ctx context.Context, server string, rounds int) error {
	const plugins, toolsEach = 100, 10
	var places [2]*place
	for k := range places {
		p, err := newPlace(server, object{})
		if err != nil {
			return err
		}
		defer p.remove()
		places[k] = p
	}
	for n := range plugins {
		var list []object
		for k := range toolsEach {
			list = append(list, object{"name": fmt.Sprintf("p%d_t%d", n, k), "description": "Does it.", "command": []string{"true"}, "input": object{"type": "object", "properties": object{"a": object{"type": "string"}}}})
		}
		data, err := json.Marshal(object{"tools": list})
		at := fmt.Sprintf("data/sidecar/plugins/p%d/", n)
		if err := errors.Join(err, places[1].write(at+"plugin.json", fmt.Sprintf(manifest, n)), places[1].write(at+"io.sidecar-ls/tools.json", string(data))); err != nil {
			return err
		}
	}
	e, _, err := places[1].start(ctx)
	if err != nil {
		return err
	}
	for n := range plugins {
		if err := e.ExecuteCommand(ctx, "sidecar.plugins.set", object{"id": fmt.Sprintf("p%d", n), "trusted": true}, &struct{}{}); err != nil {
			return err
		}
	}
	var listed, toolsListed []time.Duration
	for range rounds {
		begun := time.Now()
		var got struct {
			Plugins []struct {
				State string `json:"state"`
			} `json:"plugins"`
		}
		if err := e.ExecuteCommand(ctx, "sidecar.plugins.list", object{}, &got); err != nil {
			return err
		}
		listed = append(listed, time.Since(begun))
		begun = time.Now()
		var all struct {
			Tools []json.RawMessage `json:"tools"`
		}
		if err := e.ExecuteCommand(ctx, "sidecar.tools.list", object{"source": "plugin"}, &all); err != nil {
			return err
		}
		toolsListed = append(toolsListed, time.Since(begun))
		if len(got.Plugins) != plugins || got.Plugins[0].State != "enabled" || len(all.Tools) != plugins*toolsEach {
			return fmt.Errorf("%d plugins and %d tools are listed: %+v", len(got.Plugins), len(all.Tools), got.Plugins[:1])
		}
	}
	if err := e.Shutdown(ctx); err != nil {
		return err
	}
	var starts [2][]time.Duration
	for range rounds {
		for k, p := range places {
			e, took, err := p.start(ctx)
			if err != nil {
				return err
			}
			starts[k] = append(starts[k], took)
			if err := e.Shutdown(ctx); err != nil {
				return err
			}
		}
	}
	with, without := median(starts[1]), median(starts[0])
	fmt.Printf("%d plugins with %d tools: they are listed in %.1f ms, their tools in %.1f ms; a start %.1f ms, without them %.1f ms: %.1f ms more\n",
		plugins, plugins*toolsEach, median(listed), median(toolsListed), with, without, with-without)
	return nil
}
