package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
)

// Origin is where a source comes from. A later one is laid over an earlier one.
type Origin int

// The origins of settings.
const (
	User    Origin = iota // the user's file
	Client                // the editor
	Project               // the file in the workspace
	Machine               // an administrator's file: a floor for the others
)

var originNames = [...]string{"user", "client", "project", "machine"}

func (o Origin) String() string { return originNames[o] }

// ProjectFile is where a project keeps its settings, relative to its root.
const ProjectFile = ".sidecar/settings.json"

// Source is one place that settings are read from.
type Source struct {
	Origin  Origin
	Name    string // a file's path, for messages; may be empty
	Data    []byte // JSON; empty sets nothing
	Trusted bool   // of a project: the user trusts it
	Held    bool   // of a trusted project: it was trusted when Was stood there
	Was     []byte // of each setting the stricter of Was and Data holds
	Shared  bool   // others than the user may read it
	Broken  string // of the machine: why nothing of it can be believed
}

const ofMachine = "the machine's settings, "

// OfMachine reports whether the name of a source is that of the machine's settings.
func OfMachine(source string) bool { return strings.HasPrefix(source, ofMachine) }

func (s *Source) String() string {
	if s.Origin == Machine {
		return ofMachine + s.Name
	}
	if s.Name != "" {
		return s.Name
	}
	return s.Origin.String() + " settings"
}

// Problem is something in a source that does not hold.
type Problem struct {
	Source  string
	Key     string // "": the source as a whole
	Line    int    // counted from one; 0: not known
	Message string

	renamed bool // of an old name, which still works
}

// String is the problem as a person is told it.
func (p Problem) String() string {
	where := p.Source
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, p.Line)
	}
	if p.Key != "" {
		return where + ": " + prefix + "." + p.Key + ": " + p.Message
	}
	return where + ": " + p.Message
}

// UserSource reads the user's file. Without one it sets nothing.
func UserSource() (Source, error) {
	src := Source{Origin: User, Name: UserFile()}
	if src.Name == "" {
		return src, nil
	}
	f, err := os.Open(src.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return src, nil
	}
	if err != nil {
		return src, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		src.Shared = private(src.Name, info) != nil
	}
	src.Data, err = io.ReadAll(io.LimitReader(f, MaxSourceBytes+1)) // Load refuses what is longer
	return src, err
}

// exposed is a problem where others may read a source that has a key in it.
func (s Source) exposed() []Problem {
	if !s.Shared {
		return nil
	}
	s.Shared = false
	alone, _ := Load(s)
	key := ""
	for _, row := range table {
		if row.Secret && row.Type == String && variable.ReplaceAllString(alone.String(row.Key), "") != "" {
			key = row.Key
		}
	}
	for _, b := range alone.Backends() {
		if b.Key != "" {
			key = "backend.profiles"
		}
	}
	if key == "" {
		return nil
	}
	return []Problem{{Source: s.String(), Key: key, Message: "there is a key in it, and others may read the file: run chmod 600 on it, or keep the key in keyFile or keyring"}}
}

// UserFile returns the path of the user's settings, or "" when the system
// names no directory for such files.
func UserFile() string {
	dir, err := userdirs.Here().Dir(userdirs.Config)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "settings.json")
}
