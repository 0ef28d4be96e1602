package sandbox

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// expr is an expression of a profile: a list, or a word or a string.
type expr struct {
	list   []expr
	word   string
	text   string
	isText bool
}

func (e expr) head() string {
	if len(e.list) == 0 {
		return ""
	}
	return e.list[0].word
}

// parseSBPL reads all expressions of a profile.
func parseSBPL(profile string) ([]expr, error) {
	var stack [][]expr
	var out []expr
	add := func(e expr) {
		if n := len(stack); n > 0 {
			stack[n-1] = append(stack[n-1], e)
		} else {
			out = append(out, e)
		}
	}
	for i := 0; i < len(profile); i++ {
		switch profile[i] {
		case ';':
			if n := strings.IndexByte(profile[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(profile)
			}
		case ' ', '\n':
		case '(':
			stack = append(stack, nil)
		case ')':
			if len(stack) == 0 {
				return nil, fmt.Errorf("a ) too many at %d", i)
			}
			e := expr{list: stack[len(stack)-1]}
			if len(e.list) == 0 {
				return nil, fmt.Errorf("an empty list at %d", i)
			}
			stack = stack[:len(stack)-1]
			add(e)
		case '"':
			var b strings.Builder
			for i++; ; i++ {
				if i >= len(profile) {
					return nil, errors.New("a string without end")
				}
				if profile[i] == '"' {
					break
				}
				if profile[i] == '\\' {
					i++
					if i >= len(profile) || !strings.ContainsRune(`\"nrt`, rune(profile[i])) {
						return nil, fmt.Errorf("an escape that is none at %d", i)
					}
					b.WriteString(strings.NewReplacer("n", "\n", "r", "\r", "t", "\t").Replace(profile[i : i+1]))
					continue
				}
				b.WriteByte(profile[i])
			}
			add(expr{text: b.String(), isText: true})
		default:
			n := strings.IndexAny(profile[i:], " \n()\"")
			if n < 0 {
				n = len(profile) - i
			}
			word := profile[i : i+n]
			if !regexp.MustCompile(`^[a-zA-Z0-9_*-]+$`).MatchString(word) {
				return nil, fmt.Errorf("%q at %d is no word", word, i)
			}
			add(expr{word: word})
			i += n - 1
		}
	}
	if len(stack) > 0 {
		return nil, errors.New("a ( too many")
	}
	return out, nil
}

// Filters by what they are about.
var (
	pathFilters   = []string{"literal", "subpath", "regex"}
	socketFilters = append([]string{"local", "remote"}, pathFilters...)
)

// grammar has the operations that may stand in a rule of ours, with their filters: as
// Apple's own profiles (/System/Library/Sandbox/Profiles) and Chromium's use them.
var grammar = map[string][]string{
	"default":                 nil,
	"file-ioctl":              pathFilters,
	"file-map-executable":     pathFilters,
	"file-read*":              pathFilters,
	"file-read-data":          pathFilters,
	"file-read-metadata":      pathFilters,
	"file-read-xattr":         pathFilters,
	"file-write*":             pathFilters,
	"file-write-data":         pathFilters,
	"file-write-unlink":       pathFilters,
	"ipc-posix-sem":           {"ipc-posix-name"},
	"ipc-posix-shm-read-data": {"ipc-posix-name"},
	"mach-host*":              nil,
	"mach-lookup":             {"global-name"},
	"network-bind":            socketFilters,
	"network-inbound":         socketFilters,
	"network-outbound":        socketFilters,
	"process-exec":            pathFilters,
	"process-fork":            nil,
	"process-info*":           {"target"},
	"signal":                  {"target"},
	"sysctl-read":             {"sysctl-name", "sysctl-name-prefix"},
	"system-socket":           {"socket-domain"},
}

// checkSBPL holds a profile against the grammar.
func checkSBPL(profile string, params []string) error {
	rules, err := parseSBPL(profile)
	if err != nil {
		return err
	}
	if len(rules) < 2 || !strings.HasPrefix(profile, "(version 1)\n(deny default)\n") {
		return errors.New("it does not begin by denying everything")
	}
	named := map[string]bool{}
	for _, p := range params {
		name, value, _ := strings.Cut(p, "=")
		if named[name] || !regexp.MustCompile(`^[A-Z_]+$`).MatchString(name) || !strings.HasPrefix(value, "/") {
			return fmt.Errorf("a bad parameter %q", p)
		}
		named[name] = true
	}
	// value checks a string, or a parameter that has one.
	value := func(e expr) error {
		switch {
		case e.isText && e.text != "":
			return nil
		case e.head() == "param" && len(e.list) == 2 && named[e.list[1].text]:
			return nil
		}
		return fmt.Errorf("%+v is no string", e)
	}
	path := func(e expr) error {
		if e.isText && !strings.HasPrefix(e.text, "/") {
			return fmt.Errorf("%q is no path", e.text)
		}
		return value(e)
	}
	var filter func(e expr) error
	filter = func(e expr) error {
		args := e.list[1:]
		switch e.head() {
		case "literal", "subpath":
			if len(args) == 1 {
				return path(args[0])
			}
		case "regex":
			if len(args) == 1 && strings.HasPrefix(args[0].text, "^/") {
				_, err := regexp.Compile(args[0].text)
				return err
			}
		case "sysctl-name", "sysctl-name-prefix", "global-name", "ipc-posix-name":
			if len(args) == 1 && args[0].isText {
				return value(args[0])
			}
		case "target":
			if len(args) == 1 && args[0].word == "same-sandbox" {
				return nil
			}
		case "socket-domain":
			if len(args) == 1 && args[0].word == "AF_UNIX" {
				return nil
			}
		case "local", "remote":
			switch {
			case len(args) != 2:
			case args[0].word == "ip" && args[1].text == "*:*":
				return nil
			case args[0].word == "unix-socket" && args[1].head() == "subpath":
				return filter(args[1])
			}
		}
		return fmt.Errorf("a bad filter %+v", e)
	}
	for _, r := range rules[1:] {
		if r.head() != "allow" && r.head() != "deny" {
			return fmt.Errorf("%+v is no rule", r)
		}
		var ops []string
		for _, part := range r.list[1:] {
			if part.word != "" {
				if _, ok := grammar[part.word]; !ok {
					return fmt.Errorf("there is no operation %s", part.word)
				}
				ops = append(ops, part.word)
				continue
			}
			if part.list == nil || len(ops) == 0 {
				return fmt.Errorf("%+v is no filter", part)
			}
			for _, op := range ops {
				if !slices.Contains(grammar[op], part.head()) {
					return fmt.Errorf("%s can't be filtered by %s", op, part.head())
				}
			}
			if err := filter(part); err != nil {
				return err
			}
		}
		if len(ops) == 0 {
			return fmt.Errorf("%+v is about no operation", r)
		}
	}
	return nil
}

// judge says what a profile says.
type judge struct{ rules []ruling }

// ruling is a rule: what it is about, and for what it holds; nil is everything.
type ruling struct {
	allow bool
	ops   []string
	holds func(what string) bool
}

// newJudge reads a profile that checkSBPL passes.
func newJudge(profile string, params []string) (*judge, error) {
	rules, err := parseSBPL(profile)
	if err != nil {
		return nil, err
	}
	value := func(e expr) string {
		if e.head() != "param" {
			return e.text
		}
		for _, p := range params {
			if v, ok := strings.CutPrefix(p, e.list[1].text+"="); ok {
				return v
			}
		}
		panic("no parameter " + e.list[1].text)
	}
	var filter func(e expr) func(string) bool
	filter = func(e expr) func(string) bool {
		arg := e.list[1]
		switch e.head() {
		case "literal", "sysctl-name", "global-name", "ipc-posix-name":
			return func(what string) bool { return what == value(arg) }
		case "subpath":
			return func(what string) bool { return spec.Within(what, value(arg)) }
		case "regex":
			return regexp.MustCompile(arg.text).MatchString
		case "sysctl-name-prefix":
			return func(what string) bool { return strings.HasPrefix(what, arg.text) }
		case "target", "socket-domain":
			return func(what string) bool { return what == arg.word }
		case "local", "remote":
			if arg.word == "ip" {
				return func(what string) bool { return what == "ip" }
			}
			return filter(e.list[2])
		}
		panic("no filter " + e.head())
	}
	j := &judge{}
	for _, r := range rules[1:] {
		rule := ruling{allow: r.head() == "allow"}
		var filters []func(string) bool
		for _, part := range r.list[1:] {
			if part.word != "" {
				rule.ops = append(rule.ops, part.word)
			} else {
				filters = append(filters, filter(part))
			}
		}
		if filters != nil {
			rule.holds = func(what string) bool {
				return slices.ContainsFunc(filters, func(f func(string) bool) bool { return f(what) })
			}
		}
		j.rules = append(j.rules, rule)
	}
	return j, nil
}

// may reports whether a process may do something with what: a path, a name, or "ip"
// for an address. The last rule that is about it decides.
func (j *judge) may(op, what string) bool {
	for _, r := range slices.Backward(j.rules) {
		about := slices.ContainsFunc(r.ops, func(name string) bool {
			glob, isGlob := strings.CutSuffix(name, "*")
			return name == op || name == "default" || isGlob && strings.HasPrefix(op, glob)
		})
		if about && (r.holds == nil || r.holds(what)) {
			return r.allow
		}
	}
	return false
}

// written are the kinds of writing.
var written = []string{"file-write-data", "file-write-create", "file-write-unlink", "file-write-mode", "file-write-xattr", "file-write-owner", "file-write-times", "file-write-flags"}

// mayWrite reports whether all kinds of writing are allowed, and whether any is.
func (j *judge) mayWrite(path string) (all, some bool) {
	all = true
	for _, op := range written {
		ok := j.may(op, path)
		all, some = all && ok, some || ok
	}
	return all, some
}

// mayMove reports whether something can have another name.
func (j *judge) mayMove(from, to string) bool {
	return j.may("file-write-unlink", from) && j.may("file-write-create", to)
}
