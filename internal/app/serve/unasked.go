package serve

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
)

// Texts of the notice that comes with a user's first unasked command.
const (
	unaskedText = "sidecar-ls runs this agent's commands without a question: nothing leaves its session before you decide. `sidecar-ls doctor` shows why."
	unaskedOK   = "OK"
	alwaysAsk   = "Always ask"
)

// Unasked implements dispatch.Noticer: it tells the person, once for good, that commands run
// without a question.
func (a asks) Unasked() {
	if s, ok := a.approver.(*seat); ok {
		s.sayOnce(a.agents.client.Settings.PutUser)
	}
}

func (s *seat) sayOnce(put func(key string, value []byte) error) {
	s.unasked.Do(func() {
		mark := unaskedMark()
		if _, err := os.Lstat(mark); mark == "" || !errors.Is(err, fs.ErrNotExist) {
			return
		}
		go s.sayUnasked(mark, put)
	})
}

func (s *seat) sayUnasked(mark string, put func(key string, value []byte) error) {
	ctx, cancel := context.WithTimeout(context.Background(), unattended)
	defer cancel()
	answer, err := asked(ctx, s, func(ctx context.Context, e *sitting) (string, error) {
		return e.People.Choose(ctx, unaskedText, []string{unaskedOK, alwaysAsk})
	})
	if err != nil {
		return // the next server says it
	}
	if answer == alwaysAsk {
		err = put("commands.ask", []byte(`"always"`))
	}
	if err = errors.Join(err, os.MkdirAll(filepath.Dir(mark), 0o700), os.WriteFile(mark, nil, 0o600)); err != nil {
		if e, _ := s.editor(); e != nil {
			e.People.Warn("sidecar.commands.ask was not saved: " + err.Error())
		}
	}
}

// unaskedMark is a file that is there once the user has read the notice; "" when there is no
// place for it.
func unaskedMark() string {
	dir, err := userdirs.Here().Dir(userdirs.State)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "said-unasked")
}
