package shell

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// hiding are lines that run evil, or push, without that the words of a command
// begin with it: in a mode that asks nothing they ran past a rule that denies it.
var hiding = []string{
	"! ! evil", "printf 'evil\\n' | bash", "bash <<< evil", "git grep -Oevil x", "git -c alias.x='!evil' x", "git -C sub push", "git --git-dir=x push", "GIT_PAGER=evil git -p log", "PATH=.:$PATH ls",
	"$x", "e$y", "ev?l", "{evil,x}", "setarch -R evil", "unbuffer evil -v", "python3 -c 'import os; os.system(\"evil\")'", "python3 x.py", "perl -e 'exec q(evil)'", "node x.js", "sh x.sh", "source x",
	"awk 'BEGIN{system(\"evil\")}'", "sed '1e evil' a", "tar -xf a --to-command=evil", "tar -I evil -xf a", "make SHELL=evil", "make -f evil", "npm test --script-shell=evil", "go test -exec evil ./...", "go vet -vettool=./evil ./...",
	"rg --pre evil x", "sort --compress-program=evil a", "fd -x evil", "vim -c '!evil'", "ssh host evil", "rsync -e evil a b", "man -P evil ls", "split --filter=evil a", "entr -r evil", "env -S 'evil x'", "hash -p evil ls",
	"f() { evi\"$1\"; }; f l", "alias l=evil", "trap \"$x\" EXIT", "eval \"$x\"", "echo evil | xargs env", "echo evil | xargs -I% %", "echo push | xargs git", "echo evil | parallel", "find . -name evil -exec {} ;", "unknown push git evil",
}

// TestDenyHolds: where rules deny something, a line of which it isn't known what
// it runs is asked about in every mode. The controls are the same lines without
// such a rule, and lines whose programs are all known with one.
func TestDenyHolds(t *testing.T) {
	rules := []Rule{{[]string{"evil"}, policy.Deny, false, ""}, {[]string{"git", "push"}, policy.Deny, false, ""}, {[]string{"npm", "test"}, policy.Allow, false, ""}, {[]string{"evil", "--version"}, policy.Allow, false, ""}}
	with, without := &Judge{Rules: MakeRules(rules)}, &Judge{Rules: MakeRules(rules[2:])}
	held, controls := 0, 0
	for _, line := range hiding {
		if v := with.Judge(line); v.Outcome != policy.Ask && v.Outcome != policy.Deny {
			t.Errorf("%q is %q by %s (%s)", line, v.Outcome, v.Rule, v.Reason)
		} else {
			held++
		}
		if v := without.Judge(line); v.Outcome == "" {
			controls++
		} else {
			t.Errorf("control %q is %q by %s (%s)", line, v.Outcome, v.Rule, v.Reason)
		}
	}
	for line, want := range map[string]policy.Outcome{
		"evil": policy.Deny, "evil --version": policy.Deny, "! evil": policy.Deny, "git push": policy.Deny,
		"go build ./...": "", "go test ./...": "", "make": "", "make -j4 build": "", "npm install": "", "npm test": policy.Allow, "git commit -m 'a b'": "", "git add a.go": "", "tar -xf a.tar": "", "cargo build": "", "touch a": "",
		"ls > f": "", "FOO=1 make": "", "python3 --version": policy.Allow, "ls -la": policy.Allow, "git log --oneline": policy.Allow, "grep -rn evil .": policy.Allow, "echo evil": policy.Allow,
	} {
		if v := with.Judge(line); v.Outcome != want {
			t.Errorf("%q is %q by %s (%s), not %q", line, v.Outcome, v.Rule, v.Reason, want)
		} else {
			controls++
		}
	}
	t.Logf("%d of %d held, %d controls", held, len(hiding), controls)
}

// TestDenyRemembered: what a person allowed for the session stays allowed.
func TestDenyRemembered(t *testing.T) {
	rules := MakeRules([]Rule{{[]string{"evil"}, policy.Deny, false, ""}})
	first := (&Judge{Rules: rules}).Judge("python3 x.py")
	j := &Judge{Rules: rules, Remembered: func(k string) bool { return k == first.Parts[0].Key }}
	if v := j.Judge("python3 x.py"); first.Outcome != policy.Ask || v.Outcome != policy.Allow {
		t.Errorf("first %q, then %q by %s", first.Outcome, v.Outcome, v.Rule)
	}
	if v := j.Judge("python3 y.py"); v.Outcome != policy.Ask {
		t.Errorf("another one is %q by %s", v.Outcome, v.Rule)
	}
}

// broadLines print what is in files that their words don't name.
var broadLines = []string{
	"cat .e*", "head -5 *", "cat .en?", "grep K .e*", "grep -rh K .", "grep -rhK", "grep -Rh K sub", "grep --recursive K", "grep --dereference-rec K", "grep -d recurse K .", "grep -drecurse K .", "egrep -r K", "rg K", "rg -uu K", "git grep --no-index K", "git grep K",
	"git diff --no-index a b", "diff -r a b", "diff --recursive a b", "find . -name '.e*' -exec cat {} +", "find . -type f | xargs cat", "ls -A | xargs -n1 head", "cat < .e*", "cat < \"$(ls -A | head -1)\"", "echo \"$(<.e*)\"", "cd sub && cat link", "sort .[a-z]*", "strings *", "jq . *", "sed -n p .e*", "awk '{print $1}' .e*", "while read -r l; do echo x; done < .e*",
}

// narrowLines name what they print, or print no text of files.
var narrowLines = []string{
	"cat a.go", "ls -la *", "ls -R", "find . -name '*.go'", "find . -name '*.go' | wc -l", "find . -name x -exec stat {} +", "stat *", "wc -l *.go", "du -sh *", "grep -n K a.go", "grep -e recurse a.go", "git status", "git log --oneline", "git diff", "diff a b", "cat < a.go", "echo *", "cd sub && ls", "cd sub && git status",
	"head -5 a.go | sort", "tree", "sed -n 1p a.go", "awk 'NR>1 {print $1}' f.txt",
}

// TestBroad: where nothing hides secrets from commands, what could print one is
// asked about. The controls are the same lines where they are hidden, and those
// that name what they print.
func TestBroad(t *testing.T) {
	secret := ".env"
	weak, whole := &Judge{Zone: place, Secret: func() string { return secret }}, &Judge{Zone: place}
	held, controls := 0, 0
	for _, line := range broadLines {
		if v := weak.Judge(line); v.Outcome == policy.Ask && v.Rule == "path.sensitive" {
			held++
		} else {
			t.Errorf("%q is %q by %s (%s)", line, v.Outcome, v.Rule, v.Reason)
		}
		if v := whole.Judge(line); v.Rule != "path.sensitive" {
			controls++
		} else {
			t.Errorf("hidden, %q is %q by %s (%s)", line, v.Outcome, v.Rule, v.Reason)
		}
	}
	for _, line := range narrowLines {
		if v := weak.Judge(line); v.Outcome == policy.Allow {
			controls++
		} else {
			t.Errorf("%q is %q by %s (%s)", line, v.Outcome, v.Rule, v.Reason)
		}
	}
	secret = ""
	for _, line := range broadLines {
		if v := weak.Judge(line); v.Rule == "path.sensitive" {
			t.Errorf("with no secret there, %q is %q by %s (%s)", line, v.Outcome, v.Rule, v.Reason)
		}
	}
	t.Logf("%d of %d held, %d controls", held, len(broadLines), controls)
}
