package main

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// files are the scripts and the first counts.
//
//go:embed days/*.jsonl *.json
var files embed.FS

// Day is one script: the first line of its file says what it begins with, each other line
// is a call.
type Day struct {
	Name  string            `json:"-"`     // of the file
	Agent string            `json:"agent"` // whose habits it has
	About string            `json:"about"`
	Files map[string]string `json:"files"` // of the project, as committed
	Loose map[string]string `json:"loose"` // that git ignores
	Calls []Call            `json:"-"`
}

// Call is one tool call. {{root}} in its arguments is the project's directory.
type Call struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`

	// Asked says that a person must be asked, in every mode but autonomous, whatever the
	// border learns to let through: the call has an effect that no review brings back.
	Asked bool   `json:"asked,omitempty"`
	For   string `json:"for,omitempty"` // why: a row of reasons
}

// reason is why a person must be asked.
type reason struct {
	always bool // in the modes that ask about nothing else, too
	deny   bool // a denial is as good
}

// reasons are the effects that no mode which asks lets through.
var reasons = map[string]reason{
	"push":      {},                         // what others then have
	"install":   {},                         // programs from the network
	"network":   {},                         // a server that is not the session's own
	"outside":   {deny: true},               // files, settings and services outside of the workspace
	"secret":    {always: true, deny: true}, // a file that holds one is read
	"protected": {always: true, deny: true}, // a file that programs obey is written
	"lost":      {always: true},             // nothing brings it back
	"settings":  {always: true},             // of this program
}

// readDays reads the scripts, or one.
func readDays(only string) ([]*Day, error) {
	names, err := files.ReadDir("days")
	if err != nil {
		return nil, err
	}
	var days []*Day
	for _, n := range names {
		name := strings.TrimSuffix(n.Name(), ".jsonl")
		if only != "" && name != only {
			continue
		}
		d, err := readDay(name)
		if err != nil {
			return nil, err
		}
		days = append(days, d)
	}
	if len(days) == 0 {
		return nil, fmt.Errorf("there is no day %q", only)
	}
	return days, nil
}

func readDay(name string) (*Day, error) {
	text, err := files.ReadFile(path.Join("days", name+".jsonl"))
	if err != nil {
		return nil, err
	}
	d := &Day{Name: name}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var into any = d
		var c Call
		if n > 1 {
			into = &c
		}
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		dec.DisallowUnknownFields()
		if err := dec.Decode(into); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if n == 1 {
			continue
		}
		if _, known := reasons[c.For]; known != c.Asked {
			return nil, fmt.Errorf("%s:%d: asked and for go together, and for is not %q", name, n, c.For)
		}
		d.Calls = append(d.Calls, c)
	}
	return d, lines.Err()
}

// must reports whether a person has to be asked about the call in a mode. Autonomous asks
// about what every mode asks about.
func (c Call) must(mode string) bool {
	return c.Asked && (reasons[c.For].always || mode != "autonomous")
}

// mayDeny reports whether a denial of the call is right.
func (c Call) mayDeny() bool { return c.Asked && reasons[c.For].deny }

// in are the call's arguments in a directory.
func (c Call) in(dir string) json.RawMessage {
	quoted, _ := json.Marshal(dir)
	return bytes.ReplaceAll(c.Arguments, []byte("{{root}}"), quoted[1:len(quoted)-1])
}
