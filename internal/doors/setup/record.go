package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
)

// record is what was put where, for undo. It lies in a directory of its own,
// beside copies of what was there.
type record struct {
	Version int          `json:"version"`
	Client  string       `json:"client"`
	Road    string       `json:"road"`
	Project string       `json:"project,omitempty"` // its directory
	Review  bool         `json:"review,omitempty"`  // all edits were to wait for review
	At      time.Time    `json:"at"`
	Files   []recordFile `json:"files"`

	dir    string
	number int
}

// recordFile is a file that was written.
type recordFile struct {
	Path    string   `json:"path"`
	Family  family   `json:"family"`
	Existed bool     `json:"existed"`
	Copy    string   `json:"copy,omitempty"` // the name of the copy
	Sum     string   `json:"sum"`            // of what was written
	Did     []done   `json:"did,omitempty"`
	Made    []string `json:"made,omitempty"` // directories
}

const recordVersion = 1

// State is where copies and records are kept.
func (e Env) State() string {
	dir, _ := e.user().Dir(userdirs.State) // there is a home directory: without one there is no Env
	return filepath.Join(dir, "setup")
}

func (e Env) user() userdirs.User {
	return userdirs.User{System: runtime.GOOS, Home: e.Home, Getenv: e.Getenv}
}

// keep writes a record with copies of the files as they are before the change.
func (e Env) keep(r *record, all []*staged) error {
	state := e.State()
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	r.Version, r.At = recordVersion, time.Now().UTC()
	for n := 1; ; n++ {
		r.dir = filepath.Join(state, fmt.Sprintf("%s-%d", r.Client, n))
		if err := os.Mkdir(r.dir, 0o700); err == nil {
			break
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	for i, s := range all {
		f := recordFile{Path: s.Path, Family: s.family, Existed: s.existed, Sum: sum(s.after), Did: s.did, Made: s.madePaths()}
		if s.existed {
			f.Copy = fmt.Sprintf("%d-%s", i+1, filepath.Base(s.Path))
			if err := writeNew(filepath.Join(r.dir, f.Copy), s.before, 0o600); err != nil {
				return errors.Join(err, r.forget())
			}
		}
		r.Files = append(r.Files, f)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = writeNew(filepath.Join(r.dir, "record.json"), append(data, '\n'), 0o600)
	}
	if err != nil {
		return errors.Join(err, r.forget())
	}
	return nil
}

// forget takes a record away.
func (r *record) forget() error { return os.RemoveAll(r.dir) }

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// records are those of a client in a project, or outside of projects for "", the
// oldest first.
func (e Env) records(client, project string) ([]*record, error) {
	all, err := e.recordsOf(client)
	return slices.DeleteFunc(all, func(r *record) bool { return r.Project != project }), err
}

// recordsOf are those of a client, the oldest first.
func (e Env) recordsOf(client string) ([]*record, error) {
	dirs, err := os.ReadDir(e.State())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []*record
	for _, d := range dirs {
		number, ok := strings.CutPrefix(d.Name(), client+"-")
		n, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		dir := filepath.Join(e.State(), d.Name())
		data, err := os.ReadFile(filepath.Join(dir, "record.json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a run that was killed before it wrote anything else
		}
		r := &record{}
		if err == nil {
			in := json.NewDecoder(bytes.NewReader(data))
			in.UseNumber() // as the settings are read
			err = in.Decode(r)
		}
		if err == nil && r.Version != recordVersion {
			err = fmt.Errorf("it is of version %d, which this sidecar-ls does not know", r.Version)
		}
		if err != nil {
			return nil, fmt.Errorf("%s can't be read: %w; the copies beside it are of what was there", filepath.Join(dir, "record.json"), err)
		}
		r.dir, r.number = dir, n
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *record) int { return a.number - b.number })
	return out, nil
}
