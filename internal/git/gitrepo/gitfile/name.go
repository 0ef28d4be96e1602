package gitfile

import "strings"

// ValidName reports whether a path has only elements that stay below the top
// of the working tree and out of its repository.
func ValidName(name string) bool {
	for {
		elem, rest, more := strings.Cut(name, "/")
		switch {
		case elem == "", elem == ".", elem == "..":
			return false
		case len(elem) == 4 && elem[0] == '.' && strings.EqualFold(elem, ".git"):
			return false
		}
		if !more {
			return true
		}
		name = rest
	}
}
