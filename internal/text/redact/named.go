package redact

// What stands between a name and its value: an operator, perhaps behind a
// type, the end of a tag, a comma before a quoted text, or what XML, YAML and
// HCL have between a name and a value of it.
const (
	quotes     = `\\{0,7}["'\]]{0,2}`
	blanks     = `[ \t+]{0,4}`
	assignment = quotes + blanks + `(?:(?:: ?(?:&|\\u0026)?[A-Za-z]{2,12}(?: ?\| ?[a-z]+)? ?)?(?::=|=>|==|[:=]|>)` + blanks + `(?:[>|][-+]?(?:\\{1,7}n)?[\s+]+)?|,` + blanks + `(?:\\{0,7}["'])|` +
		`(?:\s|\\{1,3}n|\+)+value\\{0,3}["']?` + blanks + `[:=]` + blanks + `|` + blanks + `\{` + blanks + `default` + blanks + `=` + blanks + `)(?:base64:)?`
	value = `(?:(?:\\{0,7}"((?:[^"\\\n]|\\[^"\n]){8,}))|(?:\\{0,7}'((?:[^'\\\n]|\\[^'\n]){8,}))|([A-Za-z0-9_./+=~!@#$%^*-]{12,}))`
	// credential is the word of an option that takes a secret.
	credential = `(?:[a-z]+[-_])*(?:password|passwd|pass|passphrase|token|secret|authkey|(?:api|access|auth|secret|private)[-_]?key)`
)

// secretNames are the words in names that secrets are given to.
var secretNames = []string{
	"password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "api_key", "api-key", "access_key", "accesskey", "access-key", "auth_key", "authkey",
	"private_key", "privatekey", "encryption_key", "signing_key", "session_key", "master_key", "credential", "_auth", "app_key", "license_key", "account_key", "fastly-key",
	"_pat=", "_pat:", `_pat"`, "_pat ", "db_pass", "_pass=", "privkey", "client_key", "service_key", "-key:", "_key=",
}

// named are the rules that know a secret by what stands around it.
func named() []rule {
	return []rule{
		// As a path that was made clean, an address has one slash.
		{typ: "url-password", literals: []string{":/"}, inWord: true, may: hasUser, pattern: `:/{1,2}[^\s/:@"'<>\x60\[]{0,100}:([^\s/@"'<>\x60]{3,200})@`, window: 320, keep: realPassword},
		{typ: "url-token", literals: []string{":/"}, inWord: true, may: hasUser, pattern: `:/{1,2}([A-Za-z0-9_-]{20,200})(?::[^\s/@"'<>\x60]{0,100})?@`, window: 320, keep: random},
		{typ: "url-password", literals: []string{"@tcp(", "@unix("}, inWord: true, pattern: `@`, back: passwordBefore},
		{typ: "basic-auth", literals: []string{"basic "}, fold: true, pattern: `(?i:basic) +([A-Za-z0-9+/_-]{8,}={0,2})`, keep: userAndPassword},
		{typ: "basic-auth", literals: []string{`"auth"`, `"auth\`}, inWord: true, pattern: `"auth\\{0,7}"[\s+]{0,4}:[\s+]{0,4}\\{0,7}"([A-Za-z0-9+/]{16,}={0,2})`, keep: random},
		{typ: "bearer", literals: []string{"bearer "}, fold: true, pattern: `(?i:bearer) +([A-Za-z0-9._~+/=-]{20,})`, keep: mixed},
		{typ: "authorization", literals: []string{"authorization"}, fold: true, inWord: true, assign: true, pattern: `(?i:authorization)` + quotes + ` {0,3}[:=,] {0,3}` + quotes + `(?:[A-Za-z]+ +)?([A-Za-z0-9._~+/=-]{16,})`, keep: realCredential},
		{typ: "password", literals: []string{"machine "}, window: 600, pattern: `machine\s+\S+\s+login\s+\S+\s+password\s+(\S{4,})`},
		{typ: "password", literals: []string{"login "}, window: 300, pattern: `login\s+\S+(?:\s|\\n|\+)+password\s+(\S{6,})`, keep: random},
		{typ: "password", literals: []string{":5432:", ":3306:", ":*:"}, inWord: true, pattern: `:(?:5432|3306|\*):[^:\s]{1,64}:[^:\s]{1,64}:([^:\s"'\\\x60]{6,})`, keep: random},
		{typ: "password", literals: []string{"-u ", "-u+", "--user"}, inWord: true, pattern: `(?:-u|--user)[ +]+\\{0,7}["']?[A-Za-z0-9._@-]+:([^\s"':/\\]{6,})`, keep: random},
		{typ: "password", literals: []string{"sshpass"}, pattern: `sshpass[ +]+-p[ +]*\\{0,7}["']?([^\s"'\\]{6,})`, keep: random},
		{typ: "secret", literals: []string{"--p", "--t", "--s", "--a", "--d", "--c"}, inWord: true, assign: true, pattern: `--` + credential + `(?:[ +]+|=)\\{0,7}["']?([^\s"'\\\x60]{8,})`, keep: random},
		{typ: "private-jwk", literals: []string{`"d"`, `"d\`}, inWord: true, pattern: `"d\\{0,7}"[ +]?:[ +]?\\{0,7}"([A-Za-z0-9_-]{40,})`, window: 2048, keep: random},
		{typ: "aws-secret-key", literals: []string{"secret"}, fold: true, inWord: true, assign: true, pattern: `(?i:secret)[A-Za-z0-9_.-]{0,20}` + assignment + quotes + `([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`, window: 160, may: mayAssign, keep: mixed},
		{typ: "secret", literals: secretNames, fold: true, inWord: true, assign: true, window: 1024, may: mayAssign, keep: random, pattern: `[A-Za-z_-]+[A-Za-z0-9_.-]{0,24}` + assignment + value},
		{typ: "secret", literals: secretNames, fold: true, inWord: true, assign: true, may: mayFollow, keep: plainlyRandom, pattern: `[A-Za-z_-]+[A-Za-z0-9_]{0,24}` + quotes + `[ \t+]{1,4}\\{0,7}["']?([A-Za-z0-9_+/=.-]{16,})`},
	}
}

// passwordBefore is the length of the password of user:password@ before its
// end, or -1.
func passwordBefore(before string) int {
	n := trailing(before, func(c byte) bool { return c > ' ' && c != ':' && c != '"' && c != '\'' && c != '/' }, 6, 60)
	if n < 0 || n == len(before) || before[len(before)-n-1] != ':' || !random(before[len(before)-n:]) {
		return -1
	}
	return n
}

// hasUser reports whether a URL that goes on after :// may have a user.
func hasUser(s string, _ int) bool {
	for _, c := range []byte(s[len(":/"):min(len(s), 310)]) {
		switch {
		case c == '@':
			return true
		case c <= ' ' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '`':
			return false
		}
	}
	return false
}

// mayAssign reports whether something is near the name at the beginning of s
// that could be a value: a run without blanks that is no plain word.
func mayAssign(s string, literal int) bool {
	i := literal
	for i < len(s) && i < literal+25 && (wordByte(s[i]) || s[i] == '.' || s[i] == '-') {
		i++
	}
	if i >= len(s) || wordByte(s[i]) {
		return false
	}
	const reach = 96
	run, digits, upper, lowers, operator := 0, 0, 0, 0, literal > 0 && s[literal-1] == '=' || s[literal-1] == ':'
	for _, c := range []byte(s[i:min(len(s), i+reach)]) {
		switch {
		case c <= ' ' || c == '"' || c == '\'' || c == '=' || c == ':' || c == ',' || c == '>' || c == '+':
			if operator && run >= 8 && (digits > 0 || upper > 2 && lowers > 2) {
				return true
			}
			operator = operator || c == '=' || c == ':' || c == ',' || c == '>'
			run, digits, upper, lowers = 0, 0, 0, 0
			continue
		case digit(c):
			digits++
		case 'A' <= c && c <= 'Z':
			upper++
		default:
			lowers++
		}
		run++
	}
	return operator && run >= 8 && (digits > 0 || upper > 2 && lowers > 2)
}

// mayFollow reports whether the word after the name at the beginning of s has
// the digits of a token.
func mayFollow(s string, literal int) bool {
	i := literal
	for i < len(s) && i < literal+25 && wordByte(s[i]) {
		i++
	}
	for blank := false; i < len(s) && i < literal+40; i++ {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '+':
			blank = true
		case c == '"' || c == '\'' || c == '\\' || c == ']':
		case !blank:
			return false
		default:
			t := traitsOf(s[i:min(len(s), i+16)])
			return t.digits > 0 || t.upper > 2 && t.lower > 2
		}
	}
	return false
}
