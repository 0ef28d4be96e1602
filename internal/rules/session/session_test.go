package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var errNoShadow = errors.New("no such shadow")

// settings are those of a test; what is nil says nothing.
type settings struct {
	mode   func() string
	budget func() Budget
	known  map[string]bool // nil: every name is a mode
	floor  Floor
}

func (s settings) Floor() Floor { return s.floor }

func (s settings) DefaultMode() string {
	if s.mode == nil {
		return ""
	}
	return s.mode()
}

func (s settings) ValidMode(name string) bool { return s.known == nil || s.known[name] }

func (s settings) Budget() Budget {
	if s.budget == nil {
		return Budget{}
	}
	return s.budget()
}

// store returns a store as the server makes it, and the setting it follows.
func store() (*Store, *atomic.Value) {
	var setting atomic.Value
	setting.Store("cautious")
	known := map[string]bool{"cautious": true, "manual": true, "autonomous": true, "docs": true}
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return NewStore(Options{
		Settings: settings{mode: func() string { return setting.Load().(string) }, known: known},
		Root: func(shadow string) (string, error) {
			switch shadow {
			case "":
				return "/main", nil
			case "one":
				return "/shadows/one", nil
			}
			return "", errNoShadow
		},
		Now: func() time.Time { return clock },
	}), &setting
}

func mustOpen(t *testing.T, st *Store, r OpenRequest) *Session {
	t.Helper()
	s, err := st.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOpen(t *testing.T) {
	long := strings.Repeat("x", maxID)
	for _, c := range []struct {
		name string
		req  OpenRequest
		err  error
		text string // part of the error
	}{
		{name: "nothing asked for", req: OpenRequest{}},
		{name: "everything asked for", req: OpenRequest{ID: "a-1_b.C", Mode: "manual", Shadow: "one", Allow: []string{"grep"}, Registry: Lazy, Tokens: new(int64(10)), Calls: new(int64(2))}},
		{name: "a custom mode", req: OpenRequest{Mode: "docs"}},
		{name: "the longest id", req: OpenRequest{ID: long}},
		{name: "an id too long", req: OpenRequest{ID: long + "x"}, err: ErrInvalid, text: "at most 64"},
		{name: "an id with a slash", req: OpenRequest{ID: "a/b"}, err: ErrInvalid, text: `"a/b"`},
		{name: "an id that is a directory", req: OpenRequest{ID: ".."}, err: ErrInvalid, text: `".."`},
		{name: "an id like an option", req: OpenRequest{ID: "-x"}, err: ErrInvalid, text: `"-x"`},
		{name: "an id beyond ASCII", req: OpenRequest{ID: "é"}, err: ErrInvalid, text: `"é"`},
		{name: "an id with a line end", req: OpenRequest{ID: "a\nb"}, err: ErrInvalid, text: `"a\nb"`},
		{name: "the default session", req: OpenRequest{ID: Default}, err: ErrExists, text: "default"},
		{name: "one that is open", req: OpenRequest{ID: "there"}, err: ErrExists, text: "there; use it"},
		{name: "an unknown mode", req: OpenRequest{Mode: "yolo"}, err: ErrMode, text: `"yolo"`},
		{name: "an unknown shadow", req: OpenRequest{Shadow: "two"}, err: errNoShadow, text: "shadow two"},
		{name: "an unknown registry", req: OpenRequest{Registry: "half"}, err: ErrInvalid, text: "full or lazy"},
		{name: "a negative budget", req: OpenRequest{Calls: new(int64(-1))}, err: ErrInvalid, text: "budget"},
	} {
		t.Run(c.name, func(t *testing.T) {
			st, _ := store()
			mustOpen(t, st, OpenRequest{ID: "there"})
			s, err := st.Open(c.req)
			if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Fatalf("got %v, want %v with %q", err, c.err, c.text)
			}
			if err != nil {
				if len(st.List()) != 2 {
					t.Error("a session was opened nevertheless")
				}
				return
			}
			if got, err := st.Get(s.ID); got != s || err != nil {
				t.Errorf("Get gives %v, %v", got, err)
			}
		})
	}
}

func TestIDsAreMade(t *testing.T) {
	st, _ := store()
	a, b := mustOpen(t, st, OpenRequest{}), mustOpen(t, st, OpenRequest{})
	if a.ID == b.ID || !validID(a.ID) || !validID(b.ID) {
		t.Errorf("made %q and %q", a.ID, b.ID)
	}
}

func TestUnknown(t *testing.T) {
	st, _ := store()
	const want = `unknown session "nope"; open it with sidecar.session.open, or leave the session out for the default one`
	if _, err := st.Get("nope"); !errors.Is(err, ErrUnknown) || err.Error() != want {
		t.Errorf("Get: %v", err)
	}
	if err := st.Close("nope"); !errors.Is(err, ErrUnknown) || err.Error() != want {
		t.Errorf("Close: %v", err)
	}
}

func TestDefault(t *testing.T) {
	st, setting := store()
	s, err := st.Get("")
	if err != nil {
		t.Fatal(err)
	}
	if named, _ := st.Get(Default); named != s {
		t.Error("the default session has two faces")
	}
	setting.Store("autonomous")
	if got := s.Mode(); got != "autonomous" {
		t.Errorf("the mode is %s, not that of the setting", got)
	}
	if err := s.SetMode("manual"); err != nil {
		t.Fatal(err)
	}
	setting.Store("cautious")
	if got := s.Mode(); got != "manual" {
		t.Errorf("the mode is %s after it was set to manual", got)
	}
	for _, name := range []string{"", "yolo"} {
		if err := s.SetMode(name); !errors.Is(err, ErrMode) {
			t.Errorf("SetMode(%q): %v", name, err)
		}
	}
	if got := s.Mode(); got != "manual" {
		t.Errorf("the mode is %s after refused ones", got)
	}

	s.Remember("key")
	if err := st.Close(""); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Done():
	default:
		t.Error("a closed session is not done")
	}
	fresh, err := st.Get("")
	if err != nil || fresh == s || fresh.Mode() != "cautious" || fresh.Remembered("key") {
		t.Errorf("after closing, the default session does not begin again: %+v, %v", fresh, err)
	}
}

func TestZeroOptions(t *testing.T) {
	st := NewStore(Options{})
	s, err := st.Get("")
	if err != nil || s.Mode() != "cautious" || s.Root != "" || s.OpenedAt.IsZero() {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestList(t *testing.T) {
	st, _ := store()
	mustOpen(t, st, OpenRequest{ID: "z", Mode: "manual"})
	b := mustOpen(t, st, OpenRequest{ID: "b", Shadow: "one", Calls: new(int64(5))})
	r, err := b.Reserve(100)
	if err != nil {
		t.Fatal(err)
	}
	r.Settle(40)
	at := st.opts.Now()
	want := []Info{
		{ID: "b", Mode: "cautious", Root: "/shadows/one", Shadow: "one", Calls: 1, Tokens: 40, Budget: Budget{Calls: 5}, OpenedAt: at},
		{ID: "default", Mode: "cautious", Root: "/main", OpenedAt: at},
		{ID: "z", Mode: "manual", Root: "/main", OpenedAt: at},
	}
	if diff := cmp.Diff(want, st.List()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := st.Close("b"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[1:], st.List()); diff != "" {
		t.Errorf("after closing (-want +got):\n%s", diff)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	st, _ := store()
	for range MaxSessions - 1 { // the default session is one
		mustOpen(t, st, OpenRequest{})
	}
	if _, err := st.Open(OpenRequest{ID: "x"}); !errors.Is(err, ErrInvalid) {
		t.Errorf("one too many: %v", err)
	}
}

// TestBudgetOfTheSettings: what a session does not name itself it has from the
// settings, as they are now.
func TestBudgetOfTheSettings(t *testing.T) {
	var set atomic.Value
	set.Store(Budget{Calls: 1, Tokens: 100})
	st := NewStore(Options{Settings: settings{budget: func() Budget { return set.Load().(Budget) }}})
	used := func(s *Session, calls int, tokens int64) bool {
		t.Helper()
		for range calls {
			r, err := s.Reserve(tokens)
			if errors.Is(err, ErrBudget) {
				return true
			} else if err != nil {
				t.Fatal(err)
			}
			r.Settle(tokens)
		}
		return false
	}
	byDefault, err := st.Get("")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		s      *Session
		calls  int
		tokens int64
		want   bool
	}{
		"one call":                         {mustOpen(t, st, OpenRequest{}), 1, 100, false},
		"too many calls":                   {mustOpen(t, st, OpenRequest{}), 2, 0, true},
		"too many tokens":                  {mustOpen(t, st, OpenRequest{}), 1, 101, true},
		"calls of its own":                 {mustOpen(t, st, OpenRequest{Calls: new(int64(2))}), 2, 50, false},
		"calls of its own, but not tokens": {mustOpen(t, st, OpenRequest{Calls: new(int64(2))}), 2, 51, true},
		"no bound of calls":                {mustOpen(t, st, OpenRequest{Calls: new(int64(0))}), 50, 2, false},
		"no bound at all":                  {mustOpen(t, st, OpenRequest{Calls: new(int64(0)), Tokens: new(int64(0))}), 50, 200, false},
	} {
		if got := used(c.s, c.calls, c.tokens); got != c.want {
			t.Errorf("%s: used up: %v", name, got)
		}
	}
	if !used(byDefault, 2, 0) {
		t.Error("the default session has no budget")
	}
	set.Store(Budget{Calls: 3})
	if used(byDefault, 2, 1000) || !used(byDefault, 1, 0) {
		t.Error("the default session does not follow the setting")
	}
	if got := byDefault.Info().Budget; got != (Budget{Calls: 3}) {
		t.Errorf("told is %+v", got)
	}
	if err := st.Close(""); err != nil {
		t.Fatal(err)
	}
	if again, _ := st.Get(""); used(again, 3, 0) {
		t.Error("the default session does not begin again")
	}
}

func TestBudget(t *testing.T) {
	st, _ := store()
	calls := mustOpen(t, st, OpenRequest{Calls: new(int64(2))})
	for range 2 {
		if _, err := calls.Reserve(1 << 40); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := calls.Reserve(0); !errors.Is(err, ErrBudget) {
		t.Errorf("a third call of two: %v", err)
	}

	tokens := mustOpen(t, st, OpenRequest{ID: "t", Tokens: new(int64(100))})
	a, err := tokens.Reserve(60)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tokens.Reserve(60)
	if want := "the budget is used up: of its 100 tokens session t has 40 left, too few for this; finish with what you have"; !errors.Is(err, ErrBudget) || err.Error() != want {
		t.Errorf("more than is left while a call runs: %v", err)
	}
	a.Settle(10)
	a.Settle(1000) // a second time does nothing
	b, err := tokens.Reserve(90)
	if err != nil {
		t.Errorf("what was held is not given back: %v", err)
	}
	b.Settle(95) // more than was held
	if _, err := tokens.Reserve(0); !errors.Is(err, ErrBudget) {
		t.Errorf("a call with nothing left: %v", err)
	}
	if got := tokens.Info(); got.Tokens != 105 || got.Calls != 2 {
		t.Errorf("counted %d tokens and %d calls", got.Tokens, got.Calls)
	}
}

func TestNotes(t *testing.T) {
	st, _ := store()
	s := mustOpen(t, st, OpenRequest{})
	s.Tell("one")
	s.Tell("two")
	if diff := cmp.Diff([]string{"one", "two"}, s.TakeNotes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := s.TakeNotes(); got != nil {
		t.Errorf("told twice: %q", got)
	}
	for i := range maxNotes + 3 {
		s.Tell(fmt.Sprint(i))
	}
	got := s.TakeNotes()
	if len(got) != maxNotes+1 || got[0] != "(3 earlier notes were dropped)" || got[1] != "3" || got[maxNotes] != fmt.Sprint(maxNotes+2) {
		t.Errorf("got %q", got)
	}
	s.Tell(strings.Repeat("é", maxNoteBytes))
	if note := s.TakeNotes()[0]; len(note) > maxNoteBytes || !utf8.ValidString(note) || !strings.HasSuffix(note, "é…") {
		t.Errorf("a long note is cut to %d bytes, ending with %q", len(note), note[len(note)-8:])
	}
}

func TestRemember(t *testing.T) {
	st, _ := store()
	a, b := mustOpen(t, st, OpenRequest{}), mustOpen(t, st, OpenRequest{})
	a.Remember("key")
	if !a.Remembered("key") || a.Remembered("other") || b.Remembered("key") {
		t.Error("an approval is lost, or holds for another key or session")
	}
	for i := range maxApprovals {
		a.Remember(fmt.Sprint(i))
	}
	if !a.Remembered("key") || !a.Remembered("0") || a.Remembered(fmt.Sprint(maxApprovals-1)) {
		t.Error("a full memory forgets, or grows")
	}
}

// However many run at once, no more is spent than there is, and nothing is lost.
func TestConcurrentUse(t *testing.T) {
	st, setting := store()
	s := mustOpen(t, st, OpenRequest{ID: "busy", Calls: new(int64(500)), Tokens: new(int64(1000))})
	var ok, refused atomic.Int64
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				if r, err := s.Reserve(2); err == nil {
					r.Settle(2)
					ok.Add(1)
				} else {
					refused.Add(1)
				}
				s.Tell("note")
				s.Remember(fmt.Sprint(g, i))
				s.Remembered("x")
				s.SetMode("manual")
				setting.Store("autonomous")
				s.Mode()
				st.List()
				if i%10 == 0 {
					s.TakeNotes()
					id := fmt.Sprintf("s%d.%d", g, i)
					if _, err := st.Open(OpenRequest{ID: id}); err != nil {
						t.Error(err)
					}
					if err := st.Close(id); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if ok.Load() != 500 || refused.Load() != 300 {
		t.Errorf("%d calls of 500 went through, %d were refused", ok.Load(), refused.Load())
	}
	if got := s.Info(); got.Tokens != 1000 || got.Calls != 500 {
		t.Errorf("counted %d tokens and %d calls", got.Tokens, got.Calls)
	}
}

// Of many who open the same id, one succeeds.
func TestOpenRace(t *testing.T) {
	st, _ := store()
	var won atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := st.Open(OpenRequest{ID: "same"}); err == nil {
				won.Add(1)
			} else if !errors.Is(err, ErrExists) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d opened the same session", won.Load())
	}
}

func TestActive(t *testing.T) {
	st, _ := store()
	s := mustOpen(t, st, OpenRequest{})
	if !s.Activate("a") || s.Activate("a") || !s.Activate("b") {
		t.Error("what is news is told wrongly")
	}
	got := s.Active()
	got[0] = "changed"
	if diff := cmp.Diff([]string{"a", "b"}, s.Active()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range maxActive {
		s.Activate(fmt.Sprint("t", i))
	}
	if list := s.Active(); len(list) != maxActive || list[0] != "t0" {
		t.Errorf("%d tools, from %s", len(list), list[0])
	}
}

// TestUnder: a session that works for another one shares its budget, and is never in a
// looser mode, whichever was set last.
func TestUnder(t *testing.T) {
	order := []string{"autonomous", "cautious", "plan"}
	st := NewStore(Options{
		Settings: settings{budget: func() Budget { return Budget{Calls: 2, Tokens: 100} }},
		Stricter: func(have, want string) string {
			if slices.Index(order, want) > slices.Index(order, have) {
				return want
			}
			return have
		},
	})
	open := func(r OpenRequest) *Session {
		t.Helper()
		s, err := st.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	above := open(OpenRequest{Mode: "cautious"})
	middle := open(OpenRequest{Under: above.ID})
	below := open(OpenRequest{Under: middle.ID})
	for _, step := range []struct {
		s     *Session
		mode  string
		err   error
		modes string // of all three then
	}{
		{below, "cautious", nil, "cautious cautious cautious"},
		{below, "autonomous", ErrLooser, "cautious cautious cautious"},
		{above, "plan", nil, "plan plan plan"},
		{below, "cautious", ErrLooser, "plan plan plan"},
		{above, "autonomous", nil, "autonomous autonomous cautious"},
		{middle, "plan", nil, "autonomous plan plan"},
		{middle, "none such", ErrMode, "autonomous plan plan"},
	} {
		if errors.Is(step.err, ErrMode) {
			st.opts.Settings = settings{known: map[string]bool{}}
		}
		if err := step.s.SetMode(step.mode); !errors.Is(err, step.err) {
			t.Errorf("%+v: %v", step, err)
		}
		if got := above.Mode() + " " + middle.Mode() + " " + below.Mode(); got != step.modes {
			t.Errorf("after %s the modes are %s, want %s", step.mode, got, step.modes)
		}
	}
	st.opts.Settings = settings{budget: func() Budget { return Budget{Calls: 2, Tokens: 100} }}
	r, err := below.Reserve(60)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := above.ReserveTokens(60); !errors.Is(err, ErrBudget) {
		t.Errorf("the one above has more than is left: %v", err)
	}
	r.Settle(60)
	if _, err := middle.Reserve(0); err != nil {
		t.Error(err)
	}
	for _, s := range []*Session{above, middle, below} {
		if _, err := s.Reserve(0); !errors.Is(err, ErrBudget) {
			t.Errorf("a third call of two is %v", err)
		}
		if i := s.Info(); i.Calls != 2 || i.Tokens != 60 {
			t.Errorf("used are %+v", i)
		}
	}
	if _, err := st.Open(OpenRequest{Under: "none"}); !errors.Is(err, ErrUnknown) {
		t.Errorf("under none: %v", err)
	}
}

// TestFloor: no session is looser than the floor, whatever it was opened with, set to or under,
// and a stricter one stays as it is.
func TestFloor(t *testing.T) {
	order := []string{"autonomous", "cautious", "manual"}
	stricter := func(have, want string) string {
		if slices.Index(order, want) >= slices.Index(order, have) {
			return want
		}
		return have
	}
	many, few := int64(1000), int64(5)
	set := settings{mode: func() string { return "autonomous" }, floor: Floor{Mode: "cautious", Budget: Budget{Tokens: 100, Calls: 10}}}
	st := NewStore(Options{Settings: set, Stricter: stricter})
	for want, r := range map[string]OpenRequest{"cautious": {ID: "a"}, "cautious ": {ID: "b", Mode: "autonomous", Tokens: &many, Calls: new(int64)}, "manual": {ID: "c", Mode: "manual", Tokens: &few, Calls: &few}} {
		s := mustOpen(t, st, r)
		if s.Mode() != strings.TrimSpace(want) {
			t.Errorf("%s: the mode is %s, want %s", r.ID, s.Mode(), want)
		}
		wantBudget := Budget{Tokens: 100, Calls: 10}
		if r.ID == "c" {
			wantBudget = Budget{Tokens: few, Calls: few}
		}
		if got := s.budget(); got != wantBudget {
			t.Errorf("%s: the budget is %+v, want %+v", r.ID, got, wantBudget)
		}
		if err := s.SetMode("autonomous"); !errors.Is(err, ErrLooser) || !strings.Contains(err.Error(), "machine's settings") || s.Mode() == "autonomous" {
			t.Errorf("%s: it was made looser: %v", r.ID, err)
		}
		if err := s.SetMode("manual"); err != nil || s.Mode() != "manual" {
			t.Errorf("%s: it can't be made stricter: %v", r.ID, err)
		}
	}
	set.floor = Floor{}
	if s := mustOpen(t, NewStore(Options{Settings: set, Stricter: stricter}), OpenRequest{Tokens: &many}); s.Mode() != "autonomous" || s.budget().Tokens != many {
		t.Errorf("without a floor it is %s, %+v", s.Mode(), s.budget())
	}
}
