package treecache

import (
	"context"
	"time"
)

// confirmPatience is the time limit for a reading in the background.
const confirmPatience = 2 * time.Second

// confirmPauses returns the pauses before the attempts.
func confirmPauses() []time.Duration {
	return []time.Duration{provenAge, 2 * provenAge, 4 * provenAge, 10 * provenAge, 40 * provenAge}
}

// confirmCost is the maximum time for background readings after one call. They save at most one reading,
// and an app that never becomes idle is never confirmed: LibreOffice took five readings of a fifth of a
// second each after every call.
const confirmCost = 2 * slowRead

// confirmLater reads the app again in the background, a few times at most, until the reading is confirmed.
// A call some seconds later then need not read everything, unless the app has run since. It gives up sooner
// on an app that is slow to read.
func (m *Cache[K, T]) confirmLater() {
	if !m.confirming.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer m.confirming.Store(false)
		var cost time.Duration
		for _, pause := range confirmPauses() {
			time.Sleep(pause)
			begun := time.Now()
			done := m.confirm()
			if cost += time.Since(begun); done || cost >= confirmCost {
				return
			}
		}
	}()
}

// confirm reads the app if it is idle and no other reading is in progress. It reports whether the work is
// finished.
func (m *Cache[K, T]) confirm() (done bool) {
	if m.IsClosed() {
		return true
	}
	select {
	case m.readLock <- struct{}{}:
	default:
		return false // another reading may change the state
	}
	defer m.release()
	if !m.state.freshness().recheck {
		return true
	}
	if now := time.Now(); m.unchanged(now) || m.newReadPlan(now, false).hurried() {
		return false // too early for a second reading, or a caller awaits the effect of an action
	}
	rested := m.state != partial && m.isIdle()
	ctx, cancel := context.WithTimeout(context.Background(), confirmPatience)
	defer cancel()
	if _, err := m.refresh(ctx); err != nil {
		return true
	}
	if rested && m.state == settled {
		m.state = confirmed
	}
	return !m.state.freshness().recheck
}
