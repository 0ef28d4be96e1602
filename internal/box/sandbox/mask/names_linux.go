package mask

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// Names are the files in /etc by which programs resolve names: by the resolver of the
// session's network, and nothing else. They are in a directory that remove removes.
func Names() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp("", "sidecar-ls-names-*"); err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	for _, f := range []struct{ name, text string }{
		{"resolv.conf", "nameserver 127.0.0.1\noptions timeout:5 attempts:2\n"},
		{"hosts", ownNames()},
		{"nsswitch.conf", switched("/etc/nsswitch.conf")},
	} {
		if err := os.WriteFile(filepath.Join(dir, f.name), []byte(f.text), 0o644); err != nil {
			remove()
			return "", nil, err
		}
	}
	return dir, remove, os.Chmod(dir, 0o755)
}

// ownNames are those of the machine itself. Others, to which /etc/hosts may give addresses,
// are resolved outside.
func ownNames() string {
	text := "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"
	if name, err := os.Hostname(); err == nil {
		text += fmt.Sprintf("127.0.1.1 %s\n", name)
	}
	return text
}

var hostsLine = regexp.MustCompile(`(?m)^[ \t]*hosts:.*$`)

// switched is how the machine looks up names of all kinds, but for those of hosts.
func switched(file string) string {
	const line = "hosts: files dns"
	data, err := os.ReadFile(file)
	if err != nil {
		return line + "\n"
	}
	return hostsLine.ReplaceAllString(string(data), "") + "\n" + line + "\n"
}

// names puts such files over those of the machine, where it has them.
func (m *mounts) names(dir string) {
	for _, name := range []string{"resolv.conf", "hosts", "nsswitch.conf"} {
		path := "/etc/" + name
		real, err := filepath.EvalSymlinks(path)
		switch {
		case err == nil:
			m.add("--ro-bind", filepath.Join(dir, name), real)
		case name == "resolv.conf" && spec.Exists(path):
			// A link to what is not there: programs take 127.0.0.1 then.
		}
	}
}
