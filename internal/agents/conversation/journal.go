package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/linelog"
)

// encode makes the line of an event.
func encode(e Event) ([]byte, error) {
	line, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("writing a %s event: %w", e.Kind, err)
	}
	return append(line, '\n'), nil
}

// readJournal reads the events of a file and how many bytes of it are good. A
// line that can't be read is left out.
func readJournal(path string) (events []Event, good int64, skipped int, err error) {
	last := int64(0)
	for line, err := range linelog.Lines(path) {
		if err != nil {
			return nil, 0, 0, err
		}
		good += int64(len(line))
		var e Event
		if json.Unmarshal(line, &e) != nil || e.Seq <= last || e.Kind == "" {
			skipped++
			continue
		}
		last = e.Seq
		events = append(events, e)
	}
	return events, good, skipped, nil
}

// rewrite puts these events in the place of the journal's, or leaves it as it is.
func rewrite(journal *linelog.Log, events []entry) (*linelog.Log, error) {
	var all bytes.Buffer
	for _, e := range events {
		line, err := encode(e.Event)
		if err != nil {
			return journal, err
		}
		all.Write(line)
	}
	return journal.Rewrite(all.Bytes())
}
