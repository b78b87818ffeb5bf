package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

// An argDecoder decodes arguments. encoding/json keeps the last of two members with the same name, but the
// person may have read the first; so an argDecoder refuses the second.
type argDecoder struct {
	*json.Decoder
}

// decodeObject decodes one JSON object. Its error is an *Error for a name that occurs twice in an object,
// and for values that are nested too deep.
func decodeObject(raw []byte) (map[string]any, error) {
	d := argDecoder{json.NewDecoder(bytes.NewReader(raw))}
	d.UseNumber()
	value, err := d.value(1)
	if twice, ok := errors.AsType[*nameTwiceError](err); ok {
		e := aai.Errorf(aai.InvalidParams, "%s: the name occurs twice in its object", strings.TrimPrefix(twice.path, "."))
		e.Hint = "Send each parameter once."
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("the value is no object")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one value")
	}
	return object, nil
}

// A nameTwiceError is the error of a second member with the same name.
type nameTwiceError struct{ path string } // of the member

// Error implements error.
func (e *nameTwiceError) Error() string { return e.path + " occurs twice" }

// within adds the place of a value to the path of its error.
func within(place string, err error) error {
	if twice, ok := errors.AsType[*nameTwiceError](err); ok {
		return &nameTwiceError{place + twice.path}
	}
	return err
}

// value decodes the next value.
func (d argDecoder) value(depth int) (any, error) {
	if depth > maxArgDepth {
		return nil, aai.Errorf(aai.InvalidParams, "the arguments are nested more than %d deep", maxArgDepth)
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return d.object(depth)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			item, err := d.value(depth + 1)
			if err != nil {
				return nil, within("["+strconv.Itoa(len(list))+"]", err)
			}
			list = append(list, item)
		}
		_, err := d.Token()
		return list, err
	}
	return token, nil
}

// object decodes the members of an object.
func (d argDecoder) object(depth int) (any, error) {
	object := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, ok := token.(string)
		if !ok {
			return nil, errors.New("a name is no string")
		}
		if _, twice := object[name]; twice {
			return nil, &nameTwiceError{"." + aai.CleanLabel(name, maxArgName)}
		}
		if object[name], err = d.value(depth + 1); err != nil {
			return nil, within("."+aai.CleanLabel(name, maxArgName), err)
		}
	}
	_, err := d.Token()
	return object, err
}

// maxArgName is the number of bytes of a name that a path shows.
const maxArgName = 60
