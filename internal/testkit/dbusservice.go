package testkit

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"
)

// The paths and interfaces of the objects that a BusService exports.
const (
	ServicePath       = "/org/example/Test"   // supports introspection
	OpaqueServicePath = "/org/example/Opaque" // has the same methods, but no introspection
	ServiceInterface  = "org.example.Test"

	HandlerPath       = "/com/aai/handler"
	ExecutorInterface = "com.aai.Executor"
)

const propertiesInterface = "org.freedesktop.DBus.Properties"

// ServiceEnv is the environment variable that holds the bus name for ServeIfActivated to serve.
const ServiceEnv = "AAI_TEST_SERVICE"

// A BusService is an app on the bus. It counts the calls that reach it.
type BusService struct {
	Conn *dbus.Conn

	t          testing.TB // nil in a process that the bus has started
	mu         sync.Mutex
	handle     func(request string) string
	calls      map[string]int
	properties map[string]dbus.Variant
	blocked    chan struct{}
	release    chan struct{}
}

// ServeOnBus serves the names on the bus until the end of the test.
func ServeOnBus(t testing.TB, b *Bus, names ...string) *BusService {
	t.Helper()
	s, err := serveNames(b.Address, names...)
	if err != nil {
		t.Fatal(err)
	}
	s.t = t
	t.Cleanup(func() { _ = s.Conn.Close() })
	return s
}

// ServeIfActivated is for TestMain: in a process that the bus has started as a service, it serves and never
// returns.
func ServeIfActivated() {
	name := os.Getenv(ServiceEnv)
	if name == "" {
		return
	}
	s, err := serveNames(os.Getenv("DBUS_STARTER_ADDRESS"), name)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	<-s.Conn.Context().Done()
	os.Exit(0)
}

func serveNames(address string, names ...string) (*BusService, error) {
	s := &BusService{
		calls: map[string]int{},
		properties: map[string]dbus.Variant{
			"Volume":  dbus.MakeVariant(0.5),
			"Level":   dbus.MakeVariant(byte(7)),
			"Version": dbus.MakeVariant("1.2"),
		},
		blocked: make(chan struct{}, 1024),
		release: make(chan struct{}),
	}
	conn, err := dbus.Connect(address, dbus.WithIncomingInterceptor(s.count))
	if err != nil {
		return nil, err
	}
	s.Conn = conn
	if err := s.export(); err != nil {
		return nil, err
	}
	for _, name := range names {
		reply, err := conn.RequestName(name, dbus.NameFlagDoNotQueue)
		if err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
			return nil, fmt.Errorf("the name %s is taken: %w", name, err)
		}
	}
	return s, nil
}

func (s *BusService) export() error {
	exports := []struct {
		methods     map[string]any
		path, iface string
	}{
		{s.methods(), ServicePath, ServiceInterface},
		{s.methods(), OpaqueServicePath, ServiceInterface},
		{s.propertyMethods(), ServicePath, propertiesInterface},
		{s.propertyMethods(), OpaqueServicePath, propertiesInterface},
		{map[string]any{"Execute": s.execute}, HandlerPath, ExecutorInterface},
	}
	for _, e := range exports {
		if err := s.Conn.ExportMethodTable(e.methods, dbus.ObjectPath(e.path), e.iface); err != nil {
			return err
		}
	}
	return s.Conn.Export(introspect.Introspectable(ServiceIntrospection), ServicePath, "org.freedesktop.DBus.Introspectable")
}

func (s *BusService) count(m *dbus.Message) {
	if m.Type != dbus.TypeMethodCall {
		return
	}
	member, _ := m.Headers[dbus.FieldMember].Value().(string)
	s.mu.Lock()
	s.calls[member]++
	s.mu.Unlock()
}

// Calls returns how many calls of the method have reached the service, regardless of object and interface.
func (s *BusService) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// WaitBlocked waits until n further calls of Block are in progress. The test fails after a minute.
func (s *BusService) WaitBlocked(n int) {
	s.t.Helper()
	late := time.After(time.Minute)
	for i := range n {
		select {
		case <-s.blocked:
		case <-late:
			s.t.Fatalf("%d of %d calls of Block have reached the service", i, n)
		}
	}
}

// Release lets all present and later calls of the service's D-Bus method Block return. Call it once.
func (s *BusService) Release() { close(s.release) }

// Handle sets the handler for the JSON envelopes of the AAI protocol that arrive at HandlerPath.
func (s *BusService) Handle(handle func(request string) string) {
	s.mu.Lock()
	s.handle = handle
	s.mu.Unlock()
}

func (s *BusService) execute(request string) (string, *dbus.Error) {
	s.mu.Lock()
	handle := s.handle
	s.mu.Unlock()
	if handle == nil {
		return "", dbus.NewError("org.example.NoHandler", nil)
	}
	return handle(request), nil
}

func (s *BusService) propertyMethods() map[string]any {
	return map[string]any{
		"Get": func(iface, name string) (dbus.Variant, *dbus.Error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			v, ok := s.properties[name]
			if !ok || iface != ServiceInterface {
				return v, dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty", []any{"no property " + name})
			}
			return v, nil
		},
		"Set": func(iface, name string, v dbus.Variant) *dbus.Error {
			s.mu.Lock()
			defer s.mu.Unlock()
			old, ok := s.properties[name]
			switch {
			case !ok || iface != ServiceInterface:
				return dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty", []any{"no property " + name})
			case name == "Version":
				return dbus.NewError("org.freedesktop.DBus.Error.PropertyReadOnly", []any{"Version is read-only"})
			case old.Signature() != v.Signature():
				return dbus.NewError("org.freedesktop.DBus.Error.InvalidArgs", []any{"not of type " + old.Signature().String()})
			}
			s.properties[name] = v
			return nil
		},
	}
}

// methods returns the methods with effects; echoing methods are in dbusecho.go.
func (s *BusService) methods() map[string]any {
	methods := echoMethods()
	methods["Join"] = func(to, subject string, urgency byte) (string, *dbus.Error) {
		return fmt.Sprintf("to=%s subject=%s urgency=%d", to, subject, urgency), nil
	}
	methods["Nothing"] = func() *dbus.Error { return nil }
	methods["Named"] = func() (int32, string, *dbus.Error) { return 3, "three", nil }
	methods["Unnamed"] = methods["Named"]
	methods["Large"] = func(n uint32) ([]byte, *dbus.Error) { return make([]byte, n), nil }
	methods["Fail"] = func(name, text string) *dbus.Error { return dbus.NewError(name, []any{text}) }
	methods["Sleep"] = func(ms int32) *dbus.Error {
		time.Sleep(time.Duration(ms) * time.Millisecond)
		return nil
	}
	methods["Block"] = func() *dbus.Error {
		s.blocked <- struct{}{}
		<-s.release
		return nil
	}
	methods["Die"] = func() *dbus.Error {
		_ = s.Conn.Close()
		return nil
	}
	return methods
}
