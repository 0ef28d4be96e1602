package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
)

// rule is one form of secret. Its expression is compiled when one of its
// literals is met for the first time.
type rule struct {
	typ      string
	literals []string
	fold     bool   // the literals are lower case and match in any case
	pattern  string // matched at the literal; its first group, when there is one, is the secret
	window   int    // bytes that the pattern may see; 0 means 400
	inWord   bool   // the literal may stand inside a word
	assign   bool   // finds a value by the name that it is given

	// back, when set, is how many bytes before the literal belong to the
	// secret, or -1 when it is none.
	back func(before string) int
	// keep, when set, is asked whether what was found is one.
	keep func(secret string) bool
	// may, when set, says quickly that the pattern can't match at the literal,
	// whose length it is told.
	may func(s string, literal int) bool
	// find replaces the pattern where an expression is no help.
	find func(s string, i int) (end int, ok bool)

	once *sync.Once
	re   *regexp.Regexp
}

// lookBehind is how many bytes before its literal a rule sees.
const lookBehind = 64

func (r *rule) match(s string, i, literal, from int) (span, bool) {
	if !r.inWord && r.back == nil && !wordStart(s, i) && (literal < 4 || s[i-1] != '_') {
		return span{}, false
	}
	if r.find != nil {
		e, ok := r.find(s, i)
		return span{i, e, r.typ}, ok
	}
	if r.may != nil && !r.may(s[i:], literal) {
		return span{}, false
	}
	window := r.window
	if window == 0 {
		window = 400
	}
	text := s[i:min(i+window, len(s))]
	found, ok := r.matchAt(text, s[max(i-lookBehind, from):i])
	if !ok {
		return r.broken(s, i, from)
	}
	found.start, found.end = i+found.start, i+found.end
	if found.end == i+window { // a long secret goes on behind the window
		for found.end < len(s) && tokenByte(s[found.end]) {
			found.end++
		}
	}
	return found, true
}

// matchAt matches the expression at the beginning of text, which is preceded by
// before. The span is counted from there, so that it may begin below 0.
func (r *rule) matchAt(text, before string) (span, bool) {
	r.once.Do(func() { r.re = regexp.MustCompile("^(?:" + r.pattern + ")") })
	m := r.re.FindStringSubmatchIndex(text)
	if m == nil {
		return span{}, false
	}
	start, end := m[0], m[1]
	for g := 2; g+1 < len(m); g += 2 {
		if m[g] >= 0 {
			start, end = m[g], m[g+1]
			break
		}
	}
	secret := text[start:end]
	if r.back != nil {
		n := r.back(before)
		if n < 0 {
			return span{}, false
		}
		start -= n
		secret = before[len(before)-n:] + secret
	}
	if r.keep != nil && !r.keep(secret) {
		return span{}, false
	}
	return span{start, end, r.typ}, true
}

// wordStart reports whether a token can begin at i: not inside a word, unless
// what stands before is the end of an escape sequence.
func wordStart(s string, i int) bool {
	if i == 0 {
		return true
	}
	switch c := s[i-1]; {
	case c == '-':
		return i == 1 || !wordByte(s[i-2]) && s[i-2] != '-'
	case !wordByte(c):
		return true
	case i >= 2 && s[i-2] == '\\' && strings.IndexByte("abefnrtv0", c) >= 0:
		return true
	case hexDigit(lower(c)):
		for n := 2; n <= 5 && n < i; n++ { // \u000a, \x0a, \012, %0a
			if at := i - 1 - n; s[at] == '%' && n == 2 {
				return hexDigit(lower(s[i-2]))
			} else if s[at] == '\\' {
				size, _, ok := written(s[at+1 : i])
				return ok && size == n
			}
		}
	}
	if c := s[i-1]; c >= '@' { // the end of an escape sequence, whatever is left of its beginning
		j := i - 2
		for j > 0 && i-j < 24 && (s[j] == ';' || digit(s[j])) {
			j--
		}
		return j >= 0 && s[j] == '[' && (c == 'm' || j > 0 && wordByte(s[j-1]) || j > 0 && s[j-1] == '\x1b' || j > 0 && s[j-1] == '[')
	}
	return false
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

func tokenByte(c byte) bool {
	return wordByte(c) || c == '-' || c == '.' || c == '+' || c == '/' || c == '=' || c == '~'
}

// trailing is how many bytes at the end of s satisfy ok, or -1 when they are
// not between least and most.
func trailing(s string, ok func(byte) bool, least, most int) int {
	n := 0
	for n < len(s) && ok(s[len(s)-1-n]) {
		n++
	}
	if n < least || n > most {
		return -1
	}
	return n
}

func digit(c byte) bool    { return '0' <= c && c <= '9' }
func hexDigit(c byte) bool { return digit(c) || 'a' <= c && c <= 'f' }

// token is a rule for tokens that begin with a fixed prefix.
func token(typ, rest string, prefixes ...string) rule {
	quoted := make([]string, len(prefixes))
	for i, p := range prefixes {
		quoted[i] = regexp.QuoteMeta(p)
	}
	return rule{typ: typ, literals: prefixes, pattern: "(?:" + strings.Join(quoted, "|") + ")" + rest, window: 2048, keep: filledIn}
}

// rules is the list, the more special before the more general.
func rules() []rule {
	list := []rule{
		{typ: "private-key", literals: []string{"-----BEGIN ", "-----BEGIN+"}, inWord: true, find: privateKey},
		{typ: "private-key", literals: []string{"PuTTY-User-Key-File-"}, inWord: true, pattern: `PuTTY-User-Key-File-[\s\S]+Private-MAC:[ +][0-9a-f]+`, window: 8192},
		token("age-key", `[A-Z0-9]{40,}`, "AGE-SECRET-KEY-1"),

		token("aws-access-key", `[A-Z0-9]{16}(?:[^A-Za-z0-9]|$)`, "AKIA", "ASIA", "ABIA", "ACCA").group(`[A-Z0-9]{20}`),
		token("github-token", `[A-Za-z0-9]{30,}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
		token("github-token", `[A-Za-z0-9_]{40,}`, "github_pat_"),
		token("gitlab-token", `[A-Za-z0-9_.-]{18,}`, "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "gloas-", "glsoat-", "glft-"),
		token("anthropic-key", `[A-Za-z0-9_-]{20,}`, "sk-ant-"),
		token("openai-key", `[A-Za-z0-9_-]{20,}`, "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", "sk-or-v1-"),
		withKeep(token("openai-key", `[A-Za-z0-9]{20,}`, "sk-"), mixed),
		token("google-api-key", `[A-Za-z0-9_-]{33,}`, "AIza"),
		token("google-oauth", `[A-Za-z0-9_-]{20,}`, "GOCSPX-", "ya29."),
		token("slack-token", `[A-Za-z0-9-]{10,}`, "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xapp-"),
		{typ: "webhook", literals: []string{"hooks.slack.com/"}, pattern: `hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_+/-]{20,}`, back: scheme},
		{typ: "webhook", literals: []string{"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}, pattern: `discord(?:app)?\.com/api/webhooks/[0-9]{15,}/[A-Za-z0-9_-]{40,}`, back: scheme},
		token("stripe-key", `[A-Za-z0-9]{16,}`, "sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"),
		withKeep(token("twilio-key", `[0-9a-f]{32}\b`, "SK"), mixed),
		{typ: "sendgrid-key", literals: []string{"SG."}, pattern: `SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,}`},
		{typ: "mailchimp-key", literals: []string{"-us"}, pattern: `-us[0-9]{1,2}\b`, back: func(b string) int { return trailing(b, hexDigit, 32, 32) }},
		token("npm-token", `[A-Za-z0-9]{30,}`, "npm_"),
		token("pypi-token", `[A-Za-z0-9_-]{16,}`, "pypi-AgE"),
		withKeep(token("huggingface-token", `[A-Za-z0-9]{30,}`, "hf_", "api_org_"), mixedCase),
		token("digitalocean-token", `[0-9a-f]{40,}`, "dop_v1_", "doo_v1_", "dor_v1_"),
		token("databricks-token", `[0-9a-f]{32}(?:-[0-9])?`, "dapi"),
		token("shopify-token", `[0-9a-fA-F]{32}`, "shpat_", "shpca_", "shppa_", "shpss_"),
		token("linear-key", `[A-Za-z0-9]{30,}`, "lin_api_", "lin_oauth_"),
		token("vault-token", `[A-Za-z0-9_-]{20,}`, "hvs.", "hvb.", "hvr."),
		token("api-token", `[A-Za-z0-9_=.-]{24,}`, "glsa_", "glc_eyJ", "dckr_pat_", "dckr_oat_", "figd_", "ATATT3", "ATCTT3", "PMAK-", "NRAK-", "sq0csp-", "sq0atp-", "rubygems_",
			"sntrys_", "sntryu_", "dp.pt.", "dp.st.", "sbp_", "tskey-", "nvapi-", "pplx-", "gsk_", "fo1_", "EAAA", "shippo_live_", "CFPAT-", "phc_", "pat-na1-", "oy2",
			"CCIPAT_", "pscale_", "EAAC", "EAAG", "AKCp", "v1.0-", "atp_", "lsv2_", "tfp_", "fio-u-", "pnu_", "ops_eyJ", "sk_prod_").with(mixed),
		token("api-token", `[A-Za-z0-9_-]{24,}`, "key-", "pul-", "sl.", "xai-", "r8_").with(unnamed),
		token("notion-token", `[A-Za-z0-9]{40,}`, "secret_", "ntn_").with(mixedCase),
		token("facebook-token", `[A-Za-z0-9]{80,}`, "EAA"),
		token("aws-session-token", `[A-Za-z0-9/+]{80,}={0,2}`, "IQoJ", "FwoG", "FQoG"),
		token("google-refresh-token", `[A-Za-z0-9_-]{40,}`, "1//0"),
		token("airtable-token", `[A-Za-z0-9]{14}\.[0-9a-f]{40,}`, "pat").unlessShort(14), // path, pattern
		{typ: "terraform-token", literals: []string{".atlasv1."}, pattern: `\.atlasv1\.[A-Za-z0-9_-]{40,}`, back: func(b string) int { return trailing(b, wordByte, 10, 20) }},
		{typ: "newrelic-key", literals: []string{"NRAL"}, pattern: `NRAL(?:[^A-Za-z0-9]|$)`, back: func(b string) int { return trailing(b, hexDigit, 36, 36) }},
		{typ: "jwt", literals: []string{"eyJ"}, pattern: `eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ)?[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){1,3}`, window: 4096},
		{typ: "discord-token", literals: []string{"MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"}, pattern: `[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`, window: 120},
		{typ: "telegram-token", literals: []string{":AA"}, pattern: `:AA[A-Za-z0-9_-]{32,34}`, back: func(b string) int { return trailing(b, digit, 8, 10) }},
		{typ: "azure-secret", literals: []string{"Q~"}, pattern: `Q~[A-Za-z0-9_~.-]{31,34}`, back: azureStart},
		{typ: "azure-key", literals: []string{"accountkey=", "sharedaccesskey=", "sharedaccesssignature="}, fold: true, pattern: `(?i:[a-z]+)=([A-Za-z0-9+/%=&-]{40,})`, inWord: true},
		{typ: "webhook", literals: []string{".webhook.office.com/"}, inWord: true, pattern: `\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{60,}`, back: func(b string) int {
			return max(0, trailing(b, func(c byte) bool { return wordByte(c) || strings.IndexByte("-.:/", c) >= 0 }, 1, 64))
		}},
		{typ: "azure-signature", literals: []string{"sig="}, inWord: true, pattern: `sig=([A-Za-z0-9%+/]{40,}={0,2})`, keep: random},
	}
	list = append(list, named()...)
	for i := range list {
		list[i].once = new(sync.Once)
	}
	return list
}

func (r rule) with(keep func(string) bool) rule {
	r.keep = func(secret string) bool { return filledIn(secret) && keep(secret) }
	return r
}

func withKeep(r rule, keep func(string) bool) rule { return r.with(keep) }

// unlessShort says quickly that a token of at least n letters and digits can't
// follow the literal, as for words that begin like it.
func (r rule) unlessShort(n int) rule {
	r.may = func(s string, literal int) bool {
		for _, c := range []byte(s[literal:min(literal+n, len(s))]) {
			if c == '\n' || c == '\r' {
				return true // it may go on in the next line
			}
			if !wordByte(c) {
				return false
			}
		}
		return true
	}
	return r
}

// group narrows the secret to the part of the pattern that inner describes,
// where the pattern must look one byte further.
func (r rule) group(inner string) rule {
	r.pattern = "(" + inner + ")(?:[^A-Za-z0-9]|$)"
	return r
}

// scheme takes the scheme of a URL into the secret.
func scheme(before string) int {
	if strings.HasSuffix(before, "https://") {
		return len("https://")
	}
	return 0
}

// azureStart is the part of an Azure client secret before its Q~.
func azureStart(before string) int {
	if n := len(before); n >= 4 && digit(before[n-1]) {
		return 4
	}
	return -1
}

// maxKey bounds a private key in bytes.
const maxKey = 20 << 10

// privateKey finds a PEM block, as text or inside a string with its line
// breaks written as \n, also when its end is missing.
func privateKey(s string, i int) (int, bool) {
	head := s[i:min(i+80, len(s))]
	label, _, ok := strings.Cut(head[len("-----BEGIN "):], "-----")
	if !ok || !strings.Contains(strings.ReplaceAll(label, "+", " "), "PRIVATE KEY") {
		return 0, false
	}
	at := i + len("-----BEGIN ") + len(label) + len("-----")
	body, run, longest := at, 0, 0
	for ; body < len(s) && body-at < maxKey && !strings.HasPrefix(s[body:], "-----"); body++ {
		c := s[body]
		switch {
		case wordByte(c) || c == '+' || c == '/' || c == '=':
			run++
			longest = max(longest, run)
			continue
		case strings.IndexByte(" \t\r\n\\-:,\"'|>;.()", c) < 0:
			if longest < 32 {
				return 0, false
			}
			return body, true
		}
		run = 0
	}
	if longest < 32 {
		return 0, false
	}
	const end = "-----END" // then the same label and dashes
	if strings.HasPrefix(s[body:], end) {
		if j := strings.Index(s[body+len(end):min(body+len(end)+80, len(s))], "-----"); j >= 0 {
			body += len(end) + j + len("-----")
		}
	}
	return body, true
}

// userAndPassword reports whether the text is the base64 of user:password.
func userAndPassword(text string) bool {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	plain, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || !strings.Contains(string(plain), ":") {
		return false
	}
	for _, c := range plain {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}
