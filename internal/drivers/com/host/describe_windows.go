package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"github.com/gybob/aai-gateway/internal/drivers/com"
	"github.com/gybob/aai-gateway/internal/drivers/com/typelib"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
)

// Limits on a description.
const (
	maxInterfaces = 60
	maxMembers    = 500
	maxConstants  = 200
)

// describe describes a class. It creates an object only if the class has no registered library, and then a new process only if the
// request allows it.
func (s *session) describe(r *com.Request) *com.Reply {
	fail := func(f *com.Failure) *com.Reply { return &com.Reply{Failure: f} }
	id, hr := s.class(r.Describe)
	if comcall.Failed(hr) {
		return fail(&com.Failure{HRESULT: hr})
	}
	if library := s.readLibrary(r.Describe, id, s.registeredType(id)); library != nil {
		return &com.Reply{Library: library}
	}
	if !r.Start && !isInProcess(id) {
		return fail(&com.Failure{HRESULT: notRunning})
	}
	object, f := s.create(&com.Step{ProgID: r.Describe, Programs: true})
	if f != nil {
		return fail(f)
	}
	var info unsafe.Pointer
	if hr := comcall.Invoke(object, getTypeInfo, 0, locale, addressOf(&info)); comcall.Failed(hr) || info == nil {
		return fail(&com.Failure{Message: "the class has no type library"})
	}
	library := s.readLibrary(r.Describe, id, info)
	if library == nil {
		return fail(&com.Failure{Message: "the type library describes no automation interface"})
	}
	return &com.Reply{Library: library}
}

// readLibrary describes the interfaces that lead from a type, or returns nil if there are none.
func (s *session) readLibrary(progID string, id windows.GUID, info unsafe.Pointer) *typelib.Library {
	if info == nil {
		return nil
	}
	d := &describer{session: s, library: &typelib.Library{ProgID: progID, InProcess: isInProcess(id)}}
	d.root(s.keep(info))
	if len(d.library.Interfaces) == 0 {
		return nil
	}
	return d.library
}

const notRunning = 0x800401E3

func classKey(id windows.GUID, below string) (string, bool) {
	return subKey(registry.CLASSES_ROOT, `CLSID\`+id.String()+`\`+below)
}

func isInProcess(id windows.GUID) bool {
	_, ok := classKey(id, "InprocServer32")
	return ok
}

// registeredType returns the type of a class in its registered library, or nil.
func (s *session) registeredType(id windows.GUID) unsafe.Pointer {
	text, _ := classKey(id, "TypeLib")
	library, err := windows.GUIDFromString(text)
	if err != nil {
		return nil
	}
	for _, version := range libraryVersions(text) {
		major, minor, _ := strings.Cut(version, ".")
		high, err1 := strconv.ParseUint(major, 16, 16)
		low, err2 := strconv.ParseUint(minor, 16, 16)
		var lib, info unsafe.Pointer
		if err1 != nil || err2 != nil || comcall.Failed(comcall.Call(s.loadRegistered, addressOf(&library), uintptr(high), uintptr(low), locale, addressOf(&lib))) {
			continue
		}
		s.keep(lib)
		if !comcall.Failed(comcall.Invoke(lib, 6, addressOf(&id), addressOf(&info))) {
			return info
		}
	}
	return nil
}

// libraryVersions returns the registered versions of a library, the highest first.
func libraryVersions(id string) []string {
	key, err := registry.OpenKey(registry.CLASSES_ROOT, `TypeLib\`+id, registry.ENUMERATE_SUB_KEYS)
	if err != nil {
		return nil
	}
	defer key.Close() //nolint:errcheck // it was only read
	names, _ := key.ReadSubKeyNames(20)
	slices.Sort(names)
	slices.Reverse(names)
	return names
}

// A describer collects the interfaces that lead from a class.
type describer struct {
	*session
	library *typelib.Library
	waiting []unsafe.Pointer // types of interfaces to describe
	known   []string         // names of those described or waiting
}

// attributes calls f with the attributes of a type.
func attributes(info unsafe.Pointer, f func(*typeAttr)) {
	var a unsafe.Pointer
	if comcall.Failed(comcall.Invoke(info, 3, addressOf(&a))) || a == nil {
		return
	}
	defer comcall.Invoke(info, 19, uintptr(a))
	f((*typeAttr)(a))
}

func kindOf(info unsafe.Pointer) (kind int32) {
	kind = -1
	attributes(info, func(a *typeAttr) { kind = a.kind })
	return kind
}

// root describes the interface of a class, or an interface, and then those that it leads to.
func (d *describer) root(info unsafe.Pointer) {
	attributes(info, func(a *typeAttr) { d.library.Version = fmt.Sprintf("%d.%d", a.major, a.minor) })
	var lib unsafe.Pointer
	var index uint32
	if !comcall.Failed(comcall.Invoke(info, 18, addressOf(&lib), addressOf(&index))) && lib != nil {
		d.keep(lib)
		var name, doc unsafe.Pointer
		if !comcall.Failed(comcall.Invoke(lib, 9, uintptr(^uint32(0)), addressOf(&name), addressOf(&doc), 0, 0)) {
			d.library.Name = d.TakeString(name)
			if words := d.TakeString(doc); words != "" {
				d.library.Name = words
			}
		}
	}
	d.enqueue(info)
	for len(d.waiting) > 0 && len(d.library.Interfaces) < maxInterfaces {
		next := d.waiting[0]
		d.waiting = d.waiting[1:]
		if one := d.describeInterface(next); len(one.Members) > 0 || one.Items {
			d.library.Interfaces = append(d.library.Interfaces, one)
		}
	}
}

// enqueue notes an interface to describe, or the default one of a class, and returns its name; "" if it cannot be called late.
func (d *describer) enqueue(info unsafe.Pointer) string {
	switch kindOf(info) {
	case kindClass:
		if info = d.defaultInterface(info); info == nil {
			return ""
		}
	case kindDispatch, kindInterface:
	default:
		return ""
	}
	name, _ := d.documentation(info, -1)
	if !slices.Contains(d.known, name) {
		d.known, d.waiting = append(d.known, name), append(d.waiting, info)
	}
	return name
}

// defaultInterface returns the interface of a class that objects have first.
func (d *describer) defaultInterface(info unsafe.Pointer) (found unsafe.Pointer) {
	attributes(info, func(a *typeAttr) {
		for i := range a.impls {
			var flags int32
			const isDefault, isSource = 1, 2
			if comcall.Failed(comcall.Invoke(info, 9, uintptr(i), addressOf(&flags))) || flags&(isDefault|isSource) != isDefault {
				continue
			}
			var ref uint32
			if !comcall.Failed(comcall.Invoke(info, 8, uintptr(i), addressOf(&ref))) {
				found = d.refType(info, ref)
			}
		}
	})
	return found
}

func (d *describer) refType(info unsafe.Pointer, ref uint32) unsafe.Pointer {
	var other unsafe.Pointer
	if comcall.Failed(comcall.Invoke(info, 14, uintptr(ref), addressOf(&other))) {
		return nil
	}
	return d.keep(other)
}

func (d *describer) describeInterface(info unsafe.Pointer) typelib.Interface {
	var one typelib.Interface
	one.Name, one.Doc = d.documentation(info, -1)
	attributes(info, func(a *typeAttr) {
		for i := range min(a.funcs, maxMembers) {
			var f unsafe.Pointer
			if comcall.Failed(comcall.Invoke(info, 5, uintptr(i), addressOf(&f))) || f == nil {
				continue
			}
			d.function(info, (*funcDesc)(f), &one)
			comcall.Invoke(info, 20, uintptr(f))
		}
		for i := range min(a.vars, maxMembers) {
			var v unsafe.Pointer
			if comcall.Failed(comcall.Invoke(info, 6, uintptr(i), addressOf(&v))) || v == nil {
				continue
			}
			d.variable(info, (*varDesc)(v), &one)
			comcall.Invoke(info, 21, uintptr(v))
		}
	})
	return one
}
