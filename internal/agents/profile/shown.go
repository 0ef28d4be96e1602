package profile

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxNamed is how many files a line of Shown names.
const maxNamed = 8

// Prefixes of the lines of Shown that describe the program.
const (
	ofProgram = "its program: "
	ofInstall = "installed first: "
)

// Question formats the consent for an agent, from the lines of Shown or Sees: its program,
// its installation, and the user's files and variables that it sees.
func Question(title string, lines []string) string {
	var about, sees []string
	for _, line := range lines {
		if strings.HasPrefix(line, ofProgram) || strings.HasPrefix(line, ofInstall) {
			about = append(about, strings.ToUpper(line[:1])+line[1:]+"\n")
		} else {
			sees = append(sees, "  "+line+"\n")
		}
	}
	text := title + " runs in a private copy of the folder: what it changes waits for your review.\n" + strings.Join(about, "")
	if len(sees) == 0 {
		return text + "Of yours it sees nothing else.\n"
	}
	return text + "Of yours it sees, besides the folder:\n" + strings.Join(sees, "")
}

// Shown is Sees for a question: a line for each thing that the program sees, with the files
// that are there or that it is about to write, and the variables that are set. What is about
// the program itself comes last.
func (p Profile) Shown() (lines []string) {
	home, err := os.UserHomeDir()
	there := func(name string) bool {
		before, _, _ := strings.Cut(name, "{") // the folder's own is made when it begins
		_, missing := os.Lstat(filepath.Join(home, filepath.FromSlash(before)))
		return err != nil || missing == nil
	}
	left := 0
	say := func(names []string, always bool, what string) {
		var here []string
		for _, name := range names {
			if always || there(name) {
				here = append(here, "~/"+shown(name))
			} else {
				left++
			}
		}
		if len(here) == 0 {
			return
		}
		verb := " is "
		if len(here) > 1 {
			verb = " are "
		}
		if more := len(here) - maxNamed; more > 0 {
			here = append(here[:maxNamed], fmt.Sprintf("%d more", more))
		}
		lines = append(lines, strings.Join(here, ", ")+verb+what)
	}
	say(p.State, true, "read and written: its state")
	say(p.Keys, false, "read; what it refreshes in it is kept")
	say(p.Reads, false, "read")
	say(p.Settings, false, "read; changes are dropped")
	say(p.Copied, false, "read; changes stay in a copy")
	var set []string
	for _, name := range p.Env {
		if _, ok := os.LookupEnv(name); ok {
			set = append(set, name)
		}
	}
	if len(set) > 0 {
		lines = append(lines, "these variables: "+strings.Join(set, ", "))
	}
	lines = append(lines, p.network()...)
	if left += len(p.Env) - len(set); left > 0 {
		lines = append(lines, fmt.Sprintf("%d more of its files and variables, once they are there: sidecar-ls agent list --json names them", left))
	}
	with := ""
	if len(p.World) > 0 {
		with = fmt.Sprintf(", started with %s, because our sandbox is around it", strings.Join(p.World, " "))
	}
	if path := cmp.Or(p.Path, p.Program); path != "" {
		lines = append(lines, ofProgram+path+with)
	}
	if p.Install != "" {
		lines = append(lines, ofInstall+p.Install)
	}
	return lines
}
