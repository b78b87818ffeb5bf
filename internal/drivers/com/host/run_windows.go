package host

import (
	"errors"
	"io"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/drivers/com"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
)

const (
	// maxMessage limits a request and a reply, in bytes.
	maxMessage = 32 << 20

	apartmentThreaded = 2
	allInput          = 0x4FF
	inputAvailable    = 4
	removeMessage     = 1
)

// Run runs requests from in and writes replies to out, after an empty reply at the start, until the end of in. It is all that its process does, and
// returns the process's exit status.
func Run(in io.Reader, out io.Writer) int {
	runtime.LockOSThread() // the apartment is this thread
	l := newLibrary()
	if hr := comcall.Call(l.initialize, 0, apartmentThreaded); comcall.Failed(hr) {
		return 1
	}
	arrived, err := windows.CreateEvent(nil, 0, 0, nil)
	if err != nil {
		return 1
	}
	connection := com.NewConnection(in, out, maxMessage)
	if connection.Send(&com.Reply{}) != nil { // describes the type, so that a later reply may be too long
		return 1
	}
	requests := make(chan *com.Request, 1)
	go readRequests(connection, requests, arrived)
	replies := &replyWriter{out: connection}
	for {
		l.pump(arrived, windows.INFINITE)
		select {
		case r, open := <-requests:
			if !open {
				endProcess(0) // an ordinary exit may hang while threads of COM run
			}
			l.serve(r, replies)
		default:
		}
	}
}

func endProcess(status uint32) { _ = windows.TerminateProcess(windows.CurrentProcess(), status) }

// readRequests passes on each request and signals it.
func readRequests(in *com.Connection, requests chan<- *com.Request, arrived windows.Handle) {
	for {
		r := new(com.Request)
		if in.Receive(r) != nil {
			break
		}
		requests <- r
		_ = windows.SetEvent(arrived)
	}
	close(requests)
	_ = windows.SetEvent(arrived)
}

// pump dispatches the messages of the apartment until the event, or for the time.
func (l *library) pump(event windows.Handle, millis uint32) {
	end := time.Now().Add(time.Duration(millis) * time.Millisecond)
	var message [64]byte // a MSG has 48
	for {
		got, _, _ := l.waitMessages.Call(1, addressOf(&event), uintptr(millis), allInput, inputAvailable)
		if got != 1 {
			return
		}
		for {
			if more, _, _ := l.peekMessage.Call(addressOf(&message[0]), 0, 0, 0, removeMessage); more == 0 {
				break
			}
			_, _, _ = l.translate.Call(addressOf(&message[0]))
			_, _, _ = l.dispatchMessage.Call(addressOf(&message[0]))
		}
		if millis != windows.INFINITE {
			left := time.Until(end)
			if left <= 0 {
				return
			}
			millis = uint32(left.Milliseconds()) + 1
		}
	}
}

// A replyWriter writes one reply for each request.
type replyWriter struct {
	out *com.Connection

	mu   sync.Mutex
	sent int // number of the last request with a reply
}

// send writes the reply of the request with the number, unless it has one.
func (w *replyWriter) send(number int, r *com.Reply) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sent >= number {
		return false
	}
	err := w.out.Send(r)
	if errors.Is(err, com.ErrTooLong) {
		failure := com.Failure{Message: "the answer is too long; ask the app for less at a time", Begun: true}
		if r.Failure != nil {
			failure.Step = r.Failure.Step
		}
		err = w.out.Send(&com.Reply{Failure: &failure})
	}
	w.sent = number
	return err == nil
}

// serve runs one request. If it takes too long, another thread replies and ends the process.
func (l *library) serve(r *com.Request, replies *replyWriter) {
	replies.mu.Lock()
	number := replies.sent + 1
	replies.mu.Unlock()
	s := &session{library: l, vars: map[string]held{}}
	late := time.AfterFunc(time.Until(r.Deadline), func() {
		f := s.progress()
		f.Late = true
		if replies.send(number, &com.Reply{Failure: &f}) {
			endProcess(2)
		}
	})
	var reply *com.Reply
	if r.Describe != "" {
		reply = s.describe(r)
	} else {
		reply = s.run(r)
	}
	late.Stop()
	s.releaseAll()
	replies.send(number, reply)
}
