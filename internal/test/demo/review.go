package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

// openFile opens the Go file in the editor and waits until its pending hunks
// are shown.
func (d *demo) openFile(hunks int) error {
	uri, err := d.editor.OpenFile(d.ctx, filepath.Join(d.repo, goFile))
	if err != nil {
		return err
	}
	d.open = uri
	if err := d.shown(hunks); err != nil {
		return err
	}
	for _, diagnostic := range d.editor.Record().Diagnostics[uri] {
		d.out.call(fmt.Sprintf("%s:%d", goFile, diagnostic.Range.Start.Line+1), diagnostic.Message)
	}
	d.out.done("the editor has the file open and shows its pending hunks as diagnostics: %d", hunks)
	return nil
}

// shown waits until the open file has that many diagnostics.
func (d *demo) shown(hunks int) error {
	return d.editor.Await(d.ctx, fmt.Sprintf("%d diagnostics", hunks), func(r *fakeeditor.Record) bool {
		return len(r.Diagnostics[d.open]) == hunks
	})
}

func (d *demo) decide() error {
	if err := d.openFile(3); err != nil {
		return err
	}
	q, err := d.pending()
	if err != nil {
		return err
	}
	good, err := q.find("strings.ToLower")
	if err != nil {
		return err
	}
	bad, err := q.find("Most = 100")
	if err != nil {
		return err
	}

	d.out.call("accept", "counts[strings.ToLower(word)]++")
	var r decided
	if err := d.execute("sidecar.review.accept", map[string]any{"hunks": []string{good.ID}, "revision": q.Revision}, &r); err != nil {
		return err
	}
	if len(r.Accepted) != 1 || len(r.Failed) != 0 {
		return fmt.Errorf("accept answered %+v", r)
	}
	want := strings.Replace(d.files[goFile], "counts[word]++", "counts[strings.ToLower(word)]++", 1)
	if text, _ := d.editor.Text(d.open); text != want {
		return fmt.Errorf("after the accept the buffer has\n%s", text)
	}
	if err := d.same(d.files); err != nil {
		return err
	}
	d.out.done("it is in the open buffer, as one edit that the editor can undo, and not saved")

	d.out.call("reject", fmt.Sprintf("const Most = 100, because %q", reason))
	if err := d.execute("sidecar.review.reject", map[string]any{"hunks": []string{bad.ID}, "reason": reason}, &r); err != nil {
		return err
	}
	if err := d.shown(1); err != nil {
		return err
	}
	told, err := d.call("read_file", "go.mod", map[string]any{"path": "go.mod"})
	if err != nil {
		return err
	}
	d.out.quote(told.Content, 0)
	if !strings.Contains(told.Content, reason) {
		return fmt.Errorf("the agent is not told %q, but only\n%s", reason, told.Content)
	}
	d.out.done("the agent is told in its next result, whatever it calls")
	return d.editor.Save(d.ctx, d.open)
}

func (d *demo) crash() error {
	before, err := d.pending()
	if err != nil {
		return err
	}
	d.kill()
	d.out.done("the server is gone, without a chance to put anything in order")
	if err := d.start(); err != nil {
		return err
	}
	after, err := d.pending()
	if err != nil {
		return err
	}
	if after.hunks() != 4 || before.hunks() != 4 {
		return fmt.Errorf("%d hunks were pending before and %d are after, want 4", before.hunks(), after.hunks())
	}
	for _, e := range after.Edits {
		for _, h := range e.Hunks {
			if _, err := before.find(h.Text); err != nil {
				return err
			}
			if h.State == "conflict" {
				return fmt.Errorf("%s line %d is in conflict", e.Path, h.OldStart)
			}
		}
	}
	d.out.done("what was not decided is still pending: %d hunks in %d files", after.hunks(), len(after.Edits))
	return nil
}

// acceptAll accepts what waits, which is in so many files.
func (d *demo) acceptAll(files int) error {
	var r decided
	if err := d.execute("sidecar.review.accept", nil, &r); err != nil {
		return err
	}
	if len(r.Accepted) != files || len(r.Failed) != 0 {
		return fmt.Errorf("accept answered %+v", r)
	}
	return nil
}

func (d *demo) accept() error {
	if err := d.openFile(1); err != nil {
		return err
	}
	if err := d.acceptAll(len(d.want)); err != nil {
		return err
	}
	d.out.done("%d files accepted: the open one in its buffer, the others on disk", len(d.want))
	if err := d.shown(0); err != nil {
		return err
	}
	q, err := d.pending()
	if err != nil {
		return err
	}
	if len(q.Edits) != 0 {
		return fmt.Errorf("%d edits are still pending", len(q.Edits))
	}
	d.out.done("nothing is pending")
	return d.editor.Save(d.ctx, d.open)
}

func (d *demo) result() error {
	if err := d.stop(); err != nil {
		return err
	}
	if _, err := d.git("add", "--intent-to-add", "."); err != nil {
		return err
	}
	stat, err := d.git("-c", "color.ui="+map[bool]string{true: "always", false: "never"}[d.out.colour], "diff", "--stat")
	if err != nil {
		return err
	}
	d.out.raw(stat)
	short, err := d.git("diff", "--shortstat")
	if err != nil {
		return err
	}
	if want := "4 files changed, 24 insertions(+), 4 deletions(-)"; strings.TrimSpace(short) != want {
		return fmt.Errorf("git should see %q, but sees %q", want, short)
	}
	want := maps.Clone(d.files)
	maps.Copy(want, d.want)
	if err := d.same(want); err != nil {
		return err
	}
	d.out.done("all %d files are byte for byte what was decided", len(want))
	if _, err := d.command(append(os.Environ(), "GOFLAGS=", "GOWORK=off"), "go", "test", "./..."); err != nil {
		return err
	}
	d.out.done("go test passes in the clone, with the agent's new test")
	return nil
}

// tested is a command that sees what waits, and the files that it finds changed.
const tested = "gofmt -l . && git status --short"

// verify runs a command over what waits. The clone has nothing of it.
func (d *demo) verify() error {
	d.out.call("sidecar.review.verify", tested)
	var r struct {
		OK     bool   `json:"ok"`
		Output string `json:"output"`
	}
	if err := d.execute("sidecar.review.verify", map[string]any{"command": tested}, &r); err != nil {
		if strings.Contains(err.Error(), "commands see the disk here") {
			d.out.done("this machine has no overlay, so nothing is tested before it is accepted")
			return nil
		}
		return err
	}
	d.out.quote(r.Output, 6)
	if !r.OK || !strings.Contains(r.Output, goFile) {
		return fmt.Errorf("the command did not see %s as it waits: %s", goFile, r.Output)
	}
	on, err := d.git("status", "--short")
	if err != nil {
		return err
	}
	if strings.Contains(on, goFile) {
		return fmt.Errorf("the clone has the change of %s: %s", goFile, on)
	}
	d.out.done("a command saw the files as they would be; on the disk nothing has changed")
	return nil
}
