package shell

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// TestOpens: a command that can only open a hidden file fails wherever in the line it stands, and
// whatever starts it. The controls do something else with the name.
func TestOpens(t *testing.T) {
	hidden := func(name string) bool { return place(name) == Sensitive && name != ".env.new" }
	held := []string{
		"cat .env", "cat a.go .env", "cat .env; echo", "cd x && cat .env; echo", "ls; cat .env || true", "make && cat .env > x", "cat .env | wc -l", "wc -l .env", "echo \"$(cat .env)\"",
		"export $(cat .env)", "grep -f.env x", "grep -f .env x", "grep --file=.env x", "source .env", ". ./.env", "cp .env x", "cp -r a .env x", "awk 1 .env", "sed -n p .env", "diff .env x",
		"nohup cat .env", "timeout 5 cat .env", "nice -n 5 cat .env", "env A=1 cat .env", "sudo cat .env", "time cat .env", "setsid cat .env", "stdbuf -o0 cat .env", "sh -c 'cat .env'", "watch cat .env",
		"cat < .env", "xargs cat < .env", "cd a && cat ../.env", "cd a && cd b && cat ../../.env",
	}
	free := []string{
		"ls .env", "test -f .env", "rm .env", "mv .env x", "cp x .env", "git add .env", "git check-ignore .env", "echo .env", "echo a > .env", "find . -name .env", "grep .env x", "nohup grep .env x",
		"python3 x.py .env", "cat .env*", "cat .env.new", "cat ../.env", "sed -i s/a/b/ .env", "tar czf x.tgz .env", "cat $X",
	}
	for _, line := range held {
		if file, part := Opens(Read(line), hidden); file == "" || part == "" {
			t.Errorf("%q may work", line)
		}
		if v := (&Judge{Zone: place}).Judge(line); v.Outcome != policy.Ask || v.Rule != "path.sensitive" {
			t.Errorf("%q is %q by %s (%s)", line, v.Outcome, v.Rule, v.Reason)
		}
	}
	for _, line := range free {
		if file, part := Opens(Read(line), hidden); file != "" {
			t.Errorf("%q: %s can't work because of %s", line, part, file)
		}
	}
}

// TestStarted: a program that starts another is judged by what it starts, and by its own
// arguments.
func TestStarted(t *testing.T) {
	for line, want := range map[string]policy.Outcome{
		"nohup grep .env x": policy.Allow, "timeout 5 echo .env": policy.Allow, "env grep .env x": policy.Allow, "sh -c 'grep .env x'": policy.Allow,
		"nohup cat .env": policy.Ask, "sh -c 'cat .env'": policy.Ask, "xargs -a .env echo": policy.Ask, "time -o .env ls": policy.Ask,
		"cd .git && echo x > config": policy.Deny, "cd sub && echo x > ../.git/config": policy.Deny, "cd sub && echo x > config": "", "cd .vscode && echo x > tasks.json": policy.Ask,
	} {
		if v := (&Judge{Zone: place}).Judge(line); v.Outcome != want {
			t.Errorf("%q is %q by %s (%s), want %q", line, v.Outcome, v.Rule, v.Reason, want)
		}
	}
}

// TestNamesOfSecrets: who only looks whether a secret is there is not asked about. The controls
// could read it, or do more.
func TestNamesOfSecrets(t *testing.T) {
	for line, want := range map[string]policy.Outcome{
		"ls .env": policy.Allow, "ls -la .env a.go": policy.Allow, "test -f .env": policy.Allow, "[ -e .env ] && echo yes": policy.Allow, "stat .env": policy.Allow,
		"find . -name .env": policy.Allow, "find . -name '.env*' -not -path './x/*'": policy.Allow, "readlink -f .env": policy.Allow, "find . -name .env -okdir cat {} +": policy.Ask, "if [ -f .env ]; then echo x; fi": policy.Allow,
		"cat .env": policy.Ask, "wc -c .env": policy.Ask, "md5sum .env": policy.Ask, "file .env": policy.Ask, "du --files0-from=.env": policy.Ask, "./ls .env": policy.Ask,
		"find . -files0-from .env": policy.Ask, "find . -name .env -exec cat {} +": policy.Ask, "find . -name .env -delete": policy.Ask, "ls < .env": policy.Ask, "ls $(cat .env)": policy.Ask,
		"ls .env; cat .env": policy.Ask, "ls > .env": policy.Ask, "ls .env $X": policy.Ask, "tree --fromfile .env": policy.Ask,
	} {
		if v := (&Judge{Zone: place}).Judge(line); v.Outcome != want {
			t.Errorf("%q is %q by %s (%s), want %q", line, v.Outcome, v.Rule, v.Reason, want)
		}
	}
}
