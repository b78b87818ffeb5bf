package jsonscan

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// EachMember calls f for each member of a JSON object, with the offsets in object at which its value
// begins and ends. A name may occur twice. EachMember fails if object is not one JSON object. The
// options may allow more than that.
func EachMember(object []byte, f func(name string, begin, end int), more ...jsontext.Options) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(object), append(more, jsontext.AllowDuplicateNames(true))...)
	if open, err := d.ReadToken(); err != nil || open.Kind() != '{' {
		return errors.Join(errors.New("no object"), err)
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		end := int(d.InputOffset())
		f(name, end-len(value), end)
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if rest := bytes.TrimLeft(object[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return errors.New("there is more behind the object")
	}
	return nil
}
