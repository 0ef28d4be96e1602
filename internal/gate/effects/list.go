package effects

import (
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
)

// decided begins the names of records of what people decided in the review.
const decided = "sidecar.review."

// List is what left a session, or "" any, the newest first, by the audit log. What a call put
// into the review queue leaves its session when it is accepted.
func List(log *auditlog.Log, session string, limit int) ([]Effect, error) {
	// Some of the records have only what waited.
	records, err := log.Find(auditlog.Query{Session: session, Crossed: true, Limit: 4 * limit})
	list := []Effect{}
	for i := len(records) - 1; i >= 0; i-- {
		r := records[i]
		for n, c := range r.Crosses {
			if Ruling(c.Decision) == Reviewed && !strings.HasPrefix(r.Tool, decided) {
				continue
			}
			list = append(list, Effect{
				ID: fmt.Sprintf("%d.%d", r.Seq, n+1), At: r.Time, Session: r.Session, Kind: Kind(c.Kind), What: c.What,
				Reversible: c.Reversible, Decision: Ruling(c.Decision), Rule: c.Rule,
			})
			if len(list) == limit {
				return list, err
			}
		}
	}
	return list, err
}
