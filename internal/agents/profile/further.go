package profile

import "strings"

// Flags of agents for a further directory, each of which stands before one.
const (
	addDir     = "--add-dir"
	includeDir = "--include-directories" // it takes commas for the ends of names
)

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
