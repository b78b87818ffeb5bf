package dbus

import (
	"testing"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// BenchmarkBareGodbus is the baseline for BenchmarkCall: the same call of the same service without
// a gateway.
func BenchmarkBareGodbus(b *testing.B) {
	bus := testkit.StartBus(b)
	testkit.ServeOnBus(b, bus, service)
	object := bus.Connect(b).Object(service, testkit.ServicePath)
	for b.Loop() {
		var out string
		assert.NilError(b, object.Call(testkit.ServiceInterface+".Join", 0, "a", "b", byte(1)).Store(&out))
	}
}

func BenchmarkBareGodbusParallel(b *testing.B) {
	bus := testkit.StartBus(b)
	testkit.ServeOnBus(b, bus, service)
	object := bus.Connect(b).Object(service, godbus.ObjectPath(testkit.ServicePath))
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			assert.Check(b, object.Call(testkit.ServiceInterface+".Join", 0, "a", "b", byte(1)).Err)
		}
	})
}

func BenchmarkCall(b *testing.B) {
	bus := testkit.StartBus(b)
	testkit.ServeOnBus(b, bus, service)
	action := compile(b, newDriver(b, bus), methodRecipe("Join", "to", "subject_line", "urgency"))
	call := &aai.Call{Args: map[string]any{"to": "a", "subject_line": "b", "urgency": 1.0}}
	b.ReportAllocs()
	for b.Loop() {
		_, err := action(b.Context(), call)
		assert.NilError(b, err)
	}
}

func BenchmarkCallParallel(b *testing.B) {
	bus := testkit.StartBus(b)
	testkit.ServeOnBus(b, bus, service)
	action := compile(b, newDriver(b, bus), methodRecipe("Join", "to", "subject_line", "urgency"))
	call := &aai.Call{Args: map[string]any{"to": "a", "subject_line": "b", "urgency": 1.0}}
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, err := action(b.Context(), call)
			assert.Check(b, err)
		}
	})
}

// BenchmarkWork measures the driver alone: arguments to wire and wire to result, without a bus.
func BenchmarkWork(b *testing.B) {
	args := map[string]any{"a": "text", "n": 3.0, "list": []any{"x", "y"}, "deep": map[string]any{"k": []any{1.0, 2.0}}}
	t, err := wire.ParseType("a{sv}")
	assert.NilError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, _, err := throughTheWire(args, t)
		assert.NilError(b, err)
	}
}
