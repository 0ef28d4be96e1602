//go:build unix

// Paths in a profile are those of macOS, with slashes, and so are those of the system that
// this runs on.

package sandbox

import (
	"flag"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

var update = flag.Bool("update", false, "update the golden files")

// profiled is a Spec with what belongs to its profile, and what that must say.
type profiled struct {
	name string
	spec spec.Spec
	belt belt

	read, noRead   []string
	write, noWrite []string
	network        bool
}

const (
	macHome = "/Users/me"
	macTemp = "/private/var/folders/x1/y2/T/sidecar-ls-command-1"
)

func profiles() []profiled {
	spec := func(root string) spec.Spec {
		return spec.Spec{Root: root, Home: root + "/.sidecar/cache/home", Temp: macTemp + "/tmp"}
	}
	obeyed := func(root string) []string {
		list := []string{root + "/.git/hooks", root + "/.git/config", root + "/.git/commondir"}
		for _, name := range []string{".sidecar", ".vscode", ".mcp.json", ".envrc"} {
			list = append(list, root+"/"+name)
		}
		return list
	}
	const work, world = macHome + "/code", macHome + "/Library/Caches/sidecar-ls/worlds/ab.1"
	usual := belt{home: macHome, readable: []string{macHome + "/go/pkg/mod"}, obeyed: obeyed(work)}
	always := func(p profiled) profiled {
		p.read = append(p.read, "/usr/bin/git", "/private/etc/hosts", macHome+"/go/pkg/mod/x", p.spec.Root+"/a.go", p.spec.Root+"/.git/config")
		p.noRead = append(p.noRead, macHome+"/.ssh/id_rsa", macHome+"/Library/Keychains/login.keychain-db", macHome, "/Library/Keychains/System.keychain", "/private/var/root/x", "/var/root/x")
		p.write = append(p.write, p.spec.Home+"/x", p.spec.Temp+"/x", strings.TrimPrefix(p.spec.Temp, "/private")+"/x")
		p.noWrite = append(p.noWrite, "/usr/bin/git", "/private/etc/hosts", "/etc/hosts", macHome+"/.zshrc", macHome+"/go/pkg/mod/x", path.Dir(p.spec.Root)+"/x", p.spec.Root+"x",
			p.spec.Root+"/.sidecar/state/x", p.spec.Root+"/.vscode", p.spec.Root+"/.vscode/tasks.json", p.spec.Root+"/.VSCode/tasks.json", "/private/tmp/x", macTemp+"/other")
		return p
	}
	list := []profiled{
		{name: "default", spec: spec(work), belt: usual, write: []string{work + "/a.go", work + "/.git/index", work + "/.git/hooksx", work + "/.vscodex"}},
		{name: "look-only", spec: spec(work), belt: usual, noWrite: []string{work + "/a.go", work + "/.git/index"}},
		{name: "network", spec: spec(work), belt: usual, network: true, write: []string{work + "/a.go"}},
		{name: "secrets", spec: spec(work), belt: usual, write: []string{work + "/a.go", work + "/sub/deep/a.go", work + "/.env.example"},
			noRead:  []string{work + "/.env", work + "/sub/deep/key.pem", work + "/.sidecar/shadows/one/a"},
			noWrite: []string{work + "/.env", work + "/sub/deep/key.pem", work + "/vendored/x", "/opt/more/secret"}},
		{name: "odd names", spec: spec(macHome + `/Müll "er" (a) [b] \c+$ 'd' #;|`), write: []string{macHome + `/Müll "er" (a) [b] \c+$ 'd' #;|/ä`},
			belt: belt{home: macHome, readable: usual.readable, obeyed: obeyed(macHome + `/Müll "er" (a) [b] \c+$ 'd' #;|`)}},
		{name: "git", spec: spec(work),
			belt:    belt{home: macHome, readable: usual.readable, obeyed: append(obeyed(work), work+"/sub/.git/hooks", work+"/sub/.git/config", work+"/tree/.git")},
			write:   []string{work + "/.git/objects/ab/cd", work + "/.git/refs/heads/main", work + "/sub/.git/index", work + "/sub/.git/HEAD"},
			noWrite: []string{work + "/.git/hooks", work + "/.git/hooks/pre-commit", work + "/.git/config", work + "/.git/HOOKS/pre-commit", work + "/.git/CONFIG", work + "/.git/commondir", work + "/sub/.git/config", work + "/sub/.git/Hooks/x", work + "/tree/.git"}},
		{name: "elsewhere", spec: spec("/private/tmp/code"), belt: belt{home: macHome, readable: usual.readable, obeyed: obeyed("/private/tmp/code")},
			write: []string{"/private/tmp/code/a", "/tmp/code/a", "/opt/more/x"}, noRead: []string{"/tmp/code/.env", "/private/tmp/code/.env"}, noWrite: []string{"/tmp/code/.vscode", "/private/tmp/code/.env", "/tmp/code/.env"}},
		{name: "terminal", spec: spec(work), belt: usual, write: []string{work + "/a.go"}},
		// A copy of the workspace, with the workspace's own repository.
		{name: "copy", spec: spec(world + "/upper"),
			belt:   belt{home: macHome, readable: usual.readable, obeyed: append(obeyed(world+"/upper"), work+"/.git/hooks", work+"/.git/config", work+"/.git/commondir")},
			read:   []string{work + "/a.go", work + "/node_modules/x/index.js"},
			noRead: []string{work + "/.env", world + "/upper/.env", macHome + "/Library/Caches/sidecar-ls/worlds/other/upper/a.go"},
			write:  []string{world + "/upper/a.go", world + "/upper/node_modules/x", work + "/.git/index", work + "/.git/objects/ab/cd"},
			noWrite: []string{work, work + "/a.go", work + "/.env", world + "/upper/.env", work + "/node_modules/x/index.js", work + "/.git/hooks/pre-commit", work + "/.git/config", world + "/other",
				macHome + "/Library/Caches/sidecar-ls/worlds/other/upper/a.go"}},
	}
	for i := range list {
		p := &list[i]
		switch p.name {
		case "look-only":
			p.spec.LookOnly = true
		case "network":
			p.spec.Network = true
		case "secrets":
			p.spec.Hidden = []string{work + "/.env", work + "/.sidecar/shadows", "/opt/more/secret"}
			p.spec.Sealed = []string{work + "/sub/deep/key.pem"}
			p.spec.ReadOnly = []string{work + "/vendored"}
			p.spec.Writable = []string{"/opt/more"}
		case "elsewhere":
			p.spec.Hidden = []string{"/private/tmp/code/.env"}
			p.spec.Writable = []string{"/opt/more"}
		case "terminal":
			p.spec.Terminal = true
		case "copy":
			p.spec.Home = work + "/.sidecar/cache/home"
			p.spec.ReadOnly, p.spec.Writable = []string{work}, []string{work + "/.git"}
			p.spec.Hidden = []string{work + "/.env", world + "/upper/.env"}
		}
		*p = always(*p)
	}
	return list
}

// wrong lists what a profile does not say as it must.
func (p profiled) wrong(t *testing.T, profile string, params []string) (list []string) {
	t.Helper()
	j, err := newJudge(profile, params)
	if err != nil {
		t.Fatal(err)
	}
	may := func(op, what string, want bool) {
		if j.may(op, what) != want {
			list = append(list, op+" "+what)
		}
	}
	for _, path := range p.read {
		may("file-read-data", path, true)
		may("file-read-metadata", path, true)
	}
	for _, path := range p.noRead {
		may("file-read-data", path, false)
		may("file-read-xattr", path, false)
	}
	for _, path := range p.write {
		if all, _ := j.mayWrite(path); !all {
			list = append(list, "no writing "+path)
		}
	}
	for _, path := range p.noWrite {
		if _, some := j.mayWrite(path); some {
			list = append(list, "writing "+path)
		}
	}
	// What is shut does not get another path, alone or with what it is in; and
	// nothing else gets its path.
	own := append(p.spec.WritableDirs(), p.spec.Home, p.spec.Temp)
	shut := slices.Concat(p.spec.Hidden, p.spec.Sealed, p.belt.obeyed)
	for _, dir := range own {
		for _, name := range append(shut, dir) {
			for at := name; spec.Within(at, dir); at = path.Dir(at) {
				for _, to := range []string{p.spec.Temp + "/moved", dir + "/moved"} {
					if j.mayMove(at, to) {
						list = append(list, "moving "+at)
					}
				}
			}
		}
	}
	for _, name := range shut {
		if j.mayMove(p.spec.Temp+"/x", name) {
			list = append(list, "moving to "+name)
		}
	}
	// A link or a clone would be another name for anything.
	for _, path := range append(slices.Clone(shut), p.spec.Root+"/a.go", p.spec.Temp+"/x") {
		may("file-link", path, false)
		may("file-clone", path, false)
	}
	may("network-outbound", "ip", p.network)
	may("network-inbound", "ip", p.network)
	may("network-bind", "ip", p.network)
	may("network-outbound", "/private/var/run/mDNSResponder", p.network)
	may("mach-lookup", "com.apple.trustd.agent", p.network)
	for _, dir := range spelled(p.spec.Home, p.spec.Temp) {
		may("network-outbound", dir+"/sock", true)
		may("network-bind", dir+"/sock", true)
	}
	for _, path := range []string{"/private/var/run/docker.sock", macHome + "/.docker/run/docker.sock", p.spec.Root + "/sock", "/private/tmp/com.apple.launchd.x/Listeners"} {
		may("network-outbound", path, false)
	}
	for _, service := range []string{"com.apple.SecurityServer", "com.apple.securityd.xpc", "com.apple.coreservices.launchservicesd", "com.apple.pasteboard.1", "com.apple.tccd"} {
		may("mach-lookup", service, false)
	}
	may("mach-lookup", "com.apple.system.opendirectoryd.libinfo", true)
	may("sysctl-read", "hw.ncpu", true)
	may("sysctl-read", "kern.osrelease", true)
	may("sysctl-read", "kern.procargs2", false)
	may("process-exec", "/bin/ls", true)
	may("process-fork", "", true)
	for _, op := range []string{"signal", "process-info-pidinfo"} {
		may(op, "same-sandbox", true)
		may(op, "others", false)
	}
	may("file-map-executable", "/usr/lib/libz.dylib", true)
	may("mach-host-info", "", true)
	may("ipc-posix-sem", "/mp-1", true)
	may("ipc-posix-shm-read-data", "apple.shm.notification_center", true)
	may("ipc-posix-shm-read-data", "/other", false)
	may("system-socket", "AF_UNIX", true)
	may("system-socket", "AF_INET", p.network)
	may("sysctl-read", "net.routetable.0", p.network)
	may("file-write-data", "/dev/null", true)
	may("file-write-data", "/dev/disk0", false)
	may("file-ioctl", "/dev/ttys001", p.spec.Terminal)
	may("file-ioctl", "/dev/tty", p.spec.Terminal)
	for _, op := range []string{"file-mount", "iokit-open", "system-privilege", "nvram-set", "mach-register", "job-creation", "process-codesigning-status-set", "system-kext-load"} {
		may(op, "anything", false)
	}
	return list
}

// TestSeatbelt: each profile is as it was, is one by the grammar, and says of each path
// what it must.
func TestSeatbelt(t *testing.T) {
	for _, p := range profiles() {
		t.Run(p.name, func(t *testing.T) {
			profile, params := profile(p.spec, p.belt)
			if err := checkSBPL(profile, params); err != nil {
				t.Error(err)
			}
			if wrong := p.wrong(t, profile, params); len(wrong) > 0 {
				t.Errorf("%q", wrong)
			}
			golden := filepath.Join("testdata", "seatbelt", strings.ReplaceAll(p.name, " ", "-")+".sb")
			got := "; " + strings.Join(params, "\n; ") + "\n" + profile
			if *update {
				if err := ownfile.Update(golden, []byte(got)); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if strings.ReplaceAll(string(want), "\r\n", "\n") != got {
				t.Errorf("it is not as %s has it:\n%s", golden, got)
			}
		})
	}
}

// TestSeatbeltControls: a profile without one of its rules, or with rules in another
// order, is seen to be wrong. A rule that nobody would miss has no place in it.
func TestSeatbeltControls(t *testing.T) {
	missed := map[string]bool{}
	for _, p := range profiles() {
		profile, params := profile(p.spec, p.belt)
		rules := strings.Split(profile, "\n(")
		for i, rule := range rules {
			if i < 2 {
				continue // (version 1) (deny default)
			}
			without := strings.Join(slices.Delete(slices.Clone(rules), i, i+1), "\n(")
			if wrong := p.wrong(t, without, params); len(wrong) > 0 {
				missed[rule] = true
			} else if _, ok := missed[rule]; !ok {
				missed[rule] = false
			}
		}
		open := strings.Replace(profile, "(deny default)", "(allow default)", 1)
		if wrong := p.wrong(t, open, params); len(wrong) == 0 {
			t.Errorf("%s: a profile that allows everything is not seen", p.name)
		}
		slices.Reverse(rules[2:])
		if wrong := p.wrong(t, strings.Join(rules, "\n("), params); len(wrong) == 0 {
			t.Errorf("%s: another order is not seen", p.name)
		}
	}
	for rule, seen := range missed {
		if !seen {
			t.Errorf("nobody misses %s", rule)
		}
	}
}

// TestSBPLChecks: what is no profile is seen.
func TestSBPLChecks(t *testing.T) {
	const head = "(version 1)\n(deny default)\n"
	for _, c := range []struct{ name, rest, want string }{
		{"fine", `(allow file-read* (subpath "/a\"b\\c") (literal (param "ROOT")))`, ""},
		{"an operation that is none", `(allow file-wirte* (subpath "/"))`, "no operation"},
		{"a filter that is none", `(allow file-read* (prefix "/"))`, "can't be filtered"},
		{"a filter of another operation", `(allow process-fork (subpath "/"))`, "can't be filtered"},
		{"a rule that is none", `(permit file-read*)`, "no rule"},
		{"no operation", `(allow (subpath "/"))`, "no filter"},
		{"a parameter that has no value", `(allow file-read* (subpath (param "NONE")))`, "no string"},
		{"a path that is none", `(allow file-read* (subpath "a"))`, "no path"},
		{"an empty path", `(allow file-read* (subpath ""))`, "no path"},
		{"a word for a path", `(allow file-read* (subpath /a))`, "no word"},
		{"a quote too many", `(allow file-read* (subpath "/a"b"))`, "string without end"},
		{"a quote that is not escaped", `(allow file-read* (subpath "/a" b "c"))`, "bad filter"},
		{"an escape that is none", `(allow file-read* (subpath "/a\b"))`, "escape"},
		{"an expression that is none", `(allow file-read* (regex "^/a("))`, "missing closing"},
		{"a parenthesis too many", `(allow file-read*))`, "too many"},
		{"one too few", `(allow file-read*`, "too many"},
	} {
		err := checkSBPL(head+c.rest, []string{"ROOT=/r"})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, c := range []struct {
		name, profile string
		params        []string
	}{
		{"open at first", "(version 1)\n(allow default)\n", nil},
		{"a parameter twice", head, []string{"ROOT=/r", "ROOT=/s"}},
		{"a parameter that is no path", head, []string{"ROOT=r"}},
	} {
		if checkSBPL(c.profile, c.params) == nil {
			t.Errorf("%s: is fine", c.name)
		}
	}
}

// TestSeatbeltQuotes: whatever a path has in it, its rule is about that path and its
// neighbours are not meant.
func TestSeatbeltQuotes(t *testing.T) {
	for _, name := range []string{`a"b`, `a\b`, `a\"b`, `a"))(allow default)("`, `ü`, "a\nb", "a\tb", `a(b)`, `a;b`, `#"a"`, `a.b`, `a*b`, `[a]`, `a|b`, `$a^`, "e\u0301"} {
		spec := spec.Spec{Root: "/r/" + name, Home: "/h/" + name, Temp: "/t/" + name, Hidden: []string{"/r/" + name + "/" + name}}
		profile, params := profile(spec, belt{home: "/Users/" + name, obeyed: []string{"/r/" + name + "/.x" + name, "/r/" + name + "/.git"}})
		if err := checkSBPL(profile, params); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		j, err := newJudge(profile, params)
		if err != nil {
			t.Fatal(err)
		}
		for at, want := range map[string]bool{
			"/r/" + name + "/a": true, "/r/" + name + "/" + name: false, "/r/" + name + "/.x" + name: false,
			"/r/" + name + "/.GIT/x": false, "/r/" + name + "x/a": false, "/r/a": false, "/a": false,
		} {
			if all, _ := j.mayWrite(at); all != want {
				t.Errorf("%q: %q can be written: %v", name, at, all)
			}
		}
	}
}

// TestSpelled: what is in /private has the name by its link, too.
func TestSpelled(t *testing.T) {
	for path, want := range map[string]string{
		"/private/tmp/a": "/private/tmp/a /tmp/a", "/private/var": "/private/var /var", "/private/etc/x": "/private/etc/x /etc/x",
		"/private/other": "/private/other", "/private": "/private", "/tmpx": "/tmpx", "/Users/me": "/Users/me", "": "",
	} {
		if got := strings.Join(spelled(path), " "); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestLevelsHide: where secrets and hooks can't be kept from commands, people are asked.
func TestLevelsHide(t *testing.T) {
	for level, hides := range map[spec.Level]bool{spec.None: false, spec.Landlock: false, spec.Seatbelt: true, spec.Bubblewrap: true, spec.Full: true} {
		if level.Hides() != hides || (level.Weak() == "") != hides {
			t.Errorf("%s: %v, %q", level, level.Hides(), level.Weak())
		}
	}
	if got := spec.Seatbelt.Words(spec.NoHost); got != "sandbox: Seatbelt; no network" {
		t.Error(got)
	}
}
