package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/trust"
)

// maxTrusted is up to how many folders of a workspace bring something that takes trust.
const maxTrusted = 8

// project is the settings of the project as a source, with what is wrong in words.
// trusted: the user trusts the workspace; then its files hold as they were.
func (s *Settings) project(trusted bool) (src config.Source, problems []string) {
	src = config.Source{Origin: config.Project, Name: config.ProjectFile, Trusted: trusted}
	var states []*trust.State
	if trusted {
		for _, dir := range s.folders[:min(len(s.folders), maxTrusted)] {
			state, err := s.book.Look(dir)
			if err != nil {
				problems = append(problems, err.Error())
			}
			if len(state.Changed()) > 0 && !state.Refused {
				problems = append(problems, state.Words())
			}
			states = append(states, state)
		}
	}
	s.states.Store(&states)
	if trusted {
		of := states[0]
		now := of.Now[config.ProjectFile]
		if now.Problem != "" {
			problems = append(problems, now.Problem)
		}
		src.Data, src.Held, src.Was = []byte(now.Text), len(of.Changed()) > 0, []byte(of.Then[config.ProjectFile].Text)
		return src, problems
	}
	data, err := config.ReadProjectFile(s.folders[0], config.ProjectFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		problems = append(problems, err.Error())
	}
	src.Data = data
	return src, problems
}

// steady is project, read again while a file is written at that moment: what was read
// before a stamp was taken would else count as what has that stamp.
func (s *Settings) steady(trusted bool) (src config.Source, problems []string) {
	for range 3 {
		before := s.stamps()
		src, problems = s.project(trusted)
		if s.seen = s.stamps(); s.seen == before {
			break
		}
		s.seen = "" // the next one who follows reads again
	}
	return src, problems
}

// Trust is what a folder says and what it said when the user trusted it; nil: it
// is not trusted.
func (s *Settings) Trust(dir string) *trust.State {
	for _, state := range s.trusted() {
		if state.Dir == dir {
			return state
		}
	}
	return nil
}

func (s *Settings) trusted() []*trust.State {
	if all := s.states.Load(); all != nil {
		return *all
	}
	return nil
}

// Changed are the trusted folders that are not as they were.
func (s *Settings) Changed() []*trust.State {
	return slices.DeleteFunc(slices.Clone(s.trusted()), func(state *trust.State) bool { return len(state.Changed()) == 0 })
}

// Known says by their hashes which texts of the project were there when the user
// trusted it.
func (s *Settings) Known() func(hash string) bool {
	s.Follow()
	states := s.trusted()
	return func(hash string) bool {
		return slices.ContainsFunc(states, func(state *trust.State) bool { return state.Knows(hash) })
	}
}

// OnChange sets the function that is called whenever the settings are read, with the trusted
// folders that changed since they were trusted; there may be none. It must not wait for the
// settings.
func (s *Settings) OnChange(f func([]*trust.State)) { s.changed.Store(&f) }

// Answer is the user's word on what a folder says, which is known by its hash: it is
// taken, or it is not asked about again. It fails if the folder says something else
// by now.
func (s *Settings) Answer(dir, hash string, take bool) error {
	s.loading.Lock()
	defer s.loading.Unlock()
	state, err := s.book.Look(dir)
	if err == nil && state.Hash() != hash {
		err = errors.New("it has changed again; look at it once more")
	}
	switch {
	case err != nil:
	case take:
		err = s.book.Take(state)
	default:
		err = s.book.Refuse(state)
	}
	s.read()
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// Follow reads all sources again if the user's file or one of the project is another one
// than when they were read.
func (s *Settings) Follow() {
	s.loading.Lock()
	defer s.loading.Unlock()
	if s.now.Load() != nil && (s.ownStamp() != s.own || s.stamps() != s.seen) {
		s.read()
	}
}

// stamps are when the files of the project were changed, and what is kept of them.
func (s *Settings) stamps() string {
	var b strings.Builder
	add := func(name string) { b.WriteString(stamp(name) + ";") }
	for i, dir := range s.folders[:min(len(s.folders), maxTrusted)] {
		if i == 0 {
			add(filepath.Join(dir, config.ProjectFile))
		}
		if state := s.Trust(dir); state != nil {
			add(trust.Page(dir))
			for _, name := range state.Names() {
				add(filepath.Join(dir, filepath.FromSlash(name)))
			}
		}
	}
	return b.String()
}

// stamp changes with a file; it is that of what a link leads to, too.
func stamp(name string) (text string) {
	for _, look := range []func(string) (os.FileInfo, error){os.Lstat, os.Stat} {
		if info, err := look(name); err == nil {
			text += fmt.Sprintf("%d %d %o", info.ModTime().UnixNano(), info.Size(), info.Mode())
		}
	}
	return text
}

// takeOwn takes a change of the project's settings that the user has just said yes to:
// text, if the folder says that and nothing else has changed.
func (s *Settings) takeOwn(text []byte) {
	state, err := s.book.Look(s.folders[0])
	if err == nil && state.Now[config.ProjectFile].Text == string(text) && slices.Equal(state.Changed(), []string{config.ProjectFile}) {
		_ = s.book.Take(state) // else it is asked about
	}
}
