package app

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/attach"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/batchcommit"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/decisions"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/shadowsetup"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/ownstate"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/statedir"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// newHome opens what is in a directory, except for the review queue.
func newHome(dir statedir.Dir, o homeOptions) (h *Home, err error) {
	said, bad := ownstate.SetAside(dir, gitrepo.Options{Programs: o.settings.Programs()})
	h = &Home{Dir: dir, Err: bad, said: said, QueueErr: errors.New("the review queue is not open"), options: o}
	h.Shadows, err = shadow.New(shadow.Options{
		Dir: string(dir), StateDir: dir.State(), Prepare: dir.Prepare, Settings: shadowsetup.Settings{Settings: o.settings, Dir: string(dir)}, Programs: o.settings.Programs(), Log: o.log,
	})
	if err != nil {
		return nil, err
	}
	if h.Err != nil {
		h.QueueErr = h.Err
		return h, nil //nolint:nilerr // all but the queue and the log works
	}
	h.Audit = auditlog.New(dir.Logs(), auditlog.Options{
		Prepare: dir.Prepare,
		Failed: func(err error) {
			o.log.Error("calls are not written down", "error", err)
			o.user.Warn("What tools do is not written down: " + o.hide.Text(err.Error()) + ". Calls go on.")
		},
	})
	return h, nil
}

// queueWait is how long an edit waits for another process that has the queue:
// one that ends its calls before it leaves, or a command that decides on edits.
const queueWait = 10 * time.Second

// openQueue opens the review queue over the files as the user sees them.
func (h *Home) openQueue(tree *pendingedits.Tree, files workspace.View, commits *batchcommit.Committer, report func(text string)) {
	o := h.options
	h.Queue, h.QueueErr = pendingedits.Open(h.Dir.Queue(), files, pendingedits.Options{
		Observer: queueObserver{o.user, h.recorder(), report},
		Commits:  commits,
		Names:    tree.Names,
		Undo:     o.settings,
		Wait:     queueWait,
		Room:     func(ctx context.Context) { attach.MakeRoom(ctx, string(h.Dir)) },
		Prepare:  h.Dir.Prepare,
	})
	if h.QueueErr != nil {
		h.Queue = nil
	}
}

// recorder records what a person decides.
func (h *Home) recorder() decisions.Recorder {
	return decisions.Recorder{Log: h.Audit, Hide: h.options.hide, Enabled: func() bool { return h.options.settings.Dispatch().Audit }}
}

// queueObserver hears of the review queue for all that do something about it.
type queueObserver struct {
	queueUser
	decisions.Recorder
	report func(text string)
}

func (o queueObserver) Report(text string) { o.report(text) }

// LockedOut says why what is pending is not known here, if it isn't.
func (h *Home) LockedOut() error {
	if h.Queue == nil {
		return h.QueueErr
	}
	return h.Queue.Locked()
}

// Records is the audit log, or why there is none.
func (h *Home) Records() (*auditlog.Log, error) {
	if h.Audit == nil {
		return nil, h.Err
	}
	return h.Audit, nil
}

// rootOf is the directory that stands for the folder in a shadow.
func (h *Home) rootOf(id string) (string, error) {
	sh, err := h.Shadows.Get(context.Background(), id)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(sh.Root); err != nil {
		return "", errors.New("the folder that is open does not exist at its commit")
	}
	return sh.Root, nil
}

func (h *Home) close() error {
	h.Shadows.Close()
	var err error
	if h.Queue != nil {
		err = h.Queue.Close()
	}
	if h.Audit != nil {
		err = errors.Join(err, h.Audit.Close())
	}
	return err
}
