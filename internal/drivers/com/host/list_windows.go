package host

import (
	"unsafe"

	"github.com/gybob/aai-gateway/internal/drivers/com"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
)

// list returns the items of an object, or the properties of each.
func (s *session) list(object unsafe.Pointer, properties []string) (com.Variant, *com.Failure) {
	list := com.Variant{VT: com.VTArray | com.VTVariant}
	enum, f := s.enumerator(object)
	if f != nil {
		return list, f
	}
	for len(list.Items) <= com.MaxListed {
		var m comcall.Variant
		var got uint32
		hr := comcall.Invoke(enum, 3, 1, addressOf(&m), addressOf(&got))
		if comcall.Failed(hr) {
			return list, &com.Failure{HRESULT: hr}
		}
		if hr != 0 || got == 0 {
			break
		}
		item, f := s.take(&m)
		if f == nil && len(list.Items) == com.MaxListed {
			s.cut = true
			break
		}
		if f != nil {
			return list, f
		}
		one := s.describeHeld(item)
		if len(properties) > 0 {
			if one, f = s.members(item, properties); f != nil {
				return list, f
			}
		}
		list.Items = append(list.Items, one)
	}
	list.Sizes = []int{len(list.Items)}
	return list, nil
}

// enumerator returns the enumerator of an object.
func (s *session) enumerator(object unsafe.Pointer) (unsafe.Pointer, *com.Failure) {
	var result comcall.Variant
	i := &invocation{object: object, id: idNewEnum, flags: flagMethod | flagGet}
	var info excepInfo
	hr := s.retry(func() (hr uint32) {
		hr, info, _ = i.run(&result)
		return hr
	})
	if comcall.Failed(hr) {
		f := &com.Failure{}
		s.fillFailure(f, hr, &info, 0)
		if hr == memberNotFound || hr == unknownName {
			f = &com.Failure{Message: "the object has no items to list"}
		}
		return nil, f
	}
	defer s.Clear(&result)
	var enum unsafe.Pointer
	if vtOf(&result) == com.VTUnknown || vtOf(&result) == com.VTDispatch {
		enum = s.keep(comcall.Query(result.At(), iidEnum()))
	}
	if enum == nil {
		return nil, &com.Failure{Message: "the object has no items to list"}
	}
	return enum, nil
}

// members reads properties of an object. A property that it does not have is null, and one that cannot be read is its error.
func (s *session) members(item held, properties []string) (com.Variant, *com.Failure) {
	object := com.Variant{VT: com.VTArray | com.VTVariant, Names: properties}
	if item.object == nil {
		return object, &com.Failure{Message: "an item is a value and has no properties"}
	}
	for _, name := range properties {
		value, f := s.invoke(item.object, &com.Step{Member: name}, flagGet)
		switch {
		case f == nil:
		case f.HRESULT == unknownName:
			value.value = com.Variant{VT: com.VTNull}
		case com.IsGone(f.HRESULT) || f.HRESULT == 0:
			return object, f
		case f.Code != 0:
			value.value = com.Variant{VT: com.VTError, Bits: uint64(f.Code)}
		default:
			value.value = com.Variant{VT: com.VTError, Bits: uint64(f.HRESULT)}
		}
		object.Items = append(object.Items, s.describeHeld(value))
	}
	return object, nil
}
