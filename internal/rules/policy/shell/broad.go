package shell

import (
	"slices"
	"strings"
)

// broad is the part of a line of which the files that it prints can't be told from
// the words that name them, and why; "" is none. Where nothing hides secrets from commands, such a
// line prints what a command that names the file would be asked about.
func broad(l *Line) (part, why string) {
	moved := slices.ContainsFunc(l.Commands, func(c Command) bool { return c.Program() == "cd" })
	for _, c := range l.Commands {
		if why := broadly(c, moved); why != "" {
			return c.Text, "it " + why
		}
	}
	for _, w := range l.Reads {
		if w.Glob || !w.Known {
			return w.Text, "it may be any file"
		}
	}
	return "", ""
}

// broadly is broad for one command; moved says that the line goes to another
// directory, from where its words name other files.
func broadly(c Command, moved bool) string {
	name := c.Program()
	p := programs[name]
	if !p.reads || p.names || p.texts == all {
		return ""
	}
	args := c.Words[1:]
	named := files(c)
	if slices.ContainsFunc(c.Via, func(v string) bool { return slices.Contains(feeders, v) }) {
		return "reads whatever files it is given"
	}
	if p.tree != nil && p.tree(args) {
		return "reads whole directories"
	}
	if name == "git" {
		return "" // what else it prints is in the repository, not in files
	}
	for _, w := range named {
		if w.Glob {
			return "reads all that " + quote(w.Text) + " stands for"
		}
	}
	if moved && slices.ContainsFunc(named, func(w Word) bool { return !strings.HasPrefix(w.Text, "-") }) {
		return "reads a file in another directory"
	}
	return ""
}

// feeders give the commands that they run names of files which the line does not
// have.
var feeders = []string{"find", "xargs", "parallel"}

// anyTree is for what goes down directories without being told to.
func anyTree([]Word) bool { return true }

// grepTree reports whether grep goes down directories.
func grepTree(args []Word) bool {
	for i, a := range args {
		long, isLong := strings.CutPrefix(a.Text, "--")
		short, isShort := strings.CutPrefix(a.Text, "-")
		switch {
		case isLong && (abbreviates(long, []string{"recursive", "dereference-recursive"}) != "" || abbreviates(long, []string{"directories"}) != "" && !strings.HasSuffix(long, "=skip")):
			return true
		case isLong || !isShort:
		case strings.ContainsAny(short, "rR"), strings.HasSuffix(short, "d") && i+1 < len(args) && args[i+1].Text != "skip", strings.Contains(short, "drecurse"):
			return true
		}
	}
	return false
}

// gitTree reports whether git reads the files of a directory.
func gitTree(args []Word) bool {
	args = gitCommand(args)
	return len(args) > 0 && (args[0].Text == "grep" || slices.ContainsFunc(args, func(a Word) bool {
		return strings.HasPrefix(a.Text, "--no-i") // --no-index, of diff
	}))
}

// diffTree reports whether diff compares directories.
func diffTree(args []Word) bool {
	return slices.ContainsFunc(args, func(a Word) bool {
		if long, isLong := strings.CutPrefix(a.Text, "--"); isLong {
			return abbreviates(long, []string{"recursive", "from-file", "to-file"}) != ""
		}
		return strings.HasPrefix(a.Text, "-") && strings.Contains(a.Text, "r")
	})
}
