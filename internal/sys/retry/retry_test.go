package retry

import (
	"net/http"
	"testing"
	"time"
)

func TestAfter(t *testing.T) {
	p := Policy{Attempts: 5, Wait: 1500 * time.Millisecond}
	for attempts, want := range map[int]time.Duration{1: 1500 * time.Millisecond, 2: 2250 * time.Millisecond, 3: 3375 * time.Millisecond} {
		seen := map[time.Duration]bool{}
		for range 100 {
			got := p.After(attempts)
			if got < want*3/4 || got > want*5/4 {
				t.Errorf("after %d attempts %v, want about %v", attempts, got, want)
			}
			seen[got] = true
		}
		if len(seen) < 50 {
			t.Errorf("after %d attempts there are only %d different waits", attempts, len(seen))
		}
	}
	if got := (Policy{}).After(3); got != 0 {
		t.Errorf("no wait: %v", got)
	}
}

func TestTransient(t *testing.T) {
	for status, want := range map[int]bool{200: false, 400: false, 401: false, 404: false, 408: false, 429: true, 500: false, 501: false, 502: true, 503: true, 504: true} {
		if got, _ := Transient(status, nil); got != want {
			t.Errorf("%d: %v", status, got)
		}
	}
	for said, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "0": 0, "-3": 0, "x": 0, "Wed, 21 Oct 2026 07:28:00 GMT": 0, "99999999999": 1 << 20 * time.Second} {
		if _, got := Transient(503, http.Header{"Retry-After": {said}}); got != want {
			t.Errorf("Retry-After %q: %v, want %v", said, got, want)
		}
	}
	if ok, got := Transient(404, http.Header{"Retry-After": {"7"}}); ok || got != 0 {
		t.Errorf("404: %v, %v", ok, got)
	}
}
