package workspace

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// checkSegments refuses a name that the system takes for that of another file, or of
// a device: one file must not be known by two names. Segments are separated by
// slashes. Only Windows does that; where names differ in letter case alone or in how
// an accent is written, macOS and Windows find the same file, which is theirs.
func checkSegments(system, name string) error {
	if system != "windows" {
		return nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			continue
		}
		kept := strings.TrimRight(part, ". ")
		switch {
		case kept != part:
			return fmt.Errorf("%w: Windows takes the segment %q for %q: leave out the dots and blanks at its end", fs.ErrInvalid, part, kept)
		case strings.IndexFunc(part, forbidden) >= 0:
			return fmt.Errorf(`%w: the segment %q holds one of <>:"|?*\ or a control character, which a name has not on Windows: choose another`, fs.ErrInvalid, part)
		case device(part):
			return fmt.Errorf("%w: the segment %q is the name of a device on Windows: choose another", fs.ErrInvalid, part)
		}
	}
	return nil
}

func forbidden(r rune) bool { return r < ' ' || strings.ContainsRune(`<>:"|?*\`, r) }

// device reports whether Windows, or some version of it, takes a segment for a
// device, whatever its extension is.
func device(part string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(part), ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	number, ok := strings.CutPrefix(base, "COM")
	if !ok {
		number, ok = strings.CutPrefix(base, "LPT")
	}
	digit, size := utf8.DecodeRuneInString(number)
	return ok && size == len(number) && strings.ContainsRune("0123456789¹²³", digit)
}
