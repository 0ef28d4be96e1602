package shell

import (
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// corpus is testdata/command-bypass.json: lines that were run in a real bash,
// and what may be decided on them under the rules that it names.
type corpus struct {
	Description struct {
		Allow []string `json:"allow_prefix_rules"`
		Deny  []string `json:"deny_programs"`
	} `json:"description"`
	Cases []struct {
		ID, Category, Command, Expect string
		Repeat                        *struct {
			Prefix, Unit, Suffix string
			N                    int
		} `json:"command_repeat"`
	} `json:"cases"`
}

func readCorpus(t testing.TB) corpus {
	t.Helper()
	data, err := os.ReadFile("testdata/command-bypass.json")
	if err != nil {
		t.Fatal(err)
	}
	var c corpus
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// judge is one with the corpus's rules, in a workspace at /ws.
func (c corpus) judge() *Judge {
	var rules []Rule
	for _, r := range c.Description.Allow {
		rules = append(rules, Rule{strings.Fields(r), policy.Allow, false, ""})
	}
	for _, r := range c.Description.Deny {
		rules = append(rules, Rule{[]string{r}, policy.Deny, false, ""})
	}
	return &Judge{Zone: place, Rules: MakeRules(rules)}
}

// place is as a workspace without links would have it.
func place(name string) Zone {
	if strings.HasPrefix(name, "~") {
		return Outside
	}
	if path.IsAbs(name) {
		if name == "/ws" || strings.HasPrefix(name, "/ws/") {
			return Inside
		}
		return Outside
	}
	switch clean := path.Clean(name); {
	case clean == ".." || strings.HasPrefix(clean, "../"):
		return Outside
	case strings.HasPrefix(path.Base(clean), ".env") || strings.HasSuffix(clean, ".pem"):
		return Sensitive
	case strings.HasPrefix(clean, ".git/"):
		return Forbidden
	case clean == ".bashrc" || strings.HasPrefix(clean, ".vscode/"):
		return Guarded
	}
	return Inside
}

// Nothing of the corpus that runs or writes is allowed unasked, and what only
// looks like it is.
func TestCorpus(t *testing.T) {
	c := readCorpus(t)
	j := c.judge()
	refused, allowed, let := 0, 0, 0
	for _, tc := range c.Cases {
		line := tc.Command
		if r := tc.Repeat; r != nil {
			line = r.Prefix + strings.Repeat(r.Unit, r.N) + r.Suffix
		}
		v := j.Judge(line)
		switch tc.Expect {
		case "not-allow":
			refused++
			if v.Outcome == policy.Allow {
				let++
				t.Errorf("%s %s: allowed: %.200q (%s)", tc.ID, tc.Category, line, v.Reason)
			}
		case "allow":
			allowed++
			if v.Outcome != policy.Allow {
				t.Errorf("%s %s: not allowed: %.200q: %s (%s)", tc.ID, tc.Category, line, v.Rule, v.Reason)
			}
		default:
			t.Fatalf("%s expects %q", tc.ID, tc.Expect)
		}
	}
	t.Logf("%d of %d held, %d controls", refused-let, refused, allowed)
	if refused < 90 || allowed < 9 {
		t.Fatalf("%d and %d cases", refused, allowed)
	}
}

// everyday are lines that people and agents run all day; {rule} ones need a
// rule of the corpus.
var everyday = []string{
	"ls", "ls -la src", "pwd", "cat main.go", "head -50 README.md", "tail -n 20 log.txt", "wc -l *.go", "git status", "git status --short",
	"git diff", "git diff --stat HEAD~1", "git diff --cached -- a.go", "git log --oneline -20", "git log -p -3 a.go", "git show HEAD:main.go", "git branch -a", "git branch --show-current",
	"git blame -L 10,20 a.go", "git remote -v", "git rev-parse HEAD", "git ls-files '*.go'", "git stash list", "git config --get user.email", "git tag -l 'v*'",
	"grep -rn TODO .", "grep -rn 'func main' --include='*.go' src", "rg -n 'foo|bar' -g '*.ts' src", "rg --files | head -20", "find . -name '*.go' -not -path './vendor/*'",
	"find src -type f -name '*.ts' | wc -l", "sort names.txt | uniq -c | sort -rn | head", "sed -n '10,40p' a.go", "sed -n '/^func/p' a.go", "cut -d: -f1 list.txt", "tr a-z A-Z < a.txt",
	"cd src && ls", "cd src && git status", "echo done", "echo \"a b\" | wc -c", "test -f go.mod && echo yes", "[ -d src ] && ls src", "which go", "go version", "go env GOPATH",
	"go list ./...", "go doc fmt.Println", "node --version", "python3 --version", "date +%s", "du -sh .", "stat a.go", "file a.bin", "diff a.txt b.txt", "tree -L 2", "jq .name package.json",
	"cat a.go 2>/dev/null | head -5", "ls nope 2>&1", "git log --format='%h %s' -5", "ls || true", "for f in a b; do echo x; done", "if [ -f a ]; then cat a; fi", "(cd src && ls)",
	"cat <<'E'\nhello\nE", "printf '%s\\n' a b", "basename /ws/a/b.go", "true", "wc -c < a.txt", "grep -c '' a.txt; tail -1 a.txt", "rg foo -A 3 -B 3 | sed 's/^/  /'", "sha256sum a.txt",
	"git ls-files | xargs wc -l", "ls | xargs -I{} cat {}", "find . -name '*.go' -print0 | xargs -0 grep -n TODO", "ls | xargs -n 1 basename", "find . -name '*.go' -exec head -1 {} +",
	"awk '{print $1}' f.txt", "awk -F: '$3 > 999 {print $1}' f.txt", "awk -F ',' 'NR>1 && $2 == \"x\" {n++} END {print n}' f.csv", "awk '{ if ($3 > 5) s += $3 } END { print s }' f.txt", "awk -v n=3 'NR==n' f.txt", "git log --oneline | awk '{print $1}' | head -3", "awk '/^func/ {print FILENAME\":\"NR}' a.go",
}

// With no rule at all, what only looks is not asked about.
func TestEveryday(t *testing.T) {
	j := &Judge{Zone: place}
	bad := 0
	for _, line := range everyday {
		if v := j.Judge(line); v.Outcome != policy.Allow {
			bad++
			t.Errorf("%q is not allowed: %s (%s)", line, v.Rule, v.Reason)
		}
	}
	asked := 0
	for _, line := range slips { // the control: the same judge does ask
		if v := j.Judge(line); v.Outcome != policy.Allow || v.Irrecoverable != "" {
			asked++
		}
	}
	t.Logf("%d of %d unasked, %d controls", len(everyday)-bad, len(everyday), asked)
}

// slips are lines by which others were fooled. None may be allowed without a
// rule, nor by rules for the programs that they abuse.
var slips = []string{
	"env X=1 rm -rf a", "nice rm a", "nohup evil", "timeout 5 evil", "xargs evil", "command evil", "builtin eval evil", "exec evil", "sudo -n ls", "busybox sh -c evil", "sh -c evil",
	"find . -exec evil ';'", "find . -delete", "find . -exec sh -c 'evil {}' ';'", "git -c alias.x='!evil' x", "git -C /etc status", "GIT_DIR=/x git status", "git branch -D main", "git tag -d v1",
	"git remote set-url origin x", "git config core.pager evil", "git config core.hooksPath h", "git log --output=f", "git log --outp=f", "rg --pre evil x", "rg --pr evil x", "sort -o f g", "sort --outpu=f g", "sort -nof g",
	"tar --to-command=evil -xf a.tar", "tar xf a.tar --to-comm=evil", "tar -I evil -xf a", "awk 'BEGIN{system(\"evil\")}'", "sed -i s/a/b/ f", "sed -n 'w f' a", "sed '1e evil' a", "sed 's/a/evil/e' a", "sed 's/a/b/w f' a",
	"sed -n -f script a", "tee f", "dd of=f if=g", "ls\nevil", "ls & evil", "ls > f", "ls >> f", "ls >| f", "ls &> f", "cat <(evil)", "{evil,x}", "echo ${v@P}", "echo ${!v}", "$'\\x65vil'", "ev\\\nil", "((a[$(evil)]))",
	"ls() { evil; }; ls", "alias ls=evil", "PATH=. ls", "LD_PRELOAD=./x.so ls", "l\u200bs", "cat a\u202eb.go", "echo a\u200b", "ls \x1b[2K", "ls a\rb", "grep x\u00a0y a.go", "\u0455ort a", "uniq a b", "date -s now", "printf -v x y", "test -v 'a[$(evil)]'", "[ -v 'a[$(evil)]' ]", "read 'a[$(evil)]'", "unset 'a[$(evil)]'",
	"echo $((x))", "let x=1", "mapfile -C evil a", "trap evil EXIT", "coproc evil", "cat .env", "cat ../x", "cat /etc/passwd", "cat ~/.ssh/id_rsa", "echo x > .git/config", "echo x > .bashrc", "cat < /etc/shadow", "cat 0<.env",
	"exec 3<>/dev/tcp/h/1", "echo x > /dev/tcp/h/1", "go vet -vettool=./x ./...", "go build -toolexec evil", "go test -exec evil ./...", "go env -w GOFLAGS=-x", "go list -toolexec=evil", "man -P evil ls", "less f", "vim f",
	"python3 -c 'x'", "node -e x", "perl -e x", "ruby x.rb", "bash x.sh", ". ./x", "source x", "hash -p evil ls", "enable -f x y", "set -x", "shopt -s expand_aliases", "hostname h", "fd -x evil", "bat --pager evil f", "tree -o f",
	"xxd -r a b", "git diff --ext-diff", "git log --show-signature", "git log --format=%G?", "git grep -Oevil x", "git ls-remote ext::evil", "git show --textconv", "git cat-file --filters x", "git stash drop", "git worktree add x", "git reflog expire --all",
	"ls $x", "cat $(evil)", "ls `evil`", "[[ a -eq 'b[$(evil)]' ]]", "[[ -v 'a[$(evil)]' ]]", "for ((i=0;i<a[$(evil)];i++)); do ls; done", "echo ${a[$(evil)]}", "echo ${x:$(evil)}", "export PATH=.:$PATH", "declare -n x=y", "readonly 'a[$(evil)]=1'",
	"ls | xargs -I{} sh -c 'evil {}'", "env -S 'evil x'", "env --split-string=evil", "watch evil", "script -c evil", "su -c evil", "flock f evil", "setsid evil", "stdbuf -o0 evil", "ionice -c2 evil", "time evil", "! evil", "sort *", "rg x *",
	"awk 'BEGIN{print \"x\" > \"f\"}'", "awk '{print > $1}' a", "awk '{print | \"evil\"}' a", "awk '{print |& \"evil\"}' a", "awk 'BEGIN{\"evil\" | getline x}'", "awk 'BEGIN{while ((getline l < \".env\") > 0) print l}'", "awk -f x a", "awk -i inplace 1 a", "gawk -l x 1 a", "gawk --load=x 1", "gawk '@load \"x\"'",
	"awk -v f=system 'BEGIN{@f(\"evil\")}'", "awk 'BEGIN{ARGV[1]=\".env\";ARGC=2}{print}' a", "awk 'BEGIN{print \"(\" > \"f\"}'", "awk '{print \"}\" > \"f\"}' a", "awk '{ # (\n print 1 > f }' a", "awk '/[(]/{print 1 > f}' a", "awk 'BEGIN{print (1)(2) > f}'", "awk \"$x\" a", "mawk '{print > $2}' a", "awk '{print}' .env",
	"echo evil | xargs env", "echo evil | xargs -n1 nice", "echo push | xargs git", "echo '1e evil' | xargs sed", "echo 'a b' | xargs uniq", "uniq *", "echo -delete | xargs find .", "echo evil | xargs -I% %", "echo evil | xargs -i {} x", "echo evil | xargs --replace=@ env @", "echo x | xargs -I{} sed {}",
	"echo evil | parallel", "parallel evil ::: a", "parallel cat ::: a", "find . -exec {} ';'",
	"bash -c 'ls; evil'", "eval ls", "sh <<< evil", "strace -o f ls", "yq -i x f", "split --filter=evil f", "{ ls; evil; } 2>/dev/null", "ls; (evil)", "while evil; do ls; done", "case $(evil) in a) ls;; esac", "ls <<E\n$(evil)\nE",
}

func TestSlips(t *testing.T) {
	bare := &Judge{Zone: place}
	ruled := readCorpus(t).judge()
	let := 0
	defer func() { t.Logf("%d of %d held, %d controls", len(slips)-let, len(slips), len(everyday)) }() // TestEveryday has the controls
	for _, line := range slips {
		for name, j := range map[string]*Judge{"without rules": bare, "with rules": ruled} {
			if v := j.Judge(line); v.Outcome == policy.Allow && v.Irrecoverable == "" && (j != ruled || v.Rule != "command.rule" || !outside(line)) {
				let++
				t.Errorf("%s, %q is allowed: %s (%s)", name, line, v.Rule, v.Reason)
			}
		}
	}
}

// outside: a rule for cat holds for every file that holds no secrets.
func outside(line string) bool {
	return slices.Contains([]string{"cat ../x", "cat /etc/passwd", "cat ~/.ssh/id_rsa"}, line)
}

// A deny is found wherever the program stands.
func TestDeny(t *testing.T) {
	j := &Judge{Rules: MakeRules([]Rule{{[]string{"curl"}, policy.Deny, false, ""}, {[]string{"git", "push"}, policy.Deny, false, ""}, {[]string{"git"}, policy.Allow, false, ""}})}
	for _, line := range []string{
		"curl x", "/usr/bin/curl x", "ls && curl x", "echo $(curl x)", "env A=1 curl x", "xargs curl < f", "find . -exec curl {} +", "bash -c 'curl x'", "bash -c \"sh -c 'curl x'\"", "if true; then curl x; fi",
		"f() { curl x; }", "time curl x", "nice -n 5 curl x", "timeout -k 1 5 curl x", "\"cu\"rl x", "cu\\rl x", "cat <(curl x)", "x=$(curl x)", "sudo -u root curl x", "git push", "git push origin main", "echo a; git push",
		"command curl x", "trap 'curl x' EXIT", "eval 'curl x'", "cat <<E\n$(curl x)\nE", "coproc curl x",
	} {
		if v := j.Judge(line); v.Outcome != policy.Deny {
			t.Errorf("%q is %q by %s (%s)", line, v.Outcome, v.Rule, v.Reason)
		}
	}
	for _, line := range []string{"git status", "git commit -m 'curl x'", "echo curl"} {
		if v := j.Judge(line); v.Outcome != policy.Allow {
			t.Errorf("control %q is %q by %s (%s)", line, v.Outcome, v.Rule, v.Reason)
		}
	}
}

func TestIrrecoverable(t *testing.T) {
	j := &Judge{}
	for _, line := range []string{
		"rm -rf build", "rm -vrf x", "rm --recursive x", "rm --rec x", "ls && rm -r x", "find . -name x -delete", "find . -exec rm -rf {} ';'", "xargs rm -f", "git push --force", "git push -fu origin main", "git push origin +main",
		"git push --force-with-lease", "git push origin :old", "git reset --hard", "git -C sub reset --hard HEAD~3", "git clean -fdx", "git checkout -- .", "git checkout .", "git restore a.go", "git branch -D x", "git branch -d -f x",
		"git stash clear", "git stash drop", "git tag -d v1", "dd if=/dev/zero of=disk.img", "mkfs.ext4 /dev/sda1", "shred f", "truncate -s 0 f", "psql -c 'drop table users'", "sqlite3 a.db 'DELETE FROM users'", "mysql -e 'TRUNCATE   t'",
		"chmod -R 777 /", "chown -R me ~", "sudo rm -rf /", "env A=1 git push -f", "bash -c 'rm -rf x'", "kubectl delete pod x", "terraform destroy -auto-approve", "docker system prune -af", "npm publish", "cargo publish", "git filter-branch x",
	} {
		if v := j.Judge(line); v.Irrecoverable == "" {
			t.Errorf("%q can be undone, it says", line)
		}
	}
	for _, line := range []string{
		"rm a.txt", "git push", "git push -u origin main", "git reset HEAD a.go", "git checkout main", "git checkout -b x", "git restore --staged a.go", "git branch x", "git branch -d merged", "git stash", "git stash list", "git tag v1",
		"dd if=a of=/dev/null", "find . -name x", "chmod +x run.sh", "psql -c 'select 1'", "sqlite3 a.db 'DELETE FROM t WHERE id=1'", "kubectl get pods", "echo 'rm -rf /'", "git commit -m 'reset --hard'", "git clean -n", "npm test", "rm -- -rf",
	} {
		if v := j.Judge(line); v.Irrecoverable != "" {
			t.Errorf("control %q can't be undone, it says: %s", line, v.Irrecoverable)
		}
	}
}

// What a person allowed for the session is the command, not the line: neither
// more nor less of it.
func TestRemembered(t *testing.T) {
	first := (&Judge{}).Judge("make build")
	if first.Outcome != "" || len(first.Parts) != 1 || first.Parts[0].Key == "" {
		t.Fatalf("%+v", first)
	}
	j := &Judge{Remembered: func(k string) bool { return k == first.Parts[0].Key }}
	for _, line := range []string{"make build", "ls && make build", "make  'build'", "make build | head"} {
		if v := j.Judge(line); v.Outcome != policy.Allow {
			t.Errorf("%q is %q by %s", line, v.Outcome, v.Rule)
		}
	}
	for _, line := range []string{"make", "make build install", "make build; evil", "A=1 make build", "make build > f", "make build $X", "sudo make build", "./make build"} {
		if v := j.Judge(line); v.Outcome == policy.Allow {
			t.Errorf("%q is allowed by %s", line, v.Rule)
		}
	}
}

// A rule that names the arguments is taken at its word; one that names an
// interpreter is not.
func TestRules(t *testing.T) {
	rule := func(d policy.Outcome, words ...string) Rule { return Rule{words, d, false, ""} }
	j := &Judge{Zone: place, Rules: MakeRules([]Rule{
		rule(policy.Allow, "npm", "test"), rule(policy.Allow, "python3"), rule(policy.Allow, "python3", "manage.py", "test"), rule(policy.Allow, "go", "test"),
		rule(policy.Allow, "make"), rule(policy.Allow, "git", "commit"), rule(policy.Ask, "git", "log"), rule(policy.Allow, "./run.sh"),
	})}
	for line, want := range map[string]policy.Outcome{
		"npm test": policy.Allow, "npm test -- --watch=false": policy.Allow, "cd web && npm test": policy.Allow, "CI=1 npm test": policy.Allow, "NODE_OPTIONS=-r=x npm test": "", "npm install": "",
		"npm test --script-shell=evil": "", "python3 manage.py test": policy.Allow, "python3 x.py": "", "go test ./...": policy.Allow, "FOO=bar go test -run X ./a": policy.Allow, "go test -exec evil": "",
		"go test $PKG": "", "make": policy.Allow, "make -j4 build": policy.Allow, "make SHELL=evil": "", "make -f x": "", "git commit -m 'a; b'": policy.Allow, "git log": policy.Ask, "git log | head": policy.Ask,
		"./run.sh a": policy.Allow, "x/run.sh": "", "go test ./... 2>&1 | tail -20": policy.Allow, "go test ./... > out.txt": "", "npm test ../x": policy.Allow, "npm test .env": policy.Ask,
	} {
		if v := j.Judge(line); v.Outcome != want {
			t.Errorf("%q is %q by %s (%s), not %q", line, v.Outcome, v.Rule, v.Reason, want)
		}
	}
}

func TestRead(t *testing.T) {
	l := Read("A=1 env B=2 nice -n 5 go test './x y' > out < in && echo \"$(ls *.go)\"; cd ~/x")
	var got []string
	for _, c := range l.Commands {
		var words []string
		for _, w := range c.Words {
			words = append(words, w.Text)
		}
		got = append(got, strings.Join(c.Via, ">")+":"+strings.Join(words, "|"))
	}
	want := []string{":env|B=2|nice|-n|5|go|test|./x y", "env:nice|-n|5|go|test|./x y", "env>nice:go|test|./x y", `:echo|"$(ls *.go)"`, ":ls|*.go", ":cd|~/x"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(l.Writes) != 1 || l.Writes[0].Text != "out" || len(l.Reads) != 1 || l.Reads[0].Text != "in" || len(l.Doubts) != 0 {
		t.Errorf("%+v", l)
	}
}

// Whatever the text, it is judged in bounded time, without a panic, and a text
// that bash would not take is never allowed.
func FuzzJudge(f *testing.F) {
	for _, line := range slices.Concat(everyday, slips) {
		f.Add(line)
	}
	j := readCorpus(f).judge()
	f.Fuzz(func(t *testing.T, line string) {
		v := j.Judge(line)
		if len(v.Parts) == 0 || v.Rule == "" {
			t.Errorf("%q: %+v", line, v)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	j := readCorpus(b).judge()
	line := "cd src && git diff --stat HEAD~1 -- main.go | head -20 && rg -n 'func (\\w+)' --type go . | sort | uniq -c | sort -rn | head -5; test -f go.mod && go list ./... | grep -v vendor; echo \"all of it is done\""
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if v := j.Judge(line); v.Outcome != policy.Allow {
			b.Fatal(v.Reason)
		}
	}
}

// BenchmarkParse is what BenchmarkJudge is measured against: the parser alone.
func BenchmarkParse(b *testing.B) {
	line := "cd src && git diff --stat HEAD~1 -- main.go | head -20 && rg -n 'func (\\w+)' --type go . | sort | uniq -c | sort -rn | head -5; test -f go.mod && go list ./... | grep -v vendor; echo \"all of it is done\""
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), ""); err != nil {
			b.Fatal(err)
		}
	}
}

// TestOtherNames: a shell that has other names for the files has no way around what is
// to be asked about.
func TestOtherNames(t *testing.T) {
	j := &Judge{Zone: place}
	for _, c := range []struct {
		line        string
		bare, named policy.Outcome
	}{
		{"cat /mnt/c/ws/.env", "", policy.Ask},
		{"cat </mnt/c/ws/.env", "", policy.Ask},
		{"echo x >/mnt/c/ws/.git/config", "", policy.Deny},
		{"bash -c 'echo x >/mnt/c/ws/.git/config'", "", policy.Deny},
		{"cat /mnt/c/ws/a.go", "", ""}, // what is there is not known for certain
		{"cat a.go", policy.Allow, policy.Allow},
		{"cat .env", policy.Ask, policy.Ask},
	} {
		l := Read(c.line)
		if got := j.Decide(c.line, l).Outcome; got != c.bare {
			t.Errorf("control: %s: %q, want %q", c.line, got, c.bare)
		}
		l.Path = func(name string) string { return strings.TrimPrefix(name, "/mnt/c/ws/") }
		if got := j.Decide(c.line, l).Outcome; got != c.named {
			t.Errorf("%s: %q, want %q", c.line, got, c.named)
		}
	}
}
