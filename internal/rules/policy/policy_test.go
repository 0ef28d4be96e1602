package policy

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

var update = flag.Bool("update", false, "rewrite testdata")

// section is one part of the matrix: a change to plain facts, in words.
type section struct {
	title string
	text  string
	cases []circumstance
}

type circumstance struct {
	name string
	set  func(*Facts)
}

var sections = []section{
	{"Plain calls", "Nothing is known but the mode and what the tool does. The workspace is trusted.", []circumstance{
		{"trusted", func(*Facts) {}},
	}},
	{"Paths", "Some paths are written by nobody, some only after a question; reading them is a read like any other.", []circumstance{
		{"never written", func(f *Facts) { f.Never = true }},
		{"never written, allowed by the settings", func(f *Facts) { f.Never, f.Permission = true, Allow }},
		{"protected", func(f *Facts) { f.Protected = true }},
		{"protected, allowed by the settings", func(f *Facts) { f.Protected, f.Permission = true, Allow }},
		{"protected, allowed for the session", func(f *Facts) { f.Protected, f.AllowedBefore = true, true }},
	}},
	{"What the settings say", "A deny holds in every mode, and over everything that would ask.", []circumstance{
		{"deny", func(f *Facts) { f.Permission = Deny }},
		{"deny, and the mode allows", func(f *Facts) { f.Permission, f.ModePermission = Deny, Allow }},
		{"deny, and the tool always asks", func(f *Facts) { f.Permission, f.AlwaysAsk = Deny, true }},
		{"deny, allowed for the session", func(f *Facts) { f.Permission, f.AllowedBefore = Deny, true }},
		{"ask", func(f *Facts) { f.Permission = Ask }},
		{"ask, allowed for the session", func(f *Facts) { f.Permission, f.AllowedBefore = Ask, true }},
		{"allow", func(f *Facts) { f.Permission = Allow }},
	}},
	{"What the mode itself says", "A custom mode's own entry comes before that of the settings, but allows nothing that they deny.", []circumstance{
		{"deny", func(f *Facts) { f.ModePermission = Deny }},
		{"deny, and the settings allow", func(f *Facts) { f.ModePermission, f.Permission = Deny, Allow }},
		{"ask, and the settings allow", func(f *Facts) { f.ModePermission, f.Permission = Ask, Allow }},
		{"allow, and the settings ask", func(f *Facts) { f.ModePermission, f.Permission = Allow, Ask }},
	}},
	{"A step that has to be declared", "Where the user wants each change to be part of a step, and none is open, nothing that a person could have allowed helps. What a program wrote that was allowed to run stays.", []circumstance{
		{"no step", func(f *Facts) { f.NoStep = true }},
		{"no step, allowed by the settings", func(f *Facts) { f.NoStep, f.Permission = true, Allow }},
		{"no step, allowed for the session", func(f *Facts) { f.NoStep, f.AllowedBefore = true, true }},
		{"no step, an edit that a command wrote", func(f *Facts) { f.NoStep, f.Written = true, f.Access == "edit" }},
	}},
	{"What always asks", "No mode, setting or earlier answer takes this question away.", []circumstance{
		{"tool", func(f *Facts) { f.AlwaysAsk = true }},
		{"tool, allowed by the settings", func(f *Facts) { f.AlwaysAsk, f.Permission = true, Allow }},
		{"tool, allowed by the mode", func(f *Facts) { f.AlwaysAsk, f.ModePermission = true, Allow }},
		{"tool, allowed for the session", func(f *Facts) { f.AlwaysAsk, f.AllowedBefore = true, true }},
		{"can't be undone", func(f *Facts) { f.Irrecoverable = true }},
		{"can't be undone, allowed by the settings", func(f *Facts) { f.Irrecoverable, f.Permission = true, Allow }},
		{"can't be undone, allowed for the session", func(f *Facts) { f.Irrecoverable, f.AllowedBefore = true, true }},
	}},
	{"Command lines", "What the rules say about the commands of a line; a line that only looks is a read.", []circumstance{
		{"a command is denied", func(f *Facts) { f.Command = Deny }},
		{"a command is denied, and the settings allow the tool", func(f *Facts) { f.Command, f.Permission = Deny, Allow }},
		{"a command asks, and the settings allow the tool", func(f *Facts) { f.Command, f.Permission = Ask, Allow }},
		{"a command asks, allowed for the session", func(f *Facts) { f.Command, f.AllowedBefore = Ask, true }},
		{"every command is allowed", func(f *Facts) { f.Command = Allow }},
		{"every command is allowed, and the settings ask about the tool", func(f *Facts) { f.Command, f.Permission = Allow, Ask }},
		{"every command is allowed, one can't be undone", func(f *Facts) { f.Command, f.Irrecoverable = Allow, true }},
	}},
	{"Hooks", "A hook of the user's makes it stricter; its allow saves the question of the mode and of a new host, and nothing else.", []circumstance{
		{"a hook denies", func(f *Facts) { f.Hook = Deny }},
		{"a hook denies, and the settings allow the tool", func(f *Facts) { f.Hook, f.Permission = Deny, Allow }},
		{"a hook asks, and the settings allow the tool", func(f *Facts) { f.Hook, f.Permission = Ask, Allow }},
		{"a hook asks, allowed for the session", func(f *Facts) { f.Hook, f.AllowedBefore = Ask, true }},
		{"a hook allows", func(f *Facts) { f.Hook = Allow }},
		{"a hook allows, and the settings deny the tool", func(f *Facts) { f.Hook, f.Permission = Allow, Deny }},
		{"a hook allows, and the settings ask about the tool", func(f *Facts) { f.Hook, f.Permission = Allow, Ask }},
		{"a hook allows what can't be undone", func(f *Facts) { f.Hook, f.Irrecoverable = Allow, true }},
		{"a hook allows a tool that always asks", func(f *Facts) { f.Hook, f.AlwaysAsk = Allow, true }},
		{"a hook allows a protected file", func(f *Facts) { f.Hook, f.Protected = Allow, true }},
	}},
	{"What an agent does itself", "What it would write past the review, and what is not known here, is asked about whatever else allows it.", []circumstance{
		{"its own tool", func(f *Facts) { f.OwnTool = "it would write this itself" }},
		{"its own tool, allowed by the settings", func(f *Facts) { f.OwnTool, f.Permission = "it would write this itself", Allow }},
		{"its own tool, allowed for the session", func(f *Facts) { f.OwnTool, f.AllowedBefore = "it would write this itself", true }},
		{"its own tool, denied", func(f *Facts) { f.OwnTool, f.Permission = "it would write this itself", Deny }},
	}},
	{"A sandbox that holds only a part", "Where commands are not fully confined, every one that does more than look is asked about, in all modes, unless the user's own rule or earlier answer allows it.", []circumstance{
		{"not fully confined", func(f *Facts) { f.Unconfined = "sandbox: none" }},
		{"not fully confined, every command is allowed", func(f *Facts) { f.Unconfined, f.Command = "sandbox: none", Allow }},
		{"not fully confined, allowed by the settings", func(f *Facts) { f.Unconfined, f.Permission = "sandbox: none", Allow }},
		{"not fully confined, allowed for the session", func(f *Facts) { f.Unconfined, f.AllowedBefore = "sandbox: none", true }},
		{"not fully confined, a command is denied", func(f *Facts) { f.Unconfined, f.Command = "sandbox: none", Deny }},
	}},
	{"A complete world", "Where nothing leaves the world of a session without a decision, review and audit let commands run. What a person said beforehand is heard first.", []circumstance{
		{"in a complete world", func(f *Facts) { f.Inside = true }},
		{"in a complete world, the settings ask about the tool", func(f *Facts) { f.Inside, f.Permission = true, Ask }},
		{"in a complete world, a rule asks", func(f *Facts) { f.Inside, f.Command = true, Ask }},
		{"in a complete world, a rule denies", func(f *Facts) { f.Inside, f.Command = true, Deny }},
		{"in a complete world, a hook asks", func(f *Facts) { f.Inside, f.Hook = true, Ask }},
		{"in a complete world, no step is open", func(f *Facts) { f.Inside, f.NoStep = true, true }},
		{"in a complete world, not trusted", func(f *Facts) { f.Inside, f.Trusted = true, false }},
	}},
	{"Allowed for the session", "A person's earlier answer takes away the mode's question.", []circumstance{
		{"allowed for the session", func(f *Facts) { f.AllowedBefore = true }},
	}},
	{"A web server", "One that the call chose and nobody has allowed in this session. Once allowed it is not new any more, and the mode decides about the tool.", []circumstance{
		{"new", func(f *Facts) { f.NewHosts = "example.com" }},
		{"new, allowed by the settings", func(f *Facts) { f.NewHosts, f.Permission = "example.com", Allow }},
		{"new, denied", func(f *Facts) { f.NewHosts, f.Permission = "example.com", Deny }},
	}},
	{"A commit that can wait", "A mode whose edits are accepted as a batch queues commits, which run after that; in the others they are execs like any other.", []circumstance{
		{"a queued commit", func(f *Facts) { f.Queued = f.Access == "exec" && f.Behaviour.Name == "audit" }},
		{"an edit that a command wrote", func(f *Facts) { f.Written = f.Access == "edit" }},
		{"an edit that a command wrote, of a protected file", func(f *Facts) { f.Written, f.Protected = f.Access == "edit", true }},
		{"a queued commit, denied", func(f *Facts) { f.Queued, f.Permission = f.Access == "exec" && f.Behaviour.Name == "audit", Deny }},
		{"a queued commit, not trusted", func(f *Facts) { f.Queued, f.Trusted = f.Access == "exec" && f.Behaviour.Name == "audit", false }},
	}},
	{"A workspace that is not trusted", "Tools only read in it, whatever else the settings or a person allowed.", []circumstance{
		{"locked, allowed by the settings", func(f *Facts) {
			f.Permission, f.AllowedBefore = Allow, true
			f.Locked = map[bool]string{true: "the machine's settings"}[f.Access != "read"]
		}},
		{"not trusted", func(f *Facts) { f.Trusted = false }},
		{"not trusted, allowed by the settings", func(f *Facts) { f.Trusted, f.Permission = false, Allow }},
		{"not trusted, allowed for the session", func(f *Facts) { f.Trusted, f.AllowedBefore = false, true }},
	}},
}

// rows are the modes of the matrix: the built-in ones, then custom ones.
func rows(t *testing.T) []Mode {
	modes := Modes()
	for _, c := range []Custom{
		{Name: "custom manual to review", Base: "manual", Destination: "review"},
		{Name: "custom autonomous to review", Base: "autonomous", Destination: "review"},
	} {
		m, err := c.Mode()
		if err != nil {
			t.Fatal(err)
		}
		modes = append(modes, m)
	}
	return append(modes, Mode{Name: "an unknown mode"})
}

func matrix(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# When a call is allowed, asked about, or denied\n\n" +
		"The first rule that speaks decides. In this order:\n\n")
	for i, r := range rules {
		fmt.Fprintf(&b, "%3d. %-22s %s\n", i+1, r.name, r.outcome)
	}
	fmt.Fprintf(&b, "%3d. %-22s %s\n", len(rules)+1, "mode.<mode>.<access>", "as the mode says")
	b.WriteString("\nAn asterisk marks a question whose answer may hold for the session.\n" +
		"\n## Modes\nWhat tools see, where their changes go, and what is asked.\n\n")
	table(&b, func(w *tabwriter.Writer) {
		fmt.Fprintln(w, "mode\ttools see\tchanges go to\thelp")
		for _, m := range Modes() {
			see, to := "buffers", "editor"
			if m.SeesPending {
				see = "pending over buffers"
			}
			if m.ToStore {
				to = "review queue"
			}
			if m.Batch {
				to += ", as a batch"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.Name, see, to, m.Help)
		}
	})
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n%s\n", s.title, s.text)
		b.WriteString("\n")
		table(&b, func(w *tabwriter.Writer) {
			fmt.Fprintln(w, "when\tmode\treads\tedits\texecs")
			for _, c := range s.cases {
				for _, line := range lines(t, c) {
					fmt.Fprintf(w, "%s\t%s\n", c.name, line)
				}
			}
		})
	}
	return b.String()
}

// lines are the outcomes of one circumstance; modes that do the same share a line.
func lines(t *testing.T, c circumstance) []string {
	var order []string
	modes := map[string][]string{}
	all := rows(t)
	for _, m := range all {
		key := cell(m, "read", c) + "\t" + cell(m, "edit", c) + "\t" + cell(m, "exec", c)
		if modes[key] == nil {
			order = append(order, key)
		}
		modes[key] = append(modes[key], m.Name)
	}
	for i, key := range order {
		names := strings.Join(modes[key], ", ")
		switch len(all) - len(modes[key]) {
		case 0:
			names = "every mode"
		case 1:
			names = "every other mode"
		}
		order[i] = names + "\t" + key
	}
	return order
}

func cell(m Mode, access string, c circumstance) string {
	f := Facts{Tool: "a_tool", Access: access, ToStore: m.ToStore && access == "edit", Behaviour: m.Behaviour, Trusted: true}
	c.set(&f)
	v := Decide(f)
	star := ""
	if v.Remember {
		star = "*"
	}
	rule := v.Rule
	if strings.HasPrefix(rule, "mode.") {
		rule = "mode" // its name is that of the row and the column
	}
	return fmt.Sprintf("%s%s (%s)", v.Outcome, star, rule)
}

func table(b *strings.Builder, fill func(*tabwriter.Writer)) {
	var buf bytes.Buffer
	w := tabwriter.NewWriter(&buf, 0, 0, 3, ' ', 0)
	fill(w)
	w.Flush()
	for line := range strings.Lines(buf.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

func TestMatrix(t *testing.T) {
	const name = "testdata/matrix.txt"
	got := matrix(t)
	if *update {
		if err := ownfile.Update(name, []byte(got)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the matrix changed; review it and run go test -update (-want +got):\n%s", diff)
	}
}

// Whatever the other facts are, these hold.
func TestInvariants(t *testing.T) {
	outcomes := []Outcome{"", Allow, Ask, Deny}
	bools := []bool{false, true}
	seen := map[string]bool{}
	for _, m := range rows(t) {
		leaves := Decide(Facts{Tool: "a_tool", Access: "read", Behaviour: m.Behaviour, Trusted: true, Leaves: true})
		if seen[leaves.Rule] = true; leaves.Outcome != Ask || !leaves.Person || !leaves.Remember {
			t.Errorf("%s: a command that wants another host: %+v", m.Name, leaves)
		}
		for _, access := range []string{"read", "edit", "exec", "something new"} {
			for _, perm := range outcomes {
				for k, own := range slices.Concat(outcomes, outcomes[1:], outcomes[1:]) {
					command, hook := Outcome(""), Outcome("")
					switch { // by itself: two together are too many
					case k >= 2*len(outcomes)-1:
						own, hook = "", own
					case k >= len(outcomes):
						own, command = "", own
					}
					for bits := range 1 << 14 {
						bit := func(i int) bool { return bools[bits>>i&1] }
						if (bit(11) || bit(12)) && perm != Allow || bit(11) && bit(12) || bit(13) && (bit(5) || bit(7) || bit(8) || bit(10)) { // what it is together with is the same for all of them
							continue
						}
						f := Facts{
							Tool: "a_tool", Access: access, Permission: perm, ModePermission: own, Behaviour: m.Behaviour,
							AlwaysAsk: bit(0), Irrecoverable: bit(1), Never: bit(2), Protected: bit(3), ToStore: bit(4),
							AllowedBefore: bit(5), Trusted: bit(6), Queued: bit(7), Written: bit(10), NoStep: bit(11),
							Command: command, CommandReason: "because", Hook: hook, HookReason: "because", NewHosts: map[bool]string{true: "example.com"}[bit(8)],
							Unconfined: map[bool]string{true: "sandbox: none"}[bit(9)], OwnTool: map[bool]string{true: "it does this itself"}[bit(12)], Inside: bit(13),
						}
						v := Decide(f)
						seen[v.Rule] = true
						if bits%61 == 0 { // whatever else is so
							f := f
							f.Locked = "the machine's settings can't be followed"
							if v := Decide(f); v.Outcome != Deny || v.Rule != "machine.locked" || v.Reason != f.Locked {
								t.Fatalf("locked: %+v", v)
							} else {
								seen[v.Rule] = true
							}
						}
						if msg := broken(f, v); msg != "" {
							t.Fatalf("%s\nfacts   %+v\nverdict %+v", msg, f, v)
						}
					}
				}
			}
		}
	}
	for _, r := range rules {
		if !seen[r.name] {
			t.Errorf("rule %s decides nothing", r.name)
		}
	}
}

func broken(f Facts, v Verdict) string {
	writes := f.Access != "read"
	row := f.Behaviour.Execs
	switch f.Access {
	case "read":
		row = f.Behaviour.Reads
	case "edit":
		row = f.Behaviour.Edits
	}
	denied := row == Deny || f.Permission == Deny || f.ModePermission == Deny || f.Command == Deny || f.Hook == Deny || f.NoStep && !f.Written && writes
	asks := f.AlwaysAsk || f.Irrecoverable || f.Command == Ask || f.Protected && writes || f.Hook == Ask && !f.Written || f.OwnTool != ""
	switch {
	case v.Outcome != Allow && v.Outcome != Ask && v.Outcome != Deny:
		return "no outcome"
	case v.Rule == "" || v.Reason == "" || v.By == "":
		return "no reason"
	case (denied || (f.Never || !f.Trusted) && writes) != (v.Outcome == Deny):
		return "denied, or not, against what was said"
	case asks && v.Outcome == Allow:
		return "allowed what always asks"
	case asks && v.Remember:
		return "an answer for the session to what always asks"
	case v.Remember && v.Outcome != Ask:
		return "nothing to remember"
	case v.Outcome == Ask && v.Remember:
		f.AllowedBefore = true
		if Decide(f).Outcome != Allow {
			return "the answer for the session does not count"
		}
	case v.Rule == WorldComplete && (f.Access == "edit" || f.Permission == Ask || f.ModePermission == Ask || f.Behaviour.Inside != Allow):
		return "something runs unasked against what was said"
	case v.Outcome == Allow && f.Unconfined != "" && !f.Queued && writes && f.Access != "edit" && v.By == ByMode:
		return "a mode lets something run that is not confined"
	}
	return ""
}

func TestCustom(t *testing.T) {
	for _, c := range []struct {
		name   string
		custom Custom
		want   Mode
		err    string
	}{
		{
			name:   "all left out is cautious and to the editor",
			custom: Custom{Name: "mine"},
			want:   Mode{Name: "mine", Behaviour: Behaviour{Name: "mine", Reads: Allow, Edits: Ask, Execs: Ask, NewHosts: Ask}},
		},
		{
			name: "everything said",
			custom: Custom{Name: "docs", Description: "Writes documents.", Base: "manual", Destination: "review",
				Permissions: map[string]Outcome{"run_command": Deny}},
			want: Mode{Name: "docs", Help: "Writes documents.", SeesPending: true, ToStore: true,
				Behaviour:   Behaviour{Name: "docs", Reads: Ask, Edits: Ask, Execs: Ask, NewHosts: Ask},
				Permissions: map[string]Outcome{"run_command": Deny}},
		},
		{name: "no name", custom: Custom{Base: "manual"}, err: "a custom mode needs a name"},
		{name: "a built-in name", custom: Custom{Name: "cautious"}, err: "custom mode cautious: the name is that of a built-in mode"},
		{name: "a base that is no base", custom: Custom{Name: "m", Base: "yolo"}, err: `custom mode m: the base must be autonomous, cautious or manual, not "yolo"`},
		{name: "plan reads", custom: Custom{Name: "m", Base: "plan"}, err: `custom mode m: the base must be autonomous, cautious or manual, not "plan"`},
		{name: "review is a destination", custom: Custom{Name: "m", Base: "review"}, err: `custom mode m: the base must be autonomous, cautious or manual, not "review"`},
		{name: "a destination that is none", custom: Custom{Name: "m", Destination: "disk"}, err: `custom mode m: the destination must be editor or review, not "disk"`},
		{name: "a permission that is none", custom: Custom{Name: "m", Permissions: map[string]Outcome{"grep": "yes"}}, err: `custom mode m: grep must be allow, ask or deny, not "yes"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.custom.Mode()
			if msg := fmt.Sprint(err); err != nil && msg != c.err || err == nil && c.err != "" {
				t.Fatalf("got error %v, want %q", err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	for _, m := range Modes() {
		got, ok := Lookup(m.Name)
		if !ok || got.Name != m.Name || m.Behaviour.Name != m.Name {
			t.Errorf("%s: got %v, %v", m.Name, got, ok)
		}
	}
	if _, ok := Lookup("Cautious"); ok {
		t.Error("found a mode by a name in another case")
	}
	if _, ok := Lookup(DefaultMode); !ok {
		t.Error("the default mode is not there")
	}
}

func BenchmarkDecide(b *testing.B) {
	m, _ := Lookup("cautious")
	f := Facts{Tool: "edit_file", Access: "edit", Behaviour: m.Behaviour, Trusted: true}
	b.ReportAllocs()
	for b.Loop() {
		Decide(f)
	}
}

// TestAdvice: each built-in mode says what it asks of our own agent.
func TestAdvice(t *testing.T) {
	says := map[string]string{
		"review": "on the user's disk yet", "audit": "together or not at all", "cautious": "takes the user's time",
		"manual": "takes the user's time", "autonomous": "written at once", "plan": "part of the files",
	}
	for _, m := range Modes() {
		if want := says[m.Name]; want == "" || !strings.Contains(m.Advice, want) {
			t.Errorf("%s does not say %q: %s", m.Name, want, m.Advice)
		}
	}
}
