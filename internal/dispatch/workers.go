package dispatch

import "sync"

// maxParked is how many goroutines wait for work.
const maxParked = 4

// workers run functions in goroutines that stay for the next one, as long as
// few others do: a new goroutine would first have to grow its stack, which is
// much of what a small call takes.
type workers struct {
	work   chan func()   // to those that wait
	parked chan struct{} // has one for each of them
	closed chan struct{}
	once   sync.Once // closes closed
}

func newWorkers() *workers {
	return &workers{work: make(chan func()), parked: make(chan struct{}, maxParked), closed: make(chan struct{})}
}

// run runs f beside the caller. f must not panic.
func (w *workers) run(f func()) {
	select {
	case w.work <- f:
	default:
		go w.loop(f)
	}
}

func (w *workers) loop(f func()) {
	for {
		f()
		select {
		case w.parked <- struct{}{}:
		default:
			return
		}
		select {
		case f = <-w.work:
			<-w.parked
		case <-w.closed:
			return
		}
	}
}

// close ends those that wait and, when they have finished, those that work.
func (w *workers) close() { w.once.Do(func() { close(w.closed) }) }
