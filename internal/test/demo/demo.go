package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/registry"
)

// demo is one run.
type demo struct {
	ctx    context.Context
	out    printer
	server string
	dir    string // all that is made is in here
	repo   string // the clone

	files, want map[string]string // the repository, and what changes of it

	cmd    *exec.Cmd
	log    bytes.Buffer // the server's standard error; read it when the server has ended
	editor *fakeeditor.Editor
	open   string // the URI of the open file

	model    *clients.Model
	packages *registry.Server
}

// goFile is the file that the user has open.
const goFile = "count/count.go"

// reason is what the user tells the agent.
const reason = "ten words are enough"

// show runs the steps.
func (d *demo) show() error {
	began := time.Now()
	d.files, d.want = sample()
	for i, step := range []struct {
		title string
		run   func() error
	}{
		{"A repository: git clone, and the server starts on it", d.begin},
		{"The agent asks which tools there are", d.list},
		{"The agent looks around", d.look},
		{"Mode review: the agent's edits wait for the user", d.edit},
		{"The user sees the diff", d.diff},
		{"The user has it tested before anything is accepted", d.verify},
		{"The user decides in the editor, hunk by hunk", d.decide},
		{"The server is killed (kill -9) and started again", d.crash},
		{"The user accepts the rest", d.accept},
		{"Another agent works in a shadow workspace", d.shadow},
		{"Our own agent plans, and has two others work for it", d.own},
		{"The result", d.result},
		{"In another project our agent installs a package", d.install},
	} {
		d.out.title(i+1, step.title)
		if err := step.run(); err != nil {
			return fmt.Errorf("step %d (%s): %w", i+1, step.title, err)
		}
	}
	fmt.Fprintf(d.out.w, "\n%s\n", d.out.paint(bold+";"+green, fmt.Sprintf("All as it should be, in %.1f s.", time.Since(began).Seconds())))
	return nil
}

func (d *demo) begin() error {
	if err := d.clone(); err != nil {
		return err
	}
	d.out.done("%d files cloned to %s", len(d.files), d.repo)
	if err := d.settings(); err != nil {
		return err
	}
	return d.start()
}

func (d *demo) list() error {
	var r struct {
		Tools []struct {
			Name   string `json:"name"`
			Access string `json:"access"`
		} `json:"tools"`
	}
	if err := d.execute("sidecar.tools.list", nil, &r); err != nil {
		return err
	}
	byAccess := map[string][]string{}
	for _, t := range r.Tools {
		byAccess[t.Access] = append(byAccess[t.Access], t.Name)
	}
	for _, access := range []string{"read", "edit", "exec"} {
		if names := byAccess[access]; len(names) > 0 {
			d.out.call(access, strings.Join(names, "  "))
		}
	}
	var definitions struct {
		Tools json.RawMessage `json:"tools"`
	}
	if err := d.execute("sidecar.tools.list", map[string]any{"format": "anthropic"}, &definitions); err != nil {
		return err
	}
	if len(byAccess["read"]) < 4 || len(byAccess["edit"]) < 4 {
		return fmt.Errorf("only %d tools that read and %d that edit", len(byAccess["read"]), len(byAccess["edit"]))
	}
	d.out.done("%d tools; the definitions that a model begins with take about %d tokens of its context", len(r.Tools), len(definitions.Tools)/4)
	return nil
}

func (d *demo) look() error {
	r, err := d.call("list_directory", ".", map[string]any{"path": "."})
	if err != nil {
		return err
	}
	d.out.quote(r.Content, 8)
	if !strings.Contains(r.Content, "main.go") || strings.Contains(r.Content, ".git/") {
		return fmt.Errorf("the listing is\n%s", r.Content)
	}
	if r, err = d.call("grep", `counts\[`, map[string]any{"pattern": `counts\[`}); err != nil {
		return err
	}
	d.out.quote(r.Content, 0)
	if !strings.Contains(r.Content, "counts[word]++") {
		return fmt.Errorf("grep found\n%s", r.Content)
	}
	if r, err = d.call("read_file", goFile, map[string]any{"path": goFile}); err != nil {
		return err
	}
	d.out.quote(r.Content, 3)
	if !strings.Contains(r.Content, "func Top(") {
		return fmt.Errorf("read_file returned\n%s", r.Content)
	}
	d.out.done("it has found where words are counted")
	return nil
}

// created is the file that the agent writes.
const created = "count/case_test.go"

// wish is one call with which the agent changes something.
type wish struct {
	tool, short string
	args        map[string]any
}

// wishes are all that the agent wants to change.
func (d *demo) wishes() []wish {
	type object = map[string]any
	return []wish{
		{"edit_file", goFile + ", 3 places", object{"path": goFile, "edits": []object{
			{"search": "const Most = 10", "replace": "const Most = 100"},
			{"search": "counts each word of a text.", "replace": "counts each word of a text, in lower case."},
			{"search": "counts[word]++", "replace": "counts[strings.ToLower(word)]++"},
		}}},
		{"edit_file", "README.md, 2 places", object{"path": "README.md", "edits": []object{
			{"search": "around a word does not count.", "replace": "around a word and the case of its letters do not count."},
			{"search": "`The` and `the` are two words.", "replace": "`The` and `the` are one word."},
		}}},
		{"write_file", created + ", a new test", object{"path": created, "content": d.want[created]}},
	}
}

func (d *demo) edit() error {
	if err := d.execute("sidecar.mode.set", map[string]any{"mode": "review"}, nil); err != nil {
		return err
	}
	for _, w := range d.wishes() {
		r, err := d.call(w.tool, w.short, w.args)
		if err != nil {
			return err
		}
		if len(r.Changes) != 1 || r.Changes[0].State != "pending" {
			return fmt.Errorf("%s should leave one pending change, but left %v", w.tool, r.Changes)
		}
	}
	q, err := d.pending()
	if err != nil {
		return err
	}
	if len(q.Edits) != 3 || q.hunks() != 6 {
		return fmt.Errorf("%d files with %d hunks are pending, want 3 with 6", len(q.Edits), q.hunks())
	}
	d.out.done("%d hunks in %d files are pending", q.hunks(), len(q.Edits))
	if err := d.same(d.files); err != nil {
		return err
	}
	if text, err := d.read(created); err != nil {
		return err
	} else if text != "" {
		return fmt.Errorf("%s is on disk already", created)
	}
	if status, err := d.git("status", "--porcelain"); err != nil {
		return err
	} else if status != "" {
		return fmt.Errorf("git status should be empty, but is %q", status)
	}
	d.out.done("the disk has not changed: git status is empty")
	r, err := d.call("grep", "ToLower", map[string]any{"pattern": "ToLower"})
	if err != nil {
		return err
	}
	d.out.quote(r.Content, 0)
	if !strings.Contains(r.Content, goFile) {
		return fmt.Errorf("grep does not see the pending text: %s", r.Content)
	}
	d.out.done("the agent's tools see the pending text")
	return nil
}

func (d *demo) diff() error {
	var r struct {
		Diff string `json:"diff"`
	}
	if err := d.execute("sidecar.review.diff", nil, &r); err != nil {
		return err
	}
	d.out.diff(r.Diff)
	patch := filepath.Join(d.dir, "pending.patch")
	if err := os.WriteFile(patch, []byte(r.Diff), 0o600); err != nil {
		return err
	}
	if _, err := d.git("apply", "--check", patch); err != nil {
		return err
	}
	d.out.done("git could apply it")
	return nil
}
