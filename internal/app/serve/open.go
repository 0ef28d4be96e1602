package serve

import "github.com/sidecar-ls/sidecar-ls/server/client"

// Approvals are the questions that the editor in the seat is asked, which a person may answer
// elsewhere, too; nil where no editor is.
func (a *Agents) Approvals() *client.Approvals {
	if a.seat == nil {
		return nil
	}
	e, _ := a.seat.editor()
	if e == nil {
		return nil
	}
	open, _ := e.Approver.(*client.Approvals)
	return open
}
