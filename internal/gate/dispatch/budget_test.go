package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// opened opens a session that may use so many tokens.
func (r *rig) opened(t testing.TB, id string, tokens int64) *session.Session {
	t.Helper()
	s, err := r.sessions.Open(session.OpenRequest{ID: id, Tokens: &tokens})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (r *rig) in(t testing.TB, s *session.Session, name, args string) *Result {
	t.Helper()
	res, err := r.Call(t.Context(), Request{Name: name, Session: s.ID, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestBudgetBoundsResults: a result has as much as its session's budget has
// room for, whatever the budget, and what a call uses is never more than is left.
func TestBudgetBoundsResults(t *testing.T) {
	r := newRig(t, "autonomous")
	text := strings.Repeat("a line of twenty b.\n", 40) // 200 tokens
	r.live.files["long.txt"] = text
	r.live.files["short.txt"] = "short\n"
	least := estimate(len(`{"path":"long.txt"}`) + leastResult)
	for tokens := int64(1); tokens < 320; tokens++ {
		s := r.opened(t, fmt.Sprint("s", tokens), tokens)
		if tokens%2 == 0 {
			s.Tell("The user rejected a.txt: too long")
		}
		var calls int
		for {
			res := r.in(t, s, "look", `{"path":"long.txt"}`)
			if code(res) == tools.BudgetExceeded {
				break
			}
			if calls++; !res.OK {
				t.Fatalf("%d tokens: %+v", tokens, res.Error)
			}
			whole := strings.HasPrefix(res.Content, text)
			switch {
			case whole && (res.Truncated != nil || res.Structured == nil):
				t.Fatalf("%d tokens: whole and cut: %+v", tokens, res)
			case !whole && (res.Truncated == nil || res.Structured != nil || !strings.Contains(res.Content, res.Truncated.Cursor)):
				t.Fatalf("%d tokens: cut without a cursor in its text, or the structured data say it all: %q %v", tokens, res.Content, res.Structured)
			case !whole && !strings.HasPrefix(res.Content, "a line of twenty"):
				t.Fatalf("%d tokens: %q", tokens, res.Content)
			}
			if used := s.Info().Tokens; used > tokens {
				t.Fatalf("%d tokens: %d were used", tokens, used)
			}
		}
		if want := tokens >= least; want != (calls > 0) {
			t.Errorf("%d tokens: %d calls", tokens, calls)
		}
		if used := s.Info().Tokens; used <= tokens-least && tokens > least {
			t.Errorf("%d tokens: refused with only %d used", tokens, used)
		}
	}
	s := r.opened(t, "control", 0)
	if res := r.in(t, s, "look", `{"path":"long.txt"}`); res.Content != text || res.Truncated != nil || s.Info().Tokens != 205 {
		t.Errorf("without a budget: %d bytes, %+v, %d tokens", len(res.Content), res.Truncated, s.Info().Tokens)
	}
	s = r.opened(t, "notes", 100)
	s.Tell("The user rejected a.txt: too long")
	if res := r.in(t, s, "look", `{"path":"short.txt"}`); !strings.Contains(res.Content, "rejected a.txt: too long") {
		t.Errorf("a note that there is room for: %q", res.Content)
	}
}

// TestBudgetOfCallsAtOnce: calls that run at the same time share what is left.
func TestBudgetOfCallsAtOnce(t *testing.T) {
	r := newRig(t, "autonomous")
	r.live.files["long.txt"] = strings.Repeat("a line of twenty b.\n", 40)
	s := r.opened(t, "s", 1000)
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() { r.in(t, s, "look", `{"path":"long.txt"}`) })
	}
	wg.Wait()
	if used := s.Info().Tokens; used > 1000 || used < 900 {
		t.Errorf("%d tokens of 1000 were used", used)
	}
}

// TestBudgetOfPages: the pages of a cut result are paid for by the session whose
// result it is, by whichever way they are read.
func TestBudgetOfPages(t *testing.T) {
	r := newRig(t, "autonomous")
	r.settings.ResultBytes = 1000
	r.live.files["long.txt"] = strings.Repeat("a line of twenty b.\n", 400)
	s := r.opened(t, "s", 1000)
	cut := r.in(t, s, "look", `{"path":"long.txt"}`).Truncated
	if cut == nil {
		t.Fatal("it was not cut")
	}
	before := s.Info().Tokens
	page, err := r.Page(cut.Cursor)
	if err != nil || len(page.Content) < 900 || s.Info().Tokens-before != estimate(len(page.Content)) {
		t.Errorf("a page of %d bytes took %d tokens, %v", len(page.Content), s.Info().Tokens-before, err)
	}
	for err == nil && page.HasMore {
		page, err = r.Page(page.NextCursor)
	}
	if tools.AsError(err).Code != tools.BudgetExceeded {
		t.Errorf("all 8,000 bytes were read: %v", err)
	}
	if info := s.Info(); info.Tokens != 1000 || info.Calls != 1 {
		t.Errorf("%d tokens and %d calls", info.Tokens, info.Calls)
	}
	free := r.in(t, r.opened(t, "free", 0), "look", `{"path":"long.txt"}`)
	if _, err := r.Page(free.Truncated.Cursor); err != nil {
		t.Errorf("a session without a budget: %v", err)
	}
	for limit := leastResult; limit < 2000; limit++ {
		page, err := r.PageInResult(free.Truncated.Cursor, limit)
		if err != nil || page.Content == "" {
			t.Fatalf("a page in a result of %d bytes: %q, %v", limit, page.Content, err)
		}
		if line := len(fmt.Sprintf("\n[%d of %d bytes follow; cursor %q reads on]", page.LeftBytes, page.TotalBytes, page.Next)); len(page.Content)+line > limit {
			t.Fatalf("a page in a result of %d bytes has %d and a line of %d", limit, len(page.Content), line)
		}
	}
}

// TestBudgetOfFailures: what a call that fails is told counts too, and a call
// with wrong arguments is a call.
func TestBudgetOfFailures(t *testing.T) {
	r := newRig(t, "autonomous")
	s := r.opened(t, "s", 400)
	for range 100 {
		if res := r.in(t, s, "look", `{"path":7}`); code(res) != tools.InvalidArguments {
			if code(res) != tools.BudgetExceeded || s.Info().Tokens < 300 || s.Info().Tokens > 400 {
				t.Errorf("%+v, %d tokens", res.Error, s.Info().Tokens)
			}
			return
		}
	}
	t.Error("a hundred calls with wrong arguments cost nothing")
}

// TestBudgetOfEdits: an edit that was made is not reported as refused, however
// little is left for its result.
func TestBudgetOfEdits(t *testing.T) {
	r := newRig(t, "autonomous")
	for tokens := int64(40); tokens < 80; tokens++ {
		s := r.opened(t, fmt.Sprint("s", tokens), tokens)
		name := fmt.Sprintf("new%d.txt", tokens)
		res := r.in(t, s, "put", fmt.Sprintf(`{"path":%q,"text":"x"}`, name))
		if made := r.live.text(name) != ""; made != res.OK || res.OK != (len(res.Changes) == 1) {
			t.Errorf("%d tokens: made %v, %+v", tokens, made, res)
		}
	}
}

// TestBudgetClosesEnvelope: text from outside stays between its marks.
func TestBudgetClosesEnvelope(t *testing.T) {
	r := newRig(t, "autonomous")
	far := def("far")
	far.Untrusted = true
	err := r.o.Registry.Register(tools.Builtin, tools.NewRead(far, func(context.Context, *tools.Call, struct{}) (tools.Result, error) {
		return tools.Result{Text: strings.Repeat("from far away ", 100)}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	var seen int
	for tokens := int64(40); tokens < 200; tokens++ {
		s := r.opened(t, fmt.Sprint("s", tokens), tokens)
		s.Tell("a note")
		res := r.in(t, s, "far", `{}`)
		if !res.OK {
			continue
		}
		seen++
		if !strings.Contains(res.Content, "</untrusted_output>") {
			t.Errorf("%d tokens: %q", tokens, res.Content)
		}
	}
	if seen == 0 {
		t.Error("no call was made")
	}
}
