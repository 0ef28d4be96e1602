package dispatch

import (
	"slices"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Metric counts the calls of one tool since the start. Times are of the last
// latencySamples calls, without the time that a person took to answer.
type Metric struct {
	Calls     int                `json:"calls"`
	OK        int                `json:"ok"`
	Errors    map[tools.Code]int `json:"errors"`
	Denied    int                `json:"denied"`
	Truncated int                `json:"truncated"`
	P50Ms     float64            `json:"p50Ms"`
	P95Ms     float64            `json:"p95Ms"`
	MaxMs     float64            `json:"maxMs"`
}

const latencySamples = 512

type metrics struct {
	mu    sync.Mutex
	tools map[string]*counter
}

type counter struct {
	Metric
	max     time.Duration
	samples [latencySamples]time.Duration // a ring; Calls counts what was put in
}

func (m *metrics) record(tool string, r *Result, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.tools[tool]
	if c == nil {
		c = &counter{Metric: Metric{Errors: map[tools.Code]int{}}}
		if m.tools == nil {
			m.tools = map[string]*counter{}
		}
		m.tools[tool] = c
	}
	c.samples[c.Calls%latencySamples] = took
	c.max = max(c.max, took)
	c.Calls++
	if r.Error == nil {
		c.OK++
	} else {
		c.Errors[r.Error.Code]++
		if r.Error.Code == tools.Denied || r.Error.Code == tools.NotApproved {
			c.Denied++
		}
	}
	if r.Truncated != nil {
		c.Truncated++
	}
}

func (m *metrics) snapshot() map[string]Metric {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[string]Metric, len(m.tools))
	for name, c := range m.tools {
		v := c.Metric
		v.Errors = make(map[tools.Code]int, len(c.Errors))
		for k, n := range c.Errors {
			v.Errors[k] = n
		}
		s := slices.Clone(c.samples[:min(c.Calls, latencySamples)])
		slices.Sort(s)
		v.P50Ms, v.P95Ms, v.MaxMs = ms(s[len(s)/2]), ms(s[len(s)*95/100]), ms(c.max)
		out[name] = v
	}
	return out
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
