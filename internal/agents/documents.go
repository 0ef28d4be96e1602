package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// maxPlan bounds a plan that a person has changed, in bytes.
const maxPlan = 256 << 10

// documentKinds are the kinds of the documents that people are shown.
var documentKinds = []string{"plan", "best"}

// documentName is the name of a document of a run, for a call of its.
func documentName(run, kind, call string) string { return run + "-" + kind + "-" + call + ".md" }

// tidyDocuments deletes the documents of runs that are there no more.
func tidyDocuments(dir string, store *conversation.Store, log *slog.Logger) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // there are none yet
	}
	for _, e := range entries {
		gone := func(kind string) bool {
			run, _, ok := strings.Cut(e.Name(), "-"+kind+"-")
			if ok {
				_, err = store.Get(run)
			}
			return ok && strings.HasPrefix(run, "run-") && err != nil
		}
		if slices.ContainsFunc(documentKinds, gone) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				log.Warn("a document of an old run can't be deleted", "error", err)
			}
		}
	}
}

// putDocument writes a document, aside first, so that a link in its place is replaced.
func putDocument(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "plan-*.tmp") // made with 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	_, err = f.WriteString(text + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return osfile.Rename(context.Background(), f.Name(), path)
}

// readDocument reads a document as it is now.
func readDocument(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("the document of the plan is gone")
	}
	if err != nil {
		return "", fmt.Errorf("the document of the plan can't be read: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPlan+1))
	text := plain(string(data))
	switch {
	case err != nil:
		return "", fmt.Errorf("the document of the plan can't be read: %w", err)
	case len(data) > maxPlan:
		return "", fmt.Errorf("the document of the plan is longer than %d KB", maxPlan>>10)
	case text == "":
		return "", errors.New("the document of the plan is empty")
	}
	return text, nil
}

// plain is a text with line feeds alone, and none around it.
func plain(text string) string {
	return strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD"))
}
