package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mask"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestSettingsReplaced: settings of a repository that are replaced as git does it
// stay protected, and what is shown of them follows; a command goes on unless it
// may have had a hand in it.
func TestSettingsReplaced(t *testing.T) {
	slow.Test(t)
	show := func(file string) ([]byte, []string) {
		data, _ := os.ReadFile(file)
		text := strings.ReplaceAll(string(data), "hush", "")
		if strings.Contains(text, "decides") {
			return []byte(text), []string{text}
		}
		return []byte(text), nil
	}
	replace := func(t *testing.T, root, name, text string) {
		put(t, filepath.Join(root, ".git/config.lock"), text)
		if err := ownfile.Rename(filepath.Join(root, ".git/config.lock"), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		file string
		lost bool
		do   func(t *testing.T, root string)
	}{
		"often": {".git/config", false, func(t *testing.T, root string) {
			for i := range 30 { // also while it is put back
				replace(t, root, ".git/config", fmt.Sprintf("old hush %d\n", i))
			}
			replace(t, root, ".git/config", "new hush\n")
		}},
		"of the worktree": {".git/config.worktree", false, func(t *testing.T, root string) { replace(t, root, ".git/config.worktree", "new hush\n") }},
		"decides":         {".git/config", true, func(t *testing.T, root string) { replace(t, root, ".git/config", "decides\n") }},
		"open for writing": {".git/config", true, func(t *testing.T, root string) {
			f, err := ownfile.Create(filepath.Join(root, "x"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			if err := ownfile.Rename(filepath.Join(root, "x"), filepath.Join(root, ".git/config")); err != nil {
				t.Fatal(err)
			}
		}},
		"a link": {".git/config", true, func(t *testing.T, root string) {
			if err := ownfile.Symlink("HEAD", filepath.Join(root, "x")); err != nil {
				t.Fatal(err)
			}
			if err := ownfile.Rename(filepath.Join(root, "x"), filepath.Join(root, ".git/config")); err != nil {
				t.Fatal(err)
			}
		}},
		"removed": {".git/config", true, func(t *testing.T, root string) {
			if err := ownfile.Remove(filepath.Join(root, ".git/config")); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			eachLevel(t, []spec.Level{spec.Bubblewrap, spec.Full}, func(t *testing.T, s *Sandbox) {
				spec := masked(t)
				put(t, filepath.Join(spec.Root, ".git/config"), "kept hush\n")
				spec.Settings = show
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // so that a command that is not ended is a failure
				defer cancel()
				script := `cat .git/config; echo ready; until grep -q "new $" ` + c.file + `; do :; done
echo x > .git/mine
for how in "echo x >> F" "rm -f F" "mv .git/mine F" "ln -f .git/mine F" "umount F" "grep hush F"; do
  eval "${how//F/` + c.file + `}" 2>/dev/null && echo "$how"
done
cat ` + c.file
				cmd, err := s.Command(ctx, spec, spec.Root, "bash", "-c", script)
				if err != nil {
					t.Fatal(err)
				}
				out, say := io.Pipe()
				cmd.Stdout, cmd.Stderr = say, say
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				first := make([]byte, len("kept \nready\n"))
				if _, err := io.ReadFull(out, first); err != nil || string(first) != "kept \nready\n" {
					t.Fatalf("%q, %v", first, err)
				}
				var rest bytes.Buffer
				read := make(chan struct{})
				go func() {
					_, _ = rest.ReadFrom(out)
					close(read)
				}()
				c.do(t, spec.Root)
				err = cmd.Wait()
				say.Close()
				<-read
				words := cmd.Words()
				switch {
				case c.lost && (err == nil || !strings.Contains(words, "ended, because another program replaced or removed "+filepath.Join(spec.Root, c.file)+",")):
					t.Errorf("%v; %s", err, words)
				case !c.lost && (err != nil || rest.String() != "new \n" || strings.Contains(words, "ended") || !strings.Contains(words, "replaced "+filepath.Join(spec.Root, c.file)+" meanwhile")):
					t.Errorf("%v; %s; said %q", err, words, rest.String())
				}
				if data, err := os.ReadFile(filepath.Join(spec.Root, c.file)); !c.lost && (err != nil || string(data) != "new hush\n") {
					t.Errorf("%q, %v", data, err)
				}
			})
		})
	}
}

// TestSettingsOfOthers: the secrets of every repository in sight are left out: also of
// submodules, of more repositories than are protected name by name, of that which a
// linked working tree belongs to, and where only reading is.
func TestSettingsOfOthers(t *testing.T) {
	slow.Test(t)
	eachLevel(t, []spec.Level{spec.Bubblewrap, spec.Full}, func(t *testing.T, s *Sandbox) {
		for _, looks := range []bool{false, true} {
			spec := masked(t)
			spec.LookOnly = looks
			spec.Settings = func(file string) ([]byte, []string) {
				data, _ := os.ReadFile(file)
				return bytes.ReplaceAll(data, []byte("hush"), nil), nil
			}
			repository := func(dir, text string) {
				for _, name := range []string{"objects", "refs"} {
					if err := ownfile.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				put(t, filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n")
				put(t, filepath.Join(dir, "config"), text)
			}
			common := filepath.Join(realTemp(t), "common.git")
			repository(common, "common hush\n")
			spec.ReadOnly = append(spec.ReadOnly, common)
			want := []string{filepath.Join(common, "config")}
			for _, name := range []string{".git", ".git/modules/sub", "bare.git"} {
				repository(filepath.Join(spec.Root, name), name+" hush\n")
				if name != ".git" {
					spec.Repositories = append(spec.Repositories, filepath.Join(spec.Root, name))
				}
				want = append(want, filepath.Join(spec.Root, name, "config"))
			}
			for i := range mask.MaxRepositories + 2 {
				dir := filepath.Join(spec.Root, fmt.Sprintf("deep/%d/.git", i))
				repository(dir, "deep hush\n")
				spec.Repositories = append(spec.Repositories, dir)
				want = append(want, filepath.Join(dir, "config"))
			}
			put(t, filepath.Join(spec.Root, "control"), "control hush\n")
			script := `cat control "$@"; rm -f "$@" 2>/dev/null; for f; do (echo x >"$f") 2>/dev/null && echo "wrote $f"; done; :`
			cmd, err := s.Command(t.Context(), spec, spec.Root, append([]string{"sh", "-c", script, "sh"}, want...)...)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil {
				t.Errorf("%v %s", err, cmd.Words())
			}
			if text := out.String(); strings.Count(text, "hush") != 1 || strings.Count(text, "\n") != len(want)+1 {
				t.Errorf("it can only read: %v; it sees %q", looks, text)
			}
		}
	})
}
