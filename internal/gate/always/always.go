// Package always proposes command rules that allow for good, and shows by the audit log what
// each would have done. What may be such a rule, package shell says; who decides is a person.
package always

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/live"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy/shell"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// Rule is a command rule that allows, as the setting commandRules has it.
type Rule struct {
	Prefix   []string `json:"prefix"`
	Decision string   `json:"decision,omitempty"` // allow, or "" for it
	Rest     string   `json:"rest,omitempty"`     // known, or "" for it
	In       string   `json:"in,omitempty"`       // the directory of the workspace where it holds; "": everywhere
	Host     string   `json:"host,omitempty"`     // it is no command, but a host that commands may reach, as Prefix shows
	Packages string   `json:"packages,omitempty"` // the digest of the packages that an install may install; "": it is about no install
}

// ForGood is the rule of a pattern, such as `go test`.
func ForGood(pattern string) Rule {
	return Rule{Prefix: strings.Fields(pattern), Decision: string(policy.Allow), Rest: known}
}

const known = "known"

// Check says why a rule can't be allowed for good, or nil.
func (r Rule) Check() error {
	switch {
	case r.Decision != "" && r.Decision != string(policy.Allow):
		return fmt.Errorf("a rule that is allowed for good has the decision allow, not %.20q", r.Decision)
	case r.Host != "":
		return checkHost(r)
	case r.Rest != "" && r.Rest != known:
		return fmt.Errorf("with the rest %.20q any argument could follow; a rule that is allowed for good has the rest %s", r.Rest, known)
	}
	if r.Packages != "" {
		return checkInstall(r)
	}
	return shell.CheckKnown(r.Prefix)
}

// String is how the rule's commands begin.
func (r Rule) String() string { return strings.Join(r.Prefix, " ") }

// Figures are what a rule would have done in the days that were looked at.
type Figures struct {
	Rule          Rule   `json:"rule"`
	Saves         int    `json:"saves"`         // questions that it would have answered
	Of            int    `json:"of"`            // questions that there were
	Widest        string `json:"widest"`        // the most that it allows, in words
	DeniedMatches int    `json:"deniedMatches"` // questions that a person answered with no, and it would with yes
	Days          int    `json:"days"`
	Cut           bool   `json:"cut,omitempty"` // the audit log is longer than what was read of it
}

// Words are the figures in sentences, for a person who decides.
func (f Figures) Words() string {
	switch {
	case f.Rule.Host != "":
		return hostWords(f)
	case f.Rule.Packages != "":
		return installWords(f)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "It allows %s. In the last %s it would have answered %d of %d questions", f.Widest, count(f.Days, "day"), f.Saves, f.Of)
	switch f.DeniedMatches {
	case 0:
		b.WriteString(", none of which you denied.")
	case 1:
		b.WriteString(". It would have allowed one that you denied.")
	default:
		fmt.Fprintf(&b, ". It would have allowed %d that you denied.", f.DeniedMatches)
	}
	if f.Cut {
		b.WriteString(" The audit log has more than was read.")
	}
	return b.String()
}

// Title asks for the rule in one line.
func (f Figures) Title() string {
	where := "in all your workspaces"
	if f.Rule.In != "" {
		where = "in this workspace"
	}
	if f.Rule.Host != "" {
		return fmt.Sprintf("Always let commands reach `%s` %s?", f.Rule.Host, where)
	}
	if f.Rule.Packages != "" {
		return fmt.Sprintf("Always allow `%s` with just these packages %s?", f.Rule, where)
	}
	return fmt.Sprintf("Always allow `%s …` %s?", f.Rule, where)
}

func count(n int, what string) string {
	if n == 1 {
		return what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Bounds of what is looked at.
const (
	DefaultDays = 7
	maxDays     = 365
	maxRules    = 10 // that are suggested
	leastSaves  = 2  // questions; what was asked once is no habit
)

// Rules proposes rules for a workspace, proves them, and writes them.
type Rules struct {
	Log      func() (*auditlog.Log, error)
	Settings *live.Settings
	Folders  []string         // directories of the workspace
	Now      func() time.Time // nil: time.Now
	Lists    Lists            // nil: none was shown
}

// Suggest lists rules that would have answered questions of the last days, the best first.
func (r Rules) Suggest(days int) ([]Figures, error) {
	past, err := r.past(days)
	if err != nil {
		return nil, err
	}
	asked := map[string]bool{}
	for _, q := range past.questions {
		if q.ok && len(q.open) == 1 {
			asked[q.open[0]] = true
		}
	}
	list := []Figures{}
	for pattern := range asked {
		rule := ForGood(pattern)
		if rule.Check() != nil {
			continue
		}
		if f := past.figures(rule); f.Saves >= leastSaves {
			list = append(list, f)
		}
	}
	list = append(list, r.installs(past)...)
	slices.SortFunc(list, func(a, b Figures) int {
		if (a.DeniedMatches == 0) != (b.DeniedMatches == 0) {
			return map[bool]int{true: -1, false: 1}[a.DeniedMatches == 0]
		}
		if a.Saves != b.Saves {
			return b.Saves - a.Saves
		}
		return strings.Compare(a.Rule.String(), b.Rule.String())
	})
	return list[:min(len(list), maxRules)], nil
}

// Prove says what a rule would have done. It fails for one that can't be allowed for good.
func (r Rules) Prove(rule Rule, days int) (Figures, error) {
	if err := rule.Check(); err != nil {
		return Figures{}, fmt.Errorf("it can't be allowed for good: %w", err)
	}
	past, err := r.past(days)
	if err != nil {
		return Figures{}, err
	}
	if rule.Host != "" {
		return past.hostFigures(rule), nil
	}
	one := ForGood(rule.String())
	one.In, one.Packages = rule.In, rule.Packages
	if one.Packages != "" {
		return r.install(past, one)
	}
	return past.figures(one), nil
}

// Add writes a rule into the user's file, whose name it returns.
func (r Rules) Add(rule Rule) (file string, err error) {
	if err := rule.Check(); err != nil {
		return "", fmt.Errorf("it can't be allowed for good: %w", err)
	}
	if rule.Host != "" {
		return config.UserFile(), r.Settings.AddHost(rule.Reaches())
	}
	one := config.CommandRule{Prefix: rule.Prefix, Decision: string(policy.Allow), Rest: known, In: rule.In, Packages: rule.Packages}
	if rule.Packages != "" {
		if _, err := r.shown(rule.Packages); err != nil {
			return "", err
		}
	}
	return config.UserFile(), r.Settings.AddRule(one)
}

// Here is a rule that holds in this workspace only.
func (r Rules) Here(rule Rule) (Rule, error) {
	if len(r.Folders) == 0 {
		return rule, errors.New("no folder is open")
	}
	rule.In = r.Folders[0]
	return rule, nil
}

// history are the questions of some days.
type history struct {
	days      int
	cut       bool
	questions []question
}

// question is one that a person was asked, or that nobody answered.
type question struct {
	text   string   // of a command line; "": it is about something else
	ok     bool     // rules for good can answer it
	open   []string // with ok: the patterns that it lacks
	denied bool     // a person said no
	host   string   // that a command wanted; "": it is about something else
	marked bool     // some of its text is not known
}

// maxQuestions bounds how many are kept; the newest count.
const maxQuestions = 50_000

// past reads the questions of the last days from the audit log.
func (r Rules) past(days int) (history, error) {
	if days == 0 {
		days = DefaultDays
	}
	if days < 0 || days > maxDays {
		return history{}, fmt.Errorf("days: a number from 1 to %d is expected, not %d", maxDays, days)
	}
	log, err := r.Log()
	if err != nil {
		return history{}, err
	}
	now := time.Now
	if r.Now != nil {
		now = r.Now
	}
	records, whole, err := log.Recent(now().AddDate(0, 0, -days), asked)
	if err != nil {
		return history{}, err
	}
	h := history{days: days, cut: !whole || len(records) > maxQuestions}
	judge := shell.Judge{Rules: r.Settings.Dispatch().Commands, Zone: r.zone}
	seen := map[string]question{} // by the line: most are asked more than once
	for _, rec := range records[max(0, len(records)-maxQuestions):] {
		text, marked := lineOf(rec)
		key := fmt.Sprint(marked, text)
		q, is := seen[key]
		if !is && text != "" {
			q.text = text
			if !marked {
				v := judge.Judge(text)
				q.open, q.ok = v.Opens()
			}
			seen[key] = q
		}
		q.marked, q.host = marked, hostOf(rec)
		q.denied = rec.By == policy.ByUser && rec.Outcome == string(policy.Deny)
		if !answerable(rec) && !q.denied {
			q.ok = false
		}
		h.questions = append(h.questions, q)
	}
	return h, nil
}

// asked reports whether a person was asked about a call: decisions about the review queue are
// none, nor is what a person allowed for the session before.
func asked(r auditlog.Record) bool {
	switch {
	case strings.HasPrefix(r.Tool, "sidecar.") || r.Rule == "allowed-for-session":
		return false
	case r.By == policy.ByUser:
		return true
	}
	return r.Code == "not_approved" // and nobody answered
}

// answerable reports whether a rule that allows comes before the one that asked.
func answerable(r auditlog.Record) bool {
	return strings.HasPrefix(r.Rule, "mode.") || r.Rule == "sandbox.weak" || r.Rule == "host.new"
}

// lineOf is the command line of a call of run_command. marked says that some of it is not known:
// a secret that was taken out of it, its end, or variables that it got.
func lineOf(r auditlog.Record) (text string, marked bool) {
	if r.Tool != "run_command" {
		return "", false
	}
	var in struct {
		Command string            `json:"command"`
		Env     map[string]string `json:"env"`
	}
	if json.Unmarshal(r.Arguments, &in) != nil {
		return "", false
	}
	return in.Command, len(in.Env) > 0 || strings.Contains(in.Command, redact.Marker) || strings.HasSuffix(in.Command, "…")
}

// figures are what a rule would have done to them.
func (h history) figures(rule Rule) Figures {
	f := Figures{Rule: rule, Of: len(h.questions), Widest: shell.Widest(rule.Prefix), Days: h.days, Cut: h.cut}
	pattern := rule.String()
	for _, q := range h.questions {
		answers := q.ok && len(q.open) == 1 && q.open[0] == pattern
		switch {
		case q.denied && (answers || q.marked && (strings.HasSuffix(q.text, "…") || strings.Contains(q.text, rule.Prefix[0]))): // of a part that is not known the worst counts
			f.DeniedMatches++
		case q.marked || q.denied:
		case answers:
			f.Saves++
		}
	}
	return f
}

// zone is where a path of a line leads, by its name alone: the files of then may be gone.
func (r Rules) zone(name string) shell.Zone {
	clean := strings.ReplaceAll(name, "\\", "/")
	for _, dir := range r.Folders {
		if rest, ok := strings.CutPrefix(clean, strings.ReplaceAll(dir, "\\", "/")+"/"); ok {
			clean = rest
		}
	}
	switch {
	case strings.HasPrefix(clean, "/"), strings.HasPrefix(clean, "~"), slices.Contains(strings.Split(clean, "/"), ".."), len(clean) > 1 && clean[1] == ':':
		return shell.Outside
	case workspace.Sensitive(clean):
		return shell.Sensitive
	case workspace.Protected(clean) == workspace.Never:
		return shell.Forbidden
	case workspace.Protected(clean) == workspace.AskFirst:
		return shell.Guarded
	}
	return shell.Inside
}
