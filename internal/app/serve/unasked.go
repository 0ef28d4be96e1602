package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
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
	switch to := a.approver.(type) {
	case *seat:
		to.sayOnce(a.agents.client.Settings.PutUser)
	case dispatch.Noticer:
		to.Unasked()
	}
}

// UnaskedAt tells a person at a terminal the same, with where to have questions again.
func UnaskedAt(terminal io.Writer) {
	mark := unaskedMark()
	if !unread(mark) {
		return
	}
	if _, err := fmt.Fprintf(terminal, "%s \"commands.ask\": \"always\" in %s asks about each.\n", unaskedText, config.UserFile()); err == nil {
		_ = wasRead(mark) // else the next command says it again
	}
}

func unread(mark string) bool {
	_, err := os.Lstat(mark)
	return mark != "" && errors.Is(err, fs.ErrNotExist)
}

func wasRead(mark string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(mark), 0o700), os.WriteFile(mark, nil, 0o600))
}

func (s *seat) sayOnce(put func(key string, value []byte) error) {
	s.unasked.Do(func() {
		mark := unaskedMark()
		if !unread(mark) {
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
	if err = errors.Join(err, wasRead(mark)); err != nil {
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
