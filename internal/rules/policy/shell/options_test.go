package shell

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

// TestOptions: no option has a program that looks load code, write a file or run
// another program without a question, however it is spelled. The controls are
// options of the same programs that only look.
func TestOptions(t *testing.T) {
	bare := &Judge{Zone: place}
	ruled := &Judge{Zone: place, Rules: MakeRules([]Rule{{[]string{"time"}, policy.Allow, false, ""}, {[]string{"env"}, policy.Allow, false, ""}, {[]string{"xargs"}, policy.Allow, false, ""}, {[]string{"nm"}, policy.Allow, false, ""}})}
	for _, line := range []string{
		// binutils
		"nm --plugin ./x.so m.o", "nm --plugin=./x.so m.o", "nm --plug ./x.so m.o", "nm --pl=x.so m.o", "nm -plugin ./x.so m.o", "size --plugin x m.o", "objdump -d --plugin x m.o", "readelf --plugin x m.o", "strings --plugin x m.o", "nm @opts", "size @opts m.o", "nm *.o",
		// a wrapper's own option: it writes, or what runs is another word
		"/usr/bin/time -o out ls", "/usr/bin/time -oout ls", "/usr/bin/time --output=out ls", "/usr/bin/time --output out ls", "/usr/bin/time --out=out ls", "/usr/bin/time --out cat ./evil", "/usr/bin/time -ao out ls", "/usr/bin/time -vo out ls", "\\time -o out ls", "command time -o out ls", "env time -o out ls", "nice /usr/bin/time -o out ls", "/usr/bin/time --form cat ./evil", "/usr/bin/time -vf cat ./evil",
		"env -vS./evil ls", "env -iS './evil x' ls", "env --split './evil' ls", "env --s=./evil ls", "env -a cat ./evil", "env --argv0 cat ./evil", "env --argv0=cat ./evil", "env --ch cat ./evil", "env --chdir cat ./evil", "env -iC cat ./evil", "env -P cat ./evil", "env --uns cat ./evil", "env -iu cat ./evil",
		"xargs --arg cat ./evil", "xargs --process-slot-var cat ./evil", "xargs --process-slot-var=PATH cat", "xargs --delim cat ./evil", "xargs -0d cat ./evil", "xargs -J cat ./evil", "xargs -o cat", "xargs --max-p cat ./evil",
		"nice --adj cat ./evil", "timeout --sig cat 5 ./evil", "timeout -vk 1 5 ./evil", "stdbuf --out cat ./evil", "ionice --cl cat ./evil", "ionice -p 1", "taskset -p 1 1", "watch --int cat ./evil", "watch --shotsdir cat ./evil", "watch -s cat ./evil", "watch -tn cat ./evil",
		"flock out ls", "flock --wait 1 out ls", "busybox --install", "busybox --install -s d", "toybox --install",
		// what they are asked for, or take it for a file to run, is not their version
		"python3 version", "node version", "bash version", "sh version", "ruby version", "java version", "make version", "gradle version", "cmake version", "npx version", "curl version", "wget version", "tsc version", "rustc version", "gcc version", "swift version", "deno version", "mvn -V", "gradle -V", "make -V",
		"yarn --version", "pnpm --version", "mvn --version", "dotnet --version", "cargo --version", "rustc --version", "rustup --version",
		// others
		"bat --generate-config-file", "bat --lessopen x", "bat cache --build", "bat cache --clear", "bat --paging=always x", "bat --paging always x", "yq --split-exp .a f", "yq --split-exp-file f g", "yq --security-enable-system-operator 'system(\"evil\")' f", "xxd --r a",
		"go list -export ./...", "go list -compiled ./...", "go list -debug-trace=f ./...", "go list -debug-actiongraph=f", "go list --debug-runtime-trace f", "go doc -http",
		"git reflog drop x", "git reflog write x", "git for-each-ref --format='%(signature)'", "git for-each-ref --format '%(signature:grade)'", "git branch --format='%(signature)'",
		"sort --outp=f g", "sort -rof g", "sort --comp ./x g", "find . -fprintf f x", "rg --pre=./x y", "file -C -m x", "date --se now", "tree -of", "diff -l a b",
	} {
		if v := bare.Judge(line); v.Outcome == policy.Allow && v.Irrecoverable == "" {
			t.Errorf("%q is allowed by %s (%s)", line, v.Rule, v.Reason)
		}
		if v := ruled.Judge(line); v.Outcome == policy.Allow && v.Irrecoverable == "" {
			t.Errorf("with rules, %q is allowed by %s (%s)", line, v.Rule, v.Reason)
		}
	}
	for _, line := range []string{
		"nm m.o", "nm -p m.o", "nm -gC m.o", "nm --portability m.o", "nm ./*.o", "size a.out", "objdump -d m.o", "objdump --disassemble -M intel m.o", "readelf -a m.o", "strings -n 8 m.o",
		"/usr/bin/time ls", "/usr/bin/time -v ls", "/usr/bin/time -f %e ls", "/usr/bin/time -f %o ls", "/usr/bin/time -pq ls", "/usr/bin/time --format=%e ls", "time -p ls", "env", "env -i ls", "env - ls", "env -u X ls", "env -uX ls", "env --unset=X -C src ls", "env -0", "env A=b ls", "env --help",
		"ls | xargs -0 -n 1 cat", "ls | xargs -0n1 cat", "ls | xargs -I{} cat {}", "ls | xargs -i cat {}", "ls | xargs --replace=@ cat @", "ls | xargs -rt --max-args=1 cat", "ls | xargs -L 1 wc -l", "ls | xargs -P4 wc -l", "ls | xargs --max-lines=2 cat",
		"nice -n 5 ls", "nice -n5 ls", "nice -19 ls", "nice --adjustment=5 ls", "timeout 5 ls", "timeout -k 1 5 ls", "timeout -s KILL 5 ls", "timeout --foreground -v 5 ls", "timeout --kill-after=1 5 ls", "stdbuf -oL ls", "stdbuf -o L ls", "stdbuf --output=0 ls", "ionice -c 3 ls", "ionice -c3 ls", "nohup ls", "setsid -w ls", "taskset -c 0 ls", "chrt -i 0 ls",
		"watch ls", "watch -n 1 ls", "watch -n1 'git status'", "watch -tn 1 ls", "watch --interval=2 -d ls", "busybox ls", "busybox --list",
		"python3 --version", "python3 -V", "node --version", "go version", "git version", "git --version", "npm --version", "make --version", "java --version", "docker version", "kubectl version", "gcc --version", "curl -V",
		"bat a.go", "bat --paging=never a.go", "bat -P a.go", "yq .a f", "yq -P .a f", "xxd a", "go list -json ./...", "go list -m -versions x", "go doc fmt", "git reflog", "git reflog show main", "git for-each-ref --format='%(refname)'", "sort -rn f", "diff -u a b",
	} {
		if v := bare.Judge(line); v.Outcome != policy.Allow {
			t.Errorf("control %q is %q by %s (%s)", line, v.Outcome, v.Rule, v.Reason)
		}
	}
}
