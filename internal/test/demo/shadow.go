package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// line is what an agent adds to the README in its shadow workspace.
const line = "- A text without words gives an empty list.\n"

// shadow lets an agent work in a tree of its own.
func (d *demo) shadow() error {
	type object = map[string]any
	var s struct {
		Path string `json:"path"`
	}
	if err := d.execute("sidecar.shadow.create", object{"id": "agent", "includeUncommitted": true}, &s); err != nil {
		return err
	}
	if list, err := d.git("worktree", "list"); err != nil || !strings.Contains(list, s.Path) {
		return fmt.Errorf("git worktree list does not show the shadow: %w\n%s", err, list)
	}
	d.out.done("git worktree list shows it; what is not committed yet came along")
	if err := d.execute("sidecar.session.open", object{"id": "agent", "shadow": "agent", "mode": "autonomous"}, nil); err != nil {
		return err
	}
	before, err := d.read("README.md")
	if err != nil {
		return err
	}
	d.out.call("write_file", "README.md, in the shadow")
	var r toolResult
	if err := d.execute("sidecar.tools.call", object{"session": "agent", "name": "write_file", "arguments": object{"path": "README.md", "content": before + line}}, &r); err != nil {
		return err
	}
	if !r.OK || len(r.Changes) != 1 || r.Changes[0].State != "applied" {
		return fmt.Errorf("write_file answered %+v", r)
	}
	if text, err := os.ReadFile(filepath.Join(s.Path, "README.md")); err != nil || string(text) != before+line {
		return fmt.Errorf("the shadow's README.md is %q (%w)", text, err)
	}
	if text, err := d.read("README.md"); err != nil || text != before {
		return fmt.Errorf("the user's README.md changed: %q (%w)", text, err)
	}
	d.out.done("the agent's file has changed, the user's has not")
	var m struct {
		Merged    []string `json:"merged"`
		Conflicts []object `json:"conflicts"`
	}
	d.out.call("merge", "into the review queue")
	if err := d.execute("sidecar.shadow.merge", object{"id": "agent"}, &m); err != nil {
		return err
	}
	q, err := d.pending()
	if err != nil {
		return err
	}
	if len(m.Merged) != 1 || len(m.Conflicts) != 0 || len(q.Edits) != 1 || q.hunks() != 1 {
		return fmt.Errorf("merge answered %+v, and %d files are pending", m, len(q.Edits))
	}
	d.out.quote(q.Edits[0].Hunks[0].Text, 0)
	if err := d.acceptAll(1); err != nil {
		return err
	}
	d.want["README.md"] += line
	d.out.done("only its own line waited for review, and is accepted")
	if err := d.execute("sidecar.shadow.discard", object{"id": "agent"}, nil); err != nil {
		return err
	}
	if list, err := d.git("worktree", "list"); err != nil || strings.Count(list, "\n") != 1 {
		return fmt.Errorf("git worktree list after the discard: %w\n%s", err, list)
	}
	d.out.done("the shadow is discarded")
	return nil
}
