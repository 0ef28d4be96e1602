package dispatch

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

func nothing(context.Context, *tools.Call, struct{}) (tools.Result, error) {
	return tools.Result{Text: "nothing"}, nil
}

// newFinder makes a rig with a core of two tools, one of them tool_search.
func newFinder(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, "autonomous")
	search, core := def("tool_search"), def("core")
	search.Core, core.Core = true, true
	if err := r.o.Registry.Register(tools.Builtin, tools.NewRead(search, nothing), tools.NewRead(core, nothing)); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) names(t *testing.T, req ListRequest) string {
	t.Helper()
	list, _, err := r.List(req)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(tools.Names(list), " ")
}

func TestWhatIsListed(t *testing.T) {
	const everything = "always core long look outside put sh shell slow tool_search visit wide"
	for name, c := range map[string]struct {
		setting session.Registry
		session session.OpenRequest
		list    ListRequest
		want    string
	}{
		"people see all":                       {list: ListRequest{}, want: everything},
		"models see the core":                  {list: ListRequest{Model: true}, want: "core tool_search"},
		"a selection is what was selected":     {list: ListRequest{Model: true, Filter: tools.Filter{Allow: []string{"look", "put"}}}, want: "look put"},
		"so is a source":                       {list: ListRequest{Model: true, Filter: tools.Filter{Source: tools.SourceBuiltin}}, want: everything},
		"the setting full":                     {setting: session.Full, list: ListRequest{Model: true}, want: everything},
		"the setting lazy":                     {setting: session.Lazy, list: ListRequest{}, want: "core tool_search"},
		"a lazy session":                       {session: session.OpenRequest{Registry: session.Lazy}, want: "core tool_search"},
		"a lazy session's selection":           {session: session.OpenRequest{Registry: session.Lazy}, list: ListRequest{Filter: tools.Filter{Allow: []string{"look", "core"}}}, want: "core"},
		"a full session":                       {setting: session.Lazy, session: session.OpenRequest{Registry: session.Full}, list: ListRequest{Model: true}, want: everything},
		"all of a lazy session":                {session: session.OpenRequest{Registry: session.Lazy}, list: ListRequest{Registry: session.Full}, want: everything},
		"the short list of a full session":     {session: session.OpenRequest{Registry: session.Full}, list: ListRequest{Registry: session.Lazy}, want: "core tool_search"},
		"a session that can search":            {session: session.OpenRequest{Allow: []string{"look", "tool_search"}}, list: ListRequest{Model: true}, want: "tool_search"},
		"one that can't has all that it may":   {session: session.OpenRequest{Allow: []string{"look", "put"}}, list: ListRequest{Model: true}, want: "look put"},
		"a lazy one that can't has it as well": {session: session.OpenRequest{Allow: []string{"look"}, Registry: session.Lazy}, want: "look"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFinder(t)
			r.settings.Registry = c.setting
			s, err := r.sessions.Open(c.session)
			if err != nil {
				t.Fatal(err)
			}
			c.list.Session = s.ID
			if got := r.names(t, c.list); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestActivation(t *testing.T) {
	r := newFinder(t)
	changed := make(chan events.Event, 8)
	defer r.bus.Subscribe(func(e events.Event) {
		if e.Type == events.ToolsChanged {
			changed <- e
		}
	})()
	model := ListRequest{Model: true}
	if tool, err := r.Activate("", "functions.look"); err != nil || tool.Name != "look" {
		t.Fatalf("%v, %v", tool, err)
	}
	if e := <-changed; e.Session != session.Default || !slices.Equal(e.Activated, []string{"look"}) {
		t.Errorf("event %+v", e)
	}
	r.call(t, "put", `{"path":"a.txt","text":"x"}`)
	if e := <-changed; !slices.Equal(e.Activated, []string{"look", "put"}) {
		t.Errorf("event %+v", e)
	}
	for range 2 { // what is there already changes nothing
		r.call(t, "core", `{}`)
		r.call(t, "look", `{"path":"a.txt"}`)
		if _, err := r.Activate("", "put"); err != nil {
			t.Error(err)
		}
	}
	if got := r.names(t, model); got != "core look put tool_search" {
		t.Errorf("listed %s", got)
	}
	other, err := r.sessions.Open(session.OpenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.names(t, ListRequest{Session: other.ID, Model: true}); got != "core tool_search" {
		t.Errorf("another session's list has %s", got)
	}
	if len(changed) > 0 {
		t.Errorf("event %+v", <-changed)
	}
}

// TestFamilies: a tool that is listed for its family is activated by no call, so that no client
// lists again; one of another family is.
func TestFamilies(t *testing.T) {
	r := newFinder(t)
	for _, c := range []struct {
		families []string
		want     int
	}{{[]string{"test"}, 0}, {[]string{session.EveryFamily}, 0}, {nil, 0}, {[]string{"core"}, 1}} { // the rig's settings say all
		s, err := r.sessions.Open(session.OpenRequest{})
		if err != nil {
			t.Fatal(err)
		}
		s.ListOnly(c.families)
		if res, err := r.Call(t.Context(), Request{Session: s.ID, Name: "look", Arguments: []byte(`{"path":"a.txt"}`)}); err != nil || !res.OK {
			t.Fatalf("%v, %+v", err, res)
		}
		if len(s.Active()) != c.want {
			t.Errorf("%q: active are %v", c.families, s.Active())
		}
		if got := r.names(t, ListRequest{Session: s.ID, Model: true}); !strings.Contains(got, "look") {
			t.Errorf("%q: listed %s", c.families, got)
		}
	}
}

// A call with bad arguments of a tool that the model was not shown comes back
// with what it needs for the next try; one that it was shown does not.
func TestUnseenToolExplainsItself(t *testing.T) {
	r := newFinder(t)
	if res := r.call(t, "look", `{}`); code(res) != tools.InvalidArguments || !strings.Contains(res.Content, `"properties":{"path"`) {
		t.Errorf("%q, %s", code(res), res.Content)
	}
	if res := r.call(t, "look", `{}`); code(res) != tools.InvalidArguments || strings.Contains(res.Content, `"properties"`) {
		t.Errorf("%q, %s", code(res), res.Content)
	}
}

func TestWhatIsNotOffered(t *testing.T) {
	r := newFinder(t)
	r.settings.Permissions = map[string]policy.Outcome{"look": policy.Deny}
	s, err := r.sessions.Open(session.OpenRequest{Allow: []string{"look", "put", "tool_search"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		session, name string
		want          tools.Code
	}{
		{s.ID, "put", ""},
		{s.ID, "look", tools.Denied}, // the settings deny it
		{s.ID, "sh", tools.Denied},   // the session may not use it
		{"", "sh", ""},
		{"", "nothing_like_it", tools.UnknownTool},
	} {
		_, err := r.Activate(c.session, c.name)
		if err == nil != (c.want == "") || err != nil && tools.AsError(err).Code != c.want {
			t.Errorf("%s in %q: %v, want %q", c.name, c.session, err, c.want)
		}
		if found, err := r.Search(c.session, c.name); err != nil || (len(found) > 0) != (c.want == "") {
			t.Errorf("searched for %s in %q: %v, %v", c.name, c.session, found, err)
		}
	}
	// A call is denied, and neither changes the list.
	for _, name := range []string{"look", "sh"} {
		res, _ := r.Call(t.Context(), Request{Name: name, Session: s.ID, Arguments: []byte(`{"path":"a.txt"}`)})
		if code(res) != tools.Denied {
			t.Errorf("%s: %q", name, code(res))
		}
	}
	if got := r.names(t, ListRequest{Session: s.ID, Model: true}); got != "put tool_search" {
		t.Errorf("listed %s", got)
	}
	if got := r.names(t, ListRequest{Session: s.ID, Model: true, Registry: session.Full}); got != "put tool_search" {
		t.Errorf("all for a model: %s", got)
	}
	if got := r.names(t, ListRequest{Session: s.ID}); got != "look put tool_search" {
		t.Errorf("all for people: %s", got)
	}
}

// What a result names comes into the list of the model that reads it, if the tool may name
// it and the session may call it.
func TestNamedIsListed(t *testing.T) {
	for name, test := range map[string]struct {
		names []string
		allow []string
		deny  string
		says  string
		want  string
	}{
		"named":         {[]string{"look", "put"}, nil, "", "look reads it", "core hint look tool_search"},
		"not named":     {[]string{"look"}, nil, "", "nothing", "core hint tool_search"},
		"named by text": {nil, nil, "", "look reads it", "core hint tool_search"},
		"not allowed":   {[]string{"look"}, []string{"core", "hint", "tool_search"}, "", "look reads it", "core hint tool_search"},
		"denied":        {[]string{"look"}, nil, "look", "look reads it", "core hint tool_search"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFinder(t)
			hint := def("hint")
			hint.Core, hint.Names = true, test.names
			if err := r.o.Registry.Register(tools.Builtin, tools.NewRead(hint, func(context.Context, *tools.Call, struct{}) (tools.Result, error) {
				return tools.Result{Text: test.says}, nil
			})); err != nil {
				t.Fatal(err)
			}
			if test.deny != "" {
				r.settings.Permissions = map[string]policy.Outcome{test.deny: policy.Deny}
			}
			s, err := r.sessions.Open(session.OpenRequest{Allow: test.allow})
			if err != nil {
				t.Fatal(err)
			}
			if res, err := r.Call(t.Context(), Request{Name: "hint", Session: s.ID}); err != nil || !res.OK {
				t.Fatalf("%+v, %v", res, err)
			}
			if got := r.names(t, ListRequest{Session: s.ID, Model: true}); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

type teamOf bool

func (able teamOf) Offers(_, tool string) bool { return bool(able) && tool == "team_work" }

// A tool that lacks what it needs is not offered to models; people see it.
func TestOffers(t *testing.T) {
	r := newFinder(t)
	team := def("team_work")
	team.Core, team.Category = true, "agents"
	if err := r.o.Registry.Register(tools.Builtin, tools.NewRead(team, nothing)); err != nil {
		t.Fatal(err)
	}
	for able, want := range map[bool]string{true: "core team_work tool_search", false: "core tool_search"} {
		r.o.Team = teamOf(able)
		if got := r.names(t, ListRequest{Model: true}); got != want {
			t.Errorf("able %v: %s", able, got)
		}
		if got := r.names(t, ListRequest{}); !strings.Contains(got, "team_work") {
			t.Errorf("people see %s", got)
		}
	}
}
