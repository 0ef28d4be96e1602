package pendingedits_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/crash"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// desk is an editor over a disk, as the language server sees it: the documents
// that are open are changed by one edit of the editor, and then the files that
// are not. The editor outlives the server; its documents are kept in a file.
type desk struct {
	workspace.Files
	disk *workspace.Disk
	path string
	fail func(point string) error
	gone atomic.Bool // the editor has not told of its documents yet
}

func newDesk(disk *workspace.Disk, path string, fail func(string) error, gone bool) *desk {
	d := &desk{disk: disk, path: path, fail: fail}
	d.gone.Store(gone)
	d.Files = workspace.NewOverlay(disk, d)
	return d
}

func (d *desk) open() map[string]string {
	data, err := os.ReadFile(d.path)
	docs := map[string]string{}
	if err == nil {
		err = json.Unmarshal(data, &docs)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		panic(err)
	}
	return docs
}

func (d *desk) Lookup(name string) (data []byte, deleted, ok bool) {
	if d.gone.Load() {
		return nil, false, false
	}
	text, ok := d.open()[name]
	return []byte(text), false, ok
}

func (d *desk) Names() []string {
	if d.gone.Load() {
		return nil
	}
	var names []string
	for name := range d.open() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// edit is workspace/applyEdit.
func (d *desk) edit(changes []workspace.Change, back bool) error {
	docs := d.open()
	for _, c := range changes {
		if back {
			docs[c.Path] = string(c.Before)
			continue
		}
		if docs[c.Path] != string(c.Before) {
			return workspace.ErrConflict
		}
		docs[c.Path] = string(c.After)
	}
	data, err := json.Marshal(docs)
	if err == nil {
		err = errors.Join(ownfile.WriteFile(d.path+".new", data, 0o600), ownfile.Rename(d.path+".new", d.path))
	}
	return err
}

func (d *desk) Apply(ctx context.Context, changes ...workspace.Change) error {
	var docs, files []workspace.Change
	for _, c := range changes {
		if _, _, open := d.Lookup(c.Path); open {
			docs = append(docs, c)
		} else {
			files = append(files, c)
		}
	}
	if len(docs) > 0 {
		if err := d.fail("before editor.apply"); err != nil {
			return err
		}
		if err := d.edit(docs, false); err != nil {
			return err
		}
		_ = d.fail("after editor.apply") // an answer that is lost is looked for in the documents
	}
	if len(files) == 0 {
		return nil
	}
	err := d.disk.Apply(ctx, files...)
	if err != nil && len(docs) > 0 {
		err = errors.Join(err, d.edit(docs, true))
	}
	return err
}

// trial is a workspace with a batch of n files, of which every third is open in
// the editor, and two commits.
type trial struct {
	n     int
	dir   string
	disk  *workspace.Disk
	desk  *desk
	store *pendingedits.Store
	repo  *repo
}

func trialName(i int) string { return fmt.Sprintf("d%d/f%02d", i%3, i) }
func isOpen(i int) bool      { return i%3 == 0 }

// proposal is what the batch makes of file i: the old and the new text; the
// target of a link after linkMark, what can be executed after execMark.
func proposal(i int) (before, after string) {
	before, after = fmt.Sprintf("old %d\nsecond\n", i), fmt.Sprintf("new %d\nsecond\n", i)
	switch {
	case isOpen(i):
	case i%5 == 1:
		before = absent
	case i%5 == 2:
		after = absent
	case runtime.GOOS == "windows": // which has no modes, and not everywhere links
	case i%15 == 4: // only its mode
		after = execMark + before
	case i%15 == 14:
		before, after = linkMark+"old", linkMark+"new"
	case i%15 == 10:
		after = linkMark + "new"
	}
	return before, after
}

const linkMark, execMark = "-> ", "x "

// asChange is the proposal for file i.
func asChange(i int) workspace.Change {
	before, after := proposal(i)
	c := workspace.Change{Path: trialName(i)}
	before, c.BeforeLink = strings.CutPrefix(before, linkMark)
	after, c.AfterLink = strings.CutPrefix(after, linkMark)
	after, exec := strings.CutPrefix(after, execMark)
	if exec {
		c.Mode = 0o755
	}
	c.Before, c.After = bytesOf(before), bytesOf(after)
	return c
}

// at is what file i is, as proposal says it.
func (w *trial) at(i int) string {
	n, err := w.disk.Node(trialName(i))
	switch {
	case err != nil:
		return err.Error()
	case n.Link != "":
		return linkMark + n.Link
	case n.Exec:
		return execMark + text(w.desk, trialName(i))
	}
	return text(w.desk, trialName(i))
}

// prepare makes the workspace and proposes the batch.
func prepare(dir string, n int) error {
	docs := map[string]string{}
	for i := range n {
		path := filepath.Join(dir, "root", trialName(i))
		before, _ := proposal(i)
		if err := ownfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if before == absent {
			continue
		}
		if target, ok := strings.CutPrefix(before, linkMark); ok {
			if err := ownfile.Symlink(target, path); err != nil {
				return err
			}
			continue
		}
		if err := ownfile.WriteFile(path, []byte(before), 0o644); err != nil {
			return err
		}
		if isOpen(i) {
			docs[trialName(i)] = before
		}
	}
	data, err := json.Marshal(docs)
	if err == nil {
		err = ownfile.WriteFile(filepath.Join(dir, "editor"), data, 0o600)
	}
	if err != nil {
		return err
	}
	w, err := openTrial(dir, n, func(string) error { return nil }, false)
	if err != nil {
		return err
	}
	defer w.close()
	var changes []workspace.Change
	for i := range n {
		changes = append(changes, asChange(i))
	}
	view := w.store.For(auditor)
	for _, part := range [][]workspace.Change{changes[:(n+1)/2], changes[(n+1)/2:]} {
		if len(part) == 0 {
			continue
		}
		if err := view.Apply(context.Background(), part...); err != nil {
			return err
		}
		if _, err := w.store.QueueCommit(context.Background(), auditor, fmt.Sprintf("commit of %d", len(part)), nil, false, nil); err != nil {
			return err
		}
	}
	_, err = w.store.QueueCommit(context.Background(), auditor, stagedMessage, nil, true, nil)
	return err
}

// stagedMessage is the message of the commit that takes what is staged.
const stagedMessage = "what is staged"

// openTrial opens what is in dir, as a server does that is started again.
func openTrial(dir string, n int, fail func(string) error, gone bool) (*trial, error) {
	w := &trial{n: n, dir: dir}
	var err error
	w.disk, err = workspace.OpenDisk([]workspace.Folder{{Name: "root", Dir: filepath.Join(dir, "root")}},
		workspace.DiskOptions{StateDir: filepath.Join(dir, "disk"), Fail: fail})
	if err != nil {
		return nil, err
	}
	if _, err := w.disk.Recover(context.Background()); err != nil {
		return nil, err
	}
	w.desk = newDesk(w.disk, filepath.Join(dir, "editor"), fail, gone)
	w.repo = &repo{path: filepath.Join(dir, "repo"), fail: fail}
	w.store, err = pendingedits.Open(filepath.Join(dir, "pending"), w.desk, pendingedits.Options{
		Fail: fail, Commits: w.repo, Now: func() time.Time { return time.Unix(1e9, 0) },
	})
	return w, err
}

// editorBack is the editor telling a restarted server of its documents.
func (w *trial) editorBack() {
	w.desk.gone.Store(false)
	for _, name := range w.desk.Names() {
		w.store.BaseChanged(name)
	}
}

func (w *trial) close() { w.store.Close(); w.disk.Close() }

// look counts the files that are as before, and as wanted; what is neither is
// lost.
func (w *trial) look() (old, now, lost int) {
	for i := range w.n {
		before, after := proposal(i)
		switch w.at(i) {
		case before:
			old++
		case after:
			now++
		default:
			lost++
		}
	}
	return old, now, lost
}

// problem says what is wrong with a trial after an accept that did or did not
// come to its end.
func (w *trial) problem() string {
	old, now, lost := w.look()
	pending := w.store.List("")
	switch {
	case lost > 0:
		return fmt.Sprintf("%d files are lost", lost)
	case old > 0 && now > 0:
		return fmt.Sprintf("%d files are old and %d new", old, now)
	case len(pending.Edits) != old:
		return fmt.Sprintf("%d files are old, and %d edits are pending", old, len(pending.Edits))
	case old > 0 && len(w.repo.commits()) > 0:
		return "there are commits of files that are old"
	}
	// All that was there can still be accepted, once.
	res, err := w.store.Accept(context.Background(), pendingedits.Selection{})
	if err != nil || len(res.Failed) > 0 || len(res.Accepted) != old {
		return fmt.Sprintf("the rest can't be accepted: %v, %v, %v", res.Accepted, res.Failed, err)
	}
	if _, now, _ := w.look(); now != w.n {
		return "not everything is new in the end"
	}
	for i := range w.n {
		// A file whose text was proposed is in one commit, in its last form.
		name := trialName(i)
		_, after := proposal(i)
		want := name + "=" + strings.TrimPrefix(after, execMark)
		if after == absent {
			want = name + " gone"
		}
		found := 0
		for _, c := range w.repo.commits() {
			if slices.Contains(c.Files, want) {
				found++
			}
		}
		if found != 1 {
			return fmt.Sprintf("%s is in %d commits: %v", name, found, w.repo.commits())
		}
	}
	if len(w.store.List("").Commits) > 0 {
		return "commits are left"
	}
	staged := slices.DeleteFunc(w.repo.commits(), func(c made) bool { return c.Message != stagedMessage })
	if len(staged) != 1 {
		return fmt.Sprintf("what was staged is in %d commits", len(staged))
	}
	return ""
}

// problemOf opens a workspace again and says what is wrong with it.
func problemOf(t *testing.T, dir string, n int, late bool) string {
	t.Helper()
	w, err := openTrial(dir, n, func(string) error { return nil }, late)
	if err != nil {
		return err.Error()
	}
	defer w.close()
	w.editorBack()
	return w.problem()
}

const batchCrash = "PENDINGEDITS_BATCH_CRASH" // "accept|recover|naive <files> <point> <late> <dir>"

// crashBatch is the process that is killed.
func crashBatch(spec string) error {
	var what, dir string
	var n, at int
	var late bool
	if _, err := fmt.Sscan(spec, &what, &n, &at, &late, &dir); err != nil {
		return err
	}
	var count atomic.Int64
	return act(what, n, late, dir, func(string) error {
		if count.Add(1) == int64(at) {
			crash.Now()
		}
		return nil
	})
}

// killBatch runs crashBatch and reports whether it came to its end.
func killBatch(t *testing.T, what string, n, at int, late bool, dir string) (finished bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d %v %s", batchCrash, what, n, at, late, dir))
	out, err := cmd.CombinedOutput()
	if err != nil && !crash.Was(cmd) {
		t.Errorf("%s %d files, point %d: %v\n%s", what, n, at, err, out)
		return true
	}
	return err == nil
}

// batchTemplate prepares a batch once; copies of it are cheap.
func batchTemplate(t *testing.T, n int) func() string {
	t.Helper()
	dir := memDir(t)
	if err := prepare(dir, n); err != nil {
		t.Fatal(err)
	}
	return func() string {
		to := memDir(t)
		if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		return to
	}
}

// TestBatchFails has every step of accepting a batch fail in turn, or, without
// -everything, every third one of a batch of 20 files: what is reported is what is there.
func TestBatchFails(t *testing.T) {
	broken := errors.New("no space left")
	for _, n := range []int{1, 5, 20} {
		fresh := batchTemplate(t, n)
		wrong, tried, stride := 0, 0, int64(1)
		if n == 20 && !*everything {
			stride = 3
		}
		for at := int64(1); ; at += stride {
			var count atomic.Int64
			var once sync.Once
			point := ""
			w, err := openTrial(fresh(), n, func(p string) (err error) {
				if count.Add(1) == at {
					once.Do(func() { point, err = p, broken })
				}
				return err
			}, false)
			if err != nil {
				t.Fatal(err)
			}
			res, err := w.store.Accept(t.Context(), pendingedits.Selection{})
			if point == "" {
				w.close()
				break
			}
			tried++
			old, now, lost := w.look()
			made := 0
			for _, c := range res.Commits {
				if c.Err == nil {
					made++
				}
			}
			if lost > 0 || old > 0 && now > 0 || len(res.Accepted) != now || err == nil && len(res.Failed) != old || made != len(w.repo.commits()) {
				wrong++
				t.Errorf("%d files, failed at %s: %d old, %d new, %d lost, %d commits; reported %d accepted, %d failed, %+v, %v",
					n, point, old, now, lost, len(w.repo.commits()), len(res.Accepted), len(res.Failed), res.Commits, err)
			}
			w.close()
		}
		t.Logf("%d files: %d failures, %d wrong reports", n, tried, wrong)
	}
}
