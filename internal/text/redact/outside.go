package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// sign is a way in which text from outside speaks to the model instead of
// telling it something.
type sign struct {
	name  string
	words []string // lower case; where one stands the expression is tried
	re    *regexp.Regexp
}

// signs is the list. Each expression sees lower case from the word on.
func signs() []sign {
	list := []struct {
		name, words, re string
	}{
		{"instructions", "ignore|disregard|forget|override", `^[a-z]+\b[^.]{0,40}\b(?:previous|prior|above|earlier|preceding|all|any|your|system)\b.{0,30}\b(?:instructions?|prompts?|rules|guidelines|directions|messages)\b`},
		{"instructions", "new instructions|new system prompt|real instructions|updated instructions|important instructions", `^[a-z ]+(?::|for (?:you|the ai|the assistant))`},
		{"persona", "you are now|from now on|pretend to be|act as|you must now", `^(?:you are now|from now on,? you|pretend to be|you must now|act as (?:an? )?(?:dan|unrestricted|root|administrator|system))`},
		{"role", "<|im_start|<|system|<|assistant|<|user|[inst]|<<sys>>|<system>|</system>|<assistant>|### system|### instruction|\nsystem:|\nassistant:|<system-reminder", ``},
		{"secrecy", "do not|don't|never|without", `^(?:do not|don't|never|without) (?:tell|telling|inform|informing|mention|mentioning|alert|alerting|asking|ask|notify|notifying|reveal|show)\b.{0,30}\buser\b`},
		{"exfiltration", "send|post|upload|exfiltrate|forward|leak|curl", `^[a-z]+\b.{0,80}\b(?:secrets?|tokens?|api[ _-]?keys?|passwords?|credentials?|private keys?|environment variables|\.env|id_rsa|ssh keys?)\b.{0,60}(?:\bto\b|https?://)`},
		{"exfiltration", "cat ~/.ssh|cat .env|printenv", ``},
		{"tool-call", "<tool_call|<function_calls|<invoke name|\"tool_calls\"|<tool_use", ``},
		{"envelope", "untrusted_output", ``},
	}
	out := make([]sign, len(list))
	for i, l := range list {
		out[i] = sign{l.name, strings.Split(strings.ReplaceAll(l.words, "<|", "<\x00"), "|"), nil}
		for j, w := range out[i].words {
			out[i].words[j] = strings.ReplaceAll(w, "\x00", "|")
		}
		if l.re != "" {
			out[i].re = regexp.MustCompile(l.re)
		}
	}
	return out
}

// Signs names what in a text from outside looks like an attempt to instruct the
// model, each once and sorted; nil when nothing does. It reads the text as it
// came, because invisible characters are a sign too.
func (r *Redactor) Signs(text string) []string {
	r.signsOnce.Do(func() { r.signs = signs() })
	const reach = 240
	var found []string
	if smuggles(text) {
		found = append(found, "hidden-text")
	}
	low := strings.ToLower(Sanitize(text))
	for _, s := range r.signs {
		if slices.Contains(found, s.name) {
			continue
		}
	words:
		for _, w := range s.words {
			for at := 0; ; {
				i := strings.Index(low[at:], w)
				if i < 0 {
					break
				}
				at += i
				near := strings.ReplaceAll(low[at:min(len(low), at+reach)], "\n", " ")
				if s.re == nil || s.re.MatchString(near) {
					found = append(found, s.name)
					break words
				}
				at += len(w)
			}
		}
	}
	slices.Sort(found)
	return found
}

// smuggles reports whether text has characters that only hide or reorder
// others: those of tags, and those that change the direction.
func smuggles(s string) bool {
	selectors := 0
	for i := 0; i < len(s); i++ {
		if s[i] < 0x80 {
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case 0xe0000 <= r && r <= 0xe007f, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
			return true
		case r >= 0xe0100 && r <= 0xe01ef:
			if selectors++; selectors > 3 {
				return true
			}
		}
		i += size - 1
	}
	return false
}

// What a viewer of Markdown or HTML would fetch on its own.
const (
	image     = `(^|[^\\])!(\[[^\]\n]{0,500}\]\([ \t]*<?(?:[a-zA-Z][a-zA-Z0-9+.-]{1,20}:)?//)`
	imageOf   = `(^|[^\\])!(\[[^\]\n]{0,500}\](?:\[[^\]\n]{0,200}\])?)`
	reference = `(?m)^ {0,3}\[[^\]\n]{1,200}\]:[ \t]*<?(?:[a-zA-Z][a-zA-Z0-9+.-]{1,20}:)?//`
	element   = `(?i)<((?:img|image|feimage|video|audio|source|track|iframe|frame|embed|object|link|script|use|input|body|table|meta|base)\b[^<>]{0,900}//|[a-z][a-z0-9-]{0,30}\b[^<>]{0,900}url\([^<>]{0,40}//)`
)

// viewing are the expressions, compiled when the first text from outside
// comes.
type viewing struct{ image, imageOf, reference, element *regexp.Regexp }

// Defuse changes in text from outside what a viewer would fetch without being
// asked: an image becomes a link, an element of HTML becomes text. Links stay;
// nothing follows them on its own. Doing it again changes nothing.
func (r *Redactor) Defuse(s string) string {
	if !strings.Contains(s, "//") || !strings.Contains(s, "![") && !strings.Contains(s, "<") {
		return s
	}
	r.viewOnce.Do(func() {
		r.viewing = viewing{regexp.MustCompile(image), regexp.MustCompile(imageOf), regexp.MustCompile(reference), regexp.MustCompile(element)}
	})
	for range 2 { // neighbours share the character between them
		s = r.viewing.image.ReplaceAllString(s, `$1\!$2`)
		if r.viewing.reference.MatchString(s) {
			s = r.viewing.imageOf.ReplaceAllString(s, `$1\!$2`)
		}
	}
	return r.viewing.element.ReplaceAllString(s, "&lt;$1")
}
