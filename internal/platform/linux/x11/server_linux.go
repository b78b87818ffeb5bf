package x11

import (
	"context"
	"fmt"
	"sync"
)

// A server is a connection with the IDs of atoms and the opcodes of extensions. Both are
// constant as long as the X server runs.
type server struct {
	*conn
	root  xid
	pongs *pongs // nil if no goroutine waits for them
	atoms map[string]xid
	// The major opcodes of the extensions; 0 if an extension is missing.
	resource, composite, shm, randr, xtest, xinput, shape, xkb, damage, xfixes byte
	pictures                                                                   sync.Mutex // held while a window's picture is taken
}

func atomNames() []string {
	return []string{
		"_NET_CLIENT_LIST_STACKING", "_NET_CLIENT_LIST", "_NET_ACTIVE_WINDOW", "_NET_SUPPORTING_WM_CHECK", "_NET_WM_PID",
		"_NET_WM_NAME", "_NET_WM_STATE", "_NET_WM_STATE_HIDDEN", "_NET_WM_STATE_MODAL", "WM_STATE", "_GTK_FRAME_EXTENTS", "_NET_WM_USER_TIME_WINDOW", "UTF8_STRING",
		"CLIPBOARD", "TARGETS", "TIMESTAMP", "MULTIPLE", "ATOM_PAIR", "INCR", "TEXT", "image/png",
		"text/plain;charset=utf-8", "text/plain", "AAI_CLIPBOARD", "WM_PROTOCOLS", "_NET_WM_PING", "WM_CHANGE_STATE", "_NET_CLOSE_WINDOW",
	}
}

// Atoms with fixed numbers; X11 protocol, appendix B.
const (
	atomAtom            xid = 4
	atomInteger         xid = 19
	atomResourceManager xid = 23
	atomString          xid = 31
	atomWindow          xid = 33
	atomName            xid = 39
	atomClass           xid = 67
)

// newServer queries atoms and extensions, in two round trips.
func newServer(ctx context.Context, c *conn) (*server, error) {
	s := &server{conn: c, root: c.setup.root, atoms: make(map[string]xid)}
	var calls []*call
	for _, name := range atomNames() {
		calls = append(calls, internAtom(name))
	}
	extensions := []struct {
		name   string
		opcode *byte
	}{
		{"X-Resource", &s.resource}, {"Composite", &s.composite}, {"MIT-SHM", &s.shm}, {"RANDR", &s.randr},
		{"XTEST", &s.xtest}, {"XInputExtension", &s.xinput}, {"SHAPE", &s.shape}, {"XKEYBOARD", &s.xkb},
		{"DAMAGE", &s.damage}, {"XFIXES", &s.xfixes},
	}
	for _, e := range extensions {
		calls = append(calls, queryExtension(e.name))
	}
	if err := c.must(ctx, calls...); err != nil {
		return nil, err
	}
	for i, name := range atomNames() {
		s.atoms[name] = from(calls[i].reply, 8).u32()
	}
	for i, e := range extensions {
		r := from(calls[len(s.atoms)+i].reply, 8)
		if present := r.u8(); present == 1 {
			*e.opcode = r.u8()
		}
	}
	if len(s.atoms) != len(atomNames()) {
		return nil, fmt.Errorf("an atom is asked for twice")
	}
	return s, s.agree(ctx)
}

// agree announces the supported versions to the extensions. An extension that is too old
// counts as missing.
func (s *server) agree(ctx context.Context) error {
	agreements := []struct {
		opcode       *byte
		call         *call
		at           int // offset of the version in the reply; 0 if any version is fine
		bytes        int // size of each number of the version
		major, minor uint32
	}{
		{&s.resource, query(s.resource, 0, byte(1), byte(2), pad(2)), 8, 2, 1, 2},
		{&s.composite, query(s.composite, 0, uint32(0), uint32(4)), 8, 4, 0, 2},
		{&s.randr, query(s.randr, 0, uint32(1), uint32(5)), 8, 4, 1, 5},
		{&s.xinput, query(s.xinput, 47, uint16(2), uint16(2)), 8, 2, 2, 0},
		{&s.shape, query(s.shape, 0), 8, 2, 1, 1},
		{&s.damage, query(s.damage, 0, uint32(1), uint32(1)), 8, 4, 1, 0},
		{&s.xfixes, query(s.xfixes, 0, uint32(2), uint32(0)), 8, 4, 2, 0},
		{&s.xkb, query(s.xkb, 0, uint16(1), uint16(0)), 8, 2, 1, 0},
	}
	var calls []*call
	for _, a := range agreements {
		if *a.opcode != 0 {
			calls = append(calls, a.call)
		}
	}
	if err := s.do(ctx, calls...); err != nil {
		return err
	}
	for _, a := range agreements {
		r := from(a.call.reply, a.at)
		var major, minor uint32
		if a.bytes == 4 {
			major, minor = r.u32(), r.u32()
		} else {
			major, minor = uint32(r.u16()), uint32(r.u16())
		}
		if major < a.major || major == a.major && minor < a.minor {
			*a.opcode = 0
		}
	}
	return nil
}
