package ide_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// speaking is the variable by which the tests' program speaks with an editor in the place
// of an agent: who it is, the port, the token, the file that it edits, its text, and
// whether it waits for what the user looks at.
const speaking = "IDE_TEST_SPEAKS"

// speak shows an edit, and prints what it is answered and told of the editor.
func speak(t *testing.T, as string) {
	f := strings.Split(as, "|")
	who, port, token, path, text, waits := f[0], f[1], f[2], f[3], f[4], f[5] == "waits"
	if who == "taker" {
		fmt.Println("answer", takes(t, port, token, path))
		return
	}
	said := make(chan string, 100)
	if who == "gemini" {
		g := geminiAt(t, port, token)
		said = g.told
		g.call("openDiff", e2e.Object{"filePath": path, "newContent": text})
	} else {
		c := claudeAt(t, port, token)
		go func() {
			a := <-c.opens(path, text, "tab")
			problems := <-c.start("getDiagnostics", e2e.Object{})
			line, _ := json.Marshal([]answerOf{a, problems})
			said <- string(line)
		}()
		go func() {
			for params := range c.told {
				said <- string(params)
			}
		}()
	}
	told, answer := "nothing", ""
	for answer == "" || waits && told == "nothing" {
		line := <-said
		if strings.Contains(line, "open.txt") {
			told = "open.txt"
		}
		for _, word := range []string{"FILE_SAVED", "DIFF_REJECTED", "diffAccepted", "diffRejected"} {
			if strings.Contains(line, word) {
				answer = word
			}
		}
	}
	fmt.Println("answer", answer, told)
}

// takes is the answer to a request in the session of another program.
func takes(t *testing.T, port, token, id string) int {
	t.Helper()
	g := &geminiCLI{token: token, id: id}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:"+port+"/mcp", strings.NewReader(`{"jsonrpc": "2.0", "id": 9, "method": "tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	g.head(req)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestEditorSessionsStay: who works for an agent gets into no session of the person's,
// whatever it knows.
func TestEditorSessionsStay(t *testing.T) {
	dir := e2e.WorldProject(t, "auto", nil, e2e.Object{"mode": "autonomous", "sandbox": e2e.Object{"mode": "off"}, "workspace.trust": "trusted"})
	d := deskBy(t, dir, program.ServerAnywhere(t))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	port, token := d.lock()
	id := d.gemini().id
	line := fmt.Sprintf("%s='%s' '%s' -test.run='^TestEditorByPeer$' | grep answer", speaking, strings.Join([]string{"taker", port, token, id, "", ""}, "|"), self)
	if got := d.Tool("run_command", e2e.Object{"command": line}).Content; !strings.Contains(got, "answer 404") {
		t.Error(got)
	}
	if got := takes(t, port, token, id); got != http.StatusOK {
		t.Errorf("the control: %d", got)
	}
}

// speaker is the command line of a program that speaks so.
func (d *desk) speaker(self, who, text, waits string) string {
	port, token := d.lock()
	return fmt.Sprintf("%s='%s' '%s' -test.run='^TestEditorByPeer$' | grep answer", speaking, strings.Join([]string{who, port, token, filepath.Join(d.Dir, who+".txt"), text, waits}, "|"), self)
}

// TestEditorByPeer: with the right token, what works for an agent has its edits held where
// the user's are made. A program of the user's is answered as ever.
func TestEditorByPeer(t *testing.T) {
	if as := os.Getenv(speaking); as != "" {
		speak(t, as)
		return
	}
	server := program.ServerAnywhere(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string][2]string{"claude": {"FILE_SAVED", "DIFF_REJECTED"}, "gemini": {"diffAccepted", "diffRejected"}}
	for _, sandbox := range []string{"auto", "off"} {
		t.Run("sandbox "+sandbox, func(t *testing.T) {
			dir := e2e.WorldProject(t, "auto", map[string]string{"claude.txt": "one\n", "gemini.txt": "one\n", "open.txt": strings.Repeat("open\n", 100)},
				e2e.Object{"mode": "autonomous", "sandbox": e2e.Object{"network": true, "mode": sandbox}, "workspace.trust": "trusted"})
			inside := filepath.Join(dir, "speaker") // where a world has it
			if err := ownfile.WriteFile(inside, program, 0o755); err != nil {
				t.Fatal(err)
			}
			d := deskBy(t, dir, server)
			uri, err := d.OpenFile(t.Context(), filepath.Join(dir, "open.txt"))
			if err != nil {
				t.Fatal(err)
			}
			// Each agent gets two selections in turn: who has the second one has had the first.
			user, line := d.claude(), uint32(0)
			tellAll := func() {
				for range 2 {
					line++
					if err := d.Notify(t.Context(), "sidecar/selection", e2e.Object{"uri": uri, "ranges": []lsp.Range{{End: lsp.Position{Line: line}}}}); err != nil {
						t.Fatal(err)
					}
					for !strings.Contains(string(<-user.told), fmt.Sprintf(`"line":%d,`, line)) {
					}
				}
			}
			own := func(who, text, waits string, argv ...string) string {
				out, err := exec.CommandContext(t.Context(), argv[0], append(argv[1:], "sh", "-c", d.speaker(inside, who, text, waits))...).CombinedOutput()
				if err != nil {
					t.Errorf("%v: %v", argv, err)
				}
				return string(out)
			}
			for who, answer := range answers {
				text := "by " + who
				roads := map[string]func() string{
					"a command": func() string {
						return d.Tool("run_command", e2e.Object{"command": d.speaker(inside, who, text, "waits"), "timeout_s": 120}).Content
					},
					"a run":             func() string { return own(who, text, "waits", server, "run", "--root", dir, "--profile", "none", "--") },
					"a mount namespace": func() string { return own(who, text, "", "unshare", "-Urm") },
				}
				for road, say := range roads {
					if road == "a run" && sandbox == "off" || road == "a mount namespace" && exec.CommandContext(t.Context(), "unshare", "-Urm", "true").Run() != nil {
						continue
					}
					said := make(chan string, 1)
					go func() { said <- say() }()
					e2e.Until(t, road+" of "+who+": no edit of it waits", func() bool {
						select {
						case early := <-said:
							t.Fatalf("%s of %s: %s", road, who, early)
						default:
						}
						return len(d.Pending().Edits) == 1
					})
					if now := d.File(who + ".txt"); now != "one\n" {
						t.Errorf("%s of %s: the disk has %q", road, who, now)
					}
					tellAll()
					e2e.Command[e2e.Object](d.Rig, "sidecar.review.reject", e2e.Object{})
					want := "answer " + answer[1] + " open.txt"
					if road == "a mount namespace" {
						want = "answer " + answer[1] + " nothing"
					}
					if got := <-said; !strings.Contains(got, want) {
						t.Errorf("%s of %s: %s, want %q", road, who, got, want)
					}
					d.waits(0)
				}
				if got := own(who, text, "waits", "env"); !strings.Contains(got, "answer "+answer[0]+" open.txt") || d.File(who+".txt") != text {
					t.Errorf("the control: %s, and the disk has %q", got, d.File(who+".txt"))
				}
			}
		})
	}
}
