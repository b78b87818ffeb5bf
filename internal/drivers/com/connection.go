package com

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
)

// ErrTooLong is the error of a message that exceeds the limit of its connection. Nothing of it was sent.
var ErrTooLong = errors.New("the message is too long")

// A Connection carries requests or replies between the gateway and the process that runs its COM calls, in the form of package gob, which
// takes a third of the time of JSON. Sending and receiving may run at once, each in one goroutine at a time.
type Connection struct {
	out     io.Writer
	message bytes.Buffer
	encoder *gob.Encoder
	in      io.LimitedReader
	decoder *gob.Decoder
	limit   int64 // of a message, in bytes
}

// NewConnection returns a connection over two pipes. limit bounds each message, in bytes.
func NewConnection(in io.Reader, out io.Writer, limit int) *Connection {
	c := &Connection{out: out, in: io.LimitedReader{R: in}, limit: int64(limit)}
	c.encoder, c.decoder = gob.NewEncoder(&c.message), gob.NewDecoder(&c.in)
	return c
}

// Send sends a pointer to a [Request] or [Reply]. The first message of a type also describes the type; it must not be too long.
func (c *Connection) Send(message any) error {
	c.message.Reset()
	if err := c.encoder.Encode(message); err != nil {
		return err
	}
	if int64(c.message.Len()) > c.limit {
		return ErrTooLong
	}
	_, err := c.out.Write(c.message.Bytes())
	return err
}

// Receive waits for a message and stores it. After an error the connection cannot be used.
func (c *Connection) Receive(message any) error {
	c.in.N = c.limit
	return c.decoder.Decode(message)
}
