package diff

import (
	"fmt"
	"strings"
)

// FilePatch is one file's change with all that git says about it.
type FilePatch struct {
	OldName, NewName string // "": the file is created, or deleted
	OldMode, NewMode uint32 // as git writes them, such as 0o100755
	OldID, NewID     string // of the contents; both "": not said
	Old, New         string // contents; of a link, its target
	Similarity       int    // of a rename, in percent; 0: not said

	// Omit, when set, stands for the contents, in a sentence: they are secret,
	// or too large.
	Omit string
}

// String returns the change in git's format. Binary content is named only.
func (p FilePatch) String() string {
	oldName, newName := p.OldName, p.NewName
	create, remove := oldName == "", newName == ""
	if create {
		oldName = newName
	}
	if remove {
		newName = oldName
	}
	a, z := "a/"+oldName, "b/"+newName
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git %s %s\n", quote(a), quote(z))
	switch {
	case create:
		fmt.Fprintf(&b, "new file mode %06o\n", p.NewMode)
		a = "/dev/null"
	case remove:
		fmt.Fprintf(&b, "deleted file mode %06o\n", p.OldMode)
		z = "/dev/null"
	case p.OldMode != p.NewMode:
		fmt.Fprintf(&b, "old mode %06o\nnew mode %06o\n", p.OldMode, p.NewMode)
	}
	if oldName != newName {
		if p.Similarity > 0 {
			fmt.Fprintf(&b, "similarity index %d%%\n", p.Similarity)
		}
		fmt.Fprintf(&b, "rename from %s\nrename to %s\n", quote(oldName), quote(newName))
	}
	if p.OldID != p.NewID {
		fmt.Fprintf(&b, "index %s..%s", p.OldID, p.NewID)
		if !create && !remove && p.OldMode == p.NewMode {
			fmt.Fprintf(&b, " %06o", p.NewMode)
		}
		b.WriteByte('\n')
	}
	switch {
	case p.Old == p.New && p.Omit == "":
	case p.Omit != "":
		fmt.Fprintf(&b, "# %s: %s\n", newName, p.Omit)
	case Binary(p.Old) || Binary(p.New):
		fmt.Fprintf(&b, "Binary files %s and %s differ\n", quote(a), quote(z))
	default:
		b.WriteString(Unified(a, z, p.Old, p.New, Context))
	}
	return b.String()
}
