package dbus

import (
	"context"
	"os"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

const service = "org.example.App"

func TestMain(m *testing.M) {
	testkit.ServeIfActivated()
	os.Exit(m.Run())
}

// newDriver returns a driver with the session bus b.
func newDriver(t testing.TB, b *testkit.Bus) *Driver {
	t.Helper()
	d := New(Config{Getenv: b.Getenv})
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// methodRecipe returns a recipe for a method of the test service.
func methodRecipe(method string, params ...string) *aai.Recipe {
	return &aai.Recipe{Platform: "linux", Params: params, DBus: &aai.DBusRecipe{
		Bus: "session", Service: service, Object: testkit.ServicePath, Interface: testkit.ServiceInterface, Method: method,
	}}
}

func propertyRecipe(property, access string, params ...string) *aai.Recipe {
	r := methodRecipe("", params...)
	r.DBus.Property, r.DBus.Access = property, access
	return r
}

func compile(t testing.TB, d *Driver, r *aai.Recipe) aai.Action {
	t.Helper()
	action, err := d.Compile(r)
	assert.NilError(t, err)
	return action
}

// soon limits a call that must not block. No test waits for it to expire.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func run(t testing.TB, action aai.Action, args map[string]any) *aai.Result {
	t.Helper()
	result, err := action(soon(t), &aai.Call{Args: args})
	assert.NilError(t, err, "the call failed: %v", err)
	return result
}

// fail runs the action and returns its error, which must be an *aai.Error with the code and the
// delivery.
func fail(t testing.TB, action aai.Action, args map[string]any, code aai.Code, delivery aai.Delivery) aai.Error {
	t.Helper()
	return failIn(soon(t), t, action, args, code, delivery)
}

func failIn(ctx context.Context, t testing.TB, action aai.Action, args map[string]any, code aai.Code, delivery aai.Delivery) aai.Error {
	t.Helper()
	result, err := action(ctx, &aai.Call{Args: args})
	assert.Assert(t, err != nil, "expected %s, got the result %+v", code, result)
	e, ok := err.(*aai.Error) //nolint:errorlint // the contract is this exact type
	assert.Assert(t, ok, "expected an *aai.Error, got %T: %v", err, err)
	assert.Equal(t, e.Code, code, e.Message)
	assert.Equal(t, e.Delivery, delivery, e.Message)
	return *e
}
