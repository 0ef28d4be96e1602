package redact

import (
	"regexp"
	"slices"
	"strings"
)

// A record is kept, and nobody works with what it says: a value that has the name of a secret is hidden there
// whatever it looks like, where Text shows what may be an example.
const (
	secretName = `(?:[A-Za-z0-9_.-]*[_.-])?(?:[A-Za-z0-9]*(?:password|passwd|passphrase|secret|token|apikey|credentials?)|pwd|pass|pat|dsn|auth|key)`
	optionName = `[A-Za-z-]*(?:password|passwd|passphrase|pass|token|secret|api-?key|access-?key|auth-?key|private-?key)`
	oneValue   = `\\?"(?:[^"\\]|\\[^"])*\\?"|\\?'(?:[^'\\]|\\[^'])*\\?'|[^\s"'\\&;|,(){}<>\x60]+`
)

// recorded are the patterns of a record. The last group of each is the value.
var recorded = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b` + secretName + `\\?["']?\s{0,4}(?::=|=>|[=:])\s{0,4}(` + oneValue + `)`),
	regexp.MustCompile(`(?i)(?:^|[\s"'])--?` + optionName + `(?:=|\s+)(` + oneValue + `)`),
	regexp.MustCompile(`(?:^|[\s"'])(?:-u|--user|--proxy-user|-U)[ =]?\\?["']?[^\s:"'\\]*:([^\s"'\\]+)`),
	regexp.MustCompile(`\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^|;&\n]*?\s-p([^\s"'\\|;&]+)`),
	regexp.MustCompile(`\b(?:sshpass|login)\b[^|;&\n]*?\s-p\s*(` + oneValue + `)`),
	regexp.MustCompile(`\bredis-cli\b[^|;&\n]*?\s-a\s*(` + oneValue + `)`),
	regexp.MustCompile(`(?i)\bauthorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:[A-Za-z]+\s+)?([^\s"'\\]+)`),
	regexp.MustCompile(`(?i)\b(?:set-)?cookie\\?["']?\s{0,4}:\s{0,4}\\?["']?([^"'\\\n]+)`),
	regexp.MustCompile(`://[^\s/:@"'\\]*:([^\s/@"'\\]+)@`),
}

// noSecret is a value that says nothing: what stands for one elsewhere, and a number, which may be that of tokens.
var noSecret = regexp.MustCompile(`^(?:\$.*|[0-9.]+|true|false|null|none|\[REDACTED.*|\[REDACTED:[a-z-]+\]|%[A-Za-z_]+%)$`)

// secretMember is the name of a secret, whole.
var secretMember = regexp.MustCompile(`(?i)^` + secretName + `$`)

// inRecord bounds what is searched at once, in bytes: a longer text is taken by lines, and a longer line in pieces.
const inRecord = 16 << 10

// marked stands in the place of a value.
const marked = "[REDACTED:secret]"

// Record is a text for what is kept of a call, in which Text has replaced secrets by markers: each value that stands
// where one does is replaced, too. name is that of the member of an object whose value the text is, or "".
func (*Redactor) Record(name, s string) string {
	if secretMember.MatchString(name) && s != "" && !noSecret.MatchString(s) {
		return marked
	}
	if len(s) <= inRecord {
		return withoutValues(s)
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		for len(line) > inRecord {
			b.WriteString(withoutValues(line[:inRecord]))
			line = line[inRecord:]
		}
		b.WriteString(withoutValues(line))
	}
	return b.String()
}

// hints are in each text in which a pattern finds something, in lower case.
var hints = []string{"pass", "pwd", "secret", "token", "key", "credential", "dsn", "auth", "pat", "cookie", "-u", "--user", "-p", "-a", "://"}

func withoutValues(s string) string {
	folded := strings.ToLower(s)
	if !slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(folded, hint) }) {
		return s
	}
	for _, pattern := range recorded {
		found := pattern.FindAllStringSubmatchIndex(s, -1)
		if found == nil {
			continue
		}
		var b strings.Builder
		last := 0
		for _, at := range found {
			from, to := bare(s, at[len(at)-2], at[len(at)-1])
			if from >= to || noSecret.MatchString(s[from:to]) {
				continue
			}
			b.WriteString(s[last:from])
			b.WriteString(marked)
			last = to
		}
		b.WriteString(s[last:])
		s = b.String()
	}
	return s
}

// bare is a value without its quotes.
func bare(s string, from, to int) (int, int) {
	for _, quote := range [...]string{`\"`, `\'`, `"`, `'`} {
		if to-from >= 2*len(quote) && strings.HasPrefix(s[from:to], quote) && strings.HasSuffix(s[from:to], quote) {
			return from + len(quote), to - len(quote)
		}
	}
	return from, to
}
