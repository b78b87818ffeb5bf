package dialog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"aai"
	"aai/internal/wholefile"
)

// How often a person is asked. Whoever is asked without end says yes in the end. Each
// caller has its own measure, also for questions that it took back, so that none can
// silence the others.
const (
	mostAsked = 5  // for one caller
	mostOfAll = 10 // for all of them together
	within    = time.Minute
	quiet     = time.Minute // how long nobody is asked for that caller after that
	// stands is how long a no stands: the same question for the same caller is answered with it.
	stands = time.Minute
	// waiting is how long a question waits for another one's dialog.
	waiting = 2 * patience
	retry   = 50 * time.Millisecond
)

// turns lets one gateway of a person ask at a time, and not too often. The lock
// file's lock says that a dialog is open; the other file says which, and when there
// were some before.
type turns struct {
	folder string
	mine   chan struct{} // holds a token while this process asks
	now    func() time.Time
	wait   time.Duration
}

// asked is the file that the gateways share. Callers are in it by a digest.
type asked struct {
	Asked []question           `json:"asked,omitempty"`
	Quiet map[string]time.Time `json:"silent,omitempty"`
	// Noes are when questions were answered no, by a digest of who asked for what.
	Noes map[string]time.Time `json:"noes,omitempty"`
	// Open is the process of the window that is open, while the lock is held.
	Open int `json:"open,omitempty"`
}

// A question was put at a time, for a caller.
type question struct {
	At time.Time `json:"at"`
	By string    `json:"by"`
}

// digest stands for a caller.
func digest(by string) string {
	sum := sha256.Sum256([]byte(by))
	return hex.EncodeToString(sum[:8])
}

func newTurns(folder string) *turns {
	return &turns{folder: folder, mine: make(chan struct{}, 1), now: time.Now, wait: waiting}
}

func (t *turns) lockPath() string { return filepath.Join(t.folder, "dialog.lock") }
func (t *turns) filePath() string { return filepath.Join(t.folder, "dialog.json") }

// A turn is the right to show a dialog.
type turn struct {
	turns *turns
	lock  *flock.Flock
	asked asked
}

// errSaidNo says that the person said no to the very question a moment ago.
var errSaidNo = errors.New("the person said no to this a moment ago")

// take waits for the turn. It refuses a question that would be one too many, for the
// caller or for all, and with errSaidNo one that the person has just said no to; "" is about
// nothing that could be known again.
func (t *turns) take(ctx context.Context, by, about string) (*turn, error) {
	waited, cancel := context.WithTimeout(ctx, t.wait)
	defer cancel()
	select {
	case t.mine <- struct{}{}:
	case <-waited.Done():
		return nil, t.busy(ctx)
	}
	mine, err := t.lock(waited, by, about)
	if err != nil {
		<-t.mine
		if waited.Err() != nil {
			return nil, t.busy(ctx)
		}
		return nil, err
	}
	return mine, nil
}

func (t *turns) lock(ctx context.Context, by, about string) (*turn, error) {
	if err := os.MkdirAll(t.folder, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(t.lockPath(), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, retry); err != nil {
		return nil, err
	}
	mine := &turn{turns: t, lock: lock, asked: t.read()}
	err := mine.saidNo(about)
	if err == nil {
		err = mine.count(digest(by))
	}
	if err != nil {
		_ = lock.Unlock()
		return nil, err
	}
	return mine, nil
}

func (t *turns) busy(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := aai.Errorf(aai.ConsentRequired, "the person at this computer is being asked something else")
	e.Hint, e.RetryAfter = "Wait until the other dialog is answered.", patience
	return e
}

// count notes one more question for the caller, or refuses it.
func (t *turn) count(by string) error {
	now := t.turns.now()
	a := &t.asked
	a.Open = 0
	// What lies in the future was written before the clock was set back.
	a.Asked = slices.DeleteFunc(a.Asked, func(q question) bool { since := now.Sub(q.At); return since < 0 || within <= since })
	maps.DeleteFunc(a.Quiet, func(_ string, until time.Time) bool { left := until.Sub(now); return left <= 0 || quiet < left })
	if until, silent := a.Quiet[by]; silent {
		return tooMany(until.Sub(now))
	}
	own := 0
	for _, q := range a.Asked {
		if q.By == by {
			own++
		}
	}
	if own >= mostAsked {
		if a.Quiet == nil {
			a.Quiet = make(map[string]time.Time)
		}
		a.Quiet[by] = now.Add(quiet)
		if err := t.write(); err != nil {
			return err
		}
		return tooMany(quiet)
	}
	if len(a.Asked) >= mostOfAll {
		return tooMany(within - now.Sub(a.Asked[0].At))
	}
	a.Asked = append(a.Asked, question{now, by})
	return t.write()
}

func tooMany(left time.Duration) error {
	e := aai.Errorf(aai.ConsentRequired, "the person at this computer was asked too often, and is left in peace for %s", left.Round(time.Second))
	e.RetryAfter = left
	e.Hint = "Do less that needs consent, or ask the person to allow it beforehand with aai-gateway consent grant."
	return e
}

// saidNo is errSaidNo where the person did so, in the time for which it stands.
func (t *turn) saidNo(about string) error {
	now := t.turns.now()
	maps.DeleteFunc(t.asked.Noes, func(_ string, at time.Time) bool { since := now.Sub(at); return since < 0 || stands <= since })
	if _, is := t.asked.Noes[about]; is && about != "" {
		return errSaidNo
	}
	return nil
}

// refused notes that the person said no, where the question could be known again.
func (t *turn) refused(about string) {
	if about == "" {
		return
	}
	if t.asked.Noes == nil {
		t.asked.Noes = make(map[string]time.Time)
	}
	t.asked.Noes[about] = t.turns.now()
	_ = t.write()
}

// shows notes which process has the window; 0 is none.
func (t *turn) shows(pid int) {
	t.asked.Open = pid
	_ = t.write() // who may not write could not take the turn either
}

// end lets others ask.
func (t *turn) end() {
	t.shows(0)
	_ = t.lock.Unlock()
	<-t.turns.mine
}

// read returns what the gateways know of each other. A file that is not
// understood is one that nobody wrote.
func (t *turns) read() (a asked) {
	b, err := os.ReadFile(t.filePath())
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	if err != nil {
		return asked{}
	}
	return a
}

func (t *turn) write() error {
	b, err := json.Marshal(t.asked)
	if err != nil {
		return err
	}
	return wholefile.Replace(t.turns.filePath(), b) // the lock is ours, so nobody else writes it
}

// showing reports whether the process has the window that is open now. What the
// file says counts only while somebody holds the lock: who died left it behind.
func (t *turns) showing(pid int) bool {
	return pid != 0 && t.read().Open == pid && t.open()
}

// open reports whether somebody holds the lock.
func (t *turns) open() bool {
	if _, err := os.Stat(t.lockPath()); errors.Is(err, os.ErrNotExist) {
		return false
	}
	lock := flock.New(t.lockPath())
	free, err := lock.TryRLock()
	if free {
		_ = lock.Unlock()
	}
	return err != nil || !free
}
