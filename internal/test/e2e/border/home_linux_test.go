package border_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// plants are what programs obey or believe in a home, each as a line that makes it.
var plants = map[string]string{
	"bin/x":                          "echo planted",
	".bashrc":                        "echo planted",
	".profile":                       "echo planted",
	".npmrc":                         "registry=https://planted.example",
	".gitconfig":                     "[alias] planted = !true",
	".config/git/config":             "[alias] planted = !true",
	".config/planted/x":              "planted",
	".local/bin/x":                   "planted",
	".cache/pip/planted":             "planted",
	".cache/go-build/00/planted-a":   "planted",
	".npm/_cacache/planted":          "planted",
	"go/pkg/mod/planted/x.go":        "planted",
	".cargo/config.toml":             "planted",
	".sidecar-shell/other/bash/here": "planted",
}

// ownHome gives the user of a test a home of his own.
func ownHome(t *testing.T) string {
	t.Helper()
	program.ServerAnywhere(t) // is built with the caches of whoever runs the tests
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("GOCACHE", filepath.Join(home, ".cache", "go-build"))
	return home
}

// TestPlantedInHome: what commands that run unasked write to their home is their session's
// alone. Neither other sessions have it nor commands that a person allowed.
func TestPlantedInHome(t *testing.T) {
	dir := project(t, e2e.Object{"commandRules": []e2e.Object{{"prefix": []string{"env"}, "decision": "ask"}}})
	home := ownHome(t)
	for _, name := range []string{".cache/go-build", ".npm/_cacache"} {
		e2e.Write(t, filepath.Join(home, name, "users"), "the user's\n")
	}
	r := serve(t, dir)
	complete(r)
	for _, id := range []string{"first", "other"} {
		e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": id, "mode": "review"})
	}
	run := func(session, command string, rule string) string {
		t.Helper()
		if rule == "" {
			r.Choose("Allow")
		}
		res := r.In(session, "run_command", e2e.Object{"command": command})
		if !res.OK || (res.Decision.Rule == "world.complete") != (rule == "world.complete") {
			t.Fatalf("%s in %s: %+v", command, session, res)
		}
		return res.Content
	}
	const unasked, allowed = "world.complete", ""
	// All sessions have files that a person allowed.
	run("first", "env sh -c 'mkdir -p ~/.cargo/registry && echo downloaded > ~/.cargo/registry/crate; echo downloaded > ~/.cache/go-build/entry'", allowed)

	var plant strings.Builder
	for name, text := range plants {
		plant.WriteString("mkdir -p ~/" + filepath.Dir(name) + " 2>/dev/null && printf '%s\\n' '" + text + "' > ~/" + name + "\n")
	}
	e2e.Write(t, filepath.Join(dir, "plant.sh"), plant.String())
	run("first", ". ./plant.sh; X=variable; export X; f() { echo function; }", unasked)
	look := "grep -rl planted ~ 2>/dev/null | sort; grep -r downloaded ~ | wc -l; cat ~/.cache/go-build/users ~/.npm/_cacache/users"
	e2e.Write(t, filepath.Join(dir, "look.sh"), look)
	// All but the state of the other session, of which it sees nothing.
	if got := run("first", "sh ./look.sh; echo $X; f", unasked); strings.Count(got, home) != len(plants)-1 || !strings.Contains(got, "2\nthe user's\nthe user's\nvariable\nfunction") {
		t.Errorf("the control: the session has %s", got)
	}
	for _, c := range []struct{ session, command, rule string }{{"other", "sh ./look.sh", unasked}, {"other", "env sh ./look.sh", allowed}, {"first", "env sh ./look.sh", allowed}} {
		if got := run(c.session, c.command, c.rule); strings.Contains(got, home) || !strings.Contains(got, "2\nthe user's\nthe user's") {
			t.Errorf("%s in %s has %s", c.command, c.session, got)
		}
	}
	// A session begins with nothing of one before that had its name.
	e2e.Command[any](r, "sidecar.session.close", e2e.Object{"session": "first"})
	e2e.Command[e2e.Object](r, "sidecar.session.open", e2e.Object{"id": "first", "mode": "review"})
	if got := run("first", "sh ./look.sh", unasked); strings.Contains(got, home) {
		t.Errorf("after its end a session left %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, ".sidecar", "cache", "home", ".bashrc")); err == nil {
		t.Error("the project's home has it")
	}
	if asked := r.Asked(); len(asked) != 3 {
		t.Errorf("it asked %q", asked)
	}
}

// TestHomeLinks: links in a session's home lead nothing that is made in it out of it.
func TestHomeLinks(t *testing.T) {
	dir := project(t, e2e.Object{})
	cache := filepath.Join(ownHome(t), ".cache", "go-build")
	e2e.Write(t, filepath.Join(cache, "users"), "the user's\n")
	r := serve(t, dir)
	complete(r)
	for _, command := range []string{
		"mv ~/.cache ~/c; mv ~/.sidecar-shell ~/s; ln -s " + dir + " ~/.cache && ln -s c ~/.sidecar-shell && export X=kept && echo done",
		"rm -rf ~ 2>/dev/null; echo done",
		"mv ~/.config ~/d; ln -s .. ~/go; ln -s . ~/.config && echo done",
	} {
		for _, c := range []string{command, "test ! -e go-build && touch ~/.cache/go-build/y ~/z && echo done"} {
			if res := r.Tool("run_command", e2e.Object{"command": c}); !res.OK || !strings.Contains(res.Content, "done") {
				t.Errorf("%s: %+v", c, res)
			}
		}
	}
	if res := r.Tool("run_command", e2e.Object{"command": "echo $X"}); !strings.Contains(res.Content, "kept") {
		t.Errorf("the state is lost: %+v", res)
	}
	if _, err := os.Stat(filepath.Join(cache, "y")); err == nil {
		t.Error("the user's cache is written")
	}
}
