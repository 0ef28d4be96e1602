package setup

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
)

// Written is what setup has put into a client, and has not taken out since.
type Written struct {
	Client  string   `json:"client"`
	Road    string   `json:"road"`
	Project string   `json:"project,omitempty"` // its directory, if the files are the project's
	Files   []string `json:"files"`
}

// Forget drops the records of a client in a project that is gone: there is nothing to
// take out.
func (e Env) Forget(client, project string) error {
	all, err := e.records(client, project)
	for _, r := range all {
		err = errors.Join(err, r.forget())
	}
	return err
}

// numbered is the name of a record's directory.
var numbered = regexp.MustCompile(`^(.+)-\d+$`)

// Written is all that there is, of every client and project.
func (e Env) Written() ([]Written, error) {
	dirs, err := os.ReadDir(e.State())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Written
	seen := map[string]bool{}
	for _, d := range dirs {
		m := numbered.FindStringSubmatch(d.Name())
		if m == nil || seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		list, err := e.recordsOf(m[1])
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			w := Written{Client: r.Client, Road: r.Road, Project: r.Project, Files: []string{}}
			for _, f := range r.Files {
				w.Files = append(w.Files, f.Path)
			}
			all = append(all, w)
		}
	}
	return all, nil
}
