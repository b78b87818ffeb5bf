package inputlock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// The three locks; see the package.
const (
	questionLock = "asks"
	inputLock    = "input"
	actionLock   = "deeds"
)

// A lockNames is where the files of one display are: the beginning of their names.
type lockFiles struct{ path string }

// A state is what the gateways know of each other. Only who holds the lock of input
// writes it.
type state struct {
	// Count is how often the seat was taken for a stroke.
	Count uint64 `json:"count"`
	// Holder made the last stroke, Asker had the last question.
	Holder int         `json:"holder,omitempty"`
	Asker  int         `json:"asker,omitempty"`
	Held   []HeldInput `json:"held,omitempty"`
}

// HeldInput is what one gateway holds on the screen between two strokes.
type HeldInput struct {
	// Process and Connection are who, as the X server knows them.
	Process    int    `json:"process"`
	Connection uint32 `json:"connection"`
	// Buttons of the person's pointer that are down.
	Buttons []byte `json:"buttons,omitempty"`
	// Keys are those that have got a meaning, and which.
	Keys map[byte]uint32 `json:"keys,omitempty"`
	// Locked says that the locks of the keyboard were put out; Modifiers and Group are
	// what was locked.
	Locked    bool `json:"locked,omitempty"`
	Modifiers byte `json:"modifiers,omitempty"`
	Group     byte `json:"group,omitempty"`
}

// IsEmpty reports whether nothing is held.
func (h HeldInput) IsEmpty() bool { return len(h.Buttons) == 0 && len(h.Keys) == 0 && !h.Locked }

// withoutProcess are those that are not of the same gateway.
func withoutProcess(held []HeldInput, h HeldInput) []HeldInput {
	var others []HeldInput
	for _, other := range held {
		if other.Process != h.Process || other.Connection != h.Connection {
			others = append(others, other)
		}
	}
	return others
}

// maxState bounds the file. What is longer is no state.
const maxState = 1 << 16

// readState returns what is known. A file that is not understood is one that nobody wrote;
// a count that goes back is another count too.
func (p lockFiles) readState() state {
	b, err := os.ReadFile(p.path + ".json")
	var st state
	if err != nil || len(b) > maxState || json.NewDecoder(bytes.NewReader(b)).Decode(&st) != nil {
		return state{}
	}
	return st
}

// writeState replaces the state. The file is never without a whole one in it.
func (p lockFiles) writeState(st state) error {
	b, err := json.Marshal(st)
	if err != nil {
		return err
	}
	return atomicfile.Replace(p.path+".json", b) // the lock is ours, so nobody else writes it
}

// Why a lock was not had.
var (
	errHeld     = errors.New("the lock is held")
	errQuestion = errors.New("the lock is a question's")
)

// A wanted is a lock that is waited for.
type lockRequest struct {
	name             string
	limit            time.Duration // how long, if that is bounded
	yieldToQuestions bool          // not while somebody asks
}

// acquire takes one of the locks, which it waits for until the context ends. It fails with
// errHeld where another one holds it, with errAsked where that is a question.
func (p lockFiles) acquire(ctx context.Context, w lockRequest, try func(*flock.Flock) (bool, error)) (*flock.Flock, error) {
	lock := flock.New(p.path+"."+w.name, flock.SetPermissions(0o600))
	begun := time.Now()
	for wait := minRetryPause; ; wait = min(2*wait, maxRetryPause) {
		taken, err := try(lock)
		switch {
		case err != nil:
			return nil, err
		case taken && stays(lock, p.path+"."+w.name):
			return lock, nil
		case taken:
			_ = lock.Unlock() // of a file that has been removed
		}
		if w.yieldToQuestions {
			if asked, err := p.hasQuestion(); err != nil || asked {
				return nil, errQuestion
			}
		}
		if w.limit > 0 && time.Since(begun) > w.limit || aai.Sleep(ctx, wait) != nil {
			return nil, errHeld
		}
	}
}

// stays reports whether the file, or the lock's, is the one that others find.
func stays(file interface{ Stat() (os.FileInfo, error) }, path string) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	theirs, err := os.Stat(path)
	return err == nil && os.SameFile(mine, theirs)
}

// hasQuestion reports whether somebody asks, or waits to ask.
func (p lockFiles) hasQuestion() (bool, error) {
	lock := flock.New(p.path+"."+questionLock, flock.SetPermissions(0o600))
	free, err := lock.TryRLock()
	if free {
		_ = lock.Unlock()
	}
	return !free, err
}

// awaitAnswer waits until nobody asks, in which the call's time stands still. It leaves
// time of the context.
func (p lockFiles) awaitAnswer(ctx context.Context) error {
	defer aai.PauseDeadline(ctx)()
	for {
		asked, err := p.hasQuestion()
		deadline, ends := ctx.Deadline()
		switch {
		case err != nil:
			return unusableError(err)
		case !asked:
			return nil
		case ends && time.Until(deadline) < replyReserve, aai.Sleep(ctx, maxRetryPause) != nil:
			return busyError(p.readState().Asker)
		}
	}
}

// retry is when a call that was kept waiting may come again.
const retry = 10 * time.Second

func busyError(asker int) error {
	e := aai.Errorf(aai.RateLimited, "not now: the person at this computer is being asked something, and the pointer, the keyboard and the focus are theirs until they answered")
	e.Delivery, e.RetryAfter = aai.NotDelivered, retry
	e.Hint = "You have not called too often: call again when the question is answered."
	if asker != 0 {
		e.Hint += fmt.Sprintf(" If none is to be seen, the gateway of process %d may stand still: the person may end it.", asker)
	}
	return e
}

// unusableError is the error of a seat that cannot be shared: what cannot be shared is not
// used.
func unusableError(err error) error {
	e := aai.Errorf(aai.AutomationFailed, "the pointer and the keyboard cannot be shared with the person's other gateways: %w", err)
	e.Delivery = aai.NotDelivered
	e.Hint = "See that the folder can be written and is nobody else's."
	return e
}

// questionRefusedError is the error of a question that is not put because it would not have the
// seat.
func questionRefusedError(err error) error {
	e := *aai.AsError(err)
	e.Code = aai.ConsentRequired
	e.Message = "nobody was asked: " + e.Message
	return &e
}
