package pendingedits

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// Modes and links. That a file is to be executable, or not, is a hunk of its
// entry; that a link comes, goes or leads elsewhere is an entry of its own,
// which is taken or left as one. The queue's view follows a link that is proposed, and
// has a mode as the base has it until it is accepted; Node tells what is proposed.

// changesMode reports whether a whole changes the mode of a file that stays.
func (e *entry) changesMode(r *resolution) bool {
	return e.mode != 0 && e.base != nil && e.after != nil && r.live.data != nil && workspace.IsExec(e.mode) != workspace.IsExec(r.live.stamp.mode)
}

// Modes as git writes them.
const (
	gitFile = 0o100644
	gitExec = 0o100755
	gitLink = 0o120000
)

func gitMode(m fs.FileMode) uint32 {
	if workspace.IsExec(m) {
		return gitExec
	}
	return gitFile
}

func (e *entry) modeLines() string {
	return fmt.Sprintf("old mode %o\nnew mode %o\n", gitFile+gitExec-gitMode(e.mode), gitMode(e.mode))
}

func (e *entry) modeSays() string {
	if workspace.IsExec(e.mode) {
		return "make it executable"
	}
	return "make it not executable"
}

func (e *entry) linkSays() string {
	switch {
	case !e.afterLink && e.after == nil:
		return "delete this link"
	case !e.afterLink:
		return "put a file in place of this link"
	case !e.baseLink && e.base != nil:
		return fmt.Sprintf("put a link to %q in place of this file", e.after)
	}
	return fmt.Sprintf("link to %q", e.after)
}

// linkLines says which side is a link, and warns of one that leads away.
func (e *entry) linkLines() string {
	var b strings.Builder
	if e.baseLink {
		fmt.Fprintf(&b, "old mode %o\n", gitLink)
	}
	if e.afterLink {
		fmt.Fprintf(&b, "new mode %o\n", gitLink)
		if workspace.LeadsOut(e.name, string(e.after)) {
			b.WriteString("# the link leads out of the workspace, or to a file that may hold secrets or is protected\n")
		}
	}
	return b.String()
}

// patch is what would be accepted of e, in git's format.
func patch(e *entry, r *resolution) string {
	p := diff.FilePatch{OldName: e.source(), NewName: e.name, OldMode: gitMode(r.live.stamp.mode), NewMode: gitMode(r.live.stamp.mode), Old: string(r.live.data), New: string(r.text)}
	if e.mode != 0 {
		p.NewMode = gitMode(e.mode)
	}
	text := r.text
	if e.isLink() {
		text, p.New = e.after, string(e.after)
		if r.live.link {
			p.OldMode = gitLink
		}
		if e.afterLink {
			p.NewMode = gitLink
		}
	}
	if r.live.data == nil {
		p.OldName = ""
	}
	if text == nil {
		p.NewName = ""
	}
	if p.OldName == "" || p.NewName == "" || p.OldMode&0o170000 == p.NewMode&0o170000 {
		return p.String()
	}
	// As git shows it: one goes, another comes.
	gone, added := p, p
	gone.NewName, gone.New, added.OldName, added.Old = "", "", "", ""
	return gone.String() + added.String()
}

// errLink says that a link has no text that could be edited.
var errLink = errors.New("it is about a link, which has no text; accept or reject it")

// opposite is a mode with the execute bits of which it has none, or without.
func opposite(m fs.FileMode) fs.FileMode {
	if workspace.IsExec(m) {
		return 0o644
	}
	return 0o755
}
