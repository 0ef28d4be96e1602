package gitcmd

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// override is a setting that git is given over those of all files.
type override struct{ key, value string }

// programs are the settings by which a repository makes git run programs, or
// write where it likes, and what each is replaced by. A star is any name, or none. A value of the user's own, for
// the same key, goes before the one here.
//
// From git's documentation of its settings, and from what its source looks up.
var programs = []struct{ key, instead string }{
	{"core.sshcommand", "ssh"},
	{"core.gitproxy", "none"},
	{"core.alternaterefscommand", ":"},
	{"core.editor", ":"},
	{"core.pager", "cat"},
	{"core.askpass", ""},
	{"sequence.editor", ":"},
	{"pager.*", "false"},
	{"alias.*", ""},
	{"alias.*.*", ""},
	{"diff.external", ""},
	{"diff.*.command", ""},
	{"diff.*.textconv", ""},
	{"difftool.*.*", ""},
	{"mergetool.*.*", ""},
	{"interactive.difffilter", ""},
	{"filter.*.clean", ""},
	{"filter.*.smudge", ""},
	{"filter.*.process", ""},
	{"filter.*.required", "false"},
	{"merge.*.driver", "git merge-file --quiet --marker-size=%L %A %O %B"}, // what git does without a driver
	{"rebase.instructionformat", "%s"},                                     // a line of the list that a rebase obeys
	{"branch.*.mergeoptions", ""},                                          // --strategy=x runs git-merge-x
	{"pull.twohead", "ort"},
	{"pull.octopus", "octopus"},
	{"gpg.program", "gpg"},
	{"gpg.openpgp.program", "gpg"},
	{"gpg.x509.program", "gpgsm"},
	{"gpg.ssh.program", "ssh-keygen"},
	{"gpg.ssh.defaultkeycommand", "false"},
	{"gpg.*.program", "false"},
	{"hook.*.command", ""},
	{"hook.*.enabled", "false"},
	{"trailer.*.command", ""},
	{"trailer.*.cmd", ""},
	{"submodule.*.update", "none"},
	{"remote.*.uploadpack", "git-upload-pack"},
	{"remote.*.receivepack", "git-receive-pack"},
	{"uploadpack.packobjectshook", ""},
	{"gc.recentobjectshook", ""},
	{"tar.*.command", ""},
	{"man.*.cmd", ""},
	{"browser.*.cmd", ""},
	{"browser.*.path", ""},
	{"web.browser", ""},
	{"sendemail.*", ""},
	{"guitool.*.cmd", ""},
	{"http.savecookies", "false"}, // with http.cookieFile it writes to any file
	{"http.*.savecookies", "false"},
	{"log.showsignature", "false"},
	{"merge.verifysignatures", "false"},
	{"push.gpgsign", "false"},
	{"commit.template", os.DevNull},
	{"lfs.*.path", ""}, // git-lfs may be the user's own filter, and obeys these
	{"lfs.*.args", ""},
	{"lfs.*.clean", ""},
	{"lfs.*.smudge", ""},
	{"lfs.*.standalonetransferagent", ""},
	{"lfs.standalonetransferagent", ""},
}

// fixed are given to every run: they start nothing that outlives it.
var fixed = []override{
	{"core.fsmonitor", "false"},
	{"core.untrackedCache", "false"},
	{"core.commitGraph", "false"}, // a file that says again what the commits say
	{"gc.auto", "0"},
	{"gc.autoDetach", "false"},
	{"maintenance.auto", "false"},
	{"safe.bareRepository", "explicit"},
	{"submodule.recurse", "false"},
	{"status.submoduleSummary", "false"},
	{"user.useConfigOnly", "true"}, // a name made up from the machine's is no one's
	{"color.ui", "false"},
	{"advice.detachedHead", "false"},
	{"core.quotePath", "false"},
}

// instead returns the row of programs that a key falls under.
func instead(key string) (value string, ok bool) {
	for _, p := range programs {
		if gitconfig.KeyMatches(p.key, key) {
			return p.instead, true
		}
	}
	return "", false
}

// overrides are the settings for one run. git itself runs no hook: see hooks.go of
// gitrepo.
func (g *Git) overrides(conf Settings, op operation) []override {
	list := append(slices.Clone(fixed), override{"core.hooksPath", os.DevNull})
	seen := map[string]bool{}
	credentials := false
	for _, s := range conf {
		if !s.own || seen[s.Key] {
			continue
		}
		seen[s.Key] = true
		section, _, name := gitconfig.SplitKey(s.Key)
		if section == "credential" && name == "helper" {
			credentials = true
			continue
		}
		value, ok := instead(s.Key)
		if !ok {
			continue
		}
		if users, has := conf.users(s.Key); has {
			value = users
		}
		list = append(list, override{s.Key, value})
	}
	if credentials { // an empty one forgets all those before it
		list = append(list, override{"credential.helper", ""})
		for _, s := range conf {
			if section, _, name := gitconfig.SplitKey(s.Key); !s.own && section == "credential" && name == "helper" {
				list = append(list, override{s.Key, s.value})
			}
		}
	}
	if op.signs && g.StrangeSigner(conf) != "" {
		list = append(list, override{"commit.gpgSign", "false"})
	}
	return list
}

// StrangeSigner is the setting of the repository that names the program that
// would sign, "" when the user's own would.
func (g *Git) StrangeSigner(conf Settings) string {
	if !conf.Bool("commit.gpgsign") {
		return ""
	}
	keys := []string{"gpg.program", "gpg.openpgp.program"}
	switch format := conf.Value("gpg.format"); format {
	case "", "openpgp":
	case "ssh":
		keys = []string{"gpg.ssh.program", "gpg.ssh.defaultkeycommand"}
	default:
		keys = []string{"gpg." + format + ".program"}
	}
	for _, key := range keys {
		if one, ok := conf.last(key); ok && one.own {
			if users, ok := conf.users(key); !ok || users != one.value {
				return key
			}
		}
	}
	return ""
}

// HooksDir is where git looks for hooks, and whether that is the user's own
// directory for all repositories: set by the user, and not in this one.
func (g *Git) HooksDir(conf Settings) (dir string, mine bool) {
	set, ok := conf.last("core.hookspath")
	if !ok {
		return filepath.Join(g.CommonDir, "hooks"), false
	}
	return g.usableHooks(set.value), !set.own && g.outside(g.usableHooks(set.value))
}

// HooksOf are the hooks that git runs for an operation, by their names.
func HooksOf(op string) []string {
	o, _ := findOperation(op)
	return o.hooks
}

func (g *Git) usableHooks(value string) string {
	return gitfile.Resolve(gitconfig.ExpandHome(value), g.Dir) // hooks run at the top of the working tree
}

// outside reports whether a path lies in none of the directories that are the
// repository's, links followed.
func (g *Git) outside(path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return !slices.ContainsFunc(g.own(), func(dir string) bool { return gitfile.Within(dir, path) })
}
