// Package skills finds and reads Agent Skills (agentskills.io): directories with a
// SKILL.md that says when and how to do something. They are the project's, the user's,
// those of plugins, and the ones that ship.
package skills

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/files/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Bounds of what the specification allows, in characters.
const (
	maxName          = 64
	maxDescription   = 1024
	maxCompatibility = 500
)

// Place is a directory of skills.
type Place struct {
	Dir     string // absolute
	Origin  string // whose they are, as people are told it
	Project bool   // they come with the project: its trust holds for them, and their text is from outside
}

// The origins that are always there.
const (
	OfProject = "project"
	OfUser    = "user"
	Shipped   = "shipped"
)

// Skill is a skill as it was found.
type Skill struct {
	Name          string
	Description   string
	License       string
	Compatibility string
	Metadata      map[string]string
	AllowedTools  []string // that it would be given without a question, were it for its author: told to people, it allows nothing
	Requires      []string // tools without which it is of no use
	Steps         []string // of a kit, in order

	Origin   string
	Project  bool
	Warnings []string
	Flags    []string // what in its description seems to instruct the model
	Missing  string   // why it can't be used here, with what to do; "" if it can

	files source // of its directory
	body  string
	cut   bool   // the body goes on
	hash  string // of SKILL.md
	held  string // why the user's trust does not hold for it; "": it does
	path  string // of that, without links
	text  string // of that, where it is kept
}

// Kit reports whether the skill is a kit: tools, and an order of steps to use them in.
func (s *Skill) Kit() bool { return len(s.Requires) > 0 && len(s.Steps) > 0 }

// Body is what SKILL.md says below its frontmatter, and whether that was cut.
func (s *Skill) Body() (text string, cut bool) { return s.body, s.cut }

// Settings is what the user says of the project: *live.Settings.
type Settings interface {
	Trusted() bool
	Known() func(hash string) bool // whether a text was there when the user trusted the project
}

// Cleaner makes text from outside harmless: *redact.Redactor.
type Cleaner interface {
	Sanitize(string) string // without escape sequences and invisible characters
	Defuse(string) string   // without what a viewer would fetch by itself
	Signs(string) []string  // what seems to instruct the model, by name
}

// Options are what a Library needs. Settings and Clean have to be there.
type Options struct {
	User     []Place        // nil: UserPlaces
	More     func() []Place // those of plugins; nil: none
	Settings Settings
	Clean    Cleaner
	Files    workspace.Files // of the project as the user sees them, for who has no session; nil: none
	Watch    *watch.Lazy     // of the project's disk; nil: changes are not told
}

// Library finds skills. Nothing is remembered, so that what it says is so now. It is
// safe for concurrent use.
type Library struct {
	o       Options
	shipped func() []*Skill
}

// New returns a library.
func New(o Options) *Library {
	if o.User == nil {
		o.User = UserPlaces()
	}
	l := &Library{o: o}
	l.shipped = sync.OnceValue(func() []*Skill {
		f := l.finder(context.Background(), Place{Origin: Shipped}, nil)
		f.look(embedded{}, "shipped")
		return f.found
	})
	return l
}

// UserPlaces are where a user's skills are, for every client and for this one.
func UserPlaces() (places []Place) {
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		for _, dir := range []string{".agents", ".claude"} {
			places = append(places, Place{Dir: filepath.Join(home, dir, "skills"), Origin: OfUser})
		}
	}
	if own := config.Beside("skills"); own != "" {
		places = append(places, Place{Dir: own, Origin: OfUser})
	}
	return places
}

// Found is what there is.
type Found struct {
	Skills   []Skill  // sorted by name, each name once
	Problems []string // what could not be read, for people
}

// List finds the skills that a session can be told of: those of the project in its
// files, and all others. has says which tools the session has; nil: all.
func (l *Library) List(ctx context.Context, files workspace.Files, has func(tool string) bool) Found {
	var all Found
	var list []*Skill
	trusted, known := l.o.Settings.Trusted(), l.o.Settings.Known()
	add := func(f *finder) {
		list = append(list, f.found...)
		all.Problems = append(all.Problems, f.problems...)
	}
	seen := map[string]bool{}
	for _, f := range l.ofProject(ctx, files, seen) {
		add(f)
	}
	places := l.o.User
	if l.o.More != nil {
		places = slices.Concat(places, l.o.More())
	}
	for _, p := range places {
		f := l.finder(ctx, p, seen)
		f.lookInPlace()
		add(f)
	}
	list = append(list, l.shipped()...)
	byName := map[string]int{}
	for _, s := range list {
		one := *s
		one.Warnings = slices.Clone(s.Warnings)
		if one.Project && !trusted {
			one.held = "the workspace is not trusted"
			one.Missing = "the workspace is not trusted: trust it (sidecar-ls trust yes, or in the editor), and its skills can be used"
		} else if one.Origin == OfProject && !known(one.hash) {
			one.held = "it is not as it was when the workspace was trusted"
			one.Missing = "it is not as it was when the workspace was trusted: the user sees the change with sidecar-ls trust, and takes it with sidecar-ls trust yes"
		} else if has != nil {
			one.Missing = missingTools(one.Requires, has)
		}
		at, there := byName[one.Name]
		switch {
		case !there:
			byName[one.Name] = len(all.Skills)
			all.Skills = append(all.Skills, one)
		case all.Skills[at].held != "" && !one.Project: // what is not trusted hides nothing
			one.Warnings = append(one.Warnings, fmt.Sprintf("the %s has a skill of this name too, which is left out because %s", all.Skills[at].Origin, all.Skills[at].held))
			all.Skills[at] = one
		default:
			first := &all.Skills[at]
			if word := fmt.Sprintf("it hides the %s skill of this name", one.Origin); first.Origin != one.Origin {
				first.Warnings = append(first.Warnings, word)
			} else {
				first.Warnings = append(first.Warnings, fmt.Sprintf("another %s skill of this name is left out", one.Origin))
			}
		}
	}
	slices.SortFunc(all.Skills, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func missingTools(requires []string, has func(string) bool) string {
	var missing []string
	for _, t := range requires {
		if !has(t) {
			missing = append(missing, t)
		}
	}
	switch len(missing) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("it needs the tool %s, which this session does not have", missing[0])
	}
	return fmt.Sprintf("it needs the tools %s, which this session does not have", strings.Join(missing, ", "))
}

// Find is the skill of a name, which may be spelt with underscores, too.
func (f Found) Find(name string) (*Skill, bool) {
	want := Slug(name)
	for i := range f.Skills {
		if f.Skills[i].Name == want {
			return &f.Skills[i], true
		}
	}
	return nil, false
}

// Names are the names of the skills.
func (f Found) Names() []string {
	names := make([]string, len(f.Skills))
	for i, s := range f.Skills {
		names[i] = s.Name
	}
	return names
}

// KitTools are the tools of a kit, as the user sees the project now; nil: there is no
// such kit, or it may not be used.
func (l *Library) KitTools(name string) []string {
	if s, ok := l.List(context.Background(), l.o.Files, nil).Find(name); ok && s.Missing == "" && s.Kit() {
		return slices.Clone(s.Requires)
	}
	return nil
}

// Slug is a name as the specification wants it: lower case, hyphens for what is
// neither a letter nor a digit.
func Slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= maxName {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// finish completes a skill of what its frontmatter says. err says why it is none.
func (l *Library) finish(s *Skill, head map[string]value, folder string) error {
	text := func(key string) string { return l.clean(head[key].text) }
	warn := func(format string, args ...any) { s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...)) }
	raw := strings.TrimSpace(head["description"].text)
	if s.Description = text("description"); s.Description == "" {
		return fmt.Errorf("it has no description: write one into SKILL.md, with what it does and when to use it")
	}
	if s.Flags = l.o.Clean.Signs(raw); len(s.Flags) > 0 {
		warn("its description seems to instruct the model (%s)", strings.Join(s.Flags, ", "))
	}
	s.Description = bounded(s.Description, maxDescription, "description", warn)
	s.License = text("license")
	s.Compatibility = bounded(text("compatibility"), maxCompatibility, "compatibility", warn)
	switch said := strings.TrimSpace(head["name"].text); {
	case said == "":
		s.Name = Slug(folder)
		warn("it has no name: that of its folder is used")
	case Slug(said) != said:
		s.Name = cmp.Or(Slug(said), Slug(folder))
		warn("its name is not made of at most %d of a-z, 0-9 and single hyphens; it is called %s here", maxName, s.Name)
	default:
		if s.Name = said; said != folder {
			warn("its name is not that of its folder, %s", l.clean(folder))
		}
	}
	if s.Name == "" {
		return fmt.Errorf("it has no name that can be used: choose one of a-z, 0-9 and hyphens")
	}
	s.AllowedTools = strings.Fields(strings.ReplaceAll(text("allowed-tools"), ",", " "))
	for key, v := range head["metadata"].entries {
		if s.Metadata == nil {
			s.Metadata = map[string]string{}
		}
		s.Metadata[l.clean(key)] = l.clean(v)
	}
	s.Requires = strings.Fields(strings.ReplaceAll(s.Metadata["requires"], ",", " "))
	if len(s.Requires) > maxRequires {
		return fmt.Errorf("it requires %d tools, and may require %d", len(s.Requires), maxRequires)
	}
	s.Steps = stepsOf(s.body)
	return nil
}

// maxRequires is how many tools a skill may require.
const maxRequires = 100

func (l *Library) clean(text string) string {
	return strings.TrimSpace(l.o.Clean.Defuse(l.o.Clean.Sanitize(text)))
}

// bounded is a text of at most so many characters.
func bounded(text string, most int, what string, warn func(string, ...any)) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	warn("its %s has %d characters, and only %d are shown", what, len(runes), most)
	return string(runes[:most]) + "…"
}

// ofProject are the skills in the folders of a session's files, nearest first, and in
// those above them up to the root of the repository.
func (l *Library) ofProject(ctx context.Context, files workspace.Files, seen map[string]bool) (found []*finder) {
	if files == nil {
		return nil
	}
	folders := workspace.FoldersOf(files)
	for _, folder := range folders {
		for _, dir := range projectDirs {
			if l.users(filepath.Join(folder.Dir, filepath.FromSlash(dir))) {
				continue
			}
			f := l.finder(ctx, Place{Origin: OfProject, Project: true}, seen)
			f.look(inView{files}, path.Join(folder.Name, dir))
			found = append(found, f)
		}
	}
	for _, folder := range folders {
		for _, above := range l.above(folder.Dir) {
			for _, dir := range projectDirs {
				f := l.finder(ctx, Place{Origin: OfProject, Project: true}, seen)
				f.look(onDisk{above, "."}, dir)
				found = append(found, f)
			}
		}
	}
	return found
}

// users reports whether a directory is one of the user's places: they stay the user's when
// the home directory is opened as a folder.
func (l *Library) users(dir string) bool {
	return slices.ContainsFunc(l.o.User, func(p Place) bool { return p.Dir == dir })
}

// projectDirs are where a project's skills are.
var projectDirs = []string{".agents/skills", ".claude/skills", ".sidecar/skills"}

// above are the directories over a folder, up to the root of the repository that it is
// in. They are no part of the workspace: of what is there, only skills are read.
func (l *Library) above(dir string) (dirs []string) {
	const most = 32
	isRoot := func(dir string) bool {
		_, err := os.Lstat(filepath.Join(dir, ".git"))
		return err == nil
	}
	home, _ := os.UserHomeDir()
	if dir == "" || isRoot(dir) {
		return nil
	}
	for range most {
		up := filepath.Dir(dir)
		if up == dir || up == home { // what is the user's is no project's
			return nil
		}
		dir = up
		if dirs = append(dirs, dir); isRoot(dir) {
			return dirs
		}
	}
	return nil
}

// open gives a skill's directory as a file system.
func (s *Skill) open() (fs.FS, func(), error) { return s.files.open() }
