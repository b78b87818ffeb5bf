// Package dbuswire speaks D-Bus: addresses, authentication, messages, and the
// connection over which calls go out, one at a time ([Conn.Call]) or thousands in
// flight ([Conn.Batch]). Whoever needs a bus builds on it.
//
// It dials sockets of this computer and touches nothing else: no other files, no
// processes, no file descriptors of others. It starts no bus.
//
// What it promises beyond the protocol, and why it is not godbus:
//
//   - No call waits longer than its context allows, not even when the other end
//     stops reading. No goroutine is started for a call, or for one of a batch.
//   - A call that failed says whether its message was delivered ([TransportError]).
//   - A reply counts only if it comes from whoever was called, or from the bus.
//   - What is received is trusted in nothing: [Decoder] checks every length, and a
//     message that cannot be read costs no other call than its own.
//   - What a bus would hang up on, such as a path that is none, is not sent, so that
//     one bad value cannot end the calls of all.
//
// Values are read and written by their D-Bus types, in order, without reflection:
//
//	e := dbuswire.Encoder{}
//	e.Str("org.a11y.atspi.Accessible")
//	e.Str("Name")
//	reply, err := conn.Call(ctx, &dbuswire.Message{Destination: ":1.7", Path: "/a", Interface:
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
