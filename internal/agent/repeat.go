package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
)

// repeats finds a model that does the same again and again, with the same result. A
// call whose result differs is no repetition: polling is work.
type repeats struct{ seen [][sha256.Size]byte }

const (
	longest  = 4 // calls of a sequence that repeats
	nudgeAt  = 3 // times, when the model is told
	giveUpAt = 5 // times, when it is stopped
)

// add takes in a call with its result, and returns how often the latest sequence of
// calls was made in a row.
func (r *repeats) add(tool, args, result string) int {
	var canonical bytes.Buffer
	var v any
	if json.Unmarshal([]byte(args), &v) == nil {
		_ = json.NewEncoder(&canonical).Encode(v) // members sorted
	} else {
		canonical.WriteString(args)
	}
	h := sha256.New()
	for _, part := range []string{tool, canonical.String(), result} {
		h.Write([]byte(part))
		h.Write([]byte{0})
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

// times is how often the last period calls were made in a row.
func (r *repeats) times(period int) int {
	n := len(r.seen)
	same := 0
	for i := n - 1; i-period >= 0 && r.seen[i] == r.seen[i-period]; i-- {
		same++
	}
	return same/period + 1
}

// forget begins anew: a person has said something.
func (r *repeats) forget() { r.seen = nil }
