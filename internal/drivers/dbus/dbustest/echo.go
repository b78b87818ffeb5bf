package dbustest

import "github.com/godbus/dbus/v5"

// A Pair is a D-Bus struct (is).
type Pair struct {
	Number int32
	Text   string
}

// echo answers with its argument.
func echo[T any](v T) (T, *dbus.Error) { return v, nil }

// echoes has a method for every type of D-Bus that godbus can export.
func echoes() map[string]any {
	return map[string]any{
		"EchoByte":      echo[byte],
		"EchoBool":      echo[bool],
		"EchoInt16":     echo[int16],
		"EchoUint16":    echo[uint16],
		"EchoInt32":     echo[int32],
		"EchoUint32":    echo[uint32],
		"EchoInt64":     echo[int64],
		"EchoUint64":    echo[uint64],
		"EchoDouble":    echo[float64],
		"EchoString":    echo[string],
		"EchoPath":      echo[dbus.ObjectPath],
		"EchoSignature": echo[dbus.Signature],
		"EchoVariant":   echo[dbus.Variant],
		"EchoBytes":     echo[[]byte],
		"EchoStrings":   echo[[]string],
		"EchoLists":     echo[[][]int32],
		"EchoDict":      echo[map[string]dbus.Variant],
		"EchoNumbers":   echo[map[uint16]string],
		"EchoPair":      echo[Pair],
		"EchoPairs":     echo[[]Pair],
	}
}

// Introspection is what the object at Path says of itself. Descriptor is a method
// that it only claims to have.
const Introspection = `<!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
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
