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
//	open            read the frames, cut off a torn last one, replay them; a damaged file is kept under another name
//	compact         when most of the log is outdated: the state as records in a new file, renamed over the old one
//
// Accepting changes files, which no log can do: a record of the intent goes
// first, then the files change in one journaled batch, then a record of the
// outcome. After a crash in between, recovery compares the files with the
// intent: what was made is recorded, a batch that was partly made is finished, and
// one of which nothing was made is undecided as long as an editor may still make it.
//
//	the store      store.go, guarded.go (the lock), open.go, own.go (one process at a time)
//	the log        internal/wal (frames), codec.go (records), state.go (what they make true), queue.go (commit: the one place that appends), recover.go
//	hunks          internal/hunk (where they are in another text, whose they are), entry.go, live.go and resolve.go (conflicts)
//	the view       view.go, stage.go (an edit becomes entries), names.go, foldernames.go
//	decisions      pick.go, intent.go (what accept, undo and redo share), accept.go (reject too), refuse.go, undo.go, undolog.go, turn.go (also of what nobody reviewed), history.go, withdraw.go, decision.go
//	batches        batch.go, commit.go, commitrun.go, loose.go (commits that wait for files)
package pendingedits
