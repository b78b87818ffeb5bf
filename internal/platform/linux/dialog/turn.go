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

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Limits for questions: people who are asked without end say yes in the end. Each caller
// has its own limit, which includes cancelled questions, so that none can silence the
// others.
const (
	maxPerCaller = 5  // for one caller
	maxTotal     = 10 // for all of them together
	rateWindow   = time.Minute
	silenceTime  = time.Minute // the time without questions for that caller after that
	// refusalTTL is the time in which a refusal answers the same question of the same caller.
	refusalTTL = time.Minute
	// maxWait is the time that a question waits for another dialog.
	maxWait = 2 * patience
	retry   = 50 * time.Millisecond
)

// scheduler lets one gateway of a person ask at a time, and limits the number of
// questions. The lock on the lock file means that a dialog is open; the other file holds
// its process and the times of earlier questions.
type scheduler struct {
	folder      string
	processLock chan struct{} // holds a token while this process asks
	now         func() time.Time
	wait        time.Duration
}

// sharedState is the file that the gateways share. It identifies callers by a digest.
type sharedState struct {
	Questions     []question           `json:"asked,omitempty"`
	SilencedUntil map[string]time.Time `json:"silent,omitempty"`
	// Refusals are the times of refusals, by a digest of caller and question.
	Refusals map[string]time.Time `json:"noes,omitempty"`
	// Open is the process of the open window, while the lock is held.
	Open int `json:"open,omitempty"`
}

// A question records the time of a question and its caller.
type question struct {
	At time.Time `json:"at"`
	By string    `json:"by"`
}

// digest returns the digest of a caller or a question.
func digest(by string) string {
	sum := sha256.Sum256([]byte(by))
	return hex.EncodeToString(sum[:8])
}

func newScheduler(folder string) *scheduler {
	return &scheduler{folder: folder, processLock: make(chan struct{}, 1), now: time.Now, wait: maxWait}
}

func (t *scheduler) lockPath() string { return filepath.Join(t.folder, "dialog.lock") }
func (t *scheduler) filePath() string { return filepath.Join(t.folder, "dialog.json") }

// A turn is the right to show a dialog.
type turn struct {
	scheduler *scheduler
	lock      *flock.Flock
	state     sharedState
}

// errRecentRefusal reports that the person refused the same question a moment ago.
var errRecentRefusal = errors.New("the person denied this a moment ago")

// take waits for the turn. It refuses a question beyond the limits for the caller or for
// all, and returns errRecentRefusal for a recently refused one. An empty about disables
// the check for recent refusals.
func (t *scheduler) take(ctx context.Context, by, about string) (*turn, error) {
	waited, cancel := context.WithTimeout(ctx, t.wait)
	defer cancel()
	select {
	case t.processLock <- struct{}{}:
	case <-waited.Done():
		return nil, t.busy(ctx)
	}
	mine, err := t.lock(waited, by, about)
	if err != nil {
		<-t.processLock
		if waited.Err() != nil {
			return nil, t.busy(ctx)
		}
		return nil, err
	}
	return mine, nil
}

func (t *scheduler) lock(ctx context.Context, by, about string) (*turn, error) {
	if err := os.MkdirAll(t.folder, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(t.lockPath(), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, retry); err != nil {
		return nil, err
	}
	mine := &turn{scheduler: t, lock: lock, state: t.read()}
	err := mine.recentRefusal(about)
	if err == nil {
		err = mine.count(digest(by))
	}
	if err != nil {
		_ = lock.Unlock()
		return nil, err
	}
	return mine, nil
}

func (t *scheduler) busy(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := aai.Errorf(aai.ConsentRequired, "the person at this computer is being asked something else")
	e.Hint, e.RetryAfter = "Wait until the other dialog is answered.", patience
	return e
}

// count records one more question for the caller, or refuses it.
func (t *turn) count(by string) error {
	now := t.scheduler.now()
	a := &t.state
	a.Open = 0
	// Times in the future are from before the clock was set back.
	a.Questions = slices.DeleteFunc(a.Questions,
		func(q question) bool { since := now.Sub(q.At); return since < 0 || rateWindow <= since })
	maps.DeleteFunc(a.SilencedUntil, func(_ string,
		until time.Time) bool {
		left := until.Sub(now)
		return left <= 0 || silenceTime < left
	})
	if until, silent := a.SilencedUntil[by]; silent {
		return tooManyError(until.Sub(now))
	}
	own := 0
	for _, q := range a.Questions {
		if q.By == by {
			own++
		}
	}
	if own >= maxPerCaller {
		if a.SilencedUntil == nil {
			a.SilencedUntil = make(map[string]time.Time)
		}
		a.SilencedUntil[by] = now.Add(silenceTime)
		if err := t.write(); err != nil {
			return err
		}
		return tooManyError(silenceTime)
	}
	if len(a.Questions) >= maxTotal {
		return tooManyError(rateWindow - now.Sub(a.Questions[0].At))
	}
	a.Questions = append(a.Questions, question{now, by})
	return t.write()
}

func tooManyError(left time.Duration) error {
	e := aai.Errorf(aai.ConsentRequired, "the person at this computer was asked too often, and is not asked again for %s",
		left.Round(time.Second))
	e.RetryAfter = left
	e.Hint = "Do less that needs consent, or ask the person to allow it beforehand with aai-gateway consent grant."
	return e
}

// recentRefusal returns errRecentRefusal if the person refused the question within refusalTTL.
func (t *turn) recentRefusal(about string) error {
	now := t.scheduler.now()
	maps.DeleteFunc(t.state.Refusals, func(_ string,
		at time.Time) bool {
		since := now.Sub(at)
		return since < 0 || refusalTTL <= since
	})
	if _, is := t.state.Refusals[about]; is && about != "" {
		return errRecentRefusal
	}
	return nil
}

// recordRefusal records a refusal, unless about is empty.
func (t *turn) recordRefusal(about string) {
	if about == "" {
		return
	}
	if t.state.Refusals == nil {
		t.state.Refusals = make(map[string]time.Time)
	}
	t.state.Refusals[about] = t.scheduler.now()
	_ = t.write()
}

// shows records the process of the window; 0 is none.
func (t *turn) shows(pid int) {
	t.state.Open = pid
	_ = t.write() // a gateway that cannot write could not take the turn either
}

// end ends the turn.
func (t *turn) end() {
	t.shows(0)
	_ = t.lock.Unlock()
	<-t.scheduler.processLock
}

// read returns the shared state. An invalid file results in the zero state.
func (t *scheduler) read() (a sharedState) {
	b, err := os.ReadFile(t.filePath())
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	if err != nil {
		return sharedState{}
	}
	return a
}

func (t *turn) write() error {
	b, err := json.Marshal(t.state)
	if err != nil {
		return err
	}
	return atomicfile.Replace(t.scheduler.filePath(), b) // this process holds the lock, so no other writes the file
}

// showing reports whether the process has the open window. The file's content counts only
// while the lock is held: a dead process leaves it behind.
func (t *scheduler) showing(pid int) bool {
	return pid != 0 && t.read().Open == pid && t.open()
}

// open reports whether any gateway holds the lock.
func (t *scheduler) open() bool {
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
