package shell

import (
	"path"
	"slices"
	"strings"
)

// moreReaders read what is in the files that their arguments name, besides those that only look.
var moreReaders = []string{"wc", "cksum", "md5sum", "sha1sum", "sha256sum", "sha512sum", "base64", "base32", "less", "more", "source", "."}

// onlyNamed are programs that open no file which their arguments name: they say whether it is
// there, and what is known of it without its text.
var onlyNamed = []string{"ls", "test", "[", "stat", "readlink", "realpath", "basename", "dirname", "find"}

// onlyNames reports whether c opens none of the files that it names.
func onlyNames(c Command) bool {
	name, args := c.Program(), c.Words[1:]
	if u, ok := unwrap(c); ok && len(u.commands)+len(u.lines) > 0 {
		return false // and what it starts may open them
	}
	return slices.Contains(onlyNamed, name) && programs[name].wrong(args) == "" &&
		!slices.ContainsFunc(args, func(w Word) bool { return !w.Known || strings.HasPrefix(w.Text, "-files0") })
}

// Opens returns a file that hidden is true of, and the part of the line that can only open it
// to read: one of its commands, or the shell itself. That part fails, whoever allows it.
func Opens(l *Line, hidden func(path string) bool) (file, part string) {
	dirs := l.moves()
	is := func(w Word, name string) bool {
		if !w.Known || w.Glob || name == "" {
			return false
		}
		return hidden(name) || !path.IsAbs(name) && slices.ContainsFunc(dirs, func(dir string) bool { return hidden(path.Join(dir, name)) })
	}
	for _, c := range l.Commands {
		for _, w := range opened(c) {
			if name, _ := value(w.Text); is(w, name) {
				return name, c.Text
			}
		}
	}
	for _, w := range l.Reads {
		if is(w, w.Text) {
			return w.Text, "< " + w.Text
		}
	}
	return "", ""
}

// opened are the words of c that name files which it opens to read.
func opened(c Command) []Word {
	name := c.Program()
	named := files(c)
	switch p := programs[name]; {
	case slices.Contains(moreReaders, name):
		return named
	case name == "cp" && len(named) > 1:
		return named[:len(named)-1]
	case !p.reads || p.names || name == "git" || name == "go" || p.wrong(c.Words[1:]) != "":
		return nil
	}
	return named
}

// at is a judge that knows what files are called where the line runs them: by another name
// than the shell's, or below the directories that it goes to.
func (j *Judge) at(l *Line) *Judge {
	if j.Zone == nil {
		return j
	}
	there := *j
	if l.Path != nil {
		zone := there.Zone
		there.Zone = func(name string) Zone { return zoneOfBoth(zone, name, l.Path(name)) }
	}
	if dirs := l.moves(); len(dirs) > 0 {
		zone := there.Zone
		there.Zone = func(name string) Zone { return zoneBelow(zone, dirs, name) }
	}
	return &there
}

// moves are the directories that the line goes to, from that in which it starts.
func (l *Line) moves() []string {
	var dirs []string
	for _, c := range l.Commands {
		if name := c.Program(); name != "cd" && name != "pushd" {
			continue
		}
		for _, w := range c.Words[1:] {
			if w.Known && !w.Glob && !strings.HasPrefix(w.Text, "-") && w.Text != "" {
				at := w.Text
				if !path.IsAbs(w.Text) && len(dirs) > 0 {
					at = path.Join(dirs[len(dirs)-1], w.Text)
				}
				dirs = append(dirs, at)
				break
			}
		}
	}
	return dirs
}

// zoneBelow is where a file lies that a line names which goes to those directories: the zone of
// its name as it is, unless from one of them it leads to a file to be careful with.
func zoneBelow(zone func(string) Zone, dirs []string, name string) Zone {
	own := zone(name)
	if own > Outside || path.IsAbs(name) || strings.HasPrefix(name, "~") {
		return own
	}
	for _, dir := range dirs {
		if z := zone(path.Join(dir, name)); z > Outside {
			return z
		}
	}
	return own
}

// own are the arguments of c that are its own: not those of the command that it starts, nor the
// text that a shell reads, which are judged by themselves.
func own(c Command) []Word {
	args := c.Words[1:]
	u, ok := unwrap(c)
	if !ok || len(u.doubts) > 0 {
		return args
	}
	args = slices.Clone(args)
	for _, words := range u.commands {
		for start := 0; start+len(words) <= len(args); start++ {
			if slices.Equal(args[start:start+len(words)], words) {
				args = slices.Delete(args, start, start+len(words))
				break
			}
		}
	}
	return slices.DeleteFunc(args, func(w Word) bool { return slices.Contains(u.lines, w.Text) })
}
