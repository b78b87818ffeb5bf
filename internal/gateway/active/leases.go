package active

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

const (
	// leaseTime is how long an agent keeps a program after an act, at least.
	leaseTime = time.Minute
	// renewStep is the time by which a renewal moves the end of a lease, so that most acts write nothing.
	renewStep = 10 * time.Second
	// leaseLockTimeout limits the wait for other gateways; after it the act goes on without a lease.
	leaseLockTimeout = time.Second
	// maxRetryAfter limits the wait that a refusal proposes. Workflows wait that long by themselves.
	maxRetryAfter = 30 * time.Second
)

// A leaseRow is a lease in the file. Its PID and Started identify one run of a program.
type leaseRow struct {
	answer.Lease
	Started string `json:"started"`
	Holder  string `json:"holder"`  // digest of the conversation: ids of sessions are secrets
	Gateway string `json:"gateway"` // name of the lock of its gateway
}

// A LeaseStore keeps cooperating agents apart: an agent that acts in a program gets its lease, and
// other agents cannot act there until it ends. The leases of all gateways are in one file. Each
// gateway holds a lock, so that the leases of a dead one end. A lease is no guard: if the file cannot
// be read or written, the log says so, and every agent may act. A LeaseStore is safe for concurrent
// use.
type LeaseStore struct {
	Folder string // shared by all gateways of the person
	// Ask asks the person. Nil: the person cannot be asked.
	Ask func(context.Context, aai.Question) (aai.Answer, error)
	Log *slog.Logger
	Now func() time.Time // usually time.Now

	mu   sync.Mutex // guards the fields below
	rows []leaseRow
	seen fs.FileInfo // the file that rows came from; nil: none
	path string      // of this gateway's lock, without suffix; "" before its first lease
	lock *flock.Flock
}

// Take gives the lease of the call's target to the caller's conversation, or renews it. started is the
// start time of the target's process. The error says which other agent has the lease. Calls of the
// person need no lease and get none.
func (l *LeaseStore) Take(ctx context.Context, call *aai.Call, started string) error {
	if call.Caller.Door != aai.DoorMCP {
		return nil
	}
	_, err := l.take(ctx, call, started, false)
	return err
}

// take is Take for agents. With given, the lease ends that of another agent. The lease is zero if it
// could not be stored.
func (l *LeaseStore) take(ctx context.Context, call *aai.Call, started string, given bool) (got answer.Lease, refusal error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read()
	mine, now := newLeaseRow(call, started), l.Now().UTC().Round(0)
	if held := l.find(mine); held != nil && held.Holder == mine.Holder && held.Until.Sub(now) >= leaseTime {
		return held.Lease, nil // the usual case, which only looks whether the file has changed
	}
	if refusal = l.refusal(mine); refusal != nil && !given {
		return got, refusal
	}
	stored := l.update(ctx, func() {
		refusal = l.refusal(mine)
		if mine.Given = given && refusal != nil; mine.Given {
			refusal = nil
		}
		if refusal != nil {
			return
		}
		mine.Since, mine.Until, mine.Gateway = now, now.Add(leaseTime+renewStep), filepath.Base(l.path)
		if held := l.find(mine); held != nil && held.Holder == mine.Holder {
			mine.Since, mine.Given = held.Since, held.Given
		}
		l.rows = append(slices.DeleteFunc(l.rows, mine.isSameProgram), mine)
	})
	if stored && refusal == nil {
		got = mine.Lease
	}
	return got, refusal
}

// Release ends the lease that the caller's conversation has of the target, and reports whether it had one.
func (l *LeaseStore) Release(ctx context.Context, call *aai.Call, started string) (had bool) {
	mine := newLeaseRow(call, started)
	return l.remove(ctx, func(r leaseRow) bool { return mine.isSameProgram(r) && r.Holder == mine.Holder })
}

// EndConversation ends the leases of a conversation.
func (l *LeaseStore) EndConversation(key string) {
	l.remove(context.Background(), func(r leaseRow) bool { return r.Holder == digest(key) })
}

// Close ends the leases of this gateway.
func (l *LeaseStore) Close() error {
	l.remove(context.Background(), l.isOwn)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path == "" {
		return nil
	}
	_ = l.lock.Unlock() // the process ends soon
	return os.Remove(l.path + lockEnding)
}

// List returns the leases, the oldest first: those of the conversation of the call, and those of other
// agents of the programs. Without a call it returns all.
func (l *LeaseStore) List(call *aai.Call, programs []int) (leases []answer.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read()
	for _, r := range l.rows {
		r.Yours = call != nil && r.Holder == digest(call.Caller.Conversation())
		if (call == nil || r.Yours || slices.Contains(programs, r.PID)) && !l.isOver(r) {
			leases = append(leases, r.Lease)
		}
	}
	slices.SortFunc(leases, func(a, b answer.Lease) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.PID, b.PID)) })
	return leases
}

// newLeaseRow returns the lease of the call's target for its caller, without times.
func newLeaseRow(call *aai.Call, started string) leaseRow {
	c := call.Caller
	return leaseRow{
		Lease:   answer.Lease{App: aai.CleanLabel(call.Target.Name, 80), PID: call.Target.PID, Caller: c.String(), Identity: c.Identity},
		Started: started, Holder: digest(c.Conversation()),
	}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

func (r *leaseRow) isSameProgram(other leaseRow) bool {
	return r.PID == other.PID && r.Started == other.Started
}

// The caller of the following methods holds l.mu.

// find returns the lease of the same program, or nil.
func (l *LeaseStore) find(mine leaseRow) *leaseRow {
	if i := slices.IndexFunc(l.rows, mine.isSameProgram); i >= 0 {
		return &l.rows[i]
	}
	return nil
}

func (l *LeaseStore) isOwn(r leaseRow) bool {
	return l.path != "" && r.Gateway == filepath.Base(l.path)
}

// isOver reports whether the lease has ended, by its time or with its gateway.
func (l *LeaseStore) isOver(r leaseRow) bool {
	if !l.Now().Before(r.Until) || r.Gateway == "" || filepath.Base(r.Gateway) != r.Gateway {
		return true
	}
	return !l.isOwn(r) && !isAlive(filepath.Join(l.Folder, r.Gateway))
}

// refusal returns the error of an act in a program in which another agent works, or nil.
func (l *LeaseStore) refusal(mine leaseRow) error {
	held, other := l.find(mine), ""
	if held == nil || held.Holder == mine.Holder || l.isOver(*held) {
		return nil
	}
	if held.Caller == mine.Caller && held.Identity == mine.Identity {
		other = "another conversation of "
	}
	left := held.Until.Sub(l.Now())
	e := aai.Errorf(aai.RateLimited, "not now: %s%s if it does nothing more there", other, held.Lease)
	e.Delivery, e.RetryAfter = aai.NotDelivered, max(time.Second, min(left, maxRetryAfter))
	e.Hint = fmt.Sprintf(`You have not called too often: reading tools still work. Wait %d s and call again, or wait for the program with ax_workflow {"steps": [{"tool": "ax_lease", "args": {"app": "%d", "wait_seconds": 120}}]}; "ask": true instead of "wait_seconds" asks the person.`,
		int(left.Seconds())+1, held.PID)
	return e
}

func (l *LeaseStore) file() string { return filepath.Join(l.Folder, "leases"+fileEnding) }

// read reads the file if it has changed. A damaged file counts as empty.
func (l *LeaseStore) read() {
	info, err := os.Lstat(l.file())
	if err == nil && l.seen != nil && os.SameFile(info, l.seen) && info.ModTime().Equal(l.seen.ModTime()) {
		return
	}
	l.rows, l.seen = nil, info
	text, err := atomicfile.Read(l.file(), atomicfile.ReadLimits{Size: maxActiveFile, Private: true})
	if err == nil {
		err = json.Unmarshal(text, &l.rows)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.rows = nil
		l.Log.Warn("the leases of programs cannot be read, so agents may act there at once", "cause", err)
	}
}

// remove ends the leases that match, and reports whether there were any.
func (l *LeaseStore) remove(ctx context.Context, matches func(leaseRow) bool) (found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.read(); slices.ContainsFunc(l.rows, matches) {
		l.update(ctx, func() {
			found = slices.ContainsFunc(l.rows, matches)
			l.rows = slices.DeleteFunc(l.rows, matches)
		})
	}
	return found
}

// update runs edit with the current rows, without those that are over, while no other gateway can
// change them. It writes the file if they have changed, and does not sync it: leases end with their
// gateways. It reports success; the log has the error.
func (l *LeaseStore) update(ctx context.Context, edit func()) bool {
	err := l.write(ctx, edit)
	if err != nil {
		l.rows, l.seen = nil, nil // so that the file is read again
		l.Log.Warn("the leases of programs cannot be stored, so agents may act there at once", "cause", err)
	}
	return err == nil
}

// write is update without the log.
func (l *LeaseStore) write(ctx context.Context, edit func()) (err error) {
	if err := os.MkdirAll(l.Folder, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, leaseLockTimeout)
	defer cancel()
	unlock, err := atomicfile.Lock(ctx, l.file())
	if err != nil {
		return err
	}
	defer unlock()
	if l.path == "" {
		left, _ := filepath.Glob(filepath.Join(l.Folder, "*-*"+lockEnding)) // the pattern is valid
		for _, path := range left {
			isAlive(strings.TrimSuffix(path, lockEnding)) // removes the lock of a dead gateway
		}
		if l.path, l.lock, err = claimName(l.Folder); err != nil {
			return err
		}
	}
	l.seen = nil // times of files are coarse
	l.read()
	before := slices.Clone(l.rows)
	l.rows = slices.DeleteFunc(l.rows, l.isOver)
	if edit(); slices.Equal(before, l.rows) {
		return nil
	}
	text, err := json.Marshal(l.rows)
	if err == nil {
		err = atomicfile.Replace(l.file(), text)
	}
	if err == nil {
		l.seen, err = os.Lstat(l.file())
	}
	return err
}
