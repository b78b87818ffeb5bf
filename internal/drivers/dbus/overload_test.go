package dbus

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// overload returns a recipe for a method of testkit.Overloads.
func overload(method, signature string, params ...string) *aai.Recipe {
	r := methodRecipe(method, params...)
	r.DBus.Interface, r.DBus.Signature = "org.example.Osd", signature
	return r
}

func TestOverloadIsChosen(t *testing.T) {
	b := testkit.StartBus(t)
	testkit.ServeDescribed(t, b, service, testkit.Overloads)
	d := newDriver(t, b)
	files := []any{"a"}
	for _, c := range []struct {
		name   string
		recipe *aai.Recipe
		args   map[string]any
		want   string
	}{
		{"signature", overload("volumeChanged", "i", "percent"), map[string]any{"percent": 5}, "volumeChanged(i)"},
		{"signature of more arguments", overload("volumeChanged", "ii", "percent", "maximum_percent"),
			map[string]any{"percent": 5, "maximum_percent": 9}, "volumeChanged(ii)"},
		{"number of arguments", overload("volumeChanged", "", "percent"), map[string]any{"percent": 5}, "volumeChanged(i)"},
		{"no argument", overload("deviceNames", ""), nil, "deviceNames()"},
		{"signature beside names of another", overload("sendMessage", "sass", "message", "attachments", "recipients"),
			map[string]any{"message": "m", "attachments": files, "recipients": "r"}, "sendMessage(sass)"},
		{"names", overload("sendMessage", "", "message", "attachments", "recipient"),
			map[string]any{"message": "m", "attachments": files, "recipient": "r"}, "sendMessage(sass)"},
		{"values", overload("sendMessage", "", "a", "b", "c"), map[string]any{"a": "m", "b": files, "c": "r"}, "sendMessage(sass)"},
		{"the last", overload("sendMessage", "", "a", "b", "c"), map[string]any{"a": "m", "b": files, "c": files}, "sendMessage(sasas)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Check(t, is.Equal(run(t, compile(t, d, c.recipe), c.args).Data, c.want))
		})
	}
}

func TestOverloadErrorsNameSignatures(t *testing.T) {
	b := testkit.StartBus(t)
	testkit.ServeDescribed(t, b, service, testkit.Overloads)
	d := newDriver(t, b)
	const both = "volumeChanged(percent i), volumeChanged(percent i, maximumPercent i)"
	for _, c := range []struct {
		name   string
		recipe *aai.Recipe
		args   map[string]any
		code   aai.Code
		want   string
	}{
		{"no such signature", overload("volumeChanged", "d", "percent"), map[string]any{"percent": 5.5}, aai.DescriptorInvalid,
			"signature: the descriptor lists the signature d, but org.example.App has " + both},
		{"no such number", overload("volumeChanged", "", "a", "b", "c"), nil, aai.DescriptorInvalid, both},
		{"no such value", overload("sendMessage", "", "a", "b", "c"), map[string]any{"a": "m", "b": []any{}, "c": 7}, aai.InvalidParams,
			"the app has sendMessage(message s, attachments as, recipients as), sendMessage(message s, attachments as, recipient s)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Check(t, is.Contains(fail(t, compile(t, d, c.recipe), c.args, c.code, aai.NotDelivered).Message, c.want))
		})
	}
	for name, r := range map[string]*aai.Recipe{
		`signature: expected the types`:    overload("volumeChanged", "a{", "percent"),
		`signature: "ii" has 2 types, but`: overload("volumeChanged", "ii", "percent"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := d.Compile(r)
			assert.Check(t, is.ErrorContains(err, name))
		})
	}
}
