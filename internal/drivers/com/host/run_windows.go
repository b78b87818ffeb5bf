package host

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/drivers/com"
)

const (
	// maxRequest limits a request, and maxReply a reply, in bytes.
	maxRequest = 64 << 20
	maxReply   = 32 << 20

	apartmentThreaded = 2
	allInput          = 0x4FF
	inputAvailable    = 4
	removeMessage     = 1
)

// Run runs requests from in and writes replies to out, both a line each, until the end of in. It is all that its process does, and
// returns the process's exit status.
func Run(in io.Reader, out io.Writer) int {
	runtime.LockOSThread() // the apartment is this thread
	l := newLibrary()
	if hr := call(l.initialize, 0, apartmentThreaded); failed(hr) {
		return 1
	}
	arrived, err := windows.CreateEvent(nil, 0, 0, nil)
	if err != nil {
		return 1
	}
	requests := make(chan []byte, 1)
	go readRequests(in, requests, arrived)
	replies := &replyWriter{out: out}
	for {
		l.pump(arrived, windows.INFINITE)
		select {
		case line, open := <-requests:
			if !open {
				endProcess(0) // an ordinary exit may hang while threads of COM run
			}
			var r com.Request
			if json.Unmarshal(line, &r) != nil {
				endProcess(1)
			}
			l.serve(&r, replies)
		default:
		}
	}
}

func endProcess(status uint32) { _ = windows.TerminateProcess(windows.CurrentProcess(), status) }

// readRequests passes on each line and signals it.
func readRequests(in io.Reader, requests chan<- []byte, arrived windows.Handle) {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxRequest)
	for lines.Scan() {
		requests <- append([]byte(nil), lines.Bytes()...)
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
	out io.Writer

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
	line, err := json.Marshal(r)
	if err == nil && len(line) > maxReply {
		err = errors.New("the answer is too long; ask the app for less at a time")
	}
	if err != nil {
		failure := com.Failure{Message: err.Error(), Begun: true}
		if r.Failure != nil {
			failure.Step = r.Failure.Step
		}
		line, _ = json.Marshal(&com.Reply{Failure: &failure})
	}
	w.sent = number
	_, err = w.out.Write(append(line, '\n'))
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
