package dispatch

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// madeCommits are commits that programs made. The tool may still be running when
// the call is over.
type madeCommits struct {
	mu   sync.Mutex
	list []workspace.Commit
}

func (m *madeCommits) add(commit workspace.Commit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = append(m.list, commit)
}

func (m *madeCommits) take() []workspace.Commit {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.list
	m.list = nil
	return list
}

// takeCommits queues the commits that programs made: with a batch or, where edits
// wait one by one, with the files that they are of.
func (c *call) takeCommits(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for _, commit := range c.ran.commits.take() {
		title, _, _ := strings.Cut(commit.Message, "\n")
		if !c.mode.Batch {
			c.notes = append(c.notes, c.holdCommit(ctx, title, commit))
			continue
		}
		if commit.Forward {
			c.notes = append(c.notes, fmt.Sprintf("%s: this session's commands alone see it. Its files are in the batch; git_pull or the user moves the branch.", title))
			continue
		}
		if commit.Message == "" {
			continue // what is taken back of a batch is rejected by the user
		}
		n, err := c.dest.QueueCommit(ctx, c.session.ID, commit.Message, c.session.Models())
		if err == nil && commit.Branch != "" {
			c.notes = append(c.notes, fmt.Sprintf("The commit is made on the branch that the workspace is on, not on %s.", redact.Visible(commit.Branch)))
		}
		if err == nil {
			c.notes = append(c.notes, fmt.Sprintf("Queued as commit %d of this batch: %s. It is made when the user accepts the batch, after its files.", n, title))
		} else {
			c.notes = append(c.notes, fmt.Sprintf("The commit %q can't be queued: %v", title, err))
		}
	}
}

// holdCommit makes a commit wait for its files, and says so.
func (c *call) holdCommit(ctx context.Context, title string, commit workspace.Commit) string {
	waits, err := c.dest.HoldCommit(ctx, c.session.ID, commit, c.session.Models())
	name := fmt.Sprintf("%q", title)
	if commit.Branch != "" && err == nil {
		name += fmt.Sprintf(" on the new branch %s, which the workspace is then on,", redact.Visible(commit.Branch))
	}
	switch {
	case err == nil && commit.Forward && waits:
		return fmt.Sprintf("%s waits for its files: the branch goes there once all of them are accepted as they are. Until then this session's commands alone see it.", redact.Visible(title))
	case err == nil && commit.Message == "":
		return fmt.Sprintf("Commits that were taken back, and wait no more: %d.", len(commit.Replaces))
	case err != nil:
		return fmt.Sprintf("The commit %s is seen by this session's commands alone, and does not wait for its files: %s. When they are accepted, the user or git_commit commits them.", name, redact.Visible(err.Error()))
	case !waits:
		return fmt.Sprintf("The commit %s waits for the user, who accepts it with all that is pending: none of its files is. Until then this session's commands alone see it.", name)
	}
	return fmt.Sprintf("The commit %s waits for its files: it is made of what is accepted of them, once nothing of them waits. Until then this session's commands alone see it.", name)
}
