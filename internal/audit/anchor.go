package audit

import (
	"fmt"
	"time"
)

// An anchor is due anchorEvery records or anchorAfter after the last one. Under load at
// least anchorPause must pass between two, because each anchor needs a flush.
const (
	anchorEvery = 100 // records
	anchorAfter = time.Minute
	anchorPause = 250 * time.Millisecond
)

// anchors is the state of the goroutine that stores anchors in the key store, so that no
// call waits for that. Journal.write guards the fields.
type anchors struct {
	due     *anchor
	n       int64         // number of entries that must be on disk first
	running chan struct{} // closed when the work ends; nil if there is none
}

// anchorIfDue schedules an anchor for the last record of st, if one is due. It notes that
// in st, so that no other process schedules the same anchor.
func (j *Journal) anchorIfDue(st *state) {
	now := j.now()
	age := now.Sub(time.Unix(0, st.anchoredAt))
	soon := st.seq-st.anchored >= anchorEvery && (age < 0 || age >= anchorPause || st.anchored == 0)
	if !soon && age < anchorAfter {
		return
	}
	st.anchored, st.anchoredAt = st.seq, now.UnixNano()
	j.anchors.due = &anchor{Seq: st.seq, Seal: st.last.String(), Time: now.UTC()}
	j.anchors.n = j.written + 1
	if j.anchors.running == nil {
		j.anchors.running = make(chan struct{})
		go j.anchor(j.anchors.running)
	}
}

// anchor stores anchors until none is due.
func (j *Journal) anchor(running chan struct{}) {
	defer close(running)
	for {
		j.write.Lock()
		due, n := j.anchors.due, j.anchors.n
		j.anchors.due = nil
		if due == nil {
			j.anchors.running = nil
			j.write.Unlock()
			return
		}
		j.write.Unlock()
		if err := j.keepAnchor(due, n); err != nil {
			j.warn(fmt.Errorf("anchor the journal: %w", err))
		}
	}
}

// keepAnchor stores an anchor in the key store, unless the store has this or a later one.
// It flushes the n entries first: after a crash the anchor must not be ahead of the file.
func (j *Journal) keepAnchor(a *anchor, n int64) error {
	if err := j.sync(n); err != nil {
		return err
	}
	kept, err := loadKeys(j.keyStore)
	if err != nil {
		return err
	}
	if kept == nil {
		return fmt.Errorf("the key of the chain is gone")
	}
	if kept.Anchor != nil && kept.Anchor.Seq >= a.Seq && kept.signed(kept.Anchor) {
		return nil
	}
	kept.sign(a)
	kept.Anchor = a
	return storeKeys(j.keyStore, kept)
}
