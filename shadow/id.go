package shadow

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of arguments, in bytes.
const (
	maxID   = 64
	maxBase = 256
)

// checkID accepts what is a directory's name everywhere, and what git takes
// for the name of a working tree.
func checkID(id string) error {
	bad := func() error {
		return fmt.Errorf("%w: id %q: use at most %d letters, digits, '.', '_' and '-', beginning and ending with a letter or digit", ErrInvalid, shown(id), maxID)
	}
	if id == "" || len(id) > maxID || strings.Contains(id, "..") || strings.HasSuffix(id, ".lock") {
		return bad()
	}
	for i, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '.' || c == '_' || c == '-':
			if i == 0 || i == len(id)-1 {
				return bad()
			}
		default:
			return bad()
		}
	}
	return nil
}

// checkBase refuses what git could take for anything but a revision.
func checkBase(base string) error {
	switch {
	case len(base) > maxBase, !utf8.ValidString(base), strings.ContainsFunc(base, unicode.IsControl), strings.HasPrefix(base, "-"):
		return fmt.Errorf("%w: base %q: name a commit, such as HEAD or a branch", ErrInvalid, shown(base))
	}
	return nil
}

// shown is an argument as it may stand in a message.
func shown(s string) string {
	if len(s) > maxID {
		s = s[:maxID] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func newID() string { return "task-" + random() }

func random() string {
	var b [4]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
