package shell

import (
	"path"
	"slices"
	"strings"
)

// deleting are programs whose arguments, options aside, are files that they delete or
// cut, with the options that take a value.
var deleting = map[string]string{"rm": "", "truncate": "sr", "shred": "ns"}

// moving are what makes a relative path lead elsewhere than from the root.
var moving = []string{"cd", "pushd", "popd", "chroot"}

// comesBack reports whether all that a command of the line deletes is kept elsewhere. Where
// that is not certain from the words, it does not.
func (j *Judge) comesBack(c Command, l *Line) bool {
	valued, ok := deleting[c.Program()]
	if j.Kept == nil || !ok || l.PowerShell || len(c.Via) > 0 || len(l.Doubts) > 0 || l.Unread != "" {
		return false
	}
	if slices.ContainsFunc(l.Commands, func(o Command) bool { return slices.Contains(moving, o.Program()) || o.Program() == "" }) {
		return false
	}
	files, options := 0, true
	for k := 1; k < len(c.Words); k++ {
		w := c.Words[k]
		switch {
		case !w.Known && (!w.Glob || strings.ContainsAny(w.Text, "$`\"'\\~{")):
			return false
		case options && w.Text == "--":
			options = false
		case options && len(w.Text) > 1 && w.Text[0] == '-':
			if len(w.Text) == 2 && strings.Contains(valued, w.Text[1:]) {
				k++
			}
		case strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "~") || !j.Kept(fixed(w)):
			return false
		default:
			files++
		}
	}
	return files > 0
}

// fixed is the path of a word, and of a pattern the directory in which it begins.
func fixed(w Word) string {
	if at := strings.IndexAny(w.Text, "*?[{"); w.Glob && at >= 0 {
		return path.Dir(w.Text[:at] + "x")
	}
	return w.Text
}
