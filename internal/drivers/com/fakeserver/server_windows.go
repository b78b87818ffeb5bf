package fakeserver

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// Register registers a class of this server for all users: Wine does not merge the classes of one user into the others.
func Register(progID, class, command string) error {
	if err := Alias(progID, class); err != nil {
		return err
	}
	return set(map[string]string{`CLSID\` + class: "Test app", `CLSID\` + class + `\ProgID`: progID, `CLSID\` + class + `\LocalServer32`: command})
}

// Alias registers another ProgID of a class.
func Alias(progID, class string) error {
	return set(map[string]string{progID: "Test app", progID + `\CLSID`: class})
}

func set(values map[string]string) error {
	for path, value := range values {
		key, _, err := registry.CreateKey(registry.LOCAL_MACHINE, `Software\Classes\`+path, registry.WRITE)
		if err != nil {
			return err
		}
		err = key.SetStringValue("", value)
		_ = key.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Unregister removes the class.
func Unregister(progID, class string) {
	for _, path := range []string{progID + `\CLSID`, progID, `CLSID\` + class + `\ProgID`, `CLSID\` + class + `\LocalServer32`, `CLSID\` + class} {
		_ = registry.DeleteKey(registry.LOCAL_MACHINE, `Software\Classes\`+path)
	}
}

type object struct {
	table *[7]uintptr
	refs  atomic.Int32
	name  string
	mu    sync.Mutex
	props map[string]variant
	busy  int // calls that are still rejected
}

type factory struct{ table *[5]uintptr }

// A variant is a VARIANT of 64-bit Windows.
type variant struct {
	vt    uint16
	_     [3]uint16
	value uint64
	_     uint64
}

const (
	vtI4       = 3
	vtString   = 8
	vtDispatch = 9
	vtError    = 10
	vtBool     = 11
)

type params struct {
	args       *variant
	named      *int32
	all, names uint32
}

type excepInfo struct {
	_                      uint32
	source, description, _ uintptr
	_                      uint64
	_                      uintptr
	_                      uintptr
	scode                  uint32
}

// A server holds the objects that others have pointers to.
type server struct {
	live    sync.Map
	methods *[7]uintptr
	makers  *[5]uintptr
	ended   chan struct{}
	alloc   *windows.LazyProc
	clone   *windows.LazyProc
}

// members returns the names of members; an index is the id.
func members() []string {
	return []string{"", "Name", "Visible", "Echo", "TypeOf", "Fail", "FailWith", "Sleep", "Crash", "Child", "Add", "Greet", "Quit", "Busy", "Execute", "Owner", "Text"}
}

// greetNames returns the names of Greet's arguments.
func greetNames() []string { return []string{"who", "greeting", "times"} }

func newServer() *server {
	aut := windows.NewLazySystemDLL("oleaut32.dll")
	s := &server{ended: make(chan struct{}), alloc: aut.NewProc("SysAllocStringLen"), clone: aut.NewProc("VariantCopy")}
	one := syscall.NewCallback(func(uintptr) uintptr { return 1 })
	s.methods = &[7]uintptr{
		syscall.NewCallback(s.query), syscall.NewCallback(func(o *object) uintptr { return uintptr(o.refs.Add(1)) }), syscall.NewCallback(s.release),
		syscall.NewCallback(func(_ uintptr, n *uint32) uintptr { *n = 0; return 0 }),
		syscall.NewCallback(func(_, _, _, _ uintptr) uintptr { return 0x80004001 }),
		syscall.NewCallback(s.ids), syscall.NewCallback(s.invoke),
	}
	s.makers = &[5]uintptr{
		syscall.NewCallback(func(this uintptr, iid *windows.GUID, out *uintptr) uintptr {
			if iid.Data1 > 1 {
				*out = 0
				return 0x80004002
			}
			*out = this
			return 0
		}), one, one,
		syscall.NewCallback(func(_, _ uintptr, iid *windows.GUID, out *uintptr) uintptr {
			o := s.newObject("Test App")
			defer s.release(o)
			return s.query(o, iid, out)
		}),
		syscall.NewCallback(func(_, _ uintptr) uintptr { return 0 }),
	}
	return s
}

func (s *server) newObject(name string) *object {
	o := &object{table: s.methods, name: name, props: map[string]variant{}}
	o.refs.Store(1)
	s.live.Store(o, true)
	return o
}

func (s *server) query(o *object, iid *windows.GUID, out *uintptr) uintptr {
	if iid.Data1 != 0 && iid.Data1 != 0x20400 {
		*out = 0
		return 0x80004002
	}
	o.refs.Add(1)
	*out = uintptr(unsafe.Pointer(o))
	return 0
}

func (s *server) release(o *object) uintptr {
	n := o.refs.Add(-1)
	if n == 0 {
		s.live.Delete(o)
	}
	return uintptr(n)
}

func (s *server) ids(_ *object, _ uintptr, names **uint16, n, _ uint32, ids *int32) uintptr {
	in, out := unsafe.Slice(names, n), unsafe.Slice(ids, n)
	known, result := members()[1:], uintptr(0)
	for i, name := range in {
		if i > 0 {
			known = greetNames()
		}
		out[i] = -1
		for k, m := range known {
			if m == windows.UTF16PtrToString(name) {
				out[i] = int32(k)
				if i == 0 {
					out[i]++
				}
			}
		}
		if out[i] < 0 {
			result = 0x80020006
		}
	}
	return result
}

func (s *server) text(text string) variant {
	return variant{vt: vtString, value: uint64(s.string(text))}
}

func (s *server) string(text string) uintptr {
	units := append(utf16.Encode([]rune(text)), 0)
	p, _, _ := s.alloc.Call(uintptr(unsafe.Pointer(&units[0])), uintptr(len(units)-1))
	return p
}

func (v *variant) text() string {
	if v.vt != vtString || v.value == 0 {
		return ""
	}
	p := *(*unsafe.Pointer)(unsafe.Pointer(&v.value))
	return string(utf16.Decode(unsafe.Slice((*uint16)(p), *(*uint32)(unsafe.Add(p, -4))/2)))
}

// copied returns a copy that the receiver owns.
func (s *server) copied(v *variant) variant {
	var c variant
	_, _, _ = s.clone.Call(uintptr(unsafe.Pointer(&c)), uintptr(unsafe.Pointer(v)))
	return c
}

func (s *server) invoke(o *object, id int32, _, _ uintptr, flags uint16, p *params, result *variant, info *excepInfo, wrong *uint32) uintptr {
	o.mu.Lock()
	rejected := o.busy > 0
	if rejected {
		o.busy--
	}
	o.mu.Unlock()
	switch all := unsafe.Slice(p.args, p.all); {
	case id <= 0 || int(id) >= len(members()):
		return 0x80020003
	case rejected:
		return 0x80010001
	case flags&(4|8) != 0:
		return s.put(o, members()[id], flags, all, unsafe.Slice(p.named, p.names))
	default:
		c := &call{s, o, all, unsafe.Slice(p.named, p.names), result, info, wrong}
		return c.run(members()[id])
	}
}

func (s *server) put(o *object, name string, flags uint16, args []variant, named []int32) uintptr {
	known := map[string]uint16{"Name": vtString, "Visible": vtBool, "Owner": vtDispatch}
	want, ok := known[name]
	switch {
	case !ok:
		return 0x80020003
	case len(args) != 1 || len(named) != 1 || named[0] != -3:
		return 0x8002000E
	case name == "Owner" && flags != 8: // only by reference
		return 0x80020003
	case args[0].vt != want:
		return 0x80020005
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.props[name] = s.copied(&args[0])
	return 0
}

// Serve runs the server of a class until its method Quit, or for the time.
func Serve(class string, most time.Duration) error {
	ole := windows.NewLazySystemDLL("ole32.dll")
	if hr, _, _ := ole.NewProc("CoInitializeEx").Call(0, 0); int32(hr) < 0 {
		return fmt.Errorf("CoInitializeEx: %#x", hr)
	}
	id, err := windows.GUIDFromString(class)
	if err != nil {
		return err
	}
	s := newServer()
	f := &factory{s.makers}
	s.live.Store(f, true)
	const localServer, multipleUse = 4, 1
	var cookie uint32
	hr, _, _ := ole.NewProc("CoRegisterClassObject").Call(uintptr(unsafe.Pointer(&id)), uintptr(unsafe.Pointer(f)), localServer, multipleUse, uintptr(unsafe.Pointer(&cookie)))
	if int32(hr) < 0 {
		return fmt.Errorf("CoRegisterClassObject: %#x", hr)
	}
	select {
	case <-s.ended:
	case <-time.After(most):
	}
	_, _, _ = ole.NewProc("CoRevokeClassObject").Call(uintptr(cookie))
	return windows.TerminateProcess(windows.CurrentProcess(), 0) // an ordinary exit hangs in Wine while threads of COM run
}
