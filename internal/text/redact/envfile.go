package redact

import (
	"net/url"
	"slices"
	"strings"
)

// maxPairs bounds how many values one file may name.
const maxPairs = 200

// EnvValues are the values of a file of NAME=value lines, such as .env, that
// are to be hidden: all but those that are too short or too common to be a
// secret, and those whose name says that they are none.
func EnvValues(text string) []string {
	var values []string
	add := func(v string, least int) {
		if len(v) >= least && !common(v) && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	for i, p := range pairs(text) {
		if i == maxPairs {
			break
		}
		add(urlPassword(p.value), leastNamed)
		switch {
		case namesSecret(strings.ToUpper(p.name)) && !strings.HasPrefix(p.value, "/"):
			add(p.value, leastNamed)
		case random(p.value) || !harmlessName(p.name) && !plainValue(p.value):
			add(p.value, leastOther)
		default:
			continue
		}
		if strings.Contains(p.value, "\n") { // which may be shown line by line
			for line := range strings.Lines(p.value) {
				add(strings.TrimSpace(line), leastLine)
			}
		}
	}
	return values
}

// The least lengths, in bytes, of what is hidden wherever it stands.
const (
	leastNamed = 6 // of the value of a name that says that it is a secret
	leastOther = 8
	leastLine  = 20
)

// variable is NAME=value.
type variable struct{ name, value string }

// pairs reads a file as shells and the usual libraries do: comments, export,
// single and double quotes, which may hold line ends.
func pairs(text string) []variable {
	var list []variable
	for rest := text; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		if colon, after, yaml := strings.Cut(line, ": "); yaml && (!ok || len(colon) < len(name)) {
			name, value, ok = colon, after, true
		}
		name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "export "))
		if !ok || strings.HasPrefix(line, "#") || name == "" || strings.ContainsAny(name, " \t") {
			continue
		}
		value = strings.TrimSpace(value)
		if value != "" && strings.IndexByte(`"'`+"`", value[0]) >= 0 {
			quote := value[:1]
			body := value[1:]
			end := closing(body, quote)
			if end < 0 { // it goes on in the next lines, if they end it
				if whole := body + "\n" + rest; closing(whole, quote) >= 0 {
					end = closing(whole, quote)
					body, rest = whole, whole[end+1:]
				}
			}
			if end >= 0 {
				value = body[:end]
				if quote == `"` {
					value = unescaped(value)
				}
				list = append(list, variable{name, value})
				continue
			}
		}
		if at := strings.Index(value, " #"); at >= 0 {
			value = strings.TrimSpace(value[:at])
		}
		list = append(list, variable{name, value})
	}
	return list
}

// closing is where a quoted text ends, or -1.
func closing(s, quote string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == `"`:
			i++
		case s[i] == quote[0]:
			return i
		}
	}
	return -1
}

func unescaped(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\$`, "$").Replace(s)
}

// commonValues are in many files and secrets in none.
var commonValues = []string{"password", "passwd", "changeme", "change_me", "change-me", "secret", "example", "localhost", "development", "production", "testing", "staging", "undefined",
	"postgres", "username", "disabled", "enabled", "default", "placeholder", "redacted", "truecolor", "xterm-256color", "sqlite3", "mongodb", "your-api-key", "your_api_key", "your-secret-key", "replace-me", "12345678", "123456789", "1234567890"}

func common(v string) bool {
	l := strings.ToLower(v)
	return slices.Contains(commonValues, l) || strings.Trim(v, v[:1]) == "" || strings.HasPrefix(l, "your-") || strings.HasPrefix(l, "your_") || strings.HasPrefix(v, "${") || strings.HasPrefix(v, "<")
}

// harmlessNames are ends of names whose values are seen everywhere.
var harmlessNames = []string{"ENV", "MODE", "HOST", "HOSTNAME", "PORT", "URL", "URI", "ORIGIN", "ORIGINS", "DOMAIN", "ENDPOINT", "REGION", "ZONE", "NAME", "USER", "USERNAME", "EMAIL", "FROM", "LEVEL", "FORMAT", "MODEL", "VERSION",
	"DIR", "PATH", "FILE", "LOCALE", "LANG", "TZ", "TIMEZONE", "DRIVER", "CONNECTION", "PROVIDER", "BUCKET", "TITLE", "TIMEOUT", "IMAGE", "TAG", "BRANCH", "COLOR", "THEME"}

func harmlessName(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(harmlessNames, func(end string) bool { return name == end || strings.HasSuffix(name, "_"+end) })
}

// plainValue reports whether a value says by its form that it is no secret: a
// word or words, a number or a version, a path, an address without a password.
func plainValue(v string) bool {
	letters := func(s string) bool {
		return strings.IndexFunc(s, func(c rune) bool { return c|0x20 < 'a' || c|0x20 > 'z' }) < 0
	}
	switch {
	case !slices.ContainsFunc(strings.FieldsFunc(v, func(c rune) bool { return c == ' ' || c == ',' || c == '.' }), func(w string) bool { return !letters(w) }):
		return true
	case strings.Trim(v, "0123456789.,:_- ") == "":
		return true
	case strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "~"):
		return true
	}
	u, err := url.Parse(v)
	return err == nil && u.Host != "" && u.RawQuery == "" && urlPassword(v) == ""
}
