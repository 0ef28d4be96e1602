package pendingedits

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Accept applies what sel chooses to the base: first the single edits, all
// together or, when that fails, file by file, so that only the bad ones stay
// pending, with the reason; then each batch, all of it or nothing; and when all
// files are there, the commits of the batches that were accepted. A file is
// accepted as it was chosen or not at all. It fails with workspace.ErrConflict,
// and has done nothing, when a hunk is not pending any more or something is
// newer than sel.Revision; with ErrBatch when sel names a part of a batch.
func (s *Store) Accept(ctx context.Context, sel Selection) (AcceptResult, error) {
	if err := s.own(ctx, true); err != nil {
		return AcceptResult{}, err
	}
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	if err := s.endDoubt(ctx); err != nil {
		return AcceptResult{}, err
	}
	defer func() { s.made = nil }() // it may be giant
	res, landed, err := s.acceptFiles(ctx, sel)
	s.decided(Decision{What: "accept", Changes: s.made, Failed: res.Failed, Err: err})
	if err != nil {
		return AcceptResult{}, err
	}
	for _, session := range landed {
		res.Commits = append(res.Commits, s.makeCommits(ctx, session)...)
	}
	res.Commits = append(res.Commits, s.makeReady(ctx, sel, true)...)
	slices.Sort(res.Accepted)
	res.Revision = s.Revision()
	return res, nil
}

// acceptFiles is Accept without the commits: it returns the sessions whose
// batch has landed.
func (s *Store) acceptFiles(ctx context.Context, sel Selection) (res AcceptResult, landed []string, err error) {
	defer s.hold()()
	s.mu.Lock()
	picks, failed, err := s.pick(ctx, sel)
	sessions := s.sessionsOf(picks, sel)
	s.mu.Unlock()
	if err != nil {
		return AcceptResult{}, nil, err
	}
	res.Failed = failed
	single := acceptance{}
	batches := map[string][]picked{}
	for _, p := range picks {
		switch {
		case !p.e.batch:
			if err := single.add(p); err != nil {
				res.Failed = append(res.Failed, Failure{p.e.name, err})
			}
		case len(sel.Names)+len(sel.Hunks) > 0:
			return AcceptResult{}, nil, fmt.Errorf("%s: %w", p.e.name, ErrBatch)
		default:
			batches[p.e.session] = append(batches[p.e.session], p)
		}
	}
	if err := s.apply(ctx, &single, &res); err != nil {
		return AcceptResult{}, nil, err
	}
	for _, session := range sessions {
		if s.acceptBatch(ctx, session, batches[session], &res) {
			landed = append(landed, session)
		}
	}
	return res, landed, nil
}

// acceptance is one application of edits to the base.
type acceptance struct {
	batch   bool // all or nothing
	session string
	ready   []picked
	changes []decided
}

// add takes p in, or says why it can't be accepted.
func (a *acceptance) add(p picked) error {
	c, err := p.change()
	if err == nil {
		a.ready, a.changes = append(a.ready, p), append(a.changes, p.decided(c))
	}
	return err
}

// apply makes a's changes, and says in res what was done. The error says that
// nothing was.
func (s *Store) apply(ctx context.Context, a *acceptance, res *AcceptResult) error {
	errs, err := s.change(ctx, "accept", a.changes, a.batch, func(failed []error) (record, error) {
		var done []picked
		item := undoItem{batch: a.batch}
		for i, p := range a.ready {
			if failed == nil || failed[i] == nil {
				done = append(done, p)
				item.changes = append(item.changes, a.changes[i])
			}
		}
		r := s.accepted(done)
		if done != nil {
			r.undo = []undoItem{item}
		}
		r.commits = s.landed(a.session, item.changes, false)
		return r, nil
	})
	if err != nil {
		return err
	}
	var notes []note
	var names []string
	for i, p := range a.ready {
		if errs[i] != nil {
			res.Failed = append(res.Failed, Failure{p.e.name, errs[i]})
			continue
		}
		names = append(names, p.e.name)
		s.made = append(s.made, a.changes[i].told()...)
		for _, session := range a.changes[i].sessions() {
			notes = append(notes, note{session, "The user accepted " + p.say(session) + "."})
		}
	}
	res.Accepted = append(res.Accepted, names...)
	if a.batch && len(names) > 0 {
		notes = []note{{a.session, "The user accepted your batch: " + listed(names) + "."}}
	}
	s.notify(notes)
	return nil
}

// listed is names for a sentence, not too many.
func listed(names []string) string {
	const most = 10
	if len(names) > most {
		return fmt.Sprintf("%s and %d more files", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// accepted returns what is left of the entries. s.mu is held.
func (s *Store) accepted(picks []picked) record {
	var r record
	for _, p := range picks {
		e := s.entries[p.e.name]
		rest, less := p.left(e, true)
		switch {
		case less && rest == nil:
			r.drops = append(r.drops, p.e.name)
		case less:
			r.puts = append(r.puts, rest)
		}
	}
	return r
}

// Reject drops what sel chooses and tells the agent, with the reason if there
// is one. Nothing was done, so nothing is undone. What is dropped from a batch
// leaves its commits too, and a commit that has nothing left is dropped. Its
// errors are those of Accept, and fs.ErrNotExist for a name that has no edit.
func (s *Store) Reject(ctx context.Context, sel Selection, reason string) (RejectResult, error) {
	if err := s.own(ctx, true); err != nil {
		return RejectResult{}, err
	}
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	if err := s.endDoubt(ctx); err != nil {
		return RejectResult{}, err
	}
	defer func() { s.made = nil }() // it may be giant
	res, notes, seq, err := s.reject(ctx, sel, reason)
	if err == nil {
		err = s.log.sync("reject", seq)
	}
	s.decided(Decision{What: "reject", Reason: reason, Changes: s.made, Err: err})
	if err != nil {
		return RejectResult{}, err
	}
	s.notify(notes)
	res.Made = s.makeReady(ctx, Selection{}, false)
	return res, nil
}

func (s *Store) reject(ctx context.Context, sel Selection, reason string) (res RejectResult, notes []note, seq int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	picks, failed, err := s.pick(ctx, sel)
	if err == nil && len(failed) > 0 {
		err = failed[0].Err
	}
	if err != nil {
		return res, nil, 0, err
	}
	if reason == "" {
		reason = "no reason given"
	}
	var r record
	for _, p := range picks {
		s.refuse(p)
		if rest, _ := p.left(p.e, false); rest != nil {
			r.puts = append(r.puts, rest)
		} else {
			r.drops = append(r.drops, p.e.name)
		}
		res.Rejected = append(res.Rejected, p.e.name)
		d := p.rejected()
		s.made = append(s.made, d.told()...)
		for _, session := range d.sessions() {
			notes = append(notes, note{session, "The user rejected " + p.say(session) + ": " + reason})
		}
	}
	if err := ctx.Err(); err != nil {
		s.made = nil
		return RejectResult{}, nil, 0, err
	}
	r.commits, r.unqueued = s.withoutRejected(picks, s.chosenCommits(sel))
	for _, q := range s.commits {
		if slices.Contains(r.unqueued, q.id) {
			res.Commits = append(res.Commits, q.describe())
			notes = append(notes, note{q.session, fmt.Sprintf("Your queued commit %q will not be made: %s", q.message, reason)})
		}
	}
	if picks != nil || r.unqueued != nil {
		seq, err = s.commit("reject", r)
	}
	slices.Sort(res.Rejected)
	res.Revision = s.revision
	return res, notes, seq, err
}

// Propose makes text the proposal for a file that has one: the user's own edit
// of it. Conflicts are over, because the user has seen both. It fails with
// fs.ErrNotExist when nothing is pending for the file.
func (s *Store) Propose(ctx context.Context, name string, text []byte) error {
	if err := s.own(ctx, true); err != nil {
		return err
	}
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	if err := s.endDoubt(ctx); err != nil {
		return err
	}
	notes, made, seq, err := s.repropose(name, text)
	if err == nil {
		err = s.log.sync("propose", seq)
	}
	s.decided(Decision{What: "propose", Changes: []Decided{made}, Err: err})
	if err != nil {
		return err
	}
	s.notify(notes)
	s.makeReady(ctx, Selection{}, false)
	return nil
}

func (s *Store) repropose(name string, text []byte) (notes []note, made Decided, _ int64, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	made.Path = name
	e, err := s.find(name)
	if err != nil {
		return nil, made, 0, err
	}
	name = e.name
	made = Decided{workspace.Change{Path: name}, e.session, e.tool}
	if e.isLink() {
		return nil, made, 0, refuse(name, errLink)
	}
	g := s.stage(e.by())
	g.user = true
	before, err := g.current(name)
	if err != nil {
		return nil, made, 0, err
	}
	made.Before, made.After = before, text
	g.want[name] = file(text)
	r, err := g.record()
	if err != nil {
		return nil, made, 0, err
	}
	r.commits, r.unqueued = s.withParts(func(q *queued, p part) (part, bool) {
		if p.name == name && (e.batch && q.session == e.session || q.loose && slices.Contains(e.owners(), q.session)) {
			return p.rebase(before, file(text)), len(r.puts) > 0 || p.landed > 0
		}
		return p, true
	})
	said := "The user changed your proposal for " + name + "; read the file again before you edit it."
	if len(r.puts) == 0 {
		said = "The user changed your proposal for " + name + " back to what the file is; nothing is pending for it."
	}
	for _, session := range e.owners() {
		notes = append(notes, note{session, said})
	}
	seq, err := s.commit("propose", r)
	return notes, made, seq, err
}
