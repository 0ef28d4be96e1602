package shells

import (
	"fmt"
	"path"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/lookup"
)

// A line that is made here, and not by a person or a model, has each of its words
// written so that the program gets it as it is, whatever is in it.

// Command is the line that runs a program with its arguments.
func (s Shell) Command(words ...string) (string, error) {
	if !s.PowerShell {
		line := make([]string, len(words))
		for i, w := range words {
			line[i] = bashWord(w)
		}
		return strings.Join(line, " "), nil
	}
	program := s.batch(words[0])
	pass := s.argument
	if isBatch(program) {
		pass = batchArgument
	}
	line := program
	if !isName(program) {
		line = "& " + literal(program)
	}
	for _, w := range words[1:] {
		word, err := pass(w)
		if err != nil {
			return "", err
		}
		line += " " + word
	}
	return line, nil
}

// Set is the beginning of a line that gives the environment variables, each NAME=value,
// for what follows.
func (s Shell) Set(variables ...string) (line string) {
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		if s.PowerShell {
			line += "$env:" + name + " = " + literal(value) + "; "
		} else {
			line += " " + name + "=" + bashWord(value)
		}
	}
	if s.PowerShell || line == "" {
		return line
	}
	return "export" + line + "; "
}

// bashWord is a text as one word of a line for bash.
func bashWord(text string) string {
	if text != "" && strings.Trim(text, letters+"_-./:=@%+,") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// literal is a text in the quotes in which PowerShell expands nothing. It ends them with
// any of five characters, each of which stands for itself when it is there twice.
func literal(text string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range text {
		if strings.ContainsRune("'\u2018\u2019\u201a\u201b", r) {
			b.WriteRune(r)
		}
		b.WriteRune(r)
	}
	return b.String() + "'"
}

// isName reports whether a word is one for PowerShell without quotes, where a program's
// name or a path is expected. What may begin an expression, a number or a parameter is
// none.
func isName(word string) bool {
	return word != "" && strings.Trim(word, letters+"_-./") == "" && strings.Trim(word[:1], "0123456789-/") != ""
}

// isOption reports whether a word is one that PowerShell passes on as it is. It would
// part -a.b and -a:b, and -- may mean something to it.
func isOption(word string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
	return name != "" && name != word && strings.Trim(name, letters+"-") == "" && strings.Trim(name[:1], "0123456789-") != ""
}

// argument is a word that PowerShell gives to a program. As all did before 7.3, it puts
// a text with a blank in quotes, but passes on the quotes and the backslashes in it as
// they are, and drops one that is empty.
func (s Shell) argument(word string) (string, error) {
	blank := strings.ContainsFunc(word, isBlank)
	switch {
	case isName(word) || isOption(word):
		return word, nil
	case !s.Old:
		return literal(word), nil
	case word == "":
		return `'""'`, nil
	case strings.Contains(word, `"`) && blank:
		return "", fmt.Errorf("%q has blanks and a double quote, which this PowerShell can't pass to a program: leave the quotes out, or use PowerShell 7.3 or bash (the setting %s)", word, Setting)
	case blank && strings.HasSuffix(word, `\`):
		return literal(`"` + escaped(word) + `"`), nil
	case strings.Contains(word, `"`):
		return literal(escaped(word)), nil
	}
	return literal(word), nil
}

// isBlank reports whether PowerShell takes a character for a blank, or the program does.
func isBlank(r rune) bool {
	return strings.ContainsRune(" \t\n\v\f\r\u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000", r) || r >= 0x2000 && r <= 0x200a
}

// escaped is a text as it stands in a command line of Windows: a backslash counts where
// a quote follows, and those at the end are followed by one where blanks are quoted.
func escaped(text string) string {
	var b strings.Builder
	slashes := 0
	for _, r := range text {
		switch r {
		case '\\':
			slashes++
			continue
		case '"':
			b.WriteString(strings.Repeat(`\`, 2*slashes+1))
		default:
			b.WriteString(strings.Repeat(`\`, slashes))
		}
		slashes = 0
		b.WriteRune(r)
	}
	if strings.ContainsFunc(text, isBlank) {
		slashes *= 2
	}
	return b.String() + strings.Repeat(`\`, slashes)
}

// batchArgument is a word that PowerShell gives to a batch file, whose line cmd.exe
// reads: outside of double quotes it has operators, and inside of them it has
// variables. PowerShell of any version passes on what has its own quotes.
func batchArgument(word string) (string, error) {
	switch {
	case isName(word) || isOption(word):
		return word, nil
	case strings.ContainsAny(word, "\"%!\r\n"):
		return "", fmt.Errorf("%q would not reach the batch file as it is: leave out the characters \" %% and !, or use bash (the setting %s)", word, Setting)
	}
	end := len(word) - len(strings.TrimRight(word, `\`))
	return literal(`"` + word + strings.Repeat(`\`, end) + `"`), nil
}

// batch is a program's name with the ending of the batch file that it is: PowerShell
// would rather take a script of its own that lies beside it.
func (s Shell) batch(program string) string {
	look := s.look
	if look == nil {
		look = lookup.Confined
	}
	if strings.ContainsAny(program, `/\`) || path.Ext(program) != "" {
		return program
	}
	if at, err := look(program); err == nil && isBatch(at) {
		return program + strings.ToLower(path.Ext(at))
	}
	return program
}

// isBatch reports whether cmd.exe runs a program.
func isBatch(program string) bool {
	ext := strings.ToLower(path.Ext(program))
	return ext == ".cmd" || ext == ".bat"
}
