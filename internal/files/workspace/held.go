package workspace

import "time"

// Held is output that a session holds: what git ignores and dependencies, as its commands
// left them, until a person accepts or drops it. Lists of names are bounded.
type Held struct {
	Session string    `json:"session"`
	At      time.Time `json:"at"` // when it was changed last
	Files   int       `json:"files"`
	Bytes   int64     `json:"bytes"`
	Names   []string  `json:"names"` // the top of each

	Programs  []string `json:"programs"`  // files that can be executed
	Protected []string `json:"protected"` // files that programs obey, or that may hold secrets, and links that lead out
	Deleted   []string `json:"deleted"`
}
