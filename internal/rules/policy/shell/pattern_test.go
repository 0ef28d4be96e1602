package shell

import (
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// patterned are lines with the patterns that a person may allow with them.
var patterned = map[string]string{
	"go test ./a": "go test", "go test": "go test", "go test -v -run 'TestA|TestB' -count=1 ./a ./b": "go test", "go test ./... 2>&1 | tail -20": "go test", "cd web && npm test": "npm test", "go test ./a < in.txt": "go test",
	"go build ./...": "go build", "go vet ./a": "go vet", "npm run build": "npm run build", "npm run build:prod -- src/a.js": "npm run build:prod", "npm test --silent": "npm test", "pnpm run lint": "pnpm run lint", "yarn test": "yarn test",
	"make test": "make test", "make build -j4 -k": "make build", "make build -j 4": "make build", "cargo test --release -- --nocapture": "cargo test", "cargo clippy -- -D warnings": "cargo clippy",
	"git add a.go": "git add", "git add -A": "git add", "git commit -am 'fix: a; b'": "git commit", "pytest -xvs tests/a.py::test_b": "pytest", "touch a.txt": "touch", "mkdir -p a/b": "mkdir", "tsc --noEmit -p .": "tsc", "prettier --write src/a.js": "prettier",
	"make test && npm run build && make test": "make test, npm run build", "ls; go vet ./a": "go vet", "echo done && go fmt ./a": "go fmt", "mvn test -q": "mvn test",
}

// patternless are lines of which nothing that looks like them may be allowed.
var patternless = []string{
	// programs that run what their arguments say, or who knows what
	"bash -c 'go test'", "sh x.sh", "python -c 'x'", "python3 x.py", "python3 -m pytest", "node -e x", "node x.js", "perl -e x", "env go test ./a", "env A=1 make test", "sudo go test", "sudo make install", "xargs go test < f", "find . -exec go vet {} ';'",
	"ssh host make test", "npx eslint a.js", "npm exec eslint", "yarn eslint a.js", "timeout 5 evil", "timeout 5 go test ./a", "nohup make test", "watch go test", "eval 'go test'", "exec go test", "command go test ./a", "unknown", "unknown test a", "./run.sh a", "./go test ./a", "/usr/bin/go test ./a", "strace go test",
	// what can't be undone, overwrites, deletes, or reaches others
	"rm a.txt", "rm -rf build", "git push", "git push origin main", "git push --force", "git reset --hard", "git checkout main", "git restore a.go", "git clean -n", "mv a b", "cp a b", "dd if=a of=b", "chmod +x a", "npm install left-pad", "npm publish", "npm run publish", "cargo publish", "cargo install x", "go get example.org/x", "go install example.org/x@latest", "go run ./a", "pip install x", "curl x", "docker run x", "kubectl apply -f x", "git fetch", "git clone https://example.org/x",
	// options that run other programs or write elsewhere, and words that hide some
	"go test -exec 'sh -c evil' ./a", "go test -exec=evil", "go test --exec=evil", "go build -toolexec evil", "go vet -vettool=./x", "go build -o .git/hooks/x", "go test -coverprofile=.bashrc", "go test -coverprofile .bashrc ./a", "go test -args -test.coverprofile=x", "go -C x test", "go test -ldflags=-X=a", "go build -mod=mod", "go test -run -exec",
	"git -c core.pager=evil add a", "git -C x commit -m y", "git --git-dir=x add a", "git fetch --upload-pack=evil", "git commit -F f", "git commit --amend -m x", "git add -i", "git add -p", "git commit -S -m x", "git add ext::evil",
	"make", "make SHELL=evil", "make test SHELL=evil", "make test CMD=evil", "make -f x test", "make test -f x", "make test --eval=x", "make test deploy", "make -j4 test", "make sh", "npm test --script-shell=evil", "npm run x --prefix=../y", "npm test -- --config=evil.js", "npm run sh -- 'rm -rf a'", "npm run node", "npm run", "npm --prefix x test", "npm test -- '$(evil)'", "yarn run env",
	"cargo test --config x", "cargo +nightly test", "cargo build --target x.json", "cargo test -- --logfile=x", "pytest -p evil", "pytest -c evil.ini", "pytest --basetemp=x", "pytest @args", "pytest -k '__import__(\"os\").system(\"evil\")'", "tsc @args", "eslint --rulesdir x", "eslint -c evil.js", "prettier --plugin=evil a", "mvn test exec:exec", "mvn test -Dx=y", "gradle test deploy", "gradle -I x test",
	// what is not known before it runs
	"go test $PKG", "go test \"$(evil)\"", "go test `evil`", "$GO test ./a", "g{o,x} test", "go t[e]st", "go test ./*", "npm run $X", "go test ./a > out.txt", "go test ./a >> .bashrc", "go test ./a | tee log", "go test ./a | sh", "go test <(evil)", "A=1 go test ./a", "FOO=bar make test", "export A=1; go test ./a", "PATH=.:$PATH go test", "LD_PRELOAD=x go test",
	"go test ./a && rm b", "go test ./a; evil", "go test ./a || git push", "go() { evil; }; go test", "alias go=evil; go test ./a", "go test &\nevil",
	// places
	"go test ../x", "go test /etc", "touch ~/.bashrc", "touch .bashrc", "touch .git/hooks/pre-commit", "touch .vscode/tasks.json", "git add .env", "prettier --write .vscode/settings.json", "mkdir /x", "tsc -p ../x", "tsc --project=../x", "npm test https://example.org",
	// more than a person reads
	"make " + strings.Repeat("a", 65),
	// nothing to allow
	"", "ls -la", "git status", "git log --oneline",
}

// patternOf are the patterns of a line, "" when one of its commands has none.
func patternOf(v Verdict) string {
	var list []string
	for _, p := range v.Parts {
		switch {
		case p.Outcome == policy.Allow:
		case p.Pattern == "":
			return ""
		case !strings.Contains(strings.Join(list, ", "), p.Pattern):
			list = append(list, p.Pattern)
		}
	}
	return strings.Join(list, ", ")
}

// TestPatterns: a pattern is offered for what goes on as it began, and for
// nothing else; and what has none fits none that is remembered.
func TestPatterns(t *testing.T) {
	everything := &Judge{Zone: place, Remembered: func(key string) bool { return strings.HasPrefix(key, "pattern ") }}
	for line, want := range patterned {
		j := &Judge{Zone: place}
		if got := patternOf(j.Judge(line)); got != want {
			t.Errorf("%q has %q, not %q", line, got, want)
		}
		if v := everything.Judge(line); v.Outcome != policy.Allow || v.OnlyLooks() {
			t.Errorf("remembered, %q is %q by %s (%s)", line, v.Outcome, v.Rule, v.Reason)
		}
	}
	held := 0
	for _, line := range patternless {
		v := (&Judge{Zone: place}).Judge(line)
		if got := patternOf(v); got != "" {
			t.Errorf("%q has %q", line, got)
			continue
		}
		if again := everything.Judge(line); again.Outcome != v.Outcome {
			t.Errorf("with all patterns remembered, %q is %q by %s (%s), not %q by %s", line, again.Outcome, again.Rule, again.Reason, v.Outcome, v.Rule)
			continue
		}
		held++
	}
	t.Logf("%d of %d have none, %d have one", held, len(patternless), len(patterned))
}

// No line by which others were fooled is allowed by a pattern.
func TestPatternSlips(t *testing.T) {
	everything := &Judge{Zone: place, Remembered: func(key string) bool { return strings.HasPrefix(key, "pattern ") }}
	for _, line := range append(append([]string{}, slips...), hiding...) {
		if v := everything.Judge(line); v.Outcome == policy.Allow && v.Irrecoverable == "" {
			t.Errorf("%q is allowed by %s (%s)", line, v.Rule, v.Reason)
		}
	}
	for _, c := range readCorpus(t).Cases {
		if v := everything.Judge(c.Command); c.Expect == "not-allow" && v.Outcome == policy.Allow && v.Rule == "allowed-for-session" {
			t.Errorf("%s %q is allowed by %s (%s)", c.ID, c.Command, v.Rule, v.Reason)
		}
	}
}

// A remembered pattern names itself, holds for its own beginning alone, and loses
// against every rule that is stricter.
func TestRememberedPattern(t *testing.T) {
	allowed := map[string]bool{PatternKey("go test"): true, PatternKey("make test"): true}
	remembered := func(key string) bool { return allowed[key] }
	j := &Judge{Zone: place, Remembered: remembered}
	if v := j.Judge("go test ./b"); v.Outcome != policy.Allow || v.Rule != "allowed-for-session" || v.Reason != "a person allowed `go test *` for the session" {
		t.Errorf("%+v", v.Part)
	}
	for line, want := range map[string]policy.Outcome{
		"go test ./b": policy.Allow, "ls && go test -v ./b | head -3": policy.Allow, "make test -j8": policy.Allow, "go test ./b && make test": policy.Allow,
		"go build": "", "make": "", "make build": "", "go test ./b && go build": "", "go test ./b && rm -rf x": "", "go test -exec 'sh -c evil' ./b": "", "A=1 go test ./b": "", "export A=1; go test ./b": "", "go test ./b > f": "", "sudo go test ./b": "",
	} {
		if v := j.Judge(line); v.Outcome != want {
			t.Errorf("%q is %q by %s (%s), not %q", line, v.Outcome, v.Rule, v.Reason, want)
		}
	}
	for name, rules := range map[string][]Rule{
		"deny":      {{[]string{"go", "test"}, policy.Deny, false, ""}},
		"deny more": {{[]string{"go"}, policy.Deny, false, ""}},
		"ask":       {{[]string{"go", "test"}, policy.Ask, false, ""}},
	} {
		if v := (&Judge{Zone: place, Rules: MakeRules(rules), Remembered: remembered}).Judge("go test ./b"); v.Outcome != rules[0].Decision {
			t.Errorf("%s: %q by %s (%s)", name, v.Outcome, v.Rule, v.Reason)
		}
	}
	denies := &Judge{Zone: place, Rules: MakeRules([]Rule{{[]string{"evil"}, policy.Deny, false, ""}}), Remembered: remembered}
	for line, want := range map[string]policy.Outcome{"go test ./b": policy.Allow, "go test evil": policy.Ask, "go test -exec x ./b": policy.Ask} {
		if v := denies.Judge(line); v.Outcome != want {
			t.Errorf("where another program is denied, %q is %q by %s (%s)", line, v.Outcome, v.Rule, v.Reason)
		}
	}
}
