package shell

import (
	"regexp"
	"strings"
)

// awkScript allows awk to compute and to print to its output.
func awkScript(args []Word) string {
	for len(args) > 0 {
		a := args[0].Text
		switch {
		case a == "-F" || a == "-v":
			args = args[min(2, len(args)):]
			continue
		case strings.HasPrefix(a, "-F") || strings.HasPrefix(a, "-v"):
			args = args[1:]
			continue
		case a == "--":
			args = args[1:]
		case strings.HasPrefix(a, "-"):
			return "the option " + quote(a)
		}
		break
	}
	if len(args) == 0 {
		return "awk without a program"
	}
	if script := args[0].Text; !harmlessAwk(script) {
		return "the awk program " + quote(script) + " may run commands, or read or write other files"
	}
	return ""
}

// awkWords are what runs something, reads files that no argument names, or
// brings in other programs. As parts of other words they count, too: who reads
// the program must not have to know where awk's words end.
var awkWords = regexp.MustCompile(`system|getline|ENVIRON|ARGV|ARGC|PROCINFO|SYMTAB|FUNCTAB|@`)

// harmlessAwk reports whether an awk program only computes and prints. Strings
// and expressions aren't told apart from code, so that what looks harmful in
// them counts.
func harmlessAwk(script string) bool {
	if awkWords.MatchString(script) || strings.Contains(strings.ReplaceAll(script, "||", ""), "|") {
		return false
	}
	// Outside of an action, and in brackets, > compares. Behind a string or an
	// expression it can't be told any more where that is.
	braces, brackets := 0, 0
	for i, c := range []byte(script) {
		switch c {
		case '{':
			braces++
		case '}':
			braces--
		case '(':
			brackets++
		case ')':
			brackets--
		case '>':
			if (braces > 0 && brackets <= 0) || braces < 0 || strings.ContainsAny(script[:i], "\"/\\#") {
				return false
			}
		}
	}
	return true
}
