package serve

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/server"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	asking "github.com/sidecar-ls/sidecar-ls/tools/editor"
)

// seat is where the editor of a client sits. An editor may leave, and another one
// take the seat, while the client's agents work: what is asked meanwhile waits.
type seat struct {
	unasked sync.Once // the first command that runs without a question

	hide *redact.Redactor

	mu   sync.Mutex
	now  *sitting      // nil: the seat is empty
	next chan struct{} // closed when somebody takes the seat
	live *liveView     // of the folders that were opened last
}

// sitting is an editor in the seat.
type sitting struct {
	server.Start
	desk *desk
	left context.Context // ends when it leaves
	end  context.CancelFunc
}

func newSeat(hide *redact.Redactor) *seat { return &seat{hide: hide, next: make(chan struct{})} }

// take gives the seat to an editor, with the folders that are open.
func (s *seat) take(st server.Start, d *desk) {
	e := &sitting{Start: st, desk: d}
	e.left, e.end = context.WithCancel(context.Background())
	s.mu.Lock()
	s.now = e
	close(s.next)
	s.next = make(chan struct{})
	shown := s.live
	s.mu.Unlock()
	if shown != nil {
		shown.show(e)
	}
}

// leave empties the seat.
func (s *seat) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		s.now.end()
		s.now = nil
	}
}

func (s *seat) editor() (e *sitting, next <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.next
}

// user is the way to whoever sits there.
func (s *seat) user() app.User {
	with := func(f func(e *sitting)) {
		if e, _ := s.editor(); e != nil {
			f(e)
		}
	}
	return app.User{
		Approver: s, People: s, Diagnostics: s, OpenDocuments: s.open,
		Warn:         func(text string) { with(func(e *sitting) { e.People.Warn(text) }) },
		IndexChanged: func() { with(func(e *sitting) { e.KnowledgeChanged() }) },
		QueueChanged: func() {
			with(func(e *sitting) {
				e.ReviewChanged()
				e.desk.server.Load().QueueChanged()
			})
		},
	}
}

// unattended bounds how long a question without an end of its own waits for an
// editor that takes it.
const unattended = 5 * time.Minute

// asked asks the editor in the seat, and the next one if that leaves before it has
// answered.
func asked[T any](ctx context.Context, s *seat, ask func(context.Context, *sitting) (T, error)) (T, error) {
	for {
		e, next := s.editor()
		if e == nil {
			select {
			case <-next:
				continue
			case <-ctx.Done():
				var none T
				return none, ctx.Err()
			}
		}
		one, cancel := context.WithCancel(ctx)
		stop := context.AfterFunc(e.left, cancel)
		select {
		case <-e.Initialized:
		case <-one.Done():
		}
		answer, err := ask(one, e)
		if errors.Is(err, client.ErrGone) { // a moment before its seat is empty
			<-one.Done()
		}
		stop()
		cancel()
		if err == nil || e.left.Err() == nil || ctx.Err() != nil {
			return answer, err
		}
	}
}

// Approve implements dispatch.Approver.
func (s *seat) Approve(ctx context.Context, ask dispatch.Ask) (dispatch.Answer, error) {
	if ask.Expires.IsZero() {
		ask.Expires = time.Now().Add(unattended)
	}
	ctx, cancel := context.WithDeadline(ctx, ask.Expires)
	defer cancel()
	return asked(ctx, s, func(ctx context.Context, e *sitting) (dispatch.Answer, error) { return e.Approver.Approve(ctx, ask) })
}

// Ask lets the tools ask the person. A question is a model's text: secrets are kept
// out of it, and what can't be seen is made visible.
func (s *seat) Ask(ctx context.Context, q asking.Question) (string, bool, error) {
	type reply struct {
		answer string
		ok     bool
	}
	text, shown := q.Shown(s.hide.Shown)
	r, err := asked(ctx, s, func(ctx context.Context, e *sitting) (r reply, err error) {
		r.answer, r.ok, err = e.People.Ask(ctx, text, shown, q.AllowCustom)
		return r, err
	})
	if i := slices.Index(shown, r.answer); i >= 0 {
		r.answer = q.Options[i]
	}
	return r.answer, r.ok, err
}

var errEmpty = errors.New("no editor is there: its window was closed")

// Shown is what the editor shows against a file.
func (s *seat) Shown(ctx context.Context, name string) ([]langserver.Problem, error) {
	e, _ := s.editor()
	if e == nil {
		return nil, errEmpty
	}
	return e.Diagnostics.Shown(ctx, name)
}

// open lays the documents of whoever sits there over the files of new folders.
func (s *seat) open(base workspace.View) workspace.View {
	l := &liveView{base: base}
	s.mu.Lock()
	s.live = l
	e := s.now
	s.mu.Unlock()
	if e != nil {
		l.show(e)
	}
	return l
}

// liveView is the files as the editor in the seat shows them, and as the disk has them
// while the seat is empty.
type liveView struct {
	base  workspace.View
	shown atomic.Pointer[shown]
}

type shown struct {
	workspace.View
	by *sitting
}

func (l *liveView) show(e *sitting) { l.shown.Store(&shown{e.Editor(l.base), e}) }

func (l *liveView) now() workspace.View {
	if s := l.shown.Load(); s != nil && s.by.left.Err() == nil {
		return s
	}
	return l.base
}

func (l *liveView) Open(name string) (fs.File, error)          { return l.now().Open(name) }
func (l *liveView) Stat(name string) (fs.FileInfo, error)      { return l.now().Stat(name) }
func (l *liveView) ReadFile(name string) ([]byte, error)       { return l.now().ReadFile(name) }
func (l *liveView) ReadDir(name string) ([]fs.DirEntry, error) { return l.now().ReadDir(name) }
func (l *liveView) Ignored(name string, dir bool) bool         { return l.now().Ignored(name, dir) }
func (l *liveView) Resolve(path string) (string, error)        { return l.now().Resolve(path) }
func (l *liveView) RealName(name string) (string, error)       { return l.now().RealName(name) }
func (l *liveView) Folding(dir string) workspace.Folding       { return l.now().Folding(dir) }
func (l *liveView) Abs(name string) string                     { return l.now().Abs(name) }
func (l *liveView) Base() (*workspace.Disk, []string)          { return l.now().Base() }
func (l *liveView) Node(name string) (workspace.Node, error)   { return workspace.NodeOf(l.now(), name) }

func (l *liveView) Walk(ctx context.Context, opts workspace.WalkOptions, visit func(*workspace.Entry) error) error {
	return l.now().Walk(ctx, opts, visit)
}

func (l *liveView) Apply(ctx context.Context, changes ...workspace.Change) error {
	return l.now().Apply(ctx, changes...)
}
