// Package pendingedits is the review queue: file changes that wait for a
// person, hunk by hunk, while the files go on changing under them. It is itself
// a view of the files, in which the changes are already made. It survives a
// crash at any moment, and knows neither editors nor who decides.
//
// The state is in memory, and what made it is in a write-ahead log:
//
//	propose, accept, reject, undo
//	  └─ commit     encode the record, append it as a frame, then replay it in memory
//	      └─ sync   the frame is on the disk before anybody is answered
//	open            read frames up to a torn or damaged one, which is set aside; replay them
//	compact         when most of the log is outdated: the state as records in a new file, renamed over the old one
//
// Accepting changes files, which no log can do: a record of the intent goes
// first, then the files change in one journaled batch, then a record of the
// outcome. After a crash in between, recovery compares the files with the
// intent: what was made is recorded, what is missing of a batch is made, and a
// batch of which nothing is there is in doubt while an editor may still have it.
//
//	the log        log.go (frames), codec.go (records), replay.go, open.go, own.go (one process at a time)
//	hunks          entry.go, locate.go (where they are in another text), rework.go, resolve.go (conflicts), owners.go
//	the view       view.go, stage.go (an edit becomes entries), names.go, foldernames.go
//	decisions      pick.go, accept.go, change.go (intent and recovery), refuse.go, undo.go, undolog.go, turn.go (also of what nobody reviewed), history.go, again.go, withdraw.go, decision.go
//	batches        batch.go, commit.go, commitrun.go
package pendingedits
