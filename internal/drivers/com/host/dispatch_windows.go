package host

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/drivers/com"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
)

// The flags of IDispatch.Invoke, and the ids of members that every object may have.
const (
	flagMethod = 1
	flagGet    = 2
	flagPut    = 4
	flagPutRef = 8

	idNewEnum = -4
	idPut     = -3
)

// HRESULTs of IDispatch.
const (
	memberNotFound = 0x80020003
	typeMismatch   = 0x80020005
	unknownName    = 0x80020006
	dispException  = 0x80020009
)

type dispParams struct {
	args              unsafe.Pointer // *comcall.Variant
	named             unsafe.Pointer // *int32
	argCount, idCount uint32
}

// excepInfo is an EXCEPINFO of 64-bit Windows.
type excepInfo struct {
	code, _             uint16
	source, description unsafe.Pointer
	help                unsafe.Pointer
	_                   uint32
	_                   uintptr
	fill                uintptr
	scode               uint32
	_                   uint32
}

// ids returns the ids of a member and of the named arguments. missing is the name that is unknown.
func ids(object unsafe.Pointer, member string, names []string) (found []int32, missing string, hr uint32) {
	all := append([]string{member}, names...)
	texts, found := make([]*uint16, len(all)), make([]int32, len(all))
	var pin runtime.Pinner
	defer pin.Unpin()
	for i, name := range all {
		text, err := syscall.UTF16PtrFromString(name)
		if err != nil {
			return nil, name, unknownName
		}
		pin.Pin(text)
		texts[i], found[i] = text, -1
	}
	hr = comcall.Invoke(object, getIDsOfNames, addressOf(&windows.GUID{}), addressOf(&texts[0]), uintptr(len(all)), locale, addressOf(&found[0]))
	if !comcall.Failed(hr) {
		return found, "", 0
	}
	for i, id := range found {
		if id == -1 {
			return nil, all[i], hr
		}
	}
	return nil, member, hr
}

// An invocation is one call of IDispatch.Invoke.
type invocation struct {
	object unsafe.Pointer
	id     int32
	flags  uint16
	args   []comcall.Variant // by position; the last ones are for names
	named  []int32           // ids of the last arguments
}

// run calls the member. argument is the number of the wrong argument from 1, or 0.
func (i *invocation) run(result *comcall.Variant) (hr uint32, info excepInfo, argument int) {
	positional := len(i.args) - len(i.named)
	// COM wants the named arguments first, then the others from the last one to the first one.
	order := make([]comcall.Variant, 0, len(i.args))
	order = append(order, i.args[positional:]...)
	for k := positional - 1; k >= 0; k-- {
		order = append(order, i.args[k])
	}
	p := dispParams{argCount: uint32(len(order)), idCount: uint32(len(i.named))}
	var pin runtime.Pinner
	defer pin.Unpin()
	if len(order) > 0 {
		pin.Pin(&order[0])
		p.args = unsafe.Pointer(&order[0])
	}
	if len(i.named) > 0 {
		pin.Pin(&i.named[0])
		p.named = unsafe.Pointer(&i.named[0])
	}
	wrong := ^uint32(0)
	hr = comcall.Invoke(i.object, invokeMethod, uintptr(uint32(i.id)), addressOf(&windows.GUID{}), locale, uintptr(i.flags), addressOf(&p),
		addressOf(result), addressOf(&info), addressOf(&wrong))
	if hr == dispException && info.fill != 0 {
		_, _, _ = syscall.SyscallN(info.fill, addressOf(&info))
	}
	switch n := int(wrong); {
	case wrong == ^uint32(0) || n >= len(order):
	case n < len(i.named):
		argument = positional + n + 1
	default:
		argument = len(order) - n
	}
	return hr, info, argument
}

// fillFailure describes a failed call.
func (l *library) fillFailure(f *com.Failure, hr uint32, info *excepInfo, argument int) {
	f.HRESULT, f.Argument = hr, argument
	if hr != dispException {
		return
	}
	f.Code, f.Argument = info.scode, 0
	if f.Code == 0 && info.code != 0 {
		f.Code = 0x800A0000 | uint32(info.code)
	}
	f.Source, f.Description = l.TakeString(info.source), l.TakeString(info.description)
	l.TakeString(info.help)
}

// typeName returns the name of an object's interface, or "object"; "" for nil.
func (l *library) typeName(object unsafe.Pointer) string {
	if object == nil {
		return ""
	}
	d := comcall.Query(object, iidDispatch())
	if d == nil {
		return "object"
	}
	defer comcall.Release(d)
	var info unsafe.Pointer
	if comcall.Failed(comcall.Invoke(d, getTypeInfo, 0, locale, addressOf(&info))) || info == nil {
		return "object"
	}
	defer comcall.Release(info)
	if name, _ := l.documentation(info, -1); name != "" {
		return name
	}
	return "object"
}

// documentation returns the name and help text of a member of a type, or of the type itself with -1.
func (l *library) documentation(info unsafe.Pointer, member int32) (name, doc string) {
	var n, d unsafe.Pointer
	if comcall.Failed(comcall.Invoke(info, 12, uintptr(uint32(member)), addressOf(&n), addressOf(&d), 0, 0)) {
		return "", ""
	}
	return l.TakeString(n), l.TakeString(d)
}
