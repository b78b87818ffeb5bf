package dbus

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func TestDecoderRefuses(t *testing.T) {
	for name, c := range map[string]struct{ sig, body string }{
		"cut off":              {"u", "\x01\x00"},
		"string cut off":       {"s", "\x05\x00\x00\x00ab"},
		"string without end":   {"s", "\x01\x00\x00\x00ab"},
		"invalid UTF-8":        {"s", "\x01\x00\x00\x00\xff\x00"},
		"boolean of 2":         {"b", "\x02\x00\x00\x00"},
		"array too long":       {"ai", "\xff\x00\x00\x00\x01\x00\x00\x00"},
		"array within element": {"ai", "\x02\x00\x00\x00\x01\x00\x00\x00"},
		"no type in a variant": {"v", "\x00\x00"},
		"two in a variant":     {"v", "\x02yy\x00\x01\x01"},
		"descriptor":           {"h", "\x00\x00\x00\x00"},
		"bad signature":        {"a", ""},
		"key of a dict":        {"a{vs}", "\x00\x00\x00\x00\x00\x00\x00\x00"},
		"bottomless variants":  {"v", strings.Repeat("\x01v\x00", 40) + "\x01y\x00\x01"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &wire.Message{Signature: c.sig, Body: []byte(c.body), Order: binary.LittleEndian}
			values, err := valuesOf(m)
			assert.Check(t, err != nil, "read as %v", values)
		})
	}
}

func TestReplyWithTooManyValues(t *testing.T) {
	e := wire.Encoder{}
	_ = e.Array(1, func() error {
		for range maxNodes {
			e.Signature("y")
			e.Byte(1)
		}
		return nil
	})
	m := &wire.Message{Signature: "av", Body: e.Bytes()}
	_, err := valuesOf(m)
	assert.Check(t, is.ErrorContains(err, "values"))
}

// An invalid call is rejected before it could end the connection.
func TestCallThatCannotBeSent(t *testing.T) {
	b := testkit.StartBus(t)
	testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
	to := &target{bus: d.session, service: service, path: testkit.ServicePath, iface: testkit.ServiceInterface, member: "EchoString"}
	_, err := to.callPeer(soon(t), func(context.Context, *peer) (*wire.Message, *failure) {
		return &wire.Message{Interface: to.iface, Member: to.member, Signature: "s", Body: []byte("no string")}, nil
	})
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, err)
	assert.Equal(t, e.Code, aai.InvalidParams, err)
	assert.Equal(t, e.Delivery, aai.NotDelivered, err)
	assert.Assert(t, strings.HasPrefix(e.Message, "EchoString of "+service), err)
	run(t, compile(t, d, methodRecipe("EchoString", "v")), map[string]any{"v": "a"})
}
