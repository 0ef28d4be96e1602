package redact

import (
	"path"
	"strings"
)

// place is where a program gets a secret.
type place struct {
	after string // words that come before; of options in one word, each letter counts
	what  kind
	names string // options, or beginnings of words
	flags string // options of one letter without a value, which may stand before one of names in a word
}

type kind int

const (
	ofOption     kind = iota // an option's value
	glued                    // what follows an option in its word
	afterColon               // an option's value, after a colon
	afterPercent             // an option's value, after a percent sign
	afterComma               // an option's value, after a comma
	afterEquals              // an option's value, after an equals sign
	firstWord                // the first other word
	lastOfTwo                // the last other word, when there are two; one after a login
	lastWord                 // the last other word
	afterName                // the word after the name of a secret
	everyPair                // NAME=value, whatever the name
	fromInput                // what an echo before it prints, or a here-string
	restOfWord               // the rest of a word that begins so
	isProse                  // words are prose
	isTest                   // nothing is a value
)

// programs are the places of programs' secrets. A row of several names is of each.
var programs = rows(map[string][]place{
	"mysql mysqldump mysqladmin mysqlimport mysqlsh mysqlpump mysqlcheck mysqlshow mariadb mariadb-dump mariadb-admin mariadb-import mariadb-check mycli": {{what: glued, names: "-p"}},
	"curl curlie":                   {{what: afterColon, names: "-u --user -U --proxy-user", flags: "sSLkfvigIGaNnRjJpq#0123456"}, {what: afterEquals, names: "-b --cookie", flags: "sSLkfvigIGaNnRjJpq#0123456"}},
	"wget wget2 lwp-request aria2c": {{what: afterColon, names: "-u --user -U"}},
	"http https httpie xh xhs":      {{what: afterColon, names: "-a --auth"}},
	"sshpass":                       {{what: ofOption, names: "-p"}, {what: glued, names: "-p"}},
	"docker podman nerdctl buildah skopeo oras crane helm": {{after: "login", what: ofOption, names: "-p"}, {what: fromInput, names: "--password-stdin"}, {after: "secret create", what: fromInput}},
	"redis-cli":                  {{what: ofOption, names: "-a --pass"}, {what: glued, names: "-a"}},
	"ssh-keygen":                 {{what: ofOption, names: "-N -P"}},
	"htpasswd":                   {{after: "-b", what: lastOfTwo}},
	"aws":                        {{after: "configure set", what: afterName}, {after: "put-parameter", what: ofOption, names: "--value"}, {what: ofOption, names: "--secret-string --master-user-password"}},
	"gh glab":                    {{what: fromInput, names: "--with-token --stdin"}, {after: "secret set", what: ofOption, names: "--body -b"}, {after: "secret set", what: glued, names: "-b"}, {after: "secret set", what: fromInput}},
	"sudo doas":                  {{after: "-S", what: fromInput}},
	"cryptsetup passwd chpasswd": {{what: fromInput}},
	"gpg gpg2":                   {{what: fromInput, names: "--passphrase-fd"}},
	"gcloud":                     {{after: "secrets", what: fromInput}},
	"vercel":                     {{after: "env add", what: fromInput}, {what: ofOption, names: "-t"}},
	"netlify":                    {{what: ofOption, names: "--auth -a"}},
	"kubectl oc":                 {{what: afterEquals, names: "--from-literal"}},
	"useradd usermod":            {{what: ofOption, names: "-p"}},
	"vault bao":                  {{after: "login", what: lastWord}, {after: "kv put", what: everyPair}, {after: "write", what: everyPair}, {after: "kv patch", what: everyPair}},
	"fly flyctl":                 {{after: "secrets set", what: everyPair}},
	"npm pnpm yarn poetry pip rclone nmcli git composer bundle": {{after: "set", what: afterName}, {after: "config", what: afterName}, {after: "con", what: afterName}, {after: "wifi", what: afterName}},
	"setx setenv set ENV ARG":                                   {{what: afterName}},
	"twine":                                                     {{what: ofOption, names: "-p"}},
	"poetry":                                                    {{after: "publish", what: ofOption, names: "-p"}, {after: "config", what: lastOfTwo}},
	"mongosh mongo mongodump mongorestore mongoexport mongoimport cqlsh rdesktop ncftpput ncftpget": {{what: ofOption, names: "-p"}},
	"sqlcmd bcp mssql-cli": {{what: ofOption, names: "-P"}, {what: glued, names: "-P"}},
	"ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd": {{what: ofOption, names: "-w", flags: "xvZnLWc"}, {what: glued, names: "-w"}},
	"ldappasswd":                            {{what: ofOption, names: "-s -a"}},
	"zip unzip zipcloak":                    {{what: ofOption, names: "-P", flags: "rqejovxy9"}, {what: glued, names: "-P"}},
	"7z 7za 7zz 7zr":                        {{what: glued, names: "-p"}},
	"rar unrar":                             {{what: glued, names: "-p -hp"}},
	"openssl":                               {{after: "enc", what: ofOption, names: "-k -K"}, {after: "passwd", what: lastWord}, {what: restOfWord, names: "pass:"}},
	"smbclient smbmap rpcclient":            {{what: afterPercent, names: "-U --user"}},
	"lftp open":                             {{what: afterComma, names: "-u --user"}},
	"keytool jarsigner":                     {{what: ofOption, names: "-storepass -keypass -srcstorepass -deststorepass -srckeypass -destkeypass"}},
	"ipmitool mosquitto_pub mosquitto_sub":  {{what: ofOption, names: "-P"}}, //nolint:misspell // the name of the programs
	"snmpwalk snmpget snmpset snmpbulkwalk": {{what: ofOption, names: "-A -X -c"}},
	"rabbitmqctl":                           {{after: "add_user", what: lastOfTwo}, {after: "change_password", what: lastOfTwo}},
	"wpa_passphrase":                        {{what: lastOfTwo}},
	"cargo":                                 {{after: "login", what: lastWord}},
	"dotnet nuget":                          {{after: "push", what: ofOption, names: "-k"}},
	"gem":                                   {{after: "push", what: ofOption, names: "--key -k"}},
	"az":                                    {{after: "login", what: ofOption, names: "-p"}, {after: "secret set", what: ofOption, names: "--value"}},
	"ConvertTo-SecureString":                {{what: firstWord}},
	"ansible-vault":                         {{after: "encrypt_string", what: firstWord}},
	"xfreerdp xfreerdp3":                    {{what: restOfWord, names: "/p:"}},
	"grep egrep fgrep zgrep rg ag ack sed awk gawk jq yq": {{what: isProse}},
	"test [ [[": {{what: isTest}},
})

func rows(table map[string][]place) map[string][]place {
	programs := map[string][]place{}
	for names, places := range table {
		for name := range words(names) {
			programs[name] = append(programs[name], places...)
		}
	}
	return programs
}

// proseOptions are options whose value is written for people, or looked for.
var proseOptions = words("-m -am -t -k -g -F --message --title --body --grep --subject --description --notes --testNamePattern --reason --comment -e")

// secretOptions are options of any program that are no names elsewhere.
var secretOptions = words("auth")

// programOf is the row of the program that a word names, or nil.
func programOf(w *shellWord) (name string, places []place) {
	if len(w.text) > 200 || w.text == "" || w.at != nil {
		return "", nil
	}
	name = w.text
	if strings.IndexByte(name, '/') >= 0 {
		name = path.Base(name)
	}
	return name, programs[strings.TrimSuffix(name, ".exe")]
}
