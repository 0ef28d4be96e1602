package hooks

import (
	"strings"
	"testing"
)

// TestStricter: what a project no longer names can hold back, and allows nothing. The
// control is the same hook as it is named.
func TestStricter(t *testing.T) {
	allow := `echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'`
	for _, c := range []struct {
		name, command  string
		control, after string
	}{
		{"allows", allow, Allow, ""},
		{"approves", `echo '{"decision": "approve"}'`, Allow, ""},
		{"asks", strings.Replace(allow, `"allow"`, `"ask"`, 1), Ask, Ask},
		{"denies", "exit 2", Deny, Deny},
	} {
		for _, stricter := range []bool{false, true} {
			want := c.control
			if stricter {
				want = c.after
			}
			o := newRig(t, Hook{Event: PreToolUse, Command: c.command, Trusted: true, Stricter: stricter}).run(PreToolUse, "run_command")
			if o.Decision != want {
				t.Errorf("%s, stricter %v: %+v", c.name, stricter, o)
			}
		}
	}
	grant := Hook{Event: PermissionRequest, Command: `echo '{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}'`, Trusted: true}
	if o := newRig(t, grant).run(PermissionRequest, "run_command"); o.Decision != Allow {
		t.Errorf("control: %+v", o)
	}
	grant.Stricter = true
	if o := newRig(t, grant).run(PermissionRequest, "run_command"); o.Decision != "" {
		t.Errorf("it answers in the person's place: %+v", o)
	}
}

// TestProgramChanged: a hook whose program is not as it was trusted is not run; where a
// person can be asked, they are, and what fails closed stays closed.
func TestProgramChanged(t *testing.T) {
	for _, c := range []struct {
		name   string
		event  Event
		closed bool
		want   string
	}{
		{"before a call", PreToolUse, false, Ask},
		{"before a call, failing closed", PreToolUse, true, Deny},
		{"in the person's place", PermissionRequest, false, ""},
		{"in the person's place, failing closed", PermissionRequest, true, Deny},
		{"after a call", PostToolUse, false, ""},
		{"at the end, failing closed", Stop, true, Deny},
	} {
		changed, why := "", "guard.sh is another one"
		h := Hook{Event: c.event, Command: "exit 2", FailClosed: c.closed, Trusted: true, Changed: func(root string) string {
			if root == "" {
				t.Error("it is not said where")
			}
			return changed
		}}
		r := newRig(t, h)
		if o := r.run(c.event, "run_command"); o.Decision != Deny || r.started() == 0 {
			t.Errorf("control: %s: %+v", c.name, o)
		}
		r = newRig(t, h)
		changed = why
		if o := r.run(c.event, "run_command"); o.Decision != c.want || r.started() != 0 || c.want != "" && !strings.Contains(o.Reason, why) {
			t.Errorf("%s: %+v, started %d", c.name, o, r.started())
		}
	}
}

// TestNotStarted: a project's hook whose program the shell can't start holds its call
// for a person, however often; what fails closed stays closed. The controls are a
// program that starts and fails, and a hook of the user's, which may be a mistake.
func TestNotStarted(t *testing.T) {
	for _, c := range []struct {
		name, command string
		event         Event
		closed        bool
		want          string
	}{
		{"missing", "./none.sh", PreToolUse, false, Ask},
		{"missing, failing closed", "./none.sh", PreToolUse, true, Deny},
		{"not executable", ": > g.sh; ./g.sh", PreToolUse, false, Ask},
		{"in the person's place", "./none.sh", PermissionRequest, false, ""},
		{"in the person's place, failing closed", "./none.sh", PermissionRequest, true, Deny},
		{"control: it fails", "exit 1", PreToolUse, false, ""},
		{"control: it holds back", "exit 2", PreToolUse, false, Deny},
	} {
		r := newRig(t, Hook{Event: c.event, Command: c.command, FailClosed: c.closed, Trusted: true, Changed: func(string) string { return "" }})
		for i := range breakerFailures + 2 {
			if o := r.run(c.event, "run_command"); o.Decision != c.want {
				t.Errorf("%s, run %d: %+v", c.name, i, o)
			}
		}
	}
	if o := newRig(t, Hook{Event: PreToolUse, Command: "./none.sh", Trusted: true}).run(PreToolUse, "run_command"); o.Decision != "" {
		t.Errorf("control: the user's: %+v", o)
	}
}
