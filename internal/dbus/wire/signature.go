package wire

import (
	"errors"
	"fmt"
	"strings"
)

// MaxDepth limits the nesting of values in messages sent and received.
const MaxDepth = 32

// MaxSignature is the length limit of a signature in bytes, by the specification.
const MaxSignature = 255

// The codes of the container types. The codes of the basic types and of the variant ('v') are the
// letters of the specification.
const (
	ArrayCode  = 'a'
	StructCode = '('
	DictCode   = '{' // an array of dict entries
)

// A Type is one complete D-Bus type. It is immutable.
type Type struct {
	Code   byte
	Sig    string
	Key    *Type   // of a dict
	Elem   *Type   // of an array or dict
	Fields []*Type // of a struct
}

// Align returns the boundary of the type's values in bytes.
func (t *Type) Align() int { return align(t.Sig[0]) }

// align returns the boundary for types with a signature that begins with the code.
func align(code byte) int {
	switch code {
	case 'n', 'q':
		return 2
	case 'b', 'i', 'u', 'h', 's', 'o', ArrayCode:
		return 4
	case 'x', 't', 'd', StructCode, DictCode:
		return 8
	}
	return 1 // y, g, v
}

// fixedSize returns the size of the type's values, or 0 if it varies.
func fixedSize(code byte) int {
	switch code {
	case 'y', 'n', 'q', 'b', 'i', 'u', 'x', 't', 'd', 'h':
		return align(code)
	}
	return 0
}

// ParseSignature splits a signature into its complete types.
func ParseSignature(sig string) ([]*Type, error) {
	if err := checkSignature(sig); err != nil {
		return nil, err
	}
	var types []*Type
	for rest := sig; rest != ""; {
		var first string
		first, rest, _ = firstType(rest, 0)
		types = append(types, parse(first))
	}
	return types, nil
}

// ParseType parses a signature of exactly one complete type.
func ParseType(sig string) (*Type, error) {
	if err := checkOneType(sig); err != nil {
		return nil, err
	}
	return parse(sig), nil
}

// parse parses one valid complete type.
func parse(sig string) *Type {
	t := &Type{Code: sig[0], Sig: sig}
	switch {
	case strings.HasPrefix(sig, "a{"):
		t.Code = DictCode
		t.Key, t.Elem = parse(sig[2:3]), parse(sig[3:len(sig)-1])
	case t.Code == ArrayCode:
		t.Elem = parse(sig[1:])
	case t.Code == StructCode:
		for rest := sig[1 : len(sig)-1]; rest != ""; {
			var field string
			field, rest, _ = firstType(rest, 0)
			t.Fields = append(t.Fields, parse(field))
		}
	}
	return t
}

func checkSignature(sig string) error {
	if len(sig) > MaxSignature {
		return fmt.Errorf("a signature has at most %d bytes, this one %d", MaxSignature, len(sig))
	}
	for sig != "" {
		var err error
		if _, sig, err = firstType(sig, 0); err != nil {
			return err
		}
	}
	return nil
}

func checkOneType(sig string) error {
	if len(sig) == 1 && isSimple(sig[0]) {
		return nil // the most common case
	}
	if len(sig) > MaxSignature {
		return checkSignature(sig)
	}
	_, rest, err := firstType(sig, 0)
	if err == nil && rest != "" {
		err = fmt.Errorf("expected one complete type, got %q after it", rest)
	}
	return err
}

// firstType splits off the first complete type of a signature.
func firstType(sig string, depth int) (first, rest string, err error) {
	switch {
	case sig == "":
		return "", "", errors.New("the signature ends too early")
	case depth > MaxDepth:
		return "", "", fmt.Errorf("the signature is nested more than %d deep", MaxDepth)
	case isSimple(sig[0]):
		return sig[:1], sig[1:], nil
	case strings.HasPrefix(sig, "a{"):
		rest, err = afterDictEntry(sig[2:], depth)
	case sig[0] == ArrayCode:
		_, rest, err = firstType(sig[1:], depth+1)
	case sig[0] == StructCode:
		rest, err = afterFields(sig[1:], depth)
	default:
		err = fmt.Errorf("%q is no type", rune(sig[0]))
	}
	if err != nil {
		return "", "", err
	}
	return sig[:len(sig)-len(rest)], rest, nil
}

// afterDictEntry returns the rest after a dict entry, beginning behind its "{".
func afterDictEntry(sig string, depth int) (string, error) {
	key, sig, err := firstType(sig, depth+1)
	if err != nil {
		return "", err
	}
	if key == "v" || !isSimple(key[0]) {
		return "", fmt.Errorf("the key of a dict is of a basic type, not %q", key)
	}
	if _, sig, err = firstType(sig, depth+1); err != nil {
		return "", err
	}
	if sig == "" || sig[0] != '}' {
		return "", errors.New("expected '}'")
	}
	return sig[1:], nil
}

// afterFields returns the rest after a struct, beginning behind its "(".
func afterFields(sig string, depth int) (string, error) {
	if strings.HasPrefix(sig, ")") {
		return "", errors.New("a struct has at least one field")
	}
	for !strings.HasPrefix(sig, ")") {
		var err error
		if _, sig, err = firstType(sig, depth+1); err != nil {
			return "", err
		}
	}
	return sig[1:], nil
}

// isSimple reports whether the type has no element types in the signature.
func isSimple(code byte) bool {
	return strings.IndexByte("sovuibygnqxtdh", code) >= 0
}
