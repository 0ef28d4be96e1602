package border_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// greeter is a small project of Gradle's. Its task hold keeps Gradle's locks until somebody
// connects.
var greeter = map[string]string{
	".gitignore":      "build/\n.gradle/\n",
	"settings.gradle": "rootProject.name = 'greeter'\n",
	"build.gradle": `apply plugin: 'java'

task hold {
	doLast {
		def gate = new ServerSocket(39471, 1, InetAddress.getByName('127.0.0.1'))
		println 'it holds'
		gate.accept().close()
		gate.close()
	}
}
`,
	"src/main/java/Greeter.java": "public class Greeter {\n\tpublic static void main(String[] args) {\n\t\tSystem.out.println(\"gradle works\");\n\t}\n}\n",
}

// TestGradle: Gradle builds without a network. Its client talks to a daemon over the session's
// localhost, and a build in another command asks there, by UDP, for the locks of the first:
// each in a localhost of its own, it would wait for a minute and fail.
func TestGradle(t *testing.T) {
	slow.Test(t)
	for _, program := range []string{"gradle", "javac"} {
		if _, err := exec.LookPath(program); err != nil {
			needs.Skip(t, needs.Programs, program)
		}
	}
	dir := project(t, e2e.Object{"sandbox.network": "none"})
	commit(t, dir, greeter)
	r := serve(t, dir)
	complete(r)

	s, seen := site(t)
	if res := r.Tool("run_command", e2e.Object{"command": dials(s) + "; echo interfaces: $(grep -c : /proc/net/dev)"}); seen.Load() > 0 || !strings.Contains(res.Content, "interfaces: 1\n") {
		t.Errorf("there is a network: %s", res.Content)
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", dials(s)).CombinedOutput(); err != nil || seen.Load() != 1 {
		t.Errorf("the control: %v: %s", err, out)
	}

	builds := func(command string, want ...string) {
		t.Helper()
		began := time.Now()
		r.Ran(command, append(want, "BUILD SUCCESSFUL")...)
		t.Logf("%s: %.1f s", command, time.Since(began).Seconds())
	}
	builds("gradle --offline build && java -cp build/libs/greeter.jar Greeter", "2 executed", "gradle works")
	builds("gradle --offline build", "2 up-to-date") // the daemon ended with its command

	if res := r.Tool("run_command", e2e.Object{"command": "gradle --offline hold", "background": true}); !res.OK {
		t.Fatal(res.Content)
	}
	r.Shows("command_output", e2e.Object{"id": "bg1", "wait_s": 300, "pattern": "it holds"}, "it holds")
	builds("gradle --offline clean build", "3 executed")
	r.Ran("bash -c 'exec 3<>/dev/tcp/127.0.0.1/39471'")
	r.Shows("command_output", e2e.Object{"id": "bg1", "wait_s": 300, "pattern": "BUILD"}, "BUILD SUCCESSFUL")
	if asked := r.Asked(); len(asked) > 0 {
		t.Errorf("it asked: %q", asked)
	}
}
