package dbus

import (
	"errors"
	"fmt"
	"strings"
)

// maxDepth is how deep values may be nested, in either direction.
const maxDepth = 32

// maxSignature is the length limit of a signature, by the specification.
const maxSignature = 255

// Codes of the container types. Those of the basic types, and 'v' for the
// variant, are the letters of the specification.
const (
	arrayCode  = 'a'
	structCode = '('
	dictCode   = '{'
)

// A dtype is one complete D-Bus type.
type dtype struct {
	code   byte
	sig    string
	key    *dtype   // of a dict
	elem   *dtype   // of an array or dict
	fields []*dtype // of a struct
}

// align is the boundary on which values of the type begin.
func (t *dtype) align() int {
	switch t.code {
	case 'n', 'q':
		return 2
	case 'b', 'i', 'u', 'h', 's', 'o', arrayCode, dictCode:
		return 4
	case 'x', 't', 'd', structCode:
		return 8
	}
	return 1 // y, g, v
}

// parseSignature takes a signature apart into its complete types.
func parseSignature(sig string) ([]*dtype, error) {
	if len(sig) > maxSignature {
		return nil, fmt.Errorf("a signature has at most %d bytes, this one %d", maxSignature, len(sig))
	}
	p := signatureParser{rest: sig}
	var types []*dtype
	for p.rest != "" {
		t, err := p.next(0)
		if err != nil {
			return nil, err
		}
		types = append(types, t)
	}
	return types, nil
}

// parseType takes a signature of exactly one complete type.
func parseType(sig string) (*dtype, error) {
	types, err := parseSignature(sig)
	if err != nil {
		return nil, err
	}
	if len(types) != 1 {
		return nil, fmt.Errorf("expected one complete type, got %d", len(types))
	}
	return types[0], nil
}

type signatureParser struct{ rest string }

func (p *signatureParser) next(depth int) (*dtype, error) {
	if p.rest == "" {
		return nil, errors.New("the signature ends too early")
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("the signature is nested more than %d deep", maxDepth)
	}
	whole := p.rest
	code := whole[0]
	p.rest = whole[1:]
	t := &dtype{code: code}
	var err error
	switch {
	case isBasic(code) || code == 'v':
	case code == arrayCode && strings.HasPrefix(p.rest, "{"):
		t.code = dictCode
		p.rest = p.rest[1:]
		err = p.dictEntry(t, depth)
	case code == arrayCode:
		t.elem, err = p.next(depth + 1)
	case code == structCode:
		err = p.structFields(t, depth)
	default:
		err = fmt.Errorf("%q is no type", rune(code))
	}
	if err != nil {
		return nil, err
	}
	t.sig = whole[:len(whole)-len(p.rest)]
	return t, nil
}

func (p *signatureParser) dictEntry(t *dtype, depth int) (err error) {
	if t.key, err = p.next(depth + 1); err != nil {
		return err
	}
	if !isBasic(t.key.code) {
		return fmt.Errorf("the key of a dict is of a basic type, not %q", t.key.sig)
	}
	if t.elem, err = p.next(depth + 1); err != nil {
		return err
	}
	return p.expect('}')
}

func (p *signatureParser) structFields(t *dtype, depth int) error {
	for !strings.HasPrefix(p.rest, ")") {
		field, err := p.next(depth + 1)
		if err != nil {
			return err
		}
		t.fields = append(t.fields, field)
	}
	if len(t.fields) == 0 {
		return errors.New("a struct has at least one field")
	}
	return p.expect(')')
}

func (p *signatureParser) expect(code byte) error {
	if p.rest == "" || p.rest[0] != code {
		return fmt.Errorf("expected %q", rune(code))
	}
	p.rest = p.rest[1:]
	return nil
}

func isBasic(code byte) bool {
	return strings.IndexByte("ybnqiuxtdsogh", code) >= 0
}

// hasDescriptor reports whether values of the type hold file descriptors.
// Those within variants are seen only when a value is there.
func (t *dtype) hasDescriptor() bool { return strings.Contains(t.sig, "h") }
