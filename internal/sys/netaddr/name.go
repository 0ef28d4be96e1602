package netaddr

import "strings"

const (
	maxName = 253 // bytes of a host's name, as DNS has it
	maxPart = 63  // of each of its parts
)

// IsName reports whether a text is the name of a host, in lower case: letters, digits,
// hyphens and underscores in parts of at most 63 bytes, and no address in any spelling.
func IsName(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	var last string
	for part := range strings.SplitSeq(name, ".") {
		if part == "" || len(part) > maxPart || part[0] == '-' || part[len(part)-1] == '-' {
			return false
		}
		for _, r := range part {
			if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' {
				return false
			}
		}
		last = part
	}
	// Programs read a last part that begins with a digit as one of an address, such as 127.1
	// or 0x7f.1.
	return last[0] < '0' || last[0] > '9'
}
