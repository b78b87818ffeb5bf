package testkit

import (
	"fmt"
	"testing"

	"github.com/godbus/dbus/v5"
)

// Overloads is the introspection data of an object with several methods of one name, as programs of
// Qt and Java have them.
const Overloads = `<node><interface name="org.example.Osd">
 <method name="volumeChanged"><arg name="percent" type="i" direction="in"/></method>
 <method name="volumeChanged"><arg name="percent" type="i" direction="in"/><arg name="maximumPercent" type="i" direction="in"/></method>
 <method name="sendMessage"><arg name="message" type="s" direction="in"/><arg name="attachments" type="as" direction="in"/><arg name="recipient" type="s" direction="in"/><arg type="s" direction="out"/></method>
 <method name="sendMessage"><arg name="message" type="s" direction="in"/><arg name="attachments" type="as" direction="in"/><arg name="recipients" type="as" direction="in"/><arg type="s" direction="out"/></method>
 <method name="deviceNames"><arg type="s" direction="out"/></method>
 <method name="deviceNames"><arg name="onlyReachable" type="b" direction="in"/><arg type="s" direction="out"/></method>
</interface></node>`

// ServeDescribed serves the name on the bus until the end of the test. Each object answers Introspect
// with the description, and every other call with its member and signature, such as "sendMessage(sass)".
func ServeDescribed(t testing.TB, b *Bus, name, description string) {
	t.Helper()
	c := b.Connect(t, dbus.WithHandler(described{text: description}))
	if reply, err := c.RequestName(name, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("the name %s is taken: %v", name, err)
	}
}

// described implements each part of a godbus handler: object, interface and method.
type described struct{ text, member string }

func (d described) LookupObject(dbus.ObjectPath) (dbus.ServerObject, bool) { return d, true }
func (d described) LookupInterface(string) (dbus.Interface, bool)          { return d, true }
func (d described) LookupMethod(name string) (dbus.Method, bool)           { d.member = name; return d, true }
func (d described) NumArguments() int                                      { return 0 }
func (d described) NumReturns() int                                        { return 1 }
func (d described) ArgumentValue(int) any                                  { return nil }
func (d described) ReturnValue(int) any                                    { return "" }

func (d described) DecodeArguments(_ *dbus.Conn, _ string, m *dbus.Message, _ []any) ([]any, error) {
	signature, _ := m.Headers[dbus.FieldSignature].Value().(dbus.Signature)
	return []any{signature.String()}, nil
}

func (d described) Call(args ...any) ([]any, error) {
	if d.member == "Introspect" {
		return []any{d.text}, nil
	}
	return []any{fmt.Sprintf("%s(%s)", d.member, args[0])}, nil
}
