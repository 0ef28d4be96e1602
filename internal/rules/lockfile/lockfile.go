// Package lockfile reads the lock files of package managers and says which packages a frozen
// install would install. What it does not know to be exactly that list it refuses. It reads
// text that agents may have written, and runs nothing.
package lockfile

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Bounds of what is read.
const (
	MaxBytes    = 16 << 20 // of one file
	maxPackages = 20_000
	maxAbove    = 32 // directories above that are looked at
)

// ErrOther is the error for a command that is no frozen install of the table.
var ErrOther = errors.New("it is no install that only installs what a lock file lists")

// List is what a command would install.
type List struct {
	Words  []string // how the command begins
	Lock   string   // the file that lists the packages
	Digest string   // of the list, as the setting commandRules has it
	Count  int
	Hosts  []string // where the packages are from; none: the registry that the program is set to
	Seen   []Seen   // the files that were looked at, by name

	Env     []string // variables that the command gets, NAME=value
	Scratch []string // variables that the command gets with a new directory in each
}

// Seen is a file that decides about an install, as it was. The command must find it so.
type Seen struct {
	Name string // relative to the command's directory; in the home it begins with ~/
	Sum  string // SHA-256 of its text, in hex; "": there is no such file
}

// Reader reads a file by its name, relative to the directory of the command. Of a file that is
// not there it returns fs.ErrNotExist.
type Reader func(name string) ([]byte, error)

// pkg is one package of a list.
type pkg struct {
	host, name, version, integrity string
	needs                          string // what it asks for in its turn, as the lock file has it
}

// Read says what a command would install. above is how many directories of the workspace are
// above its own. The error is ErrOther, or says why no list can be relied on.
func Read(words []string, above int, read Reader) (List, error) {
	c, ok := find(words)
	if !ok {
		return List{}, ErrOther
	}
	if above < 0 || above > maxAbove {
		return List{}, fmt.Errorf("it has %d directories above it", above)
	}
	s := &source{read: read, above: above, seen: map[string]string{}}
	l := List{Words: strings.Fields(c.words), Env: c.env, Scratch: c.scratch}
	var packages []pkg
	err := s.absent(c.absent, 0)
	if err == nil {
		err = s.absent(c.absentAbove, above)
	}
	if err == nil {
		err = s.onlyVersions(above)
	}
	if err == nil {
		l.Lock, packages, err = c.lists(s, c)
	}
	if err != nil {
		return List{}, err
	}
	for _, name := range c.home { // whoever starts the command looks
		s.seen["~/"+name] = ""
	}
	for _, name := range slices.Sorted(maps.Keys(s.seen)) {
		l.Seen = append(l.Seen, Seen{name, s.seen[name]})
	}
	return l, l.digest(packages)
}

// digest sums up packages, which are a set.
func (l *List) digest(packages []pkg) error {
	if len(packages) > maxPackages {
		return fmt.Errorf("%s lists more than %d packages", l.Lock, maxPackages)
	}
	lines := make([]string, 0, len(packages))
	named := map[string]bool{}
	for _, p := range packages {
		if p.integrity == "" {
			return fmt.Errorf("%s has no integrity for %s, so anything could be installed in its place", l.Lock, p.name)
		}
		if p.host != "" && p.integrity != unlisted && !slices.Contains(l.Hosts, p.host) {
			l.Hosts = append(l.Hosts, p.host)
		}
		if p.integrity != unlisted {
			named[p.name+"\x00"+p.version] = true
		}
		lines = append(lines, fmt.Sprintf("%q %q %q %q %q\n", p.host, p.name, p.version, p.integrity, p.needs))
	}
	if len(named) == 0 {
		return fmt.Errorf("%s lists no package", l.Lock)
	}
	l.Count = len(named)
	slices.Sort(l.Hosts)
	slices.Sort(lines)
	sum := sha256.New()
	fmt.Fprintf(sum, "1 %q\n", l.Words)
	for _, line := range slices.Compact(lines) {
		sum.Write([]byte(line))
	}
	l.Digest = digestPrefix + base64.StdEncoding.EncodeToString(sum.Sum(nil))
	return nil
}

// unlisted is the integrity of what is no package and decides about the list all the same,
// such as what the project itself asks for.
const unlisted = "-"

const digestPrefix = "sha256-"

// CheckDigest says why a text is no digest of a list, or nil.
func CheckDigest(s string) error {
	b, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(s, digestPrefix))
	if err != nil || len(b) != sha256.Size || !strings.HasPrefix(s, digestPrefix) {
		return fmt.Errorf("%.80q is no digest of a list of packages (%s…)", s, digestPrefix)
	}
	return nil
}

// source reads the files of one command and notes what it saw.
type source struct {
	read  Reader
	above int
	seen  map[string]string
}

// text reads a file; ok is false when there is none.
func (s *source) text(name string) (data []byte, ok bool, err error) {
	data, err = s.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.seen[name] = ""
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("%s can't be read (%w)", name, err)
	case len(data) > MaxBytes:
		return nil, false, fmt.Errorf("%s is larger than %d MB", name, MaxBytes>>20)
	}
	sum := sha256.Sum256(data)
	s.seen[name] = hex.EncodeToString(sum[:])
	return data, true, nil
}

// needed reads a file that must be there.
func (s *source) needed(name string) ([]byte, error) {
	data, ok, err := s.text(name)
	if err == nil && !ok {
		err = fmt.Errorf("there is no %s where it begins", name)
	}
	return data, err
}

// absent fails for files that would change what the command does.
func (s *source) absent(names []string, above int) error {
	for up := range above + 1 {
		for _, name := range names {
			name = strings.Repeat("../", up) + name
			_, ok, err := s.text(name)
			if err == nil && ok {
				err = fmt.Errorf("%s may change what is installed, or from where", name)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// onlyVersions fails for a file that chooses a program by more than its version.
func (s *source) onlyVersions(above int) error {
	for up := range above + 1 {
		for _, name := range chosen {
			name = strings.Repeat("../", up) + name
			data, ok, err := s.text(name)
			if err == nil && ok && !plainVersion.Match(data) {
				err = fmt.Errorf("%s names more than a version", name)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	plainVersion = regexp.MustCompile(`^v?[0-9][0-9a-z.-]{0,30}\n?$`)
	packageName  = regexp.MustCompile(`^(@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$`)
	version      = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$`)
	hostName     = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$`)
)

// hostOf is the host of a package's address.
func hostOf(address string) (string, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "https" || u.Opaque != "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" || len(u.Path) < 2:
		return "", fmt.Errorf("%.100q is no plain https address of a package", hideUser(address))
	case !hostName.MatchString(u.Host):
		return "", fmt.Errorf("%.100q is no host that everybody reads alike", u.Host)
	}
	return u.Host, nil
}

// hideUser takes the credentials out of an address, which a person is shown.
func hideUser(address string) string {
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		return "…" + address[at:]
	}
	return address
}

// sums are the bytes of the hashes that are strong enough.
var sums = map[string]int{"sha256": 32, "sha384": 48, "sha512": 64}

// strong reports whether an integrity has strong hashes only, in the form of SRI.
func strong(integrity string) bool {
	fields := strings.Fields(integrity)
	for _, f := range fields {
		name, text, _ := strings.Cut(f, "-")
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil || sums[name] == 0 || len(b) != sums[name] {
			return false
		}
	}
	return len(fields) > 0
}

// strongHex is strong for one hash in hex.
func strongHex(name, text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && sums[name] > 0 && len(b) == sums[name]
}

// weak says that a package has no integrity that counts.
func weak(lock, name, integrity string) error {
	if integrity == "" {
		return fmt.Errorf("%s has no integrity for %s, so anything could be installed in its place", lock, name)
	}
	return fmt.Errorf("%s has no strong hash for %s (%.40q)", lock, name, integrity)
}
