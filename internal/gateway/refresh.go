package gateway

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// refreshWindow is the time for which one journal line covers repeated reads.
const refreshWindow = 10 * time.Minute

// maxRecentReads is the number of reads after which recentReads forgets all of them.
const maxRecentReads = 1000

// recentReads remembers the reads of pages that refresh themselves, and the times of their
// journal lines. Without it, a page that shows the journal would add a line after each line
// written.
type recentReads struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// isRefresh reports whether an earlier line covers the finished call: the same read by the same
// page, on the gateway itself, within refreshWindow. If not, it remembers this call.
func (l *recentReads) isRefresh(r *aai.Request, now time.Time) bool {
	if r.App == nil || r.App.ID != aai.BuiltinApp || r.Call.Caller.Door != aai.DoorWeb || r.Tool == nil || r.Tool.Effect != aai.Reads {
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

// isRecordedRefresh reports whether the call needs no line: an earlier line covers it, and none
// of its own is written yet.
func (p *invocation) isRecordedRefresh(e callResult) bool {
	return !p.hasFirst() && e.err == nil && p.g.recentReads.isRefresh(p.request, time.Now())
}
