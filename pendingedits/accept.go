package pendingedits

import (
	"cmp"
	"context"
	"errors"
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
	release, err := s.decide(ctx)
	if err != nil {
		return AcceptResult{}, err
	}
	defer release()
	o, commits, landed, err := s.acceptFiles(ctx, sel)
	announce(s.opts.Observer, Decision{What: "accept", Changes: o.made, Failed: o.failed, Err: err}, o.notes)
	if err != nil {
		return AcceptResult{}, err
	}
	o.made = nil // it may be giant
	for _, session := range landed {
		commits = append(commits, s.makeCommits(ctx, ofBatch(session))...)
	}
	commits = append(commits, s.makeCommits(ctx, ready(sel, true))...)
	slices.Sort(o.names)
	return AcceptResult{Accepted: o.names, Failed: o.failed, Commits: commits, Revision: s.Revision()}, nil
}

// acceptFiles is Accept without the commits that are made: it returns those that wait on,
// and the sessions whose batch has landed.
func (s *guarded) acceptFiles(ctx context.Context, sel Selection) (all outcome, commits []CommitResult, landed []string, err error) {
	defer s.hold()()
	s.mu.Lock()
	picks, failed, err := s.pick(ctx, sel)
	sessions := s.sessionsOf(picks, sel)
	s.mu.Unlock()
	if err != nil {
		return outcome{}, nil, nil, err
	}
	all.failed = failed
	single := intent{op: "accept"}
	batches := map[string]*intent{}
	for _, session := range sessions { // of commits alone, some
		batches[session] = &intent{op: "accept", batch: true, session: session}
	}
	for _, p := range picks {
		switch {
		case !p.e.batch:
			single.accept(p)
		case len(sel.Names)+len(sel.Hunks) > 0:
			return outcome{}, nil, nil, fmt.Errorf("%s: %w", p.e.name, ErrBatch)
		default:
			batches[p.e.session].accept(p)
		}
	}
	if err := s.accept(ctx, &single, &all); err != nil {
		return outcome{}, nil, nil, err
	}
	for _, session := range sessions {
		in, failed := batches[session], len(all.failed)
		err := s.accept(ctx, in, &all)
		if err == nil && len(all.failed) == failed {
			landed = append(landed, session)
			continue
		}
		if err != nil {
			for _, st := range in.steps {
				all.failed = append(all.failed, Failure{st.name, err})
			}
		}
		s.mu.Lock()
		for _, q := range ofBatch(session)(&s.queue) {
			commits = append(commits, CommitResult{Message: q.message, Err: errors.New("it is made when the files of its batch are accepted")})
		}
		s.mu.Unlock()
	}
	return all, commits, landed, nil
}

// accept carries out an intent, and adds to all what was done. The error says that nothing
// was.
func (s *guarded) accept(ctx context.Context, in *intent, all *outcome) error {
	if err := s.carryOut(ctx, in, "the batch is accepted as a whole, and %s can't be: %w"); err != nil {
		return err
	}
	o := in.outcome(func(st step, session string) string { return "The user accepted " + st.picked.say(session) + "." })
	if in.batch && len(o.names) > 0 {
		o.notes = []note{{in.session, "The user accepted your batch: " + listed(o.names) + "."}}
	}
	all.names, all.failed = append(all.names, o.names...), append(all.failed, o.failed...)
	all.made, all.notes = append(all.made, o.made...), append(all.notes, o.notes...)
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

// Reject drops what sel chooses and tells the agent, with the reason if there
// is one. UndoTo with its id, or Last, makes it pending again. What is dropped from a batch
// leaves its commits too, and a commit that has nothing left is dropped. Its
// errors are those of Accept, and fs.ErrNotExist for a name that has no edit.
func (s *Store) Reject(ctx context.Context, sel Selection, reason string) (RejectResult, error) {
	release, err := s.decide(ctx)
	if err != nil {
		return RejectResult{}, err
	}
	defer release()
	var res RejectResult
	var o outcome
	err = s.write("reject", func() (r record, err error) {
		r, res, o, err = planReject(ctx, &s.queue, sel, cmp.Or(reason, "no reason given"))
		return r, err
	})
	if err != nil {
		o.notes = nil
	}
	announce(s.opts.Observer, Decision{What: "reject", Reason: reason, Changes: o.made, Err: err}, o.notes)
	if err != nil {
		return RejectResult{}, err
	}
	res.Made = s.makeCommits(ctx, ready(Selection{}, false))
	return res, nil
}

// planReject is what rejecting comes to.
func planReject(ctx context.Context, q *queue, sel Selection, reason string) (r record, res RejectResult, o outcome, err error) {
	picks, failed, err := q.pick(ctx, sel)
	if err == nil && len(failed) > 0 {
		err = failed[0].Err
	}
	if err != nil {
		return r, res, o, err
	}
	picks = q.alongWith(picks)
	for _, p := range picks {
		q.refuse(p)
		if rest, _ := p.left(p.e, false); rest != nil {
			r.puts = append(r.puts, rest)
		} else {
			r.drops = append(r.drops, p.e.name)
		}
		res.Rejected = append(res.Rejected, p.e.name)
		d := p.rejected()
		o.made = append(o.made, d.told()...)
		for _, session := range d.sessions() {
			o.notes = append(o.notes, note{session, "The user rejected " + p.say(session) + ": " + reason})
		}
	}
	if err := ctx.Err(); err != nil {
		return record{}, RejectResult{}, outcome{}, err
	}
	r.commits, r.unqueued = q.withoutRejected(picks, q.chosenCommits(sel))
	if j := dropped(q, picks, r.commits, r.unqueued); len(j.entries)+len(j.commits) > 0 {
		r.rejected = []rejection{j}
	}
	for _, c := range q.commits {
		if slices.Contains(r.unqueued, c.id) {
			res.Commits = append(res.Commits, c.describe())
			o.notes = append(o.notes, note{c.session, fmt.Sprintf("Your queued %s %q will not be made: %s", c.noun(), c.message, reason)})
		}
	}
	slices.Sort(res.Rejected)
	res.Revision = q.revision
	if picks == nil && r.unqueued == nil {
		return r, res, o, errNothing
	}
	res.Revision++ // that of the record
	return r, res, o, nil
}

// alongWith adds to what is rejected the new files for which there is no room without it:
// below a file that stays, or with the name of a directory that keeps one.
func (s *queue) alongWith(picks []picked) []picked {
	var stay []string
	for _, p := range picks {
		if p.e.from != "" {
			stay = append(stay, p.e.from)
		} else if p.e.kind() == "delete" {
			stay = append(stay, p.e.name)
		}
	}
	for _, e := range s.sorted() {
		hinders := func(name string) bool {
			return strings.HasPrefix(e.name, name+"/") || strings.HasPrefix(name, e.name+"/")
		}
		there := func(p picked) bool { return p.e.name == e.name }
		if e.from == "" && e.base != nil || !slices.ContainsFunc(stay, hinders) || slices.ContainsFunc(picks, there) {
			continue
		}
		if p, err := s.pickOf(e, nil, Selection{}); err == nil {
			picks = append(picks, p)
		}
	}
	return picks
}

// Propose makes text the proposal for a file that has one: the user's own edit
// of it. Conflicts are over, because the user has seen both. It fails with
// fs.ErrNotExist when nothing is pending for the file.
func (s *Store) Propose(ctx context.Context, name string, text []byte) error {
	release, err := s.decide(ctx)
	if err != nil {
		return err
	}
	defer release()
	made := Decided{Change: workspace.Change{Path: name}}
	var notes []note
	err = s.write("propose", func() (r record, err error) {
		r, notes, err = planProposal(&s.queue, text, &made)
		return r, err
	})
	if err != nil {
		notes = nil
	}
	announce(s.opts.Observer, Decision{What: "propose", Changes: []Decided{made}, Err: err}, notes)
	if err == nil {
		s.makeCommits(ctx, ready(Selection{}, false))
	}
	return err
}

// planProposal is what a text comes to that the user proposes for the file of made, which it
// completes.
func planProposal(q *queue, text []byte, made *Decided) (record, []note, error) {
	e, err := q.find(made.Path)
	if err != nil {
		return record{}, nil, err
	}
	name := e.name
	*made = Decided{workspace.Change{Path: name}, e.session, e.tool}
	if e.isLink() {
		return record{}, nil, refuse(name, errLink)
	}
	g := q.stage(e.by())
	g.user = true
	r, err := g.propose(e, file(text), made)
	if err != nil {
		return record{}, nil, err
	}
	said := "The user changed your proposal for " + name + "; read the file again before you edit it."
	if len(r.puts) == 0 {
		said = "The user changed your proposal for " + name + " back to what the file is; nothing is pending for it."
	}
	var notes []note
	for _, session := range e.owners() {
		notes = append(notes, note{session, said})
	}
	return r, notes, nil
}

// propose makes text the proposal of e, nil that there is no file, and says in made what that changes.
func (g *stage) propose(e *entry, text []byte, made *Decided) (record, error) {
	name, q := e.name, g.s
	before, err := g.current(name)
	if err != nil {
		return record{}, err
	}
	made.Before, made.After = before, text
	g.want[name] = text
	r, err := g.record()
	if err != nil {
		return record{}, err
	}
	r.commits, r.unqueued = q.withParts(func(c *queued, p part) (part, bool) {
		if p.name == name && (e.batch && c.session == e.session || c.loose && slices.Contains(e.owners(), c.session)) {
			return p.rebase(before, text), len(r.puts) > 0 || p.landed > 0
		}
		return p, true
	})
	return r, nil
}
