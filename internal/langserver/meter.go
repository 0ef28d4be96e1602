package langserver

import (
	"errors"
	"io"
	"time"
)

// What a server may send: a window's worth of bytes in each window. An honest
// one sends a few megabytes when it starts.
const (
	meterWindow = 10 * time.Second
	meterBytes  = 64 << 20
	maxMessage  = 32 << 20
)

var errFlood = errors.New("it sent more than can be taken in")

// meter reads from a server as long as it does not send too much.
type meter struct {
	io.ReadCloser
	now   func() time.Time
	limit int

	since time.Time
	bytes int
}

func (m *meter) Read(b []byte) (int, error) {
	n, err := m.ReadCloser.Read(b)
	if now := m.now(); now.Sub(m.since) > meterWindow {
		m.since, m.bytes = now, 0
	}
	if m.bytes += n; m.bytes > m.limit {
		return 0, errFlood
	}
	return n, err
}
