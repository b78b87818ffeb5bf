package testkit

import "github.com/godbus/dbus/v5"

// A StructPair is a D-Bus struct (is).
type StructPair struct {
	Number int32
	Text   string
}

// echoValue returns its argument.
func echoValue[T any](v T) (T, *dbus.Error) { return v, nil }

// echoMethods returns a method for every D-Bus type that godbus can export.
func echoMethods() map[string]any {
	return map[string]any{
		"EchoByte":      echoValue[byte],
		"EchoBool":      echoValue[bool],
		"EchoInt16":     echoValue[int16],
		"EchoUint16":    echoValue[uint16],
		"EchoInt32":     echoValue[int32],
		"EchoUint32":    echoValue[uint32],
		"EchoInt64":     echoValue[int64],
		"EchoUint64":    echoValue[uint64],
		"EchoDouble":    echoValue[float64],
		"EchoString":    echoValue[string],
		"EchoPath":      echoValue[dbus.ObjectPath],
		"EchoSignature": echoValue[dbus.Signature],
		"EchoVariant":   echoValue[dbus.Variant],
		"EchoBytes":     echoValue[[]byte],
		"EchoStrings":   echoValue[[]string],
		"EchoLists":     echoValue[[][]int32],
		"EchoDict":      echoValue[map[string]dbus.Variant],
		"EchoNumbers":   echoValue[map[uint16]string],
		"EchoPair":      echoValue[StructPair],
		"EchoPairs":     echoValue[[]StructPair],
	}
}

// ServiceIntrospection is the introspection data of the object at ServicePath. It also lists the methods Descriptor
// and OpenFile, which the object lacks.
const ServiceIntrospection = `<!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
<node>
 <interface name="org.example.Test">
  <method name="EchoByte"><arg name="v" type="y" direction="in"/><arg type="y" direction="out"/></method>
  <method name="EchoBool"><arg name="v" type="b" direction="in"/><arg type="b" direction="out"/></method>
  <method name="EchoInt16"><arg name="v" type="n" direction="in"/><arg type="n" direction="out"/></method>
  <method name="EchoUint16"><arg name="v" type="q" direction="in"/><arg type="q" direction="out"/></method>
  <method name="EchoInt32"><arg name="v" type="i" direction="in"/><arg type="i" direction="out"/></method>
  <method name="EchoUint32"><arg name="v" type="u" direction="in"/><arg type="u" direction="out"/></method>
  <method name="EchoInt64"><arg name="v" type="x" direction="in"/><arg type="x" direction="out"/></method>
  <method name="EchoUint64"><arg name="v" type="t" direction="in"/><arg type="t" direction="out"/></method>
  <method name="EchoDouble"><arg name="v" type="d" direction="in"/><arg type="d" direction="out"/></method>
  <method name="EchoString"><arg name="v" type="s"/><arg type="s" direction="out"/></method>
  <method name="EchoPath"><arg name="v" type="o" direction="in"/><arg type="o" direction="out"/></method>
  <method name="EchoSignature"><arg name="v" type="g" direction="in"/><arg type="g" direction="out"/></method>
  <method name="EchoVariant"><arg name="v" type="v" direction="in"/><arg type="v" direction="out"/></method>
  <method name="EchoBytes"><arg name="v" type="ay" direction="in"/><arg type="ay" direction="out"/></method>
  <method name="EchoStrings"><arg name="v" type="as" direction="in"/><arg type="as" direction="out"/></method>
  <method name="EchoLists"><arg name="v" type="aai" direction="in"/><arg type="aai" direction="out"/></method>
  <method name="EchoDict"><arg name="v" type="a{sv}" direction="in"/><arg type="a{sv}" direction="out"/></method>
  <method name="EchoNumbers"><arg name="v" type="a{qs}" direction="in"/><arg type="a{qs}" direction="out"/></method>
  <method name="EchoPair"><arg name="v" type="(is)" direction="in"/><arg type="(is)" direction="out"/></method>
  <method name="EchoPairs"><arg name="v" type="a(is)" direction="in"/><arg type="a(is)" direction="out"/></method>
  <method name="Join">
   <arg name="to" type="s" direction="in"/>
   <arg name="Subject-Line" type="s" direction="in"/>
   <arg name="urgency" type="y" direction="in"/>
   <arg type="s" direction="out"/>
  </method>
  <method name="Nothing"/>
  <method name="Named"><arg name="count" type="i" direction="out"/><arg name="word" type="s" direction="out"/></method>
  <method name="Unnamed"><arg type="i" direction="out"/><arg type="s" direction="out"/></method>
  <method name="Large"><arg name="size" type="u" direction="in"/><arg type="ay" direction="out"/></method>
  <method name="Fail"><arg name="name" type="s" direction="in"/><arg name="text" type="s" direction="in"/></method>
  <method name="Sleep"><arg name="ms" type="i" direction="in"/></method>
  <method name="Block"/>
  <method name="Die"/>
  <method name="Descriptor"><arg name="file" type="h" direction="in"/></method>
  <method name="OpenFile"><arg name="file" type="a{sh}" direction="out"/></method>
  <property name="Volume" type="d" access="readwrite"/>
  <property name="Level" type="y" access="readwrite"/>
  <property name="Version" type="s" access="read"/>
 </interface>
 <node name="child"/>
</node>
`
