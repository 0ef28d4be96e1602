package shell

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// TestItself: a path leads to any file, so that no program is harmless by the
// last part of it. The controls are the same programs by their bare names, by
// the system's paths, and by rules that name the path.
func TestItself(t *testing.T) {
	j := &Judge{Zone: place, Rules: MakeRules([]Rule{{[]string{"curl"}, policy.Deny, false, ""}, {[]string{"./ls"}, policy.Allow, false, ""}})}
	for _, line := range []string{
		"bin/cat README", "./cat", "/tmp/git status", "~/cat x", "~+/cat x", "../x/cat", "/ws/bin/cat x", "./git --version", "./python3 --version", "./node_modules/.bin/cat", "bin/find .", "./[ -f x ]", "./true", "'./cat'", "\"bin\"/cat", "b\\in/cat",
		"env ./cat", "nice bin/cat", "xargs ./cat", "find . -exec ./cat {} +", "timeout 5 ./git status", "command ./cat x", "builtin ./cat", "nohup ./cat", "time ./cat", "bash -c './cat x'", "sh -c 'bin/git log'", "watch ./cat", "ls | ./wc", "echo $(./cat x)",
		"./env cat", "bin/nice cat x", "./xargs cat", "./timeout 5 cat", "/tmp/sh -c ls", "./command -v x", "env ./env cat x", "/usr/bin/env ./cat",
		"/bin/../ws/cat", "/usr/bin/../../ws/cat", "/bin/./cat", "/bin/x/cat", "/usr/local/bin/cat", "//bin/cat", "/opt/bin/cat", "/home/me/bin/cat",
	} {
		if v := j.Judge(line); v.Outcome == policy.Allow {
			t.Errorf("%q is allowed by %s (%s)", line, v.Rule, v.Reason)
		}
	}
	for line, want := range map[string]policy.Outcome{
		"cat README": policy.Allow, "git --version": policy.Allow, "env cat x": policy.Allow, "nice cat x": policy.Allow, "timeout 5 git status": policy.Allow, "find . -exec cat {} +": policy.Allow, "command -v ls": policy.Allow,
		"/bin/cat README": policy.Allow, "/usr/bin/git status": policy.Allow, "/usr/bin/env cat x": policy.Allow, "/bin/sh -c 'cat x'": policy.Allow, "/usr/bin/python3 --version": policy.Allow, "cat ./cat": policy.Allow,
		"./ls": policy.Allow, "./curl x": policy.Deny, "/tmp/curl x": policy.Deny, "./env curl x": policy.Deny, "bin/nice ./curl": policy.Deny,
	} {
		if v := j.Judge(line); v.Outcome != want {
			t.Errorf("control %q is %q by %s (%s), not %q", line, v.Outcome, v.Rule, v.Reason, want)
		}
	}
	for _, line := range []string{"./rm -rf x", "/tmp/git push --force", "bin/find . -delete", "./env rm -rf x"} {
		if j.Judge(line).Irrecoverable == "" {
			t.Errorf("%q can be undone, it says", line)
		}
	}
	for _, ours := range []*Judge{{}, {Zone: func(string) Zone { return Inside }}} { // the workspace holds /bin
		if v := ours.Judge("/bin/cat x"); v.Outcome == policy.Allow {
			t.Errorf("in the workspace: %+v", v.Part)
		}
	}
}
