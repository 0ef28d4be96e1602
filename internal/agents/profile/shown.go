package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxNamed is how many files a line of Shown names.
const maxNamed = 8

// Shown is Sees for a question: a line for each thing that the program does, with the files
// that are there or that it is about to write, and the variables that are set.
func (p Profile) Shown() (lines []string) {
	home, err := os.UserHomeDir()
	there := func(name string) bool {
		before, _, _ := strings.Cut(name, "{") // the folder's own is made when it begins
		_, missing := os.Lstat(filepath.Join(home, filepath.FromSlash(before)))
		return err != nil || missing == nil
	}
	if p.Install != "" {
		lines = append(lines, p.Install)
	}
	if p.Path != "" {
		lines = append(lines, "it is "+p.Path)
	}
	if len(p.World) > 0 {
		lines = append(lines, fmt.Sprintf("it is started with %s, because our sandbox is around it", strings.Join(p.World, " ")))
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
	if p.Network {
		lines = append(lines, "the network")
	}
	if left += len(p.Env) - len(set); left > 0 {
		lines = append(lines, fmt.Sprintf("%d more of its files and variables, once they are there: sidecar-ls agent list --json names them", left))
	}
	return lines
}
