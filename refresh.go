package aai

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"
)

// refreshWindow is for how long the line of one look stands for those that renew it.
const refreshWindow = 10 * time.Minute

// maxRecentReads is how many looks are remembered.
const maxRecentReads = 1000

// recentReads are what pages that keep themselves up to date have looked at, and when that was
// put on record. Without it a page that shows the record would write into it whenever it
// is written.
type recentReads struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// isRefresh reports whether a line on record stands for the call that has ended: the same look
// of the same page, at the gateway itself, not long ago. If not, this one's line will.
func (l *recentReads) isRefresh(r *Request, now time.Time) bool {
	if r.App == nil || r.App.ID != BuiltinApp || r.Call.Caller.Door != DoorWeb || r.Tool == nil || r.Tool.Effect != Reads {
		return false
	}
	args, err := json.Marshal(r.Call.Args)
	if err != nil {
		return false
	}
	key := string(bytes.Join([][]byte{[]byte(r.Call.Caller.Conversation()), []byte(r.Tool.Name), args}, []byte{0}))
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.last[key]; ok && r.Call.IsRefresh && now.Sub(at) < refreshWindow {
		return true
	}
	if l.last == nil || len(l.last) >= maxRecentReads {
		l.last = make(map[string]time.Time)
	}
	l.last[key] = now
	return false
}

// isRecordedRefresh reports whether the call leaves no line: it is a look that is on record, and has
// itself left none yet.
func (p *invocation) isRecordedRefresh(e callResult) bool {
	p.recordToken <- struct{}{}
	told := p.firstLineWritten
	<-p.recordToken
	return !told && e.err == nil && p.g.recentReads.isRefresh(p.request, time.Now())
}
