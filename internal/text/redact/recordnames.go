package redact

import (
	"strings"
)

// Which names are those of secrets, and which values are none.

// secretEnds are ends of the last word of a secret's name.
var secretEnds = []string{"password", "passwords", "passwd", "passphrase", "passphrases", "passcode", "passwort", "secret", "secrets", "token", "apikey", "accesskey", "secretkey", "privatekey", "authkey", "accountkey", "sharedkey", "credential", "credentials", "pwd"}

// secretWords are last words that say it alone.
var secretWords = words("pw pin otp totp bearer jwt psk dsn authorization")

// keyOf, passOf and authOf are words before "key", "pass" and "auth" which make a secret of it.
var (
	keyOf  = words("api access secret private auth account encryption signing master session license subscription crypt deploy shared app storage service ssh aes hmac jwt stripe client admin fastly")
	passOf = words("db user root admin ftp smtp mail email ssh sudo become vault proxy http redis mysql pg postgres database login auth key store ldap mongo rabbitmq basic cert my old new system bind wifi")
	authOf = words("basic http proxy redis registry docker npm")
)

// notKeys, notPasses and notTokens are words before them with which they are none.
var (
	notKeys   = words("public primary foreign sort partition cache lock row map index hash idempotency group object natural unique hot short cmp first last next")
	notPasses = words("one two by multi first second single")
	notTokens = words("next page continuation start end max min num cancellation stop eos bos pad unk sep cls mask special")
)

// SecretName reports whether a member of that name holds a secret.
func SecretName(name string) bool { return secretName(name) || header(name) != noHeader }

const longestName = 80

// secretName reports whether a name is that of a secret. It may be a path of names, and in any letter case.
func secretName(name string) bool {
	if name == "" || len(name) > longestName {
		return false
	}
	before, last, upper := lastWords(name)
	switch last {
	case "base": // SECRET_KEY_BASE
		return before == "key" && strings.Contains(strings.ToLower(name), "secret")
	case "keys":
		return keyOf[before]
	case "key":
		return keyOf[before] || upper && before != "" && !notKeys[before]
	case "pass":
		return passOf[before] || upper && before != "" && !notPasses[before]
	case "pat":
		return before != "" && (upper || before == "github" || before == "gitlab" || before == "gh" || before == "azure")
	case "auth":
		return authOf[before] || before == "" && (name == "_auth" || strings.HasSuffix(name, ":_auth"))
	case "token":
		return !notTokens[before]
	case "signature":
		return before == "amz" || before == "goog"
	}
	if secretWords[last] {
		return true
	}
	for _, end := range secretEnds {
		if strings.HasSuffix(last, end) {
			return true
		}
	}
	return strings.HasSuffix(last, "pass") && passOf[last[:len(last)-len("pass")]]
}

// lastWords are the last two words of a name, in lower case, and whether it is a variable in capitals. Numbers at the
// end are none of its words.
func lastWords(name string) (before, last string, upper bool) {
	end := len(name)
	for end > 0 && !letter(name[end-1]) {
		end--
	}
	begin := partStart(name, end)
	last = name[begin:end]
	upper = strings.ToUpper(last) == last
	end = begin
	for end > 0 && !letter(name[end-1]) {
		if name[end-1] == '/' || name[end-1] == ':' {
			return "", strings.ToLower(last), upper
		}
		end--
	}
	return strings.ToLower(name[partStart(name, end):end]), strings.ToLower(last), upper
}

// partStart is where the word that ends at end begins: behind what is no letter, and at a capital behind a small one.
func partStart(name string, end int) int {
	i := end
	for i > 0 && letter(name[i-1]) {
		i--
		if i > 0 && capital(name[i]) && letter(name[i-1]) && !capital(name[i-1]) {
			break
		}
	}
	return i
}

func letter(c byte) bool  { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func capital(c byte) bool { return 'A' <= c && c <= 'Z' }

// headerKind is of headers whose value has words.
type headerKind int

const (
	noHeader   headerKind = iota
	authScheme            // Authorization: <authScheme> <credentials>
	cookies
)

func header(name string) headerKind {
	switch strings.ToLower(name) {
	case "authorization", "proxy-authorization", "x-authorization", "x-forwarded-authorization":
		return authScheme
	case "cookie", "set-cookie":
		return cookies
	}
	return noHeader
}

// schemes are what stands before credentials.
var schemes = words("bearer basic digest token apikey negotiate ntlm hmac aws4-hmac-sha256 key")

// credentialAt is where in s[from:to], the value of a header, the secret begins.
func credentialAt(name, s string, from, to int) int {
	first, rest, ok := strings.Cut(s[from:to], " ")
	switch {
	case header(name) == authScheme && ok && rest != "" && schemes[strings.ToLower(first)]:
		return from + len(first) + 1
	case !ok && schemes[strings.ToLower(first)]:
		return to
	}
	return from
}

// noSecrets are values that say nothing: types, states, and what a sentence goes on with.
var noSecrets = words(`true false null none nil undefined yes no on off nan void never unknown string str text number int integer int64 float bool boolean any bytes byte []byte object
	array list dict map varchar char uuid hidden required optional inherit missing invalid expired incorrect wrong empty unset ok is are was must should not the a an and or for in to of =~ optional[str] &str str? string? string; string[] basic digest bearer bearer: x-www-form-urlencoded`)

// columnTypes are types of columns, which generators of code write behind a colon, and their options behind another.
var columnTypes = words("string text integer boolean digest references uuid binary")

// authWays are values of "auth" and the like which name a way.
var authWays = words("none basic digest bearer oauth oauth2 ldap jwt sso legacy web anonymous token password md5 scram sasl pam negotiate ntlm true false on off")

// secretValue reports whether a value of a name says something. literal is of one that no shell expands.
func secretValue(name, v string, literal bool) bool {
	v = strings.TrimSpace(v)
	if v == "" || noSecrets[strings.ToLower(v)] || strings.HasPrefix(v, Marker) && strings.HasSuffix(v, "]") && strings.Count(v, "[") == 1 {
		return false
	}
	_, last, _ := lastWords(name)
	switch c := v[0]; {
	case c == '$':
		if !literal && expands(v) {
			return false
		}
	case c == '%' && len(v) > 2 && v[len(v)-1] == '%', strings.HasPrefix(v, "{{"), strings.HasPrefix(v, "<") && strings.HasSuffix(v, ">"):
		return false
	case strings.Trim(v, "*.-_=~^?! ") == "":
		return false
	case strings.Trim(v, "0123456789.") == "": // which may be a count
		return len(v) >= 4 && !strings.HasSuffix(last, "token") && last != "key"
	}
	switch last {
	case "key", "privatekey", "keys", "authkey":
		return !plainPath(v)
	case "auth":
		return !authWays[strings.ToLower(v)]
	case "pwd": // the working directory
		return v[0] != '/'
	}
	first, _, cut := strings.Cut(v, ":")
	return !cut || !columnTypes[strings.ToLower(first)]
}

// expands reports whether a shell puts something in the place of v.
func expands(v string) bool {
	if at := strings.Index(v, ":-"); at > 0 && at+2 < len(v) && v[at+2] != '$' && v[at+2] != '}' { // or a value that it has
		return false
	}
	return len(v) == 1 || letter(v[1]) || digit(v[1]) || strings.IndexByte("_{(@*#?!$", v[1]) >= 0
}

// plainPath reports whether a value is the path of a file.
func plainPath(v string) bool {
	if strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "~") || strings.HasPrefix(v, "file:") {
		return true
	}
	dot := strings.LastIndexByte(v, '.')
	return dot >= 0 && keyFiles[v[dot+1:]]
}

var keyFiles = words("pem key crt cer pub json txt p12 pfx p8 asc gpg der jks yaml yml")
