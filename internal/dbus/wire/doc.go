// Package wire implements D-Bus: addresses, authentication, messages, and the connection for
// calls, one at a time ([Conn.Call]) or many at once ([Conn.Batch]).
//
// It dials local sockets and uses nothing else: no other files, no processes, and received file
// descriptors only on request ([Options].ReceiveFiles). It starts no bus.
//
// Its guarantees beyond the protocol, and the reasons not to use godbus:
//
//   - No call waits longer than its context allows, not even when the other end
//     stops reading. No goroutine is started for a call, or for one of a batch.
//   - A failed call reports whether its message was delivered ([TransportError]).
//   - A reply from a bus counts only if it comes from the called unique name, or from the
//     bus itself. Any peer may answer a call to a well-known name.
//   - Received data is untrusted: [Decoder] checks every length. An unreadable body
//     affects no other call; an unreadable header ends the connection.
//   - A message for which a bus would disconnect, such as one with an invalid path,
//     is not sent, so that one bad value cannot end the calls of others.
//
// Values are read and written by their D-Bus types, in order, without reflection:
//
//	e := wire.Encoder{}
//	e.Str("org.a11y.atspi.Accessible")
//	e.Str("Name")
//	reply, err := conn.Call(ctx, &wire.Message{Destination: ":1.7", Path: "/a", Interface:
//		"org.freedesktop.DBus.Properties", Member: "Get", Signature: "ss", Body: e.Bytes()})
//	…
//	d := reply.Decoder()
//	if d.Variant() == "s" {
//		name = d.Str()
//	}
//	err = d.Err()
//
// The protocol: https://dbus.freedesktop.org/doc/dbus-specification.html.
package wire
