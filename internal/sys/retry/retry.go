// Package retry says which failures are retried, and after how long.
package retry

import (
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Policy is how often an operation is attempted.
type Policy struct {
	Attempts int           // in all; 1 means no retry
	Wait     time.Duration // before the second attempt; each later wait is growth times as long
}

const (
	growth = 1.5
	jitter = 0.25 // the part by which a wait may be shorter or longer, so that many callers don't come back at once
)

// After is how long to wait after so many attempts, one or more.
func (p Policy) After(attempts int) time.Duration {
	d := float64(p.Wait) * math.Pow(growth, float64(attempts-1))
	return time.Duration(d * (1 - jitter + 2*jitter*rand.Float64()))
}

// Transient reports whether the status of an HTTP response is a transient error,
// and how long the server asks to wait; 0 when it does not say, or names a date.
func Transient(status int, h http.Header) (bool, time.Duration) {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return false, 0
	}
	const most = 1 << 20 // of seconds, so that a duration holds them
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return true, 0
	}
	return true, time.Duration(min(seconds, most)) * time.Second
}
