package profile

import (
	"regexp"
	"slices"
	"strings"
)

// Flags of agents for a further directory, each of which stands before one.
const (
	addDir     = "--add-dir"
	includeDir = "--include-directories" // it takes commas for the ends of names, and no sub-command takes it
)

// plainWord is the form of a sub-command's name.
var plainWord = regexp.MustCompile(`^[a-z][a-z-]*$`)

// FurtherFor is the profile's flag for a further directory where a person's arguments leave
// room for it: "" where they have it themselves, or name a sub-command that refuses it.
func (p Profile) FurtherFor(args []string) string {
	switch {
	case slices.ContainsFunc(args, func(arg string) bool { return arg == p.Further || strings.HasPrefix(arg, p.Further+"=") }),
		p.Further == includeDir && len(args) > 0 && plainWord.MatchString(args[0]):
		return ""
	}
	return p.Further
}

// Further are the arguments by which a program has further directories, by the flag that
// its profile names; "" is none. left are those that can't be said so.
func Further(flag string, dirs []string) (args, left []string) {
	for _, dir := range dirs {
		if flag == "" || flag == includeDir && strings.Contains(dir, ",") {
			left = append(left, dir)
			continue
		}
		args = append(args, flag+"="+dir) // a word of its own would let some flags take what comes next, too
	}
	return args, left
}
