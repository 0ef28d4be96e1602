package net

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// Networks are the networks of sessions. Each is made with the first command of its
// session, and ends with the session. The zero value with Self can be used.
type Networks struct {
	Self   string       // the path of this program
	Failed func(error)  // hears why one can't be made, once; nil: nobody does
	Made   func(*Joint) // is called once one is made, before anybody has it; nil: nothing is
	Over   func()       // is called when one has ended with its session; nil: nothing is

	mu       sync.Mutex
	of       map[string]*Joint
	failures int
	again    time.Time // when the next one is tried, after one that failed
	closed   bool
}

// pause is how long nothing is tried after a failure: what a machine can't do is not
// tried with each command.
const pause = time.Minute

var errClosed = errors.New("the server ends")

// Joint is the network that the commands of one session share.
type Joint struct {
	*Network

	session string
	ended   <-chan struct{}
	left    chan struct{}
	leave   func()
	shut    chan struct{} // closed when the server ends
	once    sync.Once
	ready   bool // is guarded by the lock of Networks
	err     error
}

// Left is closed when the session has ended: what runs in its network is to end, too.
func (j *Joint) Left() <-chan struct{} {
	if j == nil {
		return nil
	}
	return j.left
}

// Session is the session's name.
func (j *Joint) Session() string { return j.session }

// Join returns the network of a session, which it makes if there is none. ended is
// closed when the session ends. nil: there is none, and the command gets another.
func (s *Networks) Join(session string, ended <-chan struct{}) *Joint {
	select {
	case <-ended:
		return nil
	default:
	}
	s.mu.Lock()
	j := s.of[session]
	if j != nil && (j.ended != ended || j.ready && j.Ended()) { // another session of that name, or its resident is gone
		if j.ended != ended {
			j.leave()
		}
		j = nil
	}
	if j == nil {
		if s.closed || s.Self == "" || time.Now().Before(s.again) {
			s.mu.Unlock()
			return nil
		}
		j = &Joint{session: session, ended: ended, left: make(chan struct{}), shut: make(chan struct{})}
		j.leave = sync.OnceFunc(func() { close(j.left) })
		if s.of == nil {
			s.of = map[string]*Joint{}
		}
		s.of[session] = j
	}
	s.mu.Unlock()
	j.once.Do(func() { s.make(j) })
	if j.err != nil {
		return nil
	}
	return j
}

// make makes the network, and ends it with its session.
func (s *Networks) make(j *Joint) {
	n, err := Start(s.Self)
	if err == nil {
		j.Network = n // nobody else looks before it is ready
		if s.Made != nil {
			s.Made(j)
		}
		err = n.Ready()
	}
	s.mu.Lock()
	if err == nil && s.closed {
		err = errClosed
	}
	j.ready, j.err = err == nil, err
	tell := false
	if err != nil {
		tell = s.failures == 0 && !s.closed && s.Failed != nil
		s.failures++
		s.again = time.Now().Add(pause)
		s.drop(j)
	}
	s.mu.Unlock()
	if tell {
		s.Failed(err)
	}
	if err != nil {
		j.leave()
		s.end(j)
		return
	}
	go func() {
		gone := j.Gone()
		for over := false; !over; {
			select {
			case <-gone:
				gone = nil // what runs in it goes on, until the session ends
			case <-j.ended:
				j.leave()
				over = true
			case <-j.left:
				over = true
			case <-j.shut:
				over = true
			}
			s.end(j)
		}
	}()
}

// end ends a network's resident, and what waits in it.
func (s *Networks) end(j *Joint) {
	if j.Network != nil {
		j.Close()
	}
	s.mu.Lock()
	s.drop(j)
	s.mu.Unlock()
	if s.Over != nil {
		s.Over()
	}
}

// drop forgets a network. The caller holds the lock.
func (s *Networks) drop(j *Joint) {
	if s.of[j.session] == j {
		delete(s.of, j.session)
	}
}

// Get is the network of a session; nil: it has none.
func (s *Networks) Get(session string) *Joint {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.of[session]; j != nil && j.ready && !j.Ended() {
		return j
	}
	return nil
}

// All are those that there are, by the names of their sessions.
func (s *Networks) All() (list []*Joint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range slices.Sorted(maps.Keys(s.of)) {
		if j := s.of[session]; j.ready && !j.Ended() {
			list = append(list, j)
		}
	}
	return list
}

// Close ends the residents. Commands that run go on, each session's in its network.
func (s *Networks) Close() {
	s.mu.Lock()
	all := s.of
	s.of, s.closed = nil, true
	all = maps.Clone(all)
	maps.DeleteFunc(all, func(_ string, j *Joint) bool { close(j.shut); return !j.ready }) // what is being made ends with that
	s.mu.Unlock()
	for _, j := range all {
		j.Close()
	}
}
