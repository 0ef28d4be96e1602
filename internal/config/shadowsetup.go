package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a setup.
const (
	maxSetupSteps = 50
	maxSetupRun   = 32 << 10 // bytes of a command line
	maxSetupWhen  = 20
	setupTime     = 10 * time.Minute // unless a step says otherwise
)

// SetupStep is a command that makes a new shadow workspace usable.
type SetupStep struct {
	Run  string   // a line for the shell
	When []string // files, relative to the folder, with slashes: it runs again when one of them changed
	Time int      // seconds that it may take; 0: setupTime
	In   string   // a directory: it runs only in the workspace of it; "": everywhere

	Project bool // it is a project's
}

// Timeout is how long it may take.
func (s SetupStep) Timeout() time.Duration {
	if s.Time == 0 {
		return setupTime
	}
	return time.Duration(s.Time) * time.Second
}

// shadowSetup reads a list of steps. One that is wrong spoils the list: the steps after it may
// need it.
func (p *parser) shadowSetup(v jsontext.Value) (any, bool) {
	all, ok := p.entries(v, "steps", maxSetupSteps)
	if !ok {
		return nil, false
	}
	var got []SetupStep
	for i, e := range all {
		step, stepOK := p.setupStep(fmt.Sprintf("step %d: ", i+1), e)
		got, ok = append(got, step), ok && stepOK
	}
	if !ok {
		return nil, false
	}
	return got, true
}

// setupStep reads a step: a command line, or an object.
func (p *parser) setupStep(where string, v jsontext.Value) (SetupStep, bool) {
	s := SetupStep{Project: p.origin == Project}
	var ok bool
	if v.Kind() == '"' {
		s.Run, ok = p.text(strings.TrimSuffix(where, ": "), v)
	} else {
		ok = p.fields(where, v, map[string]func(string, jsontext.Value) bool{
			"run": p.into(&s.Run), "when": p.intoList(&s.When), "timeout": p.seconds(&s.Time), "in": p.into(&s.In),
		})
	}
	if !ok {
		return s, false
	}
	if why := s.check(); why != "" {
		p.wrong("%s%s", where, why)
		return s, false
	}
	return s, true
}

// check says what is wrong with a step, or "".
func (s *SetupStep) check() string {
	switch {
	case strings.TrimSpace(s.Run) == "":
		return "needs a command: run, or a string in the place of the object"
	case len(s.Run) > maxSetupRun || strings.ContainsRune(s.Run, 0):
		return fmt.Sprintf("run must be a text of at most %d bytes; put it into a script", maxSetupRun)
	case len(s.When) > maxSetupWhen:
		return fmt.Sprintf("when must name at most %d files, not %d", maxSetupWhen, len(s.When))
	case s.In != "" && s.Project:
		return "in: belongs to your own settings, not to a project's"
	case s.In != "" && !filepath.IsAbs(s.In):
		return "in: must be the whole path of a directory, not " + cut(s.In)
	}
	for _, name := range s.When {
		if name == "" || name != path.Clean(name) || !filepath.IsLocal(filepath.FromSlash(name)) || name == "." || strings.Contains(name, `\`) {
			return fmt.Sprintf("when: %q must be the name of a file in the project, such as package-lock.json or web/package-lock.json", cut(name))
		}
	}
	return ""
}

// addSetup lets a later source replace the steps of those before it, but for steps that hold in
// another workspace alone.
func addSetup(have, want any) any {
	elsewhere := slices.DeleteFunc(slices.Clone(have.([]SetupStep)), func(s SetupStep) bool { return s.In == "" })
	return append(elsewhere, want.([]SetupStep)...)
}

// besideSetup keeps a project's steps beside those of the user, which hold in their place:
// where, only the workspace says.
func besideSetup(_ *Setting, have, want any) (any, []string) {
	got := have.([]SetupStep)[:len(have.([]SetupStep)):len(have.([]SetupStep))]
	for _, step := range want.([]SetupStep) {
		step.Project, step.In = true, ""
		got = append(got, step)
	}
	return got, nil
}

// heldSetup keeps the steps that are still there, as they were.
func heldSetup(then, now any) any {
	return slices.DeleteFunc(slices.Clone(then.([]SetupStep)), func(s SetupStep) bool {
		return !slices.ContainsFunc(now.([]SetupStep), func(o SetupStep) bool { return o.Run == s.Run })
	})
}

// ShadowSetup returns the steps of the setting shadow.setup in a workspace with these folders:
// those that name it, else those of the user or the editor for all workspaces, else the
// project's.
func (s *Settings) ShadowSetup(folders []string) []SetupStep {
	var here, own, project []SetupStep
	for _, step := range get[[]SetupStep](s, setupKey) {
		switch {
		case step.Project:
			project = append(project, step)
		case step.In == "":
			own = append(own, step)
		case len(folders) > 0 && realPath(step.In) == realPath(folders[0]):
			here = append(here, step)
		}
	}
	for _, steps := range [...][]SetupStep{here, own} {
		if len(steps) > 0 {
			return steps
		}
	}
	return project
}

const setupKey = "shadow.setup"

func cloneSetup(steps []SetupStep) []SetupStep {
	got := slices.Clone(steps)
	for i := range got {
		got[i].When = slices.Clone(got[i].When)
	}
	return got
}

// SetupValue is steps as a source has them.
func SetupValue(steps []SetupStep) ([]byte, error) {
	type written struct {
		Run  string   `json:"run"`
		When []string `json:"when,omitempty"`
		Time int      `json:"timeout,omitempty"`
		In   string   `json:"in,omitempty"`
	}
	all := []written{}
	for _, s := range steps {
		all = append(all, written{s.Run, s.When, s.Time, s.In})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("  ", "  ")
	err := enc.Encode(all)
	return bytes.TrimSpace(b.Bytes()), err
}

// PutUserSetup writes steps for the workspace of a directory into the user's file, in the place
// of those that it has for that one. Its others stay as they are written.
func PutUserSetup(dir string, steps []SetupStep) error {
	src, err := UserSource()
	if err != nil {
		return err
	}
	return putUser(src, func() ([]byte, error) { return putSetup(src, dir, steps) })
}

func putSetup(src Source, dir string, steps []SetupStep) ([]byte, error) {
	value, err := SetupValue(steps)
	if err != nil {
		return nil, err
	}
	had := read(&src).entries[setupKey].value
	if had == nil {
		return Put(src, setupKey, value)
	}
	if had.Kind() != '[' {
		return nil, fmt.Errorf("%s is no list in %s; change it there by hand", setupKey, src.String())
	}
	var all []string
	for _, v := range elements(had) {
		var step struct{ In string }
		if v.Kind() == '{' && json.Unmarshal(v, &step) == nil && step.In != "" && realPath(step.In) == realPath(dir) {
			continue
		}
		all = append(all, string(v))
	}
	for _, v := range elements(value) {
		all = append(all, string(v))
	}
	return Put(src, setupKey, []byte("[\n    "+strings.Join(all, ",\n    ")+"\n  ]"))
}
