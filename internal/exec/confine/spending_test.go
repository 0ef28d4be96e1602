package confine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// burner is a command that uses a minute of processor time with each look at it.
type burner struct {
	mu      sync.Mutex
	cpu     time.Duration
	memory  int64
	paused  bool
	resumes int
	done    chan struct{}
	once    sync.Once
	looks   int
	ends    int // ends by itself after so many looks; 0: never
}

func (b *burner) Usage() (cpu time.Duration, memory int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.looks++; !b.paused && b.looks != 1 && (b.ends == 0 || b.looks <= b.ends) {
		b.cpu += time.Minute
	}
	if b.looks == b.ends {
		b.once.Do(func() { close(b.done) })
	}
	return b.cpu, b.memory, true
}

func (b *burner) Pause() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paused = true
}

func (b *burner) Resume() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paused = false
	b.resumes++
}

func (b *burner) Kill()                 { b.once.Do(func() { close(b.done) }) }
func (b *burner) Done() <-chan struct{} { return b.done }

// TestMeter: a command that spends more than nobody was asked about is paused, and ends
// unless a person lets it go on.
func TestMeter(t *testing.T) {
	for _, c := range []struct {
		name    string
		cmd     *burner
		session time.Duration // what the session has used already
		answers []error
		nobody  bool
		opened  []string // what each look finds, in words; the last one stays
		ended   string
		asked   int
	}{
		{name: "little", cmd: &burner{ends: 5}},
		{name: "yes, then it ends", cmd: &burner{ends: 18}, answers: []error{nil}, asked: 1},
		{name: "yes, then no", answers: []error{nil, errors.New("no")}, asked: 2, ended: "20m0s"},
		{name: "no", answers: []error{errors.New("no")}, asked: 1, ended: "10m0s"},
		{name: "nobody", nobody: true, ended: "nobody let it go on"},
		{name: "the session's hour", session: 58 * time.Minute, answers: []error{errors.New("no")}, asked: 1, ended: "1h0m0s"},
		{name: "opened, yes", cmd: &burner{ends: 5}, opened: []string{"", "socket:one"}, answers: []error{nil}, asked: 1},
		{name: "opened twice", cmd: &burner{ends: 7}, opened: []string{"", "socket:one", "socket:one socket:two"}, answers: []error{nil, errors.New("no")}, asked: 2, ended: "(socket:two)"},
		{name: "opened, no", opened: []string{"secret:.env"}, answers: []error{errors.New("no")}, asked: 1, ended: "secret:.env"},
		{name: "memory", cmd: &burner{memory: 2 << 30}, ended: "memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			may := defaultAllowance()
			may.every = time.Microsecond
			s := &spending{may: may}
			s.with("one", func(a *account) { a.cpu = c.session })
			b := c.cmd
			if b == nil {
				b = &burner{}
			}
			b.done = make(chan struct{})
			asked := 0
			m := &meter{spending: s, cmd: b, session: "one", back: true, memory: 1 << 30, goOn: func(context.Context, string) error {
				b.mu.Lock()
				defer b.mu.Unlock()
				if asked++; !b.paused {
					t.Error("it runs while a person is asked")
				}
				return c.answers[asked-1]
			}}
			if c.nobody {
				m.goOn = nil
			}
			if opened := c.opened; opened != nil {
				m.opened = func() []string {
					now := strings.Fields(opened[0])
					opened = opened[min(1, len(opened)-1):]
					return now
				}
			}
			s.reserve("one")
			m.begin()
			<-b.done
			<-m.settled
			if words := m.words(); (c.ended == "") != (words == "") || !strings.Contains(words, c.ended) {
				t.Errorf("it says %q", words)
			}
			if asked != c.asked {
				t.Errorf("%d questions", asked)
			}
			s.with("one", func(a *account) {
				if a.back != 0 {
					t.Errorf("%d in the background", a.back)
				}
				if c.name == "little" && a.cpu != 4*time.Minute {
					t.Errorf("%v", a.cpu)
				}
			})
		})
	}
}

// TestReserve: of commands that begin at once in the background no more run than may.
func TestReserve(t *testing.T) {
	s := &spending{may: defaultAllowance()}
	var all sync.WaitGroup
	var ran atomic.Int32
	for range 40 {
		all.Go(func() {
			if s.reserve("one") {
				ran.Add(1)
			}
		})
	}
	all.Wait()
	if n := ran.Load(); n != 8 {
		t.Errorf("%d run", n)
	}
	if s.release("one"); !s.reserve("one") || s.reserve("one") || !s.reserve("two") {
		t.Error("a place is not given back, or is another session's")
	}
}

type anyMode struct{}

func (anyMode) DefaultMode() string    { return "" }
func (anyMode) ValidMode(string) bool  { return true }
func (anyMode) Budget() session.Budget { return session.Budget{} }
func (anyMode) Floor() session.Floor   { return session.Floor{} }

// TestPayer: commands of sub-agents spend what their caller's session may.
func TestPayer(t *testing.T) {
	store := session.NewStore(session.Options{Settings: anyMode{}, Root: func(string) (string, error) { return t.TempDir(), nil }})
	for id, under := range map[string]string{"child": session.Default, "other": ""} {
		if _, err := store.Open(session.OpenRequest{ID: id, Under: under}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Open(session.OpenRequest{ID: "below", Under: "child"}); err != nil {
		t.Fatal(err)
	}
	c := &Confiner{o: Options{Sessions: store}}
	for of, want := range map[string]string{"below": session.Default, "child": session.Default, session.Default: session.Default, "other": "other", "": ""} {
		if got := payer(c, of); got != want {
			t.Errorf("%q spends what %q may, want %q", of, got, want)
		}
	}
}

// TestBounds: what a session has spent shows before its next command.
func TestBounds(t *testing.T) {
	c := &Confiner{spending: spending{may: defaultAllowance()}}
	if x := c.spending.bounds("one", false); !x.Holds {
		t.Errorf("the control: %+v", x)
	}
	c.spending.with("one", func(a *account) { a.cpu, a.back = time.Hour, 8 })
	if x := c.spending.bounds("one", false); x.Holds {
		t.Errorf("after an hour: %+v", x)
	}
	if x := c.spending.bounds("two", false); !x.Holds {
		t.Errorf("another session: %+v", x)
	}
	c.Looked("one")
	if x := c.spending.bounds("one", false); !x.Holds {
		t.Errorf("after an answer: %+v", x)
	}
	if x := c.spending.bounds("one", true); x.Holds {
		t.Errorf("a ninth in the background: %+v", x)
	}
}

// falling is a command whose processor time falls where nobody waited for one of its
// processes.
type falling struct {
	burner

	of []time.Duration
}

func (f *falling) Usage() (cpu time.Duration, memory int64, ok bool) {
	cpu = f.of[0]
	if f.of = f.of[1:]; len(f.of) == 0 {
		f.Kill()
		f.of = append(f.of, cpu)
	}
	return cpu, 0, true
}

// TestMeterNeverFalls: what was spent stays spent.
func TestMeterNeverFalls(t *testing.T) {
	may := defaultAllowance()
	may.every = time.Microsecond
	s := &spending{may: may}
	f := &falling{of: []time.Duration{time.Second, 3 * time.Second, time.Second, 4 * time.Second}}
	f.done = make(chan struct{})
	m := &meter{spending: s, cmd: f, session: "one"}
	m.begin()
	<-m.settled
	s.with("one", func(a *account) {
		if a.cpu != 6*time.Second {
			t.Errorf("it counts %v", a.cpu)
		}
	})
}

// TestInSight: a socket counts where commands see it, and only there.
func TestInSight(t *testing.T) {
	dir := t.TempDir()
	for at, want := range map[string]bool{dir + "/s.sock": true, "@abstract": false, "/nowhere/s.sock": false, "": false, "relative.sock": false} {
		if strings.HasPrefix(at, dir) {
			if err := ownfile.WriteFile(at, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		table := "Num       RefCount Protocol Flags    Type St Inode Path\nffff: 00000002 00000000 00010000 0001 01 12345 " + at + "\n"
		var files socketFiles
		if got := files.inSight(table, []string{dir}); (len(got) > 0) != want {
			t.Errorf("%s: %q", at, got)
		}
		if got := files.inSight(table, []string{dir + "/other"}); len(got) > 0 {
			t.Errorf("%s out of sight: %q", at, got)
		}
	}
}
