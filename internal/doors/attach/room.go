package attach

import (
	"context"
	"time"
)

// LeaveTime is how long a process that gives way may take to end its work.
const LeaveTime = 3 * time.Second

// MakeRoom asks an endpoint without an editor that holds the review queue of a
// folder to give it free. An editor that holds it keeps it: whether it worked
// shows when the queue is opened.
func MakeRoom(ctx context.Context, dir string) {
	ctx, cancel := context.WithTimeout(ctx, LeaveTime)
	defer cancel()
	_ = AskToLeave(ctx, dir)
}
