package dispatch

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
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

// queueCommits queues the commits that programs made in a session, and says so: with the
// session's batch or, where edits wait one by one, with the files that they are of.
func queueCommits(ctx context.Context, to Destinations, s *session.Session, batch bool, commits []workspace.Commit) (said []string) {
	ctx = context.WithoutCancel(ctx)
	for _, commit := range commits {
		if !batch || commit.Ref != (workspace.Reference{}) {
			if text := holdCommit(ctx, to, s, commit, batch); text != "" {
				said = append(said, text)
			}
			continue
		}
		title, _, _ := strings.Cut(commit.Message, "\n")
		if commit.Forward {
			said = append(said, fmt.Sprintf("%s: only this session's commands see it. Its files are in the batch; git_pull or the user moves the branch.", redact.Visible(title)))
			continue
		}
		if commit.Message == "" {
			continue // what is taken back of a batch is rejected by the user
		}
		if n := len(commit.Unseen); n > 0 && n == len(commit.Files) {
			said = append(said, fmt.Sprintf("The commit %q is not queued: %s. This session's commands alone see it.", title, unseen(commit)))
			continue
		}
		at := ""
		if len(commit.Files) > 0 {
			at = commit.Files[0].Path
		}
		n, err := to.QueueCommit(ctx, s.ID, commit.Message, s.Models(), at)
		if err != nil {
			said = append(said, fmt.Sprintf("The commit %q can't be queued: %v", title, err))
			continue
		}
		if commit.Branch != "" {
			said = append(said, fmt.Sprintf("The commit is made on the branch that the workspace is on, not on %s.", redact.Visible(commit.Branch)))
		}
		text := fmt.Sprintf("Queued as commit %d of this batch: %s. It is made when the user accepts the batch, after its files.", n, title)
		if len(commit.Unseen) > 0 {
			text += fmt.Sprintf(" It is made without a part: %s.", unseen(commit))
		}
		said = append(said, text)
	}
	return said
}

// unseen says what of a commit nobody can review.
func unseen(c workspace.Commit) string {
	const most = 3
	names, more := c.Unseen, ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("what it changes of %s%s is in no file of the working tree, so nobody can review it", redact.Visible(strings.Join(names, ", ")), more)
}

// holdCommit makes a commit wait for its files, and says so.
func holdCommit(ctx context.Context, to Destinations, s *session.Session, commit workspace.Commit, batch bool) string {
	if commit.Ref != (workspace.Reference{}) {
		return holdReference(ctx, to, s, commit, batch)
	}
	waits, err := to.HoldCommit(ctx, s.ID, commit, s.Models())
	title, _, _ := strings.Cut(commit.Message, "\n")
	name := fmt.Sprintf("%q", title)
	if commit.Branch != "" && err == nil {
		is := "the branch"
		if commit.NewBranch {
			is = "the new branch"
		}
		name += fmt.Sprintf(" on %s %s, which the workspace is then on,", is, redact.Visible(commit.Branch))
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

// holdReference makes a branch or a tag wait, and says so.
func holdReference(ctx context.Context, to Destinations, s *session.Session, commit workspace.Commit, batch bool) string {
	title, _, _ := strings.Cut(commit.Message, "\n")
	what := redact.Visible(title)
	switch {
	case batch && commit.Ref.Own:
		return what + ": this session's commands alone see it, as it names a commit of the batch."
	case batch && commit.Ref.Kind == workspace.RefSwitch:
		return what + ": this session's commands alone see it, as a batch is committed on the workspace's branch."
	}
	waits, err := to.HoldCommit(ctx, s.ID, commit, s.Models())
	switch {
	case commit.Message == "" && err != nil:
		return "" // it was decided on
	case commit.Message == "":
		return fmt.Sprintf("Taken back, and waits no more: %s.", redact.Visible(commit.Ref.Name))
	case err != nil:
		return fmt.Sprintf("%s: this session's commands alone see it: %s.", what, redact.Visible(err.Error()))
	case waits && commit.Ref.Own:
		return what + ": it is made with that commit. Until then this session's commands alone see it."
	case waits:
		return what + ": it is made once its files are accepted. Until then this session's commands alone see it."
	}
	return what + ": it waits for the user, who accepts it with all that is pending. Until then this session's commands alone see it."
}
