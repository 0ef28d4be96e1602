// Questions counts how often a person is asked in a day of work with an agent:
//
//	go run ./bench/questions [-server bin/sidecar-ls] [-o bench/questions/RESULTS.md] [-day go-feature] [-v]
//
// A day is a script of tool calls, a file of days/: see day.go. Each is played in each
// mode, in a project and a session of its own. Edits are really made, so that later
// edits find their text. Of everything else the policy says what would be decided, and
// nothing is run. The person allows for the session where that is offered, else once.
//
// Calls that a person must be asked about where they leave the session, whatever was allowed
// before, are marked in the scripts. Each is also explained in a fresh session of the same
// mode: one that is allowed there and leaves the session is a hole, and the program fails. So
// it does when a call is denied that no mark allows to deny.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"path/filepath"
)

// modes are those that are compared.
var modes = []string{"cautious", "review", "audit", "autonomous", "manual"}

func main() {
	log.SetFlags(0)
	server := flag.String("server", "bin/sidecar-ls", "the server's program, which confines commands")
	out := flag.String("o", "", "write the tables to this file")
	baseline := flag.String("baseline", "", "write the counts to this file, for later ones to be compared with")
	only := flag.String("day", "", "play this day alone")
	verbose := flag.Bool("v", false, "print each call that is asked about or denied, in review mode")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ok, err := count(ctx, *server, *only, *out, *baseline, *verbose)
	stop()
	if err != nil {
		log.Fatal(err)
	}
	if !ok {
		os.Exit(1)
	}
}

// count plays the days and prints the tables. It reports whether nothing was allowed that
// must be asked about, and nothing denied without need.
func count(ctx context.Context, server, only, out, baseline string, verbose bool) (bool, error) {
	days, err := readDays(only)
	if err != nil {
		return false, err
	}
	before, err := readBaseline()
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "questions-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, value := range ownPlaces(dir) {
		if err := os.Setenv(name, value); err != nil {
			return false, err
		}
	}
	self, err := filepath.Abs(server)
	if err != nil {
		return false, err
	}
	if _, err := os.Stat(self); err != nil {
		return false, fmt.Errorf("%w; make build makes it", err)
	}
	r := &result{tallies: map[string]map[string]*tally{}}
	for _, d := range days {
		r.days = append(r.days, d)
		r.tallies[d.Name] = map[string]*tally{}
		for _, mode := range modes {
			place := filepath.Join(dir, d.Name+"-"+mode)
			t, err := play(ctx, d, mode, settings{dir: place, program: self})
			if err != nil {
				return false, fmt.Errorf("%s in mode %s: %w", d.Name, mode, err)
			}
			r.tallies[d.Name][mode], r.confined = t, t.confined
			if verbose && mode == "review" {
				for _, line := range t.said {
					fmt.Fprintln(os.Stderr, line)
				}
			}
		}
	}
	text := r.markdown(before)
	fmt.Print(text)
	if out != "" {
		if err := os.WriteFile(out, []byte(text), 0o644); err != nil {
			return false, err
		}
	}
	if baseline != "" {
		counts, err := json.MarshalIndent(r.counts(), "", "\t")
		if err != nil {
			return false, err
		}
		if err := os.WriteFile(baseline, append(counts, '\n'), 0o644); err != nil {
			return false, err
		}
	}
	return r.whole(), nil
}

// ownPlaces are variables that keep a user's settings and state out of the count.
func ownPlaces(dir string) map[string]string {
	return map[string]string{
		"XDG_CONFIG_HOME": filepath.Join(dir, "config"), "XDG_STATE_HOME": filepath.Join(dir, "state"), "XDG_DATA_HOME": filepath.Join(dir, "data"),
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
	}
}

// baselineFile has the questions of each day and mode when they were first counted.
const baselineFile = "baseline.json"

func readBaseline() (map[string]map[string]int, error) {
	text, err := files.ReadFile(baselineFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var counts map[string]map[string]int
	return counts, json.Unmarshal(text, &counts)
}
