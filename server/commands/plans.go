package commands

import (
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// documentOf is the path of the document of ours that a question is about; "": there is
// none.
func documentOf(d *Deps, e conversation.Event) string {
	dir := d.StateDir
	if e.Call == nil || dir == "" {
		return ""
	}
	path, ok := workspace.FilePath(e.Call.URI)
	if !ok || path != filepath.Join(dir, shownDir, filepath.Base(path)) {
		return "" // an agent may name any file
	}
	return path
}

// answerRun answers a question of a run. What the editor has of its document and has not
// saved is saved first: the answer is about what the person sees.
func answerRun(d *Deps, r *conversation.Run, question, answer string) error {
	for _, e := range r.Open() {
		path := documentOf(d, e)
		if e.Question != question || path == "" {
			continue
		}
		doc := d.Queue.Docs.At(e.Call.URI)
		if doc == nil {
			continue
		}
		text := doc.Text.Text()
		if now, err := os.ReadFile(path); err == nil && string(now) == text {
			continue
		}
		if _, err := putShown(d.StateDir, filepath.Base(path), text); err != nil {
			return err
		}
	}
	return r.Answer(question, answer, byEditor)
}
