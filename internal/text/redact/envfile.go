package redact

import (
	"net/url"
	"regexp"
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

// placeholders are what people write where a key has to be something, for a server that asks
// for none, or until they have one. Only the whole value counts, so a longer secret that
// has such a word in it is hidden.
var placeholders = strings.Fields(`none null nil void empty unset undefined notset not-set not_set n/a
	no-key nokey no_key no-key-required no-api-key sk-no-key-required not-needed not_needed notneeded not-required not_required not-used unused ignored ignore anything whatever something
	ollama lm-studio lm_studio lmstudio llama llamacpp llama.cpp llama-cpp vllm localai local-ai local localhost
	dummy dummy-key dummy_key dummykey fake fake-key fake_key test test-key test_key testkey testing example sample demo mock stub todo tbd fixme
	placeholder changeme change-me change_me change-this replaceme replace-me replace_me insert-key-here your-key your_key yourkey key-here key_here api-key apikey api_key token secret password
	true false default enabled disabled development production staging`)

// forYours matches "your-api-key-here", "YOUR_OPENAI_TOKEN" and the like, also after "sk-";
// words alone, without a digit.
var forYours = regexp.MustCompile(`^(?:(?:sk|pk|ghp|hf)[-_])?(?:(?:put|insert|enter|add|paste)[-_])?(?:your|my)[-_]?(?:[a-z]{2,12}[-_]){0,3}(?:key|token|secret|password)(?:[-_]?(?:here|goes[-_]here))?$`)

// standsForNone reports whether a value is a word or a sign in the place of a secret: to
// hide it would only make other text unreadable.
func standsForNone(v string) bool {
	l := strings.ToLower(strings.TrimSpace(v))
	switch {
	case slices.Contains(placeholders, l) || strings.Trim(l, "x*.-_") == "" || forYours.MatchString(l):
		return true
	case strings.HasPrefix(l, "<") && strings.HasSuffix(l, ">") || strings.HasPrefix(l, "${") && strings.HasSuffix(l, "}"): // a variable of a template
		return strings.Trim(l[1:], "{}<>abcdefghijklmnopqrstuvwxyz-_ ") == ""
	}
	return false
}

func common(v string) bool {
	if standsForNone(v) {
		return true
	}
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
