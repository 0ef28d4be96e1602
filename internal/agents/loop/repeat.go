package loop

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
)

// repeats finds a model that does the same again and again, with the same result. A
// call whose result differs is no repetition: polling is work. Nor are equal calls in one
// answer, whose model has seen no result of them: what is counted are answers.
type repeats struct{ seen [][sha256.Size]byte }

const (
	longest  = 4 // answers of a sequence that repeats
	nudgeAt  = 3 // times, when the model gets a nudge
	giveUpAt = 5 // times, when it is stopped
)

// repeated is a call with its result.
type repeated struct{ tool, args, result string }

// add takes in the calls of an answer, and returns how often the latest sequence of
// answers was made in a row.
func (r *repeats) add(calls []repeated) int {
	h := sha256.New()
	for _, c := range calls {
		var canonical bytes.Buffer
		var v any
		if json.Unmarshal([]byte(c.args), &v) == nil {
			_ = json.NewEncoder(&canonical).Encode(v) // members sorted
		} else {
			canonical.WriteString(c.args)
		}
		for _, part := range []string{c.tool, canonical.String(), c.result} {
			h.Write([]byte(part))
			h.Write([]byte{0})
		}
	}
	r.seen = append(r.seen, [sha256.Size]byte(h.Sum(nil)))
	if over := len(r.seen) - longest*giveUpAt; over > 0 {
		r.seen = r.seen[over:]
	}
	most := 1
	for period := 1; period <= longest; period++ {
		most = max(most, r.times(period))
	}
	return most
}

// times is how often the last period answers were made in a row.
func (r *repeats) times(period int) int {
	n := len(r.seen)
	same := 0
	for i := n - 1; i-period >= 0 && r.seen[i] == r.seen[i-period]; i-- {
		same++
	}
	return same/period + 1
}

// forget clears the calls seen so far, for a new prompt.
func (r *repeats) forget() { r.seen = nil }
