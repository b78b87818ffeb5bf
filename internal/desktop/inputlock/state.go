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
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
)

// The three locks; see the package comment.
const (
	questionLock = "asks"
	inputLock    = "input"
	actionLock   = "deeds"
)

// lockFiles names the files of one display, by the prefix of their paths.
type lockFiles struct{ path string }

// state is the shared state of the gateways. Only the holder of the input lock writes it.
type state struct {
	// Count is the number of strokes that gateways began; a stroke is the input made under one Lease.
	Count uint64 `json:"count"`
	// Holder made the last stroke, Asker had the last question.
	Holder int         `json:"holder,omitempty"`
	Asker  int         `json:"asker,omitempty"`
	Held   []HeldInput `json:"held,omitempty"`
}

// HeldInput is the input that one gateway holds on the screen between two strokes.
type HeldInput struct {
	// Process and Connection identify the gateway to the X server.
	Process    int    `json:"process"`
	Connection uint32 `json:"connection"`
	// Buttons are the pressed buttons of the person's pointer.
	Buttons []byte `json:"buttons,omitempty"`
	// Keys maps remapped keycodes to their keysyms.
	Keys map[byte]uint32 `json:"keys,omitempty"`
	// Locked means that the keyboard locks were turned off; Modifiers and Group are the former
	// locks.
	Locked    bool `json:"locked,omitempty"`
	Modifiers byte `json:"modifiers,omitempty"`
	Group     byte `json:"group,omitempty"`
}

// IsEmpty reports whether nothing is held.
func (h HeldInput) IsEmpty() bool { return len(h.Buttons) == 0 && len(h.Keys) == 0 && !h.Locked }

// withoutProcess returns the inputs in held that belong to other connections than h.
func withoutProcess(held []HeldInput, h HeldInput) []HeldInput {
	var others []HeldInput
	for _, other := range held {
		if other.Process != h.Process || other.Connection != h.Connection {
			others = append(others, other)
		}
	}
	return others
}

// maxState limits the size of the file. A longer one is invalid.
const maxState = 1 << 16

// readState returns the state, or an empty one if the file is invalid. A count that decreases
// differs too, so WasDisturbed detects that.
func (p lockFiles) readState() state {
	b, err := os.ReadFile(p.path + ".json")
	var st state
	if err != nil || len(b) > maxState || json.NewDecoder(bytes.NewReader(b)).Decode(&st) != nil {
		return state{}
	}
	return st
}

// writeState replaces the state atomically.
func (p lockFiles) writeState(st state) error {
	b, err := json.Marshal(st)
	if err != nil {
		return err
	}
	return atomicfile.Replace(p.path+".json", b) // we hold the lock, so there is no other writer
}

// Reasons why a lock was not acquired.
var (
	errHeld     = errors.New("the lock is taken")
	errQuestion = errors.New("a question has the lock")
)

// lockRequest describes a lock to wait for.
type lockRequest struct {
	name             string
	limit            time.Duration // maximum wait; 0 if unlimited
	yieldToQuestions bool          // give up while a question is open
}

// acquire takes one of the locks, and waits for it until ctx ends. It returns errHeld if another
// process holds it, and errQuestion if a question is open.
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
			_ = lock.Unlock() // of a removed file
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

// stays reports whether the open file is still the one at path.
func stays(file interface{ Stat() (os.FileInfo, error) }, path string) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	theirs, err := os.Stat(path)
	return err == nil && os.SameFile(mine, theirs)
}

// hasQuestion reports whether a question is open or waits.
func (p lockFiles) hasQuestion() (bool, error) {
	lock := flock.New(p.path+"."+questionLock, flock.SetPermissions(0o600))
	free, err := lock.TryRLock()
	if free {
		_ = lock.Unlock()
	}
	return !free, err
}

// awaitAnswer waits until no question is open; meanwhile the call's deadline pauses. It leaves
// replyReserve of ctx.
func (p lockFiles) awaitAnswer(ctx context.Context) error {
	defer actionctx.PauseDeadline(ctx)()
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

// retry is the RetryAfter of a call that was kept waiting.
const retry = 10 * time.Second

func busyError(asker int) error {
	e := aai.Errorf(aai.RateLimited, "not now: the person at this computer is being asked something, and the pointer, the keyboard and the focus are reserved until the answer")
	e.Delivery, e.RetryAfter = aai.NotDelivered, retry
	e.Hint = "You have not called too often: call again when the question is answered."
	if asker != 0 {
		e.Hint += fmt.Sprintf(" If no question is visible, the gateway of process %d may hang: the person may end it.", asker)
	}
	return e
}

// unusableError returns the error for a lock that cannot be shared: then no input is made.
func unusableError(err error) error {
	e := aai.Errorf(aai.AutomationFailed, "the pointer and the keyboard cannot be shared with the person's other gateways: %w", err)
	e.Delivery = aai.NotDelivered
	e.Hint = "Make sure that the folder is writable and yours only."
	return e
}

// questionRefusedError returns the error for a question that was not asked because it could not get
// the lock.
func questionRefusedError(err error) error {
	e := *aai.AsError(err)
	e.Code = aai.ConsentRequired
	e.Message = "nobody was asked: " + e.Message
	return &e
}

// Strokes counts the strokes of all gateways so far; 0 if that is unknown.
func (s *Lock) Strokes() int {
	if s == nil {
		return 0
	}
	p, err := s.files()
	if err != nil {
		return 0
	}
	return int(p.readState().Count)
}
