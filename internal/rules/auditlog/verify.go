package auditlog

import (
	"fmt"
	"path/filepath"
	"time"
)

// Report is what Verify found.
type Report struct {
	Files   int      `json:"files"`
	Records int64    `json:"records"`
	Torn    int      `json:"torn"`   // lines that a crash left unfinished
	Last    string   `json:"last"`   // hash of the last record
	Faults  []string `json:"faults"` // what is not as it was written; empty is good
}

// maxFaults bounds a report: what follows the first faults says little.
const maxFaults = 20

// Verify reads a whole log and reports whether it is as it was written.
func Verify(dir string) (Report, error) {
	rep := Report{Faults: []string{}}
	names, err := files(dir)
	if err != nil {
		return rep, fmt.Errorf("audit log: %w", err)
	}
	var last tail
	fault := func(format string, args ...any) {
		if len(rep.Faults) < maxFaults {
			rep.Faults = append(rep.Faults, fmt.Sprintf(format, args...))
		}
	}
	for _, name := range names {
		rep.Files++
		err := eachLine(filepath.Join(dir, name), func(n int, line []byte, ended bool) bool {
			r, ok := decode(line)
			switch {
			case !ok && (len(line) == 0 || line[len(line)-1] != '}'):
				rep.Torn++
				return true
			case !ok:
				fault("%s:%d: the record was changed", name, n)
				return true
			case r.Prev != last.hash:
				fault("%s:%d: the record does not follow record %d: records were taken out, put in or put in another order", name, n, last.seq)
			case r.Seq != last.seq+1:
				fault("%s:%d: record %d follows record %d", name, n, r.Seq, last.seq)
			}
			rep.Records++
			last = tail{r.Seq, r.Hash}
			return true
		})
		if err != nil {
			return rep, fmt.Errorf("audit log: %w", err)
		}
	}
	rep.Last = last.hash
	return rep, nil
}

// Query chooses records; the zero value chooses all.
type Query struct {
	Session, Tool, Path, Code string
	Outcome                   string // allow or deny
	Since                     time.Time
	Crossed                   bool // those of which something left its session
	Limit                     int  // the newest so many; 0 means 100
}

// Verify writes what waits, then reads the whole log.
func (l *Log) Verify() (Report, error) {
	if err := l.Flush(); err != nil {
		return Report{}, err
	}
	return Verify(l.dir)
}

// Find writes what waits, then finds records.
func (l *Log) Find(q Query) ([]Record, error) {
	if err := l.Flush(); err != nil {
		return nil, err
	}
	return Find(l.dir, q)
}

// Find returns the newest records that q chooses, oldest first. Damaged lines
// are passed over: Verify reports them.
func Find(dir string, q Query) ([]Record, error) {
	if q.Limit <= 0 {
		q.Limit = 100
	}
	names, err := files(dir)
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	var found []Record
	for i := len(names) - 1; i >= 0 && len(found) < q.Limit; i-- {
		var here []Record
		err := eachLine(filepath.Join(dir, names[i]), func(_ int, line []byte, _ bool) bool {
			if r, ok := decode(line); ok && q.chooses(r) {
				here = append(here, r)
			}
			return true
		})
		if err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		found = append(here, found...)
	}
	return found[max(0, len(found)-q.Limit):], nil
}

func (q Query) chooses(r Record) bool {
	touches := q.Path == ""
	for _, c := range r.Changes {
		touches = touches || c.Path == q.Path || c.From == q.Path
	}
	return touches && (q.Session == "" || q.Session == r.Session) && (q.Tool == "" || q.Tool == r.Tool) && (q.Code == "" || q.Code == r.Code) &&
		(q.Outcome == "" || q.Outcome == r.Outcome) && !r.Time.Before(q.Since) && (!q.Crossed || len(r.Crosses) > 0)
}
