package gitcmd

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// What git inherits from the server's own environment; all else stays outside,
// and of the GIT_ variables all but those that say which the user's and the
// machine's settings are: they are read here by the same, see gitconfig.UserFiles.
var (
	always = []string{"HOME", "USER", "LOGNAME", "EMAIL", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TZ",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
		"SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA"}
	forNetwork = []string{"SSH_AUTH_SOCK", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "KRB5CCNAME", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"}
	forSigning = []string{"GNUPGHOME", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"}
)

// inherited are the variables of these names, and the search path: what git starts is
// looked for where git itself is. Settings are not the user's if the workspace has them.
func (g *Git) inherited(names ...[]string) []string {
	env := []string{"PATH=" + g.programs.SearchPath(g.own()...)}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if !slices.ContainsFunc(names, func(list []string) bool { return slices.Contains(list, name) }) {
			continue
		}
		if slices.Contains(settingsFiles, name) && g.programs.Forbidden(value, g.own()...) {
			continue
		}
		env = append(env, v)
	}
	return env
}

// settingsFiles are variables that name files with the user's and the machine's settings.
var settingsFiles = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"}

// environment is what git runs in: the repository named outright, nobody to
// ask, messages in English.
func (g *Git) environment(op operation, network bool) []string {
	names := [][]string{always}
	protocols := "none" // not even for the missing objects of a partial clone
	if network {
		names = append(names, forNetwork)
		protocols = "https:ssh:file:http"
	}
	if op.signs {
		names = append(names, forSigning)
	}
	env := g.inherited(names...)
	slices.Sort(env)
	env = slices.Compact(env)
	if g.Objects != "" {
		env = append(env, "GIT_OBJECT_DIRECTORY="+g.Objects)
	}
	return append(env,
		"LC_ALL=C.UTF-8", "LANG=C.UTF-8",
		"GIT_DIR="+g.GitDir, "GIT_WORK_TREE="+g.Dir,
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(g.Dir),
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never",
		"GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1", "GIT_NO_LAZY_FETCH="+map[bool]string{true: "0", false: "1"}[network],
		"GIT_ALLOW_PROTOCOL="+protocols,
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE="+os.DevNull, // an object is what its name says, wherever it is looked at
		"GIT_PAGER=cat", "PAGER=cat", "GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:", "GIT_MERGE_AUTOEDIT=no",
		"GIT_ADVICE=0", "TERM=dumb",
	)
}

// configEnvironment gives settings to git in a form in which a name may hold
// any character: -c takes all up to the first equals sign for the name.
func configEnvironment(list []override) []string {
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(list))}
	for i, o := range list {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+o.key, "GIT_CONFIG_VALUE_"+n+"="+o.value)
	}
	return env
}
