package treecache

import (
	"context"
	"time"
)

// confirmPatience is how long an app may take to be read when nobody waits for it.
const confirmPatience = 2 * time.Second

// confirmPauses are how long to wait before each try.
func confirmPauses() []time.Duration {
	return []time.Duration{provenAge, 2 * provenAge, 4 * provenAge, 10 * provenAge, 40 * provenAge}
}

// confirmCost is how long an app may be read in the background after one call. What that
// saves is one reading, and an app that does not come to rest is never confirmed: LibreOffice
// took five readings of a fifth of a second each, after every call.
const confirmCost = 2 * slowRead

// confirmLater reads the app again in the background, a few times at most, until
// what is remembered of it is confirmed: the next call, seconds later, then need not
// read it all, unless it has run since. An app that is long to read is left sooner.
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

// confirm reads the app if it is at rest and nobody else reads it. It reports
// whether there is nothing left to do.
func (m *Cache[K, T]) confirm() (done bool) {
	if m.IsClosed() {
		return true
	}
	select {
	case m.readLock <- struct{}{}:
	default:
		return false // somebody is at it, and may change what is to be confirmed
	}
	defer m.release()
	if !m.state.freshness().recheck {
		return true
	}
	if now := time.Now(); m.unchanged(now) || m.newReadPlan(now, false).hurried() {
		return false // it is too early for a second reading, or somebody waits for what comes of an act
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
