package gateway

import (
	"context"
	"maps"
	"sync"
)

type measurementsKey struct{}

// Measurements holds figures about the run of one call, by their names in logs. It is safe for concurrent use.
type Measurements struct {
	mu     sync.Mutex
	values map[string]any
}

// WithMeasurements returns a context in which an Action can call [Measure] for m. A door passes the context to
// [Gateway.Do].
func WithMeasurements(ctx context.Context, m *Measurements) context.Context {
	return context.WithValue(ctx, measurementsKey{}, m)
}

// Measure adds a figure about the context's call, or about a call that it makes: numbers are summed, and a bool holds
// if it holds for all. Without a receiver it does nothing.
func Measure[T float64 | bool](ctx context.Context, name string, value T) {
	m, _ := ctx.Value(measurementsKey{}).(*Measurements)
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = make(map[string]any)
	}
	switch now := any(value).(type) {
	case float64:
		before, _ := m.values[name].(float64)
		m.values[name] = before + now
	case bool:
		before, known := m.values[name].(bool)
		m.values[name] = now && (before || !known)
	}
}

// CopyTo adds the figures to data.
func (m *Measurements) CopyTo(data map[string]any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.Copy(data, m.values)
}
