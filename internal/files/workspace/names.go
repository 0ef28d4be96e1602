package workspace

import (
	"maps"
	"path"
	"strings"
	"unicode"
)

// fold maps the spellings of a name that some file system or tool takes for
// the same file to one: letter case, ligatures, invisible characters, trailing dots and
// spaces, streams (name:stream) and backslashes as separators.
func fold(name string) string {
	plain := true
	for i := range len(name) {
		c := name[i]
		if c >= 0x80 || c >= 'A' && c <= 'Z' || c <= ' ' || c == '\\' || c == ':' || c == 0x7f {
			plain = false
			break
		}
	}
	if plain && !strings.Contains(name, "./") && !strings.HasSuffix(name, ".") {
		return name
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '\\':
			return '/'
		case invisible(r):
			return -1
		case r == 'ſ': // folds to s, which ToLower does not do
			return 's'
		case r == 'K': // the sign of kelvin
			return 'k'
		case r >= '！' && r <= '～': // full width forms of ASCII
			r -= '！' - '!'
		}
		return unicode.ToLower(r)
	}, name)
	name = several.Replace(name)
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if at := strings.IndexByte(part, ':'); at > 0 {
			part = part[:at]
		}
		if kept := strings.TrimRight(part, ". \t"); kept != "" {
			part = kept
		}
		parts[i] = strings.TrimLeft(part, " \t")
	}
	return strings.Join(parts, "/")
}

// several are the letters that APFS, and ext4 where it ignores case, fold to several.
var several = strings.NewReplacer("ß", "ss", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// invisible reports whether r leaves no trace on a screen: control and format
// characters, variation selectors, fillers.
func invisible(r rune) bool {
	if r < 0x80 {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Protection says who may write a path.
type Protection int

// The protections, from none to the strictest.
const (
	NotProtected Protection = iota
	AskFirst                // what some program runs or trusts without asking: the user decides, each time
	Never                   // repository data and the server's own state: nobody
)

// Protected tells how name is protected. It goes by the name alone, so that
// what does not exist yet is protected too; every segment counts, so that
// nested repositories are.
func Protected(name string) Protection {
	worst := NotProtected
	parts := strings.Split(fold(name), "/")
	for i, part := range parts {
		switch {
		case part == ".git" || hasShort(gitShort, part):
			return Never
		case part == ".sidecar" || hasShort(sidecarShort, part):
			if !sidecarContent(parts[i+1:]) {
				return Never
			}
			worst = AskFirst
		case askNames[part] || hasShort(askShort, part), i > 0 && askBelow[parts[i-1]+"/"+part]:
			worst = AskFirst
		}
	}
	if worst == NotProtected && matchAny(askPatterns, parts[len(parts)-1]) {
		worst = AskFirst
	}
	return worst
}

// Obeyed reports whether programs obey or trust a file of dependencies, wherever it lies.
// What services obey is read at the root of a repository, and certificates are no secrets
// there.
func Obeyed(name string) bool {
	parts := strings.Split(fold(name), "/")
	base := parts[len(parts)-1]
	if Sensitive(name) && (strings.HasPrefix(base, ".env") || secretFiles[base]) {
		return true
	}
	for _, part := range parts {
		if serviceNames[part] {
			return false
		}
	}
	return Protected(name) != NotProtected
}

// sidecarContent reports whether what lies below .sidecar is the project's,
// not the server's.
func sidecarContent(below []string) bool {
	if len(below) == 0 {
		return false
	}
	switch below[0] {
	case "tools", "kits", "skills":
		return true
	}
	return false
}

// hasShort reports whether part is a name of eight and three letters that
// Windows may have made from one of the names behind stems: six letters and a
// number (GITCON~1), or two, four of a hash, and a number (GI7EB5~1).
func hasShort(stems map[string]bool, part string) bool {
	stem, number, ok := strings.Cut(part, "~")
	if !ok {
		return false
	}
	number, _, _ = strings.Cut(number, ".")
	if number == "" || strings.Trim(number, "0123456789") != "" {
		return false
	}
	hashed := len(stem) == 6 && strings.Trim(stem[2:], "0123456789abcdef") == ""
	return stems[stem] || hashed && stems[stem[:2]+"*"]
}

// shorts returns the stems of the short names of names.
func shorts(names map[string]bool) map[string]bool {
	stems := make(map[string]bool, 2*len(names))
	for name := range names {
		name = strings.TrimLeft(name, ".")
		if at := strings.LastIndexByte(name, '.'); at > 0 {
			name = name[:at]
		}
		name = strings.ReplaceAll(name, ".", "_")
		stems[name[:min(6, len(name))]] = true
		stems[name[:min(2, len(name))]+"*"] = true
	}
	return stems
}

// askNames are files and directories whose content some program runs or trusts
// without asking: configuration of editors and agents, hooks and what runs
// them, start-up files of shells and tools, and serviceNames.
var askNames = union(serviceNames, set(".vscode", ".idea", ".vs", ".fleet", ".zed", ".nvim", ".cursor", ".claude", ".codex", ".gemini",
	".devcontainer", ".devcontainer.json", ".husky", ".githooks", ".lefthook", ".direnv", ".ssh", ".gnupg",
	".mcp.json", "mcp.json", ".envrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
	".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc",
	".login", ".logout", ".inputrc", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", "config.fish", ".gitconfig",
	".gitmodules", ".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".dir-locals.el", ".pre-commit-config.yaml",
	".pre-commit-config.yml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml", ".npmrc",
	".yarnrc", ".yarnrc.yml", ".ripgreprc", ".gdbinit", ".lldbinit", ".pypirc", ".pdbrc", ".mise.toml", "mise.toml",
	".helix", ".dir-locals-2.el", ".luarc.json", ".luarc.jsonc", "rust-toolchain", "rust-toolchain.toml",
	"gradle-wrapper.properties", ".rprofile", ".ghci", ".irbrc", ".pryrc", ".ocamlinit"))

// serviceNames are what services build and publish by. They read them at the root of a
// repository.
var serviceNames = set(".gitlab-ci.yml", ".circleci", ".buildkite", ".travis.yml", ".cirrus.yml", ".drone.yml", ".woodpecker", ".woodpecker.yml",
	"appveyor.yml", ".appveyor.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile")

// askBelow are directories that count below another one alone.
var askBelow = set(".cargo/config.toml", ".cargo/config", ".mvn/extensions.xml", ".mvn/jvm.config", ".mvn/maven.config", ".agents/plugins", ".github/workflows", ".github/actions", ".gitea/workflows", ".forgejo/workflows")

var askPatterns = []string{"*.code-workspace", "*.sublime-project", "*profile.ps1"}

var (
	askShort     = shorts(askNames)
	gitShort     = shorts(set(".git"))
	sidecarShort = shorts(set(".sidecar"))
	secretShort  = shorts(secretFiles)
)

// Sensitive reports whether the file may hold secrets, by its name alone.
func Sensitive(name string) bool { return suspect.has(name) && sensitive(name) }

func sensitive(name string) bool {
	parts := strings.Split(fold(name), "/")
	base := parts[len(parts)-1]
	for _, dir := range parts[:len(parts)-1] {
		if secretDirs[dir] {
			return !strings.HasSuffix(base, ".pub") && base != "known_hosts"
		}
	}
	if len(parts) > 1 && secretIn[parts[len(parts)-2]+"/"+base] {
		return true
	}
	if harmless(base) {
		return false
	}
	return secretFiles[base] || hasShort(secretShort, base) || matchAny(secretPatterns, base)
}

// harmless names are those that look secret and are meant to be shared.
func harmless(base string) bool {
	if strings.HasSuffix(base, ".pub") {
		return true
	}
	if !strings.HasPrefix(base, ".env") {
		return false
	}
	switch base[strings.LastIndexByte(base, '.')+1:] {
	case "example", "sample", "template", "dist", "defaults", "schema":
		return true
	}
	return false
}

var secretDirs = set(".ssh", ".gnupg", ".aws", ".azure", ".password-store")

// Files that are secret in one directory only.
var secretIn = set(".docker/config.json", ".kube/config", ".config/gh/hosts.yml", "gh/hosts.yml",
	"gcloud/credentials.db", "gcloud/access_tokens.db", ".cargo/credentials", ".gem/credentials",
	".terraform.d/credentials.tfrc.json", ".m2/settings.xml")

var secretFiles = set(".env", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd",
	".git-credentials", ".dockercfg", ".dockerconfigjson", ".boto", ".s3cfg", ".secret", ".secrets", ".vault-token",
	".vault_pass", "credentials", "credentials.json", "credentials.toml", "credentials.yaml", "credentials.yml",
	"credentials.csv", "client_secret.json", "token.json", "secret.json", "secret.yaml", "secret.yml", "secret.toml",
	"secrets.json", "secrets.yaml", "secrets.yml", "secrets.toml", "application_default_credentials.json",
	"kubeconfig", "local.settings.json",
	"terraform.tfstate", "terraform.tfstate.backup", ".terraformrc", "terraform.rc", ".rhosts", ".dev.vars")

var secretPatterns = []string{".env*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.jks", "*.keystore",
	"*.kdbx", "*.kdb", "*.ppk", "*.asc.key", "*.gpg.key", "*.agekey", "*.ovpn", "id_rsa*", "id_dsa*", "id_ecdsa*",
	"id_ed25519*", "*service?account*.json", "serviceaccount*.json", "client_secret*.json", "*.tfvars",
	"*.tfvars.json", "*.mobileprovision", "credentials*.json"}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

func union(a, b map[string]bool) map[string]bool {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// matchAny reports whether one of patterns matches a name. Each pattern has a star:
// what is before the first and after the last one is compared first, because walks
// ask about every name.
func matchAny(patterns []string, name string) bool {
	for _, p := range patterns {
		head, tail := p[:strings.IndexByte(p, '*')], p[strings.LastIndexByte(p, '*')+1:]
		if !strings.HasPrefix(name, head) || !strings.HasSuffix(name, tail) {
			continue
		}
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}
