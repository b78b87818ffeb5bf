package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

// The limits of one call's arguments. They keep a hostile or confused caller from affecting other
// calls.
const (
	maxArgBytes = 1 << 20 // as JSON, or the sum of strings and names; Limits.Args of a tool may be larger
	maxArgNodes = 20_000  // including nested values
	maxArgDepth = 32
)

// readArgs decodes and validates the call's arguments. Their size is checked before decoding.
// They stay in call.Args if they are invalid, so that secrets in them are known.
func readArgs(tool *aai.Tool, call *aai.Call) *aai.Error {
	most := max(maxArgBytes, tool.Limits.Args)
	if call.Raw != nil {
		if len(call.Raw) > most {
			return tooMuch(most)
		}
		args, err := parseArgs(call.Raw)
		if err != nil {
			return err
		}
		call.Args, call.Raw = args, nil
	}
	args, err := validate(tool, call.Args, most)
	if err == nil {
		call.Args = args
	}
	return err
}

func tooMuch(most int) *aai.Error {
	e := aai.Errorf(aai.InvalidParams, "the arguments have more than %d KiB", most>>10)
	e.Hint = "Send less at a time, or name a file where the tool takes one."
	return e
}

// parseArgs decodes the object of a tool's parameters. Numbers keep all their digits. It also
// accepts a string with the object, which some models send.
func parseArgs(raw json.RawMessage) (map[string]any, *aai.Error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] == '"' {
		var inner string
		if json.Unmarshal(raw, &inner) == nil {
			raw = bytes.TrimSpace(json.RawMessage(inner))
			if string(raw) == "null" {
				return nil, nil
			}
		}
	}
	if countValues(raw) > maxArgNodes {
		return nil, aai.Errorf(aai.InvalidParams, "the arguments have more than %d values", maxArgNodes)
	}
	args, err := decodeObject(raw)
	if wrong, ok := errors.AsType[*aai.Error](err); ok {
		return nil, wrong
	}
	if err != nil {
		e := aai.Errorf(aai.InvalidParams, "args: expected one object with the tool's parameters, got %s", kindOfJSON(raw))
		e.Err = err
		return nil, e
	}
	return args, nil
}

// countValues returns an upper estimate of the number of values in a JSON text, from its
// separators. For other text the result has no meaning.
func countValues(raw []byte) int {
	n, inString := 1, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == ',' || c == '[' || c == '{':
			n++
		}
	}
	return n
}

// kindOfJSON names the kind of a JSON text that is no object.
func kindOfJSON(raw json.RawMessage) string {
	switch {
	case len(raw) == 0:
		return "nothing"
	case !json.Valid(raw):
		return "text that is not one JSON value"
	case raw[0] == '[':
		return "a list"
	case raw[0] == '"':
		return "a string"
	case raw[0] == 't' || raw[0] == 'f':
		return "true or false"
	}
	return "a number"
}

// validate returns the arguments with the tool's defaults, or an error that names the wrong
// parameter.
func validate(tool *aai.Tool, args map[string]any, most int) (map[string]any, *aai.Error) {
	if args == nil {
		args = map[string]any{}
	}
	size := argSize{most: most}
	if err := size.add(args, 1); err != nil {
		return nil, err
	}
	if tool.Params.Check == nil {
		if len(args) > 0 {
			return nil, aai.Errorf(aai.InvalidParams, "%s takes no parameters, but was given %d", tool.Name, len(args))
		}
		return args, nil
	}
	checked, err := tool.Params.Check(args)
	if err != nil {
		e := *aai.AsError(err)
		if e.Hint == "" {
			e.Hint = parameterHint(tool)
		}
		return nil, &e
	}
	object, ok := checked.(map[string]any)
	if !ok {
		return nil, aai.Errorf(aai.Internal, "the check of %s's parameters gave no object", tool.Name)
	}
	return object, nil
}

func parameterHint(tool *aai.Tool) string {
	if len(tool.Params.Order) == 0 {
		return ""
	}
	return fmt.Sprintf("The parameters of %s are: %s.", tool.Name, strings.Join(tool.Params.Order, ", "))
}

// checkReturns checks a result against the descriptor's schema. The app has already acted, so a
// violation is a warning and not a failure.
func checkReturns(tool *aai.Tool, result *aai.Result) *aai.Result {
	if result == nil {
		return &aai.Result{}
	}
	if tool.Returns.Check == nil {
		return result
	}
	if _, err := tool.Returns.Check(result.Data); err != nil {
		checked := *result
		checked.Warning = "the result does not match the app's descriptor: " + aai.AsError(err).Message
		return &checked
	}
	return result
}

// argSize sums up the size of arguments, and stops at the first limit passed.
type argSize struct{ bytes, nodes, most int }

func (s *argSize) add(value any, depth int) *aai.Error {
	s.nodes++
	if depth > maxArgDepth {
		return aai.Errorf(aai.InvalidParams, "the arguments are nested more than %d deep", maxArgDepth)
	}
	switch v := value.(type) {
	case string:
		s.bytes += len(v)
	case map[string]any:
		for name, item := range v {
			s.bytes += len(name)
			if err := s.add(item, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := s.add(item, depth+1); err != nil {
				return err
			}
		}
	}
	if s.bytes > s.most {
		return tooMuch(s.most)
	}
	if s.nodes > maxArgNodes {
		return aai.Errorf(aai.InvalidParams, "the arguments have more than %d values", maxArgNodes)
	}
	return nil
}

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
