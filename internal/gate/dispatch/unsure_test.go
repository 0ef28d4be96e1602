package dispatch

import (
	"context"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestUnsure: the edit of who need not be the person is made in no mode. Where edits are
// denied it is denied, and else it waits. The person's own is the control.
func TestUnsure(t *testing.T) {
	edit := tools.NewReadEdit(def("own"), func(_ context.Context, c *tools.Call, _ struct{}) (tools.Result, []workspace.Change, error) {
		before, err := c.Files.ReadFile("a.txt")
		return tools.Result{}, []workspace.Change{{Path: "a.txt", Before: before, After: []byte("two\n")}}, err
	})
	for mode, want := range map[string]string{
		"autonomous": "pending", "cautious": "pending", "manual": "pending", "review": "pending", "audit": "pending", "plan": "", "loose": "pending", "kept": "pending",
	} {
		r := newRig(t, mode)
		r.person.answer = says(Answer{Allow: true})
		r.settings.Modes = map[string]policy.Mode{}
		for _, c := range []policy.Custom{
			{Name: "loose", Base: "autonomous", Permissions: map[string]policy.Outcome{"own": policy.Allow}},
			{Name: "kept", Base: "autonomous", Destination: "review"},
		} {
			m, err := c.Mode()
			if err != nil {
				t.Fatal(err)
			}
			r.settings.Modes[c.Name] = m
		}
		res, err := r.CallUnsure(t.Context(), edit, "default")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if res.OK {
			got = res.Changes[0].State
		}
		if got != want || r.live.files["a.txt"] != "one\n" {
			t.Errorf("%s: %q, want %q; the disk has %q: %s", mode, got, want, r.live.files["a.txt"], res.Content)
		}
		if len(r.person.asked) > 0 {
			t.Errorf("%s: somebody is asked", mode)
		}
		if mode != "autonomous" && mode != "loose" {
			continue
		}
		if res, err := r.CallOwn(t.Context(), edit, "default", ""); err != nil || !res.OK || r.live.files["a.txt"] != "two\n" {
			t.Errorf("%s, the control: %v, %+v", mode, err, res)
		}
	}
}
