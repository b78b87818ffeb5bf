package webapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gybob/aai-gateway"
)

// Limits on a JSON response. A value in memory is many times larger than its text.
const (
	maxDepth  = 100
	maxValues = 250_000
	maxDigits = 400 // of a number, and of its exponent's value
)

// maxIndented is the limit, in bytes, for an indented response. Models pay for white space as for
// words.
const maxIndented = 8 << 10

// readJSON parses one JSON value (RFC 8259). It returns Go values with numbers as json.Number, and
// the text in the server's order. It cleans every string and name. Duplicate names, also after
// cleaning, are an error because either value could be the intended one.
func readJSON(text string, clean func(string) string) (value any, spelled string, err error) {
	var out bytes.Buffer
	r := &jsonReader{
		in:    jsontext.NewDecoder(bytes.NewBufferString(text)),
		out:   jsontext.NewEncoder(&out),
		clean: clean,
	}
	if value, err = r.value(1); err != nil {
		return nil, "", jsonFaultText(err)
	}
	if _, err := r.in.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, "", fmt.Errorf("unexpected data after its end, at byte %d", r.in.InputOffset())
	}
	written := jsontext.Value(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
	if len(written) <= maxIndented {
		if err := written.Indent(jsontext.WithIndent("  ")); err != nil {
			return nil, "", err
		}
	}
	return value, string(written), nil
}

// jsonFaultText converts a JSON syntax error into a message for callers.
func jsonFaultText(err error) error {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case ok && errors.Is(err, jsontext.ErrDuplicateName):
		return errors.New("it has a name twice in one object")
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return errors.New("it ends in the middle")
	case ok:
		return fmt.Errorf("invalid JSON at byte %d", syntax.ByteOffset)
	}
	return err
}

type jsonReader struct {
	in     *jsontext.Decoder
	out    *jsontext.Encoder
	clean  func(string) string
	values int
}

func (r *jsonReader) value(depth int) (any, error) {
	if r.values++; r.values > maxValues {
		return nil, fmt.Errorf("it has more than %d values", maxValues)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	token, err := r.in.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		return r.object(depth)
	case '[':
		return r.array(depth)
	case '"':
		text := r.clean(token.String())
		return text, r.out.WriteToken(jsontext.String(text))
	case '0':
		number := token.String()
		if !isSound(number) {
			return nil, fmt.Errorf("it has the number %s, which is out of range", aai.CleanLabel(number, 40))
		}
		return json.Number(number), r.out.WriteValue(jsontext.Value(number))
	case 't', 'f':
		return token.Bool(), r.out.WriteToken(jsontext.Bool(token.Bool()))
	}
	return nil, r.out.WriteToken(jsontext.Null)
}

func (r *jsonReader) object(depth int) (any, error) {
	if err := r.out.WriteToken(jsontext.BeginObject); err != nil {
		return nil, err
	}
	object := map[string]any{}
	for r.in.PeekKind() != '}' {
		token, err := r.in.ReadToken()
		if err != nil {
			return nil, err
		}
		name := r.clean(token.String())
		if err := r.out.WriteToken(jsontext.String(name)); err != nil {
			return nil, err
		}
		if object[name], err = r.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return object, r.end(jsontext.EndObject)
}

func (r *jsonReader) array(depth int) (any, error) {
	if err := r.out.WriteToken(jsontext.BeginArray); err != nil {
		return nil, err
	}
	array := []any{}
	for r.in.PeekKind() != ']' {
		item, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		array = append(array, item)
	}
	return array, r.end(jsontext.EndArray)
}

func (r *jsonReader) end(closing jsontext.Token) error {
	if _, err := r.in.ReadToken(); err != nil {
		return err
	}
	return r.out.WriteToken(closing)
}

// isSound rejects numbers that cost far more to compute with than to write.
func isSound(number string) bool {
	if len(number) > maxDigits {
		return false
	}
	_, exponent, found := strings.Cut(strings.ToLower(number), "e")
	if !found {
		return true
	}
	e, err := strconv.Atoi(exponent)
	return err == nil && e <= maxDigits && e >= -maxDigits
}
