package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/userdirs"
)

// The machine's settings are an administrator's. They stand above all other sources, as a
// floor: users, editors and projects only make them stricter.
//
// A file that an administrator put there says that there is a policy. When it can't be believed
// or understood, nothing that changes or runs is allowed: no policy in its place would be what
// nobody decided. A file of somebody else says nothing. Were it obeyed, or did it lock, whoever
// can make a file there would decide for everybody; so it is ignored, with a warning.

// MachineFile says where the machine's settings are. The zero value is a machine without any.
type MachineFile struct {
	Path  string // absolute
	Owner string // who may own it besides administrators, as the system numbers users; "": nobody
}

// MachineHere is the machine's file on this system.
func MachineHere() MachineFile {
	return MachineFile{Path: filepath.Join(userdirs.Machine(), "settings.json")}
}

// machineStep is a directory on the way to the file, or the file.
type machineStep struct {
	path string
	info fs.FileInfo
	err  error
}

// steps are the directories from the top, and the file last.
func (m MachineFile) steps() []machineStep {
	var all []machineStep
	for at := m.Path; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		all = append(all, machineStep{at, info, err})
		if filepath.Dir(at) == at {
			break
		}
	}
	slices.Reverse(all)
	return all
}

// Stamp changes when the file does, or who may write it.
func (m MachineFile) Stamp() string {
	if m.Path == "" {
		return ""
	}
	var b strings.Builder
	for _, s := range m.steps() {
		if s.err != nil {
			fmt.Fprintf(&b, "%v;", s.err)
			continue
		}
		owner, _ := m.owner(s.path, s.info)
		fmt.Fprintf(&b, "%o %s;", s.info.Mode(), owner)
	}
	if info, err := os.Lstat(m.Path); err == nil {
		fmt.Fprintf(&b, "%d %d", info.ModTime().UnixNano(), info.Size())
	}
	return b.String()
}

// Source reads the machine's settings. Without a file they say nothing. warning is of a file
// that is no administrator's: nothing of it holds.
func (m MachineFile) Source() (src Source, warning string) {
	src = Source{Origin: Machine, Name: m.Path}
	if m.Path == "" {
		return src, ""
	}
	steps := m.steps()
	doubt, linked := "", false
	for i, s := range steps {
		file := i == len(steps)-1
		switch {
		case errors.Is(s.err, fs.ErrNotExist) || errors.Is(s.err, syscall.ENOTDIR):
			if linked { // it is meant to be elsewhere, and is not there
				src.Broken = doubt
			}
			return src, ""
		case s.err != nil:
			src.Broken = fmt.Sprintf("%s can't be looked at: %v", s.path, s.err)
			return src, ""
		}
		owner, admin := m.owner(s.path, s.info)
		link := s.info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0
		switch {
		case file && !admin:
			return Source{Origin: Machine, Name: m.Path}, fmt.Sprintf("%s belongs to %s, who is no administrator and must not decide for this machine: nothing in it holds. Have an administrator remove it or write it anew", m.Path, owner)
		case doubt != "":
		case !admin:
			doubt = fmt.Sprintf("%s belongs to %s: give it to an administrator", s.path, owner)
		case link:
			doubt, linked = s.path+" is a link: put what it leads to in its place", true
		case file && !s.info.Mode().IsRegular():
			doubt = s.path + " is no file"
		default:
			doubt = m.open(s.path, s.info, i < len(steps)-2)
		}
	}
	if src.Broken = doubt; doubt != "" {
		return src, ""
	}
	var err error
	if src.Data, err = readSame(m.Path, steps[len(steps)-1].info); err != nil {
		src.Broken = fmt.Sprintf("%s can't be read: %v", m.Path, err)
	}
	return src, ""
}

// readSame reads a file, which must still be the one that was looked at.
func readSame(path string, looked fs.FileInfo) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(looked, now) {
		return nil, errors.New("it was replaced while it was read")
	}
	return io.ReadAll(io.LimitReader(f, MaxSourceBytes+1)) // Load refuses what is longer
}

// Locked says why nothing that changes or runs is allowed; "" when it is.
func (s *Settings) Locked() string { return s.locked }

// Floor returns the machine's value of key; ok is false when it has none.
func (s *Settings) Floor(key string) (value any, ok bool) {
	value, ok = s.floor[key]
	return value, ok
}

// FloorWords names the machine's file and the settings that it bounds; "" is none.
func (s *Settings) FloorWords() string {
	if len(s.floor) == 0 {
		return ""
	}
	return fmt.Sprintf("%s, bound %s", s.machine, strings.Join(slices.Sorted(maps.Keys(s.floor)), ", "))
}

// DeniedBy names the machine's file where that denies a tool; "" where it does not.
func (s *Settings) DeniedBy(tool string) string {
	if p, _ := s.floor["toolPermissions"].(map[string]string); p[tool] == "deny" {
		return s.machine
	}
	return ""
}

// FloorMode is the mode of the machine's settings, or "".
func (s *Settings) FloorMode() string {
	mode, _ := s.floor["mode"].(string)
	return mode
}

// lock locks the settings when the machine's source can't be followed. Old names can.
func (s *Settings) lock(d *document) {
	why := d.source.Broken
	if why != "" {
		d.report("", 0, "%s", why)
	} else if len(d.problems)+d.more > d.renamed {
		for _, p := range d.problems {
			if !p.renamed {
				why = p.String()
				break
			}
		}
	}
	if why != "" {
		s.locked = fmt.Sprintf("%s can't be followed (%s); nothing that changes or runs is allowed until an administrator puts that right", d.source, strings.TrimPrefix(why, d.source.String()+": "))
	}
}

// orders are tighten for settings that projects may not set: which value is stricter.
var orders = map[string]func(row *Setting, have, want any) (any, []string){
	"workspace.trust": stricterOf,
	"audit.enabled":   onlyTrue,
	"steps.required":  onlyTrue,
}

func onlyTrue(_ *Setting, have, want any) (any, []string) {
	if have.(bool) && !want.(bool) {
		return have, []string{"can't turn it off"}
	}
	return want, nil
}

// holdMachine puts what the machine says of a row below what holds so far, as a floor.
func (s *Settings) holdMachine(row *Setting, now setting, d *document, others []*document) setting {
	own := setting{value: row.empty()}
	for _, e := range d.said(row) {
		own = s.lay(row, own, d, e)
	}
	if len(own.sources) == 0 {
		return now
	}
	s.floor[row.Key], s.machine = own.value, d.source.String()
	got, loose := row.both(own.value, now)
	if loose && len(now.sources) > 0 {
		for _, o := range others {
			for _, e := range o.said(row) {
				if slices.Contains(now.sources, o.source.String()) {
					o.report(e.key(row), e.line, "%s say otherwise, and they hold: this can only be stricter", d.source)
				}
			}
		}
	}
	if row.Key == "mode" {
		mode, _ := row.both(own.value, setting{s.ownMode, []string{""}})
		s.ownMode = mode.(string)
	}
	switch name := d.source.String(); {
	case reflect.DeepEqual(got, now.value):
		return now
	case row.single():
		return setting{got, []string{name}}
	default:
		return setting{got, with(now.sources, name)}
	}
}

// both is the stricter of what the machine says and what holds so far. loose: some of the
// latter is not as strict, and does not hold. Of a setting without an order the machine's
// value holds.
func (row *Setting) both(machine any, now setting) (got any, loose bool) {
	tighten := row.tighten
	if tighten == nil {
		tighten = orders[row.Key]
	}
	switch {
	case row.Type == Permissions:
		return strictestOutcomes(machine.(map[string]string), now.value.(map[string]string))
	case row.Type == CommandRules: // of those that match the strictest holds
		return addRules(now.value, machine), false
	case tighten != nil:
		got, refused := tighten(row, machine, now.value)
		return got, len(refused) > 0
	case len(now.sources) == 0:
		return machine, false
	case row.Type == Strings:
		return commonOf(machine.([]string), now.value.([]string))
	}
	return machine, !reflect.DeepEqual(machine, now.value)
}

// strictestOutcomes has of each tool the stricter outcome.
func strictestOutcomes(machine, others map[string]string) (got map[string]string, loose bool) {
	got = map[string]string{}
	maps.Copy(got, others)
	for tool, outcome := range machine {
		if strictness(outcome) > strictness(got[tool]) {
			_, said := got[tool]
			got[tool], loose = outcome, loose || said
		}
	}
	return got, loose
}

// commonOf are the elements of both lists. * stands for all.
func commonOf(machine, others []string) (got []string, loose bool) {
	switch {
	case slices.Contains(machine, "*"):
		return others, false
	case slices.Contains(others, "*"):
		return machine, true
	}
	for _, s := range others {
		if slices.Contains(machine, s) {
			got = append(got, s)
		}
	}
	return got, len(got) < len(others)
}
