package gateway

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// The memory of results. A driver reserves the memory of a third-party answer before it decodes the
// answer, because values take far more memory than their text. So several large answers at once wait
// for one another.
const (
	maxResultMemory = 96 << 20 // bytes, of all active calls of a Gateway
	// resultValueCost is the estimated memory of a value or a name, and resultByteCost that of a byte of
	// text, with the copies of the stages after the driver.
	resultValueCost = 160
	resultByteCost  = 3
	// largeResult is the reserved memory from which garbage is collected after a call.
	largeResult = 16 << 20
	// resultMemoryWait is the time that an answer waits for memory.
	resultMemoryWait = 4 * time.Second
)

// A resultMemory counts the reserved memory. The zero value is ready.
type resultMemory struct {
	mu    sync.Mutex // guards the fields below
	used  int
	freed chan struct{} // closed when memory is released; nil if no call waits
}

// ReserveResult reserves memory for a part of the result of the call with the context ctx: text of so
// many bytes, with so many values and names. It waits while the results of other calls take the
// memory, for a few seconds at most. The call releases the memory when it ends. Without a call,
// ReserveResult does nothing. Its error is an *Error that states that the app got the request.
func ReserveResult(ctx context.Context, bytes, values int) error {
	p, _ := ctx.Value(invocationKey{}).(*invocation)
	if p == nil {
		return nil
	}
	p.mu.Lock()
	cost := min(bytes*resultByteCost+values*resultValueCost, maxResultMemory-p.reserved)
	p.mu.Unlock()
	if err := p.g.results.acquire(ctx, cost); err != nil {
		return err
	}
	p.update(func(p *invocation) { p.reserved += cost })
	return nil
}

// releaseResult releases the memory of the call's result, which the door then writes.
func (p *invocation) releaseResult() {
	p.mu.Lock()
	reserved := p.reserved
	p.reserved = 0
	p.mu.Unlock()
	if reserved >= largeResult {
		debug.FreeOSMemory() // before the next large answer is decoded
	}
	p.g.results.release(reserved)
}

// acquire takes cost bytes when they are free.
func (m *resultMemory) acquire(ctx context.Context, cost int) error {
	late := time.NewTimer(resultMemoryWait)
	defer late.Stop()
	for {
		m.mu.Lock()
		if m.used+cost <= maxResultMemory {
			m.used += cost
			m.mu.Unlock()
			return nil
		}
		if m.freed == nil {
			m.freed = make(chan struct{})
		}
		freed := m.freed
		m.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			e := aai.Errorf(aai.RateLimited, "the answer is large, and answers of other calls take the memory of the gateway")
			e.Hint, e.Delivery = "The app got the request. Look at its state, and ask for less at a time.", aai.Delivered
			return e
		}
	}
}

// release returns cost bytes.
func (m *resultMemory) release(cost int) {
	if cost == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used -= cost; m.freed != nil {
		close(m.freed)
		m.freed = nil
	}
}
