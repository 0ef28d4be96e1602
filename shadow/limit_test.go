package shadow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/shadow"
)

// TestRoomBetweenServers: a shadow counts from the first moment on, also for
// another process.
func TestRoomBetweenServers(t *testing.T) {
	for _, c := range []struct {
		point string
		most  int
		full  bool // for the other process
	}{
		{"create.dir", 1, true}, {"create.copied", 1, true}, {"create.filled", 1, true}, {"create.published", 1, true},
		{"create.dir", 2, false}, {"create.published", 2, false},
	} {
		t.Run(fmt.Sprint(c.point, " ", c.most), func(t *testing.T) {
			r := gittest.New(t)
			r.Commit("first", "a", "1\n", "b/c", "2\n")
			h := openHouse(t, r, shadow.Options{Settings: limits(shadow.Limits{Shadows: c.most}), Fail: func(at string) error {
				if at != c.point {
					return nil
				}
				other := another(t, r.Dir, "create y")
				other.Env = append(other.Env, fmt.Sprint(atMost, "=", c.most))
				out, err := other.CombinedOutput()
				if full := strings.Contains(string(out), "at most 1 are kept"); full != c.full || (err == nil) == c.full {
					t.Errorf("the other one: %v\n%s", err, out)
				}
				return nil
			}})
			h.create(shadow.CreateRequest{ID: "x"})
			h.sound()
		})
	}
}

// TestRoomOfTheDead: what a process that was killed had begun takes no room.
func TestRoomOfTheDead(t *testing.T) {
	r := gittest.New(t)
	r.Commit("first", "a", "1\n")
	h := openHouse(t, r, shadow.Options{Settings: limits(shadow.Limits{Shadows: 1})})
	h.die("create.copied", "create")
	h.create(shadow.CreateRequest{ID: "y"})
	if _, err := h.Create(t.Context(), shadow.CreateRequest{ID: "z"}); !errors.Is(err, shadow.ErrTooMuch) {
		t.Errorf("the control: %v", err)
	}
}

// crowd makes shadows until there is no room.
func crowd(ctx context.Context, m *shadow.Manager) error {
	for {
		if _, err := m.Create(ctx, shadow.CreateRequest{}); errors.Is(err, shadow.ErrTooMuch) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestCrowd: servers that make shadows at the same time make as many as there
// may be, and no more.
func TestCrowd(t *testing.T) {
	h := newHouse(t, "a", "1\n", "b/c", "2\n")
	var work sync.WaitGroup
	for range 3 {
		work.Go(func() {
			other := another(t, h.Dir, "crowd")
			other.Env = append(other.Env, atMost+"=4")
			if out, err := other.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	work.Wait()
	list, err := h.List(t.Context())
	if err != nil || len(list) != 4 {
		t.Errorf("there are %d, %v", len(list), err)
	}
	h.sound()
}
