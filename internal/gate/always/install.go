package always

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/lockfile"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
)

// A rule with Packages allows an install as long as the lock file lists just those packages.

// Lists are the lists of packages that a person was shown with a question: *dispatch.Dispatcher.
type Lists interface {
	Offered(digest string) (says string, ok bool)
	LastOffered(command string) (digest string)
}

func checkInstall(r Rule) error {
	if !lockfile.Begins(r.Prefix) {
		return fmt.Errorf("packages belong to a command that installs what a lock file lists: %s", lockfile.Known())
	}
	return lockfile.CheckDigest(r.Packages)
}

// shown describes a list of packages. It fails for one that no person was shown, as a rule for it could allow anything.
func (r Rules) shown(digest string) (says string, err error) {
	if r.Lists != nil {
		if says, ok := r.Lists.Offered(digest); ok {
			return says, nil
		}
	}
	return "", errors.New("nobody was shown this list of packages; run the install, and choose the rule in its question")
}

// install says what a rule about an install allows.
func (r Rules) install(past history, rule Rule) (Figures, error) {
	says, err := r.shown(rule.Packages)
	f := Figures{Rule: rule, Of: len(past.questions), Days: past.days, Cut: past.cut}
	f.Widest = fmt.Sprintf("`%s` with exactly %s", rule, says)
	if lockfile.Scripts(rule.Prefix) {
		f.Widest += ", with the scripts that these bring, and so whatever the project's own files have those run"
	}
	for _, q := range past.questions {
		switch {
		case !q.about(rule):
		case q.denied:
			f.DeniedMatches++
		default:
			f.Saves++
		}
	}
	return f, err
}

// about reports whether a question was about such an install, whatever its packages were.
func (q question) about(rule Rule) bool {
	words, alone := shell.Read(q.text).Alone(q.text)
	return alone && !q.marked && len(words) >= len(rule.Prefix) && slices.Equal(words[:len(rule.Prefix)], rule.Prefix)
}

// installs proposes rules about installs that people were asked about, with the packages that
// they were shown last.
func (r Rules) installs(past history) (list []Figures) {
	for _, command := range lockfile.Commands() {
		if r.Lists == nil || r.Lists.LastOffered(command) == "" {
			continue
		}
		rule := ForGood(command)
		rule.Packages = r.Lists.LastOffered(command)
		if f, err := r.install(past, rule); err == nil && f.Saves >= leastSaves {
			list = append(list, f)
		}
	}
	return list
}

// installWords are Words of such a rule.
func installWords(f Figures) string {
	var b strings.Builder
	fmt.Fprintf(&b, "It allows %s. Any other list is asked about again. In the last %s there were %d questions about such an install, of whatever packages", f.Widest, count(f.Days, "day"), f.Saves+f.DeniedMatches)
	if f.DeniedMatches > 0 {
		fmt.Fprintf(&b, "; you denied %d", f.DeniedMatches)
	}
	return b.String() + "."
}
