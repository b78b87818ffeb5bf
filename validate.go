package aai

import (
	"fmt"
	"strings"
)

// Limits on the arguments of one call. They keep a hostile or confused caller
// from costing more than its own call.
const (
	maxArgBytes = 4 << 20 // of strings and names, together
	maxArgNodes = 100_000 // values, nested ones too
	maxArgDepth = 32
)

// validate returns the arguments with the tool's defaults, or says which
// parameter is wrong.
func validate(tool *Tool, args map[string]any) (map[string]any, *Error) {
	if args == nil {
		args = map[string]any{}
	}
	var size argSize
	if err := size.add(args, 1); err != nil {
		return nil, err
	}
	if tool.Params.Check == nil {
		if len(args) > 0 {
			return nil, Errorf(InvalidParams, "%s takes no parameters, but was given %d", tool.Name, len(args))
		}
		return args, nil
	}
	checked, err := tool.Params.Check(args)
	if err != nil {
		e := *AsError(err)
		if e.Hint == "" {
			e.Hint = parameterHint(tool)
		}
		return nil, &e
	}
	object, ok := checked.(map[string]any)
	if !ok {
		return nil, Errorf(Internal, "the check of %s's parameters gave no object", tool.Name)
	}
	return object, nil
}

func parameterHint(tool *Tool) string {
	if len(tool.Params.Order) == 0 {
		return ""
	}
	return fmt.Sprintf("The parameters of %s are: %s.", tool.Name, strings.Join(tool.Params.Order, ", "))
}

// checkReturns holds a result against what the descriptor promised. The app has
// already acted, so a broken promise is a warning and not a failure.
func checkReturns(tool *Tool, result *Result) *Result {
	if result == nil {
		return &Result{}
	}
	if tool.Returns.Check == nil {
		return result
	}
	if _, err := tool.Returns.Check(result.Data); err != nil {
		checked := *result
		checked.Warning = "the result is not what the app's descriptor promises: " + AsError(err).Message
		return &checked
	}
	return result
}

// argSize adds up what arguments weigh, stopping at the first limit passed.
type argSize struct{ bytes, nodes int }

func (s *argSize) add(value any, depth int) *Error {
	s.nodes++
	if depth > maxArgDepth {
		return Errorf(InvalidParams, "the arguments are nested more than %d deep", maxArgDepth)
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
	if s.bytes > maxArgBytes {
		return Errorf(InvalidParams, "the arguments hold more than %d MiB of text", maxArgBytes>>20)
	}
	if s.nodes > maxArgNodes {
		return Errorf(InvalidParams, "the arguments hold more than %d values", maxArgNodes)
	}
	return nil
}
