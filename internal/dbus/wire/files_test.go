package wire

import (
	"io"
	"os"
	"testing"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// A fileService hands out the reading ends of pipes.
type fileService struct{ ends []*os.File }

// Open returns a pipe that contains the text.
func (s *fileService) Open(text string) (godbus.UnixFD, *godbus.Error) {
	r, w, err := os.Pipe()
	if err == nil {
		_, err = w.WriteString(text)
	}
	if err != nil {
		return 0, godbus.MakeFailedError(err)
	}
	_ = w.Close()
	s.ends = append(s.ends, r) // not closed before it is sent
	return godbus.UnixFD(r.Fd()), nil
}

// TestFiles: a service of godbus passes files through a real bus.
func TestFiles(t *testing.T) {
	b := testkit.StartBus(t)
	service := b.Connect(t)
	assert.NilError(t, service.Export(&fileService{}, "/files", "org.example.Files"))
	open := func(c *Conn, text string) *Message {
		e := Encoder{}
		e.Str(text)
		m, err := c.Call(soon(t), &Message{
			Destination: service.Names()[0], Path: "/files", Interface: "org.example.Files", Member: "Open",
			Signature: "s", Body: e.Bytes(),
		})
		assert.NilError(t, err)
		return m
	}
	c, err := Dial(soon(t), b.Address, Options{ReceiveFiles: true})
	assert.NilError(t, err)
	t.Cleanup(c.Close)
	_, err = c.Hello(soon(t))
	assert.NilError(t, err)
	for _, text := range []string{"one", "two"} {
		m := open(c, text)
		f := m.TakeFile(m.Decoder().U32())
		assert.Assert(t, f != nil, "no file in %+v", m)
		got, err := io.ReadAll(f)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(string(got), text), "%q", got)
		assert.Check(t, m.TakeFile(0) == nil, "a file was taken twice")
		assert.Check(t, f.Close())
	}
}

// TestUntakenFilesAreClosed: the files of a signal without a taker do not stay open.
func TestUntakenFilesAreClosed(t *testing.T) {
	r, w, err := os.Pipe()
	assert.NilError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	m := &Message{Files: []*os.File{w}}
	m.closeFiles()
	if _, err := io.ReadAll(r); err != nil { // ends when the writing end is closed
		t.Error(err)
	}
	assert.Check(t, m.TakeFile(0) == nil, "a closed file was taken")
}
