package host

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/gybob/aai-gateway/internal/drivers/com"
	"github.com/gybob/aai-gateway/internal/drivers/com/typelib"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
)

// The parts of a TYPEATTR, a FUNCDESC and a VARDESC of 64-bit Windows that are in use.
type typeAttr struct {
	_                  [44]byte
	kind               int32
	funcs, vars, impls uint16
	_                  [4]byte
	flags              uint16
	major, minor       uint16
	alias              typeDesc
}

type typeDesc struct {
	value uint64 // the address of another typeDesc, or the number of a type
	vt    uint16
}

type elemDesc struct {
	typ   typeDesc
	_     unsafe.Pointer
	flags uint16
}

type funcDesc struct {
	id       int32
	_        unsafe.Pointer
	params   unsafe.Pointer // *elemDesc
	kind     int32
	use      int32
	_        int32
	count    int16
	optional int16
	_        [2]int16
	result   elemDesc
	flags    uint16
}

type varDesc struct {
	id    int32
	_     unsafe.Pointer
	value unsafe.Pointer // *comcall.Variant
	elem  elemDesc
	flags uint16
	kind  int32
}

// Kinds of types, functions and variables.
const (
	kindEnum, kindInterface, kindDispatch, kindClass, kindAlias = 0, 3, 4, 5, 6

	dispatchFunction = 4
	constant         = 2
	dispatchVariable = 3

	flagRestricted, flagHidden = 1, 0x40
	paramOut, paramLocale      = 2, 4
	paramResult, paramOptional = 8, 0x10

	vtPointer, vtSafeArray, vtUser = 26, 27, 29
	vtVoid, vtHRESULT              = 24, 25
)

// function adds a function, unless scripts should not use it.
func (d *describer) function(info unsafe.Pointer, f *funcDesc, one *typelib.Interface) {
	if f.id == idNewEnum {
		one.Items = true
		return
	}
	names := d.names(info, f.id, int(f.count)+1)
	if f.flags&(flagRestricted|flagHidden) != 0 || len(names) == 0 || isOfIDispatch(names[0]) {
		return
	}
	kind, known := map[int32]typelib.Kind{1: typelib.Method, 2: typelib.Get, 4: typelib.Put, 8: typelib.PutRef}[f.use]
	if !known {
		return
	}
	m := typelib.Member{Name: names[0], Kind: kind, Default: f.id == 0}
	_, m.Doc = d.documentation(info, f.id)
	if f.kind == dispatchFunction {
		m.Result = d.typeOf(info, &f.result.typ)
	}
	for i := range int(f.count) {
		e := (*elemDesc)(unsafe.Add(f.params, i*int(unsafe.Sizeof(elemDesc{}))))
		switch {
		case e.flags&paramLocale != 0:
			continue
		case e.flags&paramResult != 0:
			m.Result = d.typeOf(info, &e.typ)
			continue
		}
		p := typelib.Parameter{Name: fmt.Sprintf("value%d", i+1), Type: d.typeOf(info, &e.typ), Out: e.flags&3 == paramOut}
		if i+1 < len(names) {
			p.Name = names[i+1]
		}
		p.Optional = e.flags&paramOptional != 0 || i >= int(f.count)-max(int(f.optional), 0)
		m.Params = append(m.Params, p)
	}
	one.Members = append(one.Members, m)
}

// variable adds a property of an interface that only scripts can use.
func (d *describer) variable(info unsafe.Pointer, v *varDesc, one *typelib.Interface) {
	name, doc := d.documentation(info, v.id)
	if v.kind != dispatchVariable || v.flags&(flagHidden|0x80) != 0 || name == "" {
		return
	}
	t := d.typeOf(info, &v.elem.typ)
	one.Members = append(one.Members, typelib.Member{Name: name, Kind: typelib.Get, Doc: doc, Result: t, Default: v.id == 0})
	if v.flags&flagRestricted == 0 { // here it means that the property is only read
		one.Members = append(one.Members, typelib.Member{Name: name, Kind: typelib.Put, Doc: doc, Params: []typelib.Parameter{{Name: "value", Type: t}}})
	}
}

func isOfIDispatch(name string) bool {
	return slices.Contains([]string{"QueryInterface", "AddRef", "Release", "GetTypeInfoCount", "GetTypeInfo", "GetIDsOfNames", "Invoke"}, name)
}

// names returns the name of a member and those of its parameters.
func (d *describer) names(info unsafe.Pointer, id int32, most int) []string {
	found := make([]unsafe.Pointer, min(max(most, 1), 64))
	var got uint32
	if comcall.Failed(comcall.Invoke(info, 7, uintptr(uint32(id)), addressOf(&found[0]), uintptr(len(found)), addressOf(&got))) {
		return nil
	}
	names := make([]string, 0, got)
	for _, name := range found[:min(int(got), len(found))] {
		names = append(names, d.TakeString(name))
	}
	return names
}

// typeOf describes a type, and notes the interface or enumeration that it names.
func (d *describer) typeOf(info unsafe.Pointer, t *typeDesc) typelib.Type {
	switch vt := com.VT(t.vt); vt { //nolint:exhaustive // the rest is unknown
	case vtPointer:
		return d.typeOf(info, *(**typeDesc)(unsafe.Pointer(&t.value)))
	case vtUser:
		return d.userType(info, uint32(t.value))
	case vtSafeArray:
		return typelib.Type{Base: "array"}
	case com.VTBool:
		return typelib.Type{Base: "bool"}
	case com.VTString, 30, 31:
		return typelib.Type{Base: "string"}
	case com.VTR4, com.VTR8, com.VTCurrency, com.VTDecimal:
		return typelib.Type{Base: "number"}
	case com.VTDate:
		return typelib.Type{Base: "date"}
	case com.VTVariant:
		return typelib.Type{Base: "variant"}
	case com.VTDispatch, com.VTUnknown:
		return typelib.Type{Base: "object"}
	case com.VTI1, com.VTI2, com.VTI4, com.VTI8, com.VTInt:
		return typelib.Type{Base: "int", Bits: map[com.VT]int{com.VTI1: -8, com.VTI2: -16, com.VTI8: -64}[vt]}
	case com.VTUI1, com.VTUI2, com.VTUI4, com.VTUI8, com.VTUInt:
		return typelib.Type{Base: "int", Bits: map[com.VT]int{com.VTUI1: 8, com.VTUI2: 16, com.VTUI4: 32, com.VTUInt: 32, com.VTUI8: 64}[vt]}
	case vtVoid, vtHRESULT, com.VTEmpty:
		return typelib.Type{Base: "void"}
	}
	return typelib.Type{Base: "unknown"}
}

func (d *describer) userType(info unsafe.Pointer, ref uint32) typelib.Type {
	other := d.refType(info, ref)
	if other == nil {
		return typelib.Type{Base: "unknown"}
	}
	t := typelib.Type{Base: "unknown"}
	attributes(other, func(a *typeAttr) {
		switch a.kind {
		case kindEnum:
			t = typelib.Type{Base: "int", Name: d.enum(other, a)}
		case kindAlias:
			t = d.typeOf(other, &a.alias)
		case kindInterface, kindDispatch, kindClass:
			t = typelib.Type{Base: "object", Name: d.enqueue(other)}
		}
	})
	return t
}

// enum notes an enumeration and returns its name.
func (d *describer) enum(info unsafe.Pointer, a *typeAttr) string {
	e := typelib.Enum{}
	e.Name, _ = d.documentation(info, -1)
	if d.library.Enum(e.Name) != nil {
		return e.Name
	}
	for i := range min(a.vars, maxConstants) {
		var p unsafe.Pointer
		if comcall.Failed(comcall.Invoke(info, 6, uintptr(i), addressOf(&p))) || p == nil {
			continue
		}
		v := (*varDesc)(p)
		if value := (*comcall.Variant)(v.value); v.kind == constant && value != nil && v.flags&flagHidden == 0 {
			one := typelib.Value{Value: int64(number(com.VTI4, value.Value))}
			one.Name, one.Doc = d.documentation(info, v.id)
			e.Values = append(e.Values, one)
		}
		comcall.Invoke(info, 21, uintptr(p))
	}
	d.library.Enums = append(d.library.Enums, e)
	return e.Name
}
