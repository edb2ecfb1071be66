//go:build unix

package front

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"syscall"

	"minilb/native/forward"
)

// turn is called by the descriptor, first without knowing and then whenever
// there is something to read. Requests are answered inside of it: the
// descriptor remembers what comes meanwhile, and the read that would say that
// there is nothing yet is not made. What it cannot remember is an end that
// came together with the last bytes: the look-out finds that, if a phase began
// with them, for it looks once into each. If none did, that read is made.
func (c *conn) turn(fd uintptr) (done bool) {
	if c.r < c.w && c.work() {
		return true
	}
	for {
		began := c.since()
		switch got, whole := c.read(int(fd)); {
		case got < 0:
			return false
		case got == 0:
			c.ended()
			return true
		case c.work():
			return true
		case whole && c.since() != began:
			return false // the socket is empty, as far as epoll(7) is to be believed
		}
	}
}

// read reads what there is: 0 at the end, -1 when there is nothing. whole says
// that there is no more.
func (c *conn) read(fd int) (got int, whole bool) {
	room := c.room()
	n, err := syscall.Read(fd, room)
	for err == syscall.EINTR {
		n, err = syscall.Read(fd, room)
	}
	switch {
	case err == syscall.EAGAIN:
		return -1, true
	case n <= 0:
		return 0, true
	}
	c.w += n
	return n, n < len(room)
}

// ended is the end of what the client sends. Half a head is net/http's to
// complain about, which it does from the fourth byte after an answer on.
func (c *conn) ended() {
	c.todo = leave
	if c.r < c.w && (c.begun || !c.served) {
		c.todo = handOver
	}
}

// room is where the next bytes go.
func (c *conn) room() []byte {
	if c.r == c.w {
		c.r, c.w = 0, 0
		c.head = scan{}
	}
	if c.w == len(c.buf) {
		if c.r > 0 {
			copy(c.buf, c.buf[c.r:c.w])
			c.head.moved(c.r)
			c.r, c.w = 0, c.w-c.r
		} else {
			c.buf = append(c.buf, make([]byte, len(c.buf))...)
		}
	}
	return c.buf[c.w:]
}

// work answers what is whole in the buffer, and says whether the reading is to
// be left.
func (c *conn) work() (done bool) {
	for c.r < c.w {
		var going bool
		if c.todo, going = c.next(); !going {
			return c.todo != readOn
		}
	}
	return false
}

// next answers one request if it is whole, and says what is to be done, and
// whether there may be another in the buffer.
func (c *conn) next() (todo course, going bool) {
	switch c.parse() {
	case needMore:
		if c.r < c.w && !c.await() {
			return leave, false
		}
		return readOn, false
	case notOurs:
		return handOver, false
	case refused:
		c.refuse()
		return drainAndLeave, false
	}
	switch {
	case c.body != nil && !c.body.buffered():
		return serveOutside, false
	case !c.exchange():
		return leave, false
	}
	return readOn, true
}

// await is the phase in which the rest of a head is awaited.
func (c *conn) await() bool {
	if c.phase.Load() == inHead {
		return true
	}
	ok := c.enter(inHead)
	c.server.stir()
	return ok
}

// exchange answers one request, and says whether there may be another.
func (c *conn) exchange() (again bool) {
	if !c.enter(busy) {
		return false
	}
	c.server.stir()
	if c.body != nil && !c.body.buffered() {
		c.settle()
	}
	c.served, c.begun = true, false
	w := c.watch.Load()
	w.begin()
	whole := c.forward(w)
	if w.finish() {
		c.watch.Store(newWatch(c.server)) // somebody may still hold the old one
	}
	if c.body != nil {
		whole = c.body.finish(whole) && whole
		c.body, c.request.Body = nil, nil
	}
	if !whole || c.answer.close {
		return false
	}
	c.trim()
	return c.enter(idle)
}

// trim gives back what a large request or answer took: the connection may rest
// for long, and there may be many. An ordinary one keeps what it has.
func (c *conn) trim() {
	if c.large || len(c.answer.header) > maxKept {
		c.large, c.header, c.values, c.memory = false, nil, nil, forward.Memory{}
		c.request = forward.Request{Remote: c.request.Remote, Memory: &c.memory}
	}
	c.answer.trim()
}

// forward has the request answered, and says whether the answer is whole.
func (c *conn) forward(ctx context.Context) (whole bool) {
	defer func() {
		if fault := recover(); fault != nil {
			c.panicked(fault)
			whole = false
		}
	}()
	c.answer.begin()
	c.server.Forward(ctx, &c.answer, &c.request)
	return c.answer.finish()
}

// panicked sends what was answered so far; its client sees that the rest is
// missing.
func (c *conn) panicked(fault any) {
	_ = c.answer.flush()
	if err, is := fault.(error); !is || !errors.Is(err, http.ErrAbortHandler) {
		c.printPanic(fault)
	}
}

func (c *conn) printPanic(fault any) {
	stack := make([]byte, 64<<10)
	stack = stack[:runtime.Stack(stack, false)]
	c.server.logf("panic serving %s: %v\n%s", c.request.Remote, fault, stack)
}
