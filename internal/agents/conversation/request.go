package conversation

import "strings"

// Request is what people said last before something.
type Request struct {
	Seq    int64  `json:"seq"`    // of its event
	Number int    `json:"number"` // from 1
	Text   string `json:"text"`   // its beginning
}

// requestLength bounds the text of a Request, in bytes.
const requestLength = 400

// MadeAfter returns the request after which a pending change of the run's session was
// made: the latest one, for a change that is new.
func (r *Run) MadeAfter(hunk string) (Request, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == Ended && len(r.log.made) == 0 {
		if ended, err := r.store.ended(r.id); err != nil {
			r.store.log.Error("what was made in a run can't be read", "run", r.id, "error", err)
		} else {
			r.log.made = ended.made
		}
	}
	r.change([]string{hunk})
	m, ok := r.log.made[hunk]
	return m, ok
}

// Changed tells of pending changes of the run's session, as they are now: those that
// are new were made since the latest request.
func (r *Run) Changed(hunks []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.change(hunks)
}

func (r *Run) change(hunks []string) {
	var fresh []string
	for _, h := range hunks {
		if _, ok := r.log.made[h]; !ok {
			fresh = append(fresh, h)
		}
	}
	if len(fresh) > 0 && r.log.request.Number > 0 && r.state != Ended && !r.closing {
		r.say(Event{Kind: Note, Reason: "changes", Hunks: fresh})
	}
}

// titleLength bounds a title that is made of a prompt, in characters.
const titleLength = 60

// TitleOf makes a title of a prompt: its first line, cut.
func TitleOf(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	if chars := []rune(line); len(chars) > titleLength {
		return string(chars[:titleLength-1]) + "…"
	}
	return line
}
