package dbus

import (
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func TestCompileNamesTheField(t *testing.T) {
	d := New(Config{})
	for _, c := range []struct {
		field  string
		change func(*aai.Recipe)
	}{
		{"service", func(r *aai.Recipe) { r.DBus.Service = "nodots" }},
		{"service", func(r *aai.Recipe) { r.DBus.Service = "" }},
		{"service", func(r *aai.Recipe) { r.DBus.Service = ":1.42" }},
		{"service", func(r *aai.Recipe) { r.DBus.Service = "org.1st.App" }},
		{"service", func(r *aai.Recipe) { r.DBus.Service = "org.example.App\x00" }},
		{"service", func(r *aai.Recipe) { r.DBus.Service = "org." + strings.Repeat("a", 252) }},
		{"object", func(r *aai.Recipe) { r.DBus.Object = "org/example" }},
		{"object", func(r *aai.Recipe) { r.DBus.Object = "/org/example/" }},
		{"object", func(r *aai.Recipe) { r.DBus.Object = "/org//example" }},
		{"object", func(r *aai.Recipe) { r.DBus.Object = "/org/example-app" }},
		{"interface", func(r *aai.Recipe) { r.DBus.Interface = "" }},
		{"interface", func(r *aai.Recipe) { r.DBus.Interface = "org.example-app.A" }},
		{"method", func(r *aai.Recipe) { r.DBus.Method = "" }},
		{"method", func(r *aai.Recipe) { r.DBus.Method = "a.b" }},
		{"bus", func(r *aai.Recipe) { r.DBus.Bus = "starter" }},
		{"access", func(r *aai.Recipe) { r.DBus.Access = "get" }},
		{"property", func(r *aai.Recipe) { r.DBus.Property = "Volume" }},
		{"property", func(r *aai.Recipe) { r.DBus.Method, r.DBus.Property = "", "no dashes-" }},
		{"access", func(r *aai.Recipe) { r.DBus.Method, r.DBus.Property, r.DBus.Access = "", "Volume", "write" }},
		{"parameters", func(r *aai.Recipe) { r.DBus.Method, r.DBus.Property, r.DBus.Access = "", "Volume", "get" }},
		{"parameters", func(r *aai.Recipe) {
			r.DBus.Method, r.DBus.Property, r.DBus.Access = "", "Volume", "set"
			r.Params = []string{"a", "b"}
		}},
		{"parameters", func(r *aai.Recipe) { r.Params = []string{"a", "b", "a"} }},
		{"output_parser", func(r *aai.Recipe) { r.OutputParser = "xml" }},
		{"execution", func(r *aai.Recipe) { r.DBus = nil }},
		{"service", func(r *aai.Recipe) { r.DBus, r.IPC = nil, &aai.IPCRecipe{Service: "x"} }},
	} {
		r := methodRecipe("Open", "v")
		c.change(r)
		action, err := d.Compile(r)
		e := aai.AsError(err)
		if action != nil || e == nil || e.Code != aai.DescriptorInvalid || !strings.HasPrefix(e.Message, c.field+":") {
			t.Errorf("expected AAI_JSON_INVALID of %s for %+v, got %v", c.field, r.DBus, err)
		}
	}
}

func TestSystemBusIsOffUnlessAllowed(t *testing.T) {
	r := methodRecipe("Open")
	r.DBus.Bus = "system"
	_, err := New(Config{}).Compile(r)
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, err)
	assert.Equal(t, e.Code, aai.PermissionDenied, err)
	assert.Assert(t, is.Contains(e.Message, "dbus.allowSystemBus"), err)
	action := compile(t, New(Config{AllowSystemBus: true, Getenv: func(name string) string {
		if name == "DBUS_SYSTEM_BUS_ADDRESS" {
			return "unix:path=/nowhere/at/all"
		}
		return ""
	}}), r)
	assert.Check(t, is.Contains(fail(t, action, nil, aai.AppNotRunning, aai.NotDelivered).Message, "no system bus"))
}
