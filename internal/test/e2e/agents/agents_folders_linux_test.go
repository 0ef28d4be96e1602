package agents_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// foldersRig is a project with a second folder beside it, web, for a user who has the
// scripted agent.
func foldersRig(t *testing.T) (r *e2e.Rig, web string) {
	t.Helper()
	top := e2e.AgentProject(t, map[string]string{"api/a.txt": "of api\n", "web/a.txt": "of web\n", "out/a.txt": "outside\n"})
	web = filepath.Join(top, "web")
	r = e2e.WorldIn(t, filepath.Join(top, "api"))
	r.Folders([]string{web}, nil)
	e2e.Until(t, "the second folder never was there", func() bool {
		return r.Tool("read_file", e2e.Object{"path": "web/a.txt"}).OK
	})
	return r, web
}

// TestAgentInFolders: an agent reads, writes, runs and asks in each folder of the workspace,
// by names that begin with the folder's, and in nothing beside them.
func TestAgentInFolders(t *testing.T) {
	t.Setenv("ACPAGENT_FOLDERS", "1")
	r, web := foldersRig(t)
	c := r.Agent(strings.Join([]string{
		"folders",
		"fsread ../web/a.txt",
		"fsread ../out/a.txt",
		`fswrite ../web/by-us.txt by us\n`,
		`fswrite by-us.txt by us\n`,
		`fswrite ../out/by-us.txt x`,
		"run cat ../web/by-us.txt; echo own > ../web/own.txt; echo own > own.txt",
		"termin ../web cat own.txt; pwd",
		"termin ../out true",
		"permit edit ../web/a.txt",
		"permit edit ../out/a.txt",
	}, "\n"), nil)
	reason, why, said := c.Stopped(1)
	if reason != told.Done || why != "" {
		t.Errorf("it ended by %s: %s", reason, why)
	}
	at := 0
	for _, want := range []string{
		fmt.Sprintf("%q\n", []string{web}), "of web\n", "outside of the workspace", "written\n", "written\n", "outside of the workspace", "by us\n",
		"own\n" + web + "\n(exit code 0)", "outside of the workspace", "permitted: yes\npermitted: no\n",
	} {
		i := strings.Index(said[at:], want)
		if i < 0 {
			t.Fatalf("%q does not come in %q", want, said[at:])
		}
		at += i + len(want)
	}
	r.IsQueued("api/by-us.txt", "api/own.txt", "web/by-us.txt", "web/own.txt")
}

// TestAgentIsTold: an agent that offers no more directories reads of them when it is first
// spoken to, and one alone in a shadow of its folder is not.
func TestAgentIsTold(t *testing.T) {
	r, web := foldersRig(t)
	note := "heard: The workspace has these folders, too, in which you may read and change files: " + web
	c := r.Agent("folders", nil)
	if _, why, said := c.Stopped(1); why != "" || !strings.Contains(said, note) || !strings.Contains(said, "[]\n") {
		t.Errorf("it ended by %q and said %q", why, said)
	}
	c.Tell("folders", nil)
	if _, _, said := c.Stopped(2); strings.Count(said, note) != 1 {
		t.Errorf("it gets the folders twice: %q", said)
	}
	e2e.Committed(t, r.Dir)
	e2e.Command[e2e.Object](r, "sidecar.shadow.create", e2e.Object{"id": "try"})
	c = r.Agent("folders\nfsread a.txt\nfsread ../web/a.txt", e2e.Object{"shadow": "try"})
	if _, why, said := c.Stopped(1); why != "" || strings.Contains(said, "heard: ") || !strings.Contains(said, "of api\n") || !strings.Contains(said, "outside of the workspace") {
		t.Errorf("in a shadow it ended by %q and said %q", why, said)
	}
}
