package dispatch

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// maxUnseen bounds the files of a call that are compared with the queue.
const maxUnseen = 10

// notePending tells of files that a call names and whose pending edits it did not
// see, so that nobody takes them for all there is.
func (n *notes) notePending(see workspace.Files, to Destinations, by workspace.Author, paths []string) {
	if len(paths) == 0 || to.PendingCount() == 0 {
		return
	}
	pending, live := to.Pending(by, false), to.Live()
	for _, path := range paths[:min(len(paths), maxUnseen)] {
		name, err := see.Resolve(path)
		if err != nil {
			continue
		}
		held, err1 := pending.ReadFile(name)
		seen, err2 := live.ReadFile(name)
		if err1 != nil && err2 != nil || (err1 == nil) == (err2 == nil) && bytes.Equal(held, seen) {
			continue
		}
		n.addf("%s has an edit that waits for review. This looked at the file without it; in the mode review it is seen.", name)
	}
}

// maxUnseenNames bounds the files that noteUnseen names.
const maxUnseenNames = 5

// noteUnseen names the files of which a tool that looks at the disk did not see
// the text that the session sees: what is pending, or not saved. maySee: the tool can be asked to.
func (n *notes) noteUnseen(see workspace.Files, maySee bool) {
	disk, over := see.Base()
	if disk == nil {
		return
	}
	var names []string
	for _, name := range over {
		if workspace.Protected(name) == workspace.Never || !differs(see, disk, name) {
			continue
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return
	}
	more := ""
	if left := len(names) - maxUnseenNames; left > 0 {
		names, more = names[:maxUnseenNames], fmt.Sprintf(" and %d more", left)
	}
	how := "."
	if maySee {
		how = "; `pending: true` shows that."
	}
	n.add("This saw the disk, not the text that is pending or not saved in " + strings.Join(names, ", ") + more + how)
}

// differs reports whether a file is another in a view than on the disk.
func differs(files workspace.Files, disk *workspace.Disk, name string) bool {
	node, err := workspace.NodeOf(files, name)
	if was, errDisk := disk.Node(name); err == nil && errDisk == nil && node.Exists && was.Exists && (node.Exec != was.Exec || node.Link != was.Link) {
		return true
	}
	here, err := files.ReadFile(name)
	there, errDisk := disk.ReadFile(name)
	return (err == nil) != (errDisk == nil) || !bytes.Equal(here, there)
}
