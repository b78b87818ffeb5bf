package tasks

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits bound the resources of tasks. A zero field means the default.
type Limits struct {
	// TTL is the lifetime of a task from its creation, if the client requests none; MaxTTL
	// is the longest that a client can have.
	TTL, MaxTTL time.Duration
	// Tasks limits the tasks of one owner, and AllTasks those of all owners together:
	// running, or ended and not expired.
	Tasks, AllTasks int
	// Bytes limits the results of one owner's tasks, and AllBytes those of all. A result
	// that does not fit is replaced by a note.
	Bytes, AllBytes int
}

// minTTL leaves a client the time to fetch its result.
const minTTL = time.Second

func (l Limits) withDefaults() Limits {
	set := func(field *int, value int) {
		if *field <= 0 {
			*field = value
		}
	}
	set(&l.Tasks, 100)
	set(&l.AllTasks, 2000)
	set(&l.Bytes, 32<<20)
	set(&l.AllBytes, 256<<20)
	if l.TTL <= 0 {
		l.TTL = 10 * time.Minute
	}
	if l.MaxTTL <= 0 {
		l.MaxTTL = 24 * time.Hour
	}
	l.TTL = min(l.TTL, l.MaxTTL)
	return l
}

// clampTTL limits a requested lifetime to the range that a client can have.
func (l Limits) clampTTL(ttl time.Duration) time.Duration {
	return min(max(ttl, minTTL), l.MaxTTL)
}

// A store holds tasks until they expire. One lock guards the store and the changing fields
// of its tasks, so that notifications of a task are in order. No slow operation runs under
// it.
type store struct {
	limits Limits

	mu     sync.Mutex
	byID   map[string]*task
	owners map[string]*ownerTasks
	last   uint64 // the number of the last task made
	bytes  int
	// watched are the sessions with a goroutine that waits for their end.
	watched map[*mcp.ServerSession]struct{}
}

// ownerTasks are the tasks of one owner.
type ownerTasks struct {
	tasks []*task // in the order of their creation
	bytes int
}

func newStore(limits Limits) *store {
	return &store{limits: limits, byID: make(map[string]*task), owners: make(map[string]*ownerTasks), watched: make(map[*mcp.ServerSession]struct{})}
}

// add makes the task findable, and starts its lifetime. It fails if there is no room.
func (s *store) add(t *task) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkRoom(t.owner); err != nil {
		return err
	}
	s.insert(t)
	return nil
}

// checkRoom returns an error if the owner can have no further task. The caller holds the
// lock.
func (s *store) checkRoom(owner string) error {
	a := s.owners[owner]
	switch {
	case a != nil && len(a.tasks) >= s.limits.Tasks:
		return fmt.Errorf("this client has %d tasks, which is the most; they end when they expire", len(a.tasks))
	case len(s.byID) >= s.limits.AllTasks:
		return fmt.Errorf("the server has %d tasks, which is the most; try again later", len(s.byID))
	}
	return nil
}

// insert is add after checkRoom. The caller holds the lock.
func (s *store) insert(t *task) {
	a := s.owners[t.owner]
	if a == nil {
		a = &ownerTasks{}
		s.owners[t.owner] = a
	}
	s.last++
	t.number = s.last
	a.tasks = append(a.tasks, t)
	s.byID[t.id] = t
	t.expiry = time.AfterFunc(t.ttl, func() { s.drop(t) })
}

// find returns the owner's task of that form and id, or nil.
func (s *store) find(owner string, form form, named any) *task {
	id, _ := named.(string)
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.byID[id]
	if t == nil || t.owner != owner || t.form != form {
		return nil
	}
	return t
}

// page returns at most limit of the owner's tasks that were made after the task with that
// number, and whether there are more.
func (s *store) page(owner string, form form, after uint64, limit int) (page []*task, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.owners[owner]
	if a == nil {
		return nil, false
	}
	for _, t := range a.tasks {
		switch {
		case t.number <= after || t.form != form:
		case len(page) == limit:
			return page, true
		default:
			page = append(page, t)
		}
	}
	return page, false
}

// drop forgets a task and ends its work.
func (s *store) drop(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(t)
}

// remove is drop for a caller that holds the lock.
func (s *store) remove(t *task) {
	if s.byID[t.id] != t {
		return
	}
	delete(s.byID, t.id)
	t.expiry.Stop()
	t.cancel()
	close(t.forgotten)
	t.notify = nil
	a := s.owners[t.owner]
	s.bytes -= len(t.result)
	a.bytes -= len(t.result)
	t.result = nil
	a.tasks = slices.DeleteFunc(a.tasks, func(other *task) bool { return other == t })
	if len(a.tasks) == 0 {
		delete(s.owners, t.owner)
	}
}

// keep stores the result of a task, or a note if there is no room for it. The caller holds
// the lock.
func (s *store) keep(t *task, k storedResult) {
	if s.byID[t.id] != t {
		return // no client can ask for it
	}
	a, result := s.owners[t.owner], k.result
	if size := len(result); a.bytes+size > s.limits.Bytes || s.bytes+size > s.limits.AllBytes {
		result = tooLarge(t, size, k.isError)
	}
	a.bytes += len(result)
	s.bytes += len(result)
	t.result = result
}

// end forgets the owner's tasks, or all tasks if owner is nil, and waits until their work
// has ended, at most for the given time.
func (s *store) end(most time.Duration, owner *string) {
	s.mu.Lock()
	var ended []*task
	for _, t := range s.byID {
		if owner == nil || t.owner == *owner {
			ended = append(ended, t)
		}
	}
	for _, t := range ended {
		s.remove(t)
	}
	s.mu.Unlock()
	late := time.NewTimer(most)
	defer late.Stop()
	for _, t := range ended {
		select {
		case <-t.workDone:
		case <-late.C:
			return
		}
	}
}
