package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp/syntax"
	"strings"
	"testing"
)

// made are texts with a secret, described by expressions from which values are
// drawn: no value stands in the source. The secret is between § and §.
var made = []struct{ typ, text string }{
	{"aws-access-key", `aws_access_key_id: §(AKIA|ASIA)[A-Z2-7]{16}§`},
	{"aws-secret", `AWS_SECRET_ACCESS_KEY=§[A-Za-z0-9/+]{40}§`},
	{"aws-secret", `"SecretAccessKey": "§[A-Za-z0-9/+]{40}§",`},
	{"aws-session", `aws_session_token = §IQoJ[A-Za-z0-9/+]{300}==§`},
	{"github", `remote: §gh[pousr]_[A-Za-z0-9]{36}§`},
	{"github-fine", `GITHUB_TOKEN §github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}§`},
	{"gitlab", `glab auth login --token §glpat-[A-Za-z0-9_-]{20}§`},
	{"gitlab-runner", `token = "§glrt-[A-Za-z0-9_-]{20}§"`},
	{"gitlab-trigger", `-F token=§glptt-[0-9a-f]{40}§`},
	{"openai", `client = OpenAI(api_key="§sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}§")`},
	{"openai-project", `key: §sk-proj-[A-Za-z0-9_-]{74}T3BlbkFJ[A-Za-z0-9_-]{74}§`},
	{"anthropic", `x-api-key: §sk-ant-api03-[A-Za-z0-9_-]{93}AA§`},
	{"openrouter", `OPENROUTER=§sk-or-v1-[0-9a-f]{64}§`},
	{"google", `https://maps.test/api/js?key=§AIza[A-Za-z0-9_-]{35}§&v=3`},
	{"google-oauth", `client_secret: §GOCSPX-[A-Za-z0-9_-]{28}§`},
	{"google-access", `Authorization: Bearer §ya29\.[A-Za-z0-9_-]{120}§`},
	{"google-refresh", `"refresh_token": "§1//0[A-Za-z0-9_-]{60}§"`},
	{"slack", `bot token §xox[bp]-[0-9]{12}-[0-9]{13}-[A-Za-z0-9]{24}§`},
	{"slack-app", `§xapp-1-A[A-Z0-9]{10}-[0-9]{13}-[0-9a-f]{64}§`},
	{"slack-webhook", `curl -X POST §https://hooks\.slack\.com/services/T[A-Z0-9]{8}/B[A-Z0-9]{10}/[A-Za-z0-9]{24}§`},
	{"discord-webhook", `url = §https://discord\.com/api/webhooks/[0-9]{18}/[A-Za-z0-9_-]{68}§`},
	{"teams-webhook", `url: §https://acme\.webhook\.office\.com/webhookb2/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}@[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}§`},
	{"stripe", `Stripe.apiKey = "§(sk|rk)_(live|test)_[A-Za-z0-9]{24}§";`},
	{"stripe-hook", `endpoint_secret = '§whsec_[A-Za-z0-9]{32}§'`},
	{"twilio", `twilio -k §SK[0-9a-f]{32}§`},
	{"twilio-auth", `TWILIO_AUTH_TOKEN=§[0-9a-f]{32}§`},
	{"sendgrid", `smtp pass §SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}§`},
	{"mailchimp", `mc: §[0-9a-f]{32}-us[1-9]§`},
	{"mailgun", `MAILGUN=§key-[0-9a-f]{32}§`},
	{"npm", `npm config set //registry.test/:_authToken §npm_[A-Za-z0-9]{36}§`},
	{"npmrc", `//registry.test/:_auth=§[A-Za-z0-9+/]{40}==§`},
	{"pypi", `twine -p §pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{120}§`},
	{"huggingface", `login(token='§hf_[A-Za-z]{34}§')`},
	{"digitalocean", `doctl -t §do[opr]_v1_[0-9a-f]{64}§`},
	{"databricks", `databricks token §dapi[0-9a-f]{32}§`},
	{"azure-storage", `AccountName=a;AccountKey=§[A-Za-z0-9+/]{86}==§;EndpointSuffix=x`},
	{"azure-sas", `https://a.blob.test/c?sv=2022-11-02&se=2030&sr=c&sig=§[A-Za-z0-9]{40}%3D§`},
	{"azure-bus", `Endpoint=sb://n.test/;SharedAccessKeyName=Root;SharedAccessKey=§[A-Za-z0-9+/]{43}=§`},
	{"azure-client", `clientSecret: '§[A-Za-z0-9]{3}8Q~[A-Za-z0-9_.~-]{34}§'`},
	{"azure-devops", `AZURE_DEVOPS_PAT=§[a-z2-7]{52}§`},
	{"discord", `client.login("§M[TDjz][A-Za-z0-9]{22}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{38}§")`},
	{"telegram", `https://api.telegram.test/bot§[0-9]{9}:AA[A-Za-z0-9_-]{33}§/getMe`},
	{"vault", `vault login §hvs\.[A-Za-z0-9_-]{91}§`},
	{"vault-old", `VAULT_TOKEN=§s\.[A-Za-z0-9]{24}§`},
	{"jwt", `cookie: session=§eyJhbGciOiJIUzI1NiJ9\.eyJ[A-Za-z0-9_-]{60}\.[A-Za-z0-9_-]{43}§; path=/`},
	{"k8s-token", `token: §eyJhbGciOiJSUzI1NiIsImtpZCI6[A-Za-z0-9_-]{40}\.eyJ[A-Za-z0-9_-]{400}\.[A-Za-z0-9_-]{342}§`},
	{"age", `§AGE-SECRET-KEY-1[AC-HJ-NP-Z02-9]{58}§`},
	{"shopify", `X-Shopify-Access-Token: §shp(at|ca|pa|ss)_[0-9a-f]{32}§`},
	{"linear", `linear: §lin_api_[A-Za-z0-9]{40}§`},
	{"atlassian", `-u me@x.test:§ATATT3xFfGF0[A-Za-z0-9_-]{150}=[0-9A-F]{8}§`},
	{"grafana", `Bearer §glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}§`},
	{"docker", `docker login -p §dckr_pat_[A-Za-z0-9_-]{27}§`},
	{"doppler", `DOPPLER=§dp\.pt\.[A-Za-z0-9]{43}§`},
	{"figma", `X-Figma-Token: §figd_[A-Za-z0-9_-]{40}§`},
	{"newrelic", `license §NRAK-[A-Z0-9]{27}§`},
	{"newrelic-licence", `NEW_RELIC_LICENSE_KEY=§[0-9a-f]{36}NRAL§`},
	{"postman", `§PMAK-[0-9a-f]{24}-[0-9a-f]{34}§`},
	{"sentry", `SENTRY=§sntryu_[0-9a-f]{64}§`},
	{"sentry-dsn", `dsn: https://§[0-9a-f]{32}§@o123.ingest.sentry.test/42`},
	{"square", `square §sq0csp-[A-Za-z0-9_-]{43}§`},
	{"supabase", `§sbp_[0-9a-f]{40}§`},
	{"tailscale", `tailscale up --authkey §tskey-auth-[A-Za-z0-9]{12}CNTRL-[A-Za-z0-9]{32}§`},
	{"cloudflare", `CLOUDFLARE_API_TOKEN=§[A-Za-z0-9_-]{40}§`},
	{"cloudflare-ca", `origin: §v1\.0-[0-9a-f]{24}-[0-9a-f]{146}§`},
	{"heroku", `HEROKU_API_KEY=§[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}§`},
	{"datadog", `DD_API_KEY=§[0-9a-f]{32}§`},
	{"circleci", `CIRCLE_TOKEN: §CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}§`},
	{"fastly", `Fastly-Key: §[A-Za-z0-9_-]{32}§`},
	{"pulumi", `pulumi §pul-[0-9a-f]{40}§`},
	{"terraform", `credentials "app.terraform.io" { token = "§[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9]{67}§" }`},
	{"planetscale", `§pscale_(tkn|pw|oauth)_[A-Za-z0-9_-]{43}§`},
	{"groq", `GROQ=§gsk_[A-Za-z0-9]{52}§`},
	{"xai", `§xai-[A-Za-z0-9]{80}§`},
	{"replicate", `§r8_[A-Za-z0-9]{37}§`},
	{"perplexity", `§pplx-[A-Za-z0-9]{48}§`},
	{"nvidia", `§nvapi-[A-Za-z0-9_-]{64}§`},
	{"notion", `NOTION=§(secret|ntn)_[A-Za-z0-9]{43}§`},
	{"airtable", `airtable §pat[A-Za-z0-9]{14}\.[0-9a-f]{64}§`},
	{"dropbox", `dropbox §sl\.[A-Za-z0-9_-]{130}§`},
	{"facebook", `access_token=§EAA[A-Za-z0-9]{120}§`},
	{"artifactory", `X-JFrog-Art-Api: §AKCp[A-Za-z0-9]{69}§`},
	{"rsa", `§-----BEGIN RSA PRIVATE KEY-----\n([A-Za-z0-9+/]{64}\n){12}[A-Za-z0-9+/]{30}==\n-----END RSA PRIVATE KEY-----§`},
	{"ec", `§-----BEGIN EC PRIVATE KEY-----\n([A-Za-z0-9+/]{64}\n){2}[A-Za-z0-9+/]{30}==\n-----END EC PRIVATE KEY-----§`},
	{"openssh", `§-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE([A-Za-z0-9+/]{70}\n){5}[A-Za-z0-9+/]{30}==\n-----END OPENSSH PRIVATE KEY-----§`},
	{"encrypted-key", `§-----BEGIN ENCRYPTED PRIVATE KEY-----\n([A-Za-z0-9+/]{64}\n){9}[A-Za-z0-9+/]{30}==\n-----END ENCRYPTED PRIVATE KEY-----§`},
	{"dek-key", `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0F1E2D3C4B5A69788796A5B4C3D2E1F0\n\n§([A-Za-z0-9+/]{64}\n){9}[A-Za-z0-9+/]{30}==§\n-----END RSA PRIVATE KEY-----`},
	{"pgp", `-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n§([A-Za-z0-9+/]{64}\n){9}[A-Za-z0-9+/]{30}==§\n=AbCd\n-----END PGP PRIVATE KEY BLOCK-----`},
	{"postgres", `DATABASE_URL=postgresql://app:§[A-Za-z0-9]{16}§@db:5432/prod?sslmode=require`},
	{"mysql", `mysql://root:§[A-Za-z0-9!]{14}§@127.0.0.1/x`},
	{"mongo", `mongodb+srv://u:§[A-Za-z0-9]{18}§@c0.mongodb.test/?retryWrites=true`},
	{"redis", `REDIS_URL=redis://:§[A-Za-z0-9]{20}§@cache:6379/0`},
	{"amqp", `amqps://svc:§[A-Za-z0-9%]{16}§@mq.test/vhost`},
	{"git-url", `https://§[0-9a-f]{40}§:x-oauth-basic@github.test/o/r.git`},
	{"git-url", `https://oauth2:§[A-Za-z0-9_-]{26}§@gitlab.test/o/r.git`},
	{"odbc", `Server=tcp:db.test,1433;User ID=sa;Password=§[A-Za-z0-9!#]{16}§;Encrypt=True`},
	{"dsn", `host=db port=5432 user=app password=§[A-Za-z0-9]{16}§ dbname=prod`},
	{"jdbc", `jdbc:mysql://db:3306/x?user=app&password=§[A-Za-z0-9]{16}§&useSSL=true`},
	{"go-dsn", `dsn := "app:§[A-Za-z0-9]{16}§@tcp(db:3306)/prod"`},
	{"basic", `Authorization: Basic §dXNlcjpw[A-Za-z0-9]{24}§`},
	{"curl-user", `curl -u admin:§[A-Za-z0-9]{16}§ https://h.test`},
	{"cli", `mysql -h db --password=§[A-Za-z0-9]{16}§ prod`},
	{"cli", `tool login --token §[A-Za-z0-9]{32}§ --verbose`},
	{"cli", `vault kv put secret/x --password "§[A-Za-z0-9]{18}§"`},
	{"sshpass", `sshpass -p '§[A-Za-z0-9]{14}§' ssh u@h`},
	{"netrc", `machine api.test login me password §[A-Za-z0-9]{18}§`},
	{"netrc", `machine api.test\n  login me\n  password §[A-Za-z0-9]{18}§`},
	{"pgpass", `db.internal:5432:prod:app:§[A-Za-z0-9]{20}§`},
	{"env", `export DB_PASSWORD="§[A-Za-z0-9!%&]{16}§"`},
	{"env", `SECRET_KEY_BASE=§[0-9a-f]{128}§`},
	{"env", `JWT_SECRET='§[A-Za-z0-9_-]{43}§'`},
	{"env", `APP_KEY=base64:§[A-Za-z0-9+/]{43}=§`},
	{"dockerfile", `ENV API_TOKEN §[A-Za-z0-9]{32}§`},
	{"docker-e", `docker run -e POSTGRES_PASSWORD=§[A-Za-z0-9]{16}§ postgres`},
	{"yaml", `db:\n  password: §[A-Za-z0-9]{16}§\n  port: 1`},
	{"yaml-list", `- name: API_SECRET\n  value: §[A-Za-z0-9]{32}§`},
	{"yaml-block", `client_secret: >-\n  §[A-Za-z0-9]{40}§`},
	{"k8s", `data:\n  password: §[A-Za-z0-9+/]{22}==§`},
	{"xml", `<password>§[A-Za-z0-9]{16}§</password>`},
	{"xml", `<add key="ApiKey" value="§[A-Za-z0-9]{32}§" />`},
	{"web-config", `<add name="Db" connectionString="Data Source=x;Pwd=§[A-Za-z0-9]{14}§;" />`},
	{"ini", `[db]\npasswd = §[A-Za-z0-9]{16}§`},
	{"toml", `secret_key = "§[A-Za-z0-9+/]{44}§"`},
	{"properties", `spring.datasource.password=§[A-Za-z0-9]{16}§`},
	{"hcl", `variable "db_password" { default = "§[A-Za-z0-9]{18}§" }`},
	{"go", `cfg := Config{APIKey: "§[A-Za-z0-9]{32}§"}`},
	{"python", `auth = {'password': '§[A-Za-z0-9]{16}§'}`},
	{"python-os", `os.environ["SECRET_TOKEN"] = "§[A-Za-z0-9]{24}§"`},
	{"ruby", `:secret_key => '§[A-Za-z0-9]{32}§'`},
	{"php", `define('DB_PASSWORD', '§[A-Za-z0-9]{16}§');`},
	{"js", `headers: { 'X-Api-Key': '§[A-Za-z0-9]{32}§' }`},
	{"rust", `let token: &str = "§[A-Za-z0-9]{32}§";`},
	{"c", `#define API_KEY "§[A-Za-z0-9]{32}§"`},
	{"csharp", `const string ApiSecret = "§[A-Za-z0-9]{32}§";`},
	{"powershell", `$env:API_TOKEN = '§[A-Za-z0-9]{32}§'`},
	{"query", `GET /v1/x?access_token=§[A-Za-z0-9]{32}§&page=2 HTTP/1.1`},
	{"query", `GET /v1/x?api_key=§[0-9a-f]{32}§ HTTP/1.1`},
	{"header", `X-Auth-Token: §[0-9a-f]{32}§`},
	{"header", `Authorization: Token §[0-9a-f]{40}§`},
	{"header", `Authorization: Bearer §[A-Za-z0-9]{40}§`},
	{"header", `Proxy-Authorization: Basic §dTpw[A-Za-z0-9]{20}§`},
	{"cookie", `Set-Cookie: auth_token=§[A-Za-z0-9]{40}§; HttpOnly`},
	{"form", `grant_type=client_credentials&client_id=x&client_secret=§[A-Za-z0-9]{32}§`},
	{"putty", `PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: x\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 4\n§([A-Za-z0-9+/]{64}\n){4}§Private-MAC: 0f1e2d3c4b5a69788796a5b4c3d2e1f0aabbccdd`},
	{"jwk", `{"kty":"RSA","e":"AQAB","d":"§[A-Za-z0-9_-]{342}§"}`},
	{"docker-auth", `"auths": {"https://index.docker.io/v1/": {"auth": "§dXNlcjpw[A-Za-z0-9]{28}§"}}`},
	{"wireguard", `PrivateKey = §[A-Za-z0-9+/]{42}[AEIM]=§`},
	{"ethereum", `PRIVATE_KEY=0x§[0-9a-f]{64}§`},
}

// contexts put a text and the secret in it into other surroundings. hides says
// that the name before the secret can't be read there any more.
var contexts = []struct {
	name string
	put  func(text, secret string) string
}{
	{"plain", func(s, _ string) string { return s }},
	{"json", func(s, _ string) string { return `{"k": ` + quote(s) + `, "n": 1}` }},
	{"json in json", func(s, _ string) string { return `{"body": ` + quote(`{"k":`+quote(s)+`}`) + `}` }},
	{"log", func(s, _ string) string { return "2025-01-01T00:00:00Z INFO sending " + s + " ok" }},
	{"logfmt", func(s, _ string) string { return `time=2025-01-01T00:00:00Z level=INFO msg=` + quote(s) + ` n=1` }},
	{"diff", func(s, _ string) string {
		return "@@ -1 +1 @@\n-old\n+" + strings.ReplaceAll(s, "\n", "\n+") + "\n ctx"
	}},
	{"ansi", func(s, _ string) string { return "\x1b[32m" + s + "\x1b[0m" }},
	{"ansi before value", func(s, v string) string { return strings.Replace(s, v, "\x1b[1;31m"+v+"\x1b[0m", 1) }},
	{"ansi in value", func(s, v string) string { return strings.Replace(s, v, v[:5]+"\x1b[m\x1b[K"+v[5:], 1) }},
	{"utf-8", func(s, _ string) string { return "héllo → " + s + " ✓ 漢" }},
	{"windows", func(s, _ string) string { return "a\r\n" + strings.ReplaceAll(s, "\n", "\r\n") + "\r\nb" }},
	{"grep", func(s, _ string) string { return "config/app.env:12:" + s }},
	{"markdown", func(s, _ string) string { return "Run `" + s + "` first.\n\n```sh\n" + s + "\n```" }},
	{"url", func(s, v string) string {
		return "https://h.test/cb?state=1&d=" + url.QueryEscape(s)
	}},
	{"base64", func(s, _ string) string { return "data: " + base64.StdEncoding.EncodeToString([]byte(s)) }},
	{"base64 in json", func(s, _ string) string { return `{"d":"` + base64.URLEncoding.EncodeToString([]byte(s+"\n")) + `"}` }},
	{"hex", func(s, _ string) string { return "dump " + hex.EncodeToString([]byte(s)) }},
	{"wrapped", func(s, v string) string { return strings.Replace(s, v, v[:len(v)/2]+"\\\n"+v[len(v)/2:], 1) }},
	{"wrapped, indented", func(s, v string) string { return strings.Replace(s, v, v[:len(v)/2]+"\\\n    "+v[len(v)/2:], 1) }},
	{"broken line", func(s, v string) string { return strings.Replace(s, v, v[:len(v)/2]+"\n"+v[len(v)/2:], 1) }},
	{"broken line, windows", func(s, v string) string { return strings.Replace(s, v, v[:len(v)/2]+"\r\n"+v[len(v)/2:], 1) }},
	{"broken line, indented", func(s, v string) string { return strings.Replace(s, v, v[:len(v)/2]+"\n      "+v[len(v)/2:], 1) }},
	{"80 columns", func(s, v string) string { return columns(s, v, "\n") }},
	{"80 columns, windows, indented", func(s, v string) string { return columns(s, v, "\r\n\t  ") }},
	{"written ansi", func(s, _ string) string { return `{"line":"\u001b[32m` + strings.Trim(quote(s), `"`) + `\u001b[0m"}` }},
	{"written ansi before value", func(s, v string) string { return strings.Replace(s, v, `\u001b[32m`+v+`\x1b[0m`, 1) }},
	{"written ansi in other ways", func(s, v string) string { return strings.Replace(s, v, `\033[1;31m`+v+`\e[m`, 1) }},
	{"caret ansi", func(s, v string) string { return strings.Replace(s, v, `^[[0;32m`+v+`^[[0m`, 1) }},
	{"ansi without escape", func(s, v string) string { return strings.Replace(s, v, `[32m`+v+`[0m`, 1) }},
	{"written ansi in value", func(s, v string) string { return strings.Replace(s, v, v[:5]+`\u001b[m\u001b[K`+v[5:], 1) }},
	{"written control characters", func(s, _ string) string { return `{"t":"x\u000a` + strings.Trim(quote(s), `"`) + `\u0009y"}` }},
	{"zero width", func(s, v string) string { return strings.Replace(s, v, v[:6]+"\u200b"+v[6:], 1) }},
}

// columns puts a text so that a terminal or a formatter that is 80 columns wide
// breaks the line within the secret.
func columns(s, secret, end string) string {
	const wide = 80
	at := strings.Index(s, secret)
	line := strings.LastIndexByte(s[:at], '\n') + 1
	cut := at + len(secret)/3
	if pad := wide - (cut - line); pad > 0 {
		s, cut = s[:line]+strings.Repeat("~ ", pad/2)+strings.Repeat("~", pad%2)+s[line:], cut+pad
	}
	return s[:cut] + end + s[cut:]
}

func quote(s string) string {
	q, _ := json.Marshal(s)
	return string(q)
}

// draw makes a text that an expression describes.
func draw(r *rand.Rand, expr string) string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	var walk func(*syntax.Regexp)
	walk = func(re *syntax.Regexp) {
		switch re.Op {
		case syntax.OpLiteral:
			b.WriteString(string(re.Rune))
		case syntax.OpCharClass:
			n := rune(0)
			for i := 0; i < len(re.Rune); i += 2 {
				n += re.Rune[i+1] - re.Rune[i] + 1
			}
			k := r.Int32N(n)
			for i := 0; i < len(re.Rune); i += 2 {
				if size := re.Rune[i+1] - re.Rune[i] + 1; k < size {
					b.WriteRune(re.Rune[i] + k)
					break
				} else {
					k -= size
				}
			}
		case syntax.OpAlternate:
			walk(re.Sub[r.IntN(len(re.Sub))])
		case syntax.OpRepeat:
			for range re.Min {
				walk(re.Sub[0])
			}
		case syntax.OpConcat, syntax.OpCapture:
			for _, sub := range re.Sub {
				walk(sub)
			}
		case syntax.OpEmptyMatch:
		default:
			panic(fmt.Sprint(re.Op, " in ", expr))
		}
	}
	walk(re)
	return b.String()
}

// drawn is a text with a secret.
func drawn(r *rand.Rand, text string) (whole, secret string) {
	parts := strings.Split(text, "§")
	secret = draw(r, parts[1])
	unescape := strings.NewReplacer(`\n`, "\n").Replace
	return unescape(parts[0]) + secret + unescape(parts[2]), secret
}

func TestVariants(t *testing.T) {
	r := New()
	random := rand.New(rand.NewPCG(1, 2))
	missedBy, triedBy := map[string]int{}, map[string]int{}
	tried, missed, controls := 0, 0, 0
	for _, m := range made {
		var where []string
		for _, c := range contexts {
			whole, secret := drawn(random, m.text)
			text := c.put(whole, secret)
			if !shows(text, secret) && !strings.Contains(text, "\n") {
				t.Logf("%s, %s: the text shows no secret: %q", m.typ, c.name, text)
			} else {
				controls++
			}
			got := r.Text(text)
			tried++
			triedBy[c.name]++
			if shows(got, secret) {
				missed++
				missedBy[c.name]++
				where = append(where, c.name)
				if testing.Verbose() && len(where) == 1 {
					t.Logf("%s: %.300q", c.name, got)
				}
			}
			if again := r.Text(got); again != got {
				t.Errorf("%s, %s: a second time changes the text:\n%q\n%q", m.typ, c.name, got, again)
			}
		}
		if len(where) > 0 {
			t.Logf("%s %q: missed in %s", m.typ, m.text, strings.Join(where, ", "))
		}
	}
	for _, c := range contexts {
		if missedBy[c.name] > 0 {
			t.Logf("%s: %d of %d missed", c.name, missedBy[c.name], triedBy[c.name])
		}
	}
	t.Logf("%d of %d found, %d controls", tried-missed, tried, controls)
	if missed*50 > tried {
		t.Errorf("%d of %d missed", missed, tried)
	}
}

// shows reports whether text has a part of the secret, as it is or encoded.
func shows(text, secret string) bool {
	text = strings.NewReplacer("\\\n    ", "", "\\\n", "", "\u200b", "", "\x1b[m\x1b[K", "", "\r\n\t  ", "", "\n      ", "", `\u001b[m\u001b[K`, "", "\r\n", "\n").Replace(text)
	if leaks(text, secret) || leaks(text, hex.EncodeToString([]byte(secret))) || leaks(text, url.QueryEscape(secret)) {
		return true
	}
	for shift := range 3 {
		form := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("u", shift) + secret))
		form = form[(shift*8+5)/6 : (shift+len(secret))*8/6]
		if leaks(text, form) || leaks(text, strings.NewReplacer("+", "-", "/", "_").Replace(form)) {
			return true
		}
	}
	return false
}
